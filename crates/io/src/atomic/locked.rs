//! Locks that are released explicitly.

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::lock_within;

/// Default time to wait until another program closes a file. A killed program may take
/// a moment to end together with its children.
pub const LOCK_WAIT: Duration = Duration::from_secs(3);

/// Pause between two attempts to lock.
pub const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A file that is locked until this is dropped.
///
/// It is unlocked explicitly: a child process that is being started has a copy of each
/// open file, and a file that is only closed stays locked until that child runs exec,
/// which takes time on a busy machine.
#[derive(Debug)]
pub struct Locked(pub File);

impl Locked {
    /// Locks a file; waits at most `wait`. `None` if another program still holds the
    /// lock. If the file system has no locks, the file counts as locked.
    pub fn within(wait: Duration, file: File) -> Option<Locked> {
        lock_within(&file, wait).then_some(Locked(file))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn programs_that_are_being_started_keep_no_lock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    Command::new("true").status().unwrap();
                }
            });
            let lock = || Locked::within(Duration::ZERO, file.reopen().unwrap()).is_some();
            let refused = (0..50_000).filter(|_| !lock()).count();
            done.store(true, Ordering::Relaxed);
            assert_eq!(refused, 0, "so often it was locked still");
        });
    }
}
