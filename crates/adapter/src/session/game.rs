//! The game: its position, its moves, and what is known of it.
//!
//! This is the one place that follows the `position` lines; the other parts of a session
//! read it.
//!
//! | event | afterwards |
//! |---|---|
//! | a `position` line ([`Game::update`]) | its position, not pondering; the same game, or another |
//! | another game begins ([`Game::begin`]) | no clock, and the opponent named meanwhile; after `ucinewgame` before its position |
//! | an opponent is named ([`Game::name_opponent`]) | before the first move: of this game; else of the next |
//! | a `go` ([`Game::search`]) | pondering or not; a `go` for a move begins the game |
//! | `ponderhit` ([`Game::ponder_hit`]) | not pondering |
//!
//! # What the engine gets
//!
//! A line of the GUI goes to the engine byte for byte, but for what is not in the one form
//! that every engine reads: castling in the notation that is not in force, letters of a move
//! in upper case, fields of a FEN that cannot be so, and blanks, quotes and castling rights
//! that are written in another way. There the engine gets what Tabia has read
//! ([`Game::for_engine`], [`Game::searchmoves_for_engine`]), because engines differ in what
//! they do about it: up to Stockfish 18 they ignore the rest of the line, and from 19 on they
//! end; gnuchess and toga2 end on two blanks, and on castling rights as files.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Board, CastlingMode, Chess, Color, EnPassantMode, Move, Position};

use crate::cover;
use tabia_choice::conditions::{GameConditions, Pace, Variant};
use tabia_notation as notation;
use tabia_uci::gui::{Clocks, Go};
use tabia_uci::{gui, line};

/// How a `position` line relates to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    /// The same game: with more moves, with up to two plies taken back (a ponder move
    /// that was not played), or a FEN that can be reached within two plies.
    Onward,
    /// Another game, or more than two plies taken back.
    Anew,
}

/// What is wrong with `position fen` alone.
const MISSING_FEN: &str = "no position follows the word fen";

/// Plies that may be taken back in the same game.
const TAKEN_BACK: usize = 2;

/// Follows a game through its `position` lines.
///
/// A line that continues the last one costs only its new moves. Before the first line the
/// position is the start position, as in engines.
#[derive(Debug, Default)]
pub(super) struct Game {
    /// The last line as it came.
    raw: Vec<u8>,
    position: Chess,
    /// Hashes of the earlier positions, in order.
    before: Vec<Zobrist64>,
    /// The last positions of the game, the present one included, which the next line may
    /// continue from.
    recent: VecDeque<EarlierPosition>,
    /// The moves of the line that are not written in one way only, and where they stand.
    spelt: Vec<(Range<usize>, Move)>,
    /// The FEN of the line as engines read it, if it is written in another way.
    correction: Option<Correction>,
    /// The correction that was reported last.
    reported_correction: String,
    /// Why the line could not be read to its end.
    trouble: Option<String>,
    /// The last line before this one that could be read.
    before_trouble: LastLine,
    /// The last move of the position is a ponder move.
    pondering: bool,
    /// Properties of the game for the choice of books.
    conditions: GameConditions,
    phase: Phase,
}

/// A FEN that cannot be so, and was read otherwise, or that is not in the usual form.
#[derive(Debug)]
struct Correction {
    /// The bytes of the line before its moves.
    start: Range<usize>,
    /// What stands there for the engine.
    corrected: Vec<u8>,
    /// What was wrong; empty if only its form was unusual.
    reason: String,
}

/// A `position` line that could be read.
#[derive(Debug, Default)]
struct LastLine {
    raw: Vec<u8>,
    ply: u32,
}

/// How far the game is.
#[derive(Debug, Default)]
enum Phase {
    /// Until its first `position`, the position is still that of the game before, and is not
    /// recorded: a restart of the engine here was recorded with the moves of that game.
    /// `UCI_Opponent` names the opponent of this game.
    BeforePosition,
    /// Until the first `go` for a move, `UCI_Opponent` names the opponent of this game.
    #[default]
    BeforeFirstGo,
    /// `UCI_Opponent` names the opponent of the next game: match managers send it before
    /// `ucinewgame`.
    Playing { next_opponent: Option<String> },
}

/// The game as its last readable line has it, for records and learning notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Story {
    /// FEN of the first position as it was written; `None` for the standard one.
    pub(super) start: Option<String>,
    /// Moves in UCI; castling in one notation, however programs have written it.
    pub(super) moves: Vec<String>,
    /// Plies since the first move of the game, as the position counts them.
    pub(super) ply: u32,
    /// The last move is a ponder move.
    pub(super) pondering: bool,
}

/// A position of the game.
#[derive(Debug)]
struct EarlierPosition {
    position: Chess,
    /// Plies from the start of the line.
    plies: usize,
    /// Number of bytes of the last line up to it; `None` for another line.
    until: Option<usize>,
}

impl Game {
    /// The present position; `None` if the last line was not legal.
    pub(super) fn position(&self) -> Option<&Chess> {
        self.trouble.is_none().then_some(&self.position)
    }

    /// The error in the last line.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// The last line contains no position at all, so that no engine can search it.
    pub(super) fn is_missing(&self) -> bool {
        self.trouble() == Some(MISSING_FEN)
    }

    /// The last `position` line as the engine gets it; empty before the first.
    pub(super) fn for_engine(&self) -> Cow<'_, [u8]> {
        if self.has_other_rules() {
            return line::single_blanks(Cow::Borrowed(&self.raw));
        }
        let start = self.correction.iter();
        let start = start.map(|known| (known.start.clone(), known.corrected.clone()));
        let mode = self.castling_mode();
        let moves = self.spelt.iter().filter_map(|(at, mv)| {
            let written = mv.to_uci(mode).to_string().into_bytes();
            (self.raw.get(at.clone()) != Some(&written)).then(|| (at.clone(), written))
        });
        let changes: Vec<_> = start.chain(moves).collect();
        line::single_blanks(match changes.is_empty() {
            true => Cow::Borrowed(&self.raw),
            false => Cow::Owned(line::replaced(&self.raw, &changes)),
        })
    }

    /// A `go` line as the engine gets it, if its `searchmoves` are not written as the GUI wrote
    /// them.
    pub(super) fn searchmoves_for_engine(&self, go: &[u8]) -> Option<Vec<u8>> {
        let position = self.judged_position()?;
        gui::with_searchmoves(go, |word| {
            let mv = notation::find_uci(position, &word.to_ascii_lowercase())?;
            let written = mv.to_uci(self.castling_mode()).to_string();
            (written.as_bytes() != word).then_some(written)
        })
    }

    /// How the FEN was corrected, if that has not been reported.
    pub(super) fn correction_news(&mut self) -> Option<String> {
        let correction = self.correction.as_ref();
        let is_judged = !self.conditions.has_other_rules();
        let reason = &correction.filter(|_| is_judged)?.reason;
        if reason.is_empty() {
            return None;
        }
        let is_news = self.reported_correction != *reason;
        self.reported_correction.clone_from(reason);
        is_news.then(|| format!("position: {reason}"))
    }

    /// Whether some engines end on the position although it can be played: Stockfish 19 if
    /// a side has more than 16 pieces or 8 pawns.
    pub(super) fn is_risky(&self) -> bool {
        let is_too_much = |board: &Board, side: Color| {
            let pieces = board.by_color(side);
            pieces.count() > 16 || (pieces & board.pawns()).count() > 8
        };
        self.judged_position().is_some_and(|position| {
            let mut sides = Color::ALL.into_iter();
            sides.any(|side| is_too_much(position.board(), side))
        })
    }

    /// What is wrong with the last line for the rules of this game: illegal moves may be
    /// legal in a variant.
    pub(super) fn problem(&self) -> Option<&str> {
        let is_judged = !self.has_other_rules() || self.is_missing();
        self.trouble().filter(|_| is_judged)
    }

    /// The present position, if it is one of chess and could be read.
    pub(super) fn judged_position(&self) -> Option<&Chess> {
        self.position().filter(|_| !self.has_other_rules())
    }

    /// The score of checkmate or stalemate, as engines print it; `None` elsewhere.
    pub(super) fn final_score(&self) -> Option<&'static str> {
        let position = self.judged_position()?;
        if position.is_checkmate() {
            return Some("mate 0");
        }
        position.is_stalemate().then_some("cp 0")
    }

    /// Plies since the first move of the game, as its last readable position counts them.
    pub(super) fn ply(&self) -> u32 {
        match self.trouble {
            None => ply(&self.position),
            Some(_) => self.before_trouble.ply,
        }
    }

    /// The game so far: up to the last readable line, or in a variant up to the last one.
    pub(super) fn story(&self) -> Story {
        if let Phase::BeforePosition = self.phase {
            return Story::default();
        }
        let raw = match self.trouble {
            Some(_) if !self.has_other_rules() => &self.before_trouble.raw,
            _ => &self.raw,
        };
        let read = gui::position(raw);
        let start = read.as_ref().and_then(|read| read.fen.as_deref());
        let first = match self.has_other_rules() {
            true => None,
            false => start.map_or(Some(Chess::default()), |fen| notation::position(fen).ok()),
        };
        Story {
            start: start.map(str::to_owned),
            moves: read.map_or_else(Vec::new, |read| {
                in_one_notation(first, gui::moves(read.moves)).collect()
            }),
            ply: self.ply(),
            pondering: self.pondering,
        }
    }

    /// A move in the present position, in UCI as in [`Story::moves`].
    pub(super) fn in_one_notation(&self, mv: &str) -> String {
        in_one_notation(self.judged_position().cloned(), [Cow::Borrowed(mv)])
            .next()
            .unwrap_or_default()
    }

    /// Whether the last move of the position is a ponder move.
    pub(super) const fn is_pondering(&self) -> bool {
        self.pondering
    }

    // What is known of the game.

    pub(super) const fn conditions(&self) -> &GameConditions {
        &self.conditions
    }

    pub(super) fn rules(&self) -> &Variant {
        self.conditions.rules()
    }

    /// Whether moves and positions cannot be judged by the rules of chess.
    pub(super) const fn has_other_rules(&self) -> bool {
        self.conditions.has_other_rules()
    }

    pub(super) fn castling_mode(&self) -> CastlingMode {
        CastlingMode::from_chess960(self.conditions.king_takes_rook())
    }

    /// Handles an option of the engine that may set the rules; true if it does.
    pub(super) fn set_rules(&mut self, option: &str, value: &str) -> bool {
        self.conditions.set_rules(option, value)
    }

    /// Forgets what options have set.
    pub(super) fn forget_rules(&mut self) {
        self.conditions.forget_rules();
    }

    /// Another game begins, with the present position or `before_position`: its first clock
    /// decides its time control. True if an opponent has been named for it.
    pub(super) fn begin(&mut self, before_position: bool) -> bool {
        self.conditions.pace = None;
        self.reported_correction.clear();
        let next = match before_position {
            true => Phase::BeforePosition,
            false => Phase::BeforeFirstGo,
        };
        let named = match std::mem::replace(&mut self.phase, next) {
            Phase::Playing { next_opponent } => next_opponent,
            Phase::BeforeFirstGo | Phase::BeforePosition => None,
        };
        let Some(opponent) = named else {
            return false;
        };
        self.conditions.opponent = opponent;
        true
    }

    /// Handles the name of an opponent; true if it is that of this game.
    pub(super) fn name_opponent(&mut self, opponent: String) -> bool {
        match &mut self.phase {
            Phase::BeforeFirstGo | Phase::BeforePosition => {
                self.conditions.opponent = opponent;
                true
            }
            Phase::Playing { next_opponent } => {
                *next_opponent = Some(opponent);
                false
            }
        }
    }

    /// Handles a `go`; one that `asks_for_a_move` begins the game.
    pub(super) fn search(&mut self, go: &Go, asks_for_a_move: bool) {
        self.pondering = go.ponder;
        if asks_for_a_move && !matches!(self.phase, Phase::Playing { .. }) {
            self.phase = Phase::Playing {
                next_opponent: None,
            };
        }
    }

    /// Takes the time control from the clocks of a `go` that asks for the first move of
    /// the game; true if it is news.
    pub(super) fn see_clock(&mut self, clocks: &Clocks) -> bool {
        if matches!(self.phase, Phase::Playing { .. }) {
            return false;
        }
        let clocks = [clocks.white, clocks.black].map(|clock| (clock.time, clock.increment));
        let pace = Pace::from_clocks(clocks);
        std::mem::replace(&mut self.conditions.pace, pace) != pace
    }

    /// The ponder move was played.
    pub(super) fn ponder_hit(&mut self) {
        self.pondering = false;
    }

    /// Whether White is to move, as far as the line shows it: also for a game that cannot
    /// be followed, as one of a variant.
    pub(super) fn white_moves(&self) -> Option<bool> {
        if let Some(position) = self.position() {
            return Some(position.turn().is_white());
        }
        let read = gui::position(&self.raw)?;
        let begins = match read.fen.as_deref() {
            None => true,
            Some(fen) => match fen.split(' ').nth(1)? {
                "w" => true,
                "b" => false,
                _ => return None,
            },
        };
        let plies = line::words(read.moves).count();
        Some(begins == plies.is_multiple_of(2))
    }

    /// The keys of all positions up to the present one.
    pub(super) fn keys(&self) -> Vec<u64> {
        let before = self.before.iter().map(|Zobrist64(key)| *key);
        before.chain([cover::key(&self.position)]).collect()
    }

    /// Whether the position `next`, one move later, has occurred in this game.
    pub(super) fn repeats(&self, next: &Chess) -> bool {
        // A capture or pawn move cannot be undone: only positions after the last one can
        // repeat.
        let reversible = next.halfmoves() as usize;
        if reversible < 2 || self.before.is_empty() {
            return false;
        }
        let hash = hash(next);
        // The present position differs from the next one by its side to move; every
        // second one before it can be equal.
        self.before
            .iter()
            .rev()
            .take(reversible)
            .any(|earlier| *earlier == hash)
    }

    /// Handles a `position` line.
    pub(super) fn update(&mut self, raw: &[u8]) -> Continuation {
        let raw = raw.trim_ascii();
        self.pondering = false;
        if let Phase::BeforePosition = self.phase {
            self.phase = Phase::BeforeFirstGo;
        }
        if self.trouble.is_none() {
            self.before_trouble.ply = ply(&self.position);
        }
        if let Some(more) = self.go_on_from(raw) {
            self.keep(raw);
            self.play(more);
            return Continuation::Onward;
        }
        let last = std::mem::take(&mut self.recent);
        self.keep(raw);
        self.before.clear();
        self.spelt.clear();
        self.correction = None;
        match start(raw) {
            Ok((position, fen, moves)) => {
                self.position = position;
                let from = raw.len() - moves.len();
                let start = raw.get(..from).unwrap_or_default().trim_ascii_end();
                let start = start.strip_suffix(b"moves").unwrap_or(start);
                let start = start.trim_ascii_end().len();
                self.correction = fen.and_then(|fen| self.corrected(&fen, 0..start));
                self.arrive(start);
                self.play(from);
            }
            Err(trouble) => self.trouble = Some(trouble),
        }
        let known = |reached: &EarlierPosition| leads_to(&reached.position, &self.position);
        if self.trouble.is_none() && !last.iter().any(known) {
            return Continuation::Anew;
        }
        // A line that cannot be read does not show which game it is.
        for reached in last.into_iter().rev() {
            if self.recent.len() <= TAKEN_BACK {
                self.recent.push_front(EarlierPosition {
                    until: None,
                    ..reached
                });
            }
        }
        Continuation::Onward
    }

    /// What the engine gets in place of a FEN that is written otherwise.
    fn corrected(&self, fen: &str, start: Range<usize>) -> Option<Correction> {
        let (fen, flaws) = notation::corrected(fen, &self.position);
        let corrected = format!("position fen {fen}").into_bytes();
        let is_same = self.raw.get(start.clone()) == Some(corrected.as_slice());
        let flaws: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        (!is_same || !flaws.is_empty()).then(|| Correction {
            start,
            corrected,
            reason: flaws.join("; "),
        })
    }

    fn keep(&mut self, raw: &[u8]) {
        if self.trouble.take().is_none() {
            std::mem::swap(&mut self.raw, &mut self.before_trouble.raw);
        }
        self.raw.clear();
        self.raw.extend_from_slice(raw);
    }

    /// Goes back to the last position that `raw` shares with the line before; returns
    /// where its new moves begin.
    fn go_on_from(&mut self, raw: &[u8]) -> Option<usize> {
        let common = if raw.starts_with(&self.raw) {
            self.raw.len()
        } else {
            let same = raw.iter().zip(&self.raw);
            same.take_while(|(new, old)| new == old).count()
        };
        let shared = |reached: &EarlierPosition| {
            let until = reached.until.filter(|until| *until <= common)?;
            let more = raw.get(until..)?;
            let whole_word = more.first().is_none_or(u8::is_ascii_whitespace);
            // After a start without moves, the next words may still belong to the FEN.
            let word = line::first_word(more);
            let moves = reached.plies > 0 || matches!(word, b"" | b"moves");
            (whole_word && moves).then(|| match word {
                b"moves" if reached.plies == 0 => raw.len() - line::rest_after(more, word).len(),
                _ => until,
            })
        };
        let (index, more) = (0..self.recent.len())
            .rev()
            .find_map(|index| Some((index, shared(self.recent.get(index)?)?)))?;
        self.recent.truncate(index + 1);
        let reached = self.recent.back()?;
        self.position = reached.position.clone();
        self.before.truncate(reached.plies);
        self.spelt.retain(|(at, _)| at.end <= more);
        Some(more)
    }

    /// Plays the moves of the line from this byte to its end.
    fn play(&mut self, from: usize) {
        let raw = std::mem::take(&mut self.raw);
        let moves = raw.get(from..).unwrap_or_default();
        for word in line::words(moves) {
            let mv = notation::find_uci(&self.position, word)
                .or_else(|| notation::find_uci(&self.position, &word.to_ascii_lowercase()));
            let Some(mv) = mv else {
                let shown: String = line::text(word).chars().take(20).collect();
                let ply = self.before.len() + 1;
                self.trouble = Some(format!("move {ply} ({shown}) is not legal"));
                break;
            };
            let at = line::place(&raw, word);
            if mv.is_castle() || word.iter().any(u8::is_ascii_uppercase) {
                self.spelt.push((at.clone(), mv));
            }
            self.before.push(hash(&self.position));
            self.position.play_unchecked(mv);
            self.arrive(at.end);
        }
        self.raw = raw;
    }

    /// Stores the present position, which the first `until` bytes of the line lead to.
    fn arrive(&mut self, until: usize) {
        if self.recent.len() > TAKEN_BACK {
            self.recent.pop_front();
        }
        self.recent.push_back(EarlierPosition {
            position: self.position.clone(),
            plies: self.before.len(),
            until: Some(until),
        });
    }
}

/// The start position of a `position` line, its FEN, and its moves.
type Start<'a> = (Chess, Option<Cow<'a, str>>, &'a [u8]);

fn start(raw: &[u8]) -> Result<Start<'_>, String> {
    let read = gui::position(raw).ok_or("neither startpos nor fen")?;
    if read.fen.as_deref().is_some_and(str::is_empty) {
        return Err(MISSING_FEN.to_owned());
    }
    let position = read
        .fen
        .as_deref()
        .map_or(Ok(Chess::default()), notation::position);
    let position = position.map_err(|error| error.to_string())?;
    Ok((position, read.fen, read.moves))
}

/// Moves from a position in UCI, castling in one notation; as they are written from the first
/// one on that is not legal, or if the position is unknown.
fn in_one_notation<'a>(
    mut position: Option<Chess>,
    moves: impl IntoIterator<Item = Cow<'a, str>>,
) -> impl Iterator<Item = String> {
    moves.into_iter().map(move |word| {
        let mv = position
            .as_ref()
            .and_then(|position| notation::find_uci(position, word.as_bytes()));
        match (&mut position, mv) {
            (Some(position), Some(mv)) => {
                position.play_unchecked(mv);
                notation::uci_of_any(mv)
            }
            _ => {
                position = None;
                word.into_owned()
            }
        }
    })
}

/// Whether one position can be reached from another within two plies.
fn leads_to(from: &Chess, to: &Chess) -> bool {
    let changed = (from.board().occupied() ^ to.board().occupied()).count();
    // Two moves change at most four squares, two castlings eight.
    if changed > 8 {
        return false;
    }
    let after = |from: &Chess| -> Vec<Chess> {
        let moves = from.legal_moves();
        moves
            .into_iter()
            .map(|mv| notation::after(from, mv))
            .collect()
    };
    if from.turn() == to.turn() {
        from == to || after(from).iter().any(|next| after(next).contains(to))
    } else {
        after(from).contains(to)
    }
}

/// Plies since the first move of the game, as a position counts them.
pub(super) fn ply(position: &Chess) -> u32 {
    2 * (position.fullmoves().get() - 1) + u32::from(position.turn().is_black())
}

/// The hash by which positions of a game are compared.
fn hash(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tabia_uci::line::text;

    /// Handles lines that are given without their first word.
    fn after(lines: &[&str]) -> (Game, Continuation) {
        let mut game = Game::default();
        let mut step = Continuation::Anew;
        for line in lines {
            step = game.update(format!("position {line}").as_bytes());
        }
        (game, step)
    }

    fn fen(game: &Game) -> String {
        game.position().map_or_else(
            || game.trouble().unwrap_or_default().to_owned(),
            notation::fen,
        )
    }

    #[test]
    fn lines_that_go_on_are_played_on() {
        let whole = after(&["startpos moves e2e4 e7e5 g1f3"]).0;
        for lines in [
            &["startpos", "startpos moves e2e4 e7e5 g1f3"][..],
            &[
                "startpos moves",
                "startpos moves e2e4",
                "startpos moves e2e4",
                "startpos moves e2e4 e7e5 g1f3 ",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Continuation::Onward);
            assert_eq!(fen(&game), fen(&whole));
            assert_eq!(game.before, whole.before);
        }
    }

    #[test]
    fn another_game_or_more_than_two_plies_back_begins_anew() {
        for lines in [
            &["startpos moves e2e4 e7e5 g1f3 g8f6", "startpos moves e2e4"][..],
            &[
                "startpos moves e2e4 e7e5 g1f3",
                "startpos moves e2e3 e7e5 g1f3",
            ],
            &["startpos moves e2e4 e7e5 g1f3", "startpos"],
            &[
                "fen 4k3/8/8/8/8/8/8/4K2R w - -",
                "fen 4k3/8/8/8/8/8/8/4K2Q w - -",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Continuation::Anew, "{lines:?}");
            assert_eq!(fen(&game), fen(&after(&lines[lines.len() - 1..]).0));
        }
    }

    #[test]
    fn a_ponder_move_that_was_not_played_is_the_same_game() {
        for lines in [
            &[
                "startpos moves e2e4",
                "startpos moves e2e4 e7e5 g1f3",
                "startpos moves e2e4 c7c5",
            ][..],
            &[
                "startpos moves e2e4 e7e5 g1f3 b8c6",
                "startpos moves e2e4 e7e5 d2d4",
            ],
            // A word that has another one as its beginning.
            &["startpos moves a7a8 e2e4", "startpos moves e2e4"],
            &[
                "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8",
                "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8q",
            ],
            &[
                "startpos moves e2e4 e7e5 garbage",
                "startpos moves e2e4 e7e5 g1f3",
            ],
            // By FEN only: our move and a ponder move, our move and the real reply.
            &[
                "startpos",
                "fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
                "fen rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            ],
            // Both sides have castled.
            &[
                "fen r3k2r/5p2/8/8/8/8/5P2/R3K2R w KQkq - 0 1",
                "fen r4rk1/5p2/8/8/8/8/5P2/R4RK1 w - - 2 2",
            ],
            &["startpos moves e2e4", "startpos moves e2e4 moves e7e5"],
            // The old line is the beginning of a FEN, not of a move list.
            &[
                "fen 4k3/8/8/8/8/8/8/4K2R w - -",
                "fen 4k3/8/8/8/8/8/8/4K2R w - - 0 40",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Continuation::Onward, "{lines:?}");
            let afresh = after(&lines[lines.len() - 1..]).0;
            assert_eq!(fen(&game), fen(&afresh), "{lines:?}");
            assert_eq!(game.before, afresh.before);
        }
    }

    #[test]
    fn castling_is_taken_in_both_notations() {
        let line = "startpos moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7";
        let king = after(&[&format!("{line} e1g1")]).0;
        let rook = after(&[&format!("{line} e1h1")]).0;
        assert!(king.position().is_some(), "{:?}", king.trouble());
        assert_eq!(fen(&king), fen(&rook));
        for rights in ["KQkq", "HAha"] {
            let chess960 = format!("fen r3k2r/8/8/8/8/8/8/R3K2R w {rights} - 0 1");
            let game = after(&[&format!("{chess960} moves e1a1 e8h8")]).0;
            assert!(game.position().is_some(), "{:?}", game.trouble());
        }
        let shuffled =
            after(&["fen bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1 moves e2e4"]);
        assert!(shuffled.0.position().is_some());
    }

    #[test]
    fn the_engine_gets_castling_in_the_notation_in_force() {
        let line = "startpos moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7";
        let engine_gets = |lines: &[&str], chess960: &str| {
            let mut game = Game::default();
            game.set_rules("UCI_Chess960", chess960);
            for line in lines {
                game.update(format!("position {line}").as_bytes());
            }
            text(&game.for_engine())[9..].to_owned()
        };
        for (king, rook) in [("e1g1", "e1h1"), ("e1g1 e8g8", "e1h1 e8h8")] {
            let (king, rook) = (format!("{line} {king}"), format!("{line} {rook}"));
            for written in [&king, &rook] {
                assert_eq!(engine_gets(&[written], "false"), king);
                assert_eq!(engine_gets(&[line, written], "true"), rook);
            }
        }
        // GNU Chess and Toga II take two blanks for an empty word, and end.
        let odd = engine_gets(
            &["startpos  moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7  e1h1  E8G8"],
            "no",
        );
        assert_eq!(
            odd,
            "startpos moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7 e1g1 e8g8"
        );
        // Castling was taken back; it is castling of another side; the line cannot be read.
        let back = format!("{line} a2a3 e8h8");
        let lines = [&*format!("{line} e1h1"), &*format!("{line} a2a3"), &*back];
        assert_eq!(engine_gets(&lines, "false"), back.replace("e8h8", "e8g8"));
        let broken = format!("{line} e1h1 e1h1 e8h8");
        let then = format!("{line} e1g1 e1h1 e8h8");
        assert_eq!(engine_gets(&[&broken], "false"), then);
        // The king moves here, and castles there.
        let shuffled = "fen r3k2r/8/8/8/8/8/8/R4K1R w KQq - 0 1 moves f1g1 e8a8";
        assert_eq!(engine_gets(&[shuffled], "true"), shuffled);
        let shuffled = "fen r3k2r/8/8/8/8/8/8/R4K1R w KQq - 0 1 moves f1h1 e8c8";
        let then = shuffled.replace("e8c8", "e8a8");
        assert_eq!(engine_gets(&[shuffled], "true"), then);
    }

    #[test]
    fn the_engine_does_not_get_what_a_fen_cannot_say() {
        const BOARD: &str = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq";
        let written = format!("position fen \"{BOARD} e4 0 3\" moves d4e3 e1h1");
        let mut game = Game::default();
        game.update(written.as_bytes());
        assert_eq!(
            text(&game.for_engine()),
            format!("position fen {BOARD} e3 0 3 moves d4e3 e1h1")
        );
        let said = "position: en passant square e4 is impossible here: read as e3";
        assert_eq!(game.correction_news().as_deref(), Some(said));
        game.update(format!("{written} more").as_bytes());
        assert_eq!(game.correction_news(), None, "it is known");
        let other = format!("position fen {BOARD} c6 0 3");
        game.update(other.as_bytes());
        assert!(game.correction_news().is_some());
        game.set_rules("UCI_Variant", "atomic");
        assert_eq!(text(&game.for_engine()), other, "it may be right there");
        game.set_rules("UCI_Variant", "chess");
        let sound = format!("position fen {BOARD} e3 0 3 ");
        game.update(sound.as_bytes());
        assert_eq!(text(&game.for_engine()), sound.trim_end());
        assert_eq!(game.correction_news(), None);
    }

    #[test]
    fn a_game_is_reported_up_to_its_last_readable_line() {
        let reported = |lines: &[&str]| {
            let story = after(lines).0.story();
            (story.moves.join(" "), story.ply)
        };
        let whole = ("e2e4 e7e5".to_owned(), 2);
        assert_eq!(reported(&["startpos moves e2e4 e7e5"]), whole);
        let illegal = "startpos moves e2e4 e7e5 a1a8";
        assert_eq!(reported(&["startpos moves e2e4 e7e5", illegal]), whole);
        assert_eq!(
            reported(&["startpos moves e2e4 e7e5", illegal, "fen"]),
            whole
        );
        assert_eq!(reported(&[illegal]), (String::new(), 0));
        let (mut game, _) = after(&["startpos moves e2e4 e7e5"]);
        game.begin(true);
        assert_eq!(game.story(), Story::default(), "that was the game before");
        game.search(&Go::default(), true);
        assert_eq!(game.story().ply, 2, "it is searched nevertheless");
        let (mut game, _) = after(&["startpos moves e2e4 e7e5", illegal]);
        game.set_rules("UCI_Variant", "antichess");
        assert_eq!(game.story().moves.len(), 3, "it may be legal there");
    }

    #[test]
    fn only_the_last_move_of_a_go_ponder_is_a_ponder_move() {
        let (mut game, _) = after(&["startpos moves e2e4 e7e5"]);
        let ponder = Go {
            ponder: true,
            ..Go::default()
        };
        game.search(&ponder, true);
        assert!(game.story().pondering);
        game.ponder_hit();
        assert!(!game.is_pondering());
        game.search(&ponder, true);
        game.update(b"position startpos moves e2e4 c7c5");
        assert!(!game.is_pondering());
    }

    #[test]
    fn an_opponent_is_that_of_the_next_game_once_this_one_has_begun() {
        let mut game = Game::default();
        assert!(game.name_opponent("first".to_owned()));
        game.search(&Go::default(), false);
        assert!(game.name_opponent("second".to_owned()), "an analysis");
        game.search(&Go::default(), true);
        assert!(!game.name_opponent("third".to_owned()));
        assert_eq!(game.conditions().opponent, "second");
        assert!(game.begin(false));
        assert_eq!(game.conditions().opponent, "third");
        assert!(!game.begin(false), "nobody has been named since");
        assert_eq!(game.conditions().opponent, "third");
    }

    #[test]
    fn an_illegal_line_is_reported_and_does_not_last() {
        for (line, trouble) in [
            ("startpos moves e2e4 e2e4", "move 2 (e2e4)"),
            ("startpos moves 0000", "(0000)"),
            ("startpos moves e2e4 garbage", "(garbage)"),
            ("fen xyz", "xyz"),
            ("fen", "no position follows"),
            ("fen  \t", "no position follows"),
            ("fen \"\"", "no position follows"),
            ("fen moves e2e4", "no position follows"),
            ("fen 8/8/8/8/8/8/8/8 w - - 0 1", "not a legal position"),
            ("", "neither"),
            ("elsewhere", "neither"),
        ] {
            let (mut game, _) = after(&[line]);
            assert!(game.position().is_none(), "{line}");
            assert!(
                game.trouble().unwrap().contains(trouble),
                "{:?}",
                game.trouble()
            );
            game.update(b"position startpos");
            assert!(game.position().is_some());
        }
    }

    #[test]
    fn fens_of_four_fields_and_upper_case_promotions_are_taken() {
        let (game, _) = after(&["fen 8/P6k/8/8/8/8/8/K7 w - - moves a7a8Q"]);
        assert!(fen(&game).starts_with("Q7/7k"), "{}", fen(&game));
    }

    #[test]
    fn a_position_of_the_game_is_recognised_by_one_move() {
        let (game, _) = after(&["startpos moves g1f3 g8f6 f3g1"]);
        let position = game.position().unwrap();
        let play = |uci: &str| {
            let mv = notation::find_uci(position, uci.as_bytes()).unwrap();
            notation::after(position, mv)
        };
        assert!(game.repeats(&play("f6g8")));
        assert!(!game.repeats(&play("f6g4")));
        assert!(!game.repeats(&play("e7e5")));
    }

    proptest! {
        /// A line has the same meaning after any earlier line.
        #[test]
        fn what_came_before_does_not_matter(
            lines in prop::collection::vec((prop::bool::ANY, prop::collection::vec(
                prop::sample::select(vec!["e2e4", "e7e5", "g1f3", "b8c6", "a2a3", "a2", ""]), 0..6)),
                1..8)) {
            let mut game = Game::default();
            for (with_word, moves) in lines {
                let word = if with_word || !moves.is_empty() { " moves " } else { "" };
                let line = format!("startpos{word}{}", moves.join(" "));
                game.update(format!("position {line}").as_bytes());
                let afresh = after(&[&line]).0;
                prop_assert_eq!(fen(&game), fen(&afresh));
                prop_assert_eq!(&game.before, &afresh.before);
            }
        }
    }

    #[test]
    fn twenty_thousand_plies_are_followed() {
        let mut line = "startpos moves".to_owned();
        for _ in 0..5000 {
            line.push_str(" g1f3 g8f6 f3g1 f6g8");
        }
        let (game, _) = after(&[&line]);
        assert_eq!(game.before.len(), 20_000);
        assert!(fen(&game).starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"));
    }
}
