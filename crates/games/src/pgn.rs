//! PGN text, split into games.
//!
//! A game begins with a line that starts with `[Event `. The text is split there before
//! it is parsed: into batches for the threads, and each batch into games. So a comment
//! or bracket that is never closed damages only its own game. Text without such lines
//! is split at empty lines once it is large.
//!
//! Before that, line ends of old systems (CR alone) become LF, and quote marks of
//! e-mail (`> `) are removed.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memchr::{memchr, memmem, memrchr};

use super::language::Language;
use super::members::is_damage;
use super::parse::{Broken, Ending, Parser};
use super::tokens::is_tag;
use super::{Error, Game, GameBatch, GameFilter, GameParts, GamePlace, GameSource, SkipReason};

/// Target size of a batch in bytes.
const BATCH_BYTES: usize = 512 << 10;

/// Size from which a batch is split at an empty line.
const LARGEST_BATCH_BYTES: usize = 16 << 20;

/// The start of each game, with the line end before it.
const GAME_START: &[u8] = b"\n[Event ";

/// PGN from a file or stream, already decompressed.
pub struct PgnSource {
    name: Arc<str>,
    text: Box<dyn Read + Send>,
    counter: Arc<AtomicU64>,
    /// Bytes read after the last split.
    pending: Vec<u8>,
    /// Number of these bytes whose line ends are already converted.
    clean: usize,
    /// Whether tags were found in quoted e-mail.
    quoted: bool,
    /// Number of the first line of `pending`.
    line: u64,
    language: Option<Arc<Language>>,
    /// Whether other data follow the compressed text: set by the decompressor.
    pub(super) trailing_data: Arc<AtomicBool>,
    /// Where the text breaks off, and why.
    cut: Option<String>,
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
            at_end: false,
            trailing_data: Arc::default(),
            cut: None,
        }
    }

    /// Records that the text breaks off; an error if nothing could be read.
    fn break_off(&mut self, error: io::Error, text: &[u8]) -> Result<(), Error> {
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
        Ok(())
    }
}

impl GameSource for PgnSource {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        let mut text = Vec::with_capacity(BATCH_BYTES + 4096);
        text.append(&mut self.pending);
        let mut clean = std::mem::take(&mut self.clean);
        let mut goal = BATCH_BYTES;
        let cut = loop {
            let missing = goal.saturating_sub(text.len()) as u64;
            match self.text.by_ref().take(missing).read_to_end(&mut text) {
                Ok(count) => self.at_end |= missing > 0 && count == 0,
                Err(error) => {
                    self.break_off(error, &text)?;
                    self.text = Box::new(io::empty());
                    self.at_end = true;
                }
            }
            if self.at_end {
                // For comments that end with their line.
                if text
                    .last()
                    .is_some_and(|&last| !matches!(last, b'\n' | b'\r'))
                {
                    text.push(b'\n');
                }
                clean = clean_lines(&mut text, clean, true, &mut self.quoted);
                break text.len();
            }
            if text.len() < goal {
                continue;
            }
            clean = clean_lines(&mut text, clean, false, &mut self.quoted);
            let ready = text.get(..clean).unwrap_or_default();
            if let Some(at) = memmem::rfind(ready, GAME_START) {
                break at + 1;
            }
            if text.len() >= LARGEST_BATCH_BYTES {
                break match memmem::rfind(ready, b"\n\n") {
                    Some(at) => at + 2,
                    None => text.len(),
                };
            }
            // Removing quote marks may have shortened the text.
            goal = goal.max(text.len()) * 2;
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
        let language = self.language.get_or_insert_with(|| {
            let start = text
                .get(..Language::START_BYTES)
                .map_or(&text[..], |start| {
                    let end = memmem::rfind(start, GAME_START).or(memmem::rfind(start, b"\n\n"));
                    start.get(..end.unwrap_or(0)).unwrap_or_default()
                });
            Arc::new(Language::new(start))
        });
        Ok(Some(Box::new(PgnBatch {
            name: self.name.clone(),
            language: Arc::clone(language),
            text,
            line,
            next_cut: 0,
            parser: Parser::default(),
        })))
    }

    fn bytes_read(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    fn remarks(&self) -> Vec<String> {
        let trailing_data = self.trailing_data.load(Ordering::Relaxed);
        let trailing_data = trailing_data.then(|| {
            let name = &self.name;
            format!("{name}: other data after its compressed data is ignored")
        });
        self.cut.iter().cloned().chain(trailing_data).collect()
    }
}

fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Converts the lines of a text from byte `from` on to PGN lines; returns the offset
/// reached. An unfinished line is converted only at the end of the text.
fn clean_lines(text: &mut Vec<u8>, from: usize, at_end: bool, quoted: &mut bool) -> usize {
    let mut at = from;
    while let Some(more) = memchr(b'\r', text.get(at..).unwrap_or_default()) {
        let start = at + more;
        let returns = text.iter().skip(start).take_while(|byte| **byte == b'\r');
        let end = start + returns.count();
        at = end;
        match text.get(end) {
            Some(b'\n') => {}
            // The rest of the line may still come.
            None if !at_end => break,
            _ => text.get_mut(start..end).unwrap_or_default().fill(b'\n'),
        }
    }
    let end = match memrchr(b'\n', text) {
        Some(last) if !at_end => last + 1,
        _ => text.len(),
    };
    // A line begins after the end of the previous one.
    let before = from.saturating_sub(1);
    let fresh = text.get(before..end).unwrap_or_default();
    if !(from == 0 && fresh.starts_with(b">")) && memmem::find(fresh, b"\n>").is_none() {
        return end.max(from);
    }
    let rest = text.split_off(end.max(from));
    let lines = text.split_off(from);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let is_mark = |byte: &u8| matches!(byte, b'>' | b' ' | b'\t');
        let marks = line.iter().take_while(|byte| is_mark(byte)).count();
        let (marks, bare) = line.split_at_checked(marks).unwrap_or((line, b""));
        let is_quote = marks.first() == Some(&b'>');
        *quoted |= is_quote && is_tag(bare);
        text.extend_from_slice(if is_quote && *quoted { bare } else { line });
    }
    let end = text.len();
    text.extend(rest);
    end
}

/// A batch of complete games as text.
struct PgnBatch {
    name: Arc<str>,
    language: Arc<Language>,
    text: Vec<u8>,
    /// Number of the first line.
    line: u64,
    /// Offset of the next game.
    next_cut: usize,
    /// Parser of the piece before `next_cut`, which has several games if some do not
    /// begin with `[Event `.
    parser: Parser,
}

impl PgnBatch {
    /// Continues with the next piece of the text; false at its end.
    fn next_piece(&mut self) -> bool {
        let start = self.next_cut;
        let rest = self.text.get(start..).unwrap_or_default();
        if rest.is_empty() {
            return false;
        }
        self.next_cut = memmem::find(rest, GAME_START).map_or(self.text.len(), |at| start + at + 1);
        self.parser.go_on(start, self.next_cut);
        true
    }

    fn next(
        &mut self,
        wanted: GameParts,
        filter: Option<&GameFilter>,
        game: &mut Game,
    ) -> Result<bool, SkipReason> {
        loop {
            let (text, language) = (&self.text, &self.language);
            return match self.parser.next(text, language, wanted, filter, game) {
                None | Some(Ending::NoGame) if self.next_piece() => continue,
                None | Some(Ending::NoGame) => Ok(false),
                Some(Ending::Game(broken)) => {
                    game.cut = broken.map(|broken| self.reason(broken)).or(game.cut.take());
                    Ok(true)
                }
                Some(Ending::Skip(reason)) => Err(reason),
                Some(Ending::Move(broken)) => Err(self.reason(broken)),
            };
        }
    }

    fn reason(&self, broken: Broken) -> SkipReason {
        let line = self.line_of(broken.at);
        let Broken { number, word, .. } = broken;
        match broken.is_move {
            true => SkipReason::Move {
                number,
                line,
                san: word,
            },
            false => SkipReason::Word { number, line, word },
        }
    }

    /// Number of the line that contains a byte.
    fn line_of(&self, at: usize) -> u64 {
        self.line + lines(self.text.get(..at).unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::super::Item;
    use super::*;

    const GAMES: &[u8] = b"[Event \"1\"]\n[Result \"1-0\"]\n[WhiteElo \"1500\"]\n\n\
        1. e4 e5 2. Kd5 1-0\n\n\
        [Event \"2\"]\n[WhiteElo \"1500\"]\n\n1. e4 e5 1-0\n\n\
        [Event \"3\"]\n[Result \"1-0\"]\n[WhiteElo \"2500\"]\n\n1. e4 {half\n\n\
        [Event \"4\"]\n[Result \"0-1\"]\n[WhiteElo \"2500\"]\n\n1. d4 d5 0-1\n";

    /// The illegal move of the first game is not reported either.
    #[test]
    fn moves_of_games_that_tags_refuse_are_not_read() {
        let filter = GameFilter {
            min_elo: Some(2000),
            ..GameFilter::default()
        };
        let counter = Arc::new(AtomicU64::new(0));
        let mut source = PgnSource::new("x", Box::new(GAMES), counter);
        let mut batch = source.next_batch().unwrap().unwrap();
        let mut game = Game::default();
        let mut next = || {
            let there = batch.next_for(GameParts::default(), &filter, &mut game);
            (there, game.elo.white, game.moves.len())
        };
        assert_eq!(next(), (Ok(true), 1500, 0));
        // Its result is known only after its moves.
        assert_eq!(next(), (Ok(true), 1500, 2));
        let (broken, elo, _) = next();
        assert!(broken.is_err() && elo == 2500);
        assert_eq!(next(), (Ok(true), 2500, 2));
        assert_eq!(next().0, Ok(false));
    }

    /// The content of each game, or why it was skipped.
    fn all(text: &[u8], wanted: GameParts) -> Vec<Result<Game, String>> {
        let counter = Arc::new(AtomicU64::new(0));
        let text = Box::new(io::Cursor::new(text.to_vec()));
        let mut source = PgnSource::new("x", text, counter);
        let mut batch = source.next_batch().unwrap().unwrap();
        let mut found = Vec::new();
        loop {
            let mut game = Game::default();
            match batch.next_game(wanted, &mut game) {
                Ok(true) => found.push(Ok(game)),
                Ok(false) => return found,
                Err(reason) => found.push(Err(batch.skip(reason).to_string())),
            }
        }
    }

    #[test]
    fn games_need_no_event_and_their_tags_may_be_long() {
        let text = format!(
            "\u{feff}%\n\n[White \"1\"]\n\n1. e4\n% 1... e5\ne5 *\n\n\n\
             [White \"2\"]\n\n1. e4 e4 2. d4 *\n\n\
             [Site \"{}\"]\n[White \"3\"]\n\n1. c4 *\n\n\
             [White \"4\"]\r\n\r\n1. d4\r\nd5 *\r\n\r\n\
             1. e4 {{5\n\n[White \"6\"]\n\n1. d4",
            "x".repeat(8_000),
        );
        let games = all(text.as_bytes(), GameParts::default());
        let results = games.iter().map(|game| match game {
            Ok(game) => format!("{} {}", game.names.white, game.moves.len()),
            Err(message) => message.clone(),
        });
        assert_eq!(
            results.collect::<Vec<_>>(),
            [
                "1 2",
                "x: line 10: game skipped: move 1... on line 12 is impossible: e4",
                "3 1",
                "4 2",
                "x: line 24: game skipped: unterminated comment"
            ]
        );
    }

    #[test]
    fn comments_to_the_end_of_the_line_are_notes() {
        let text = b"[Event \"1\"]\n\n1. e4 ; {best}\n1... e5 {a; b} 2. d4 ;c\n\n\
            [Event \"; 2\"]\n\n1. e4 {half; a\n\n[Event \"3\"]\n\n1. e4 ;last";
        let notes = GameParts {
            notes: true,
            ..GameParts::default()
        };
        for wanted in [notes, GameParts::default()] {
            let games = all(text, wanted);
            let moves = games.iter().map(|game| game.as_ref().ok());
            let moves = moves.map(|game| game.map(|game| game.moves.len()));
            assert_eq!(moves.collect::<Vec<_>>(), [Some(3), None, Some(1)]);
        }
        let games = all(text, notes);
        let comments = games.iter().flatten().flat_map(|game| &game.movetext);
        let comments = comments.filter_map(|item| match item {
            Item::Comment(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(
            comments.collect::<Vec<_>>(),
            ["(best)", "a; b", "c", "last"]
        );
    }
}
