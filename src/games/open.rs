//! From what a user names to sources: files by their content, folders file by
//! file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::zst::ZstReader;
use super::{GameSource, PgnSource};

/// A source that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Reading failed.
    #[error("{}", name)]
    Io {
        /// What was read.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A folder without games.
    #[error("{}: the folder holds no .pgn file", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
}

/// A file or stream that is ready to be read.
pub struct Opened {
    /// The source.
    pub source: Box<dyn GameSource>,
    /// Its bytes on disk; `None` for a stream.
    pub bytes: Option<u64>,
}

/// The files behind what a user named: a folder stands for every PGN file in
/// it, in the order of their names. A file that `seen` already holds is left
/// out; `-` is standard input.
///
/// # Errors
///
/// There is nothing of that name, or the folder has no games.
pub fn files(named: &Path, seen: &mut HashSet<PathBuf>) -> Result<Vec<PathBuf>, SourceError> {
    if named == Path::new("-") {
        let new = seen.insert(named.to_owned());
        return Ok(new.then(|| named.to_owned()).into_iter().collect());
    }
    let failed = |source| SourceError::Io {
        name: named.display().to_string(),
        source,
    };
    let mut found = Vec::new();
    if fs::metadata(named).map_err(failed)?.is_dir() {
        for entry in fs::read_dir(named).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if is_pgn(&path) && path.is_file() {
                found.push(path);
            }
        }
        if found.is_empty() {
            let path = named.to_owned();
            return Err(SourceError::EmptyFolder { path });
        }
        found.sort();
    } else {
        found.push(named.to_owned());
    }
    let mut files = Vec::new();
    for path in found {
        if seen.insert(fs::canonicalize(&path).map_err(failed)?) {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_pgn(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    [".pgn", ".pgn.gz", ".pgn.zst", ".pgn.bz2"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Opens one file (`-`: standard input) by its content.
///
/// # Errors
///
/// It cannot be read.
pub fn open(path: &Path) -> Result<Opened, SourceError> {
    let name = path.display().to_string();
    let failed = |source| SourceError::Io {
        name: name.clone(),
        source,
    };
    let (input, bytes): (Box<dyn Read + Send>, _) = if path == Path::new("-") {
        (Box::new(io::stdin()), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        (Box::new(file), metadata.is_file().then_some(metadata.len()))
    };
    let counter = Arc::new(AtomicU64::new(0));
    let mut input = Counted {
        input,
        counter: counter.clone(),
    };
    let mut start = Vec::with_capacity(4);
    input
        .by_ref()
        .take(4)
        .read_to_end(&mut start)
        .map_err(failed)?;
    let text = decompress(start, input);
    let shown = if name == "-" { "standard input" } else { &name };
    Ok(Opened {
        source: Box::new(PgnSource::new(shown, text, counter)),
        bytes,
    })
}

/// The plain bytes of an input that begins with `start`.
fn decompress(start: Vec<u8>, rest: Counted) -> Box<dyn Read + Send> {
    let kind: [u8; 4] = {
        let mut kind = [0; 4];
        kind.iter_mut()
            .zip(&start)
            .for_each(|(to, from)| *to = *from);
        kind
    };
    let whole = io::Cursor::new(start).chain(rest);
    match kind {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [b'B', b'Z', b'h', b'1'..=b'9'] => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
        // A frame, or one to be skipped before it.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            Box::new(ZstReader::new(whole))
        }
        _ => Box::new(whole),
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
