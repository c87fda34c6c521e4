//! The file of played lines (`Book Cover`), which all adapters with a book share.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SideFileError;
use crate::cover::HEADER;
use tabia_choice::learn;
use tabia_io::atomic::{folder_of, unnamed_file};
use tabia_io::{append_locked, check_header, lock_within, open_for_append};

/// How long to wait for the lock while another adapter chooses a move.
const PATIENCE: Duration = Duration::from_millis(1);

/// If more bytes than this are new, they are read before the file is locked.
const READ_BEFORE_LOCK: u64 = 1 << 14;

/// Greatest number of bytes read from a file: some hundred thousand games.
const MOST_BYTES: u64 = 1 << 27;

/// The file, how far it has been read, and the lock.
#[derive(Debug, Default)]
pub(super) struct CoverFile {
    path: PathBuf,
    read: u64,
    locked: Option<File>,
}

impl CoverFile {
    /// Locks the file and reads new whole lines; from the beginning if it is the first
    /// time or another file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or another adapter has locked it.
    pub(super) fn read(&mut self, path: Option<PathBuf>) -> Result<String, SideFileError> {
        let path = path.ok_or(SideFileError::NoCoverFolder)?;
        if self.path != path {
            self.path = path;
            self.read = 0;
        }
        let before = self.read;
        self.lock_and_read().map_err(|error| {
            self.read = before;
            let path = self.path.clone();
            SideFileError::Cover { path, error }
        })
    }

    fn lock_and_read(&mut self) -> io::Result<String> {
        let mut file = open(&self.path)?;
        let mut text = Vec::new();
        let len = file.metadata()?.len();
        if len < self.read {
            self.read = 0;
        }
        if self.read == 0 {
            check_header(&mut file, HEADER)?;
        }
        // What lies beyond is not read: the same lines would be played again, in silence.
        check_size(len)?;
        if len > self.read + READ_BEFORE_LOCK {
            self.read_on(&mut file, &mut text)?;
        }
        if !lock_within(&file, PATIENCE) {
            return Err(io::Error::other("another adapter uses it"));
        }
        self.read_on(&mut file, &mut text)?;
        self.locked = Some(file);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads to the end of the last whole line.
    fn read_on(&mut self, file: &mut File, text: &mut Vec<u8>) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.read))?;
        let before = text.len();
        let more = MOST_BYTES.saturating_sub(self.read);
        file.take(more).read_to_end(text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        text.truncate(whole.map_or(before, |end| (end + 1).max(before)));
        self.read += (text.len() - before) as u64;
        Ok(())
    }

    /// Adds a line. Without the lock the line is not written: the next line of this game
    /// contains its positions too.
    pub(super) fn add(&mut self, line: &str) -> io::Result<()> {
        if let Some(file) = &mut self.locked {
            append_locked(file, HEADER, line)?;
            self.read = file.metadata()?.len();
            return Ok(());
        }
        let mut file = open(&self.path)?;
        check_header(&mut file, HEADER)?;
        match lock_within(&file, PATIENCE) {
            true => append_locked(&mut file, HEADER, line),
            false => Ok(()),
        }
    }

    /// Unlocks the file for other adapters.
    pub(super) fn unlock(&mut self) {
        self.locked = None;
    }
}

/// A larger file is an error: read in part, its other lines would be played again, in silence.
fn check_size(bytes: u64) -> io::Result<()> {
    match bytes {
        0..=MOST_BYTES => Ok(()),
        _ => Err(io::Error::other(format!(
            "it has more than {} MiB: move or delete it to start again",
            MOST_BYTES >> 20
        ))),
    }
}

/// Checks, before any game, that the played lines of a book can be read and written.
///
/// # Errors
///
/// There is no folder for them, or the file cannot be used.
pub fn check_cover(path: Option<PathBuf>) -> Result<(), SideFileError> {
    let path = path.ok_or(SideFileError::NoCoverFolder)?;
    let checked = || match path.exists() {
        true => {
            let mut file = open(&path)?;
            check_header(&mut file, HEADER)?;
            check_size(file.metadata()?.len())
        }
        false => open_new(&path),
    };
    checked().map_err(|error| SideFileError::Cover { path, error })
}

/// Whether the file could be made, here or in the user's data folder.
fn open_new(path: &Path) -> io::Result<()> {
    let made = unnamed_file(folder_of(path));
    made.map(drop).or_else(|error| {
        let other = learn::fallback_path(path).filter(|_| learn::is_refused(&error));
        other.map(drop).ok_or(error)
    })
}

/// Opens the file; if its folder is not writable, one in the user's data folder.
fn open(path: &Path) -> io::Result<File> {
    let opened = open_for_append(path).or_else(|error| match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(folder)) => {
            fs::create_dir_all(folder).and_then(|()| open_for_append(path))
        }
        _ => Err(error),
    });
    opened.or_else(|error| {
        let other = learn::fallback_path(path).filter(|_| learn::is_refused(&error));
        let Some(other) = other else {
            return Err(error);
        };
        let folder = other.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| open_for_append(&other))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn adapters_read_what_others_have_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg.cover");
        let mut files = [CoverFile::default(), CoverFile::default()];
        let mut read = |n: usize, add: Option<&str>| {
            let text = files[n].read(Some(path.clone())).unwrap();
            if let Some(line) = add {
                files[n].add(line).unwrap();
            }
            files[n].unlock();
            text
        };
        fs::write(&path, "").unwrap();
        assert_eq!(read(0, Some("one")), "");
        assert_eq!(read(1, Some("two")), format!("{HEADER}one\n"));
        assert_eq!(read(0, None), "two\n");
        assert_eq!(read(0, None), "");
        // A line that a crash has cut short, then much data at once.
        let long = "x".repeat(20_000);
        fs::write(&path, format!("{HEADER}one\ntwo\n{long}\nthr")).unwrap();
        assert_eq!(read(1, Some("four")), format!("{long}\n"));
        assert_eq!(read(0, None), format!("{long}\nthr\nfour\n"));
        // The user deletes the file to start again.
        fs::remove_file(&path).unwrap();
        assert_eq!(read(0, Some("one")), "");
        assert_eq!(read(1, None), format!("{HEADER}one\n"));
    }

    #[test]
    fn another_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg.cover");
        check_cover(Some(path.clone())).unwrap();
        assert!(!path.exists());
        for foreign in ["my notes\n", "# tabia cover 0\n", "# tabia cover"] {
            fs::write(&path, foreign).unwrap();
            let mut file = CoverFile::default();
            let error = file.read(Some(path.clone())).unwrap_err().to_string();
            assert!(error.contains("line 1: "), "{error}");
            assert!(file.add("one").is_err());
            assert!(check_cover(Some(path.clone())).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
        }
    }

    #[test]
    fn a_file_that_is_not_read_to_its_end_is_not_used_in_silence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg.cover");
        fs::write(&path, HEADER).unwrap();
        check_cover(Some(path.clone())).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MOST_BYTES + 1).unwrap();
        let error = CoverFile::default().read(Some(path.clone())).unwrap_err();
        assert!(error.to_string().contains("more than 128 MiB"), "{error}");
        assert!(check_cover(Some(path)).is_err());
        let error = check_cover(None).unwrap_err().to_string();
        assert!(error.contains("set HOME or XDG_DATA_HOME"), "{error}");
    }

    #[test]
    fn a_file_that_another_holds_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg.cover");
        let mut files = [CoverFile::default(), CoverFile::default()];
        files[0].read(Some(path.clone())).unwrap();
        let error = files[1].read(Some(path.clone())).unwrap_err().to_string();
        assert!(error.contains("another adapter uses it"), "{error}");
        files[1].add("lost").unwrap();
        files[0].add("one").unwrap();
        files[0].unlock();
        assert_eq!(files[1].read(Some(path)).unwrap(), format!("{HEADER}one\n"));
        assert!(files[1].read(None).is_err());
    }
}
