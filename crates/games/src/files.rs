//! Finds the game files in the paths that a user gives.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, is_game_file};

/// The game files of a path: of a folder, every database in it and in the folders below
/// it (one file of each), sorted by name. Symbolic links in folders are not followed. A
/// file that `seen` already contains is left out; `-` is standard input.
///
/// # Errors
///
/// The path does not exist, a folder cannot be read, or it has no games.
pub fn files(named: &Path, seen: &mut HashSet<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    files_with(named, seen, |_| false)
}

/// As [`files`], with other files of folders for which `is_other` is true. Files that SQL
/// engines pass over are not among them: below the named folder, the name of the file or of
/// its folder begins with `_` or `.`, as `_temporary` and `.part-0.parquet.crc`.
pub(crate) fn files_with(
    named: &Path,
    seen: &mut HashSet<PathBuf>,
    is_other: fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, Error> {
    let is_other = |path: &Path| {
        let below = path.strip_prefix(named).unwrap_or(path);
        let hidden = |name: &OsStr| {
            name.as_encoded_bytes().starts_with(b"_") || name.as_encoded_bytes().starts_with(b".")
        };
        is_other(path) && !below.iter().any(hidden)
    };
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
                } else if kind.is_file() && (is_game_file(&path) || is_other(&path)) {
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
        // A pipe that a shell makes has no other name.
        if seen.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hidden names count below the named folder only: its own name begins with a dot here.
    #[test]
    fn other_files_are_left_out_where_sql_engines_pass_over_them() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join(".data");
        for name in [
            "_kept/games.pgn",
            "_temporary/a.parquet",
            ".b.parquet",
            "_c.parquet",
            "d.parquet",
            "e.txt",
            "part/.hidden/f.parquet",
            "part/g.parquet",
        ] {
            let path = named.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let is_other = |path: &Path| path.extension() == Some(OsStr::new("parquet"));
        let found = files_with(&named, &mut HashSet::new(), is_other).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(&named).unwrap())
            .collect();
        let expected = ["_kept/games.pgn", "d.parquet", "part/g.parquet"];
        assert_eq!(found, expected.map(Path::new));
    }
}
