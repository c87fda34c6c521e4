//! Files of one database or book, found by their names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::path::named_like;

/// The file next to `path` with another extension in any case: first as in `path`, then
/// all others (some programs capitalize only single letters: `.CTG`, `.CTo`).
#[must_use]
pub fn sibling(path: &Path, extension: &str) -> Option<PathBuf> {
    let lower = path.with_extension(extension);
    let upper = path.with_extension(extension.to_ascii_uppercase());
    // If names differ only in case, the one in the case of `path` comes first.
    let is_upper = path
        .extension()
        .and_then(OsStr::to_str)
        .is_some_and(|own| own.chars().all(char::is_uppercase));
    let by_name = if is_upper {
        [&upper, &lower]
    } else {
        [&lower, &upper]
    };
    by_name
        .into_iter()
        .find(|path| path.exists())
        .cloned()
        .or_else(|| named_like(&lower).ok()?.into_iter().min())
}
