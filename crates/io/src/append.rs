//! Appends lines to a file that several programs write.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Appends a line, without its end, to a file; a new file begins with `header`, line
/// end included. Waits for other writers, but at most `patience`: one may have been
/// stopped while it holds the lock.
///
/// # Errors
///
/// The file cannot be opened or written.
pub fn append_line(path: &Path, header: &str, line: &str, patience: Duration) -> io::Result<()> {
    let mut file = open_for_append(path)?;
    lock_within(&file, patience);
    append_locked(&mut file, header, line)
}

/// Opens a file for reading and appending; creates it if necessary.
///
/// # Errors
///
/// Those of the system.
pub fn open_for_append(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
}

/// Like [`append_line`], for an open and locked file.
///
/// # Errors
///
/// The file cannot be read or written.
pub fn append_locked(file: &mut File, header: &str, line: &str) -> io::Result<()> {
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        text.push_str(header);
    } else if is_cut_short(file)? {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
    // One call, so that the system appends the text in one piece.
    file.write_all(text.as_bytes())
}

/// Whether the last line of a file has no end, because of a crash. It must not
/// become a part of the next line.
///
/// # Errors
///
/// The file cannot be read.
pub fn is_cut_short(file: &mut File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if let Some(place) = file.metadata()?.len().checked_sub(1) {
        file.seek(SeekFrom::Start(place))?;
        let _ = file.read(&mut last)?;
    }
    Ok(last != [b'\n'])
}

/// Locks a file that several programs change; false if another one holds the lock for
/// longer than `patience`. True if the file system has no locks.
pub fn lock_within(file: &File, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_micros(100));
            }
            Err(TryLockError::WouldBlock) => return false,
            Ok(()) | Err(TryLockError::Error(_)) => return true,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn many_writers_lose_no_line_and_write_one_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..50 {
                        let line = format!("{writer} {number}");
                        append_line(path, "header\n", &line, Duration::from_secs(60)).unwrap();
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 201);
        assert_eq!(text.matches("header").count(), 1);
        assert!(text.starts_with("header\n"));
    }
}
