//! Recognizes NicBase's own files.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::archive::SourceFile;
use crate::{Error, GameSource};
use tabia_io::input::path::has_extension;

/// Greatest size of an index.
const LARGEST_INDEX_BYTES: u64 = 16 << 20;

/// Greatest size of a game.
const LARGEST_GAME_BYTES: u32 = 20_000;

/// Whether a file belongs to a pair: an index of ascending offsets, four bytes each,
/// big-endian, and a file of the same name whose length matches the
/// offsets.
pub(crate) fn is_binary(path: &Path, start: &[u8]) -> bool {
    if !start.contains(&0) || start.contains(&b'[') && start.starts_with(b"[Event ") {
        return false;
    }
    if has_extension(path, "nic") {
        return true;
    }
    let others = others(path);
    others
        .iter()
        .any(|other| is_pair(path, other) || is_pair(other, path))
}

/// Returns an error with advice.
///
/// # Errors
///
/// Always.
pub(crate) fn refuse(file: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    Err(Error::format(
        file.path(),
        "a NicBase database, which cannot be read because no public description says \
               where its moves are; print the games to a file from NicBase (short notation) \
               and give that file as the source",
    ))
}

/// Other files with the same stem.
fn others(path: &Path) -> Vec<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let entries = fs::read_dir(folder).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files
        .filter(|other| other.file_stem() == path.file_stem() && other.is_file())
        .filter(|other| other.file_name() != path.file_name())
        .collect()
}

fn is_pair(index: &Path, games: &Path) -> bool {
    let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let index_bytes = length(index);
    if !(8..=LARGEST_INDEX_BYTES).contains(&index_bytes) || index_bytes % 4 != 0 {
        return false;
    }
    let Ok(file) = File::open(index) else {
        return false;
    };
    let mut bytes = Vec::new();
    if file
        .take(LARGEST_INDEX_BYTES)
        .read_to_end(&mut bytes)
        .is_err()
    {
        return false;
    }
    let words = bytes.as_chunks::<4>().0.iter();
    let places: Vec<u32> = words.map(|word| u32::from_be_bytes(*word)).collect();
    // A game has at least four bytes of header.
    let grows = |pair: &[u32]| match pair {
        [one, next] => (5..LARGEST_GAME_BYTES).contains(&next.saturating_sub(*one)),
        _ => false,
    };
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return false;
    };
    let end = length(games);
    *first < 1024
        && places.windows(2).all(grows)
        && (u64::from(*last)..=u64::from(*last) + u64::from(LARGEST_GAME_BYTES)).contains(&end)
}
