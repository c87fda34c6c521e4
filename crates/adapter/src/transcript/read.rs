//! Reading a transcript.

use std::str::FromStr;
use std::time::Duration;

use shakmaty::Color;

use super::text::unescape;
use super::{FORMAT, MAGIC};
use crate::session::{Engines, Event, IfNoneStarts, Profile, Side};
use tabia_choice::book_set::BookSpec;
use tabia_choice::settings::{OptionId, Setting, Settings, ValueError};

/// The content of a transcript file.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recording {
    /// The version of the program that wrote it.
    pub version: String,
    /// See [`LogHeader::seed`](super::LogHeader::seed).
    pub seed: u64,
    /// Whether books were mapped into memory.
    pub mmap: bool,
    /// Where relative paths of books were searched.
    pub folders: Vec<String>,
    /// The engines and their options.
    pub engines: Engines,
    /// The events and the output of the session.
    pub lines: Vec<LoggedLine>,
    /// The last line of the file, from 1, if it is incomplete: the program that wrote it
    /// was ended.
    pub cut: Option<usize>,
}

/// A line of the session.
#[derive(Debug)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum LogEntry {
    /// An event of the session.
    Event(LogEvent),
    /// A line was sent or a request made; the text is as in the file, starting with its
    /// keyword.
    Sent(String),
}

/// An event as the file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogEvent {
    word: String,
    text: Vec<u8>,
    /// For `opened`: messages about the books.
    messages: Vec<String>,
    /// For `opened`: identity and path of each book.
    pub(super) books: Vec<(String, String)>,
}

impl LogEvent {
    /// The event.
    ///
    /// # Errors
    ///
    /// The line does not describe an event. Events of a [`Recording`] never fail.
    pub fn parse(&self) -> Result<Event<'_>, LogFault> {
        let text = std::str::from_utf8(&self.text).map_err(|_| LogFault::NotUtf8);
        Ok(match self.word.as_str() {
            "gui>" => Event::Gui(&self.text),
            "eng>" => Event::Engine(&self.text),
            "eof" => Event::GuiClosed,
            "up" => Event::EngineUp,
            "gone" => Event::EngineGone(text?),
            "opened" => Event::BooksOpened(&self.messages),
            "seed" => Event::Seed(Ok(number(text?)?)),
            "no-seed" => Event::Seed(Err(text?)),
            "cover" => Event::Cover(Ok(text?)),
            "no-cover" => Event::Cover(Err(text?)),
            "wake" => Event::WakeUp,
            "overdue" => Event::Overdue,
            "heldup" => Event::OutputPaused(Duration::from_micros(number(text?)?)),
            "overlong" => Event::Overlong(match text? {
                "gui" => Side::Gui,
                "eng" => Side::Engine,
                _ => return Err(LogFault::Expected("overlong gui, or overlong eng")),
            }),
            word => return Err(LogFault::Word(word.to_owned())),
        })
    }
}

/// The file is not a transcript.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {fault}")]
#[non_exhaustive]
pub struct LogError {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: LogFault,
}

/// What is wrong with a line of a transcript.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFault {
    /// There is no line.
    #[error("the file is empty")]
    Empty,
    /// The first line is that of another file.
    #[error("this is not a log of tabia")]
    NotALog,
    /// The first line names another format than this one.
    #[error("this log has format {0}, and only {FORMAT} is known here")]
    Format(String),
    /// An event has no time.
    #[error("there is no time before the line")]
    NoTime,
    /// The text after the word is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A number was expected instead of this text.
    #[error("\"{0}\" is not a number")]
    NotANumber(String),
    /// The first word of the line is unknown.
    #[error("\"{0}\" is not a word of a log")]
    Word(String),
    /// The line should have had this form.
    #[error("expected: {0}")]
    Expected(&'static str),
    /// The line belongs to an engine, and none is named before it.
    #[error("\"{0}\" has no engine before it")]
    NoEngine(String),
    /// The line belongs to a book, and none is named before it.
    #[error("there is no book before it")]
    NoBook,
    /// The adapter has no option of this name.
    #[error("there is no option \"{0}\"")]
    NoOption(String),
    /// The value of an option is not valid.
    #[error(transparent)]
    Value(#[from] ValueError),
}

impl Recording {
    /// Reads the only session, or the last one, of the text of a log. An incomplete last line
    /// is ignored, see [`cut`](Recording::cut).
    ///
    /// # Errors
    ///
    /// The text is not a transcript, has another format, or is damaged.
    pub fn read(text: &str) -> Result<Recording, LogError> {
        let mut all = Recording::read_all(text)?;
        // There is at least one.
        Ok(all.pop().unwrap_or_default())
    }

    /// Reads the sessions of a log, oldest first; there is at least one.
    ///
    /// # Errors
    ///
    /// As for [`read`](Recording::read); the numbers of lines are those of the file.
    pub fn read_all(text: &str) -> Result<Vec<Recording>, LogError> {
        let mut all = Vec::new();
        let mut reader = Reader::default();
        let mut lines = text.split_inclusive('\n').enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            // A session that was cut short is followed by a blank line and the next one.
            let follows = lines.peek().map(|(_, next)| *next);
            let is_whole =
                line.ends_with('\n') && (is_blank(line) || !follows.is_some_and(is_blank));
            if !is_whole {
                reader.recording.cut = Some(index + 1);
                continue;
            }
            let line = line.trim_end_matches(['\r', '\n']);
            let read = match (index, line.split_once(' ')) {
                (0, _) => first_line(line),
                (_, Some((MAGIC, _))) => {
                    all.push(std::mem::take(&mut reader).recording);
                    first_line(line)
                }
                _ => reader.line(index + 1, line),
            };
            read.map_err(|fault| LogError {
                line: index + 1,
                fault,
            })?;
        }
        if text.is_empty() {
            return Err(LogError {
                line: 1,
                fault: LogFault::Empty,
            });
        }
        all.push(reader.recording);
        Ok(all)
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn first_line(line: &str) -> Result<(), LogFault> {
    match line.split_once(' ') {
        Some((MAGIC, FORMAT)) => Ok(()),
        Some((MAGIC, other)) => Err(LogFault::Format(other.to_owned())),
        _ => Err(LogFault::NotALog),
    }
}

#[derive(Default)]
struct Reader {
    recording: Recording,
    /// Lines that belong to the next `opened`.
    opened: LogEvent,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), LogFault> {
        if line.starts_with('#') || line.trim().is_empty() {
            return Ok(());
        }
        // Only the lines of the session begin with blanks or digits.
        if line.starts_with(|c: char| c == ' ' || c.is_ascii_digit()) {
            let (time, rest) = time(line).ok_or(LogFault::NoTime)?;
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

    fn header(&mut self, word: &str, value: String) -> Result<(), LogFault> {
        let recording = &mut self.recording;
        let engines = &mut recording.engines;
        match word {
            "version" => recording.version = value,
            "seed" => recording.seed = number(&value)?,
            "mmap" => recording.mmap = value == "true",
            "games" => engines.record_games = value == "true",
            "name" => engines.announced = Some(value),
            "if-none-starts" if value == "end" => engines.if_none_starts = IfNoneStarts::End,
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
                    .ok_or_else(|| LogFault::NoEngine(word.to_owned()))?;
                of_engine(profile, word, &value)?;
            }
        }
        Ok(())
    }

    /// Reads a line of the session; `None` if it belongs to a later one.
    fn entry(&mut self, word: &str, text: &str, whole: &str) -> Result<Option<LogEntry>, LogFault> {
        if ["gui<", "eng<", "ask<"].contains(&word) {
            return Ok(Some(LogEntry::Sent(whole.to_owned())));
        }
        let opened = &mut self.opened;
        opened.text = unescape(text);
        let string = String::from_utf8_lossy(&opened.text);
        match word {
            "told" => opened.messages.push(string.into_owned()),
            "book_set" => {
                let book = string.split_once(' ');
                let (identity, path) = book.ok_or(LogFault::Expected("book_set IDENTITY PATH"))?;
                let book = (identity.to_owned(), path.to_owned());
                opened.books.push(book);
            }
            _ => {
                let event = LogEvent {
                    word: word.to_owned(),
                    text: std::mem::take(&mut opened.text),
                    ..match word {
                        "opened" => std::mem::take(opened),
                        _ => LogEvent::default(),
                    }
                };
                event.parse()?;
                return Ok(Some(LogEntry::Event(event)));
            }
        }
        Ok(None)
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, LogFault> {
    (text.parse()).map_err(|_| LogFault::NotANumber(text.to_owned()))
}

fn of_engine(profile: &mut Profile, word: &str, value: &str) -> Result<(), LogFault> {
    let pair = || {
        value
            .split_once('=')
            .ok_or(LogFault::Expected("NAME=VALUE"))
    };
    let ours =
        |name: &str| OptionId::by_name(name).ok_or_else(|| LogFault::NoOption(name.to_owned()));
    match word {
        "timeout" => {
            profile.start_timeout = Duration::from_millis(number(value)?);
        }
        "option" => {
            let (name, value) = pair()?;
            profile.options.push((name.to_owned(), value.to_owned()));
        }
        "set" => {
            let (name, value) = pair()?;
            profile.settings.choose(ours(name)?, value)?;
        }
        "book" => {
            let (colour, path) = value
                .split_once(' ')
                .ok_or(LogFault::Expected("book COLOUR PATH"))?;
            let colour = match colour {
                "white" => Some(Color::White),
                "black" => Some(Color::Black),
                _ => None,
            };
            profile.books.push(BookSpec::new(path).colour(colour));
        }
        "only" | "with" => {
            let (name, value) = pair()?;
            let book = profile.books.last_mut();
            let book = book.ok_or(LogFault::NoBook)?;
            if word == "with" {
                book.overrides.push(Setting::read(ours(name)?, value)?);
            } else {
                let read = book.conditions.read(name, value);
                let read = read.unwrap_or(Err("opponent, time_control, elo or variant"));
                read.map_err(LogFault::Expected)?;
            }
        }
        _ => return Err(LogFault::Word(word.to_owned())),
    }
    Ok(())
}

/// Splits a line into its time and the rest.
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
