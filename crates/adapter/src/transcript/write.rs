//! Writing a transcript while the session runs.

use std::io::{self, Write};
use std::time::Duration;

use shakmaty::Color;

use super::text::escape;
use super::{FORMAT, MAGIC};
use crate::session::{Engines, Event, IfNoneStarts, Request, Side};
use tabia_choice::book_set::{BookSet, BookSpec};
use tabia_choice::settings::{OptionId, Options, Setting};

/// What a session depends on, besides its events.
#[derive(Debug)]
#[non_exhaustive]
pub struct LogHeader<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// When it began, as text for users.
    pub begun: &'a str,
    /// The seed of the choice of moves while `Book Seed` is 0.
    pub seed: u64,
    /// The engines and their options.
    pub engines: &'a Engines,
    /// How each engine is started, as text for users.
    pub commands: &'a [String],
    /// Where relative paths of books are searched.
    pub folders: &'a [String],
    /// Whether books are mapped into memory.
    pub mmap: bool,
}

impl<'a> LogHeader<'a> {
    /// A session of these engines with this seed, without the values that are only for
    /// readers, and with no folders.
    #[must_use]
    pub const fn new(engines: &'a Engines, seed: u64) -> LogHeader<'a> {
        LogHeader {
            version: "",
            begun: "",
            seed,
            engines,
            commands: &[],
            folders: &[],
            mmap: true,
        }
    }
}

/// Returns a word that identifies the file of a book: it changes when the file does.
type Identify = Box<dyn Fn(&str) -> String + Send>;

/// Writes a session into a file.
///
/// Write errors are not reported to the GUI: a full disk must not end a game.
/// [`Transcript::flush`] returns the first error once.
pub struct Transcript {
    out: Box<dyn Write + Send>,
    identify: Identify,
    now: Duration,
    trouble: Option<io::Error>,
}

impl std::fmt::Debug for Transcript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transcript").finish_non_exhaustive()
    }
}

impl Transcript {
    /// Begins a transcript. `out` should be buffered; `identify` returns a word for a
    /// book path that changes when the file does.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn begin(
        mut out: Box<dyn Write + Send>,
        header: &LogHeader<'_>,
        identify: Identify,
    ) -> io::Result<Transcript> {
        header.write(&mut out)?;
        out.flush()?;
        Ok(Transcript {
            out,
            identify,
            now: Duration::ZERO,
            trouble: None,
        })
    }

    /// Writes an event at the time `now`, in microseconds.
    pub fn event(&mut self, now: Duration, event: &Event<'_>, book_set: &BookSet) {
        self.now = now;
        match event {
            Event::Gui(line) => self.line("gui>", line),
            Event::GuiClosed => self.line("eof", b""),
            Event::Engine(line) => self.line("eng>", line),
            Event::EngineUp => self.line("up", b""),
            Event::EngineGone(reason) => self.line("gone", reason.as_bytes()),
            Event::BooksOpened(messages) => {
                for book in &book_set.books {
                    let identity = (self.identify)(&book.spec.path);
                    self.line(
                        "book_set",
                        format!("{identity} {}", book.spec.path).as_bytes(),
                    );
                }
                for message in *messages {
                    self.line("told", message.as_bytes());
                }
                self.line("opened", b"");
            }
            Event::Seed(Ok(seed)) => self.line("seed", seed.to_string().as_bytes()),
            Event::Seed(Err(reason)) => self.line("no-seed", reason.as_bytes()),
            Event::Cover(Ok(lines)) => self.line("cover", lines.as_bytes()),
            Event::Cover(Err(reason)) => self.line("no-cover", reason.as_bytes()),
            Event::WakeUp => self.line("wake", b""),
            Event::Overdue => self.line("overdue", b""),
            Event::OutputPaused(time) => {
                self.line("heldup", time.as_micros().to_string().as_bytes())
            }
            Event::Overlong(Side::Gui) => self.line("overlong", b"gui"),
            Event::Overlong(Side::Engine) => self.line("overlong", b"eng"),
        }
    }

    /// Writes a line sent to the GUI.
    pub fn to_gui(&mut self, line: &[u8]) {
        self.line("gui<", line);
    }

    /// Writes a line sent to the engine.
    pub fn to_engine(&mut self, line: &[u8]) {
        self.line("eng<", line);
    }

    /// Writes a request of the session.
    pub fn request(&mut self, request: &Request) {
        self.line("ask<", request.to_string().as_bytes());
    }

    /// Writes a comment, which the replay ignores.
    pub fn remark(&mut self, text: &str) {
        let written = writeln!(self.out, "# {}", escape(text.as_bytes()));
        self.note(written);
    }

    /// Flushes the output. Returns the first error, once.
    pub fn flush(&mut self) -> Option<io::Error> {
        let flushed = self.out.flush();
        self.note(flushed);
        let trouble = self.trouble.take()?;
        self.out = Box::new(io::sink());
        Some(trouble)
    }

    fn line(&mut self, word: &str, text: &[u8]) {
        let (seconds, micros) = (self.now.as_secs(), self.now.subsec_micros());
        let text = escape(text);
        let blank = if text.is_empty() { "" } else { " " };
        let written = writeln!(self.out, "{seconds:5}.{micros:06} {word}{blank}{text}");
        self.note(written);
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.trouble.get_or_insert(error);
        }
    }
}

impl LogHeader<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{MAGIC} {FORMAT}")?;
        writeln!(out, "version {}", self.version)?;
        writeln!(out, "# begun {}", self.begun)?;
        writeln!(out, "seed {}", self.seed)?;
        writeln!(out, "mmap {}", self.mmap)?;
        if self.engines.record_games {
            writeln!(out, "games true")?;
        }
        if let Some(name) = &self.engines.announced {
            writeln!(out, "name {}", escape(name.as_bytes()))?;
        }
        if self.engines.if_none_starts == IfNoneStarts::End {
            writeln!(out, "if-none-starts end")?;
        }
        for folder in self.folders {
            writeln!(out, "folder {}", escape(folder.as_bytes()))?;
        }
        let usual = Options::default();
        for (index, profile) in self.engines.profiles.iter().enumerate() {
            let word = if index < self.engines.chain {
                "engine"
            } else {
                "stand-in"
            };
            writeln!(out, "{word} {}", escape(profile.name.as_bytes()))?;
            if let Some(command) = self.commands.get(index) {
                writeln!(out, "# command {}", escape(command.as_bytes()))?;
            }
            writeln!(out, "timeout {}", profile.start_timeout.as_millis())?;
            for (name, value) in &profile.options {
                writeln!(
                    out,
                    "option {}",
                    escape(format!("{name}={value}").as_bytes())
                )?;
            }
            for id in OptionId::ALL {
                let setting = profile.settings.options().get(*id);
                if setting != usual.get(*id) {
                    writeln!(out, "set {}", assignment(&setting))?;
                }
            }
            for book in &profile.books {
                write_book(book, out)?;
            }
        }
        Ok(())
    }
}

fn write_book(book: &BookSpec, out: &mut dyn Write) -> io::Result<()> {
    let colour = match book.colour {
        None => "both",
        Some(Color::White) => "white",
        Some(Color::Black) => "black",
    };
    writeln!(out, "book {colour} {}", escape(book.path.as_bytes()))?;
    for (key, value) in book.conditions.given() {
        writeln!(out, "only {key}={}", escape(value.as_bytes()))?;
    }
    for setting in &book.overrides {
        writeln!(out, "with {}", assignment(setting))?;
    }
    Ok(())
}

fn assignment(setting: &Setting) -> String {
    let value = escape(setting.to_string().as_bytes());
    format!("{}={value}", setting.id().spec().name)
}
