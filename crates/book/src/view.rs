//! A position for people and programs: figures, marks, probabilities, and why a move is
//! not played. Tables, JSON, CSV and the explorer print it; values that only some book
//! formats have may be missing.

use shakmaty::{Chess, Position};

use crate::policy::{Weighed, WeighedMoves};
use crate::{BookMove, Error, Field, Mark, MoveGames, Preference, Probe};
use tabia_notation::{self as notation, Results};

/// What a book stores about a position, from the view of the side to move.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PositionView {
    /// The position.
    pub fen: String,
    /// Whether it is in the book.
    pub in_book: bool,
    /// Games through it.
    pub games: u32,
    /// Their results for the side to move.
    #[serde(flatten)]
    pub results: Results,
    /// NAG number on the real board, 0 for none.
    pub commentary: u8,
    /// Its moves.
    pub moves: Vec<MoveView>,
}

/// What a book stores about a move, all from the view of its player.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MoveView {
    /// UCI notation, as `e1g1`.
    pub uci: String,
    /// SAN, as `O-O`.
    pub san: String,
    /// Games with it; in a ChessBase book, those that reach the position after it.
    pub games: u32,
    /// The same, told apart: see [`PositionView::with_games_of`].
    #[serde(flatten)]
    pub by_order: MoveGames,
    /// Their results for its player.
    #[serde(flatten)]
    pub results: Results,
    /// Share of the points, 0 to 1; `None` without results.
    pub score: Option<f64>,
    /// Mean rating of its players, if known.
    pub average_elo: Option<f64>,
    /// Their performance rating, if ratings are known.
    pub performance: Option<f64>,
    /// The recommendation byte of the position after it.
    pub recommendation: u8,
    /// The name of that byte's colour.
    #[serde(serialize_with = "mark_word")]
    pub mark: Mark,
    /// The annotation after it, empty for none.
    pub annotation: &'static str,
    /// The NAG number of the annotation.
    #[serde(skip)]
    pub annotation_nag: u8,
    /// NAG number of the position after it on the real board, 0 for none.
    pub commentary: u8,
    /// The learn value, -125 to 125: positive favours the move. Written under its older
    /// name too.
    #[serde(flatten, serialize_with = "learn_value_by_names")]
    pub learn_value: i8,
    /// Its evaluation in centipawns for its player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<i32>,
    /// Difference in centipawns from the best known move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<u32>,
    /// Whether it is not stored but leads into the book.
    pub transposition: bool,
    /// Probability that the adapter plays it, 0 to 1.
    pub probability: f64,
    /// Its weight in the draw.
    pub weight: f64,
    /// The weight in a Polyglot book, the sum over equal moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_weight: Option<u32>,
    /// The priority in an Arena book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Why it is not played.
    pub not_played: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn learn_value_by_names<S: serde::Serializer>(
    value: &i8,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Field::LearnValue.names().iter().map(|name| (name, value)))
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn mark_word<S: serde::Serializer>(mark: &Mark, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(mark.as_str())
}

impl PositionView {
    /// Makes a view of what a book stores about a position and of the weighed moves.
    #[must_use]
    pub fn new(position: &Chess, found: &WeighedMoves) -> PositionView {
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

impl PositionView {
    /// The view with the games of each move, by how they come to it, from the
    /// book that `found` is of.
    ///
    /// # Errors
    ///
    /// The book cannot be read any more.
    pub fn with_games_of(
        mut self,
        book: &(impl Probe + ?Sized),
        position: &Chess,
        found: &WeighedMoves,
    ) -> Result<PositionView, Error> {
        for (view, (entry, _)) in self.moves.iter_mut().zip(found.rows()) {
            view.by_order = book.games_of(position, entry)?;
        }
        Ok(self)
    }
}

impl MoveView {
    /// The view of a move of a position.
    #[must_use]
    pub fn new(position: &Chess, entry: &BookMove, verdict: &Weighed) -> MoveView {
        let stats = entry.stats();
        let after = entry.after.unwrap_or_default();
        MoveView {
            uci: notation::uci(entry.mv),
            san: notation::san(position, entry.mv),
            games: stats.games,
            by_order: MoveGames::default(),
            results: stats.results(),
            score: stats.score(),
            average_elo: stats.average_elo(),
            performance: stats.performance(),
            recommendation: after.recommendation,
            mark: entry.mark(),
            annotation: entry.annotation.symbol(),
            annotation_nag: entry.annotation.nag(),
            commentary: after.commentary_for(position.turn().other()),
            learn_value: entry.learn_value(),
            evaluation: entry.evaluation.map(|known| known.value),
            loss: entry.evaluation.map(|known| known.loss),
            transposition: entry.transposition,
            probability: verdict.probability,
            weight: verdict.weight,
            stored_weight: match entry.preference {
                Preference::Weight(weight) => Some(weight),
                Preference::Priority(_) | Preference::Statistics => None,
            },
            priority: match entry.preference {
                Preference::Priority(priority) => Some(priority),
                Preference::Weight(_) | Preference::Statistics => None,
            },
            not_played: verdict.rejection.map(|reason| reason.to_string()),
        }
    }

    /// The move with its annotation, and a star if it is not stored.
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
            learn_value: 40,
            commentary: 16,
            recommendation: 0x80,
            ..PositionRecord::default()
        });
        assert_eq!(
            (seen.results, seen.learn_value),
            (Results::new(7, 0, 1), -40)
        );
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
