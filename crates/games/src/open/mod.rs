//! Opening a file as what it is.

mod unpacked;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::archive::{Located, Packed};
use super::members::{Members, is_damage};
use super::{GameSource, PgnSource, cbf, cbh, cbh2, cbv, nic, scdb, scid, seven_zip, zip};
use tabia_io::input::kind::{self, Kind, Packing};
use tabia_io::input::path::has_extension;

/// A source that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Reading failed.
    #[error("{}", name)]
    Io {
        /// What was read.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A folder without games.
    #[error("{}: the folder holds no .pgn file and no database", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not what it is taken for, or cannot be read as such.
    #[error("{}: {text}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        text: String,
    },
}

impl SourceError {
    /// A file that is not what it is taken for.
    pub(crate) fn format(path: &Path, text: impl Into<String>) -> SourceError {
        SourceError::Format {
            path: path.to_owned(),
            text: text.into(),
        }
    }

    /// The system's error, with the file it is about.
    pub(crate) fn io(path: &Path, source: impl Into<io::Error>) -> SourceError {
        SourceError::Io {
            name: path.display().to_string(),
            source: source.into(),
        }
    }
}

/// A file or stream that is ready to be read.
pub struct Opened {
    /// The source.
    pub source: Box<dyn GameSource>,
    /// Its bytes on disk; `None` for a stream.
    pub bytes: Option<u64>,
}

/// A kind of database beside PGN, which is what all else is taken for.
struct DatabaseKind {
    /// Whether a file is of this kind, by its name and its first bytes
    /// ([`START_BYTES`], or less if it has no more).
    is: fn(&Path, &[u8]) -> bool,
    /// Opens it.
    open: fn(&Located, Access<'_>) -> Result<Opened, SourceError>,
}

/// All kinds; [`Kind::of_games`] has their names. The first that takes a file
/// has it.
const KINDS: &[DatabaseKind] = &[
    DatabaseKind {
        is: cbh::is_cbh,
        open: |file, _| cbh::open(file),
    },
    DatabaseKind {
        is: |_, start| zip::is_archive(start),
        open: |file, access| unpacked::open(file, access, zip::archive),
    },
    DatabaseKind {
        is: |_, start| seven_zip::is_archive(start),
        open: |file, access| unpacked::open(file, access, seven_zip::archive),
    },
    DatabaseKind {
        is: cbv::is_archive,
        open: |file, access| {
            unpacked::open(file, access, |bytes| {
                cbv::archive(file.path(), bytes, access.password)
            })
        },
    },
    DatabaseKind {
        is: cbh2::is_index,
        open: |file, _| cbh2::open(file),
    },
    DatabaseKind {
        is: cbf::is_cbf,
        open: |file, _| cbf::open(file),
    },
    DatabaseKind {
        is: scdb::is_index,
        open: |file, _| scdb::open(file),
    },
    DatabaseKind {
        is: |path, start| scid::is_old(start) || has_extension(path, "si5"),
        open: |file, _| scid::open(file),
    },
    DatabaseKind {
        is: nic::is_text,
        open: |file, _| nic::open(file),
    },
    DatabaseKind {
        is: |_, start| super::tgx::is_index(start),
        open: |file, _| super::tgx::open(file),
    },
    // Refused with a word of advice.
    DatabaseKind {
        is: nic::is_binary,
        open: |file, _| nic::refuse(file.path()),
    },
    DatabaseKind {
        is: cbh::is_other,
        open: |file, _| cbh::refuse(file.path()),
    },
];

/// So many bytes are looked at to know a file.
const START_BYTES: u64 = kind::START_BYTES as u64;

/// How deep archives in archives may lie.
const DEEPEST: usize = 3;

/// What is needed to open a file beside the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access<'a> {
    /// Of encrypted archives.
    pub(crate) password: Option<&'a str>,
    /// How many archives it lies in.
    pub(crate) depth: usize,
}

/// Opens one file (`-`: standard input) by its content.
///
/// # Errors
///
/// It cannot be read.
pub fn open(path: &Path) -> Result<Opened, SourceError> {
    open_with(path, None)
}

/// The same with the password of an encrypted archive.
///
/// # Errors
///
/// It cannot be read, or this is not its password.
pub fn open_with(path: &Path, password: Option<&str>) -> Result<Opened, SourceError> {
    let failed = |source| SourceError::io(path, source);
    if path != Path::new("-") && path.metadata().map_err(failed)?.is_file() {
        let access = Access { password, depth: 0 };
        return open_located(&Located::on_disk(path), access);
    }
    let (stream, _) = stream(path).map_err(failed)?;
    pgn(path, begin(stream).map_err(failed)?, None)
}

/// A file as it lies there (`-`: standard input), and its bytes, if they can be
/// known.
fn stream(path: &Path) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), size))
}

/// What is no database is PGN.
fn pgn(path: &Path, begun: Begun, bytes: Option<u64>) -> Result<Opened, SourceError> {
    let (start, input, counter) = begun;
    let name = path.display().to_string();
    let shown = if name == "-" { "standard input" } else { &name };
    let trailing_data = Arc::new(AtomicBool::new(false));
    let text = text(path, start, input, &trailing_data)?;
    Ok(Opened {
        source: Box::new(PgnSource::new(shown, text, counter).with_trailing_data(trailing_data)),
        bytes,
    })
}

/// A file as the text it is when unpacked.
pub struct PlainText {
    /// Its bytes.
    pub plain: Box<dyn Read + Send>,
    /// How many bytes of the file have been read.
    pub read: Arc<AtomicU64>,
    /// How many it has, where that is known.
    pub size: Option<u64>,
}

/// Opens a file (`-`: standard input), plain or compressed (`.gz`, `.zst`,
/// `.bz2`) by its content, whatever it holds.
///
/// # Errors
///
/// It cannot be read.
pub fn unpacked(path: &Path) -> io::Result<PlainText> {
    let (stream, size) = stream(path)?;
    let (start, input, read) = begin(stream)?;
    Ok(PlainText {
        plain: decompress(start, input, &Arc::default()),
        read,
        size,
    })
}

/// Opens a file, in an archive or not, by its content.
pub(crate) fn open_located(file: &Located, access: Access<'_>) -> Result<Opened, SourceError> {
    let failed = |source| SourceError::io(file.path(), source);
    if access.depth > DEEPEST {
        let text = "too many archives inside each other";
        return Err(SourceError::format(file.path(), text));
    }
    let (stream, size) = file.stream().map_err(failed)?;
    let begun = begin(stream).map_err(failed)?;
    if let Some(kind) = KINDS.iter().find(|kind| (kind.is)(file.path(), &begun.0)) {
        return (kind.open)(file, access);
    }
    pgn(file.path(), begun, Some(size))
}

/// The files in an archive on the disk; `None` if it is none.
///
/// # Errors
///
/// It cannot be read.
pub(crate) fn packed(
    path: &Path,
    password: Option<&str>,
) -> Result<Option<Arc<Packed>>, SourceError> {
    let file = Located::on_disk(path);
    let bytes = file.open_named()?;
    let start = bytes.start(kind::START_BYTES);
    let start = start.map_err(|error| SourceError::io(path, error))?;
    let archive = if zip::is_archive(&start) {
        zip::archive(bytes)
    } else if seven_zip::is_archive(&start) {
        seven_zip::archive(bytes)
    } else if cbv::is_archive(path, &start) {
        cbv::archive(path, bytes, password)
    } else {
        return Ok(None);
    };
    let archive = archive.map_err(|text| SourceError::format(path, text))?;
    Ok(Some(Packed::new(path, archive)))
}

/// The first bytes of a stream, the rest, and what counts all that is read.
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

/// The plain text of an input that begins with `start`.
fn text(
    path: &Path,
    start: Vec<u8>,
    rest: Counted,
    trailing_data: &Arc<AtomicBool>,
) -> Result<Box<dyn Read + Send>, SourceError> {
    let is_plain = Kind::of(path, &start) != Kind::Packed;
    let mut plain = decompress(start, rest, trailing_data);
    let mut start = Vec::with_capacity(START_BYTES as usize);
    let mut first = plain.by_ref().take(START_BYTES);
    match first.read_to_end(&mut start) {
        Ok(_) => {}
        // The undamaged part is read; then the error is reported.
        Err(error) if is_damage(&error) && !start.is_empty() => {
            plain = Box::new(Fault(Some(error)))
        }
        Err(error) => return Err(SourceError::io(path, error)),
    }
    // The name is that of the packed file.
    let name = if is_plain { path } else { Path::new("") };
    match Kind::of(name, &start).no_games() {
        Some(text) => Err(SourceError::format(path, text)),
        None => Ok(Box::new(io::Cursor::new(start).chain(plain))),
    }
}

/// The plain bytes of an input that begins with `start`.
fn decompress(
    start: Vec<u8>,
    rest: Counted,
    trailing_data: &Arc<AtomicBool>,
) -> Box<dyn Read + Send> {
    let packing = Packing::of(&start);
    let whole = Box::new(io::Cursor::new(start).chain(rest));
    match packing {
        Some(packing) => Box::new(Members::new(packing, whole, Arc::clone(trailing_data))),
        None => whole,
    }
}

/// A stream that has failed.
struct Fault(Option<io::Error>);

impl Read for Fault {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Counts what is read through it.
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
