//! A database as a source of games.

use std::io::BufReader;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::decode;
use super::entry::ScdbEntry;
use super::index::{HEADER_BYTES, Index};
use super::names::Names;
use super::promotion::{self, Numbering};
use super::{MAGIC_BYTES, extension, has_magic, is_part, length};
use crate::archive::SourceFile;
use crate::counted_remark::CountedRemark;
use crate::indexed::{EntryBatch, ReadGame};
use crate::{Error, Game, GameBatch, GameParts, GameSource, SkipReason};
use tabia_io::input::file::{DataFile, FileError};
use tabia_io::input::path::has_extension;
use tabia_io::input::reader::FileReader;
use tabia_io::input::window::Window;

/// Games in a batch.
const BATCH_GAMES: usize = 256;

/// Bytes that are read for the last game of a batch, from its offset.
const USUAL_GAME_BYTES: u64 = 1 << 12;

/// Whether a file belongs to a database.
pub(crate) fn is_index(path: &Path, start: &[u8]) -> bool {
    has_magic(start, b'i') || is_part(path)
}

/// Opens a database by the path of one of its files.
///
/// # Errors
///
/// The index or the games cannot be read, or the index is not valid.
pub(crate) fn open(named: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let refused = |path: &Path, text: &str| Error::format(path, text);
    let index = index_of(named)
        .ok_or_else(|| refused(named.path(), "the index of this database is missing (.dci)"))?;
    let index_path = index.path();
    let (file, header) = index.open_start(HEADER_BYTES)?;
    let bytes = file.len();
    if !has_magic(&header, b'i') {
        let text = "not an index of a Simple Chess Database: it does not begin with SimpleCDbi";
        return Err(refused(index_path, text));
    }
    match header.get(MAGIC_BYTES) {
        Some(0) | None => {}
        Some(version) => {
            let text =
                format!("unknown version {version} of Simple Chess Database: only 0 can be read");
            return Err(refused(index_path, &text));
        }
    }
    let Some(games) = index.sibling(&extension(b'g')) else {
        let text = "the file with its games (.dcg) is missing beside it";
        return Err(refused(index_path, text));
    };
    let database = Database::open(&index, &games)?;
    let entries = FileReader::new(Arc::new(file), header.len() as u64..bytes);
    let index = Index::new(
        BufReader::new(entries),
        whole(&database.games),
        database.games.len(),
    );
    Ok(Box::new(ScdbSource {
        database: Arc::new(database),
        bytes_read: 0,
        index: Some(index),
        given: 0,
        faults: Vec::new(),
    }))
}

fn index_of(named: &SourceFile) -> Option<SourceFile> {
    let letters = [b'n', b's', b'e', b'g'];
    let is_other = |letter: &u8| has_extension(named.path(), &extension(*letter));
    if letters.iter().any(is_other) {
        named.sibling(&extension(b'i'))
    } else {
        Some(named.clone())
    }
}

fn whole(file: &Arc<DataFile>) -> FileReader {
    FileReader::new(Arc::clone(file), 0..file.len())
}

/// The data that all batches use.
pub(super) struct Database {
    name: String,
    games: Arc<DataFile>,
    players: Names,
    sites: Names,
    events: Names,
    numbering: OnceLock<Numbering>,
    /// What is wrong with the files other than the index.
    faults: Vec<String>,
    odd_status: CountedRemark,
    lost_names: CountedRemark,
    /// Pawns that reach the last rank without a stored promotion piece.
    pub(super) unknown_promotions: CountedRemark,
}

impl Database {
    fn open(index: &SourceFile, file: &SourceFile) -> Result<Database, Error> {
        let (opened, start) = file.open_start(MAGIC_BYTES)?;
        let mut faults = Vec::new();
        if !has_magic(&start, b'g') {
            faults.push(format!(
                "{}: it does not begin with SimpleCDbg",
                file.path().display()
            ));
        }
        let mut names = |letter, what: &str| {
            let (names, fault) = names(index, letter, what);
            faults.extend(fault);
            names
        };
        Ok(Database {
            name: index.path().display().to_string(),
            players: names(b'n', "players"),
            sites: names(b's', "sites"),
            events: names(b'e', "events"),
            numbering: OnceLock::new(),
            faults,
            odd_status: CountedRemark::new(
                "games marked neither as live nor as deleted (taken as live)",
            ),
            lost_names: CountedRemark::new(
                "unknown players, sites or events (no name is stored where theirs should be)",
            ),
            unknown_promotions: CountedRemark::new("promotions without a piece (read as queens)"),
            games: Arc::new(opened),
        })
    }
}

/// Reads one file of names, and reports what is wrong with it. Games can be read
/// without names.
fn names(index: &SourceFile, letter: u8, what: &str) -> (Names, Option<String>) {
    let Some(file) = index.sibling(&extension(letter)) else {
        let extension = extension(letter);
        let fault = format!(
            "{}: .{extension} is missing, so the {what} are unknown",
            index.path().display()
        );
        return (Names::default(), Some(fault));
    };
    let path = file.path();
    match file.bytes() {
        Ok(bytes) if has_magic(&bytes, letter) => (Names::new(bytes), None),
        Ok(bytes) => {
            let magic = format!("SimpleCDb{}", char::from(letter));
            let fault = format!("{}: it does not begin with {magic}", path.display());
            (Names::new(bytes), Some(fault))
        }
        Err(error) => (
            Names::default(),
            Some(format!("{}: {error}", path.display())),
        ),
    }
}

impl Database {
    /// The numbering of promotions, detected at the first promotion.
    pub(super) fn numbering(&self) -> Numbering {
        let find = || promotion::detect(whole(&self.games));
        *self
            .numbering
            .get_or_init(|| find().unwrap_or(Numbering::Program))
    }
}

struct ScdbSource {
    database: Arc<Database>,
    /// `None` after the end.
    index: Option<Index>,
    bytes_read: u64,
    /// Number of games in the batches so far.
    given: u64,
    /// Faults of the index, known at its end.
    faults: Vec<String>,
}

impl GameSource for ScdbSource {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        let Some(index) = &mut self.index else {
            return Ok(None);
        };
        let mut entries = Vec::with_capacity(BATCH_GAMES);
        while entries.len() < BATCH_GAMES {
            let failed = |error| Error::io(Path::new(&self.database.name), error);
            match index.next().map_err(failed)? {
                Some(entry) => entries.push(entry),
                None => break,
            }
        }
        self.bytes_read = index.bytes_read;
        if entries.is_empty() {
            if let Some(index) = self.index.take() {
                self.faults = index.close();
            }
            return Ok(None);
        }
        let first = self.given + 1;
        self.given += entries.len() as u64;
        let (database, games) = (Arc::clone(&self.database), &self.database.games);
        let (games, entries) = (Arc::clone(games), entries.into_iter().map(Ok).collect());
        let batch = EntryBatch::new(database, &self.database.name, games, first, entries);
        Ok(Some(Box::new(batch)))
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    fn remarks(&self) -> Vec<String> {
        let database = &self.database;
        let name = &database.name;
        let mut remarks = database.faults.clone();
        remarks.extend(self.faults.iter().map(|fault| format!("{name}: {fault}")));
        let oddities = [
            &database.lost_names,
            &database.odd_status,
            &database.unknown_promotions,
        ];
        remarks.extend(oddities.iter().filter_map(|oddity| oddity.report(name)));
        if database.numbering.get() == Some(&Numbering::Document) {
            let text = "promotions are numbered as in the format's document (1 to 4)";
            remarks.push(format!("{name}: {text}"));
        }
        remarks
    }
}

impl ReadGame for Database {
    type Entry = ScdbEntry;
    type Buffers = Vec<u8>;

    fn place(&self, entry: &ScdbEntry) -> Option<Range<u64>> {
        let end = entry.offset.saturating_add(USUAL_GAME_BYTES);
        (MAGIC_BYTES as u64..self.games.len())
            .contains(&entry.offset)
            .then_some(entry.offset..end)
    }

    fn read(
        &self,
        entry: &ScdbEntry,
        games: &Window,
        wanted: GameParts,
        buffer: &mut Vec<u8>,
        game: &mut Game,
    ) -> Result<(), SkipReason> {
        match entry.status {
            0 => {}
            0xff => return Err(SkipReason::Deleted),
            _ => self.odd_status.add(1_u64),
        }
        let offset = entry.offset;
        if !(MAGIC_BYTES as u64..games.file_len()).contains(&offset) {
            let text = format!("its place, byte {offset}, is outside the .dcg file");
            return Err(SkipReason::Text(text));
        }
        let failed = |error: FileError| SkipReason::Text(format!("the .dcg file: {error}"));
        let start = games.read(offset, length::MOST_BYTES, buffer);
        let start = start.map_err(failed)?;
        let Some((length, more)) = length::read(start) else {
            let text = format!("no game begins at byte {offset} of the .dcg file");
            return Err(SkipReason::Text(text));
        };
        let at = offset + (start.len() - more.len()) as u64;
        let bytes = games.read(at, length, buffer).map_err(failed)?;
        if bytes.is_empty() && length > 0 {
            return Err(SkipReason::text("the .dcg file ends before it"));
        }
        describe(self, entry, wanted, game);
        decode::decode(bytes, self, wanted, game)
    }
}

/// Copies the fields of the index entry into the game.
fn describe(database: &Database, entry: &ScdbEntry, wanted: GameParts, game: &mut Game) {
    let name = |names: &Names, place: u32| {
        names.get(place).unwrap_or_else(|| {
            database.lost_names.add(1_u64);
            "?".to_owned()
        })
    };
    game.names = entry.players.map(|place| name(&database.players, place));
    game.elo = entry.elo;
    game.result = entry.result;
    game.eco = entry.eco;
    game.set_date(entry.date);
    if wanted.tags() {
        game.tags.set("Event", name(&database.events, entry.event));
        game.tags.set("Site", name(&database.sites, entry.site));
        game.tags.set("Date", entry.date.to_pgn());
        if entry.round > 0 {
            game.tags.set("Round", entry.round.to_string());
        }
    }
}
