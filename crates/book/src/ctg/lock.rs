//! A lock against two programs that change one book at the same time.
//!
//! On Unix it is an advisory lock (`flock`) on the .ctg file itself: readers do not need
//! it, and the system releases it when a process dies. Windows locks are mandatory, so
//! there it is on an empty file beside the book.
//!
//! A book may be replaced by rename while another program waits for the lock of the old
//! file, so the path is checked again after locking.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::Error;
use tabia_io::atomic::{LOCK_PAUSE, Locked};

/// Waits for the lock of a book, up to `wait`.
pub(crate) fn acquire(path: &Path, wait: Duration) -> Result<Locked, Error> {
    lock_if(path, wait, &mut is_at)
}

/// Whether another program, or another editor of this one, is changing a book. Other
/// programs wait for a moment at most.
pub(crate) fn is_held(path: &Path) -> bool {
    #[cfg(unix)]
    let file = File::open(path);
    #[cfg(not(unix))]
    let file = File::open(path.with_added_extension("lock"));
    let Ok(file) = file else { return false };
    let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let _ = file.unlock();
    is_held
}

fn lock_if(
    path: &Path,
    wait: Duration,
    is_at: &mut dyn FnMut(&File, &Path) -> bool,
) -> Result<Locked, Error> {
    let failed = |reason| Error::change(path, reason);
    let until = Instant::now() + wait;
    loop {
        let file = open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(Locked(file)),
            // Not locked, or locked but replaced meanwhile: then the new file must be
            // locked.
            Ok(()) | Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let holder = holder(&file).unwrap_or_else(|| "another program".to_owned());
                let text =
                    format!("{holder} is changing this book; nothing was changed, try again later");
                return Err(Error::refused(path, text));
            }
            Ok(()) | Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            // The file system has no locks, so there is nothing to wait for.
            Err(TryLockError::Error(error)) if is_unsupported(&error) => return Ok(Locked(file)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

/// Whether the file system cannot lock the file: NFS uses a lock of the whole file, which
/// fails for a file open only for reading (EBADF), and a server without a lock service
/// refuses all locks (ENOLCK).
fn is_unsupported(error: &io::Error) -> bool {
    const EBADF: i32 = 9;
    const ENOLCK: i32 = if cfg!(target_os = "linux") { 37 } else { 77 };
    let refused = cfg!(unix) && matches!(error.raw_os_error(), Some(EBADF | ENOLCK));
    refused || error.kind() == io::ErrorKind::Unsupported
}

/// Opens the file for writing if allowed, because locks on NFS need it; otherwise for
/// reading: a book that may be replaced need not be writable.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    let writable = File::options().read(true).write(true).open(path);
    writable.or_else(|_| File::open(path))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    let options = File::options().create(true).write(true).to_owned();
    options.open(path.with_added_extension("lock"))
}

/// Whether the path still belongs to the open file.
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

/// The program with the lock: Linux lists all locks with their processes.
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_book_that_was_moved_away_ends() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut asked = 0;
        let wait = 5 * LOCK_PAUSE;
        let error = lock_if(file.path(), wait, &mut |_, _| {
            asked += 1;
            false
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("is changing this book"), "{error}");
        assert!((2..=6).contains(&asked), "asked {asked} times");
    }

    #[test]
    fn a_book_that_may_only_be_read_can_be_locked() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().unwrap();
        let read_only = fs::Permissions::from_mode(0o444);
        file.as_file().set_permissions(read_only).unwrap();
        let held = acquire(file.path(), Duration::ZERO).unwrap();
        assert!(acquire(file.path(), Duration::ZERO).is_err());
        drop(held);
        acquire(file.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn what_nfs_says_is_no_reason_to_give_up() {
        assert!(is_unsupported(&io::Error::from_raw_os_error(9)));
        assert!(!is_unsupported(&io::Error::from_raw_os_error(5)));
    }
}
