//! Appends lines to a file that several programs write.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of characters of a header that are shown in a message.
const SHOWN: usize = 40;

/// Appends a line, without its end, to a file; a new file begins with `header`, line
/// end included. Waits for other writers, but at most `patience`: one may have been
/// stopped while it holds the lock. Then the line is written all the same, in one piece, to
/// a file that has been begun.
///
/// # Errors
///
/// The file cannot be opened or written, or has another header: then it is unchanged.
/// [`WouldBlock`](io::ErrorKind::WouldBlock): another program has locked it, and it has not
/// been begun.
pub fn append_line(path: &Path, header: &str, line: &str, patience: Duration) -> io::Result<()> {
    let mut file = open_for_append(path)?;
    lock_to_begin(&file, patience)?;
    check_header(&mut file, header)?;
    append_locked(&mut file, header, line)
}

/// Begins a file for [`append_line`] with its header, unless it has been begun.
///
/// # Errors
///
/// As for [`append_line`].
pub fn begin_lines(path: &Path, header: &str, patience: Duration) -> io::Result<()> {
    let mut file = open_for_append(path)?;
    lock_to_begin(&file, patience)?;
    match file.metadata()?.len() {
        0 => file.write_all(header.as_bytes()),
        _ => check_header(&mut file, header),
    }
}

/// Locks a file, or finds that it need not be: two programs must not both begin it, but each
/// appends its lines in one piece.
fn lock_to_begin(file: &File, patience: Duration) -> io::Result<()> {
    if lock_within(file, patience) || file.metadata()?.len() > 0 {
        return Ok(());
    }
    let text = "another program is writing it: nothing was written";
    Err(io::Error::new(io::ErrorKind::WouldBlock, text))
}

/// Checks that a file is empty or begins with this header.
///
/// # Errors
///
/// The file begins otherwise, or cannot be read.
pub fn check_header(file: &mut File, header: &str) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    let mut start = Vec::new();
    file.take(header.len() as u64).read_to_end(&mut start)?;
    if start.is_empty() || start == header.as_bytes() {
        return Ok(());
    }
    let first: String = header.trim_end().chars().take(SHOWN).collect();
    Err(io::Error::other(format!(
        "line 1: this is another file, or one of another version, as it does not begin with \
         \"{first}\": rename it, and a new file will be started"
    )))
}

/// Opens a file for reading and appending; creates it if necessary.
///
/// # Errors
///
/// An error of the system.
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

    #[test]
    fn a_file_that_another_has_locked_is_not_begun_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let holder = open_for_append(&path).unwrap();
        holder.lock().unwrap();
        let append = || append_line(&path, "header\n", "x", Duration::ZERO);
        let begun = begin_lines(&path, "header\n", Duration::ZERO).unwrap_err();
        assert_eq!(begun.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(append().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        // One that has stopped while it holds the lock loses nobody's lines.
        std::fs::write(&path, "header\n").unwrap();
        append().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "header\nx\n");
    }

    #[test]
    fn another_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for foreign in ["head\n", "header 2\nx\n", "header", "my notes"] {
            std::fs::write(&path, foreign).unwrap();
            let appended = append_line(&path, "header\n", "x", Duration::ZERO);
            let begun = begin_lines(&path, "header\n", Duration::ZERO);
            assert!(appended.unwrap_err().to_string().contains("line 1: "));
            assert!(begun.is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
        }
        for usual in ["", "header\n", "header\nx\n"] {
            std::fs::write(&path, usual).unwrap();
            begin_lines(&path, "header\n", Duration::ZERO).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text, if usual.is_empty() { "header\n" } else { usual });
        }
    }
}
