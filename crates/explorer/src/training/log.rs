//! The files that events are stored in: one beside the book, and one in the user's data for
//! what could not be written there.
//!
//! ```text
//! {"format":"tabia-training-events","version":1}
//! {"id":"k3…","time":1795262400000,"kind":"answer","fen":"… w KQkq -","right":true,"way":{"line":"e2e4,c7c5"}}
//! ```
//!
//! Programs append lines under a lock, and read what others have appended; nothing is
//! overwritten. What a page hears to be stored has reached the disk. A line that a killed
//! program has cut is reported: its event was not acknowledged, so the page sends it again.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::event::Event;
use crate::message::{Message, translatable};
use tabia_choice::learn::NO_DATA_FOLDER;
use tabia_io::atomic::sync_folder;
use tabia_io::input::state::Identity;
use tabia_io::{check_header, lock_within, open_for_append};

const HEADER: &str = "{\"format\":\"tabia-training-events\",\"version\":1}\n";

/// The longest wait for another program that writes: it appends some lines.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Greatest number of bytes of a file: some half a million answers.
const MOST_BYTES: u64 = 128 << 20;

/// Greatest number of lines that are reported as unreadable.
const MOST_REPORTED: usize = 5;

/// The events of some files, in the order in which they were read.
#[derive(Default)]
pub(super) struct Log {
    files: Vec<LogFile>,
    pub(super) events: Vec<Event>,
    ids: HashSet<String>,
    /// Lines that are not events.
    pub(super) notices: Vec<Message>,
}

/// How far a file has been read.
struct LogFile {
    path: PathBuf,
    /// The end of its last complete line.
    read: u64,
    lines: usize,
    identity: Option<Identity>,
}

/// Why a file cannot be read or written; without a path there is no folder for one.
#[derive(Debug)]
pub(super) struct LogError {
    path: PathBuf,
    error: io::Error,
}

impl LogError {
    pub(super) fn message(&self) -> Message {
        match self.path.as_os_str().is_empty() {
            true => NO_DATA_FOLDER.into(),
            false => format!("{}: {}", self.path.display(), self.error).into(),
        }
    }
}

impl Log {
    /// Events in these files, which need not exist. New ones are appended to the first that
    /// can be written.
    pub(super) fn new(paths: impl IntoIterator<Item = PathBuf>) -> Log {
        let files = paths.into_iter().map(|path| LogFile {
            path,
            read: 0,
            lines: 0,
            identity: None,
        });
        Log {
            files: files.collect(),
            ..Log::default()
        }
    }

    /// Reads what was appended since; false if a file has been replaced: then all events are
    /// read again.
    pub(super) fn refresh(&mut self) -> Result<bool, LogError> {
        let mut is_same = true;
        for number in 0..self.files.len() {
            is_same &= self.refresh_file(number)?;
        }
        if !is_same {
            let paths: Vec<PathBuf> = self.files.drain(..).map(|file| file.path).collect();
            *self = Log::new(paths);
            for number in 0..self.files.len() {
                self.refresh_file(number)?;
            }
        }
        Ok(is_same)
    }

    fn refresh_file(&mut self, number: usize) -> Result<bool, LogError> {
        let Some(file) = self.files.get(number) else {
            return Ok(true);
        };
        let path = file.path.clone();
        let failed = |error| LogError {
            path: path.clone(),
            error,
        };
        let mut opened = match File::open(&path) {
            Ok(opened) => opened,
            // One that was deleted has been replaced by an empty one.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(file.read == 0),
            Err(error) => return Err(failed(error)),
        };
        self.read(number, &mut opened).map_err(failed)
    }

    /// Reads the complete lines of a file that have not been read; false if it is another
    /// file than before.
    fn read(&mut self, number: usize, opened: &mut File) -> io::Result<bool> {
        let Some(file) = self.files.get_mut(number) else {
            return Ok(true);
        };
        let metadata = opened.metadata()?;
        let identity = Identity::from_metadata(&metadata);
        let is_other = file
            .identity
            .is_some_and(|known| !known.is_same_file(&identity));
        if is_other || metadata.len() < file.read {
            return Ok(false);
        }
        file.identity = Some(identity);
        if metadata.len() == file.read {
            return Ok(true);
        }
        if metadata.len() > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(io::Error::other(format!("it is larger than {most} MB")));
        }
        if file.read == 0 {
            if is_cut_header(opened)? {
                return Ok(true);
            }
            check_header(opened, HEADER)?;
        }
        let mut text = Vec::new();
        opened.seek(SeekFrom::Start(file.read))?;
        opened.read_to_end(&mut text)?;
        // What has no end yet is being written, or was cut.
        let complete = text.iter().rposition(|&byte| byte == b'\n');
        let Some(complete) = complete.map(|last| last + 1) else {
            return Ok(true);
        };
        for line in text
            .get(..complete)
            .unwrap_or_default()
            .split(|&b| b == b'\n')
        {
            file.lines += 1;
            let is_header = file.lines == 1;
            if is_header || line.is_empty() {
                continue;
            }
            let event = serde_json::from_slice::<Event>(line);
            let event = event.map_err(|error| Message::from(error.to_string()));
            match event.and_then(Event::checked) {
                Ok(event) => {
                    if self.ids.insert(event.id.clone()) {
                        self.events.push(event);
                    }
                }
                Err(reason) if self.notices.len() < MOST_REPORTED => {
                    self.notices.push(translatable!(
                        "{0}, line {1} is not an answer of a training and was left out: {2}",
                        file.path.display().to_string(),
                        file.lines,
                        reason
                    ));
                }
                Err(_) => {}
            }
        }
        // The piece after the last line end is not a line.
        file.lines -= 1;
        file.read += complete as u64;
        Ok(true)
    }

    /// Whether an event is stored.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether any of the files exists.
    pub(super) fn is_begun(&self) -> bool {
        self.files.iter().any(|file| file.read > 0)
    }

    /// Stores events; those that are stored already are left as they are. Returns false if a
    /// file has been replaced, as [`Log::refresh`] does.
    ///
    /// # Errors
    ///
    /// None of the files can be written: the error of the first.
    pub(super) fn append(&mut self, events: &[Event]) -> Result<bool, LogError> {
        let mut first = None;
        for number in 0..self.files.len() {
            let Some(path) = self.files.get(number).map(|file| file.path.clone()) else {
                break;
            };
            match self.append_to(number, &path, events) {
                Ok(is_same) => return Ok(is_same),
                Err(error) => {
                    first.get_or_insert(LogError { path, error });
                }
            }
        }
        Err(first.unwrap_or_else(|| LogError {
            path: PathBuf::new(),
            error: io::ErrorKind::NotFound.into(),
        }))
    }

    fn append_to(&mut self, number: usize, path: &Path, events: &[Event]) -> io::Result<bool> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = open_for_append(path)?;
        if !lock_within(&file, LONGEST_WAIT) {
            return Err(io::Error::other("another program is writing it"));
        }
        if is_cut_header(&mut file)? {
            file.set_len(0)?;
        }
        check_header(&mut file, HEADER)?;
        if !self.read(number, &mut file)? {
            self.refresh().map_err(|error| error.error)?;
            return self
                .append_locked(number, path, &mut file, events)
                .map(|()| false);
        }
        self.append_locked(number, path, &mut file, events)
            .map(|()| true)
    }

    /// Appends to a locked file, all of which has been read.
    fn append_locked(
        &mut self,
        number: usize,
        path: &Path,
        file: &mut File,
        events: &[Event],
    ) -> io::Result<()> {
        let len = file.metadata()?.len();
        let is_cut = self.files.get(number).is_some_and(|known| known.read < len);
        let mut text = String::new();
        if len == 0 {
            text.push_str(HEADER);
        } else if is_cut {
            // Nobody writes now: a killed program has left it. It stays as a line of its own.
            text.push('\n');
        }
        let before = text.len();
        let mut added = HashSet::new();
        for event in events {
            if !self.has(&event.id) && added.insert(&event.id) {
                text.push_str(&serde_json::to_string(event)?);
                text.push('\n');
            }
        }
        if text.len() == before {
            // The program that has written them may not have synced them yet.
            return file.sync_data();
        }
        // One call, so that the system appends it in one piece.
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        if len == 0 {
            sync_folder(path);
        }
        self.read(number, file)?;
        Ok(())
    }
}

/// Whether a file has only the beginning of the header: a killed program has begun it.
fn is_cut_header(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() >= HEADER.len() as u64 {
        return Ok(false);
    }
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut start)?;
    Ok(HEADER.as_bytes().starts_with(&start))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    fn event(id: &str) -> Event {
        let text = format!(r#"{{"id":"{id}","time":1,"kind":"forget"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    fn ids(log: &Log) -> Vec<&str> {
        log.events.iter().map(|event| event.id.as_str()).collect()
    }

    #[test]
    fn programs_that_append_to_one_file_see_all_events_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg.training.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = path.clone();
                scope.spawn(move || {
                    let mut log = Log::new([path]);
                    for number in 0..25 {
                        let own = event(&format!("{writer}-{number}"));
                        // Another page sends it, too.
                        let twice = [own.clone(), event(&format!("shared-{number}")), own];
                        log.append(&twice).unwrap();
                    }
                });
            }
        });
        let mut log = Log::new([path.clone()]);
        assert!(log.refresh().unwrap() && log.notices.is_empty());
        assert_eq!((log.events.len(), log.ids.len()), (125, 125));
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 126);
    }

    #[test]
    fn a_cut_line_is_reported_and_harms_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let whole = format!("{HEADER}{}\n", serde_json::to_string(&event("a")).unwrap());
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut log = Log::new([path.clone()]);
            log.refresh().unwrap();
            assert_eq!(ids(&log).len(), usize::from(cut == whole.len()), "{cut}");
            assert!(log.notices.is_empty(), "it may be being written: {cut}");
            // The page sends what was not acknowledged.
            log.append(&[event("a"), event("b")]).unwrap();
            assert_eq!(ids(&log), ["a", "b"], "{cut}");
            // A line that lacks only its end is whole as soon as it gets one.
            let is_part = (HEADER.len() + 1..whole.len() - 1).contains(&cut);
            assert_eq!(log.notices.len(), usize::from(is_part), "{cut}");
            let mut again = Log::new([path.clone()]);
            again.refresh().unwrap();
            assert_eq!(
                (ids(&again), again.notices.len()),
                (vec!["a", "b"], log.notices.len())
            );
        }
        let text = log_text(&path, "{\"id\":\"x\"}\nnonsense\n");
        let mut log = Log::new([path.clone()]);
        log.refresh().unwrap();
        let notices: Vec<String> = log.notices.iter().map(ToString::to_string).collect();
        assert!(
            notices[0].contains("t, line 2 ") && notices[1].contains("line 3 "),
            "{notices:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    fn log_text(path: &Path, lines: &str) -> String {
        let text = format!("{HEADER}{lines}");
        fs::write(path, &text).unwrap();
        text
    }

    #[test]
    fn a_replaced_or_foreign_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let mut log = Log::new([path.clone()]);
        log.append(&[event("a"), event("b")]).unwrap();
        let other = folder.path().join("other");
        let line = serde_json::to_string(&event("c")).unwrap();
        fs::write(&other, format!("{HEADER}{line}\n")).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(!log.refresh().unwrap());
        assert_eq!(ids(&log), ["c"]);
        fs::remove_file(&path).unwrap();
        assert!(!log.append(&[event("d")]).unwrap());
        assert_eq!(ids(&log), ["d"]);
        fs::write(&path, "my notes\n").unwrap();
        let refused = log.append(&[event("e")]).unwrap_err().message().to_string();
        assert!(
            refused.contains("t: line 1: this is another file"),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "my notes\n");
    }

    #[test]
    fn without_room_beside_the_book_the_data_of_the_user_has_the_events() {
        let folder = tempfile::tempdir().unwrap();
        // A folder at its place: not even root can write it.
        let beside = folder.path().join("t");
        fs::create_dir(&beside).unwrap();
        let data = folder.path().join("data").join("training").join("t");
        let mut log = Log::new([beside.clone(), data.clone()]);
        log.append(&[event("a")]).unwrap();
        assert_eq!(ids(&log), ["a"]);
        assert!(data.is_file() && log.is_begun());
        let mut none = Log::new([beside.clone()]);
        assert!(none.append(&[event("a")]).is_err() && ids(&none).is_empty());
        assert!(Log::new([]).append(&[event("a")]).is_err());
    }
}
