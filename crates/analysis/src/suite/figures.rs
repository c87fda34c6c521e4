//! Statistics of a suite: the numbers by which testers choose.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use shakmaty::{Chess, Position as _};

use super::filter::{is_opposite, queens};
use super::values::PositionEval;
use tabia_book::eval::model;

/// Collects statistics of positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Positions.
    pub(super) total: u64,
    /// Positions with White to move.
    pub(super) white: u64,
    /// Fewest and most plies after the usual start position; `None` if unknown for a
    /// position.
    plies: Option<(u32, u32)>,
    without_ply: bool,
    /// Positions with both queens on the board.
    pub(super) both_queens: u64,
    men: u64,
    /// Positions with kings on different wings.
    pub(super) opposite: u64,
    /// By centipawns of the better side: the number of positions, and of those where that
    /// is White.
    values: BTreeMap<i32, (u64, u64)>,
    decided: u64,
    draws: f64,
    slope: f64,
    variance: f64,
    openings: HashMap<Vec<u8>, u64>,
}

/// The finished statistics.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteSummary {
    /// Positions.
    pub positions: u64,
    /// Positions with White to move.
    pub white_to_move: u64,
    /// Positions with Black to move.
    pub black_to_move: u64,
    /// Plies of the shortest line, if known for all.
    pub min_ply: Option<u32>,
    /// Plies of the longest line, if known for all.
    pub max_ply: Option<u32>,
    /// Positions with queens of both colours.
    pub both_queens: u64,
    /// Positions with kings on different wings.
    pub opposite_castling: u64,
    /// Men on the board, on average.
    pub mean_men: f64,
    /// Statistics of the values, if there are any.
    pub evaluation: Option<SuiteEvaluations>,
    /// How different the openings are.
    pub diversity: Option<Diversity>,
}

/// Statistics of the values, in centipawns of the better side.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteEvaluations {
    /// Positions with a value.
    pub known: u64,
    /// Mates, and values equivalent to a mate.
    pub decided: u64,
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Percentiles 1, 50 and 99.
    pub percentiles: [i32; 3],
    /// Mean for White.
    pub mean_for_white: f64,
    /// Positions in which White is better.
    pub white_better: u64,
    /// Positions in which Black is better.
    pub black_better: u64,
    /// Expected share of draws between strong equal engines, 0 to 1.
    pub draw_rate: f64,
    /// How clearly strength shows, relative to a suite of equal positions.
    pub sensitivity: f64,
    /// Games needed for the same error, relative to a suite of equal positions.
    pub games_needed: f64,
}

/// How different the openings are, by their first four plies or their codes.
#[derive(Clone, Debug, Serialize)]
pub struct Diversity {
    /// Positions whose beginning is known. In a suite of positions these are few: those that
    /// are themselves named openings.
    pub positions: u64,
    /// Number of different beginnings of these.
    pub openings: usize,
    /// Entropy of their distribution, in bits.
    pub entropy: f64,
    /// Share of the most frequent one.
    pub greatest_share: f64,
}

/// The identity of a line's beginning: in a suite of positions the ECO code, if the
/// position has one; in a suite of games the first four plies. Making and checking a
/// suite count the same way.
pub(super) fn beginning(position: &Chess, path: Option<&[u8]>) -> Option<Vec<u8>> {
    match path {
        None => tabia_notation::openings::find(position).map(|opening| opening.eco.into()),
        Some(path) => Some(path.get(..8).unwrap_or(path).to_vec()).filter(|path| !path.is_empty()),
    }
}

/// The derivative of the expected score by strength, and the variance of half a pair, for
/// a position of so many centipawns with all men on the board (Stockfish's model; the
/// weaker side's game is the mirror image).
fn contribution(cp: f64) -> (f64, f64) {
    let score = |cp| {
        let [won, drawn, _] = model::engine_results(cp, 78);
        won + drawn / 2.0
    };
    let [won, drawn, _] = model::engine_results(cp, 78);
    let expected = score(cp);
    let variance = won + drawn / 4.0 - expected * expected;
    ((score(cp + 1.0) - score(cp - 1.0)) / 2.0, variance / 2.0)
}

impl Figures {
    /// Adds a position. `ply` is the number of plies after the usual start position, if
    /// known; `opening` identifies the beginning of its line.
    pub(super) fn add(
        &mut self,
        position: &Chess,
        ply: Option<u32>,
        eval: Option<&PositionEval>,
        opening: Option<&[u8]>,
    ) {
        self.total += 1;
        let board = position.board();
        self.white += u64::from(position.turn().is_white());
        match ply {
            Some(ply) => {
                let (least, most) = self.plies.unwrap_or((ply, ply));
                self.plies = Some((least.min(ply), most.max(ply)));
            }
            None => self.without_ply = true,
        }
        self.both_queens += u64::from(queens(position) == [true, true]);
        self.men += board.occupied().count() as u64;
        self.opposite += u64::from(is_opposite(position));
        if let Some(opening) = opening {
            *self.openings.entry(opening.to_vec()).or_default() += 1;
        }
        let Some(eval) = eval else { return };
        if eval.is_decided() {
            self.decided += 1;
            return;
        }
        let cp = eval.cp();
        let white_better = (cp > 0) == position.turn().is_white() && cp != 0;
        let (count, white) = self.values.entry(cp.abs()).or_default();
        *count += 1;
        *white += u64::from(white_better);
        self.draws += eval.results(position)[1];
        let (slope, variance) = contribution(f64::from(cp.abs()));
        self.slope += slope;
        self.variance += variance;
    }

    /// The shortest and the longest line in plies, if known for all.
    pub(super) fn plies(&self) -> Option<(u32, u32)> {
        self.plies.filter(|_| !self.without_ply)
    }

    /// Returns the statistics.
    pub(super) fn summary(&self) -> SuiteSummary {
        SuiteSummary {
            positions: self.total,
            white_to_move: self.white,
            black_to_move: self.total - self.white,
            min_ply: self.plies().map(|(least, _)| least),
            max_ply: self.plies().map(|(_, most)| most),
            both_queens: self.both_queens,
            opposite_castling: self.opposite,
            mean_men: self.men as f64 / self.total.max(1) as f64,
            evaluation: self.evaluations(),
            diversity: self.diversity(),
        }
    }

    fn evaluations(&self) -> Option<SuiteEvaluations> {
        let known: u64 = self.values.values().map(|(count, _)| count).sum();
        if known == 0 {
            return None;
        }
        let n = known as f64;
        let all = || {
            self.values
                .iter()
                .map(|(cp, (count, white))| (f64::from(*cp), *count as f64, *white as f64))
        };
        let mean = all().map(|(cp, count, _)| cp * count).sum::<f64>() / n;
        let variance = all()
            .map(|(cp, count, _)| (cp - mean).powi(2) * count)
            .sum::<f64>()
            / n;
        let for_white = all()
            .map(|(cp, count, white)| cp * (2.0 * white - count))
            .sum::<f64>()
            / n;
        let white_better = self.values.values().map(|(_, white)| white).sum();
        let equal = self.values.get(&0).map_or(0, |(count, _)| *count);
        let at = |share: f64| {
            let mut before = 0;
            let found = self.values.iter().find(|(_, (count, _))| {
                before += count;
                before as f64 >= share * n
            });
            found.map_or(0, |(cp, _)| *cp)
        };
        let (slope, variance_of_pairs) = contribution(0.0);
        let balanced = slope / variance_of_pairs.sqrt();
        let sensitivity = self.slope / n / (self.variance / n).sqrt() / balanced;
        Some(SuiteEvaluations {
            known,
            decided: self.decided,
            mean,
            sd: variance.sqrt(),
            percentiles: [at(0.01), at(0.5), at(0.99)],
            mean_for_white: for_white,
            white_better,
            black_better: known - white_better - equal,
            draw_rate: self.draws / n,
            sensitivity,
            games_needed: 1.0 / (sensitivity * sensitivity),
        })
    }

    fn diversity(&self) -> Option<Diversity> {
        let total: u64 = self.openings.values().sum();
        let greatest = self.openings.values().max()?;
        // Sorted, so that the sum is the same every time.
        let mut counts: Vec<u64> = self.openings.values().copied().collect();
        counts.sort_unstable();
        let share = |count: u64| count as f64 / total as f64;
        let bits = |count: &u64| -share(*count) * share(*count).log2();
        Some(Diversity {
            positions: total,
            openings: counts.len(),
            entropy: counts.iter().map(bits).sum::<f64>() + 0.0,
            greatest_share: share(*greatest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::eval::Value;

    /// How clearly strength shows in pairs of games from a position, relative to an equal
    /// position.
    fn sensitivity(cp: f64) -> f64 {
        let of = |cp| {
            let (slope, variance) = contribution(cp);
            slope / variance.sqrt()
        };
        of(cp) / of(0.0)
    }

    #[test]
    fn strength_shows_best_a_pawn_up() {
        for (cp, expected) in [
            (0.0, 1.0),
            (25.0, 1.10),
            (50.0, 1.35),
            (75.0, 1.60),
            (90.0, 1.68),
            (100.0, 1.70),
            (110.0, 1.68),
            (125.0, 1.59),
            (150.0, 1.31),
            (200.0, 0.72),
        ] {
            let found = sensitivity(cp);
            assert!((found - expected).abs() < 0.006, "{cp}: {found}");
        }
        let (_, variance) = contribution(100.0);
        assert!((variance - 0.0315).abs() < 0.001);
    }

    #[test]
    fn figures_of_a_small_suite() {
        let mut figures = Figures::default();
        let start = Chess::default();
        for (cp, opening) in [(90, b"a"), (110, b"a"), (-100, b"b")] {
            let eval = PositionEval {
                value: Value::cp(cp),
                depth: 1,
                nodes: 0,
                wdl: None,
            };
            figures.add(&start, Some(0), Some(&eval), Some(opening));
        }
        let summary = figures.summary();
        let values = summary.evaluation.expect("values");
        assert_eq!((values.white_better, values.black_better), (2, 1));
        assert_eq!(values.percentiles, [90, 100, 110]);
        assert!(
            (values.mean - 100.0).abs() < 1e-9
                && (values.mean_for_white - 100.0 / 3.0).abs() < 1e-9
        );
        assert!((values.draw_rate - 0.5).abs() < 0.01 && (values.games_needed - 0.35).abs() < 0.01);
        assert_eq!((summary.min_ply, summary.both_queens), (Some(0), 3));
        let diversity = summary.diversity.expect("openings");
        assert_eq!(diversity.openings, 2);
        assert!((diversity.entropy - 0.918).abs() < 0.001);
        assert!((diversity.greatest_share - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn each_position_counts_for_one_side() {
        let mut figures = Figures::default();
        let black = tabia_notation::position("4k3/8/8/8/8/8/8/4K2Q b - - 0 1");
        let black = black.expect("a position");
        for (position, cp) in [
            (&Chess::default(), 0),
            (&Chess::default(), 40),
            (&Chess::default(), -50),
            (&black, -60),
            (&black, 70),
        ] {
            let eval = PositionEval {
                value: Value::cp(cp),
                depth: 1,
                nodes: 0,
                wdl: None,
            };
            figures.add(position, None, Some(&eval), None);
        }
        let summary = figures.summary();
        assert_eq!((summary.white_to_move, summary.black_to_move), (3, 2));
        assert_eq!((summary.min_ply, summary.max_ply), (None, None));
        assert!((summary.mean_men - 20.4).abs() < 1e-9);
        let values = summary.evaluation.expect("values");
        assert_eq!(
            (values.known, values.white_better + values.black_better),
            (5, 4)
        );
        assert_eq!(values.percentiles, [0, 50, 70]);
        assert!(summary.diversity.is_none());
    }
}
