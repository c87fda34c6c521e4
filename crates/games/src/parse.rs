//! Parses the text of one game into a [`Game`].

use std::ops::ControlFlow::{self, Break, Continue};

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move};

use super::language::Language;
use super::pgn_text::{month, note_tag, number, text_of, year};
use super::san::resolve;
use super::tokens::{Tag, Token, Tokens, is_numbered};
use super::{Game, GameFilter, GameParts, GameResult, Recorder, SkipReason, encodings};

use tabia_notation::{self as notation, Letters, MoveError};

/// Values of the `Variant` tag that mean standard chess.
const ORDINARY: [&str; 5] = ["", "standard", "chess", "normal", "from position"];

/// Values of the `Variant` tag that mean Chess960.
const CHESS960: [&str; 6] = [
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerrandom",
    "fischer random",
    "freestyle",
];

/// A parser for a piece of text, which usually contains one game.
#[derive(Default)]
pub(super) struct Parser {
    /// Offset of the text not read yet.
    at: usize,
    end: usize,
    /// Offset of the last game.
    pub(super) game_start: usize,
}

/// The result of parsing a game.
pub(super) enum Ending {
    /// A usable game; with notes, it may end at a move that cannot be played.
    Game(Option<Broken>),
    /// The game must be skipped.
    Skip(SkipReason),
    /// A move cannot be played.
    Move(Broken),
    /// The text is no game.
    NoGame,
}

/// A move that cannot be played.
pub(super) struct Broken {
    /// Its number, as in `12...`.
    pub(super) number: String,
    pub(super) word: String,
    /// Its offset in bytes.
    pub(super) at: usize,
    /// Whether it has the form of a move.
    pub(super) is_move: bool,
    in_main_line: bool,
}

impl Ending {
    /// Ply where the main line breaks off.
    fn main_break(&self) -> Option<usize> {
        match self {
            Ending::Game(Some(broken)) | Ending::Move(broken) => {
                broken.in_main_line.then_some(broken.at)
            }
            _ => None,
        }
    }
}

impl Parser {
    /// Continues with a piece of the text.
    pub(super) fn go_on(&mut self, start: usize, end: usize) {
        *self = Parser {
            at: start,
            end,
            game_start: start,
        };
    }

    /// Parses the next game; `None` at the end of the piece of `text`.
    pub(super) fn next(
        &mut self,
        text: &[u8],
        language: &Language,
        wanted: GameParts,
        filter: Option<&GameFilter>,
        game: &mut Game,
    ) -> Option<Ending> {
        let text = text.get(..self.end).unwrap_or(text);
        loop {
            let mut tokens = Tokens::new(text, self.at);
            if !tokens.go_to_game() {
                return None;
            }
            let start = tokens.at();
            self.game_start = start;
            let mut read = |letters| {
                let mut tokens = Tokens::new(text, start);
                let ending = Visit::new(wanted, filter, letters, game).game(&mut tokens);
                (ending, tokens.at())
            };
            let (mut ending, mut next) = read(Letters::ENGLISH);
            if let Some(at) = ending.main_break() {
                let found = language.of_game(text, start);
                // If a game is illegal in every language, that of the file is used.
                let letters = found.or_else(|| language.of_file());
                if let Some(letters) = letters {
                    let other = read(letters);
                    let is_better = other.0.main_break().is_none_or(|other| other > at);
                    (ending, next) = match is_better {
                        true => other,
                        false => read(Letters::ENGLISH),
                    };
                }
            }
            self.at = next;
            if !matches!(ending, Ending::NoGame) {
                return Some(ending);
            }
        }
    }
}

/// The main line of the game at an offset, read in a language; `None` if not all of it
/// is legal.
pub(super) fn main_line(text: &[u8], at: usize, letters: &'static Letters) -> Option<Vec<Move>> {
    let mut game = Game::default();
    let mut tokens = Tokens::new(text, at);
    let wanted = GameParts::default();
    let ending = Visit::new(wanted, None, letters, &mut game).game(&mut tokens);
    matches!(ending, Ending::Game(_)).then_some(game.moves)
}

/// Why reading of a game stops.
enum Stop {
    /// No later part is needed.
    Enough,
    Skip(SkipReason),
    Move(Broken),
    /// The text here is prose.
    NoGame,
    /// A comment has no end.
    Unclosed,
}

struct Visit<'a> {
    recorder: Recorder<'a>,
    wanted: GameParts,
    /// Which games are of use.
    filter: Option<&'a GameFilter>,
    /// The piece letters of the language.
    letters: &'static Letters,
    /// Whether there was anything except white space.
    is_game: bool,
    has_result: bool,
    /// Whether the result followed the moves: then the game is over.
    is_over: bool,
    fen: Option<Fen>,
    /// An invalid FEN.
    bad_fen: Option<String>,
    variant: String,
    /// The first move that cannot be played. With notes it ends its line, even the main
    /// one, to save the readable part. A book counts a game only if all requested moves
    /// are legal.
    broken: Option<Broken>,
}

impl<'a> Visit<'a> {
    fn new(
        wanted: GameParts,
        filter: Option<&'a GameFilter>,
        letters: &'static Letters,
        game: &'a mut Game,
    ) -> Visit<'a> {
        game.clear();
        Visit {
            recorder: Recorder::new(wanted, game),
            wanted,
            filter,
            letters,
            is_game: false,
            has_result: false,
            is_over: false,
            fen: None,
            bad_fen: None,
            variant: String::new(),
            broken: None,
        }
    }

    /// Sets the game up from FEN and Variant.
    fn set_up(&mut self) -> Result<(), SkipReason> {
        let mut chess960 = false;
        // Fast path: few games have one.
        if !self.variant.is_empty() {
            let variant = self.variant.trim().to_ascii_lowercase();
            chess960 = CHESS960.contains(&variant.as_str());
            if !chess960 && !ORDINARY.contains(&variant.as_str()) {
                return Err(SkipReason::Variant(self.variant.trim().to_owned()));
            }
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
            self.recorder.start_from(position);
        }
        Ok(())
    }

    /// Reads the game, to its end or until it must stop.
    fn game(mut self, tokens: &mut Tokens<'_>) -> Ending {
        match self.read(tokens) {
            Continue(()) => {}
            Break(stop) => {
                tokens.skip_movetext();
                match stop {
                    Stop::Enough => {}
                    Stop::Skip(reason) => return Ending::Skip(reason),
                    Stop::Move(broken) => return Ending::Move(broken),
                    Stop::NoGame => return Ending::NoGame,
                    Stop::Unclosed => {
                        return Ending::Skip(SkipReason::text("unterminated comment"));
                    }
                }
            }
        }
        match self.is_game {
            true => Ending::Game(self.broken.take().filter(|_| self.wanted.notes)),
            false => Ending::NoGame,
        }
    }

    fn read(&mut self, tokens: &mut Tokens<'_>) -> ControlFlow<Stop> {
        let is_numbered = is_numbered(tokens.rest());
        let is_english = std::ptr::eq(self.letters, Letters::ENGLISH);
        let (mut first, mut is_gap) = (None, false);
        while let Some(tag) = tokens.next_tag(first, &mut is_gap) {
            first.get_or_insert(tag.name);
            self.tag(tag);
        }
        if let Err(reason) = self.set_up() {
            return Break(Stop::Skip(reason));
        }
        // If no tag states it, the result comes after the moves.
        if let Some(filter) = self.filter
            && self.has_result
            && !filter.admits(self.recorder.game())
        {
            return Break(Stop::Enough);
        }
        for note in tokens.notes() {
            self.note(note)?;
        }
        while let Some(token) = tokens.next() {
            match token {
                Token::Move(san) if is_english => {
                    let at = self.recorder.position();
                    match at.and_then(|position| resolve(san, position)) {
                        Some(m) => {
                            self.is_game = true;
                            self.recorder.play(m);
                        }
                        None => self.word(tokens, is_numbered)?,
                    }
                }
                Token::Move(_) | Token::Word(_) => self.word(tokens, is_numbered)?,
                Token::Nag(nag) => self.recorder.nag(nag),
                Token::Begin if self.recorder.wants_variations() => {
                    self.recorder.begin_variation();
                }
                Token::Begin => tokens.skip_variation(),
                Token::End => self.recorder.end_variation(),
                Token::Result(result) => {
                    if self.recorder.is_main_line() {
                        self.is_over = true;
                        if !self.has_result {
                            self.recorder.game().result = result;
                        }
                    }
                }
                Token::Comment(_) | Token::LineComment(_) | Token::Unclosed => self.note(token)?,
            }
        }
        self.recorder.finish();
        Continue(())
    }

    fn note(&mut self, note: Token<'_>) -> ControlFlow<Stop> {
        match note {
            Token::Unclosed => return Break(Stop::Unclosed),
            Token::Comment(text) if self.wanted.notes => self.comment(text),
            Token::LineComment(text) if self.wanted.notes => {
                // Comments are written in braces, so they must not contain any.
                let in_braces = |&byte: &u8| match byte {
                    b'{' => b'(',
                    b'}' => b')',
                    byte => byte,
                };
                self.comment(&text.iter().map(in_braces).collect::<Vec<u8>>());
            }
            _ => {}
        }
        Continue(())
    }

    fn comment(&mut self, text: &[u8]) {
        // Line breaks are preserved: the PGN writer breaks lines anew, and databases
        // store them unchanged.
        let text = encodings::text(text.trim_ascii());
        if !text.is_empty() {
            self.is_game = true;
            self.recorder.comment(text);
        }
    }

    /// Reads a word that is not a plain PGN move, or skips a sign.
    #[cold]
    fn word(&mut self, tokens: &Tokens<'_>, is_numbered: bool) -> ControlFlow<Stop> {
        let Some(position) = self.recorder.position() else {
            // The line was abandoned or is not needed any more. The result may still
            // follow at the end.
            if self.recorder.is_main_line() && self.has_result {
                return Break(Stop::Enough);
            }
            self.recorder.drop_line();
            return Continue(());
        };
        let word = encodings::text(tokens.last());
        if notation::is_null(word.trim_end_matches(['+', '#'])) {
            self.is_game = true;
            return match self.recorder.play_null() {
                true => Continue(()),
                false => self.broken(tokens, &word, true),
            };
        }
        if notation::is_noise(&word) {
            if let Some(nag) = notation::nag(&word) {
                self.recorder.nag(nag);
            }
            return Continue(());
        }
        match notation::read_move_in(position, &word, self.letters) {
            Ok(m) => {
                self.is_game = true;
                self.recorder.play(m);
                for nag in notation::trailing_annotations(&word) {
                    self.recorder.nag(nag);
                }
                Continue(())
            }
            // Words after the result belong to no game.
            Err(_) if self.is_over && self.recorder.is_main_line() => Continue(()),
            Err(_) if !self.is_game && !is_numbered => Break(Stop::NoGame),
            Err(error) => self.broken(tokens, &word, error != MoveError::Syntax),
        }
    }

    /// Ends the line at a move that cannot be played, and the game if it is the main
    /// line.
    fn broken(&mut self, tokens: &Tokens<'_>, word: &str, is_move: bool) -> ControlFlow<Stop> {
        let in_main_line = self.recorder.is_main_line();
        let broken = Broken {
            number: self.recorder.move_number(),
            word: word.chars().take(40).collect(),
            at: tokens.start(),
            is_move,
            in_main_line,
        };
        if !self.wanted.notes && in_main_line {
            return Break(Stop::Move(broken));
        }
        // A broken main line is the most useful message.
        if self.broken.is_none() || in_main_line {
            self.broken = Some(broken);
        }
        self.recorder.drop_line();
        Continue(())
    }

    fn tag(&mut self, Tag { name, value }: Tag<'_>) {
        self.is_game = true;
        let game = self.recorder.game();
        let is_head = || matches!(name, b"Event" | b"Site" | b"Date" | b"UTCDate" | b"Round");
        if self.wanted.notes || self.wanted.headers && is_head() {
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
            name => game.conditions.read_tag(name, value),
        }
    }
}
