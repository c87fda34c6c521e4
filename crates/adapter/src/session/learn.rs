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

use std::borrow::Cow;
use std::collections::HashMap;

use shakmaty::{Chess, Color, Position};

use super::{Moment, Outlet, Request, Session};
use crate::book_set::BookSet;
use tabia_build::learn::{Evidence, PlayedGame};
use tabia_notation as notation;
use tabia_uci::{gui, info, line};

/// A score that counts as a win or loss, in centipawns.
const WON: i32 = 300;

/// A score that counts as a draw after [`LATE`] plies, in centipawns.
const EVEN: i32 = 30;

/// Number of plies after which an even score counts as a draw.
const LATE: usize = 80;

/// A game played from a book, to be recorded in its side file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The book as the book set names it: [`crate::book_set::BookSpec::path`].
    pub book: String,
    /// The game up to the last move of that book.
    pub game: PlayedGame,
}

/// Data about the current game.
#[derive(Debug, Default)]
pub(super) struct Learner {
    start: Option<String>,
    moves: Vec<String>,
    /// Ply, move and book of each choice.
    chosen: Vec<(usize, String, String)>,
    /// Ply and the engine's score in centipawns for White.
    scores: Vec<(usize, i32)>,
    /// The engine's last move and its ply.
    answer: Option<(usize, String)>,
    /// The last move of the position is a ponder move.
    pub(super) pondering: bool,
    /// The engine's output about its search, if it searches for this game.
    search: Option<info::Search>,
}

impl Learner {
    /// A search begins; `of_engine` is the side to move if the engine's scores count.
    pub(super) fn begin_search(&mut self, ponder: bool, of_engine: Option<Color>) {
        self.pondering = ponder;
        self.search = of_engine.map(|turn| info::Search::new(turn, 1));
    }

    /// Handles an `info` line of the engine.
    pub(super) fn receive_info(&mut self, info: &[u8]) {
        if let Some(search) = &mut self.search {
            search.add(&line::text(info));
        }
    }

    /// Removes the choices and scores after the first `common` plies, and the engine's
    /// last move; a choice at exactly that ply stays.
    fn cut(&mut self, common: usize) {
        self.chosen.retain(|(ply, ..)| *ply <= common);
        self.scores.retain(|(ply, _)| *ply <= common);
        self.answer = None;
    }

    /// Removes the last book move, which is not played.
    pub(super) fn forget_choice(&mut self) {
        let ply = self.moves.len();
        self.chosen.retain(|(known, ..)| *known < ply);
    }

    /// The games to be recorded, one for each book.
    fn notes(mut self) -> Vec<Note> {
        if self.chosen.is_empty() {
            return Vec::new();
        }
        if self.pondering {
            let real = self.moves.len().saturating_sub(1);
            self.cut(real);
            self.moves.truncate(real);
        }
        if let Some((ply, mv)) = self.answer.take()
            && ply == self.moves.len()
        {
            self.moves.push(mv);
        }
        // A book move without a reply is the last move of the game.
        if let Some((ply, mv, _)) = self.chosen.last()
            && *ply == self.moves.len()
        {
            self.moves.push(mv.clone());
        }
        let Some((winner, evidence)) = self.outcome() else {
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
                .zip(&self.moves)
                .map(|(ply, mv)| (mv.clone(), of_book(ply, mv)))
                .collect();
            let last = moves.iter().rposition(|(_, of_book)| *of_book)?;
            moves.truncate(last + 1);
            Some(Note {
                book: book.to_owned(),
                game: PlayedGame {
                    start: self.start.clone(),
                    winner,
                    evidence,
                    moves,
                },
            })
        };
        books.into_iter().filter_map(note).collect()
    }

    fn outcome(&self) -> Option<(Option<Color>, Evidence)> {
        match by_rules(self.start.as_deref(), &self.moves)? {
            Outcome::Won(winner) => return Some((Some(winner), Evidence::Mate)),
            Outcome::Draw => return Some((None, Evidence::Draw)),
            Outcome::Open => {}
        }
        let (ply, score) = *self.scores.last()?;
        let plies = self.moves.len();
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

impl Session {
    /// Whether any book records games.
    pub(super) fn learns(book_set: &BookSet) -> bool {
        book_set.books.iter().any(|book| book.side_file.is_some())
    }

    /// Handles a `position` line.
    pub(super) fn learn_position(&mut self, raw: &[u8], at: &mut Moment<'_>) {
        if !Session::learns(at.book_set) && self.learner.chosen.is_empty() {
            return;
        }
        let Some(read) = gui::position(raw.trim_ascii()) else {
            return;
        };
        let start = read
            .fen
            .as_deref()
            .map(|fen| match notation::position(fen) {
                Ok(position) => notation::fen(&position),
                Err(_) => fen.to_owned(),
            });
        let moves: Vec<String> = gui::moves(read.moves).map(Cow::into_owned).collect();
        let learner = &mut self.learner;
        let same = learner.moves.iter().zip(&moves);
        let common = same.take_while(|(old, new)| old == new).count();
        if start != learner.start || common + 2 < learner.moves.len() {
            self.game_over(at.out);
        } else {
            learner.cut(common);
        }
        self.learner.pondering = false;
        self.learner.start = start;
        self.learner.moves = moves;
    }

    /// Stores a move chosen by a book.
    pub(super) fn learn_choice(&mut self, book: &crate::book_set::OpenBook, mv: String) {
        // Results of other rules cannot be judged.
        if book.side_file.is_some() && !self.conditions.has_other_rules() {
            self.learner.forget_choice();
            let ply = self.learner.moves.len();
            self.learner.chosen.push((ply, mv, book.spec.path.clone()));
        }
    }

    /// Stores the engine's answer.
    pub(super) fn learn_answer(&mut self, best_move: &[u8]) {
        let Some(search) = self.learner.search.take() else {
            return;
        };
        let ply = self.learner.moves.len();
        let found = search.results().next().flatten();
        let score = found.map(|found| found.value.for_side(Color::White));
        if let Some(score) = score {
            self.learner.scores.retain(|(known, _)| *known < ply);
            self.learner.scores.push((ply, score));
            // The answer to a ponder move that was not played is of another position.
            if !self.learner.pondering {
                self.chooser.value = Some(score);
            }
        }
        let mv = line::words(best_move).nth(1).map(line::text);
        if let Some(mv) = &mv {
            self.record_answer(mv, score);
        }
        self.learner.answer = mv.map(|mv| (ply, mv));
    }

    /// Ends the game: requests that it is recorded, if its outcome is known.
    pub(super) fn game_over(&mut self, out: &mut dyn Outlet) {
        for note in std::mem::take(&mut self.learner).notes() {
            out.request(Request::NoteGame(note));
        }
    }
}
