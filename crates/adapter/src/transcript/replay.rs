//! Having a conversation again.

use std::fmt::Write as _;

use super::read::{Happening, LogEntry, Recording};
use super::text::escape;
use crate::book_set::{BookSet, BookSpec};
use crate::session::{Outlet, Request, Session};

/// What came of having a conversation again.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Lines that came in.
    pub came: usize,
    /// Lines that were said, the same as then.
    pub said: usize,
    /// What is different around it: books above all.
    pub notes: Vec<String>,
    /// Where the session said something else than then; `None` if nowhere.
    pub departure: Option<Departure>,
}

/// The first place where a session says something else than it did.
#[derive(Debug, PartialEq, Eq)]
pub struct Departure {
    /// Line of the file, from 1: the event after which it happened.
    pub line: usize,
    /// What was said then from there on, up to the next event.
    pub then: Vec<String>,
    /// What is said now.
    pub now: Vec<String>,
}

/// Everything the session says, as it stands in a file.
#[derive(Default)]
struct Heard {
    lines: Vec<String>,
    books: Option<Vec<BookSpec>>,
}

impl Heard {
    fn line(&mut self, word: &str, line: &[u8]) {
        let mut text = word.to_owned();
        if !line.is_empty() {
            let _ = write!(text, " {}", escape(line));
        }
        self.lines.push(text);
    }
}

impl Outlet for Heard {
    fn gui(&mut self, line: &[u8]) {
        self.line("gui<", line);
    }

    fn engine(&mut self, line: &[u8]) {
        self.line("eng<", line);
    }

    fn request(&mut self, request: Request) {
        self.line("ask<", request.to_string().as_bytes());
        if let Request::OpenBooks(books) = request {
            self.books = Some(books);
        }
    }
}

/// Runs the session of a recording on the same events at the same times,
/// and stops where it says something else. Books are opened by `open`, which
/// gets those wanted and the present book set; `identify` is that of
/// [`Transcript::begin`](super::Transcript::begin).
/// What the program says of itself, its version and its options, is not
/// compared when the log is of another version than `version`.
pub fn replay(
    recording: &Recording,
    version: &str,
    open: &mut dyn FnMut(&[BookSpec], &BookSet) -> BookSet,
    identify: &dyn Fn(&str) -> String,
) -> Replayed {
    let mut replayed = Replayed::default();
    let other_version = recording.version != version;
    let mut session = Session::new(recording.engines.clone(), recording.seed);
    let mut book_set = BookSet::default();
    let mut heard = Heard::default();
    session.start(&mut heard);
    let mut event_line = 0;
    let mut lines = recording.lines.iter().peekable();
    loop {
        let mut then = Vec::new();
        while let Some(LogEntry::Said(text)) = lines.peek().map(|line| &line.entry) {
            then.push(text.clone());
            lines.next();
        }
        let is_last = lines.peek().is_none();
        if other_version {
            then.retain(|line| !is_introduction(line));
            heard.lines.retain(|line| !is_introduction(line));
        }
        let same = then
            .iter()
            .zip(&heard.lines)
            .take_while(|(then, now)| then == now)
            .count();
        replayed.said += same;
        // A log that was cut off may end in the middle of what was said.
        let fits = same == then.len() && (is_last || same == heard.lines.len());
        if !fits {
            replayed.departure = Some(Departure {
                line: event_line,
                then: then.split_off(same),
                now: heard.lines.split_off(same),
            });
            return replayed;
        }
        heard.lines.clear();
        let Some(line) = lines.next() else {
            return replayed;
        };
        event_line = line.number;
        let LogEntry::Came(happening) = &line.entry else {
            continue;
        };
        if let Happening::BooksOpened(_, then) = happening {
            let wanted = heard.books.take().unwrap_or_default();
            book_set = open(&wanted, &book_set);
            replayed.compare_book_sets(then, &book_set, identify);
        }
        replayed.came += 1;
        session.step(line.time, happening.event(), &book_set, &mut heard);
    }
}

fn is_introduction(line: &str) -> bool {
    line.starts_with("gui< id ") || line.starts_with("gui< option ")
}

impl Replayed {
    fn compare_book_sets(
        &mut self,
        then: &[(String, String)],
        book_set: &BookSet,
        identify: &dyn Fn(&str) -> String,
    ) {
        for (identity, path) in then {
            let open = book_set.books.iter().any(|book| book.spec.path == *path);
            if !open {
                self.note(format!(
                    "book {path} was open then and cannot be opened now"
                ));
            } else if identify(path) != *identity {
                self.note(format!("book {path} has changed since"));
            }
        }
        for book in &book_set.books {
            if !then.iter().any(|(_, path)| *path == book.spec.path) {
                self.note(format!("book {} was not open then", book.spec.path));
            }
        }
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}
