//! Statistics of walks and of the values at their exits.

use std::collections::BTreeMap;

use serde::Serialize;
use shakmaty::{Color, Position as _};

use super::book_walks::{Exit, Walks};
use tabia_book::eval::{Evaluation, Value, model};

/// Highest number of deciding exits in the list.
const MOST_DECIDING: usize = 20;

/// A mean, and half of its 95 % interval, from independent pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half of the interval; unknown with a single pair.
    pub error: Option<f64>,
}

impl Interval {
    /// The mean of the values of pairs; `None` without any.
    fn from_values(values: &[f64]) -> Option<Interval> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = 1.96 * (squares / (count - 1.0) / count).sqrt();
        Some(Interval {
            mean,
            error: (values.len() > 1).then_some(error),
        })
    }
}

/// A share of the walks, for each side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// For the first side.
    pub a: Interval,
    /// For the second side.
    pub b: Interval,
}

/// A difference in Elo with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EloInterval {
    /// Elo of the first side minus Elo of the second.
    pub difference: f64,
    /// Lower end; unknown with a single pair.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl EloInterval {
    fn from_points(points: Interval) -> EloInterval {
        let at = |sign: f64| {
            points
                .error
                .map(|error| model::elo(points.mean + sign * error))
        };
        EloInterval {
            difference: model::elo(points.mean),
            low: at(-1.0),
            high: at(1.0),
        }
    }
}

/// The source of expected points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PointsSource {
    /// Shares of won, drawn and lost games that the engine predicts (`wdl`).
    Engine,
    /// Stockfish's published model, from centipawns and material.
    Model,
    /// The rules: the game is over.
    Rules,
}

/// An exit that one side reaches more often than the other, and whose value differs from
/// the average of the exits.
#[derive(Clone, Debug, Serialize)]
pub struct DecidingExit {
    /// Its index in [`Walks::exits`].
    pub exit: usize,
    /// Points per walk that it adds to the first side's score.
    pub points: f64,
    /// Centipawns that it adds to the mean value for the first side.
    pub cp: f64,
}

/// The statistics of walks.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Pairs whose exits both have a value.
    pub pairs: usize,
    /// Pairs that were not counted, because a value is missing.
    pub without_value: usize,
    /// Mean value of the exits for the first side, in centipawns.
    pub value: Interval,
    /// The mean value of the walks in which it has White, and of those with Black.
    pub value_by_colour: [Interval; 2],
    /// Exits worse than -50 centipawns for the side.
    pub below_50: Share,
    /// Exits worse than -100 centipawns for the side.
    pub below_100: Share,
    /// Expected points of the first side per game.
    pub points: Interval,
    /// The expected points as a difference in Elo.
    pub elo: EloInterval,
    /// Walks by the source of the points of their exit.
    pub points_by: BTreeMap<PointsSource, u64>,
    /// The factor between an error of the single searches and that of the mean value
    /// (standard deviations): walks with the same exit share its error, which the
    /// interval over walks does not include.
    pub search_error_factor: f64,
    /// Share of the walks that end because the first side, or the second side, is out of
    /// its book; the others end by the rules.
    pub leaves_first: [f64; 2],
    /// Plies of a walk, on average.
    pub plies: f64,
    /// Book moves of the first and of the second side in a walk, on average.
    pub book_moves: [f64; 2],
    /// The deciding exits, the greatest contribution first.
    pub deciding: Vec<DecidingExit>,
}

/// Expected points of White in an exit, 0 to 1.
#[must_use]
pub fn points_of_white(exit: &Exit, evaluation: &Evaluation) -> (f64, PointsSource) {
    let of_value = |value: Value| match value {
        Value::Mate { winner, .. } => winner.fold_wb(1.0, 0.0),
        Value::Cp(cp) => {
            let material = model::material(&exit.position);
            let [won, drawn, _] = model::engine_results(f64::from(cp), material);
            won + drawn / 2.0
        }
    };
    if exit.drawn {
        (0.5, PointsSource::Rules)
    } else if exit.position.is_game_over() {
        let winner = exit.position.outcome().winner();
        let points = winner.map_or(0.5, |winner| winner.fold_wb(1.0, 0.0));
        (points, PointsSource::Rules)
    } else if let Some([won, drawn, _]) = evaluation.wdl {
        let of_mover = (f64::from(won) + f64::from(drawn) / 2.0) / 1000.0;
        let turn = exit.position.turn();
        (turn.fold_wb(of_mover, 1.0 - of_mover), PointsSource::Engine)
    } else {
        (of_value(evaluation.value), PointsSource::Model)
    }
}

/// An exit in the statistics.
#[derive(Clone, Copy)]
struct ExitValue {
    /// Centipawns for White, at most ten pawns.
    cp: f64,
    points: f64,
    by: PointsSource,
}

impl ExitValue {
    fn new(exit: &Exit, evaluation: &Evaluation) -> ExitValue {
        let (points, by) = points_of_white(exit, evaluation);
        let cp = match exit.drawn {
            true => 0,
            false => evaluation.value.clamped(Color::White),
        };
        ExitValue {
            cp: cp.into(),
            points,
            by,
        }
    }
}

/// Computes the statistics of walks; `values` are those of [`Walks::exits`]. A pair
/// without a value for one of its exits does not count. `None` if no pair counts.
#[must_use]
pub fn figures(walks: &Walks, values: &[Option<Evaluation>]) -> Option<Figures> {
    let exit_values: Vec<Option<ExitValue>> = walks
        .exits
        .iter()
        .zip(values)
        .map(|(exit, value)| value.as_ref().map(|value| ExitValue::new(exit, value)))
        .collect();
    let exit_value = |exit: usize| exit_values.get(exit).copied().flatten();
    let pairs: Vec<[(usize, ExitValue); 2]> = walks
        .pairs
        .iter()
        .filter_map(|&[white, black]| {
            Some([(white, exit_value(white)?), (black, exit_value(black)?)])
        })
        .collect();
    // By pair: the mean of a number over both walks, from the first side's view.
    let by_pair = |number: &dyn Fn(ExitValue, Color) -> f64| {
        let of = |[(_, white), (_, black)]: &[(usize, ExitValue); 2]| {
            f64::midpoint(number(*white, Color::White), number(*black, Color::Black))
        };
        Interval::from_values(&pairs.iter().map(of).collect::<Vec<f64>>())
    };
    let cp = |exit_value: ExitValue, first: Color| first.fold_wb(exit_value.cp, -exit_value.cp);
    let below = |limit: f64| {
        let is_below = |cp: f64| f64::from(u8::from(cp < limit));
        Some(Share {
            a: by_pair(&|exit_value, first| is_below(cp(exit_value, first)))?,
            b: by_pair(&|exit_value, first| is_below(-cp(exit_value, first)))?,
        })
    };
    let of_colour = |number: fn(&[(usize, ExitValue); 2]) -> f64| {
        Interval::from_values(&pairs.iter().map(number).collect::<Vec<f64>>())
    };
    let points =
        by_pair(&|exit_value, first| first.fold_wb(exit_value.points, 1.0 - exit_value.points))?;
    let games = 2.0 * walks.pairs.len() as f64;
    let mut points_by = BTreeMap::new();
    for (_, exit_value) in pairs.iter().flatten() {
        *points_by.entry(exit_value.by).or_default() += 1;
    }
    let contributions = Contributions::new(walks.exits.len(), &pairs);
    Some(Figures {
        pairs: pairs.len(),
        without_value: walks.pairs.len() - pairs.len(),
        value: by_pair(&cp)?,
        value_by_colour: [
            of_colour(|pair| pair[0].1.cp)?,
            of_colour(|pair| -pair[1].1.cp)?,
        ],
        below_50: below(-50.0)?,
        below_100: below(-100.0)?,
        points,
        elo: EloInterval::from_points(points),
        points_by,
        search_error_factor: contributions.search_error_factor(),
        leaves_first: leaves_first(walks).map(|count| count as f64 / games),
        plies: walks.book_moves.iter().sum::<u64>() as f64 / games,
        book_moves: walks.book_moves.map(|moves| moves as f64 / games),
        deciding: contributions.deciding(&exit_values),
    })
}

/// Number of walks that end because a side is out of its book, for each side.
fn leaves_first(walks: &Walks) -> [u64; 2] {
    let mut count = [0; 2];
    for exit in walks.exits.iter().filter(|exit| !exit.drawn) {
        // The first side is to move if it has the colour that is to move.
        let [as_white, as_black] = exit.reached.map(u64::from);
        let (first, second) = exit
            .position
            .turn()
            .fold_wb((as_white, as_black), (as_black, as_white));
        count[0] += first;
        count[1] += second;
    }
    count
}

/// How much more often the first side reaches each exit with White than the second side
/// does, as a share of the pairs.
///
/// The score of the first side is `0.5 + sum of surplus * points / 2`. The sum of all
/// surpluses is zero, so the mean can be subtracted from the points: an exit that both
/// sides reach equally often, or that has the average value, decides nothing.
struct Contributions {
    surplus: Vec<f64>,
    mean: (f64, f64),
}

impl Contributions {
    fn new(exits: usize, pairs: &[[(usize, ExitValue); 2]]) -> Contributions {
        let step = 1.0 / pairs.len().max(1) as f64;
        let mut surplus = vec![0.0; exits];
        let mut mean = (0.0, 0.0);
        for pair in pairs {
            for ((exit, exit_value), sign) in pair.iter().zip([step, -step]) {
                surplus[*exit] += sign;
                mean.0 += exit_value.points * step / 2.0;
                mean.1 += exit_value.cp * step / 2.0;
            }
        }
        Contributions { surplus, mean }
    }

    fn search_error_factor(&self) -> f64 {
        let squares = self.surplus.iter().map(|surplus| surplus * surplus);
        squares.sum::<f64>().sqrt() / 2.0
    }

    fn deciding(&self, exit_values: &[Option<ExitValue>]) -> Vec<DecidingExit> {
        let all = self.surplus.iter().zip(exit_values).enumerate();
        let mut deciding: Vec<DecidingExit> = all
            .filter_map(|(exit, (surplus, exit_value))| {
                let exit_value = (*exit_value)?;
                let points = surplus * (exit_value.points - self.mean.0) / 2.0;
                let cp = surplus * (exit_value.cp - self.mean.1) / 2.0;
                (points.abs() > 1e-9).then_some(DecidingExit { exit, points, cp })
            })
            .collect();
        deciding.sort_by(|a, b| b.points.abs().total_cmp(&a.points.abs()));
        deciding.truncate(MOST_DECIDING);
        deciding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_notation::Line;

    fn exit(line: &str, reached: [u32; 2]) -> Exit {
        let line = Line::read("", line).unwrap();
        Exit {
            position: line.last().clone(),
            moves: line.moves().map(|(_, mv)| mv).collect(),
            drawn: false,
            reached,
        }
    }

    fn value(cp: i32, wdl: Option<[u16; 3]>) -> Option<Evaluation> {
        Some(Evaluation {
            wdl,
            ..Evaluation::from(Value::cp(cp))
        })
    }

    /// Four pairs: the first side reaches 1.e4 (+60 for White) with White, the second
    /// 1.d4 (-60) every other time.
    fn example() -> (Walks, Vec<Option<Evaluation>>) {
        let walks = Walks {
            exits: vec![exit("e4", [4, 2]), exit("d4", [0, 2])],
            pairs: vec![[0, 0], [0, 1], [0, 0], [0, 1]],
            book_moves: [4, 4],
        };
        // Black is to move: 400 of 1000 for Black is 0.6 for White.
        let values = vec![
            value(60, Some([0, 800, 200])),
            value(-60, Some([200, 800, 0])),
        ];
        (walks, values)
    }

    #[test]
    fn figures_are_means_over_pairs() {
        let (walks, values) = example();
        let found = figures(&walks, &values).unwrap();
        assert_eq!((found.pairs, found.without_value), (4, 0));
        // Pairs: (60 - 60) / 2 = 0 and (60 + 60) / 2 = 60.
        assert!((found.value.mean - 30.0).abs() < 1e-9);
        let deviation = (4.0 * 30.0_f64.powi(2) / 3.0).sqrt();
        let error = 1.96 * deviation / 2.0;
        assert!((found.value.error.unwrap() - error).abs() < 1e-9);
        assert_eq!(found.value_by_colour.map(|of| of.mean), [60.0, 0.0]);
        // In pairs 1 and 3 the first side has -60 with Black, in all four the second one
        // has -60 with Black.
        assert_eq!(found.below_50.a.mean, 0.25);
        assert_eq!(found.below_50.b.mean, 0.75);
        assert_eq!(found.below_100.b.mean, 0.0);
        assert!((found.points.mean - 0.55).abs() < 1e-9);
        assert!(
            (found.elo.difference - 34.86).abs() < 0.01,
            "{:?}",
            found.elo
        );
        assert!(found.elo.low.unwrap() < found.elo.difference);
        assert_eq!(found.points_by, [(PointsSource::Engine, 8)].into());
        // In all of these Black is to move and out of book.
        assert_eq!(found.leaves_first, [0.5, 0.5]);
        assert_eq!(found.plies, 1.0);
    }

    #[test]
    fn contributions_add_up_to_the_difference() {
        let (walks, values) = example();
        let found = figures(&walks, &values).unwrap();
        let points: f64 = found.deciding.iter().map(|exit| exit.points).sum();
        assert!((points - (found.points.mean - 0.5)).abs() < 1e-9);
        let cp: f64 = found.deciding.iter().map(|exit| exit.cp).sum();
        assert!((cp - found.value.mean).abs() < 1e-9);
        // 1.d4, which only the second side plays, is further from the mean.
        assert_eq!(found.deciding[0].exit, 1);
        // The surplus is 1/2 and -1/2.
        assert!((found.search_error_factor - 0.5_f64.sqrt() / 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_both_reach_equally_often_decides_nothing() {
        let walks = Walks {
            exits: vec![exit("e4", [1, 1]), exit("d4", [1, 1])],
            pairs: vec![[0, 0], [1, 1]],
            book_moves: [2, 2],
        };
        let found = figures(&walks, &[value(900, None), value(-20, None)]).unwrap();
        assert_eq!(found.value.mean, 0.0);
        assert_eq!(found.elo.difference, 0.0);
        assert_eq!(found.elo.low, Some(0.0));
        assert_eq!(found.search_error_factor, 0.0);
        assert!(found.deciding.is_empty());
        assert_eq!(found.points_by, [(PointsSource::Model, 4)].into());
    }

    #[test]
    fn pairs_without_a_value_do_not_count() {
        let (walks, mut values) = example();
        values[1] = None;
        let found = figures(&walks, &values).unwrap();
        assert_eq!((found.pairs, found.without_value), (2, 2));
        assert_eq!(found.value.mean, 0.0);
        assert!(figures(&walks, &[None, None]).is_none());
        assert_eq!(Interval::from_values(&[3.0]).unwrap().error, None);
    }

    #[test]
    fn a_game_that_is_over_has_its_result() {
        let mate = exit("f3 e5 g4 Qh4", [1, 0]);
        let evaluation = Evaluation::from(Value::mate_of_mover(Color::White, 0));
        assert_eq!(
            points_of_white(&mate, &evaluation),
            (0.0, PointsSource::Rules)
        );
        let mut drawn = exit("e4", [1, 0]);
        drawn.drawn = true;
        let evaluation = value(300, Some([0, 0, 1000])).unwrap();
        assert_eq!(
            points_of_white(&drawn, &evaluation),
            (0.5, PointsSource::Rules)
        );
        // White is to move, and 300 centipawns up by the model.
        let up = exit("e4 e5", [1, 0]);
        let (points, by) = points_of_white(&up, &value(300, None).unwrap());
        assert!(points > 0.99 && by == PointsSource::Model);
        let (points, _) = points_of_white(&up, &value(-300, None).unwrap());
        assert!(points < 0.01);
    }
}
