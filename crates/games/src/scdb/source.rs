//! A database as a source of games.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::decode;
use super::entry::ScdbEntry;
use super::index::{HEADER_BYTES, Index};
use super::names::Names;
use super::promotion::{self, Numbering};
use super::{MAGIC_BYTES, extension, has_magic, is_part, length};
use crate::archive::Located;
use crate::oddities::Oddity;
use crate::{Error, Game, GameBatch, GameParts, GamePlace, GameSource, SkipReason};
use tabia_io::input::reader::FileReader;

/// Games that make a batch.
const BATCH_GAMES: usize = 1024;

/// Bytes of games that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Whether a file is one of a database.
pub(crate) fn is_index(path: &Path, start: &[u8]) -> bool {
    has_magic(start, b'i') || is_part(path)
}

/// Opens a database by the name of its index, or of another of its files.
///
/// # Errors
///
/// The index or the games cannot be read, or the index is none.
pub(crate) fn open(named: &Located) -> Result<Box<dyn GameSource>, Error> {
    let refused = |path: &Path, text: &str| Error::format(path, text);
    let index = index_of(named)
        .ok_or_else(|| refused(named.path(), "the index of this database is missing (.dci)"))?;
    let index_path = index.path();
    let (file, header) = index.open_start(HEADER_BYTES)?;
    let bytes = file.len();
    if !has_magic(&header, b'i') {
        let text = "no index of a Simple Chess Database: it does not begin with SimpleCDbi";
        return Err(refused(index_path, text));
    }
    match header.get(MAGIC_BYTES) {
        Some(0) | None => {}
        Some(version) => {
            let text = format!("version {version} of Simple Chess Database is not known, only 0");
            return Err(refused(index_path, &text));
        }
    }
    let Some(games) = index.sibling(&extension(b'g')) else {
        let text = "the file with its games (.dcg) is missing beside it";
        return Err(refused(index_path, text));
    };
    let (database, games) = Database::open(&index, &games)?;
    let entries = FileReader::new(Arc::new(file), header.len() as u64..bytes);
    let index = Index::new(BufReader::new(entries), games, database.games_end);
    Ok(Box::new(ScdbSource {
        database: Arc::new(database),
        bytes_read: 0,
        index: Some(index),
        given: 0,
        faults: Vec::new(),
    }))
}

fn index_of(named: &Located) -> Option<Located> {
    let letters = [b'n', b's', b'e', b'g'];
    let is_other =
        |letter: &u8| tabia_io::input::path::has_extension(named.path(), &extension(*letter));
    if letters.iter().any(is_other) {
        named.sibling(&extension(b'i'))
    } else {
        Some(named.clone())
    }
}

/// What all batches share.
pub(super) struct Database {
    name: String,
    games: FileReader,
    games_end: u64,
    players: Names,
    sites: Names,
    events: Names,
    numbering: OnceLock<Numbering>,
    /// What is wrong with the files beside the index.
    faults: Vec<String>,
    odd_status: Oddity,
    lost_names: Oddity,
    /// A pawn reaches the last rank, and the piece that it becomes is not stored.
    pub(super) unknown_promotions: Oddity,
}

impl Database {
    fn open(index: &Located, file: &Located) -> Result<(Database, FileReader), Error> {
        let (opened, start) = file.open_start(MAGIC_BYTES)?;
        let games_end = opened.len();
        let games = FileReader::new(Arc::new(opened), 0..games_end);
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
        let database = Database {
            name: index.path().display().to_string(),
            players: names(b'n', "players"),
            sites: names(b's', "sites"),
            events: names(b'e', "events"),
            numbering: OnceLock::new(),
            faults,
            odd_status: Oddity::new(
                "games are marked neither as live nor as deleted; they were taken as live",
            ),
            lost_names: Oddity::new(
                "names of players, sites or events are unknown: there is no name where they should be",
            ),
            unknown_promotions: Oddity::new(
                "promotions do not say to what; they were read as queens",
            ),
            games: games.clone(),
            games_end,
        };
        Ok((database, games))
    }
}

/// The names of one file, and what is wrong with it. Without them games are
/// still games.
fn names(index: &Located, letter: u8, what: &str) -> (Names, Option<String>) {
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
    /// How promotions are numbered in the games, looked for when there is one.
    pub(super) fn numbering(&self) -> Numbering {
        let find = || promotion::detect(self.games.clone());
        *self
            .numbering
            .get_or_init(|| find().unwrap_or(Numbering::Program))
    }
}

struct ScdbSource {
    database: Arc<Database>,
    /// Until its end is reached.
    index: Option<Index>,
    bytes_read: u64,
    /// Games of the batches so far.
    given: u64,
    /// Of the index, known at its end.
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
        let before = self.given;
        self.given += entries.len() as u64;
        Ok(Some(Box::new(ScdbBatch {
            database: Arc::clone(&self.database),
            entries: entries.into_iter(),
            number: before,
            file: None,
            bytes: Vec::new(),
        })))
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

struct ScdbBatch {
    database: Arc<Database>,
    /// Those that come.
    entries: std::vec::IntoIter<ScdbEntry>,
    /// Number of the game that came last, from 1.
    number: u64,
    file: Option<BufReader<FileReader>>,
    bytes: Vec<u8>,
}

impl ScdbBatch {
    /// Reads the bytes of a game, without their length.
    fn read(&mut self, offset: u64) -> Result<(), SkipReason> {
        let end = self.database.games_end;
        if !(MAGIC_BYTES as u64..end).contains(&offset) {
            let text = format!("its place, byte {offset}, is outside the .dcg file");
            return Err(SkipReason::Text(text));
        }
        let failed = |error: io::Error| SkipReason::Text(format!("the .dcg file: {error}"));
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = self.database.games.clone();
                none.insert(BufReader::with_capacity(CHUNK_BYTES, file))
            }
        };
        let here = file.stream_position().map_err(failed)?;
        match i64::try_from(offset).ok().zip(i64::try_from(here).ok()) {
            Some((offset, here)) => file.seek_relative(offset - here).map_err(failed)?,
            None => {
                file.seek(SeekFrom::Start(offset)).map_err(failed)?;
            }
        }
        let mut start = Vec::with_capacity(length::MOST_BYTES);
        file.by_ref()
            .take(length::MOST_BYTES as u64)
            .read_to_end(&mut start)
            .map_err(failed)?;
        let Some((length, more)) = length::read(&start) else {
            let text = format!("no game begins at byte {offset} of the .dcg file");
            return Err(SkipReason::Text(text));
        };
        self.bytes.clear();
        self.bytes.extend(more.iter().take(length));
        // The bytes of the game, no more than the file has.
        let missing = length - self.bytes.len();
        let count = file
            .by_ref()
            .take(missing as u64)
            .read_to_end(&mut self.bytes)
            .map_err(failed)?;
        if more.len() > length {
            let back = more.len() - length;
            file.seek_relative(-(back as i64)).map_err(failed)?;
        }
        if count < missing && self.bytes.is_empty() {
            return Err(SkipReason::text("the .dcg file ends before it"));
        }
        Ok(())
    }

    fn fill(
        &mut self,
        entry: &ScdbEntry,
        wanted: GameParts,
        game: &mut Game,
    ) -> Result<(), SkipReason> {
        game.clear();
        match entry.status {
            0 => {}
            0xff => return Err(SkipReason::Deleted),
            _ => self.database.odd_status.add(1_u64),
        }
        self.read(entry.offset)?;
        let database = &self.database;
        describe(database, entry, wanted, game);
        decode::decode(&self.bytes, database, wanted, game)
    }
}

/// The fields of the index for a game.
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

impl GameBatch for ScdbBatch {
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
        let Some(entry) = self.entries.next() else {
            return Ok(false);
        };
        self.number += 1;
        self.fill(&entry, wanted, game)?;
        Ok(true)
    }

    fn source(&self) -> &str {
        &self.database.name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Game(self.number)
    }
}
