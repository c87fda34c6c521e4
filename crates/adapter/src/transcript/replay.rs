//! Replaying a recorded session.

use std::fmt::Write as _;

use super::read::{LogEntry, Recording};
use super::text::escape;
use crate::session::{Event, Output, Request, Session};
use tabia_choice::book_set::{BookSet, BookSpec};

/// The result of replaying a session.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// Number of events.
    pub came: usize,
    /// Number of output lines that are the same as in the recording.
    pub matched: usize,
    /// Differences outside the session, mainly in the books.
    pub notes: Vec<String>,
    /// Where the output differs from the recording; `None` if nowhere.
    pub difference: Option<Difference>,
}

/// The first place where the output of a session differs from the recording.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Line of the file, from 1: the event before the difference.
    pub line: usize,
    /// The recorded output from there to the next event.
    pub then: Vec<String>,
    /// The output of the replay.
    pub now: Vec<String>,
}

/// The output of the session, as it is written in a transcript.
#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    books: Option<Vec<BookSpec>>,
}

impl Collected {
    fn line(&mut self, word: &str, line: &[u8]) {
        let mut text = word.to_owned();
        if !line.is_empty() {
            let _ = write!(text, " {}", escape(line));
        }
        self.lines.push(text);
    }
}

impl Output for Collected {
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

/// Replays a recording with the same events at the same times, and stops where the output
/// differs. `open` opens books: it gets the requested books and the present book set;
/// `identify` is that of [`Transcript::begin`](super::Transcript::begin). If the log is
/// of another version than `version`, the program's introduction with its version and
/// options is not compared.
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
    let mut output = Collected::default();
    session.start(&mut output);
    let mut event_line = 0;
    let mut lines = recording.lines.iter().peekable();
    loop {
        let mut then = Vec::new();
        while let Some(LogEntry::Sent(text)) = lines.peek().map(|line| &line.entry) {
            then.push(text.clone());
            lines.next();
        }
        let is_last = lines.peek().is_none();
        if other_version {
            then.retain(|line| !is_introduction(line));
            output.lines.retain(|line| !is_introduction(line));
        }
        let same = then
            .iter()
            .zip(&output.lines)
            .take_while(|(then, now)| then == now)
            .count();
        replayed.matched += same;
        // A log that was cut off may end within the output of an event.
        let fits = same == then.len() && (is_last || same == output.lines.len());
        if !fits {
            replayed.difference = Some(Difference {
                line: event_line,
                then: then.split_off(same),
                now: output.lines.split_off(same),
            });
            return replayed;
        }
        output.lines.clear();
        let Some(line) = lines.next() else {
            return replayed;
        };
        event_line = line.number;
        let LogEntry::Event(logged) = &line.entry else {
            continue;
        };
        let Ok(event) = logged.parse() else {
            continue;
        };
        if let Event::BooksOpened(_) = event {
            let wanted = output.books.take().unwrap_or_default();
            book_set = open(&wanted, &book_set);
            replayed.compare_book_sets(&logged.books, &book_set, identify);
        }
        replayed.came += 1;
        session.step(line.time, event, &book_set, &mut output);
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
            if book.side_file.is_some() {
                self.note(format!(
                    "book {} learns: games that it has recorded since count now, and may change \
                     its moves",
                    book.spec.path
                ));
            }
        }
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}
