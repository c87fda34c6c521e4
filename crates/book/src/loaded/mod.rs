//! Books that are read whole when they are opened: Arena's ([`abk`]), Chessmaster's ([`obk`])
//! and Shredder's ([`bkt`]).

pub mod abk;
pub mod bkt;
pub mod obk;

use std::path::Path;

use crate::ctg::Salvage;
use crate::edit::pending_changes;
use crate::polyglot::PackedMove;
use crate::polyglot::keyed::{self, Keyed, KeyedEntry};
use crate::{Error, Format, OpenOptions, Preference, Stats};
use tabia_io::input::file::{DataFile, View};

/// A book whose moves are in memory, by the key of their position. May be used by any
/// number of threads.
#[derive(Debug)]
pub struct LoadedBook {
    format: Format,
    entry_bytes: usize,
    file: DataFile,
    moves: Vec<StoredMove>,
    /// In a book for one side: moves of the other side, followed but never played.
    links: Vec<StoredMove>,
    positions: u64,
    unreached: u64,
    pub(super) notices: Vec<String>,
    pub(super) unread: Salvage,
}

/// How books of a format are read.
pub(crate) struct Loader {
    /// Whose books they are, for the message that there is no move.
    maker: &'static str,
    read: fn(&DataFile) -> Result<Found, Error>,
    /// What a move is that occurs in several places.
    repeats: Repeats,
    /// The length of an entry.
    pub entry_bytes: usize,
    /// Whether a sound book has no position that is not found.
    pub finds_every_position: bool,
}

/// What a move is that occurs in several places.
enum Repeats {
    /// One move; its numbers are added when it is asked for.
    Added,
    /// The one with the greatest weight.
    Greatest,
}

/// What a reader of a format has found.
#[derive(Debug, Default)]
struct Found {
    moves: Moves,
    /// In a book for one side: moves of the other side.
    links: Moves,
    /// Positions of the file that were not found.
    unreached: u64,
    notices: Vec<Notice>,
}

/// What the user should know of a file, without its name.
#[derive(Debug)]
enum Notice {
    /// A part is missing, damaged or not read.
    Loss(String),
    /// All that the format can say was read.
    Remark(String),
}

/// Moves by Polyglot's key of their position.
#[derive(Debug, Default)]
struct Moves(Vec<StoredMove>);

/// A move by the key of its position, in few bytes: a book may have millions.
#[derive(Clone, Copy, Debug)]
struct StoredMove {
    key: u64,
    mv: PackedMove,
    /// A weight; or a priority, and then there are results.
    preference: Preference,
    /// Games, wins and losses of the player of the move. The other games are drawn.
    results: [u32; 3],
    /// Of its first byte in the file.
    offset: u64,
}

impl Moves {
    /// Adds a move with a weight.
    fn push(&mut self, key: u64, mv: PackedMove, weight: u32, offset: u64) {
        self.0.push(StoredMove {
            key,
            mv,
            preference: Preference::Weight(weight),
            results: [0; 3],
            offset,
        });
    }

    /// Leaves the greatest weight of a move that occurs in several places.
    fn join(&mut self) {
        let place = |one: &StoredMove| (one.key, one.mv);
        self.0
            .sort_by_key(|one| (place(one), std::cmp::Reverse(one.preference.weight())));
        self.0.dedup_by_key(|one| place(one));
        // As in the file, within a position.
        self.0.sort_by_key(|one| (one.key, one.offset));
    }
}

impl StoredMove {
    fn entry(&self) -> KeyedEntry {
        let [games, wins, losses] = self.results;
        let stats = Stats {
            games,
            wins,
            losses,
            draws: games.saturating_sub(wins).saturating_sub(losses),
            ..Stats::default()
        };
        KeyedEntry {
            mv: self.mv,
            preference: self.preference,
            stats: matches!(self.preference, Preference::Priority(_)).then_some(stats),
            learn: 0,
            offset: self.offset,
        }
    }
}

impl LoadedBook {
    /// Opens a book of one of these formats, and reads it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not such a book, or has no move that is found.
    pub(crate) fn open(
        path: &Path,
        format: Format,
        loader: &'static Loader,
        options: &OpenOptions,
    ) -> Result<LoadedBook, Error> {
        let file = DataFile::open(path, options.mmap).map_err(|error| Error::io(path, error))?;
        let mut book = LoadedBook::new(file, format, loader)?;
        book.notices.extend(pending_changes(path));
        Ok(book)
    }

    /// Opens a book of one of these formats in an open file, or in bytes: see
    /// [`Book::from_files`](crate::Book::from_files).
    pub(crate) fn new(
        file: DataFile,
        format: Format,
        loader: &'static Loader,
    ) -> Result<LoadedBook, Error> {
        let Found {
            mut moves,
            mut links,
            unreached,
            notices,
        } = (loader.read)(&file)?;
        if moves.0.is_empty() {
            return Err(Error::no_entries(&file, loader.maker));
        }
        match loader.repeats {
            Repeats::Added => moves.0.sort_by_key(|one| one.key),
            Repeats::Greatest => moves.join(),
        }
        links.0.sort_by_key(|one| one.key);
        let name = file.path().display();
        let mut unread = Salvage::default();
        let notices = notices.into_iter().map(|notice| match notice {
            Notice::Remark(text) => format!("{name}: {text}"),
            Notice::Loss(text) => {
                let text = format!("{name}: {text}");
                unread.parts.push(text.clone());
                text
            }
        });
        let notices = notices.collect();
        let keys = moves.0.chunk_by(|a, b| a.key == b.key);
        Ok(LoadedBook {
            format,
            entry_bytes: loader.entry_bytes,
            positions: keys.count() as u64,
            notices,
            unread,
            file,
            moves: moves.0,
            links: links.0,
            unreached,
        })
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The file of the book.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Problems of the file that the user should know, one sentence each.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Moves of all positions; in an Arena book, equal moves of equal positions as often as
    /// they occur in the tree.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.moves.len() as u64
    }

    /// Whether there are no moves; never so for an open book.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Positions with moves.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Positions of the file that were not found, as no line to them is known.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        self.unreached
    }

    /// Whether it is for one side, and has no moves in positions of the other.
    pub(crate) fn is_for_one_side(&self) -> bool {
        !self.links.is_empty()
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// The bytes of the entry at `offset` of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn raw_entry(&self, offset: u64) -> Result<Vec<u8>, Error> {
        keyed::raw_entry(&self.file, offset, self.entry_bytes)
    }

    /// The entries of the position with this key, in the order of the file; also those that
    /// only lead on in a book for the other side.
    pub fn entries_of(&self, key: u64) -> impl Iterator<Item = KeyedEntry> + '_ {
        let both = [&self.moves, &self.links].into_iter();
        both.flat_map(move |moves| entries_at(moves, lower_bound(moves, key), key))
    }
}

impl Keyed for LoadedBook {
    fn file(&self) -> &DataFile {
        &self.file
    }

    fn each_key(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        let keys = self.moves.iter().map(|one| one.key);
        keys.zip(0..).for_each(|(key, place)| visit(key, place));
        Ok(())
    }

    fn place_of(&self, key: u64) -> Result<Option<u64>, Error> {
        let place = lower_bound(&self.moves, key);
        let has_it = self.moves.get(place).is_some_and(|one| one.key == key);
        Ok(has_it.then_some(place as u64))
    }

    fn touch(&self, _: Option<&View<'_>>, place: u64) -> u8 {
        self.moves
            .get(place as usize)
            .map_or(0, |one| one.key as u8)
    }

    fn each_at(
        &self,
        _: Option<&View<'_>>,
        place: u64,
        key: u64,
        visit: &mut dyn FnMut(KeyedEntry),
    ) -> Result<(), Error> {
        entries_at(&self.moves, place as usize, key).for_each(visit);
        Ok(())
    }
}

fn lower_bound(moves: &[StoredMove], key: u64) -> usize {
    moves.partition_point(|one| one.key < key)
}

fn entries_at(
    moves: &[StoredMove],
    place: usize,
    key: u64,
) -> impl Iterator<Item = KeyedEntry> + '_ {
    let rest = moves.get(place..).unwrap_or_default();
    rest.iter()
        .take_while(move |one| one.key == key)
        .map(StoredMove::entry)
}

/// All bytes of a file.
fn whole(file: &DataFile) -> Result<Vec<u8>, Error> {
    Error::start_of(file, usize::try_from(file.len()).unwrap_or(usize::MAX))
}
