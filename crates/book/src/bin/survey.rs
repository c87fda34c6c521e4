//! Tells whether a file is a Polyglot book: the format has no magic number, and other
//! programs keep tables and networks in files of the same name.

use std::ops::Range;

use shakmaty::{Bitboard, File, Rank, Square, attacks};

use super::{BLOCK, ENTRY_BYTES, decode, key_of};
use crate::{Error, polyglot::PackedMove};
use tabia_io::input::file::DataFile;

/// Files up to this many bytes are read completely.
const FULL_CHECK: u64 = 64 << 20;

/// The number of pieces, evenly spread, that are read of a larger file.
const SAMPLES: u64 = 4096;

/// The number of moves, evenly spread over what is read, that are looked at.
const MOVES: u64 = 4096;

/// Bytes read at a time.
const PIECE: usize = 4096;

/// The entries of a piece.
const PIECE_ENTRIES: usize = PIECE / ENTRY_BYTES;

/// The keys of entries at equal distances, by which a search begins near its end.
#[derive(Debug, Default)]
pub(super) struct Landmarks {
    keys: Vec<u64>,
    /// Entries from one to the next.
    distance: u64,
}

impl Landmarks {
    /// The entries to search for the first key that is not below `key`; if none of them has it,
    /// the entry after them does. With the key of the first entry.
    pub(super) fn near(&self, key: u64) -> Option<(Range<u64>, u64)> {
        let after = self.keys.partition_point(|known| *known < key);
        let before = after.saturating_sub(1);
        let first = *self.keys.get(before)?;
        let end = match after < self.keys.len() {
            true => after as u64 * self.distance,
            false => u64::MAX,
        };
        Some((before as u64 * self.distance..end, first))
    }
}

/// What is seen of a file without asking it for a position.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Offset in bytes of the first entry whose key is below one before it.
    pub first_disorder: Option<u64>,
    /// Some keys of a sorted file.
    pub landmarks: Landmarks,
    /// Moves looked at.
    moves: u64,
    /// Moves that some piece could make on an empty board.
    possible: u64,
}

impl Survey {
    /// Reads the file, or evenly spread pieces of a large one.
    pub(super) fn of(file: &DataFile) -> Result<Survey, Error> {
        let pieces = file.len().div_ceil(PIECE as u64);
        let step = match file.len() <= FULL_CHECK {
            true => 1,
            false => (pieces / SAMPLES).max(1),
        };
        let read_entries = file.len() / ENTRY_BYTES as u64 / step;
        let each = (read_entries / MOVES).max(1);
        let view = file.positional_view();
        let mut buffer = [0; PIECE];
        let (mut last, mut count) = (0, 0_u64);
        let mut survey = Survey::default();
        let apart = if step == 1 { BLOCK } else { PIECE_ENTRIES };
        survey.landmarks.distance = step * apart as u64;
        let mut piece = 0;
        while piece < pieces {
            let start = piece * PIECE as u64;
            let read = view
                .read(start, &mut buffer)
                .map_err(|error| Error::read(file.path(), error))?;
            let (entries, _) = read.as_chunks();
            let landmarks = entries.iter().step_by(apart).map(key_of);
            survey.landmarks.keys.extend(landmarks);
            for (offset, entry) in (start..).step_by(ENTRY_BYTES).zip(entries) {
                let key = key_of(entry);
                if key < last && survey.first_disorder.is_none() {
                    survey.first_disorder = Some(offset);
                }
                last = key;
                count += 1;
                // Those of key 0 are a header.
                if key != 0 && count.is_multiple_of(each) {
                    survey.moves += 1;
                    survey.possible += u64::from(is_possible(decode(entry, 0).mv));
                }
            }
            piece += step;
        }
        Ok(survey)
    }

    /// Whether nearly all of the moves are possible, as in any book: of noise it is one in
    /// thirty, of the programs, networks and tables that were looked at, one in four at
    /// most. A few may be marks of some tool.
    pub(super) fn has_moves(&self) -> bool {
        self.possible * 10 >= self.moves * 9
    }

    /// Whether it is so unlike a book that it is not worth being sorted.
    pub(super) fn is_hopeless(&self) -> bool {
        self.first_disorder.is_some() && self.possible * 2 < self.moves
    }

    /// Why the file is not a book.
    pub(super) fn refusal(&self) -> String {
        let Survey {
            moves, possible, ..
        } = self;
        let order = match self.first_disorder {
            Some(offset) => format!("its keys are not sorted (file byte {offset})"),
            None => "its keys are sorted".to_owned(),
        };
        format!(
            "not a Polyglot opening book: {order}, {possible} of {moves} moves looked at are \
             ones that a piece can make, and no position near the start position was found; \
             programs keep other data in .bin files, too"
        )
    }
}

/// Whether a piece can move like this on an empty board; castling is like a move of a rook.
fn is_possible(mv: PackedMove) -> bool {
    let (from, to) = mv.squares();
    let goes = attacks::queen_attacks(from, Bitboard::EMPTY) | attacks::knight_attacks(from);
    let is_promotion = || {
        let ranks = [from, to].map(Square::rank);
        let files = [from, to].map(Square::file).map(File::to_u32);
        files[0].abs_diff(files[1]) <= 1
            && (ranks == [Rank::Seventh, Rank::Eighth] || ranks == [Rank::Second, Rank::First])
    };
    goes.contains(to)
        && match mv.0 >> 12 {
            0 => true,
            1..=4 => is_promotion(),
            _ => false,
        }
}
