//! The answers of the lichess opening explorer, from a book.
//!
//! The shape is that of the published description of its API
//! (`OpeningExplorerMasters` and `OpeningExplorerLichess` of lichess-org/api);
//! castling is written as the king taking the rook, as that service does.
//! What a book does not know is said as that service says "nothing": no
//! games, no rating (0).

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use super::books::Open;
use super::look::by_colour;
use super::openings::{self, Opening};
use crate::book::{BookMove, Error, Lookup, Preference, Wanted};
use crate::notation;

/// Moves that are listed unless the request says how many.
pub(super) const USUAL_MOVES: usize = 12;

/// Which of the two data bases is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Masters,
    Lichess,
}

/// A game. A book keeps none, so there is never one to show.
#[derive(Serialize)]
enum NoGame {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explored {
    white: u32,
    draws: u32,
    black: u32,
    moves: Vec<ExploredMove>,
    top_games: Vec<NoGame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_games: Option<Vec<NoGame>>,
    opening: Option<Opening>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExploredMove {
    uci: String,
    san: String,
    average_rating: u32,
    white: u32,
    draws: u32,
    black: u32,
    game: Option<NoGame>,
    opening: Option<Opening>,
}

/// What the books know about the last of some positions: the first one that
/// holds it answers.
pub(super) fn explore(
    books: &[Open],
    positions: &[Chess],
    shape: Shape,
    most_moves: usize,
) -> Result<Explored, Error> {
    let mut found = Lookup::default();
    let Some(position) = positions.last() else {
        return Ok(answer(&found, &Chess::default(), None, shape, 0));
    };
    for book in books {
        book.probe(position, Wanted::Stored, &mut found)?;
        if found.here.is_some() {
            break;
        }
    }
    let opening = openings::of_line(positions);
    Ok(answer(&found, position, opening, shape, most_moves))
}

fn answer(
    found: &Lookup,
    position: &Chess,
    opening: Option<Opening>,
    shape: Shape,
    most_moves: usize,
) -> Explored {
    let stats = found.here.unwrap_or_default().stats;
    let (white, black) = by_colour(&stats, position.turn());
    // Other formats than ChessBase's know a move without a position after it.
    let mut moves: Vec<&BookMove> = found
        .moves
        .iter()
        .filter(|mv| mv.after.is_some() || mv.preference != Preference::Statistics)
        .collect();
    moves.sort_by_key(|mv| {
        let weight = match mv.preference {
            Preference::Weight(weight) => weight,
            Preference::Priority(_) | Preference::Statistics => 0,
        };
        std::cmp::Reverse((mv.stats().games, weight))
    });
    Explored {
        white,
        draws: stats.draws,
        black,
        moves: moves
            .into_iter()
            .take(most_moves)
            .map(|mv| explored_move(position, mv))
            .collect(),
        top_games: Vec::new(),
        recent_games: (shape == Shape::Lichess).then(Vec::new),
        opening,
    }
}

fn explored_move(position: &Chess, mv: &BookMove) -> ExploredMove {
    let stats = mv.stats();
    let (white, black) = by_colour(&stats, position.turn());
    ExploredMove {
        uci: UciMove::from_chess960(mv.mv).to_string(),
        san: notation::san(position, mv.mv),
        average_rating: stats.average_elo().map_or(0, rounded),
        white,
        draws: stats.draws,
        black,
        game: None,
        opening: after(position, mv.mv),
    }
}

fn after(position: &Chess, mv: Move) -> Option<Opening> {
    let mut next = position.clone();
    next.play_unchecked(mv);
    openings::of(&next)
}

/// The nearest whole number; ratings are far from the limits of `u32`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rounded(rating: f64) -> u32 {
    rating.round().clamp(0.0, 1e6) as u32
}
