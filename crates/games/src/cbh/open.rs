//! Opening a database: finds its files and reports what is unusual.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Database;
use super::entities::{Entities, PLAYERS, TOURNAMENTS};
use super::entry::{self, MAGIC, RECORD_BYTES};
use crate::archive::SourceFile;
use crate::counted_remark::CountedRemark;
use crate::indexed::{IndexedSource, Layout};
use crate::{Error, GameSource};
use tabia_io::input::bytes::{be_u16_at, be_u32_at};
use tabia_io::input::path::{file_name, has_extension};

/// Bytes of the header of a .cbg file: in the oldest databases, and in all later ones.
const MOVES_HEADERS: [u16; 2] = [10, 26];

/// Extensions of files that a user may name instead of the .cbh file.
const PARTS: [&str; 7] = ["cbg", "cbp", "cbt", "cbc", "cbs", "cba", "cbj"];

/// Such extensions of databases since 2022.
const NEW_PARTS: [&str; 5] = ["2cbg", "2lid", "2cba", "2lgd", "2lcd"];

/// Whether a file is the main one of a database.
pub(crate) fn is_cbh(path: &Path, start: &[u8]) -> bool {
    has_extension(path, "cbh") || MAGIC.iter().any(|magic| start.starts_with(magic))
}

/// Whether a file is ChessBase's but cannot be read.
pub(crate) fn is_other(path: &Path, _start: &[u8]) -> bool {
    why_not(path).is_some()
}

/// The error with advice for such a file.
///
/// # Errors
///
/// Always.
pub(crate) fn refuse(file: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let text = why_not(file.path()).unwrap_or_default();
    Err(Error::format(file.path(), text))
}

fn why_not(path: &Path) -> Option<String> {
    let text = match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "cbone" => {
            "a database of ChessBase 17 or later, which cannot be read: \
             save it as .cbh or .pgn with ChessBase"
        }
        part if PARTS.contains(&part) => "a part of a database: name its .cbh file",
        part if NEW_PARTS.contains(&part) => "a part of a database: name its .2cbh file",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Opens a database by its .cbh file.
///
/// # Errors
///
/// It has another format, its .cbg file is missing, or one of them cannot be read.
pub(crate) fn open(named: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let path = named.path();
    let (entries, header) = named.open_start(RECORD_BYTES as usize)?;
    let extent =
        entry::parse_header(&header, entries.len()).map_err(|text| Error::format(path, text))?;
    let moves_file = named.games_file("cbg")?;
    let moves_path = moves_file.path();
    let (moves, moves_start) = moves_file.open_start(RECORD_BYTES as usize)?;

    let mut remarks = Vec::new();
    let mut remark = |path: &Path, text: String| {
        remarks.push(format!("{}: {text}", path.display()));
    };
    if extent.announced != extent.present {
        let entry::Extent {
            entries,
            announced,
            present,
        } = extent;
        let text =
            format!("{present} entries in it, {announced} by its header; {entries} are read");
        remark(path, text);
    }
    let announced = be_u32_at(&moves_start, 2).map_or(0, u64::from);
    if announced > moves.len() {
        let len = moves.len();
        remark(
            moves_path,
            format!("{len} bytes long, {announced} by its header"),
        );
    }
    let mut companion = |extension, texts, what| {
        let (path, text) = match open_companion(named, extension, texts) {
            Ok(entities) => return Some(entities),
            Err(problem) => problem,
        };
        remark(&path, format!("{text}; {what} are not known"));
        None
    };
    let players = companion("cbp", PLAYERS, "players");
    let tournaments = companion("cbt", TOURNAMENTS, "tournaments and places");
    let moves_header = be_u16_at(&moves_start, 0)
        .filter(|len| MOVES_HEADERS.contains(len))
        .unwrap_or(MOVES_HEADERS[0]);
    Ok(Box::new(IndexedSource::new(Database {
        moves_name: file_name(moves_path).into_owned(),
        layout: Layout {
            name: path.display().to_string(),
            remarks,
            entries: Arc::new(entries),
            moves: Arc::new(moves),
            first_at: RECORD_BYTES,
            record_bytes: RECORD_BYTES,
            count: extent.entries,
        },
        moves_header: moves_header.into(),
        players,
        tournaments,
        open_games: CountedRemark::new("games without the mark of their end"),
        unknown_codes: CountedRemark::new("codes of unknown meaning (skipped)"),
        guesses: CountedRemark::new(
            "moves of a piece with a number that no piece has (the fourth of its kind was taken)",
        ),
    })))
}

/// Opens a file of names, or returns its name and what is wrong with it.
fn open_companion(
    named: &SourceFile,
    extension: &str,
    texts: [usize; 2],
) -> Result<Entities, (PathBuf, String)> {
    let found = named.sibling(extension).ok_or_else(|| {
        let path = named.path().with_extension(extension);
        (path, "missing".to_owned())
    })?;
    let encoding = found.encoding().unwrap_or_default();
    let opened = found.open();
    let opened = opened.and_then(|file| Entities::new(file, texts, encoding));
    opened.map_err(|error| (found.path().to_owned(), error.to_string()))
}
