//! A position as people and programs are shown it: figures, marks,
//! probabilities, and why a move is not played. Tables, JSON, CSV and the
//! explorer print this; what only some formats of books have is a value that
//! may be missing.

use shakmaty::{Chess, Position};

use crate::policy::{Choice, Weighed};
use crate::{BookMove, Mark, Preference};
use tabia_notation::{self as notation, Results};

/// What a book says about a position, from the view of the side to move.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PositionView {
    /// The position.
    pub fen: String,
    /// Whether the book holds it.
    pub in_book: bool,
    /// Games through it.
    pub games: u32,
    /// Their results for the side to move.
    #[serde(flatten)]
    pub results: Results,
    /// NAG number as seen on the board, 0 for none.
    pub commentary: u8,
    /// Its moves.
    pub moves: Vec<MoveView>,
}

/// What a book says about a move, all from the view of its player.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MoveView {
    /// As `e1g1`.
    pub uci: String,
    /// As `O-O`.
    pub san: String,
    /// Games with it.
    pub games: u32,
    /// Their results for its player.
    #[serde(flatten)]
    pub results: Results,
    /// Share of the points, 0 to 1; `None` without results.
    pub score: Option<f64>,
    /// Mean rating of its players, where known.
    pub average_elo: Option<f64>,
    /// Their performance rating, where ratings are known.
    pub performance: Option<f64>,
    /// The raw byte of the position it leads to.
    pub recommendation: u8,
    /// That byte in words.
    #[serde(serialize_with = "mark_word")]
    pub mark: Mark,
    /// The sign after it, empty for none.
    pub annotation: &'static str,
    /// The NAG number of that sign.
    #[serde(skip)]
    pub annotation_nag: u8,
    /// NAG number of the position after it as seen on the board, 0 for none.
    pub commentary: u8,
    /// The learn value, -125 to 125: positive speaks for the move.
    pub factor: i8,
    /// What it is worth by evaluations, in centipawns for its player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<i32>,
    /// Centipawns by which that is less than the best that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<u32>,
    /// It is not stored, but leads into the book.
    pub transposition: bool,
    /// With which the adapter would play it, 0 to 1.
    pub probability: f64,
    /// Its weight in the draw.
    pub weight: f64,
    /// What a Polyglot book stores, equal moves added up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_weight: Option<u32>,
    /// What an Arena book stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Why it is not played.
    pub not_played: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn mark_word<S: serde::Serializer>(mark: &Mark, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(mark.as_str())
}

impl PositionView {
    /// Puts together what a book holds of a position and what was made of
    /// its moves.
    #[must_use]
    pub fn new(position: &Chess, found: &Choice) -> PositionView {
        let here = found.lookup.here;
        let record = here.unwrap_or_default();
        PositionView {
            fen: notation::fen(position),
            in_book: here.is_some(),
            games: record.stats.games,
            results: record.stats.results(),
            commentary: record.commentary_for(position.turn()),
            moves: found
                .rows()
                .map(|(mv, verdict)| MoveView::new(position, mv, verdict))
                .collect(),
        }
    }
}

impl MoveView {
    /// What is known of a move of a position.
    #[must_use]
    pub fn new(position: &Chess, mv: &BookMove, verdict: &Weighed) -> MoveView {
        let stats = mv.stats();
        let after = mv.after.unwrap_or_default();
        MoveView {
            uci: notation::uci(mv.mv),
            san: notation::san(position, mv.mv),
            games: stats.games,
            results: stats.results(),
            score: stats.score(),
            average_elo: stats.average_elo(),
            performance: stats.performance(),
            recommendation: after.recommendation,
            mark: mv.mark(),
            annotation: mv.annotation.symbol(),
            annotation_nag: mv.annotation.nag(),
            commentary: after.commentary_for(position.turn().other()),
            factor: mv.factor(),
            evaluation: mv.judged.map(|judged| judged.value),
            loss: mv.judged.map(|judged| judged.loss),
            transposition: mv.transposition,
            probability: verdict.probability,
            weight: verdict.weight,
            stored_weight: match mv.preference {
                Preference::Weight(weight) => Some(weight),
                Preference::Priority(_) | Preference::Statistics => None,
            },
            priority: match mv.preference {
                Preference::Priority(priority) => Some(priority),
                Preference::Weight(_) | Preference::Statistics => None,
            },
            not_played: verdict.rejection.map(|reason| reason.to_string()),
        }
    }

    /// The move with its sign, and a star where it is not stored.
    #[must_use]
    pub fn name(&self) -> String {
        let star = if self.transposition { "*" } else { "" };
        format!("{}{}{star}", self.san, self.annotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Annotation, PositionRecord, Stats};

    fn view(after: PositionRecord) -> MoveView {
        let position = Chess::default();
        let mv = notation::read_move(&position, "e4").unwrap();
        let mv = BookMove::stored(mv, Annotation::GOOD, Some(after));
        MoveView::new(&position, &mv, &Weighed::default())
    }

    #[test]
    fn everything_is_seen_from_the_player_of_the_move() {
        let stats = Stats {
            games: 9,
            wins: 1,
            losses: 7,
            ..Stats::default()
        };
        let seen = view(PositionRecord {
            stats,
            factor: 40,
            commentary: 16,
            recommendation: 0x80,
            ..PositionRecord::default()
        });
        assert_eq!((seen.results, seen.factor), (Results::new(7, 0, 1), -40));
        assert_eq!((seen.commentary, seen.mark), (17, Mark::Main));
        assert_eq!(seen.score, Some(0.875));
        assert_eq!(seen.name(), "e4!");
    }

    #[test]
    fn without_results_there_is_no_score() {
        let stats = Stats {
            games: 9,
            ..Stats::default()
        };
        let seen = view(PositionRecord {
            stats,
            ..PositionRecord::default()
        });
        assert_eq!((seen.games, seen.score), (9, None));
    }
}
