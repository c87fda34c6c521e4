//! One game's text into a [`Game`].

use std::ops::ControlFlow::{self, Break, Continue};

use shakmaty::fen::Fen;
use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingMode, Chess};

use super::san::resolve;
use super::tokens::{Tag, Token, Tokens, Unclosed};
use super::{Filter, Game, GameResult, Recorder, SkipReason, Tags, Wanted};

use crate::notation;

/// Names in a `Variant` tag that mean ordinary chess.
const ORDINARY: [&str; 5] = ["", "standard", "chess", "normal", "from position"];

/// Names in a `Variant` tag that mean Chess960.
const CHESS960: [&str; 6] = [
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerrandom",
    "fischer random",
    "freestyle",
];

/// The games of a stretch of text: usually one.
#[derive(Default)]
pub(super) struct Parser {
    /// What is left of it.
    at: usize,
    end: usize,
    game_start: usize,
    /// Whether movetext of the game that came last stands there.
    is_inside: bool,
}

/// How the reading of a game ended.
pub(super) enum Ending {
    /// It can be used.
    Game,
    /// It cannot.
    Skip(SkipReason),
    /// A move is impossible; it stands before byte `at`.
    Move {
        number: String,
        san: String,
        at: usize,
    },
}

impl Parser {
    /// Goes on to a stretch.
    pub(super) fn go_on(&mut self, start: usize, end: usize) {
        *self = Parser {
            at: start,
            end,
            game_start: start,
            is_inside: false,
        };
    }

    /// The next game; `None` at the end of the stretch of `text`.
    pub(super) fn next(
        &mut self,
        text: &[u8],
        wanted: Wanted,
        filter: Option<&Filter>,
        game: &mut Game,
    ) -> Option<Ending> {
        let mut tokens = Tokens::new(text.get(..self.end).unwrap_or(text), self.at);
        let ending = self.read(&mut tokens, wanted, filter, game);
        self.at = tokens.at();
        ending
    }

    fn read(
        &mut self,
        tokens: &mut Tokens<'_>,
        wanted: Wanted,
        filter: Option<&Filter>,
        game: &mut Game,
    ) -> Option<Ending> {
        loop {
            // What is unclosed in the game before ends with the text.
            if std::mem::take(&mut self.is_inside) {
                tokens.skip_movetext();
            }
            if !tokens.has_more() {
                return None;
            }
            self.game_start = tokens.at();
            let mut visit = Visit::new(wanted, filter, game);
            match visit.game(tokens) {
                Continue(()) => {}
                Break(Stop::Enough) => self.is_inside = true,
                Break(Stop::Skip(reason)) => {
                    self.is_inside = true;
                    return Some(Ending::Skip(reason));
                }
                Break(Stop::Move { number, san }) => {
                    self.is_inside = true;
                    let at = tokens.at();
                    return Some(Ending::Move { number, san, at });
                }
                Break(Stop::Unclosed(fault)) => {
                    return Some(Ending::Skip(SkipReason::Text(fault.to_string())));
                }
            }
            if visit.is_game {
                let broken = visit.broken.filter(|_| wanted.notes);
                if let Some(Broken { number, san }) = broken {
                    let text = format!("move {number} is impossible: {san}");
                    game.cut = Some(SkipReason::Text(text));
                }
                return Some(Ending::Game);
            }
        }
    }

    /// Where the game that came last begins.
    pub(super) fn game_start(&self) -> usize {
        self.game_start
    }
}

/// Why a game is not read on.
enum Stop {
    /// Nothing that follows is wanted.
    Enough,
    Skip(SkipReason),
    Move {
        number: String,
        san: String,
    },
    Unclosed(Unclosed),
}

struct Visit<'a> {
    recorder: Recorder<'a>,
    wanted: Wanted,
    /// Which games are of use.
    filter: Option<&'a Filter>,
    /// Whether there was anything but empty space.
    is_game: bool,
    has_result: bool,
    fen: Option<Fen>,
    /// A FEN that is none.
    bad_fen: Option<String>,
    variant: String,
    /// The first move that cannot be. With notes, it ends its line, even the
    /// main one: what can be read of a game is worth keeping. No game counts in
    /// a book that is not sound to the last move wanted.
    broken: Option<Broken>,
}

/// A move that cannot be.
struct Broken {
    number: String,
    san: String,
}

impl<'a> Visit<'a> {
    fn new(wanted: Wanted, filter: Option<&'a Filter>, game: &'a mut Game) -> Visit<'a> {
        game.clear();
        Visit {
            recorder: Recorder::new(wanted, game),
            wanted,
            filter,
            is_game: false,
            has_result: false,
            fen: None,
            bad_fen: None,
            variant: String::new(),
            broken: None,
        }
    }

    /// Sets the game up as FEN and Variant say.
    fn set_up(&mut self) -> Result<(), SkipReason> {
        let variant = self.variant.trim().to_ascii_lowercase();
        let mut chess960 = CHESS960.contains(&variant.as_str());
        if !chess960 && !ORDINARY.contains(&variant.as_str()) {
            return Err(SkipReason::Variant(self.variant.trim().to_owned()));
        }
        if let Some(text) = self.bad_fen.take() {
            return Err(SkipReason::Position(format!("no FEN: {text}")));
        }
        let game = self.recorder.game();
        let Some(fen) = self.fen.take() else {
            game.chess960 = chess960;
            return Ok(());
        };
        let setup = fen.into_setup();
        chess960 |= CastlingMode::detect(&setup).is_chess960();
        let mode = CastlingMode::from_chess960(chess960);
        let position = notation::position_of(setup, mode).map_err(SkipReason::Position)?;
        game.chess960 = chess960;
        if position != Chess::default() {
            game.set_up = true;
            game.start_from(position);
        }
        Ok(())
    }

    /// Remembers the first move that cannot be.
    fn note_broken(&mut self, san: San) {
        if self.recorder.position().is_some() {
            self.broken.get_or_insert_with(|| Broken {
                number: self.recorder.move_number(),
                san: san.to_string(),
            });
        }
    }
}

impl Visit<'_> {
    /// Reads the game that begins here.
    fn game(&mut self, tokens: &mut Tokens<'_>) -> ControlFlow<Stop> {
        loop {
            match tokens.next_tag() {
                Ok(Some(tag)) => self.tag(tag),
                Ok(None) => break,
                Err(fault) => return Break(Stop::Unclosed(fault)),
            }
        }
        if let Err(reason) = self.set_up() {
            return Break(Stop::Skip(reason));
        }
        // Without a tag the result comes behind the moves.
        if let Some(filter) = self.filter
            && self.has_result
            && !filter.admits(self.recorder.game())
        {
            return Break(Stop::Enough);
        }
        loop {
            match tokens.next() {
                Ok(Some(Token::San(san))) => self.san(san)?,
                Ok(Some(Token::Comment(text))) => self.comment(text),
                Ok(Some(Token::LineComment(text))) if self.wanted.notes => {
                    // In braces, as it is written again, it must hold none.
                    let in_braces = |&byte: &u8| match byte {
                        b'{' => b'(',
                        b'}' => b')',
                        byte => byte,
                    };
                    self.comment(&text.iter().map(in_braces).collect::<Vec<u8>>());
                }
                Ok(Some(Token::LineComment(_))) => {}
                Ok(Some(Token::Nag(nag))) => self.recorder.nag(nag),
                Ok(Some(Token::Begin)) if self.recorder.wants_variations() => {
                    self.recorder.begin_variation();
                }
                Ok(Some(Token::Begin)) => tokens.skip_variation(),
                Ok(Some(Token::End)) => self.recorder.end_variation(),
                Ok(Some(Token::Result(result))) => {
                    if !self.has_result && self.recorder.is_main_line() {
                        self.recorder.game().result = result;
                    }
                }
                Ok(None) => break,
                Err(fault) => return Break(Stop::Unclosed(fault)),
            }
        }
        self.recorder.finish();
        Continue(())
    }

    fn tag(&mut self, Tag { name, value }: Tag<'_>) {
        self.is_game = true;
        let game = self.recorder.game();
        let is_head = || matches!(name, b"Event" | b"Site" | b"Date" | b"UTCDate" | b"Round");
        if self.wanted.notes || self.wanted.heads && is_head() {
            note_tag(&mut game.tags, name, value);
        }
        match name {
            b"White" => text_of(value, &mut game.names.white),
            b"Black" => text_of(value, &mut game.names.black),
            b"WhiteElo" => game.elo.white = number(value),
            b"BlackElo" => game.elo.black = number(value),
            b"Date" => {
                if let Some(year) = year(value) {
                    (game.year, game.month) = (year, month(value));
                }
            }
            b"UTCDate" if game.year == 0 => {
                game.year = year(value).unwrap_or(0);
                game.month = month(value);
            }
            b"Year" | b"EventDate" if game.year == 0 => {
                game.year = year(value).unwrap_or(0);
            }
            b"ECO" => {
                if let Some(code) = value.first_chunk::<3>() {
                    game.eco = code.map(|byte| byte.to_ascii_uppercase());
                }
            }
            b"Result" => {
                let text = value.trim_ascii();
                game.result = GameResult::from_pgn(text);
                self.has_result = text == b"*" || game.result != GameResult::Unknown;
            }
            b"FEN" => match Fen::from_ascii(value.trim_ascii()) {
                Ok(fen) => self.fen = Some(fen),
                Err(error) => self.bad_fen = Some(error.to_string()),
            },
            b"Variant" => text_of(value, &mut self.variant),
            name => game.circumstances.hear(name, value),
        }
    }

    fn san(&mut self, san: SanPlus) -> ControlFlow<Stop> {
        self.is_game = true;
        if san.san == San::Null {
            if self.recorder.play_null().is_err() {
                return self.impossible(san);
            }
            return Continue(());
        }
        match self.recorder.position() {
            Some(position) => match resolve(san.san, position) {
                Some(m) => self.recorder.play(m),
                None => return self.impossible(san),
            },
            // A move that cannot be ends a variation, not the game.
            None if !self.recorder.is_main_line() => return self.impossible(san),
            None if self.has_result => return Break(Stop::Enough),
            // The result may still stand at the end.
            None => self.recorder.drop_line(),
        }
        Continue(())
    }

    fn comment(&mut self, text: &[u8]) {
        if self.wanted.notes {
            let text = comment_text(text);
            if !text.is_empty() {
                self.is_game = true;
                self.recorder.comment(text);
            }
        }
    }

    /// Ends the game at a move of the main line that cannot be.
    fn impossible(&mut self, san: SanPlus) -> ControlFlow<Stop> {
        if self.wanted.notes || !self.recorder.is_main_line() {
            self.note_broken(san.san);
            self.recorder.drop_line();
            return Continue(());
        }
        Break(Stop::Move {
            number: self.recorder.move_number(),
            san: san.to_string(),
        })
    }
}

/// Keeps a tag, word for word. The result, and what says that there is a
/// position, stand elsewhere.
fn note_tag(tags: &mut Tags, name: &[u8], value: &[u8]) {
    let Ok(name) = std::str::from_utf8(name.trim_ascii()) else {
        return;
    };
    if name.is_empty() || matches!(name, "Result" | "SetUp" | "FEN" | "Variant") {
        return;
    }
    let mut text = String::new();
    text_of(value, &mut text);
    tags.set(name, text);
}

/// A comment's text: UTF-8, or else Latin-1. Line breaks stay: who writes
/// text again breaks lines anew, and databases hold them as they are.
fn comment_text(bytes: &[u8]) -> String {
    let text = bytes.trim_ascii();
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// A tag's text: UTF-8, or else Latin-1.
fn text_of(value: &[u8], out: &mut String) {
    out.clear();
    match std::str::from_utf8(value) {
        Ok(text) if !text.contains('\\') => out.push_str(text),
        Ok(text) => unescape(text.chars(), out),
        Err(_) => unescape(value.iter().map(|&byte| char::from(byte)), out),
    }
}

/// `\"` and `\\` without the first backslash.
fn unescape(text: impl Iterator<Item = char>, out: &mut String) {
    let mut text = text.peekable();
    while let Some(c) = text.next() {
        let escaped = text.next_if(|&next| c == '\\' && matches!(next, '"' | '\\'));
        out.push(escaped.unwrap_or(c));
    }
}

/// A rating: digits, at most four; anything else is none.
fn number(bytes: &[u8]) -> u16 {
    let digits = bytes.trim_ascii();
    if digits.len() > 4 {
        return 0;
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

/// The year that a date begins with.
fn year(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.trim_ascii().get(..4)?;
    let year = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (year > 0).then_some(year)
}

/// The month of a date such as `2025.06.24`; 0 if it says none.
fn month(bytes: &[u8]) -> u8 {
    let digits = bytes.trim_ascii().get(5..7);
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    let month = digits.and_then(|digits| digits.parse().ok());
    month.filter(|month| (1..=12).contains(month)).unwrap_or(0)
}
