//! Detects that a file changed after it was opened.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// Whether a file may not be written. In WebAssembly files have no permissions, and the library of
/// Rust takes that for none given.
#[must_use]
pub fn is_read_only(file: &Metadata) -> bool {
    cfg!(not(target_family = "wasm")) && file.permissions().readonly()
}

/// How the file at a path differs from the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The same file, unchanged.
    None,
    /// No readable file is at the path any more; the open file can still be read.
    Gone,
    /// The same file with another length or time of modification.
    Modified,
    /// Another file is at the path; reads still use the old one.
    Replaced,
}

/// Identifies a file and its current content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device and inode on Unix, the time of creation elsewhere.
    file: (u64, u64),
    created: Option<SystemTime>,
    len: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Identity {
    /// Returns the identity of the file that has this metadata.
    #[cfg(unix)]
    #[must_use]
    pub fn from_metadata(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt as _;
        Identity {
            file: (metadata.dev(), metadata.ino()),
            created: None,
            len: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    /// Returns the identity of the file that has this metadata.
    #[cfg(not(unix))]
    #[must_use]
    pub fn from_metadata(metadata: &Metadata) -> Identity {
        Identity {
            file: (0, 0),
            created: metadata.created().ok(),
            len: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    /// Whether both are of one file, which may have changed.
    #[must_use]
    pub fn is_same_file(&self, other: &Identity) -> bool {
        (self.file, self.created) == (other.file, other.created)
    }

    /// Whether this is the metadata of the same content.
    pub(super) fn is_of(&self, metadata: &Metadata) -> bool {
        (self.len, self.modified) == (metadata.len(), metadata.modified().ok())
    }

    pub(super) fn compare(&self, now: &Identity) -> Change {
        if !self.is_same_file(now) {
            Change::Replaced
        } else if self == now {
            Change::None
        } else {
            Change::Modified
        }
    }
}

/// A state of an open file's content. Equal stamps mean equal content: every write changes the
/// time of modification, and on Unix the time of the last change, which no program can set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    changed: (i64, i64),
}

impl Stamp {
    /// The time between two states that a file system surely tells apart: its clock may go
    /// in steps of ten milliseconds.
    const STEP: Duration = Duration::from_millis(20);

    pub(super) fn from_metadata(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let changed = (0, 0);
        Stamp {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
        }
    }

    /// How long to wait until a change of the file will make another stamp.
    pub(super) fn until_settled(&self) -> Duration {
        let (seconds, nanoseconds) = self.changed;
        let changed = u64::try_from(seconds).unwrap_or(0);
        let changed = Duration::new(changed, u32::try_from(nanoseconds).unwrap_or(0));
        let changed = SystemTime::UNIX_EPOCH.checked_add(changed);
        let last = self.modified.max(changed);
        let since = last.and_then(|last| SystemTime::now().duration_since(last).ok());
        Stamp::STEP.saturating_sub(since.unwrap_or(Stamp::STEP))
    }
}
