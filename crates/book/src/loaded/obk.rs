//! Chessmaster opening books (.obk).
//!
//! The description comes from the source of a reader, not from a book. Two headers are
//! known: `BOO!`, the number of moves, and that of notes, 12 bytes; and `UGWS` and the
//! number of moves, 8 bytes. The numbers are little-endian. Two bytes for each move follow,
//! then the notes, which are not read.
//!
//! | byte | bits | of a move |
//! |---|---|---|
//! | 0 | 0-2, 3-5 | file and rank of the source square |
//! | 0 | 6 | the last alternative to the moves before it |
//! | 0 | 7 | the last move of a variation |
//! | 1 | 0-2, 3-5 | file and rank of the target square |
//! | 1 | 6-7 | weight: 1, 25, 50 or 100 |
//!
//! The moves are a tree, depth first: after a variation comes the next alternative to the
//! latest move that still has one. a1a1 is not a move, and fills a place. A pawn becomes a queen. Lines longer than [`MAX_PLIES`] are cut.

use shakmaty::{Chess, Position as _, Role, Square};

use super::{Found, Loader, Notice, Repeats, whole};
use crate::Error;
use crate::polyglot::{self, PackedMove};
use tabia_io::input::bytes::le_u32_at;
use tabia_io::input::file::DataFile;
use tabia_notation as notation;

pub use super::abk::MAX_PLIES;

/// Bytes of a move.
pub const MOVE_BYTES: usize = 2;

const WEIGHTS: [u32; 4] = [1, 25, 50, 100];

/// A position and its plies; nothing after an illegal move.
type Here = Option<Box<(Chess, usize)>>;

/// How such a book is read.
pub(crate) const LOADER: Loader = Loader {
    maker: "Chessmaster",
    read,
    repeats: Repeats::Greatest,
    entry_bytes: MOVE_BYTES,
    finds_every_position: false,
};

fn read(file: &DataFile) -> Result<Found, Error> {
    let bytes = whole(file)?;
    let number = |at| le_u32_at(&bytes, at).unwrap_or(0);
    let (header, notes) = match bytes.get(..4) {
        Some(b"BOO!") => (12, number(8)),
        Some(b"UGWS") => (8, 0),
        _ => {
            return Err(Error::Content {
                path: file.path().clone(),
                offset: 0,
                text: "not a Chessmaster book: it begins with neither BOO! nor UGWS".to_owned(),
            });
        }
    };
    let announced = number(4) as usize;
    let rest = bytes.get(header..).unwrap_or_default();
    let moves = rest.as_chunks::<MOVE_BYTES>().0;
    let moves = moves.get(..announced).unwrap_or(moves);
    let mut found = Found::default();
    let mut illegal = Skipped::default();
    let mut long = Skipped::default();
    let mut here: Here = Some(Box::new((Chess::default(), 0)));
    let mut waiting: Vec<Here> = Vec::new();
    let mut surplus = 0;
    for (n, &[first, second]) in moves.iter().enumerate() {
        let offset = (header + n * MOVE_BYTES) as u64;
        if [first, second] == [0, 0] {
            continue;
        }
        let (is_last, ends) = (first & 0x40 != 0, first & 0x80 != 0);
        let is_filler = first & 0x3f == 0 && second & 0x3f == 0;
        if !is_last && !is_filler {
            waiting.push(here.clone());
        }
        if let Some(at) = here.take().filter(|_| !is_filler) {
            let (position, plies) = *at;
            let weight = WEIGHTS.get(usize::from(second >> 6)).copied().unwrap_or(1);
            let packed = packed(&position, first & 0x3f, second & 0x3f);
            let legal = position.legal_moves();
            match packed.find(&legal).and_then(|n| legal.get(n)) {
                None => illegal.add(offset),
                Some(_) if plies >= MAX_PLIES => long.add(offset),
                Some(&mv) => {
                    let key = polyglot::key(&position);
                    found
                        .moves
                        .push(key, PackedMove::from_move(mv), weight, offset);
                    here = Some(Box::new((notation::after(&position, mv), plies + 1)));
                }
            }
        }
        if ends {
            match waiting.pop() {
                Some(next) => here = next,
                None => {
                    surplus = moves.len() - n - 1;
                    break;
                }
            }
        }
    }
    let missing = announced - moves.len();
    for (count, text) in [
        (
            missing,
            format!(
                "cut off at file byte {}: {missing} of {announced} moves are missing",
                bytes.len()
            ),
        ),
        (illegal.count, illegal.text("illegal moves")),
        (long.count, long.text("lines beyond 1000 plies")),
        (
            surplus,
            format!("{surplus} moves follow the last variation, and were not read"),
        ),
    ] {
        found
            .notices
            .extend((count > 0).then_some(Notice::Loss(text)));
    }
    let text = format!("its notes ({notes}) are not read");
    found
        .notices
        .extend((notes > 0).then_some(Notice::Remark(text)));
    Ok(found)
}

/// Moves that were skipped, and where the first is.
#[derive(Default)]
struct Skipped {
    count: usize,
    first: u64,
}

impl Skipped {
    fn add(&mut self, offset: u64) {
        if self.count == 0 {
            self.first = offset;
        }
        self.count += 1;
    }

    fn text(&self, what: &str) -> String {
        let Skipped { count, first } = self;
        format!("skipped {count} {what}; the first at file byte {first}")
    }
}

fn packed(position: &Chess, from: u8, to: u8) -> PackedMove {
    let (from, to) = (Square::new(from.into()), Square::new(to.into()));
    let is_pawn = position.board().role_at(from) == Some(Role::Pawn);
    let last = u8::from(to.rank()) % 7 == 0;
    PackedMove::new(from, to, (is_pawn && last).then_some(Role::Queen))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Book, Lookup, OpenOptions, Preference, Probe as _, Wanted};

    fn book(header: &[u8], moves: &[(&str, u8)]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        for (mv, flags) in moves {
            let square = |at: usize| mv[at..at + 2].parse::<Square>().unwrap() as u8;
            bytes.extend([square(0) | flags & 0xc0, square(2) | flags << 6]);
        }
        bytes
    }

    fn open(bytes: &[u8]) -> Result<Book, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        Book::open(&path, &OpenOptions::default())
    }

    fn moves(book: &Book, line: &str) -> Vec<(String, u32)> {
        let line = notation::Line::read("", line).unwrap();
        let mut found = Lookup::default();
        let position = line.last().clone();
        book.probe(&position, Wanted::Stored, &mut found).unwrap();
        let moves = found.moves.iter().map(|known| match known.preference {
            Preference::Weight(weight) => (known.mv.to_string(), weight),
            _ => panic!("no weight"),
        });
        moves.collect()
    }

    const LAST: u8 = 0x40;
    const ENDS: u8 = 0x80;

    /// 1.e4 (e5 2.Nf3 | c5), 1.d4.
    fn small() -> Vec<(&'static str, u8)> {
        vec![
            ("e2e4", 3),
            ("e7e5", 2),
            ("g1f3", LAST | ENDS),
            ("c7c5", LAST | ENDS | 1),
            ("d2d4", LAST | ENDS | 1),
        ]
    }

    #[test]
    fn the_tree_is_read_with_its_weights_under_both_headers() {
        let boo = book(b"BOO!\x05\0\0\0\0\0\0\0", &small());
        let ugws = book(b"UGWS\x05\0\0\0", &small());
        for bytes in [boo, ugws] {
            let book = open(&bytes).unwrap();
            let named = |moves: &[(&str, u32)]| -> Vec<(String, u32)> {
                moves.iter().map(|(mv, n)| ((*mv).to_owned(), *n)).collect()
            };
            assert_eq!(moves(&book, ""), named(&[("e2-e4", 100), ("d2-d4", 25)]));
            assert_eq!(moves(&book, "e4"), named(&[("e7-e5", 50), ("c7-c5", 25)]));
            assert_eq!(moves(&book, "e4 e5"), named(&[("Ng1-f3", 1)]));
            assert_eq!(book.notices(), [""; 0]);
        }
    }

    #[test]
    fn what_is_not_read_is_counted() {
        let mut wrong = small();
        wrong[1].0 = "e7e3";
        let wrong = book(b"BOO!\x09\0\0\0\x02\0\0\0", &wrong);
        let found = open(&wrong).unwrap();
        let notices = found.notices().join("\n");
        for text in [
            "cut off at file byte 22: 4 of 9 moves are missing",
            "1 illegal moves; the first at file byte 14",
            "its notes (2)",
        ] {
            assert!(notices.contains(text), "{notices}");
        }
        // That notes are not read is no fault of the book.
        assert_eq!(found.unread().parts, found.notices()[..2]);
        assert_eq!(moves(&found, "e4").len(), 1);
        assert_eq!(moves(&found, "").len(), 2);
        for bytes in [&b"BOO!"[..], b"UGWS\0\0\0\0", b"UGWS\x01\0\0\0\0"] {
            let error = open(bytes).unwrap_err().to_string();
            assert!(
                error.contains("no entry of an opening book (Chessmaster)"),
                "{error}"
            );
        }
        let error = read(&DataFile::from_static(Path::new("y"), b"BOO? and so on"));
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("neither BOO! nor UGWS")
        );
    }

    proptest::proptest! {
        #[test]
        fn damage_never_breaks_the_reader(moves: Vec<(u8, u8)>, count: u32) {
            let mut bytes = b"UGWS".to_vec();
            bytes.extend(count.to_le_bytes());
            bytes.extend(moves.iter().flat_map(|(first, second)| [*first, *second]));
            if let Ok(book) = open(&bytes) {
                self::moves(&book, "");
            }
        }
    }
}
