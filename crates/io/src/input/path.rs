//! Paths as text, for options and settings files; names beside a path.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The path with a leading `~` replaced by the user's home folder; otherwise only
/// shells do that.
#[must_use]
pub fn from_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

/// Whether a name has this extension, in any case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// The name of a file without its folder, for messages.
pub fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy()
}

/// The path as text. One that is not UTF-8 becomes its bytes as Latin-1
/// letters, out of which [`from_text`] makes it again.
#[must_use]
pub fn to_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        #[cfg(unix)]
        None => {
            use std::os::unix::ffi::OsStrExt as _;
            path.as_os_str()
                .as_bytes()
                .iter()
                .copied()
                .map(char::from)
                .collect()
        }
        #[cfg(not(unix))]
        None => path.to_string_lossy().into_owned(),
    }
}

/// The paths that a text may mean: itself, and on Unix also its letters as
/// Latin-1 bytes, as older systems wrote them.
#[must_use]
pub fn from_text(text: &str) -> Vec<PathBuf> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "no second reading"))]
    let mut paths = vec![PathBuf::from(text)];
    #[cfg(unix)]
    if !text.is_ascii() {
        use std::os::unix::ffi::OsStringExt as _;
        let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        paths.extend(bytes.map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes))));
    }
    paths
}

/// The folder for temporary files. The library of Rust for WebAssembly has none, so there
/// `release/page` makes one.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    match cfg!(target_family = "wasm") {
        true => PathBuf::from("/tmp"),
        false => std::env::temp_dir(),
    }
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Files whose names equal that of `path` except for case: readers may confuse them.
pub(crate) fn named_like(path: &Path) -> io::Result<Vec<PathBuf>> {
    let wanted = path.file_name().unwrap_or_default();
    let names = names_beside(path)?.into_iter();
    Ok(names
        .filter(|name| name.eq_ignore_ascii_case(wanted))
        .map(|name| path.with_file_name(name))
        .collect())
}

pub(crate) fn names_beside(path: &Path) -> io::Result<Vec<OsString>> {
    folder_of(path)
        .read_dir()?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder_only_in_front() {
        let home = std::env::home_dir().unwrap();
        assert_eq!(
            from_home(Path::new("~/books/a.ctg")),
            home.join("books/a.ctg")
        );
        for path in ["a/~/b", "~other/b", "/~", ""] {
            assert_eq!(from_home(Path::new(path)), Path::new(path));
        }
    }

    #[test]
    fn an_extension_has_any_case() {
        for (name, is) in [
            ("a.CTG", true),
            ("b/a.b.ctg", true),
            ("a.ctgx", false),
            ("ctg", false),
        ] {
            assert_eq!(has_extension(Path::new(name), "ctg"), is, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn any_path_survives_being_text() {
        use std::os::unix::ffi::OsStrExt as _;
        for bytes in [
            &b"plain"[..],
            b"f\xfcr\xff",
            "für".as_bytes(),
            b"\xc3\xbc\xff",
        ] {
            let path = Path::new(std::ffi::OsStr::from_bytes(bytes));
            assert!(from_text(&to_text(path)).iter().any(|back| back == path));
        }
    }
}
