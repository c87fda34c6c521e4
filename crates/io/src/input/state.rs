//! Detects that a file changed after it was opened.

use std::fs::Metadata;
use std::time::SystemTime;

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
