//! The data about a game for learning while playing.
//!
//! UCI does not transmit results. A game is over at `ucinewgame`, at a `position` that
//! does not continue the last one (up to two plies may be taken back: a ponder move that
//! was not played), and at the end of the session. Its outcome is
//!
//! 1. checkmate or a draw by the rules (stalemate, material, 50 moves, third
//!    repetition) in the last position, the last answer included;
//! 2. else by the engine's last score, if it is of the last two plies: three pawns
//!    ([`WON`]) or a mate score win or lose; at most 0.30 ([`EVEN`]) after move 40 is a
//!    draw;
//! 3. else unknown, and nothing is recorded.
//!
//! Only book moves that were really played count, each for its own book. Nothing is
//! stored while no book learns.

use std::collections::HashMap;

use shakmaty::{Chess, Color, Position};

use super::super::game::Story;
use tabia_choice::learn::{Evidence, PlayedGame};
use tabia_notation as notation;

/// A score that counts as a win or loss, in centipawns.
const WON: i32 = 300;

/// A score that counts as a draw after [`LATE`] plies, in centipawns.
const EVEN: i32 = 30;

/// Number of plies after which an even score counts as a draw.
const LATE: usize = 80;

/// A game played from a book, to be recorded in its side file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The book as the book set names it: [`tabia_choice::book_set::BookSpec::path`].
    pub book: String,
    /// The game up to the last move of that book.
    pub game: PlayedGame,
}

/// What the books and the engine have chosen in the current game.
#[derive(Debug, Default)]
pub(super) struct Learner {
    /// Ply, move and book of each choice.
    chosen: Vec<(usize, String, String)>,
    /// Ply and the engine's score in centipawns for White.
    scores: Vec<(usize, i32)>,
    /// The engine's last move and its ply.
    answer: Option<(usize, String)>,
}

impl Learner {
    /// Whether there is nothing to learn from in this game so far.
    pub(super) const fn is_blank(&self) -> bool {
        self.chosen.is_empty() && self.scores.is_empty() && self.answer.is_none()
    }

    /// Handles a `position` line, after which the game is `now`: if it is another game,
    /// the one before is recorded.
    pub(super) fn position(&mut self, before: Story, now: &Story) -> Vec<Note> {
        let same = before.moves.iter().zip(&now.moves);
        let common = same.take_while(|(old, new)| old == new).count();
        if first_position(&before) != first_position(now) || common + 2 < before.moves.len() {
            return std::mem::take(self).notes(before);
        }
        self.cut(common);
        Vec::new()
    }

    /// Removes the choices and scores after the first `common` plies, and the engine's
    /// last move; a choice at exactly that ply stays.
    fn cut(&mut self, common: usize) {
        self.chosen.retain(|(ply, ..)| *ply <= common);
        self.scores.retain(|(ply, _)| *ply <= common);
        self.answer = None;
    }

    /// A book chooses this move after so many plies.
    pub(super) fn choose(&mut self, ply: usize, mv: String, book: &str) {
        self.forget_choice(ply);
        self.chosen.push((ply, mv, book.to_owned()));
    }

    /// The book move after so many plies is not played.
    pub(super) fn forget_choice(&mut self, ply: usize) {
        self.chosen.retain(|(known, ..)| *known < ply);
    }

    /// The engine answers with this move after so many plies; the score is for White.
    pub(super) fn answer(&mut self, ply: usize, mv: Option<String>, score: Option<i32>) {
        if let Some(score) = score {
            self.scores.retain(|(known, _)| *known < ply);
            self.scores.push((ply, score));
        }
        self.answer = mv.map(|mv| (ply, mv));
    }

    /// The games to be recorded, one for each book.
    pub(super) fn notes(mut self, story: Story) -> Vec<Note> {
        if self.chosen.is_empty() {
            return Vec::new();
        }
        let start = first_position(&story);
        let mut played = story.moves;
        if story.pondering {
            let real = played.len().saturating_sub(1);
            self.cut(real);
            played.truncate(real);
        }
        if let Some((ply, mv)) = self.answer.take()
            && ply == played.len()
        {
            played.push(mv);
        }
        // A book move without a reply is the last move of the game.
        if let Some((ply, mv, _)) = self.chosen.last()
            && *ply == played.len()
        {
            played.push(mv.clone());
        }
        let Some((winner, evidence)) = self.outcome(start.as_deref(), &played) else {
            return Vec::new();
        };
        let mut books: Vec<&str> = self.chosen.iter().map(|(.., book)| book.as_str()).collect();
        books.sort_unstable();
        books.dedup();
        let note = |book: &str| {
            let of_book = |ply: usize, mv: &str| {
                let known = |(p, m, b): &(usize, String, String)| *p == ply && m == mv && b == book;
                self.chosen.iter().any(known)
            };
            let mut moves: Vec<(String, bool)> = (0..)
                .zip(&played)
                .map(|(ply, mv)| (mv.clone(), of_book(ply, mv)))
                .collect();
            let last = moves.iter().rposition(|(_, of_book)| *of_book)?;
            moves.truncate(last + 1);
            Some(Note {
                book: book.to_owned(),
                game: PlayedGame {
                    start: start.clone(),
                    winner,
                    evidence,
                    moves,
                },
            })
        };
        books.into_iter().filter_map(note).collect()
    }

    fn outcome(&self, start: Option<&str>, played: &[String]) -> Option<(Option<Color>, Evidence)> {
        match by_rules(start, played)? {
            Outcome::Won(winner) => return Some((Some(winner), Evidence::Mate)),
            Outcome::Draw => return Some((None, Evidence::Draw)),
            Outcome::Open => {}
        }
        let (ply, score) = *self.scores.last()?;
        let plies = played.len();
        if ply + 2 < plies {
            return None;
        }
        let winner = match score {
            WON.. => Some(Color::White),
            _ if score <= -WON => Some(Color::Black),
            _ if score.abs() <= EVEN && plies >= LATE => None,
            _ => return None,
        };
        Some((winner, Evidence::Score))
    }
}

/// The state of a game by the rules of chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Open,
    Draw,
    Won(Color),
}

/// The state of a game by the rules; `None` if a move is not legal.
pub(super) fn by_rules(start: Option<&str>, moves: &[String]) -> Option<Outcome> {
    let mut position = match start {
        None => Chess::default(),
        Some(fen) => notation::position(fen).ok()?,
    };
    let mut occurrences: HashMap<Chess, u32> = HashMap::new();
    *occurrences.entry(position.clone()).or_default() += 1;
    for mv in moves {
        let mv = notation::find_uci(&position, mv.as_bytes())?;
        position.play_unchecked(mv);
        if position.halfmoves() == 0 {
            occurrences.clear();
        }
        *occurrences.entry(position.clone()).or_default() += 1;
    }
    if position.is_checkmate() {
        return Some(Outcome::Won(!position.turn()));
    }
    let is_draw = position.is_stalemate()
        || position.is_insufficient_material()
        || position.halfmoves() >= 100
        || occurrences.get(&position).is_some_and(|times| *times >= 3);
    Some(if is_draw {
        Outcome::Draw
    } else {
        Outcome::Open
    })
}

/// The first position of a game as FEN, in one form.
fn first_position(story: &Story) -> Option<String> {
    let fen = story.start.as_deref()?;
    Some(match notation::position(fen) {
        Ok(position) => notation::fen(&position),
        Err(_) => fen.to_owned(),
    })
}
