//! Files that a user chooses in the browser, which tells no path: the program keeps a copy of
//! each in a folder of the user's data, whose files are listed like those of other folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tabia_io::atomic::TempFolder;

/// Greatest number of files sent at once: a database has several.
const MOST_FILES: usize = 40;

/// Greatest number of different files with one name.
const MOST_SAME: usize = 100;

/// A file that a page sends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SentFile<'b> {
    name: String,
    bytes: &'b [u8],
}

/// The files in a body, by their names, which "/" separates, and their sizes; `None` if these
/// do not fit the body. No name leads out of a folder.
pub(super) fn sent_files<'b>(
    names: &str,
    sizes: &str,
    body: &'b [u8],
) -> Option<Vec<SentFile<'b>>> {
    let names: Vec<&str> = names.split('/').collect();
    let sizes: Vec<&str> = sizes.split(',').collect();
    if names.len() != sizes.len() || names.len() > MOST_FILES {
        return None;
    }
    let mut rest = body;
    let mut files = Vec::new();
    for (name, size) in names.iter().zip(sizes) {
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let name = name.rsplit(['\\', ':']).next().unwrap_or_default();
        if name.trim().is_empty() || name.starts_with('.') || name.len() > 200 {
            return None;
        }
        let (bytes, after) = rest.split_at_checked(size.parse().ok()?)?;
        files.push(SentFile {
            name: name.to_owned(),
            bytes,
        });
        rest = after;
    }
    rest.is_empty().then_some(files)
}

/// Stores files that belong together in a folder of their own inside `root`; returns it, and
/// whether it is new: the same files sent again have the folder that they have.
pub(super) fn store(root: &Path, files: &[SentFile<'_>]) -> io::Result<(PathBuf, bool)> {
    fs::create_dir_all(root)?;
    let name = files.first().map(|file| Path::new(&file.name));
    let stem = name.and_then(Path::file_stem).unwrap_or_default();
    for number in 1..MOST_SAME {
        let mut folder = root.join(stem);
        if number > 1 {
            folder.as_mut_os_string().push(format!(" {number}"));
        }
        if folder.exists() {
            let is_same = |file: &SentFile<'_>| {
                fs::read(folder.join(&file.name)).is_ok_and(|bytes| bytes == file.bytes)
            };
            if files.iter().all(is_same) {
                return Ok((folder, false));
            }
            continue;
        }
        // All of them or none, even if the program is killed.
        let made = TempFolder::beside(&folder)?;
        let whole = made.path().join("files");
        fs::create_dir(&whole)?;
        for file in files {
            let path = whole.join(&file.name);
            fs::write(&path, file.bytes)?;
            fs::File::open(&path)?.sync_all()?;
        }
        fs::rename(&whole, &folder)?;
        return Ok((folder, true));
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lead_out_of_the_folder_and_sizes_fit() {
        let names = |names: &str, sizes: &str| {
            let files = sent_files(names, sizes, b"12345")?;
            Some(files.into_iter().map(|file| file.name).collect::<Vec<_>>())
        };
        assert_eq!(names("a.ctg/a.cto", "2,3").unwrap(), ["a.ctg", "a.cto"]);
        assert_eq!(names("C:\\books\\a.ctg", "5").unwrap(), ["a.ctg"]);
        for (bad, sizes) in [
            ("../a.ctg", "2,3"),
            ("..", "5"),
            (".hidden", "5"),
            ("", "5"),
            ("a", "4"),
            ("a", "6"),
            ("a/b", "5"),
            ("a/b", "99999999999999999999,1"),
            ("a/b", "18446744073709551615,6"),
            ("a", "x"),
        ] {
            assert!(names(bad, sizes).is_none(), "{bad} {sizes}");
        }
    }

    #[test]
    fn the_same_files_are_stored_once_and_others_never_replace_them() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().join("books");
        let store = |bytes: &[u8]| {
            let sizes = format!("{},1", bytes.len() - 1);
            let files = sent_files("my book.ctg/my book.cto", &sizes, bytes).unwrap();
            super::store(&root, &files).unwrap()
        };
        let first = store(b"one");
        assert_eq!(first, (root.join("my book"), true));
        let first = first.0;
        assert_eq!(fs::read(first.join("my book.ctg")).unwrap(), b"on");
        assert_eq!(store(b"one"), (first.clone(), false));
        assert_eq!(store(b"two"), (root.join("my book 2"), true));
        assert_eq!(fs::read(first.join("my book.ctg")).unwrap(), b"on");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
    }
}
