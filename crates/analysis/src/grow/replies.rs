//! The replies that opponents play, from a book of games or an index.

use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move};

use crate::Error;
use crate::graph::{BookGraph, NodeId};
use tabia_book::ctg::Orientation;
use tabia_book::{Book, Lookup, Probe as _, Wanted};
use tabia_index::query::{self, Lists, Source};
use tabia_index::{GameSelection, GamesIndex};
use tabia_notation as notation;

/// Games added to those of a position, spread evenly over its moves; all unplayed moves
/// together count as one of them.
const KAPPA: f64 = 10.0;

/// A source of the frequencies of moves.
pub trait MoveFrequencies {
    /// The moves of a position, each with its games.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    fn frequencies(&self, position: &Chess) -> Result<Vec<(Move, f64)>, Error>;
}

impl MoveFrequencies for Book {
    fn frequencies(&self, position: &Chess) -> Result<Vec<(Move, f64)>, Error> {
        let mut found = Lookup::default();
        self.probe(position, Wanted::Stored, &mut found)?;
        let moves = found.moves.iter();
        Ok(moves
            .map(|mv| (mv.mv, f64::from(mv.stats().games)))
            .collect())
    }
}

impl MoveFrequencies for GamesIndex {
    fn frequencies(&self, position: &Chess) -> Result<Vec<(Move, f64)>, Error> {
        let sums = query::sums(
            [Source::Index(self)],
            position,
            &GameSelection::default(),
            Lists::default(),
        )?;
        let moves = sums.moves.iter();
        Ok(moves
            .map(|made| (made.mv, made.counts.games() as f64))
            .collect())
    }
}

/// The replies in a position, on the board of [`BookGraph::position`].
pub(super) struct ReplyShares {
    /// The moves of the book, the most probable first.
    pub(super) moves: Vec<(UciMove, f64)>,
    /// The probability of a move that is not in the book.
    pub(super) other: f64,
}

impl ReplyShares {
    /// The probability of a move.
    pub(super) fn share(&self, mv: UciMove) -> f64 {
        let known = self.moves.iter().find(|(known, _)| *known == mv);
        known.map_or(self.other, |(_, share)| *share)
    }
}

/// Games, each position looked up once.
pub(super) struct Replies<'a> {
    games: &'a dyn MoveFrequencies,
    known: HashMap<(NodeId, Color), Option<Rc<ReplyShares>>, FxBuildHasher>,
}

impl<'a> Replies<'a> {
    pub(super) fn new(games: &'a dyn MoveFrequencies) -> Replies<'a> {
        Replies {
            games,
            known: HashMap::default(),
        }
    }

    /// The replies in a position where `turn` is to move on the board of the game; `None`
    /// without games.
    pub(super) fn in_position(
        &mut self,
        graph: &BookGraph,
        node: NodeId,
        turn: Color,
    ) -> Result<Option<Rc<ReplyShares>>, Error> {
        if let Some(known) = self.known.get(&(node, turn)) {
            return Ok(known.clone());
        }
        let canonical = graph.position(node);
        let orientation = Orientation {
            inverted: turn.is_black(),
            mirrored: false,
        };
        // Some formats do not treat exchanged colours as equal.
        let position = match turn {
            Color::White => canonical,
            Color::Black => notation::colours_exchanged(&canonical),
        };
        let played = self.games.frequencies(&position)?.into_iter();
        let played = played.map(|(mv, games)| {
            let uci = mv.to_uci(CastlingMode::Chess960);
            (orientation.apply_to_move(uci), games)
        });
        let known = shares(played.collect()).map(Rc::new);
        self.known.insert((node, turn), known.clone());
        Ok(known)
    }
}

/// Converts games to probabilities.
fn shares(mut games: Vec<(UciMove, f64)>) -> Option<ReplyShares> {
    let sum: f64 = games.iter().map(|(_, games)| games).sum();
    if sum == 0.0 {
        return None;
    }
    let each = KAPPA / (games.len() + 1) as f64;
    games.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (_, games) in &mut games {
        *games = (*games + each) / (sum + KAPPA);
    }
    Some(ReplyShares {
        moves: games,
        other: each / (sum + KAPPA),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::OpenOptions;
    use tabia_notation::Line;

    #[test]
    fn ten_games_more_are_spread_over_what_is_known_and_what_is_not() {
        let mv = |text: &str| text.parse::<UciMove>().unwrap();
        let known = shares(vec![(mv("a7a6"), 20.0), (mv("e7e5"), 70.0)]).unwrap();
        let third = 10.0 / 3.0;
        assert_eq!(known.moves[0].0, mv("e7e5"));
        assert!((known.share(mv("e7e5")) - (70.0 + third) / 100.0).abs() < 1e-12);
        assert!((known.share(mv("a7a6")) - (20.0 + third) / 100.0).abs() < 1e-12);
        assert!((known.share(mv("h7h6")) - third / 100.0).abs() < 1e-12);
        assert!(shares(Vec::new()).is_none());
    }

    /// After 1.e4 Black's replies are seen on a board where White is to move.
    #[test]
    fn blacks_replies_stand_on_the_turned_board() {
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let mut graph = BookGraph::of_start().unwrap();
        graph.extend(&[(0, "e2e4".parse().unwrap())]).unwrap();
        let after_e4 = Line::read("", "e4").unwrap().last().clone();
        let node = graph.node(&after_e4).unwrap();
        let mut replies = Replies::new(&book);
        let known = replies
            .in_position(&graph, node, Color::Black)
            .unwrap()
            .unwrap();
        // 1...c5, most often, is c2-c4 there.
        let best: Vec<String> = known.moves.iter().map(|(mv, _)| mv.to_string()).collect();
        assert_eq!(best.first().map(String::as_str), Some("c2c4"), "{best:?}");
        let sum: f64 = known.moves.iter().map(|(_, share)| share).sum();
        assert!((sum + known.other - 1.0).abs() < 1e-9);
    }
}
