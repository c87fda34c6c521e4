//! Whether a file is still the one that was opened.

use std::fs::Metadata;
use std::time::SystemTime;

/// What has become of the file at a path since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The same file, untouched.
    None,
    /// There is no file at the path, or none that may be read; the open file can
    /// still be read.
    Gone,
    /// The same file, but its length or its time of modification changed.
    Modified,
    /// Another file has taken its place; the old one is still being read.
    Replaced,
}

/// Identifies a file and its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device and inode on Unix, the time of creation elsewhere.
    file: (u64, u64),
    created: Option<SystemTime>,
    len: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Identity {
    /// The identity of the file that the metadata is of.
    #[cfg(unix)]
    #[must_use]
    pub fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt as _;
        Identity {
            file: (metadata.dev(), metadata.ino()),
            created: None,
            len: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    /// The identity of the file that the metadata is of.
    #[cfg(not(unix))]
    #[must_use]
    pub fn of(metadata: &Metadata) -> Identity {
        Identity {
            file: (0, 0),
            created: metadata.created().ok(),
            len: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    pub(super) fn compare(&self, now: &Identity) -> Change {
        if (self.file, self.created) != (now.file, now.created) {
            Change::Replaced
        } else if self == now {
            Change::None
        } else {
            Change::Modified
        }
    }
}
