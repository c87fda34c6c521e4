//! A file of printed games as a source.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::{fields, movetext};
use crate::archive::SourceFile;
use crate::encodings;
use crate::{
    Error, Game, GameBatch, GameParts, GamePlace, GameResult, GameSource, Recorder, SkipReason,
    TextEncoding,
};
use tabia_io::input::reader::FileReader;

/// Games in a batch.
const BATCH_GAMES: usize = 256;

/// Greatest length of a line or a game.
const LONGEST_BYTES: usize = 1 << 20;

/// Whether a file begins like printed text.
pub(crate) fn is_text(_: &Path, start: &[u8]) -> bool {
    if start.contains(&0) {
        return false;
    }
    let text = encodings::text(start);
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(fields::begins_game)
}

/// Opens a file of printed games.
///
/// # Errors
///
/// The file cannot be read.
pub(crate) fn open(named: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let path = named.path();
    let file = named.reader().map_err(|error| Error::io(path, error))?;
    Ok(Box::new(TextSource {
        name: path.display().to_string().into(),
        text: BufReader::with_capacity(64 << 10, file),
        line: 0,
        bytes_read: 0,
        next: GameText::default(),
        at_end: false,
        encoding: named.encoding().unwrap_or_default(),
    }))
}

/// The lines of a game.
#[derive(Default)]
struct GameText {
    line: u64,
    text: String,
    has_moves: bool,
}

struct TextSource {
    name: Arc<str>,
    text: BufReader<FileReader>,
    /// Number of lines read.
    line: u64,
    bytes_read: u64,
    /// The game whose lines are being collected.
    next: GameText,
    at_end: bool,
    encoding: TextEncoding,
}

impl TextSource {
    fn next_game_text(&mut self) -> Result<Option<GameText>, Error> {
        while !self.at_end {
            let mut bytes = Vec::new();
            let mut line = self.text.by_ref().take(LONGEST_BYTES as u64);
            line.read_until(b'\n', &mut bytes)
                .map_err(|error| Error::io(Path::new(&*self.name), error))?;
            if bytes.is_empty() {
                self.at_end = true;
                break;
            }
            self.bytes_read += bytes.len() as u64;
            self.line += 1;
            let line = self.encoding.text(&bytes);
            let line = line.trim_end();
            let begins = self.next.has_moves && fields::begins_game(line);
            let full = self.next.text.len() > LONGEST_BYTES;
            let before = (begins || full).then(|| std::mem::take(&mut self.next));
            if self.next.text.is_empty() {
                self.next.line = self.line;
            }
            if !line.trim().is_empty() {
                self.next.has_moves |= fields::fields(line).is_empty();
                self.next.text.push_str(line);
                self.next.text.push('\n');
            }
            if before.is_some() {
                return Ok(before);
            }
        }
        let last = std::mem::take(&mut self.next);
        Ok(Some(last).filter(|game_text| !game_text.text.is_empty()))
    }
}

impl GameSource for TextSource {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        let mut texts = Vec::new();
        while texts.len() < BATCH_GAMES
            && let Some(game_text) = self.next_game_text()?
        {
            texts.push(game_text);
        }
        if texts.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(TextBatch {
            name: self.name.clone(),
            texts: texts.into_iter(),
            line: 0,
        })))
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}

struct TextBatch {
    name: Arc<str>,
    texts: std::vec::IntoIter<GameText>,
    /// Line at which the last game begins.
    line: u64,
}

impl GameBatch for TextBatch {
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
        let Some(game_text) = self.texts.next() else {
            return Ok(false);
        };
        self.line = game_text.line;
        game.clear();
        let mut moves = String::new();
        let mut info = Vec::new();
        // Title and Elo belong to the player before them.
        let mut black = false;
        for line in game_text.text.lines() {
            let fields = fields::fields(line);
            if fields.is_empty() {
                moves.push_str(line);
                moves.push('\n');
            }
            for (name, value) in fields {
                black = match name {
                    "White" => false,
                    "Black" => true,
                    _ => black,
                };
                if name == "Info" {
                    info.push(value);
                } else {
                    set(name, value, black, wanted, game);
                }
            }
        }
        let mut recorder = Recorder::new(wanted, game);
        let result = movetext::read(&moves, &mut recorder);
        recorder.finish();
        for text in info {
            recorder.comment(text);
        }
        drop(recorder);
        if let Some(result) = result {
            game.result = result;
        }
        Ok(true)
    }

    fn source(&self) -> &str {
        &self.name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Line(self.line)
    }
}

fn set(name: &str, value: &str, black: bool, wanted: GameParts, game: &mut Game) {
    let (elo, title) = match black {
        false => (&mut game.elo.white, "WhiteTitle"),
        true => (&mut game.elo.black, "BlackTitle"),
    };
    match name {
        "White" => value.clone_into(&mut game.names.white),
        "Black" => value.clone_into(&mut game.names.black),
        "Elo" => *elo = value.parse().ok().filter(|elo| *elo < 10_000).unwrap_or(0),
        "Year" => {
            game.year = value
                .parse()
                .ok()
                .filter(|year| *year < 10_000)
                .unwrap_or(0)
        }
        "Result" => game.result = GameResult::from_pgn(value.as_bytes()),
        _ => {}
    }
    if !wanted.tags() || value.is_empty() {
        return;
    }
    match name {
        // PGN writes GM.
        "Title" => game
            .tags
            .set(title, if value == "IGM" { "GM" } else { value }),
        "Place" => game.tags.set("Site", value),
        "Round" => game.tags.set("Round", value),
        "Keycode" => game.tags.set("NIC", value),
        "Source" => game.tags.set("Source", value),
        "Annotator" => game.tags.set("Annotator", value),
        "Year" if game.year > 0 => game.tags.set("Date", format!("{:04}.??.??", game.year)),
        _ => {}
    }
}
