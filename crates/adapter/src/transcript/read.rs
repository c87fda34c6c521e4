//! Reading a transcript.

use std::str::FromStr;
use std::time::Duration;

use shakmaty::Color;

use super::text::unescape;
use super::{FORMAT, MAGIC};
use crate::book_set::BookSpec;
use crate::session::{Engines, Event, IfNoneStarts, Profile, Side};
use crate::settings::{OptionId, Setting, Settings};

/// The content of a transcript file.
#[derive(Debug, Default)]
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
    /// The line describes no event. Events of a [`Recording`] never fail.
    pub fn parse(&self) -> Result<Event<'_>, String> {
        let text = std::str::from_utf8(&self.text).map_err(|_| "the text is not UTF-8");
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
                _ => return Err("expected: overlong gui, or overlong eng".to_owned()),
            }),
            word => return Err(format!("\"{word}\" is no word of a log")),
        })
    }
}

/// The file is not a transcript.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {text}")]
#[non_exhaustive]
pub struct LogError {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

impl Recording {
    /// Reads a transcript from the text of its file. An incomplete last line is ignored,
    /// see [`cut`](Recording::cut).
    ///
    /// # Errors
    ///
    /// The text is not a transcript, has another format, or is damaged.
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
        _ => Err("this is no log of tabia".to_owned()),
    }
}

#[derive(Default)]
struct Reader {
    recording: Recording,
    /// Lines that belong to the next `opened`.
    opened: LogEvent,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if line.starts_with('#') || line.trim().is_empty() {
            return Ok(());
        }
        // Only the lines of the session begin with blanks or digits.
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
                    .ok_or_else(|| format!("\"{word}\" has no engine before it"))?;
                of_engine(profile, word, &value)?;
            }
        }
        Ok(())
    }

    /// Reads a line of the session; `None` if it belongs to a later one.
    fn entry(&mut self, word: &str, text: &str, whole: &str) -> Result<Option<LogEntry>, String> {
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
                let (identity, path) = book.ok_or("expected: book_set IDENTITY PATH")?;
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

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("\"{text}\" is no number"))
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
            let set = profile.settings.choose(ours(name)?, value);
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
        "only" | "with" => {
            let (name, value) = pair()?;
            let book = profile.books.last_mut();
            let book = book.ok_or("there is no book before it")?;
            if word == "with" {
                let setting = Setting::read(ours(name)?, value);
                book.overrides
                    .push(setting.map_err(|error| error.to_string())?);
            } else {
                let read = book.conditions.read(name, value);
                read.unwrap_or(Err("opponent, time_control or elo"))?;
            }
        }
        _ => return Err(format!("\"{word}\" is no word of a log")),
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
