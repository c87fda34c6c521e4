//! Opens files by their content.

mod members;
mod peek;
mod unpacked;
mod zstd;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use members::Members;
pub(crate) use members::is_damage;

use crate::archive::{ArchiveResult, OpenArchive, SourceFile, seven_zip, zip};
use crate::encodings::{Decoded, utf16};
use crate::{Error, OpenResult, PgnSource, TextEncoding};
use crate::{cbf, cbh, cbh2, cbv, nic, scdb, scid, tgx};
use tabia_io::input::file::DataFile;
use tabia_io::input::path::has_extension;
use tabia_notation::kind::{self, Kind, Packing};

/// A format of games other than PGN. All unrecognized files are read as PGN.
struct GameKind {
    /// Extensions of its files, used for folders and archives. Of a database with
    /// several files, only that of the main one.
    endings: &'static [&'static str],
    /// Whether a file is of this format, by its name and its first bytes
    /// ([`START_BYTES`], or fewer if it has no more).
    is: fn(&Path, &[u8]) -> bool,
    /// How it is opened.
    open: Open,
}

/// How to open a file.
enum Open {
    /// As a database.
    Database(fn(&SourceFile) -> OpenResult),
    /// As an archive of databases, with its path and the password. The error describes
    /// what is wrong with it.
    Archive(fn(&Path, DataFile, Option<&str>) -> ArchiveResult),
}

/// All formats except PGN, in the order in which they are tried.
const KINDS: &[GameKind] = &[
    GameKind {
        endings: &[".cbh"],
        is: cbh::is_cbh,
        open: Open::Database(cbh::open),
    },
    GameKind {
        endings: &[".zip"],
        is: |_, start| zip::is_archive(start),
        open: Open::Archive(|_, bytes, _| zip::archive(bytes)),
    },
    GameKind {
        endings: &[".7z"],
        is: |_, start| seven_zip::is_archive(start),
        open: Open::Archive(|_, bytes, _| seven_zip::archive(bytes)),
    },
    GameKind {
        endings: &[".cbv", ".cbz"],
        is: cbv::is_archive,
        open: Open::Archive(cbv::archive),
    },
    GameKind {
        endings: &[".2cbh"],
        is: cbh2::is_index,
        open: Open::Database(cbh2::open),
    },
    GameKind {
        endings: &[".cbf"],
        is: cbf::is_cbf,
        open: Open::Database(cbf::open),
    },
    GameKind {
        endings: &[".dci"],
        is: scdb::is_index,
        open: Open::Database(scdb::open),
    },
    GameKind {
        endings: &[".si4", ".si5"],
        is: |path, start| scid::is_old(start) || has_extension(path, "si5"),
        open: Open::Database(scid::open),
    },
    GameKind {
        endings: &[".prn"],
        is: nic::is_text,
        open: Open::Database(nic::open),
    },
    GameKind {
        endings: &[".tgx"],
        is: |_, start| start.starts_with(tgx::MAGIC),
        open: Open::Database(tgx::open),
    },
    // Refused with a message that gives advice.
    GameKind {
        endings: &[],
        is: nic::is_binary,
        open: Open::Database(nic::refuse),
    },
    GameKind {
        endings: &[],
        is: cbh::is_other,
        open: Open::Database(cbh::refuse),
    },
];

/// Extensions of PGN files.
const PGN_ENDINGS: &[&str] = &[".pgn", ".pgn.gz", ".pgn.zst", ".pgn.bz2"];

/// Whether the name is that of a game file; of a database with several files, only of
/// the main one.
#[must_use]
pub fn is_game_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_ascii_lowercase();
    game_endings().any(|end| name.ends_with(end))
}

/// The endings of the names of game files, in lower case.
pub fn game_endings() -> impl Iterator<Item = &'static str> {
    let others = KINDS.iter().flat_map(|kind| kind.endings);
    PGN_ENDINGS.iter().chain(others).copied()
}

/// The format of a file, by its name and its first bytes; `None` for PGN.
fn kind_of(path: &Path, start: &[u8]) -> Option<&'static GameKind> {
    KINDS.iter().find(|kind| (kind.is)(path, start))
}

/// Number of bytes read to recognize a format.
const START_BYTES: u64 = kind::START_BYTES as u64;

/// Limit of nested archives.
const DEEPEST: usize = 3;

/// Opens one file (`-`: standard input) by its content.
///
/// # Errors
///
/// The file cannot be read.
///
/// # Examples
///
/// The games of a ChessBase database as PGN, with their variations; any other format is read in
/// the same way:
///
/// ```
/// use tabia_games::{Game, GameParts, open, write_pgn};
///
/// # let path = "../../tests/data/chessbase/Capa.cbh";
/// let mut source = open(path.as_ref())?;
/// let (mut game, mut text, mut skipped) = (Game::default(), String::new(), Vec::new());
/// while let Some(mut batch) = source.next_batch()? {
///     loop {
///         match batch.next_game(GameParts::EVERYTHING, &mut game) {
///             Ok(false) => break,
///             Ok(true) => drop(write_pgn(&game, &mut text)),
///             Err(reason) => skipped.push(batch.skip(reason)),
///         }
///     }
/// }
/// assert_eq!((text.matches("[White ").count(), skipped.len()), (113, 0));
/// assert!(text.contains("[White \"Corzo\"]\n[Black \"Capablanca\"]\n[Result \"0-1\"]"));
/// assert!(text.contains("13. Ne2 (13. Qxc5 Bxc5+)\n13... Qb6"));
/// # Ok::<(), tabia_games::Error>(())
/// ```
pub fn open(path: &Path) -> OpenResult {
    open_with(path, None)
}

/// Like [`open`], with the password of an encrypted archive.
///
/// # Errors
///
/// The file cannot be read, or the password is wrong.
pub fn open_with(path: &Path, password: Option<&str>) -> OpenResult {
    open_encoded(path, password, None)
}

/// Like [`open_with`], with the encoding of texts that are not UTF-8, if it is known.
///
/// # Errors
///
/// As for [`open_with`].
pub fn open_encoded(
    path: &Path,
    password: Option<&str>,
    encoding: Option<TextEncoding>,
) -> OpenResult {
    let failed = |source| Error::io(path, source);
    if path != Path::new("-") && path.metadata().map_err(failed)?.is_file() {
        let file = SourceFile::on_disk(path).with_encoding(encoding);
        return open_file(&file, password, 0);
    }
    let (stream, _) = stream(path).map_err(failed)?;
    pgn(path, begin(stream).map_err(failed)?, encoding)
}

/// The bytes of a file as stored (`-`: standard input), and its size, if known.
fn stream(path: &Path) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), size))
}

/// Opens PGN text.
fn pgn(path: &Path, begun: Begun, encoding: Option<TextEncoding>) -> OpenResult {
    let (start, input, counter) = begun;
    let name = path.display().to_string();
    let shown = if name == "-" { "standard input" } else { &name };
    let trailing_data = Arc::new(AtomicBool::new(false));
    let mut text = text(path, start, input, &trailing_data)?;
    if let Some(encoding) = encoding {
        text = encoding.lines(text);
    }
    let mut source = PgnSource::new(shown, text, counter);
    source.trailing_data = trailing_data;
    Ok(Box::new(source))
}

/// The decompressed text of a file.
pub struct PlainText {
    /// The decompressed bytes.
    pub plain: Box<dyn Read + Send>,
    /// Number of bytes of the file read so far.
    pub read: Arc<AtomicU64>,
    /// Size of the file in bytes, if known.
    pub size: Option<u64>,
}

/// Opens any file (`-`: standard input), plain, compressed (`.gz`, `.zst`, `.bz2`) or in an
/// archive (`.zip`, `.7z`), by its content. Of an archive these files are read, one after the
/// other: suites and evaluations or, if there are none, all.
///
/// # Errors
///
/// The file cannot be read.
pub fn unpacked(path: &Path) -> io::Result<PlainText> {
    let (stream, size) = stream(path)?;
    let (start, input, read) = begin(stream)?;
    let is_archive = zip::is_archive(&start) || seven_zip::is_archive(&start);
    if is_archive && path != Path::new("-") {
        return Ok(PlainText {
            plain: text_in_archive(path)?,
            read,
            size,
        });
    }
    Ok(PlainText {
        plain: decompress(start, input, &Arc::default()),
        read,
        size,
    })
}

/// Ends of names of texts that are not games.
const TEXT_ENDINGS: [&str; 5] = [".epd", ".fen", ".evals", ".jsonl", ".txt"];

/// The text of the files in an archive.
fn text_in_archive(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let of_content = |error: Error| match error {
        Error::Io { reason, .. } => reason,
        Error::Format { text, .. } => io::Error::new(io::ErrorKind::InvalidData, text),
        error => io::Error::other(error.to_string()),
    };
    let packed = packed(path, None).map_err(of_content)?;
    let files: Vec<SourceFile> = packed.iter().flat_map(OpenArchive::files).collect();
    let named = |ending: &str| -> Vec<&SourceFile> {
        let files = files.iter();
        let fits = |file: &&SourceFile| {
            let name = file.path().to_string_lossy().to_ascii_lowercase();
            let name = ["", ".gz", ".zst", ".bz2"]
                .iter()
                .find_map(|end| name.strip_suffix(end).filter(|name| name.ends_with(ending)));
            name.is_some()
        };
        files.filter(fits).collect()
    };
    let mut wanted = TEXT_ENDINGS.iter().map(|ending| named(ending));
    let wanted = wanted.find(|found| !found.is_empty());
    let wanted = wanted.unwrap_or_else(|| files.iter().collect());
    let mut whole: Option<Box<dyn Read + Send>> = None;
    for file in wanted {
        let (start, input, _) = begin(file.stream()?)?;
        let plain = decompress(start, input, &Arc::default());
        whole = Some(match whole {
            None => plain,
            // The last line of a file may have no end.
            Some(before) => Box::new(before.chain(&b"\n"[..]).chain(plain)),
        });
    }
    Ok(whole.unwrap_or_else(|| Box::new(io::empty())))
}

/// Opens a file, in an archive or not, by its content. `depth` is the number of
/// archives around it.
pub(crate) fn open_file(file: &SourceFile, password: Option<&str>, depth: usize) -> OpenResult {
    let path = file.path();
    let failed = |source| Error::io(path, source);
    if depth > DEEPEST {
        let text = "too many archives inside each other";
        return Err(Error::format(path, text));
    }
    let begun = file.stream().and_then(begin).map_err(failed)?;
    // Whatever they are named.
    if let kind @ (Kind::WebPage | Kind::LfsPointer | Kind::Tar | Kind::Sqlite) =
        Kind::recognize(path, &begun.0)
    {
        return Err(Error::format(path, kind.no_games().unwrap_or_default()));
    }
    match kind_of(path, &begun.0).map(|kind| &kind.open) {
        None => pgn(path, begun, file.encoding()),
        Some(Open::Database(open)) => open(file),
        Some(Open::Archive(open)) => {
            let bytes = file.open_named()?;
            let archive = open(path, bytes, password);
            let archive = archive.map_err(|text| Error::format(path, text))?;
            unpacked::open(file, archive, password, depth + 1)
        }
    }
}

/// The files in an archive on the disk; `None` if it is not an archive.
///
/// # Errors
///
/// The archive cannot be read.
pub(crate) fn packed(
    path: &Path,
    password: Option<&str>,
) -> Result<Option<Arc<OpenArchive>>, Error> {
    let (bytes, start) = SourceFile::on_disk(path).open_start(kind::START_BYTES)?;
    let Some(Open::Archive(open)) = kind_of(path, &start).map(|kind| &kind.open) else {
        return Ok(None);
    };
    let archive = open(path, bytes, password).map_err(|text| Error::format(path, text))?;
    Ok(Some(OpenArchive::new(path, archive, None)))
}

/// The first bytes of a stream, the rest, and the counter of bytes read.
type Begun = (Vec<u8>, Counted, Arc<AtomicU64>);

fn begin(input: Box<dyn Read + Send>) -> io::Result<Begun> {
    let counter = Arc::new(AtomicU64::new(0));
    let mut input = Counted {
        input,
        counter: Arc::clone(&counter),
    };
    let mut start = Vec::with_capacity(START_BYTES as usize);
    let mut first = input.by_ref().take(START_BYTES);
    first.read_to_end(&mut start)?;
    Ok((start, input, counter))
}

/// The decompressed text of an input that begins with `start`.
fn text(
    path: &Path,
    start: Vec<u8>,
    rest: Counted,
    trailing_data: &Arc<AtomicBool>,
) -> Result<Box<dyn Read + Send>, Error> {
    let is_plain = Kind::recognize(path, &start) != Kind::Packed;
    let mut plain = decompress(start, rest, trailing_data);
    let mut start = Vec::with_capacity(START_BYTES as usize);
    let mut first = plain.by_ref().take(START_BYTES);
    match first.read_to_end(&mut start) {
        Ok(_) => {}
        // The undamaged part is read; then the error is reported.
        Err(error) if is_damage(&error) && !start.is_empty() => {
            plain = Box::new(Fault(Some(error)))
        }
        Err(error) => return Err(Error::io(path, error)),
    }
    if let Some(encoding) = utf16(&start) {
        let whole = Box::new(io::Cursor::new(start).chain(plain));
        return Ok(Box::new(Decoded::new(encoding, whole)));
    }
    // The name is that of the packed file.
    let name = if is_plain { path } else { Path::new("") };
    match Kind::recognize(name, &start).no_games() {
        Some(text) => Err(Error::format(path, text)),
        None => Ok(Box::new(io::Cursor::new(start).chain(plain))),
    }
}

/// The decompressed bytes of an input that begins with `start`.
fn decompress(
    start: Vec<u8>,
    rest: Counted,
    trailing_data: &Arc<AtomicBool>,
) -> Box<dyn Read + Send> {
    let packing = Packing::recognize(&start);
    let whole = Box::new(io::Cursor::new(start).chain(rest));
    match packing {
        Some(packing) => Box::new(Members::new(packing, whole, Arc::clone(trailing_data))),
        None => whole,
    }
}

/// A stream that returns an error.
struct Fault(Option<io::Error>);

impl Read for Fault {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A stream that counts the bytes read.
struct Counted {
    input: Box<dyn Read + Send>,
    counter: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.counter.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_files_are_known_by_their_names() {
        let endings: Vec<&str> = game_endings().collect();
        for end in &endings {
            for name in [format!("a{end}"), format!("d.x/A.B{}", end.to_uppercase())] {
                assert!(is_game_file(Path::new(&name)), "{name}");
            }
        }
        for end in [
            "pgn", "pgn.zst", "cbh", "2cbh", "cbf", "dci", "si4", "si5", "prn", "tgx",
        ] {
            assert!(endings.contains(&&*format!(".{end}")), "{end}");
        }
        for name in ["a.txt", "pgn", "a.pgn.txt", "a.pgn/b", "a.cbg", "a.gz", ""] {
            assert!(!is_game_file(Path::new(name)), "{name}");
        }
    }
}
