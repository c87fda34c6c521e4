//! Databases with two large files: an index of equally long records, one for each
//! game, and the moves, at offsets that the index contains.
//!
//! Files are read only when needed: a batch is a range of entries; the thread that
//! reads it loads its part of the moves, and frees it with the batch. So memory
//! does not depend on the size of a database.

use std::ops::Range;
use std::sync::Arc;

use super::counted_remark::CountedRemark;
use super::{Error, Game, GameBatch, GameParts, GamePlace, GameSource, SkipReason};
use tabia_io::input::file::DataFile;
use tabia_io::input::window::Window;

/// Games in a batch.
const BATCH_GAMES: u64 = 256;

/// Reads the games of one kind of database.
pub(super) trait ReadGame: Send + Sync + 'static {
    /// The index entry of a game.
    type Entry: Send;
    /// Memory that is reused for each game.
    type Buffers: Default + Send;

    /// Byte range of the moves, exact or likely; `None` if it is outside the file.
    fn place(&self, entry: &Self::Entry) -> Option<Range<u64>>;

    /// Decodes a game into the empty `game`.
    ///
    /// # Errors
    ///
    /// The game cannot be used.
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
    /// The files, and the layout of the index.
    fn layout(&self) -> &Layout;

    /// Parses a record, or says why its game is left out; `None` if it is cut off.
    fn parse(&self, record: &[u8]) -> Option<Result<Self::Entry, SkipReason>>;

    /// Oddities that are counted during reading.
    fn counted_remarks(&self) -> Vec<&CountedRemark>;
}

/// Files, and the layout of the index.
pub(super) struct Layout {
    /// The name that the user gave.
    pub(super) name: String,
    /// Remarks from opening the database.
    pub(super) remarks: Vec<String>,
    pub(super) entries: Arc<DataFile>,
    pub(super) moves: Arc<DataFile>,
    /// Offset of the first record.
    pub(super) first_at: u64,
    /// Length of a record in bytes.
    pub(super) record_bytes: u64,
    /// Number of records.
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
            entry.unwrap_or_else(|| Err(SkipReason::text("its record is cut off")))
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
        let oddities = self.database.counted_remarks().into_iter();
        let counted = oddities.filter_map(|oddity| oddity.report(&layout.name));
        layout.remarks.iter().cloned().chain(counted).collect()
    }
}

/// A batch of games whose entries have been read.
pub(super) struct EntryBatch<D: ReadGame> {
    database: Arc<D>,
    name: String,
    /// The file of moves, and the part of it that the batch needs.
    moves: Arc<DataFile>,
    window: Option<Window>,
    /// Number of the first game, from 1.
    first: u64,
    entries: Vec<Result<D::Entry, SkipReason>>,
    /// Number of games read so far.
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
        // Moves usually are in the order of the entries, so a batch needs one range
        // of them.
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
