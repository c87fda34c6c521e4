//! From what a user names to files: folders database by database.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::SourceError;
use super::open::is_database;

/// The files behind what a user named: a folder stands for every database in
/// it and below it (one file of each that has several), in the order of their names. A file
/// that `seen` already holds is left out; `-` is standard input.
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
        walk(named, &mut found).map_err(failed)?;
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

/// All databases in a folder and below it. Links to folders are not followed:
/// they may lead in a circle.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if is_database(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    Ok(())
}

/// Whether a name ends so, in whatever case.
pub(super) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
