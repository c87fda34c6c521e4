//! Files that belong together by their names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::atomic::named_like;

/// The file beside `path` with another extension, however it is written: in
/// the case of ours, in the other, or with single letters in capitals (some
/// programs exchange only the last letter: `.CTG`, `.CTo`).
#[must_use]
pub fn sibling(path: &Path, extension: &str) -> Option<PathBuf> {
    let lower = path.with_extension(extension);
    let upper = path.with_extension(extension.to_ascii_uppercase());
    // Where names differ only in case, the one written like ours comes first.
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
