//! Parses the text of one game into a [`Game`].

use std::ops::ControlFlow::{self, Break, Continue};

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move};

use super::language::Language;
use super::tags::{month, note_tag, number, text_of, year};
use super::tokens::{Tag, Token, Tokens, is_numbered, result_at};
use crate::legal::resolve;
use crate::{Game, GameFilter, GameParts, GameResult, Recorder, SkipReason, encodings};

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

fn is_chess960(variant: &str) -> bool {
    let mut names = CHESS960.iter();
    names.any(|name| variant.trim().eq_ignore_ascii_case(name))
}

/// A parser for a text.
#[derive(Default)]
pub(super) struct Parser {
    /// Offset of the text not read yet.
    at: usize,
    /// Offset of the last game.
    pub(super) game_start: usize,
    /// What is odd about the last game.
    pub(super) odd: Irregularities,
}

/// What is odd about a game without preventing its use.
#[derive(Clone, Copy, Default)]
pub(super) struct Irregularities {
    /// Its result tag contradicts the result after its moves.
    pub(super) result: bool,
    /// A comment contains what looks like the tags of a game.
    pub(super) comment: bool,
}

/// The result of parsing a game.
pub(super) enum Ending {
    /// A usable game; with notes, it may end at a move that cannot be played. The offset
    /// is that of a comment without an end, at which it is cut off.
    Game(Option<Broken>, Option<usize>),
    /// The game must be skipped.
    Skip(SkipReason),
    /// A move cannot be played.
    Move(Broken),
    /// The text is not a game.
    NoGame,
}

/// A move that cannot be played.
pub(super) struct Broken {
    /// Its number, as in `12...`.
    pub(super) number: String,
    pub(super) word: String,
    /// Its offset in bytes.
    pub(super) at: usize,
    pub(super) error: MoveError,
    in_main_line: bool,
}

impl Ending {
    /// Ply where the main line breaks off.
    fn main_break(&self) -> Option<usize> {
        match self {
            Ending::Game(Some(broken), _) | Ending::Move(broken) => {
                broken.in_main_line.then_some(broken.at)
            }
            _ => None,
        }
    }
}

impl Parser {
    /// Parses the next game; `None` at the end of `text`.
    pub(super) fn next(
        &mut self,
        text: &[u8],
        language: &Language,
        wanted: GameParts,
        filter: Option<&GameFilter>,
        game: &mut Game,
    ) -> Option<Ending> {
        self.odd = Irregularities::default();
        loop {
            let mut tokens = Tokens::new(text, self.at);
            if !tokens.go_to_game() {
                return None;
            }
            let start = tokens.at();
            self.game_start = start;
            let mut read = |letters| {
                let mut tokens = Tokens::new(text, start);
                let (ending, odd) = Visit::new(wanted, filter, letters, game).game(&mut tokens);
                (ending, tokens.at(), odd)
            };
            let mut found = read(Letters::ENGLISH);
            if let Some(at) = found.0.main_break() {
                let letters = language.for_game(text, start);
                // If a game is illegal in every language, that of the file is used.
                let letters = letters.or_else(|| language.for_file());
                if let Some(letters) = letters {
                    let other = read(letters);
                    let is_better = other.0.main_break().is_none_or(|other| other > at);
                    found = match is_better {
                        true => other,
                        false => read(Letters::ENGLISH),
                    };
                }
            }
            let (ending, odd);
            (ending, self.at, odd) = found;
            if !matches!(ending, Ending::NoGame) {
                self.odd = odd;
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
    let (ending, _) = Visit::new(wanted, None, letters, &mut game).game(&mut tokens);
    matches!(ending, Ending::Game(..)).then_some(game.moves)
}

/// Why reading of a game stops.
enum Stop {
    /// No later part is needed, or a comment has no end.
    Enough,
    Skip(SkipReason),
    Move(Broken),
    /// The text here is prose.
    NoGame,
}

/// The tags with a date. The last one in this order counts, whatever the order in the
/// text is.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum DateTag {
    #[default]
    None,
    EventDate,
    Year,
    UtcDate,
    Date,
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
    /// Whether a tag states the result.
    has_result: bool,
    /// The first known result after the moves.
    movetext_result: Option<GameResult>,
    /// Whether the result followed the moves: then the game is over.
    is_over: bool,
    fen: Option<Fen>,
    /// An invalid FEN.
    bad_fen: Option<String>,
    variant: String,
    /// Which tag states the date.
    date: DateTag,
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
            movetext_result: None,
            is_over: false,
            fen: None,
            bad_fen: None,
            variant: String::new(),
            date: DateTag::None,
            broken: None,
        }
    }

    /// Sets the game up from FEN and Variant.
    fn set_up(&mut self) -> Result<(), SkipReason> {
        let mut chess960 = false;
        // Fast path: few games have one.
        if !self.variant.is_empty() {
            let variant = self.variant.trim().to_ascii_lowercase();
            chess960 = is_chess960(&variant);
            if !chess960 && !ORDINARY.contains(&variant.as_str()) {
                return Err(SkipReason::Variant(self.variant.trim().to_owned()));
            }
        }
        if let Some(text) = self.bad_fen.take() {
            return Err(SkipReason::Position(format!("not a FEN: {text}")));
        }
        let game = self.recorder.game();
        let Some(fen) = self.fen.take() else {
            game.chess960 = chess960;
            return Ok(());
        };
        let setup = fen.into_setup();
        chess960 |= CastlingMode::detect(&setup).is_chess960();
        let mode = CastlingMode::from_chess960(chess960);
        let position = notation::position_of(setup, mode)?;
        game.chess960 = chess960;
        if position != Chess::default() {
            game.set_up = true;
            self.recorder.start_from(position);
        }
        Ok(())
    }

    /// Reads the game, to its end or until it must stop.
    fn game(mut self, tokens: &mut Tokens<'_>) -> (Ending, Irregularities) {
        let read = self.read(tokens);
        if read.is_break() {
            tokens.skip_movetext();
            self.result(tokens.skipped_result());
        }
        let tag_result = self.recorder.game().result;
        let odd = Irregularities {
            result: self
                .movetext_result
                .is_some_and(|result| result != tag_result),
            comment: tokens.has_tags_in_comment(),
        };
        let ending = match read {
            Break(Stop::Skip(reason)) => Ending::Skip(reason),
            Break(Stop::Move(broken)) => Ending::Move(broken),
            Break(Stop::NoGame) => Ending::NoGame,
            _ if self.is_game || tokens.unclosed().is_some() => {
                self.recorder.finish();
                let broken = self.broken.take().filter(|_| self.wanted.notes);
                Ending::Game(broken, tokens.unclosed())
            }
            _ => Ending::NoGame,
        };
        (ending, odd)
    }

    /// Uses the result after the moves, if no tag states one.
    fn result(&mut self, result: Option<GameResult>) {
        let known = result.filter(|result| *result != GameResult::Unknown);
        let Some(result) = known.filter(|_| self.movetext_result.is_none()) else {
            return;
        };
        self.movetext_result = Some(result);
        if !self.has_result {
            self.recorder.game().result = result;
        }
    }

    fn read(&mut self, tokens: &mut Tokens<'_>) -> ControlFlow<Stop> {
        let is_numbered = is_numbered(tokens.rest());
        let is_english = std::ptr::eq(self.letters, Letters::ENGLISH);
        while let Some(tag) = tokens.next_tag() {
            self.tag(tag);
        }
        if let Err(reason) = self.set_up() {
            return Break(Stop::Skip(reason));
        }
        // If no tag states it, the result comes after the moves.
        if let Some(filter) = self.filter
            && self.has_result
            && !filter.admits_tags(self.recorder.game())
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
                Token::Begin => {
                    tokens.skip_variation();
                    if tokens.unclosed().is_some() {
                        return Break(Stop::Enough);
                    }
                }
                Token::End => self.recorder.end_variation(),
                Token::Result(result) => {
                    if self.recorder.is_main_line() {
                        self.is_over = true;
                        self.result(Some(result));
                    }
                }
                Token::Comment(_) | Token::LineComment(_) | Token::Unclosed => self.note(token)?,
            }
        }
        Continue(())
    }

    fn note(&mut self, note: Token<'_>) -> ControlFlow<Stop> {
        match note {
            Token::Unclosed => return Break(Stop::Enough),
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
                false => self.broken(tokens, &word, MoveError::Illegal),
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
            Err(error) => self.broken(tokens, &word, error),
        }
    }

    /// Ends the line at a move that cannot be played, and the game if it is the main
    /// line.
    fn broken(&mut self, tokens: &Tokens<'_>, word: &str, error: MoveError) -> ControlFlow<Stop> {
        let in_main_line = self.recorder.is_main_line();
        let broken = Broken {
            number: self.recorder.move_number(),
            word: word.chars().take(40).collect(),
            at: tokens.start(),
            error,
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

    fn tag(&mut self, Tag { name, value, .. }: Tag<'_>) {
        self.is_game = true;
        let game = self.recorder.game();
        if self.wanted.tags() {
            let name = usual_name(name);
            let is_head = || matches!(name, b"Event" | b"Site" | b"Date" | b"UTCDate" | b"Round");
            if self.wanted.notes || is_head() {
                note_tag(&mut game.tags, name, value);
            }
        }
        self.meaning(name, value);
    }

    fn meaning(&mut self, name: &[u8], value: &[u8]) {
        let game = self.recorder.game();
        match name {
            b"White" => text_of(value, &mut game.names.white),
            b"Black" => text_of(value, &mut game.names.black),
            b"WhiteElo" => game.elo.white = number(value),
            b"BlackElo" => game.elo.black = number(value),
            b"Date" => self.date(DateTag::Date, value),
            b"UTCDate" => self.date(DateTag::UtcDate, value),
            b"Year" => self.date(DateTag::Year, value),
            b"EventDate" => self.date(DateTag::EventDate, value),
            b"ECO" => {
                if let Some(code) = value.first_chunk::<3>() {
                    game.eco = code.map(|byte| byte.to_ascii_uppercase());
                }
            }
            b"Result" => {
                game.result = result_of(value.trim_ascii());
                self.has_result = game.result != GameResult::Unknown;
            }
            b"FEN" => match Fen::from_ascii(value.trim_ascii()) {
                Ok(fen) => self.fen = Some(fen),
                Err(error) => self.bad_fen = Some(error.to_string()),
            },
            b"Variant" => {
                text_of(value, &mut self.variant);
                // That of Chess960 is stored in the game.
                if self.wanted.notes && !is_chess960(&self.variant) {
                    game.tags.set_known("Variant", self.variant.as_str());
                }
            }
            name => {
                game.conditions.read_tag(name, value);
                let usual = usual_name(name);
                if usual != name {
                    self.meaning(usual, value);
                }
            }
        }
    }

    fn date(&mut self, tag: DateTag, value: &[u8]) {
        let Some(year) = year(value).filter(|_| tag >= self.date) else {
            return;
        };
        self.date = tag;
        let game = self.recorder.game();
        game.year = year;
        game.month = match tag {
            DateTag::Date | DateTag::UtcDate => month(value),
            // That of the event, not of the game.
            _ => 0,
        };
    }
}

/// The result that a tag states.
fn result_of(value: &[u8]) -> GameResult {
    match GameResult::from_pgn(value) {
        GameResult::Unknown => match result_at(value) {
            Some((result, length)) if length == value.len() => result,
            _ => GameResult::Unknown,
        },
        known => known,
    }
}

/// The name of a tag in the usual case: some programs write `[WHITE "x"]`.
fn usual_name(name: &[u8]) -> &[u8] {
    // By the length, because most names have no meaning here.
    let names: &[&[u8]] = match name.len() {
        3 => &[b"ECO", b"FEN"],
        4 => &[b"Date", b"Site", b"Year"],
        5 => &[b"White", b"Black", b"Event", b"Round", b"SetUp"],
        6 => &[b"Result"],
        7 => &[b"UTCDate", b"UTCTime", b"Variant"],
        8 => &[b"WhiteElo", b"BlackElo"],
        9 => &[b"EventDate"],
        10 => &[b"WhiteTitle", b"BlackTitle"],
        11 => &[b"TimeControl", b"Termination"],
        _ => &[],
    };
    let mut names = names.iter();
    let found = names.find(|known| known.eq_ignore_ascii_case(name));
    found.copied().unwrap_or(name)
}
