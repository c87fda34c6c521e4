//! Symbolic links to files that are replaced.

use std::path::{Path, PathBuf};

/// The file that a symbolic link leads to; any other path as it is, and that of a link which
/// leads nowhere. When links themselves were replaced, `compact` left the book as it was, with a
/// plain file in place of the link, and a link to the book as its backup.
pub(super) fn followed(path: &Path) -> PathBuf {
    let real = path.is_symlink().then(|| path.canonicalize().ok());
    real.flatten().unwrap_or_else(|| path.to_owned())
}

/// Whether a file and its companion, of which one is a link, are files of two sets: replacing
/// them would mix these.
pub(super) fn apart(path: &Path, companion: &Path) -> bool {
    if !path.is_symlink() && !companion.is_symlink() {
        return false;
    }
    let set_of = |path: &Path| Some(path.canonicalize().ok()?.with_extension(""));
    let other = set_of(companion);
    // What leads nowhere is of no set.
    other.is_some() && set_of(path) != other
}
