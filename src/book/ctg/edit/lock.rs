//! Keeps two writers of one book apart.
//!
//! On Unix the lock is an advisory one (`flock`) on the .ctg file itself:
//! readers take none and are not kept from anything, and the system takes it
//! away from a process that dies. Windows locks are mandatory, so there it
//! is on an empty file beside the book.
//!
//! A book may be replaced by rename while somebody waits for the lock of the
//! old file; so who has got it looks whether the path still leads there.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::EditError;

/// A lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct BookLock {
    _file: File,
}

/// How often a lock is asked for.
const PAUSE: Duration = Duration::from_millis(20);

impl BookLock {
    /// Waits for the lock of a book, up to `wait`.
    pub(crate) fn take(path: &Path, wait: Duration) -> Result<BookLock, EditError> {
        let until = Instant::now() + wait;
        loop {
            let file = open(path).map_err(|error| EditError::io(path, error))?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(BookLock { _file: file }),
                // Replaced meanwhile: its successor is the one to lock.
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    return Err(EditError::Locked {
                        path: path.to_owned(),
                        holder: holder(&file).unwrap_or_else(|| "another program".to_owned()),
                    });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                // A file system without locks: then there is nothing to wait for.
                Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                    return Ok(BookLock { _file: file });
                }
                Err(TryLockError::Error(error)) => return Err(EditError::io(path, error)),
            }
        }
    }
}

fn is_unsupported(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::Unsupported
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let options = File::options().create(true).write(true).to_owned();
    options.open(path.with_file_name(name))
}

/// Whether the path still leads to the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    fs::metadata(path).is_ok()
}

/// Who holds the lock: Linux lists all locks with their processes.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"
    let pid = locks.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (kind, pid) = (words.nth(1)?, words.nth(2)?);
        (kind == "FLOCK" && words.next()?.ends_with(&inode)).then(|| pid.to_owned())
    })?;
    let pid: u32 = pid.parse().ok().filter(|pid| *pid > 0)?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(format!("process {pid} ({})", name.trim()))
}

#[cfg(not(target_os = "linux"))]
fn holder(_file: &File) -> Option<String> {
    None
}
