//! Databases of two large files: an index with a record of equal length for each
//! game, and the moves, at offsets that the index contains.
//!
//! Nothing is read before it is wanted: a batch is a range of records, and the thread
//! that works on it reads its part of both files, and frees it with the batch. So
//! memory does not depend on the size of a database.

use std::ops::Range;
use std::sync::Arc;

use super::oddities::Oddity;
use super::{Error, Game, GameBatch, GameParts, GamePlace, GameSource, SkipReason};
use tabia_io::input::file::DataFile;
use tabia_io::input::window::Window;

/// Games of a batch.
const BATCH_GAMES: u64 = 256;

/// What a kind of database knows about its records.
pub(super) trait Indexed: Send + Sync + 'static {
    /// The content of a record.
    type Entry;
    /// Memory that is used again for each game.
    type Buffers: Default + Send;

    /// The files, and how the index is laid out.
    fn layout(&self) -> &Layout;

    /// Reads a record of whole length.
    fn parse(&self, record: &[u8]) -> Option<Self::Entry>;

    /// Where its moves are, or are likely to be; `None` if they are not wanted.
    fn place(&self, entry: &Self::Entry) -> Option<Range<u64>>;

    /// Fills in a game, which is empty.
    ///
    /// # Errors
    ///
    /// It is no use.
    fn read(
        &self,
        entry: &Self::Entry,
        moves: &Window,
        wanted: GameParts,
        buffers: &mut Self::Buffers,
        game: &mut Game,
    ) -> Result<(), SkipReason>;

    /// What is counted while it is read.
    fn oddities(&self) -> Vec<&Oddity>;
}

/// Both files.
pub(super) struct Layout {
    /// As its user named it.
    pub(super) name: String,
    /// What was found at opening.
    pub(super) remarks: Vec<String>,
    pub(super) entries: Arc<DataFile>,
    pub(super) moves: Arc<DataFile>,
    /// Where the first record is.
    pub(super) first_at: u64,
    /// Bytes of a record.
    pub(super) record_bytes: u64,
    /// Records to read.
    pub(super) count: u64,
}

impl Layout {
    fn place(&self, number: u64) -> u64 {
        self.first_at + self.record_bytes * (number - 1)
    }
}

/// The games of a database.
pub(super) struct IndexedSource<D> {
    database: Arc<D>,
    /// Number of the next record, from 1.
    next: u64,
}

impl<D> IndexedSource<D> {
    pub(super) fn new(database: D) -> IndexedSource<D> {
        IndexedSource {
            database: Arc::new(database),
            next: 1,
        }
    }
}

impl<D: Indexed> GameSource for IndexedSource<D> {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        let first = self.next;
        let until = (self.database.layout().count + 1).min(first + BATCH_GAMES);
        if first >= until {
            return Ok(None);
        }
        self.next = until;
        Ok(Some(Box::new(Batch {
            database: Arc::clone(&self.database),
            number: first - 1,
            first,
            until,
            windows: None,
            record: Vec::new(),
            buffers: D::Buffers::default(),
        })))
    }

    fn bytes_read(&self) -> u64 {
        let layout = self.database.layout();
        if self.next > layout.count {
            layout.entries.len()
        } else {
            layout.place(self.next)
        }
    }

    fn remarks(&self) -> Vec<String> {
        let layout = self.database.layout();
        let oddities = self.database.oddities().into_iter();
        let counted = oddities.filter_map(|oddity| oddity.report(&layout.name));
        layout.remarks.iter().cloned().chain(counted).collect()
    }
}

/// A range of records.
struct Batch<D: Indexed> {
    database: Arc<D>,
    /// Number of the record that came last, from 1.
    number: u64,
    first: u64,
    /// Number after the last one.
    until: u64,
    windows: Option<Windows>,
    /// For bytes outside of the windows.
    record: Vec<u8>,
    buffers: D::Buffers,
}

/// The parts of both files that a batch needs.
struct Windows {
    entries: Window,
    moves: Window,
}

impl<D: Indexed> GameBatch for Batch<D> {
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
        self.number += 1;
        if self.number >= self.until {
            return Ok(false);
        }
        self.read(wanted, game)?;
        Ok(true)
    }

    fn source(&self) -> &str {
        &self.database.layout().name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Game(self.number)
    }
}

impl<D: Indexed> Batch<D> {
    fn read(&mut self, wanted: GameParts, game: &mut Game) -> Result<(), SkipReason> {
        let database = &*self.database;
        let layout = database.layout();
        let windows = self
            .windows
            .get_or_insert_with(|| windows(database, self.first, self.until));
        let bytes = usize::try_from(layout.record_bytes).unwrap_or(usize::MAX);
        let record = windows
            .entries
            .read(layout.place(self.number), bytes, &mut self.record)
            .map_err(|error| SkipReason::Text(format!("its record cannot be read: {error}")))?;
        let entry = Some(record)
            .filter(|record| record.len() == bytes)
            .and_then(|record| database.parse(record))
            .ok_or_else(|| SkipReason::text("its record is cut off"))?;
        game.clear();
        database.read(&entry, &windows.moves, wanted, &mut self.buffers, game)
    }
}

/// The windows of a batch. Moves usually lie in the order of the records, so
/// those of a batch are one stretch.
fn windows<D: Indexed>(database: &D, first: u64, until: u64) -> Windows {
    let layout = database.layout();
    let records = layout.place(first)..layout.place(until);
    let entries = Window::new(Arc::clone(&layout.entries), records);
    let mut buffer = Vec::new();
    let (mut start, mut end) = (u64::MAX, 0);
    for number in first..until {
        let bytes = usize::try_from(layout.record_bytes).unwrap_or(usize::MAX);
        let record = entries.read(layout.place(number), bytes, &mut buffer);
        let entry = record.ok().filter(|record| record.len() == bytes);
        let place = entry
            .and_then(|record| database.parse(record))
            .and_then(|entry| database.place(&entry));
        if let Some(place) = place {
            start = start.min(place.start);
            end = end.max(place.end);
        }
    }
    let moves = Window::new(Arc::clone(&layout.moves), start.min(end)..end);
    Windows { entries, moves }
}
