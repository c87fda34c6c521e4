//! The file of a transcript.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Greatest number of files that adapters with the same log name write at a time.
const MOST: u32 = 999;

/// Creates an empty log and returns its path. A log that another adapter is writing is
/// not changed: then `game.log` becomes `game.2.log`, and so on.
///
/// # Errors
///
/// The file cannot be made or written.
pub fn create(path: &Path) -> io::Result<(File, PathBuf)> {
    for number in 1..=MOST {
        let path = numbered(path, number);
        // The file is emptied only after the lock shows that no other program writes it.
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        if !file.metadata()?.is_file() {
            return Ok((file, path));
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            // Some file servers do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        file.set_len(0)?;
        return Ok((file, path));
    }
    Err(io::Error::other(format!("{MOST} logs are being written")))
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
    use std::io::Write as _;

    #[test]
    fn a_log_in_use_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("game.log");
        std::fs::write(&wanted, "yesterday's").unwrap();
        let (mut first, path) = create(&wanted).unwrap();
        assert_eq!(path, wanted);
        first.write_all(b"first").unwrap();
        let (_second, path) = create(&wanted).unwrap();
        assert_eq!(path, folder.path().join("game.2.log"));
        let (_third, path) = create(&wanted).unwrap();
        assert_eq!(path, folder.path().join("game.3.log"));
        assert_eq!(std::fs::read(&wanted).unwrap(), b"first");
        // Child processes of other tests may delay its closing. Wine unlocks it and
        // returns an error.
        let _ = first.unlock();
        drop(first);
        assert_eq!(create(&wanted).unwrap().1, wanted);
        assert_eq!(std::fs::read(&wanted).unwrap(), b"");
    }
}
