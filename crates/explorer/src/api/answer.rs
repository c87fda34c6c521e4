//! The answers, with their fields in the order of the lichess service.

use std::collections::BTreeMap;

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Move, Position};

use super::super::filter::Shape;
use super::super::openings::{self, Opening};
use super::question::Question;
use tabia_games::{Month, Speed};
use tabia_index::{Counts, FoundGame};
use tabia_notation as notation;

/// An answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explored {
    white: u64,
    draws: u64,
    black: u64,
    moves: Vec<ExploredMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recent_games: Option<Vec<PlayedGame>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_games: Option<Vec<PlayedGame>>,
    opening: Option<Opening>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) history: Option<Vec<ExploredMonth>>,
    /// Why there is nothing, if there is a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<String>,
    /// Whether weights are written as draws, because a book has no results.
    #[serde(skip)]
    pub(super) has_weights: bool,
}

/// A move.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExploredMove {
    uci: String,
    san: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    average_rating: Option<u64>,
    average_opponent_rating: i64,
    performance: i64,
    white: u64,
    draws: u64,
    black: u64,
    game: Option<ExploredGame>,
    opening: Option<Opening>,
}

/// A game with the move that was played in it.
#[derive(Debug, Serialize)]
pub(super) struct PlayedGame {
    pub(super) uci: String,
    #[serde(flatten)]
    pub(super) game: ExploredGame,
}

/// A game.
#[derive(Debug, Serialize)]
pub(super) struct ExploredGame {
    pub(super) id: String,
    pub(super) winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<&'static str>,
    pub(super) black: ExploredPlayer,
    pub(super) white: ExploredPlayer,
    pub(super) year: u16,
    pub(super) month: Option<String>,
}

/// A player of a game; the rating is 0 if it is not known.
#[derive(Debug, Serialize)]
pub(super) struct ExploredPlayer {
    pub(super) name: String,
    pub(super) rating: u16,
}

impl ExploredPlayer {
    pub(super) fn new(game: &FoundGame, color: Color) -> ExploredPlayer {
        ExploredPlayer {
            name: match game.head.names.get(color).as_str() {
                "" => "?".to_owned(),
                name => name.to_owned(),
            },
            rating: *game.head.facts.elo.get(color),
        }
    }
}

/// The results of a month.
#[derive(Debug, Serialize)]
pub(super) struct ExploredMonth {
    month: String,
    white: u64,
    draws: u64,
    black: u64,
}

/// A move of the answer, with its counts.
pub(super) struct CountedMove {
    pub(super) mv: Move,
    pub(super) counts: Counts,
    pub(super) game: Option<ExploredGame>,
}

impl Explored {
    /// The answer for a position, with all its moves, most played first.
    pub(super) fn new(question: &Question, counts: &Counts, moves: Vec<CountedMove>) -> Explored {
        let shape = question.shape;
        let positions = question.positions.as_deref().unwrap_or_default();
        let last = positions.last().cloned().unwrap_or_default();
        // Moves without games have no shares.
        let moves = moves
            .into_iter()
            .filter(|counted| counted.counts.games() > 0);
        Explored {
            white: counts.won.white,
            draws: counts.draws,
            black: counts.won.black,
            moves: moves
                .take(question.moves)
                .map(|counted| ExploredMove::new(counted, &last, shape))
                .collect(),
            recent_games: (shape != Shape::Masters).then(Vec::new),
            top_games: (shape != Shape::Player).then(Vec::new),
            opening: openings::find_in_line(positions),
            queue_position: (shape == Shape::Player).then_some(0),
            history: question.history.then(Vec::new),
            notice: None,
            has_weights: false,
        }
    }

    /// The answer if nothing is known about the position.
    pub(super) fn nothing(question: &Question) -> Explored {
        Explored::new(question, &Counts::default(), Vec::new())
    }
}

impl ExploredMove {
    fn new(counted: CountedMove, position: &Chess, shape: Shape) -> ExploredMove {
        let own = position.turn();
        let CountedMove { mv, counts, game } = counted;
        let (average_opponent_rating, performance) = performance(&counts, own);
        ExploredMove {
            uci: UciMove::from_chess960(mv).to_string(),
            san: notation::san(position, mv),
            average_rating: (shape != Shape::Player).then(|| average(&counts, own)),
            average_opponent_rating,
            performance,
            white: counts.won.white,
            draws: counts.draws,
            black: counts.won.black,
            game,
            opening: openings::find(&notation::after(position, mv)),
        }
    }
}

/// The mean rating of a side, rounded; 0 if no rating is known.
fn average(counts: &Counts, own: Color) -> u64 {
    let (rated, sum) = (*counts.rated.get(own), *counts.sum.get(own));
    match rated {
        0 => 0,
        rated => (sum + rated / 2) / rated,
    }
}

/// The rounded mean rating of the opponents of a side, and its performance; zeros if no
/// rating is known.
fn performance(counts: &Counts, own: Color) -> (i64, i64) {
    let (rated, sum) = (*counts.rated.get(!own), *counts.sum.get(!own));
    let mean = sum as f64 / rated.max(1) as f64;
    match counts.results(own).performance(mean) {
        Some(performance) if rated > 0 => (mean.round() as i64, performance.round() as i64),
        _ => (0, 0),
    }
}

/// All months from the first one with games, or the requested one, to the last one with
/// games. Unless the request names the last month, the newest month of all is left out,
/// because it may be incomplete.
pub(super) fn history(
    question: &Question,
    months: &BTreeMap<Month, Counts>,
    newest: Option<Month>,
) -> Vec<ExploredMonth> {
    let Some((first, last)) = months.keys().next().zip(months.keys().next_back()) else {
        return Vec::new();
    };
    let mut month = question.selection.since.unwrap_or(*first).min(*first);
    let mut listed = Vec::new();
    while month <= *last {
        if question.selection.until.is_none() && Some(month) == newest {
            break;
        }
        let counts = months.get(&month).copied().unwrap_or_default();
        listed.push(ExploredMonth {
            month: month.to_string(),
            white: counts.won.white,
            draws: counts.draws,
            black: counts.won.black,
        });
        month = month.next();
    }
    listed
}

/// The name in the lichess service.
pub(super) fn speed_name(speed: Speed) -> &'static str {
    match speed {
        Speed::UltraBullet => "ultraBullet",
        Speed::Bullet => "bullet",
        Speed::Blitz => "blitz",
        Speed::Rapid => "rapid",
        Speed::Classical => "classical",
        Speed::Correspondence => "correspondence",
    }
}
