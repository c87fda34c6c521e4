//! From what a user names to files: folders database by database.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, is_game_file};

/// The files that a user has named: a folder means every database in it and in the
/// folders below it (one file of each that has several), in the order of their names.
/// Links in folders are not followed. A file that `seen` already holds is left out;
/// `-` is standard input.
///
/// # Errors
///
/// There is nothing of that name, a folder cannot be read, or it has no games.
pub fn files(named: &Path, seen: &mut HashSet<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    if named == Path::new("-") {
        let new = seen.insert(named.to_owned());
        return Ok(new.then(|| named.to_owned()).into_iter().collect());
    }
    let failed = |source| Error::io(named, source);
    let mut found = Vec::new();
    if fs::metadata(named).map_err(failed)?.is_dir() {
        let mut folders = vec![named.to_owned()];
        while let Some(folder) = folders.pop() {
            let failed = |source| Error::io(&folder, source);
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let kind = entry.file_type().map_err(failed)?;
                let path = entry.path();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() && is_game_file(&path) {
                    found.push(path);
                }
            }
        }
        if found.is_empty() {
            let path = named.to_owned();
            return Err(Error::EmptyFolder { path });
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
