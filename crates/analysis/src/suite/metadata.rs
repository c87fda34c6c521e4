//! Files about a suite for test farms: the entry in official-stockfish's `books.json`,
//! OpenBench's file, and the archive.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256, Sha384};

use crate::error::{Error, about};
use tabia_io::atomic::{NewFile, Previous};
use tabia_io::input::path::file_name;

/// The entry of a suite in `books.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuiteRow {
    /// Positions.
    pub total: u64,
    /// Positions with White to move.
    pub white: u64,
    /// Positions with Black to move.
    pub black: u64,
    /// Plies of the shortest line; `None` without move numbers.
    pub min_depth: Option<u32>,
    /// Plies of the longest line.
    pub max_depth: Option<u32>,
    /// SHA-384 of the text, in base64.
    pub sri: String,
}

/// Checksums of a text, computed with LF line ends whatever the text has.
#[derive(Clone, Default)]
pub(super) struct Checksums {
    sha384: Sha384,
    sha256: Sha256,
    after_return: bool,
}

impl Checksums {
    /// Takes the next bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
            rest = rest.get(1..).unwrap_or_default();
        }
        while let Some(at) = memchr::memchr(b'\r', rest) {
            let (line, tail) = rest.split_at(at);
            self.put(line);
            self.put(b"\n");
            rest = tail.get(1..).unwrap_or_default();
            match rest.first() {
                None => self.after_return = true,
                Some(b'\n') => rest = rest.get(1..).unwrap_or_default(),
                _ => {}
            }
        }
        self.put(rest);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.sha384.update(bytes);
        self.sha256.update(bytes);
    }

    /// SHA-384 in base64, as in `books.json`.
    pub(super) fn sri(&self) -> String {
        base64(&self.sha384.clone().finalize())
    }

    /// SHA-256 in hex, as in OpenBench's file.
    pub(super) fn sha256(&self) -> String {
        let bytes = self.sha256.clone().finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let digit = (bits >> (18 - 6 * n) & 63) as usize;
            let digit = DIGITS.get(digit).copied().unwrap_or(b'=');
            text.push(if n > chunk.len() { '=' } else { digit.into() });
        }
    }
    text
}

/// `books.json` with an entry added or replaced: names sorted without regard to case,
/// indented by four.
///
/// # Errors
///
/// The old text is not such a file.
pub(super) fn with_row(old: &str, name: &str, row: &SuiteRow) -> Result<String, String> {
    let mut all: Map<String, Value> = match old.trim() {
        "" => Map::new(),
        text => serde_json::from_str(text).map_err(|error| error.to_string())?,
    };
    all.remove(name);
    let mut rows: Vec<(String, String)> = Vec::new();
    for (name, value) in all {
        rows.push((name, in_order(&value)?));
    }
    let new = serde_json::to_value(row).map_err(|error| error.to_string())?;
    rows.push((name.to_owned(), in_order(&new)?));
    rows.sort_by_key(|(name, _)| (name.to_lowercase(), name.clone()));
    let quoted = |name: &String| Value::from(name.as_str()).to_string();
    let rows: Vec<String> = rows
        .iter()
        .map(|(name, row)| format!("    {}: {row}", quoted(name)))
        .collect();
    Ok(format!("{{\n{}\n}}\n", rows.join(",\n")))
}

/// An entry with its fields in the usual order, and other fields after them.
fn in_order(row: &Value) -> Result<String, String> {
    const FIELDS: [&str; 6] = ["total", "white", "black", "min_depth", "max_depth", "sri"];
    let row = row.as_object().ok_or("an entry is not an object")?;
    let known = FIELDS.into_iter();
    let known = known.filter_map(|name| Some((name, row.get(name)?)));
    let others = row.iter().map(|(name, value)| (name.as_str(), value));
    let others = others.filter(|(name, _)| !FIELDS.contains(name));
    let field = |(name, value)| format!("        {}: {value}", Value::from(name));
    let fields: Vec<String> = known.chain(others).map(field).collect();
    Ok(format!("{{\n{}\n    }}", fields.join(",\n")))
}

/// The text of `books.json` now, and with an entry more.
fn updated(path: &Path, name: &str, row: &SuiteRow) -> Result<[String; 2], Error> {
    let old = match std::fs::read_to_string(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(about(path, error)),
    };
    match with_row(&old, name, row) {
        Ok(new) => Ok([old, new]),
        Err(why) => Err(about(path, format!("this is not a list of suites: {why}"))),
    }
}

/// Checks, before any work, that an entry can be added to `books.json`.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    let row = SuiteRow {
        total: 0,
        white: 0,
        black: 0,
        min_depth: None,
        max_depth: None,
        sri: String::new(),
    };
    updated(path, "", &row).map(|_| ())
}

/// `books.json`, which need not exist, with an entry more, not yet in its place, where the old
/// file will be renamed with `.bak` after its name; `None` if nothing changes.
pub(super) fn update(path: &Path, name: &str, row: &SuiteRow) -> Result<Option<NewFile>, Error> {
    let [old, new] = updated(path, name, row)?;
    match new == old {
        true => Ok(None),
        false => written(path, &new).map(Some),
    }
}

/// A text that is not yet in its place.
fn written(path: &Path, text: &str) -> Result<NewFile, Error> {
    let mut file = NewFile::create(path, Previous::Keep)?;
    file.write_bytes(text.as_bytes())?;
    Ok(file)
}

/// The path of a suite's archive: its name with `.zip` after it.
pub(super) fn archive_of(suite: &Path) -> PathBuf {
    suite.with_added_extension("zip")
}

/// The archive of a suite, of which the text is still to be written: one file, with the
/// earliest possible time stamp, so that the same suite gives the same bytes.
pub(super) struct Archive(zip::ZipWriter<NewFile>, PathBuf);

impl Archive {
    pub(super) fn new(suite: &Path, old: Previous) -> Result<Archive, Error> {
        let path = archive_of(suite);
        let mut archive = zip::ZipWriter::new(NewFile::create(&path, old)?);
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644);
        let started = archive.start_file(file_name(suite), options);
        started.map_err(|error| about(&path, error))?;
        Ok(Archive(archive, path))
    }

    pub(super) fn add(&mut self, text: &str) -> Result<(), Error> {
        let added = self.0.write_all(text.as_bytes());
        added.map_err(|error| about(&self.1, error))
    }

    pub(super) fn finish(self) -> Result<NewFile, Error> {
        let Archive(archive, path) = self;
        archive.finish().map_err(|error| about(&path, error))
    }
}

/// The path of OpenBench's file about a suite.
pub(super) fn openbench_of(folder: &Path, suite: &Path) -> PathBuf {
    folder.join(format!("{}.json", file_name(suite)))
}

/// OpenBench's file about a suite, not yet in its place.
pub(super) fn openbench(
    folder: &Path,
    suite: &Path,
    checksums: &Checksums,
    source: &str,
) -> Result<NewFile, Error> {
    let object = serde_json::json!({ "sha": checksums.sha256(), "source": source });
    written(&openbench_of(folder, suite), &format!("{object:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    /// The checksum of `startpos.epd` in official-stockfish's books.
    const SRI: &str = "B0D/PN334ez5R9K8mGspR5ZjfXb0sWoEObBnkCI7sczqZbaOHQ5aooqk97zeHM0a";

    #[test]
    fn the_checksum_is_that_of_the_genuine_file() {
        for ending in ["\n", "\r\n", "\r"] {
            let text = format!("{START}{ending}");
            for cut in 0..text.len() {
                let mut sums = Checksums::default();
                sums.add(&text.as_bytes()[..cut]);
                sums.add(&text.as_bytes()[cut..]);
                assert_eq!(sums.sri(), SRI);
            }
        }
        let mut empty = Checksums::default();
        empty.add(b"");
        assert!(empty.sha256().starts_with("e3b0c44298fc1c14"));
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
    }

    #[test]
    fn an_entry_is_added_where_it_belongs() {
        let row = |total| SuiteRow {
            total,
            white: total,
            black: 0,
            min_depth: Some(4),
            max_depth: None,
            sri: "x".to_owned(),
        };
        let one = with_row("", "b.epd", &row(1)).unwrap();
        let two = with_row(&one, "A.epd", &row(2)).unwrap();
        let genuine = "{\n    \"A.epd\": {\n        \"total\": 2,\n        \"white\": 2,\n        \"black\": 0,\n        \"min_depth\": 4,\n        \"max_depth\": null,\n        \"sri\": \"x\"\n    },\n    \"b.epd\": {\n";
        assert!(two.starts_with(genuine), "{two}");
        assert_eq!(with_row(&two, "A.epd", &row(2)).unwrap(), two);
        assert!(with_row("[]", "a", &row(1)).is_err());
    }
}
