//! PGN text, split into games.
//!
//! The text is cut into batches for the threads, only where a game certainly begins:
//! with a tag after movetext, outside comments. Within a batch, the parser finds where
//! each game ends.
//!
//! Before that, line ends of old systems (CR alone) become LF, and quote marks of
//! e-mail (`> `) are removed.

mod lines;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memchr::memmem;

use super::language::Language;
use super::oddities::{Findings, Oddities, Oddity};
use super::parse::{Broken, Ending, Parser};
use super::tokens::{final_result, last_start};
use crate::open::is_damage;
use crate::{Error, Game, GameBatch, GameFilter, GameParts, GamePlace, GameSource, SkipReason};

use lines::clean_lines;
use tabia_notation::MoveError;

/// Sizes of batches, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchSize {
    /// The usual size.
    pub(super) goal: usize,
    /// The size at which a text without the beginning of a game is cut anywhere.
    pub(super) most: usize,
}

impl BatchSize {
    const USUAL: BatchSize = BatchSize {
        goal: 512 << 10,
        most: 256 << 20,
    };
}

/// PGN from a file or stream, already decompressed.
///
/// # Examples
///
/// Every position of a game in a text, with the move played in it:
///
/// ```
/// use std::sync::Arc;
/// use tabia_games::{Game, GameParts, GameSource as _, PgnSource};
/// use tabia_notation::{fen, san};
///
/// let text = Box::new(&b"[White \"Anderssen\"]\n\n1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 1-0\n"[..]);
/// let mut source = PgnSource::new("a text in memory", text, Arc::default());
/// let (mut game, mut lines) = (Game::default(), Vec::new());
/// while let Some(mut batch) = source.next_batch()? {
///     while batch.next_game(GameParts::default(), &mut game)? {
///         for (position, mv) in game.positions.iter().zip(&game.moves) {
///             lines.push(format!("{} {}", fen(position), san(position, *mv)));
///         }
///     }
/// }
/// assert_eq!(lines.len(), 6);
/// assert_eq!(lines[5], "rnbqkbnr/pppp1ppp/8/8/2B1Pp2/8/PPPP2PP/RNBQK1NR b KQkq - 1 3 Qh4+");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PgnSource {
    name: Arc<str>,
    text: Box<dyn Read + Send>,
    counter: Arc<AtomicU64>,
    /// Bytes read after the last split.
    pending: Vec<u8>,
    /// Number of bytes of `pending` whose line ends are already converted.
    clean: usize,
    /// Whether tags were found in quoted e-mail.
    quoted: bool,
    /// Number of the first line of `pending`.
    line: u64,
    language: Option<Arc<Language>>,
    pub(super) size: BatchSize,
    findings: Arc<Findings>,
    /// Whether other data follow the compressed text: set by the decompressor.
    pub(crate) trailing_data: Arc<AtomicBool>,
    /// Where the text breaks off, and why.
    cut: Option<String>,
    /// Whether it does so within a game.
    breaks_game: bool,
    at_end: bool,
}

impl PgnSource {
    /// Reads from `text`; `counter` counts the bytes that were read from disk.
    #[must_use]
    pub fn new(name: &str, text: Box<dyn Read + Send>, counter: Arc<AtomicU64>) -> PgnSource {
        PgnSource {
            name: name.into(),
            text,
            counter,
            pending: Vec::new(),
            clean: 0,
            quoted: false,
            line: 1,
            language: None,
            size: BatchSize::USUAL,
            findings: Arc::default(),
            at_end: false,
            trailing_data: Arc::default(),
            cut: None,
            breaks_game: false,
        }
    }

    /// Records that the text breaks off; an error if nothing could be read. What is left of a
    /// word or a tag is removed: it may be another move (`O-O` of `O-O-O`).
    fn break_off(&mut self, error: io::Error, text: &mut Vec<u8>) -> Result<(), Error> {
        let name = self.name.to_string();
        if !is_damage(&error) || self.line == 1 && text.is_empty() {
            return Err(Error::Io {
                name,
                reason: error,
            });
        }
        let line = self.line + lines(text);
        self.cut = Some(format!(
            "{name}: it is cut off or damaged after line {line} of its text ({error}); \
             the games before that are read"
        ));
        if final_result(text).is_none() {
            self.breaks_game = true;
            let line = memchr::memrchr2(b'\n', b'\r', text).map_or(0, |end| end + 1);
            let word = text
                .iter()
                .rposition(u8::is_ascii_whitespace)
                .map_or(0, |end| end + 1);
            let is_tag = text.get(line) == Some(&b'[');
            text.truncate(if is_tag { line } else { word });
        }
        Ok(())
    }
}

impl GameSource for PgnSource {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        let mut goal = self.size.goal;
        let mut text = Vec::with_capacity(goal + 4096);
        text.append(&mut self.pending);
        let mut clean = std::mem::take(&mut self.clean);
        let cut = loop {
            let needed = match self.language {
                None => goal.max(Language::START_BYTES),
                Some(_) => goal,
            };
            while text.len() < needed && !self.at_end {
                let missing = (needed - text.len()) as u64;
                match self.text.by_ref().take(missing).read_to_end(&mut text) {
                    Ok(count) => self.at_end = count == 0,
                    Err(error) => {
                        self.break_off(error, &mut text)?;
                        self.text = Box::new(io::empty());
                        self.at_end = true;
                    }
                }
            }
            if self.at_end
                && text
                    .last()
                    .is_some_and(|&last| !matches!(last, b'\n' | b'\r'))
            {
                // For comments that end with their line.
                text.push(b'\n');
            }
            clean = clean_lines(&mut text, clean, self.at_end, &mut self.quoted);
            // Removing quote marks may have shortened the text, or most of it is one line whose
            // end is still to come. Without the larger goal a comment of 700,000 characters on
            // one line never ended the loop.
            if clean < needed.min(text.len()) / 2 && !self.at_end && text.len() < self.size.most {
                if text.len() >= needed {
                    goal = 2 * needed;
                }
                continue;
            }
            let ready = text.get(..clean).unwrap_or_default();
            self.language
                .get_or_insert_with(|| Arc::new(Language::new(language_part(ready))));
            if self.at_end && text.len() <= goal {
                break text.len();
            }
            if let Some(at) = last_start(ready, goal) {
                break at;
            }
            if text.len() >= self.size.most && text.len() <= goal {
                let line = self.line + lines(&text);
                let (name, size) = (&self.name, text.len());
                let message = || {
                    format!(
                        "{name}: no game begins in the {size} bytes before line {line}; \
                         the text is cut there"
                    )
                };
                self.cut.get_or_insert_with(message);
                break text.len();
            }
            goal *= 2;
        };
        if text.is_empty() {
            // Closes the file.
            self.text = Box::new(io::empty());
            return Ok(None);
        }
        self.pending
            .extend_from_slice(text.get(cut..).unwrap_or_default());
        self.clean = clean.saturating_sub(cut);
        text.truncate(cut);
        let line = self.line;
        self.line += lines(&text);
        let language = self
            .language
            .get_or_insert_with(|| Arc::new(Language::new(b"")));
        Ok(Some(Box::new(PgnBatch {
            name: self.name.clone(),
            language: Arc::clone(language),
            breaks_off: self.breaks_game && self.at_end && self.pending.is_empty(),
            text,
            line,
            counted: Cell::default(),
            parser: Parser::default(),
            findings: Arc::clone(&self.findings),
        })))
    }

    fn bytes_read(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    fn has_contradictions(&self) -> bool {
        self.findings.has(Oddity::Result)
    }

    fn remarks(&self) -> Vec<String> {
        let trailing_data = self.trailing_data.load(Ordering::Relaxed);
        let trailing_data = trailing_data.then(|| {
            let name = &self.name;
            format!("{name}: other data after its compressed data is ignored")
        });
        let findings = self.findings.report(&self.name);
        let cut = self.cut.iter().cloned();
        cut.chain(trailing_data).chain(findings).collect()
    }
}

/// The complete games at the start of a text that show the language of its file.
fn language_part(text: &[u8]) -> &[u8] {
    let Some(start) = text.get(..Language::START_BYTES) else {
        return text;
    };
    let end = last_start(text, start.len()).or_else(|| memmem::rfind(start, b"\n\n"));
    start.get(..end.unwrap_or(0)).unwrap_or_default()
}

fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// A batch of complete games as text.
struct PgnBatch {
    name: Arc<str>,
    language: Arc<Language>,
    text: Vec<u8>,
    /// Whether the source breaks off within the last game.
    breaks_off: bool,
    /// Number of the first line.
    line: u64,
    /// Offset of a game, and the number of lines before it: a line may have many games.
    counted: Cell<(usize, u64)>,
    parser: Parser,
    findings: Arc<Findings>,
}

impl PgnBatch {
    fn next(
        &mut self,
        wanted: GameParts,
        filter: Option<&GameFilter>,
        game: &mut Game,
    ) -> Result<bool, SkipReason> {
        let (text, language) = (&self.text, &self.language);
        let found = self.parser.next(text, language, wanted, filter, game);
        let odd = self.parser.odd;
        for at in std::mem::take(&mut self.parser.stray) {
            self.findings
                .add(Oddities::one(Oddity::Stray), self.line_of(at));
        }
        if !odd.is_empty() {
            self.findings.add(odd, self.line_of(self.parser.game_start));
        }
        match found {
            None | Some(Ending::NoGame) => Ok(false),
            Some(Ending::Game(broken, unclosed)) => {
                let broken = broken.map(|broken| self.reason(broken));
                let unclosed = unclosed.map(|at| SkipReason::Unclosed {
                    line: self.line_of(at),
                });
                game.cut = broken.or(unclosed).or(game.cut.take());
                if self.breaks_off && self.parser.is_at_end(&self.text) {
                    game.cut.get_or_insert(SkipReason::BrokenOff);
                }
                Ok(true)
            }
            Some(Ending::Skip(reason)) => Err(reason),
            Some(Ending::Move(broken)) => Err(self.reason(broken)),
        }
    }

    fn reason(&self, broken: Broken) -> SkipReason {
        let line = self.line_of(broken.at);
        let Broken { number, word, .. } = broken;
        match broken.error {
            MoveError::Syntax => SkipReason::Word { number, line, word },
            MoveError::Ambiguous => SkipReason::Ambiguous {
                number,
                line,
                san: word,
            },
            _ => SkipReason::Move {
                number,
                line,
                san: word,
            },
        }
    }

    /// Number of the line that contains a byte.
    fn line_of(&self, at: usize) -> u64 {
        let (from, before) = match self.counted.get() {
            (from, before) if from <= at => (from, before),
            _ => (0, 0),
        };
        let count = before + lines(self.text.get(from..at).unwrap_or_default());
        // Of later places, only those of this game are asked for.
        if at <= self.parser.game_start {
            self.counted.set((at, count));
        }
        self.line + count
    }
}

impl GameBatch for PgnBatch {
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
        self.next(wanted, None, game)
    }

    fn next_for(
        &mut self,
        wanted: GameParts,
        filter: &GameFilter,
        game: &mut Game,
    ) -> Result<bool, SkipReason> {
        self.next(wanted, Some(filter), game)
    }

    fn source(&self) -> &str {
        &self.name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Line(self.line_of(self.parser.game_start))
    }
}
