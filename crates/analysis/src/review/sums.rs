//! Sums over reviewed games.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use shakmaty::Color;

use super::{GameInBook, Left, PairedResults, ReviewReport};
use crate::pairs::Pairs;
use crate::tally::Tally;

/// Results, and the engine's first values after the book.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    #[serde(flatten)]
    pub tally: Tally,
    /// Games with a value of the engine after the book.
    pub valued: u64,
    /// The sum of these values in centipawns, each limited to ten pawns.
    #[serde(skip)]
    sum: i64,
    /// Mean of these values.
    pub mean_value: Option<f64>,
}

impl Score {
    pub(super) fn add(&mut self, played: &GameInBook) {
        self.tally.count(played.points);
        if let Some((_, known)) = &played.value {
            self.valued += 1;
            self.sum += i64::from(known.value.clamped(played.side));
            self.mean_value = Some(self.sum as f64 / self.valued as f64);
        }
    }
}

/// A position in which games left the book.
#[derive(Clone, Debug, Serialize)]
pub struct Exit {
    /// The first position that is not in the book, or in which the book has no move.
    pub fen: String,
    /// The moves to it.
    pub line: String,
    #[serde(flatten)]
    pub record: Score,
}

/// The games of an opening.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewOpening {
    /// Its ECO code.
    pub eco: String,
    pub name: String,
    #[serde(flatten)]
    pub record: Score,
}

/// The distribution of a number, with five percentiles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Spread {
    /// The count of numbers.
    pub count: usize,
    pub mean: f64,
    pub sd: f64,
    /// The percentiles 5, 25, 50, 75 and 95.
    pub percentiles: [i32; 5],
    /// Counts by the lower end of each bar.
    pub histogram: BTreeMap<i32, u64>,
}

impl Spread {
    /// Makes a distribution with bars of this width; numbers from `most` up are in the
    /// last one.
    fn new(mut numbers: Vec<i32>, width: i32, most: i32) -> Spread {
        numbers.sort_unstable();
        let mut histogram = BTreeMap::new();
        for number in &numbers {
            let bar = number.clamp(&-most, &(most - 1)).div_euclid(width) * width;
            *histogram.entry(bar).or_default() += 1;
        }
        let n = numbers.len() as f64;
        let at = |share: f64| {
            let index = (share * (n - 1.0)).round() as usize;
            numbers.get(index).copied().unwrap_or(0)
        };
        let percentiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(at);
        let sum: f64 = numbers.iter().map(|number| f64::from(*number)).sum();
        let mean = if numbers.is_empty() { 0.0 } else { sum / n };
        let square = |number: &i32| (f64::from(*number) - mean).powi(2);
        let variance = numbers.iter().map(square).sum::<f64>() / n.max(1.0);
        Spread {
            count: numbers.len(),
            mean,
            sd: variance.sqrt(),
            percentiles,
            histogram,
        }
    }
}

/// Pairs of games of an event against the same opponent in the same round, colours
/// exchanged. Rounds are numbered `1.1` and `1.2`, or both `1`. An event of the same name in
/// later years is another one (the final of the Candidates of 1968, and that of 1977); a
/// match may go on at midnight of New Year's Eve.
fn pairs(all: &[GameInBook]) -> Option<PairedResults> {
    type Waiting = Vec<(u8, u16)>;
    let mut waiting: HashMap<([&str; 3], Color), Waiting> = HashMap::new();
    let mut pairs = Pairs::default();
    for played in all {
        let [opponent, event, round] = &played.against;
        let round = round.split('.').next().unwrap_or_default();
        let meeting = [opponent.as_str(), event.as_str(), round];
        let (Some(points), Ok(_)) = (played.points, round.parse::<u32>()) else {
            continue;
        };
        let year = played.year;
        let is_near = |other: u16| year.min(other) == 0 || year.abs_diff(other) <= 1;
        let others = waiting.get_mut(&(meeting, !played.side));
        let other = others.and_then(|others| {
            let at = others.iter().rposition(|(_, year)| is_near(*year))?;
            Some(others.remove(at).0)
        });
        match other {
            Some(other) => pairs.add([points, other]),
            None => {
                let own = waiting.entry((meeting, played.side)).or_default();
                own.push((points, year));
            }
        }
    }
    (pairs.count() > 0).then(|| PairedResults {
        strength: pairs.strength(),
        pairs,
    })
}

/// Makes the whole report on these games.
pub(super) fn sum(all: Vec<GameInBook>) -> ReviewReport {
    let mut record = Score::default();
    let mut openings: BTreeMap<(String, String), Score> = BTreeMap::new();
    let mut exits: BTreeMap<String, Exit> = BTreeMap::new();
    let (mut plies, mut values) = (Vec::new(), Vec::new());
    let count = |left| all.iter().filter(|played| played.left == left).count() as u64;
    let [left_by_player, left_by_opponent, ended, to_the_end] =
        [Left::ByPlayer, Left::ByOpponent, Left::Ended, Left::InBook].map(count);
    let never = all.iter().filter(|played| played.plies == 0).count() as u64;
    for played in &all {
        record.add(played);
        plies.push(played.plies as i32);
        if let Some((_, known)) = &played.value {
            values.push(known.value.clamped(played.side));
        }
        let opening = (played.eco.clone(), played.name.clone());
        openings.entry(opening).or_default().add(played);
        let exit = exits.entry(played.fen.clone()).or_insert_with(|| Exit {
            fen: played.fen.clone(),
            line: played.line.clone(),
            record: Score::default(),
        });
        exit.record.add(played);
    }
    let below = |cp: i32| {
        let count = values.iter().filter(|value| **value < cp).count();
        count as f64 / values.len() as f64
    };
    let below = (!values.is_empty()).then(|| [below(-50), below(-100)]);
    let openings = openings
        .into_iter()
        .map(|((eco, name), record)| ReviewOpening { eco, name, record });
    let mut openings: Vec<ReviewOpening> = openings.collect();
    openings.sort_by_key(|opening| std::cmp::Reverse(opening.record.tally.games));
    let mut exits: Vec<Exit> = exits.into_values().collect();
    exits.sort_by_key(|exit| std::cmp::Reverse(exit.record.tally.games));
    let lost = |exit: &&Exit| exit.record.tally.deficit() > 0.0;
    let mut losing: Vec<Exit> = exits.iter().filter(lost).cloned().collect();
    losing.sort_by(|a, b| {
        b.record
            .tally
            .deficit()
            .total_cmp(&a.record.tally.deficit())
    });
    losing.truncate(50);
    ReviewReport {
        record,
        forfeited: all.iter().filter(|played| played.forfeited).count() as u64,
        pairs: pairs(&all),
        never,
        plies: Spread::new(plies, 2, 80),
        left_by_player,
        left_by_opponent,
        ended,
        to_the_end,
        values: (!values.is_empty()).then(|| Spread::new(values, 25, 300)),
        below,
        openings,
        exits,
        losing,
        found: all.into_iter().filter_map(|played| played.value).collect(),
        ..ReviewReport::default()
    }
}
