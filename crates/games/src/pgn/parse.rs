//! Parses the text of one game into a [`Game`].

use std::ops::ControlFlow::{self, Break, Continue};

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move, Position as _};

use super::language::Language;
use super::oddities::{Oddities, Oddity};
use super::tags::{
    fen_of, is_guessed, note_tag, number, text_of, with_plain_blanks, year_and_month,
};
use super::tokens::{Tag, Token, Tokens, is_numbered, result_at};
use crate::date::DateDoubt;
use crate::legal::resolve;
use crate::{Game, GameFilter, GameParts, GameResult, Recorder, SkipReason, encodings};

use tabia_notation::{self as notation, Letters, MoveError};

/// Values of the `Variant` tag that mean standard chess, with letters and digits only.
const ORDINARY: [&str; 11] = [
    "",
    "standard",
    "chess",
    "normal",
    "fromposition",
    "classical",
    "regular",
    "orthodox",
    "classicalchess",
    "regularchess",
    "standardchess",
];

/// Variants of the Free Internet Chess Server with ordinary rules and other first positions.
const WILD: [&str; 10] = [
    "wild0", "wild1", "wild2", "wild3", "wild4", "wild5", "wild6", "wild7", "wild8", "wild8a",
];

/// Values of the `Variant` tag that mean Chess960.
const CHESS960: [&str; 10] = [
    "chess960",
    "960",
    "fischerandom",
    "fischerrandom",
    "fischerandomchess",
    "fischerrandomchess",
    "freestyle",
    "freestylechess",
    "frc",
    "wildfr",
];

/// The name of a variant without signs and blanks, in small letters.
fn variant_name(variant: &str) -> String {
    let letters = variant.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn is_chess960(variant: &str) -> bool {
    CHESS960.contains(&variant_name(variant).as_str())
}

/// A parser for a text.
#[derive(Default)]
pub(super) struct Parser {
    /// Offset of the text not read yet.
    at: usize,
    /// Offset of the last game.
    pub(super) game_start: usize,
    /// What is odd about the last game.
    pub(super) odd: Oddities,
    /// Offsets of comments before it that belong to no game.
    pub(super) stray: Vec<usize>,
}

/// The result of parsing a game.
pub(super) enum Ending {
    /// A usable game. A variation or, with notes, the main line may end at a move that cannot
    /// be played. The offset is that of a comment without an end, at which it is cut off.
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
    /// Whether no text follows.
    pub(super) fn is_at_end(&self, text: &[u8]) -> bool {
        text.get(self.at..)
            .unwrap_or_default()
            .trim_ascii()
            .is_empty()
    }

    /// Parses the next game; `None` at the end of `text`.
    pub(super) fn next(
        &mut self,
        text: &[u8],
        language: &Language,
        wanted: GameParts,
        filter: Option<&GameFilter>,
        game: &mut Game,
    ) -> Option<Ending> {
        self.odd = Oddities::default();
        loop {
            let mut tokens = Tokens::new(text, self.at);
            if !tokens.go_to_game() {
                return None;
            }
            let start = tokens.at();
            self.game_start = start;
            let mut read = |letters, from| {
                let mut tokens = Tokens::new(text, start);
                let mut visit = Visit::new(wanted, filter, letters, game);
                visit.from = from;
                let (ending, odd) = visit.game(&mut tokens);
                (ending, tokens.at(), odd)
            };
            let mut found = read(Letters::ENGLISH, From::Fen);
            if found.0.main_break().is_some() && found.2.has(Oddity::UnusedFen) {
                let usual = read(Letters::ENGLISH, From::Start);
                match usual.0.main_break() {
                    None => found = usual,
                    Some(_) => found = read(Letters::ENGLISH, From::Fen),
                }
            }
            if let Some(at) = found.0.main_break() {
                let letters = language.for_game(text, start);
                // If a game is illegal in every language, that of the file is used.
                let letters = letters.or_else(|| language.for_file());
                if let Some(letters) = letters {
                    let other = read(letters, From::Fen);
                    let is_better = other.0.main_break().is_none_or(|other| other > at);
                    found = match is_better {
                        true => other,
                        false => read(Letters::ENGLISH, From::Fen),
                    };
                }
            }
            let (ending, odd);
            (ending, self.at, odd) = found;
            if !matches!(ending, Ending::NoGame) {
                self.odd = odd;
                return Some(ending);
            }
            if odd.has(Oddity::Stray) {
                self.stray.push(start);
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

/// Where a game begins whose tags contradict each other: `SetUp "0"` with a FEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Fen,
    Start,
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
    /// Whether a tag says that both have lost: `0-0`, which is castling among moves.
    is_lost_by_both: bool,
    /// The first known result after the moves.
    movetext_result: Option<GameResult>,
    /// Whether the result followed the moves: then the game is over.
    is_over: bool,
    fen: Option<Fen>,
    /// An invalid FEN.
    bad_fen: Option<String>,
    /// Whether the tag `SetUp` says that there is none.
    is_not_set_up: bool,
    from: From,
    variant: String,
    /// Which tag states the date.
    date: DateTag,
    /// The first move that cannot be played. With notes it ends its line, even the main
    /// one, to save the readable part. A book counts a game only if all requested moves
    /// are legal.
    broken: Option<Broken>,
    /// A king's illegal move to the centre: if no other move follows, boards of DGT have
    /// recorded the end of the game so.
    kings: Option<Broken>,
    /// Whether there is a comment outside variations.
    has_comment: bool,
    odd: Oddities,
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
            is_lost_by_both: false,
            movetext_result: None,
            is_over: false,
            fen: None,
            bad_fen: None,
            is_not_set_up: false,
            from: From::Fen,
            variant: String::new(),
            date: DateTag::None,
            broken: None,
            kings: None,
            has_comment: false,
            odd: Oddities::default(),
        }
    }

    /// Sets the game up from FEN and Variant.
    fn set_up(&mut self) -> Result<(), SkipReason> {
        let mut chess960 = false;
        // Fast path: few games have one.
        if !self.variant.is_empty() {
            let variant = variant_name(&self.variant);
            let variant = variant.as_str();
            chess960 = CHESS960.contains(&variant);
            if !(chess960 || ORDINARY.contains(&variant) || WILD.contains(&variant)) {
                return Err(SkipReason::Variant(self.variant.trim().to_owned()));
            }
        }
        if self.is_not_set_up && (self.fen.is_some() || self.bad_fen.is_some()) {
            // Without a message: what is said depends on the moves.
            if self.from == From::Start || self.fen.is_none() {
                (self.fen, self.bad_fen) = (None, None);
            }
            self.odd.add(Oddity::UnusedFen);
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
    fn game(mut self, tokens: &mut Tokens<'_>) -> (Ending, Oddities) {
        let read = self.read(tokens);
        if read.is_break() {
            tokens.skip_movetext();
            self.result(tokens.skipped_result());
        }
        // A result at the very end is that of the game, though the variation before it has no end.
        let is_open = read.is_continue() && tokens.unclosed().is_none() && tokens.is_in_variation();
        if is_open {
            self.odd.add(Oddity::Open);
            let mut again = tokens.again();
            again.skip_movetext();
            self.result(again.skipped_result());
        }
        if tokens.has_closing() {
            self.odd.add(Oddity::Closing);
        }
        let tag_result = self.recorder.game().result;
        let mut odd = self.odd;
        if self
            .movetext_result
            .is_some_and(|result| result != tag_result)
        {
            odd.add(Oddity::Result);
        }
        if tokens.has_tags_in_comment() {
            odd.add(Oddity::Comment);
        }
        if self.kings.is_some() {
            odd.add(Oddity::Kings);
        }
        let is_read = read.is_continue();
        let ending = match read {
            Break(Stop::Skip(reason)) => Ending::Skip(reason),
            Break(Stop::Move(broken)) => Ending::Move(broken),
            Break(Stop::NoGame) => Ending::NoGame,
            _ if self.is_game || tokens.unclosed().is_some() => {
                self.recorder.finish();
                Ending::Game(self.broken.take(), tokens.unclosed())
            }
            _ => Ending::NoGame,
        };
        if matches!(ending, Ending::NoGame) {
            odd = Oddities::default();
            if self.has_comment && is_read {
                odd.add(Oddity::Stray);
            }
        }
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
                            self.begin_move();
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

    /// Notes that a move follows. After the result, it may be one of this game, as other
    /// programs read it, or of another one whose beginning was not found.
    #[inline]
    fn begin_move(&mut self) {
        self.is_game = true;
        if self.is_over && self.recorder.is_main_line() {
            self.odd.add(Oddity::AfterResult);
        }
    }

    fn note(&mut self, note: Token<'_>) -> ControlFlow<Stop> {
        self.has_comment = true;
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
            self.recorder.comment(text);
        }
    }

    /// Reads a word that is not a plain PGN move, or skips a sign.
    #[cold]
    fn word(&mut self, tokens: &Tokens<'_>, is_numbered: bool) -> ControlFlow<Stop> {
        if self.kings.is_some() && self.recorder.is_main_line() {
            return self.after_kings(tokens);
        }
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
        let is_null = match is_one_dash(&word) {
            true => is_null_dash(position, tokens, self.letters),
            false => is_null(&word),
        };
        if is_null {
            self.begin_move();
            return match self.recorder.play_null() {
                true => Continue(()),
                false => self.broken(tokens, &word, MoveError::Illegal),
            };
        }
        if is_one_dash(&word) {
            self.odd.add(Oddity::Dash);
            return Continue(());
        }
        if notation::is_noise(&word) {
            self.signs(&word);
            return Continue(());
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) && !notation::is_numeric_move(&word) {
            return self.bare_number(tokens, &word);
        }
        match notation::read_move_in(position, &word, self.letters) {
            Ok(m) => {
                self.begin_move();
                self.recorder.play(m);
                self.signs(&word);
                Continue(())
            }
            // Words after the result belong to no game.
            Err(_) if self.is_over && self.recorder.is_main_line() => Continue(()),
            // The result again, not castling: a book skipped such games as illegal.
            Err(_) if self.is_lost_by_both && &*word == "0-0" && tokens.is_last() => {
                self.is_over = true;
                Continue(())
            }
            Err(_) if !self.is_game && !is_numbered => Break(Stop::NoGame),
            Err(MoveError::Illegal)
                if self.recorder.is_main_line() && self.is_game && is_king_to_centre(&word) =>
            {
                self.kings = Some(self.broken_at(tokens, &word, MoveError::Illegal));
                self.recorder.drop_line();
                Continue(())
            }
            Err(error) => self.broken(tokens, &word, error),
        }
    }

    /// Reads a word of the main line after a king's move to the centre: any but the other
    /// king's is the move of a game that goes on.
    fn after_kings(&mut self, tokens: &Tokens<'_>) -> ControlFlow<Stop> {
        let word = encodings::text(tokens.last());
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if self.is_over || is_number || notation::is_noise(&word) || is_king_to_centre(&word) {
            return Continue(());
        }
        match self.kings.take() {
            Some(broken) => self.break_off(broken),
            None => Continue(()),
        }
    }

    /// Records the signs of a move, or of a word of signs alone.
    fn signs(&mut self, word: &str) {
        let one = notation::nag(word).filter(|_| word.starts_with(['$', 'N', 'T']));
        for nag in one.into_iter().chain(notation::trailing_annotations(word)) {
            self.recorder.nag(nag);
        }
        if notation::has_unknown_sign(word) {
            self.odd.add(Oddity::Sign);
        }
    }

    /// Skips a move number without dots. A number right after another one is not one.
    fn bare_number(&mut self, tokens: &Tokens<'_>, word: &str) -> ControlFlow<Stop> {
        if self.is_over && self.recorder.is_main_line() {
            return Continue(());
        }
        if tokens.follows_number() {
            return self.broken(tokens, word, MoveError::Syntax);
        }
        let expected = self.recorder.position().map(|at| at.fullmoves().get());
        let is_expected = word.parse().ok() == expected;
        // A set-up position often has no numbers.
        if !is_expected && !self.recorder.game().set_up {
            self.odd.add(Oddity::Number);
        }
        Continue(())
    }

    /// Ends the line at a move that cannot be played, and the game if it is the main
    /// line.
    fn broken(&mut self, tokens: &Tokens<'_>, word: &str, error: MoveError) -> ControlFlow<Stop> {
        let broken = self.broken_at(tokens, word, error);
        self.break_off(broken)
    }

    fn broken_at(&self, tokens: &Tokens<'_>, word: &str, error: MoveError) -> Broken {
        Broken {
            number: self.recorder.move_number(),
            word: word.chars().take(40).collect(),
            at: tokens.start(),
            error,
            in_main_line: self.recorder.is_main_line(),
        }
    }

    fn break_off(&mut self, broken: Broken) -> ControlFlow<Stop> {
        let in_main_line = broken.in_main_line;
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

    fn tag(&mut self, tag: Tag<'_>) {
        let Tag { name, value, .. } = tag;
        let plain;
        let value = match tag.has_wide_blanks {
            false => value,
            true => {
                plain = with_plain_blanks(value);
                plain.as_bytes()
            }
        };
        self.is_game = true;
        if !value.is_ascii() && is_guessed(value) {
            self.odd.add(Oddity::Encoding);
        }
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
                let value = value.trim_ascii();
                game.result = result_of(value);
                self.has_result = game.result != GameResult::Unknown;
                self.is_lost_by_both = value == b"0-0";
                if !self.has_result && !matches!(value, b"*" | b"?" | b"-" | b"") {
                    self.odd.add(Oddity::Tag);
                }
            }
            b"FEN" => match fen_of(value) {
                Some(Ok(fen)) => self.fen = Some(fen),
                Some(Err(error)) => self.bad_fen = Some(error.to_string()),
                None => {}
            },
            b"SetUp" => self.is_not_set_up = value.trim_ascii() == b"0",
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
        let (year, month, doubt) = year_and_month(value);
        match doubt {
            DateDoubt::Nothing => {}
            DateDoubt::Month => self.odd.add(Oddity::Month),
            DateDoubt::Everything => self.odd.add(Oddity::Date),
        }
        if year == 0 || tag < self.date {
            return;
        }
        self.date = tag;
        let game = self.recorder.game();
        game.year = year;
        game.month = match tag {
            DateTag::Date | DateTag::UtcDate => month,
            // That of the event, not of the game.
            _ => 0,
        };
    }
}

/// Whether a word is one dash, which may be a null move or stand between two moves.
fn is_one_dash(word: &str) -> bool {
    matches!(word, "-" | "–" | "—" | "―" | "−")
}

/// Whether a word is a null move, also with a check; `–+` is a sign.
fn is_null(word: &str) -> bool {
    let bare = word.trim_end_matches(['+', '#']);
    notation::is_null(word) || !is_one_dash(bare) && notation::is_null(bare)
}

/// Whether one dash is a null move, by what follows it: a number tells whose move is next, and
/// a move may be one of that side only. Else it is one if it has a move number. Old texts have
/// dashes between two moves that mean nothing.
fn is_null_dash(position: &Chess, tokens: &Tokens<'_>, letters: &'static Letters) -> bool {
    let next = tokens.rest().trim_ascii_start();
    let digits = next.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = next.split_at(digits);
    if !number.is_empty() {
        // No dot follows the number of a result.
        let after = encodings::text(after.get(..8).unwrap_or(after)).into_owned();
        let after = after.trim_start();
        let is_of_black = after.starts_with("..") || after.starts_with('…');
        let is_number = is_of_black || after.starts_with('.');
        return is_number && is_of_black == position.turn().is_white();
    }
    let end = next
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"(){};$*[".contains(byte));
    let word = encodings::text(next.get(..end.unwrap_or(next.len())).unwrap_or_default());
    let is_legal = |at: &Chess| notation::read_move_in(at, &word, letters).is_ok();
    let is_now = is_legal(position);
    let is_then = notation::pass(position).is_some_and(|then| is_legal(&then));
    match (is_now, is_then) {
        (true, false) => false,
        (false, true) => true,
        (true, true) | (false, false) => tokens.follows_number(),
    }
}

/// Whether a word is a king's move to one of the four squares in the middle.
fn is_king_to_centre(word: &str) -> bool {
    let word = word.trim_end_matches(['+', '#', '!', '?']);
    let Some(to) = word.strip_prefix(['K', '♔', '♚']) else {
        return false;
    };
    matches!(
        to.strip_prefix('x').unwrap_or(to),
        "d4" | "e4" | "d5" | "e5"
    )
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
