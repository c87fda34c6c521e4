//! The file of a transcript.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::{FORMAT, MAGIC};
use tabia_io::is_cut_short;

/// Greatest number of files that adapters with the same log name write at a time.
const MOST: u32 = 999;

/// Opens a log, to which another session is added, and returns its path: a manager that
/// starts Tabia again must not lose the log of the game that failed. A log that another
/// adapter is writing is not changed: then `game.log` becomes `game.2.log`, and so on.
///
/// # Errors
///
/// The file cannot be made or written, or it is not a log.
pub fn create(path: &Path) -> io::Result<(File, PathBuf)> {
    for number in 1..=MOST {
        let path = numbered(path, number);
        let mut file = open(&path)?;
        if !file.metadata()?.is_file() {
            return Ok((file, path));
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            // Some file servers do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        match prepare(&mut file) {
            Ok(()) => return Ok((file, path)),
            // Nobody has named this one.
            Err(_) if number > 1 => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{MOST} logs are being written")))
}

/// Tests whether [`create`] could add to an existing file, which is not changed.
///
/// # Errors
///
/// As for [`create`].
pub fn check_log(path: &Path) -> io::Result<()> {
    let mut file = File::options().read(true).append(true).open(path)?;
    match file.metadata()?.is_file() {
        true => check_first_line(&mut file),
        false => Ok(()),
    }
}

/// Opens a file for reading and writing, or, as for a pipe, for writing alone.
fn open(path: &Path) -> io::Result<File> {
    let options = || {
        File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .to_owned()
    };
    let both = options().read(true).open(path);
    both.or_else(|error| options().open(path).map_err(|_| error))
}

/// Goes to the end of a log. A last line that a crash has cut short is followed by a blank
/// line, which separates it from later ones.
fn prepare(log: &mut File) -> io::Result<()> {
    check_first_line(log)?;
    let is_cut = is_cut_short(log)?;
    log.seek(SeekFrom::End(0))?;
    if is_cut {
        log.write_all(b"\n\n")?;
    }
    Ok(())
}

/// Fails if a file has something else than a log.
fn check_first_line(file: &mut File) -> io::Result<()> {
    let wanted = format!("{MAGIC} {FORMAT}\n");
    file.seek(SeekFrom::Start(0))?;
    let mut start = Vec::new();
    file.take(wanted.len() as u64).read_to_end(&mut start)?;
    if wanted.as_bytes().starts_with(&start) {
        return Ok(());
    }
    Err(io::Error::other(
        "this file exists, and is not a log of this version of Tabia: name another one",
    ))
}

/// The path with a number before its extension; unchanged for the first.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!(".{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_log_in_use_is_not_changed_and_an_old_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("game.log");
        let old = "tabia-log 1\nyesterday's\n";
        std::fs::write(&wanted, old).unwrap();
        std::fs::write(folder.path().join("game.2.log"), "a diary").unwrap();
        let (mut first, path) = create(&wanted).unwrap();
        assert_eq!(path, wanted);
        first.write_all(b"first").unwrap();
        let (_second, path) = create(&wanted).unwrap();
        assert_eq!(path, folder.path().join("game.3.log"));
        let (_third, path) = create(&wanted).unwrap();
        assert_eq!(path, folder.path().join("game.4.log"));
        let text = || std::fs::read_to_string(&wanted).unwrap();
        assert_eq!(text(), format!("{old}first"));
        // Child processes of other tests may delay its closing. Wine unlocks it and
        // returns an error.
        let _ = first.unlock();
        drop(first);
        let (mut again, path) = create(&wanted).unwrap();
        assert_eq!(path, wanted);
        again.write_all(b"tabia-log 1\n").unwrap();
        assert_eq!(text(), format!("{old}first\n\ntabia-log 1\n"));
    }

    #[test]
    fn another_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.log");
        for foreign in ["my notes\n", "tabia-log 2\n", "tabia-log 12\n", "[Event]"] {
            std::fs::write(&path, foreign).unwrap();
            assert!(create(&path).is_err() && check_log(&path).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
        }
        for usual in ["", "tabia-log", "tabia-log 1\nversion 1\n"] {
            std::fs::write(&path, usual).unwrap();
            check_log(&path).unwrap();
        }
    }
}
