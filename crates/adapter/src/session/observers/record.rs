//! The record of a match (`--games`): a line for each game, and one for each restart of
//! the engine during a game.
//!
//! A game is over at `ucinewgame`, at a `position` of another game, and at the end of the
//! session. A game without a `go` for a move is not recorded. UCI does not transmit
//! results: a result is known if the last position is checkmate or a draw by the rules.

use shakmaty::{Chess, Color, Position};

use super::super::game::{Game, Story, ply};
use super::learn::{Outcome, by_rules};
use crate::record::{GameRecord, RecordKind};
use tabia_notation as notation;

/// Facts about a recorded game that other parts of the session know.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct About<'a> {
    /// The value of `UCI_Opponent`.
    pub(in super::super) opponent: &'a str,
    /// Number of positions that no book knew.
    pub(in super::super) misses: u32,
}

/// Data about the current game for the record.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    has_go: [bool; 2],
    choices: Vec<Chosen>,
    restarts: u32,
    /// The name of a variant, which cannot be followed.
    variant: Option<String>,
}

/// A chosen move.
#[derive(Debug)]
struct Chosen {
    ply: u32,
    /// In UCI; empty while the engine searches.
    mv: String,
    by: Chooser,
}

#[derive(Debug)]
enum Chooser {
    /// The book of this name.
    Book(String),
    /// The engine: the position, if it could be read, and its value for the side of the
    /// engine.
    Engine(Option<Box<Chess>>, Option<i32>),
}

impl Recorder {
    /// Whether nothing is known of this game yet.
    pub(super) fn is_blank(&self) -> bool {
        !self.has_begun() && self.restarts == 0
    }

    /// Whether a move of the game has been asked for.
    pub(super) fn has_begun(&self) -> bool {
        self.has_go != [false; 2]
    }

    /// Handles a `go` for a move.
    pub(super) fn go(&mut self, game: &Game) {
        let white_moves = game.white_moves().unwrap_or(game.ply().is_multiple_of(2));
        self.has_go[usize::from(!white_moves)] = true;
        let rules = game.rules();
        self.variant = game.has_other_rules().then(|| format!("variant {rules}"));
    }

    /// The game goes on after `before`. An answer to a ponder move that was not played does not
    /// belong to it: records with it lacked the game's last move.
    pub(super) fn go_on(&mut self, before: &Story) {
        if before.pondering {
            self.choices.retain(|known| known.ply < before.ply);
        }
    }

    /// A book chooses this move.
    pub(super) fn book_moves(&mut self, game: &Game, book: &str, mv: &str) {
        self.choose(game.ply(), mv.to_owned(), Chooser::Book(book.to_owned()));
    }

    /// The engine searches for a move.
    pub(super) fn engine_searches(&mut self, game: &Game) {
        let position = game.position().cloned().map(Box::new);
        self.choose(game.ply(), String::new(), Chooser::Engine(position, None));
    }

    /// The engine answers with this move; `value` is for White.
    pub(super) fn engine_answers(&mut self, mv: &str, value: Option<i32>) {
        if let Some(Chosen {
            mv: chosen,
            by: Chooser::Engine(position, known),
            ..
        }) = self.choices.last_mut()
        {
            mv.clone_into(chosen);
            let side = position.as_ref().map(|position| position.turn());
            *known = value
                .zip(side)
                .map(|(white, side)| side.fold_wb(white, -white));
        }
    }

    fn choose(&mut self, ply: u32, mv: String, by: Chooser) {
        self.choices.retain(|known| known.ply < ply);
        self.choices.push(Chosen { ply, mv, by });
    }

    /// Counts a restart of the engine, and records it with its reason.
    pub(super) fn restarted(&mut self, story: Story, about: About<'_>, why: &str) -> GameRecord {
        self.restarts += 1;
        let under_way = Recorder {
            has_go: self.has_go,
            restarts: self.restarts,
            ..Recorder::default()
        };
        let story = Story {
            pondering: false,
            ..story
        };
        GameRecord {
            note: why.to_owned(),
            ..under_way.record(RecordKind::Restart, story, about)
        }
    }

    /// The game as a line of the record.
    pub(super) fn record(mut self, kind: RecordKind, story: Story, about: About<'_>) -> GameRecord {
        let start = story.start.unwrap_or_default();
        let mut moves = story.moves;
        if story.pondering {
            self.choices.retain(|known| known.ply < story.ply);
            moves.pop();
        } else if let Some(last) = self.choices.last()
            && last.ply == story.ply
            && !last.mv.is_empty()
        {
            moves.push(last.mv.clone());
        }
        let is_book = |known: &Chosen| matches!(known.by, Chooser::Book(_));
        let last_book = self.choices.iter().rposition(is_book);
        let next = last_book.map_or(0, |at| at + 1);
        let exit = self.choices.get(next);
        let exit = exit.filter(|_| self.variant.is_none());
        let first = Some(start.as_str()).filter(|start| !start.is_empty());
        let outcome = match self.variant {
            Some(_) => None,
            None => by_rules(first, &moves),
        };
        let mut record = GameRecord {
            kind,
            has_go: self.has_go,
            opponent: about.opponent.to_owned(),
            book_moves: self.choices.iter().filter(|known| is_book(known)).count(),
            restarts: self.restarts,
            misses: about.misses,
            result: match outcome {
                Some(Outcome::Won(Color::White)) => "1-0",
                Some(Outcome::Won(Color::Black)) => "0-1",
                Some(Outcome::Draw) => "1/2-1/2",
                Some(Outcome::Open) | None => "",
            }
            .to_owned(),
            start,
            moves,
            note: self.variant.take().unwrap_or_default(),
            ..GameRecord::default()
        };
        if let Some(Chooser::Engine(Some(position), value)) = exit.map(|exit| &exit.by) {
            record.exit = Some((ply(position), notation::fen(position)));
            record.first_value = *value;
        }
        if let Some(Chosen {
            mv,
            by: Chooser::Book(book),
            ..
        }) = last_book.and_then(|at| self.choices.get(at))
        {
            record.book.clone_from(book);
            record.last_book_move.clone_from(mv);
        }
        record
    }
}
