//! Files that belong together by their names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The file beside `path` with another extension, however it is written: in
/// the case of ours, in the other, or with single letters in capitals (some
/// programs exchange only the last letter: `.CTG`, `.CTo`).
#[must_use]
pub fn sibling(path: &Path, extension: &str) -> Option<PathBuf> {
    let lower = path.with_extension(extension);
    let upper = path.with_extension(extension.to_ascii_uppercase());
    // Where names differ only in case, the one written like ours comes first.
    let shouted = path
        .extension()
        .and_then(OsStr::to_str)
        .is_some_and(|own| own.chars().all(char::is_uppercase));
    let by_name = if shouted {
        [upper, lower]
    } else {
        [lower, upper]
    };
    by_name
        .into_iter()
        .find(|path| path.exists())
        .or_else(|| in_any_case(path, extension))
}

fn in_any_case(path: &Path, extension: &str) -> Option<PathBuf> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let wanted = path.with_extension(extension);
    let wanted = wanted.file_name()?;
    let mut fits: Vec<_> = folder
        .read_dir()
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
        .filter(|name| name.eq_ignore_ascii_case(wanted))
        .collect();
    fits.sort();
    Some(folder.join(fits.into_iter().next()?))
}
