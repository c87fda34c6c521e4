//! Books that are read whole when they are opened: Chessmaster's ([`obk`]) and Shredder's
//! ([`bkt`]). Both can be read and played from; neither can be changed or written.

pub mod bkt;
pub mod obk;

use std::path::Path;

use crate::polyglot::PackedMove;
use crate::polyglot::keyed::{Keyed, KeyedEntry};
use crate::{Error, Format, OpenOptions, Preference};
use tabia_io::input::file::DataFile;

/// A book whose moves are in memory, by the key of their position. May be used by any
/// number of threads.
#[derive(Debug)]
pub struct LoadedBook {
    format: Format,
    file: DataFile,
    moves: Moves,
    positions: u64,
    unreached: u64,
    pub(super) notices: Vec<String>,
}

/// What a reader of a format has found.
#[derive(Debug, Default)]
struct Found {
    moves: Moves,
    /// Positions of the file that were not found.
    unreached: u64,
    /// What the user should know, without the name of the file.
    notices: Vec<String>,
}

/// Moves by Polyglot's key of their position, each once.
#[derive(Debug, Default)]
struct Moves(Vec<(u64, KeyedEntry)>);

impl Moves {
    fn push(&mut self, key: u64, mv: PackedMove, weight: u32, offset: u64) {
        let entry = KeyedEntry {
            mv,
            preference: Preference::Weight(weight),
            stats: None,
            learn: 0,
            offset,
        };
        self.0.push((key, entry));
    }

    /// Sorts by key. A move that occurs in several places has its greatest weight.
    fn sort(&mut self) {
        let weight = |entry: &KeyedEntry| match entry.preference {
            Preference::Weight(weight) => weight,
            _ => 0,
        };
        let place = |(key, entry): &(u64, KeyedEntry)| (*key, entry.mv);
        self.0.sort_by_key(|known| {
            let heaviest = std::cmp::Reverse(weight(&known.1));
            (place(known), heaviest)
        });
        self.0.dedup_by_key(|known| place(known));
        // As in the file, within a position.
        self.0.sort_by_key(|(key, entry)| (*key, entry.offset));
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
        options: &OpenOptions,
    ) -> Result<LoadedBook, Error> {
        let file = DataFile::open(path, options.mmap).map_err(|error| Error::io(path, error))?;
        LoadedBook::new(file, format)
    }

    pub(crate) fn new(file: DataFile, format: Format) -> Result<LoadedBook, Error> {
        let Found {
            mut moves,
            unreached,
            notices,
        } = match format {
            Format::Bkt => bkt::read(&file)?,
            _ => obk::read(&file)?,
        };
        if moves.0.is_empty() {
            let named = match format {
                Format::Bkt => "Shredder",
                _ => "Chessmaster",
            };
            return Err(Error::no_entries(&file, named));
        }
        moves.sort();
        let name = file.path().display();
        let notices = notices
            .into_iter()
            .map(|notice| format!("{name}: {notice}"));
        let keys = moves.0.chunk_by(|a, b| a.0 == b.0);
        Ok(LoadedBook {
            format,
            positions: keys.count() as u64,
            notices: notices.collect(),
            file,
            moves,
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

    /// Moves of all positions.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.moves.0.len() as u64
    }

    /// Whether there are no moves; never so for an open book.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.0.is_empty()
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
        match self.format {
            Format::Bkt => {
                crate::polyglot::keyed::raw_entry::<{ bkt::CELL_BYTES }>(&self.file, offset)
            }
            _ => crate::polyglot::keyed::raw_entry::<{ obk::MOVE_BYTES }>(&self.file, offset),
        }
    }

    /// The entries of the position with this key, in the order of the file.
    pub fn entries_of(&self, key: u64) -> impl Iterator<Item = KeyedEntry> + '_ {
        let first = self.moves.0.partition_point(|(known, _)| *known < key);
        let rest = self.moves.0.get(first..).unwrap_or_default();
        rest.iter()
            .take_while(move |(known, _)| *known == key)
            .map(|(_, entry)| *entry)
    }
}

impl Keyed for LoadedBook {
    fn file(&self) -> &DataFile {
        &self.file
    }

    fn each(&self, key: u64, visit: &mut dyn FnMut(KeyedEntry)) -> Result<(), Error> {
        self.entries_of(key).for_each(visit);
        Ok(())
    }
}

/// All bytes of a file.
fn whole(file: &DataFile) -> Result<Vec<u8>, Error> {
    Error::start_of(file, usize::try_from(file.len()).unwrap_or(usize::MAX))
}
