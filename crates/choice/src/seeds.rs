//! Seeds of games from a file that several programs share (`Book Seed File`).
//!
//! One number on each line; blank lines and lines that start with `#` are ignored, and
//! other lines are skipped with a message. The text is UTF-8 or UTF-16, with or without
//! a byte order mark. `FILE.taken`, locked while it is used, has the number of seeds
//! taken: delete it to start again.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::book_set::Opener;
use tabia_io::atomic::{folder_of, unnamed_file};
use tabia_io::lock_within;

/// How long to wait for the lock of another adapter: a game is waiting.
const PATIENCE: Duration = Duration::from_millis(20);

/// Why there is no seed from a file. The text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// There is no file with this path.
    #[error("no seed: there is no file {0}")]
    NoFile(String),
    /// The file, or that of the count, cannot be read or written, or another adapter uses it
    /// ([`io::ErrorKind::WouldBlock`]).
    #[error("no seed: {}: {error}", path.display())]
    Io {
        /// The file of seeds, or that of the count.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Every seed of the file is taken.
    #[error("no seed: {}: {}", path.display(), none_left(path, *seeds, *taken))]
    NoneLeft {
        /// The file of seeds.
        path: PathBuf,
        /// Number of seeds in it.
        seeds: usize,
        /// Number of seeds taken.
        taken: usize,
    },
    /// The file with the number of seeds taken has something else.
    #[error(
        "no seed: {}: line 1: this is not the number of seeds taken: delete the file to start again",
        _0.display()
    )]
    NotACount(PathBuf),
}

/// A seed from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TakenSeed {
    /// The seed.
    pub seed: u32,
    /// A sentence for the user about lines before it that are not seeds.
    pub skipped: Option<String>,
}

impl TakenSeed {
    /// A seed, and no line before it was skipped.
    #[must_use]
    pub const fn new(seed: u32) -> TakenSeed {
        TakenSeed {
            seed,
            skipped: None,
        }
    }
}

/// What a file of seeds has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeedCount {
    /// Number of seeds.
    pub seeds: usize,
    /// Number of seeds that have been taken.
    pub taken: usize,
    /// A sentence for the user about lines that are not seeds.
    pub skipped: Option<String>,
}

impl Opener {
    /// Takes the next seed of a file.
    ///
    /// # Errors
    ///
    /// The files cannot be read or written, no seed is left, or another adapter has the
    /// lock.
    pub fn take_seed(&self, path: &str) -> Result<TakenSeed, SeedError> {
        take(&self.seed_file(path)?)
    }

    /// Counts the seeds of a file, and takes none.
    ///
    /// # Errors
    ///
    /// As for [`Opener::take_seed`], but for the lock.
    pub fn count_seeds(&self, path: &str) -> Result<SeedCount, SeedError> {
        let path = self.seed_file(path)?;
        let text = std::fs::read(&path).map_err(failed(&path))?;
        let count_path = beside(&path);
        let taken = match std::fs::read(&count_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                unnamed_file(folder_of(&path)).map_err(failed(&count_path))?;
                0
            }
            Err(error) => return Err(failed(&count_path)(error)),
            Ok(count) => {
                File::options()
                    .write(true)
                    .open(&count_path)
                    .map_err(failed(&count_path))?;
                number_taken(&count_path, &count)?
            }
        };
        let text = decoded(&text);
        let mut lines = SeedLines::new(&text);
        let seeds = lines.by_ref().count();
        if taken >= seeds {
            return Err(SeedError::NoneLeft { path, seeds, taken });
        }
        Ok(SeedCount {
            seeds,
            taken,
            skipped: lines.skipped(&path),
        })
    }

    fn seed_file(&self, path: &str) -> Result<PathBuf, SeedError> {
        let candidates = self.candidates(path);
        let found = candidates.into_iter().find(|path| path.is_file());
        found.ok_or_else(|| SeedError::NoFile(path.to_owned()))
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> SeedError {
    let path = path.to_owned();
    move |error| SeedError::Io {
        path: path.clone(),
        error,
    }
}

fn none_left(path: &Path, seeds: usize, taken: usize) -> String {
    let counted = match taken > seeds {
        true => format!(" ({} counts {taken})", beside(path).display()),
        false => String::new(),
    };
    match seeds {
        0 => "it has no seeds".to_owned(),
        1 => format!("its seed is taken{counted}"),
        seeds => format!("all {seeds} seeds are taken{counted}"),
    }
}

/// The number in the file of seeds that were taken.
fn number_taken(path: &Path, text: &[u8]) -> Result<usize, SeedError> {
    match decoded(text).trim() {
        "" => Ok(0),
        number => (number.parse()).map_err(|_| SeedError::NotACount(path.to_owned())),
    }
}

/// The text of a file. PowerShell writes UTF-16, and some editors a byte order mark.
fn decoded(text: &[u8]) -> Cow<'_, str> {
    match text {
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8_lossy(text),
        // A text of digits without a mark has a zero in one half of each letter.
        [0, first, ..] if *first != 0 => utf16(text, u16::from_be_bytes),
        [first, 0, ..] if *first != 0 => utf16(text, u16::from_le_bytes),
        _ => String::from_utf8_lossy(text),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let (pairs, half) = bytes.as_chunks();
    let letters = char::decode_utf16(pairs.iter().copied().map(unit));
    let letters = letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    let half = half.iter().map(|_| char::REPLACEMENT_CHARACTER);
    letters.chain(half).collect::<String>().into()
}

/// The seeds of a text, in order.
struct SeedLines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// Number of the first line that was skipped, and how many these are.
    bad: Option<(usize, usize)>,
}

impl<'a> SeedLines<'a> {
    fn new(text: &'a str) -> SeedLines<'a> {
        SeedLines {
            lines: text.lines().enumerate(),
            bad: None,
        }
    }

    /// A sentence about the lines that were skipped.
    fn skipped(&self, path: &Path) -> Option<String> {
        let (line, count) = self.bad?;
        let more = match count {
            1 => String::new(),
            2 => ", and 1 more line".to_owned(),
            count => format!(", and {} more lines", count - 1),
        };
        let path = path.display();
        Some(format!(
            "{path}: line {line} skipped{more}: a seed is a whole number from 0 to {MOST}"
        ))
    }
}

impl Iterator for SeedLines<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let (index, line) = self.lines.next()?;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(seed) = line.parse().ok().filter(|seed| *seed <= MOST) {
                return Some(seed);
            }
            let (first, count) = self.bad.unwrap_or((index + 1, 0));
            self.bad = Some((first, count + 1));
        }
    }
}

fn take(path: &Path) -> Result<TakenSeed, SeedError> {
    let count_path = beside(path);
    let text = std::fs::read(path).map_err(failed(path))?;
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&count_path)
        .map_err(failed(&count_path))?;
    if !lock_within(&file, PATIENCE) {
        let error = io::Error::new(io::ErrorKind::WouldBlock, "another adapter uses it");
        return Err(failed(&count_path)(error));
    }
    let mut count = Vec::new();
    file.read_to_end(&mut count).map_err(failed(&count_path))?;
    let taken = number_taken(&count_path, &count)?;
    let text = decoded(&text);
    let mut lines = SeedLines::new(&text);
    let before = lines.by_ref().take(taken).count();
    // Only the adapter that takes the first seed after a bad line reports it.
    lines.bad = None;
    let Some(seed) = lines.next() else {
        return Err(SeedError::NoneLeft {
            path: path.to_owned(),
            seeds: before,
            taken,
        });
    };
    file.seek(SeekFrom::Start(0)).map_err(failed(&count_path))?;
    let number = format!("{}\n", taken + 1);
    file.write_all(number.as_bytes())
        .map_err(failed(&count_path))?;
    // A text in UTF-16 was longer.
    file.set_len(number.len() as u64)
        .map_err(failed(&count_path))?;
    Ok(TakenSeed {
        seed,
        skipped: lines.skipped(path),
    })
}

/// The greatest seed, the same as for `Book Seed`.
const MOST: u32 = 2_147_483_647;

fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".taken");
    PathBuf::from(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A text as editors and shells may save it.
    fn encodings(text: &str) -> Vec<Vec<u8>> {
        let units = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let marked = format!("\u{feff}{text}");
        let mut all = vec![text.as_bytes().to_vec(), marked.as_bytes().to_vec()];
        for text in [text, &marked] {
            all.push(units(text, u16::to_le_bytes));
            all.push(units(text, u16::to_be_bytes));
        }
        all
    }

    proptest! {
        #[test]
        fn seeds_come_in_their_order(seeds in prop::collection::vec(0..=MOST, 0..9), gap: bool) {
            let lines = seeds.iter().map(|seed| match gap {
                true => format!("# a seed\n\n {seed} \r\n"),
                false => format!("{seed}\n"),
            });
            let text: String = lines.collect();
            for bytes in encodings(&text) {
                let decoded = decoded(&bytes);
                let mut lines = SeedLines::new(&decoded);
                prop_assert_eq!(lines.by_ref().collect::<Vec<u32>>(), &seeds[..]);
                prop_assert_eq!(lines.bad, None);
            }
        }

        #[test]
        fn what_is_not_a_seed_is_counted(lines in prop::collection::vec("[0-9]{1,4}|[a-z-]{1,4}", 0..9)) {
            let text = lines.join("\n");
            let is_bad = |line: &String| line.parse::<u32>().is_err();
            let first = lines.iter().position(is_bad);
            let count = lines.iter().filter(|line| is_bad(line)).count();
            let mut read = SeedLines::new(&text);
            prop_assert_eq!(read.by_ref().count(), lines.len() - count);
            prop_assert_eq!(read.bad, first.map(|first| (first + 1, count)));
        }
    }

    #[test]
    fn no_two_adapters_take_the_same_seed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds");
        let text: String = (0..64).map(|seed| format!("{seed}\n")).collect();
        std::fs::write(&path, text).unwrap();
        let opener = Opener::here(true);
        let name = path.to_str().unwrap();
        let take_all = || {
            let mut taken = Vec::new();
            loop {
                match opener.take_seed(name) {
                    Ok(one) => taken.push(one.seed),
                    Err(SeedError::NoneLeft { .. }) => return taken,
                    // On a busy machine the other adapter may wait too long.
                    Err(SeedError::Io { error, .. }) => {
                        assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take_all)).collect();
            let taken = threads.into_iter().map(|thread| thread.join().unwrap());
            taken.flatten().collect()
        });
        all.sort_unstable();
        assert_eq!(all, (0..64).collect::<Vec<u32>>());
    }

    #[test]
    fn bad_lines_are_skipped_and_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds");
        std::fs::write(&path, "5\nsix\n-7\n8\nnine\n10\neleven\n").unwrap();
        let opener = Opener::here(true);
        let name = path.to_str().unwrap();
        let shown = path.display();
        let text = |what: &str| {
            Some(format!(
                "{shown}: {what}: a seed is a whole number from 0 to {MOST}"
            ))
        };
        let counted = opener.count_seeds(name).unwrap();
        assert_eq!((counted.seeds, counted.taken), (3, 0));
        assert_eq!(counted.skipped, text("line 2 skipped, and 3 more lines"));
        for (seed, skipped) in [
            (5, None),
            (8, text("line 2 skipped, and 1 more line")),
            (10, text("line 5 skipped")),
        ] {
            let taken = TakenSeed { seed, skipped };
            assert_eq!(opener.take_seed(name).unwrap(), taken);
        }
        let none = format!("no seed: {shown}: all 3 seeds are taken");
        assert_eq!(opener.take_seed(name).unwrap_err().to_string(), none);
        assert_eq!(opener.count_seeds(name).unwrap_err().to_string(), none);
    }

    #[test]
    fn a_count_that_does_not_fit_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds");
        std::fs::write(&path, "1\r\n2\r\n3\r\n").unwrap();
        let opener = Opener::here(true);
        let name = path.to_str().unwrap();
        let refused = |count: &[u8], part: &str| {
            std::fs::write(beside(&path), count).unwrap();
            let error = opener.take_seed(name).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            let counted = opener.count_seeds(name).unwrap_err();
            assert_eq!(counted.to_string(), error.to_string());
            assert_eq!(std::fs::read(beside(&path)).unwrap(), count);
        };
        refused(b"999999\n", "all 3 seeds are taken (");
        refused(b"999999\n", "counts 999999)");
        refused(
            b"time,event\n",
            ".taken: line 1: this is not the number of seeds taken",
        );
        // Written by hand in PowerShell.
        std::fs::write(beside(&path), encodings("2\r\n").remove(4)).unwrap();
        assert_eq!(opener.take_seed(name).unwrap().seed, 3);
        assert_eq!(std::fs::read(beside(&path)).unwrap(), b"3\n");
        let missing = opener.take_seed("/no/such/file").unwrap_err();
        assert!(missing.to_string().contains("/no/such/file"));
    }
}
