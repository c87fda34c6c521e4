//! Reading a transcript.

use std::time::Duration;

use shakmaty::Color;

use super::text::unescape;
use super::{FORMAT, MAGIC};
use crate::book_set::BookSpec;
use crate::session::{Engines, Event, Profile, Speaker};
use crate::settings::{OptionId, Settings};

/// The content of a transcript file.
#[derive(Debug, Default)]
pub struct Recording {
    /// The version of the program that wrote it.
    pub version: String,
    /// See [`LogHeader::seed`](super::LogHeader::seed).
    pub seed: u64,
    /// Whether books were mapped into memory.
    pub mmap: bool,
    /// Where books with relative paths were looked for.
    pub folders: Vec<String>,
    /// The engines and what was set for them.
    pub engines: Engines,
    /// The events and the output of the session.
    pub lines: Vec<LoggedLine>,
    /// The last line of the file, from 1, if it ends in the middle: the program that
    /// wrote it was cut off.
    pub cut: Option<usize>,
}

/// A line of the session.
#[derive(Debug)]
pub struct LoggedLine {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Since the start.
    pub time: Duration,
    /// Its content.
    pub entry: LogEntry,
}

/// The content of a line of the session.
#[derive(Debug)]
pub enum LogEntry {
    /// Something came in.
    Came(Happening),
    /// A line was sent or a request made; the text is as in the file, from its word
    /// on.
    Sent(String),
}

/// An [`Event`] that owns its text.
#[allow(missing_docs)] // As there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    Gui(Vec<u8>),
    GuiClosed,
    Engine(Vec<u8>),
    EngineUp,
    EngineGone(String),
    /// Messages about the books, and identity and path of each.
    BooksOpened(Vec<String>, Vec<(String, String)>),
    Seed(Result<u32, String>),
    /// See [`Event::Cover`].
    Cover(Result<String, String>),
    WakeUp,
    Overdue,
    HeldUp(Duration),
    Overlong(Speaker),
}

impl Happening {
    /// The event.
    #[must_use]
    pub fn event(&self) -> Event<'_> {
        match self {
            Happening::Gui(line) => Event::Gui(line),
            Happening::GuiClosed => Event::GuiClosed,
            Happening::Engine(line) => Event::Engine(line),
            Happening::EngineUp => Event::EngineUp,
            Happening::EngineGone(reason) => Event::EngineGone(reason),
            Happening::BooksOpened(messages, _) => Event::BooksOpened(messages),
            Happening::Seed(Ok(seed)) => Event::Seed(Ok(*seed)),
            Happening::Seed(Err(reason)) => Event::Seed(Err(reason)),
            Happening::Cover(Ok(lines)) => Event::Cover(Ok(lines)),
            Happening::Cover(Err(reason)) => Event::Cover(Err(reason)),
            Happening::WakeUp => Event::WakeUp,
            Happening::Overdue => Event::Overdue,
            Happening::HeldUp(time) => Event::HeldUp(*time),
            Happening::Overlong(side) => Event::Overlong(*side),
        }
    }
}

/// A file that is no transcript.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {text}")]
#[non_exhaustive]
pub struct LogError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

impl Recording {
    /// Reads a transcript from the text of its file. A last line without its
    /// end is passed over, see [`cut`](Recording::cut).
    ///
    /// # Errors
    ///
    /// It is no transcript, of another format, or damaged.
    pub fn read(text: &str) -> Result<Recording, LogError> {
        let mut reader = Reader::default();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let Some(line) = line.strip_suffix('\n') else {
                reader.recording.cut = Some(index + 1);
                break;
            };
            let line = line.strip_suffix('\r').unwrap_or(line);
            let read = if index == 0 {
                first_line(line)
            } else {
                reader.line(index + 1, line)
            };
            read.map_err(|text| LogError {
                line: index + 1,
                text,
            })?;
        }
        if text.is_empty() {
            return Err(LogError {
                line: 1,
                text: "the file is empty".to_owned(),
            });
        }
        Ok(reader.recording)
    }
}

fn first_line(line: &str) -> Result<(), String> {
    match line.split_once(' ') {
        Some((MAGIC, FORMAT)) => Ok(()),
        Some((MAGIC, other)) => Err(format!(
            "this log has format {other}, and only {FORMAT} is known here"
        )),
        _ => Err("this is no log of tabia --log".to_owned()),
    }
}

#[derive(Default)]
struct Reader {
    recording: Recording,
    messages: Vec<String>,
    book_set: Vec<(String, String)>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if line.starts_with('#') || line.trim().is_empty() {
            return Ok(());
        }
        // Only the lines of the conversation begin with blanks or digits.
        if line.starts_with(|c: char| c == ' ' || c.is_ascii_digit()) {
            let (time, rest) = time(line).ok_or("there is no time before the line")?;
            let (word, text) = rest.split_once(' ').unwrap_or((rest, ""));
            if let Some(entry) = self.entry(word, text, rest)? {
                self.recording.lines.push(LoggedLine {
                    number,
                    time,
                    entry,
                });
            }
            return Ok(());
        }
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = String::from_utf8_lossy(&unescape(value)).into_owned();
        self.header(word, value)
    }

    fn header(&mut self, word: &str, value: String) -> Result<(), String> {
        let recording = &mut self.recording;
        let engines = &mut recording.engines;
        match word {
            "version" => recording.version = value,
            "seed" => recording.seed = value.parse().map_err(|_| "the seed is no number")?,
            "mmap" => recording.mmap = value == "true",
            "games" => engines.record_games = value == "true",
            "folder" => recording.folders.push(value),
            "engine" | "stand-in" => {
                if word == "engine" {
                    engines.chain += 1;
                } else {
                    engines.stand_in = Some(engines.profiles.len());
                }
                engines.profiles.push(Profile {
                    name: value,
                    settings: Settings::default(),
                    ..Profile::default()
                });
            }
            _ => {
                let profile = engines
                    .profiles
                    .last_mut()
                    .ok_or_else(|| format!("\"{word}\" has no engine before it"))?;
                of_engine(profile, word, &value)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, word: &str, text: &str, whole: &str) -> Result<Option<LogEntry>, String> {
        let string = || String::from_utf8_lossy(&unescape(text)).into_owned();
        let happening = match word {
            "gui<" | "eng<" | "ask<" => return Ok(Some(LogEntry::Sent(whole.to_owned()))),
            "gui>" => Happening::Gui(unescape(text)),
            "eng>" => Happening::Engine(unescape(text)),
            "eof" => Happening::GuiClosed,
            "up" => Happening::EngineUp,
            "gone" => Happening::EngineGone(string()),
            "told" => {
                self.messages.push(string());
                return Ok(None);
            }
            "book_set" => {
                let text = string();
                let (identity, path) = text
                    .split_once(' ')
                    .ok_or("expected: book_set IDENTITY PATH")?;
                self.book_set.push((identity.to_owned(), path.to_owned()));
                return Ok(None);
            }
            "opened" => Happening::BooksOpened(
                std::mem::take(&mut self.messages),
                std::mem::take(&mut self.book_set),
            ),
            "seed" => Happening::Seed(Ok(text.parse().map_err(|_| "expected: seed NUMBER")?)),
            "no-seed" => Happening::Seed(Err(string())),
            "cover" => Happening::Cover(Ok(string())),
            "no-cover" => Happening::Cover(Err(string())),
            "wake" => Happening::WakeUp,
            "overdue" => Happening::Overdue,
            "heldup" => Happening::HeldUp(Duration::from_micros(
                text.parse().map_err(|_| "expected: heldup MICROSECONDS")?,
            )),
            "overlong" => Happening::Overlong(match text {
                "gui" => Speaker::Gui,
                "eng" => Speaker::Engine,
                _ => return Err("expected: overlong gui, or overlong eng".to_owned()),
            }),
            _ => return Err(format!("\"{word}\" is no word of a log")),
        };
        Ok(Some(LogEntry::Came(happening)))
    }
}

fn of_engine(profile: &mut Profile, word: &str, value: &str) -> Result<(), String> {
    let pair = || {
        value
            .split_once('=')
            .ok_or_else(|| format!("expected: {word} NAME=VALUE"))
    };
    let ours = |name: &str| {
        OptionId::by_name(name).ok_or_else(|| format!("there is no option \"{name}\""))
    };
    match word {
        "timeout" => {
            profile.start_timeout =
                Duration::from_millis(value.parse().map_err(|_| "the timeout is no number")?);
        }
        "option" => {
            let (name, value) = pair()?;
            profile.options.push((name.to_owned(), value.to_owned()));
        }
        "set" => {
            let (name, value) = pair()?;
            let set = profile.settings.insist(ours(name)?, value);
            set.map_err(|error| error.to_string())?;
        }
        "book" => {
            let (colour, path) = value.split_once(' ').ok_or("expected: book COLOUR PATH")?;
            profile.books.push(BookSpec {
                path: path.to_owned(),
                colour: match colour {
                    "white" => Some(Color::White),
                    "black" => Some(Color::Black),
                    _ => None,
                },
                ..BookSpec::default()
            });
        }
        "only" => {
            let (key, value) = pair()?;
            let book = profile
                .books
                .last_mut()
                .ok_or("there is no book before it")?;
            let read = book.conditions.read(key, value);
            read.unwrap_or(Err("opponent, time_control or elo"))?;
        }
        "with" => {
            let (name, value) = pair()?;
            let book = profile
                .books
                .last_mut()
                .ok_or("there is no book before it")?;
            book.overrides.push((ours(name)?, value.to_owned()));
        }
        _ => return Err(format!("\"{word}\" is no word of a log")),
    }
    Ok(())
}

/// The time before a line, and what follows.
fn time(line: &str) -> Option<(Duration, &str)> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    let (seconds, micros) = time.split_once('.')?;
    if micros.len() != 6 {
        return None;
    }
    let seconds = Duration::from_secs(seconds.parse().ok()?);
    Some((
        seconds.checked_add(Duration::from_micros(micros.parse().ok()?))?,
        rest,
    ))
}
