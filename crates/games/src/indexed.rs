//! Databases of two large files: an index with a record of equal length for each
//! game, and the moves, at offsets that the index contains.
//!
//! Nothing is read before it is wanted: a batch is a range of entries, and the thread
//! that works on it reads its part of the moves, and frees it with the batch. So
//! memory does not depend on the size of a database.

use std::ops::Range;
use std::sync::Arc;

use super::oddities::Oddity;
use super::{Error, Game, GameBatch, GameParts, GamePlace, GameSource, SkipReason};
use tabia_io::input::file::DataFile;
use tabia_io::input::window::Window;

/// Games of a batch.
const BATCH_GAMES: u64 = 256;

/// How a kind of database reads a game.
pub(super) trait ReadGame: Send + Sync + 'static {
    /// What is known of a game before it is read.
    type Entry: Send;
    /// Memory that is used again for each game.
    type Buffers: Default + Send;

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
}

/// A database whose index has records of equal length.
pub(super) trait Indexed: ReadGame {
    /// The files, and how the index is laid out.
    fn layout(&self) -> &Layout;

    /// Reads a record of whole length.
    fn parse(&self, record: &[u8]) -> Option<Self::Entry>;

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
        let layout = self.database.layout();
        let first = self.next;
        let until = (layout.count + 1).min(first + BATCH_GAMES);
        if first >= until {
            return Ok(None);
        }
        self.next = until;
        let records = layout.place(first)..layout.place(until);
        let window = Window::new(Arc::clone(&layout.entries), records);
        let bytes = usize::try_from(layout.record_bytes).unwrap_or(usize::MAX);
        let mut buffer = Vec::new();
        let entries = (first..until).map(|number| {
            let record = window.read(layout.place(number), bytes, &mut buffer);
            let record = record
                .map_err(|error| SkipReason::Text(format!("its record cannot be read: {error}")))?;
            let entry = Some(record).filter(|record| record.len() == bytes);
            let entry = entry.and_then(|record| self.database.parse(record));
            entry.ok_or_else(|| SkipReason::text("its record is cut off"))
        });
        let entries = entries.collect();
        let (database, moves) = (Arc::clone(&self.database), Arc::clone(&layout.moves));
        let batch = EntryBatch::new(database, &layout.name, moves, first, entries);
        Ok(Some(Box::new(batch)))
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

/// Games whose entries are known.
pub(super) struct EntryBatch<D: ReadGame> {
    database: Arc<D>,
    name: String,
    /// The file with their moves, and the part of it that they need.
    moves: Arc<DataFile>,
    window: Option<Window>,
    /// Number of the first one, from 1.
    first: u64,
    entries: Vec<Result<D::Entry, SkipReason>>,
    /// How many of them have been read.
    done: usize,
    buffers: D::Buffers,
}

impl<D: ReadGame> EntryBatch<D> {
    pub(super) fn new(
        database: Arc<D>,
        name: &str,
        moves: Arc<DataFile>,
        first: u64,
        entries: Vec<Result<D::Entry, SkipReason>>,
    ) -> EntryBatch<D> {
        EntryBatch {
            database,
            name: name.to_owned(),
            moves,
            window: None,
            first,
            entries,
            done: 0,
            buffers: D::Buffers::default(),
        }
    }
}

impl<D: ReadGame> GameBatch for EntryBatch<D> {
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
        let Some(entry) = self.entries.get(self.done) else {
            return Ok(false);
        };
        self.done += 1;
        let entry = entry.as_ref().map_err(SkipReason::clone)?;
        // Moves usually are in the order of the entries, so those of a batch are one
        // range.
        let window = self.window.get_or_insert_with(|| {
            let places = self.entries.iter().flatten();
            let places = places.filter_map(|entry| self.database.place(entry));
            let (start, end) = places.fold((u64::MAX, 0), |(start, end), place| {
                (start.min(place.start), end.max(place.end))
            });
            Window::new(Arc::clone(&self.moves), start.min(end)..end)
        });
        game.clear();
        let buffers = &mut self.buffers;
        self.database.read(entry, window, wanted, buffers, game)?;
        Ok(true)
    }

    fn source(&self) -> &str {
        &self.name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Game(self.first + self.done as u64 - 1)
    }
}
