//! Merging the entries of several books for one position.
//!
//! | part | rule |
//! |---|---|
//! | games, results, ratings, expected points | added up |
//! | moves | lists that are all equal stay as they are; otherwise the union, sorted by move byte |
//! | annotation of a move | the one that comes later in: none, other, `!`, `!!`, `!?`, `?!`, `?`, `??`, only move; of two others the greater number. Flags are united |
//! | recommendation | bits united; "not for tournaments" overrides "main move" |
//! | learn value | the one farther from 0; at equal distance the negative one |
//! | commentary | the greater number, so any replaces none |
//!
//! Every rule but the first is the maximum of some order, or a union, so neither the
//! order of the books matters, nor whether they are merged all at once or one after the
//! other. The same is true for sums as long as they fit: 16,777,215 games, and ratings
//! with a sum of 4,294,967,295. Beyond that, the counters of a position are scaled down
//! together, so that their ratios stay; then books merged in one run still give the same
//! result in any order, but a book that was scaled before counts less than the books it
//! was made from.
//!
//! Expected points of 0 with games won or drawn are from an old book that does not store
//! them; they are computed from the results before adding.

use super::{
    Entry, MAX_COUNT, MAX_MOVES,
    entry::encode_record,
    page::{PageFault, split_entry},
};
use crate::{Annotation, PositionRecord, Stats};

/// Sums of statistics of any number of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Games.
    pub games: u64,
    /// Games won by the side to move.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost by the side to move.
    pub losses: u64,
    /// Games in which the own player has a rating.
    pub own_rated: u64,
    /// Sum of these ratings.
    pub own_rating_sum: u64,
    /// Games in which the opponent has a rating.
    pub other_rated: u64,
    /// Sum of these ratings.
    pub other_rating_sum: u64,
    /// Ten times the expected points.
    pub points: u64,
}

impl From<Stats> for Totals {
    #[inline]
    fn from(stats: Stats) -> Totals {
        Totals {
            games: stats.games.into(),
            wins: stats.wins.into(),
            draws: stats.draws.into(),
            losses: stats.losses.into(),
            own_rated: stats.own_rated.into(),
            own_rating_sum: stats.own_rating_sum,
            other_rated: stats.other_rated.into(),
            other_rating_sum: stats.other_rating_sum,
            points: 0,
        }
    }
}

impl Totals {
    /// Adds the statistics of an entry.
    pub fn add(&mut self, record: &PositionRecord) {
        let stats = record.stats;
        let results = 5 * stats.results().half_points();
        let points = match u64::from(record.points) {
            0 if results > 0 => results + 5 * u64::from(stats.unfinished()),
            points => points,
        };
        self.join(&Totals {
            points,
            ..stats.into()
        });
    }

    /// Adds other sums.
    #[inline]
    pub fn join(&mut self, other: &Totals) {
        for (total, more) in [
            (&mut self.games, other.games),
            (&mut self.wins, other.wins),
            (&mut self.draws, other.draws),
            (&mut self.losses, other.losses),
            (&mut self.own_rated, other.own_rated),
            (&mut self.own_rating_sum, other.own_rating_sum),
            (&mut self.other_rated, other.other_rated),
            (&mut self.other_rating_sum, other.other_rating_sum),
            (&mut self.points, other.points),
        ] {
            *total = total.saturating_add(more);
        }
    }

    /// Statistics and expected points that fit into an entry. If a counter is above
    /// [`MAX_COUNT`], all are scaled down together, rounding down; a sum of ratings is
    /// scaled with its count, and both again if the sum does not fit 32 bits.
    #[inline]
    #[must_use]
    pub fn fitted(&self) -> (Stats, u32) {
        // All its bits are set, so if no counter has a higher bit, none is larger.
        const { assert!(MAX_COUNT.trailing_ones() + MAX_COUNT.leading_zeros() == u32::BITS) };
        let all = self.counters().iter().fold(0, |all, counter| all | counter);
        let has_room = |sum| sum <= u64::from(u32::MAX);
        if all > u64::from(MAX_COUNT)
            || !has_room(self.own_rating_sum)
            || !has_room(self.other_rating_sum)
        {
            return self.scaled_down();
        }
        // The usual case.
        let stats = Stats {
            games: self.games as u32,
            wins: self.wins as u32,
            draws: self.draws as u32,
            losses: self.losses as u32,
            own_rated: self.own_rated as u32,
            own_rating_sum: self.own_rating_sum,
            other_rated: self.other_rated as u32,
            other_rating_sum: self.other_rating_sum,
        };
        (stats, u32::try_from(self.points).unwrap_or(u32::MAX))
    }

    #[inline]
    fn counters(&self) -> [u64; 6] {
        [
            self.games,
            self.wins,
            self.draws,
            self.losses,
            self.own_rated,
            self.other_rated,
        ]
    }

    /// [`Totals::fitted`] if something does not fit.
    #[cold]
    fn scaled_down(&self) -> (Stats, u32) {
        let most = u64::from(MAX_COUNT);
        let largest = self.counters().into_iter().fold(0, u64::max);
        let scaled = |value: u64| {
            if largest > most {
                portion(value, most, largest)
            } else {
                value
            }
        };
        let counter = |value: u64| scaled(value) as u32;
        let ratings = |count: u64, sum: u64| {
            let fitted = scaled(count);
            let sum = portion(sum, fitted, count);
            let limit = u64::from(u32::MAX);
            if sum > limit {
                let fewer = portion(fitted, limit, sum);
                (fewer as u32, portion(sum, fewer, fitted))
            } else {
                (fitted as u32, sum)
            }
        };
        let (own_rated, own_rating_sum) = ratings(self.own_rated, self.own_rating_sum);
        let (other_rated, other_rating_sum) = ratings(self.other_rated, self.other_rating_sum);
        let stats = Stats {
            games: counter(self.games),
            wins: counter(self.wins),
            draws: counter(self.draws),
            losses: counter(self.losses),
            own_rated,
            own_rating_sum,
            other_rated,
            other_rating_sum,
        };
        let points = scaled(self.points);
        (stats, u32::try_from(points).unwrap_or(u32::MAX))
    }
}

/// `value * part / whole`, rounded down; 0 if `whole` is 0, as for the rating sum of no
/// games.
fn portion(value: u64, part: u64, whole: u64) -> u64 {
    if part == whole {
        return value;
    }
    let product = u128::from(value) * u128::from(part);
    let result = product.checked_div(whole.into()).unwrap_or(0);
    u64::try_from(result).unwrap_or(u64::MAX)
}

/// Appends the sum of entries with the same key to `out`: see the rules above. A single
/// entry is copied unchanged.
///
/// # Errors
///
/// An entry is not complete, or there is none.
pub fn sum_entries(entries: &[&[u8]], out: &mut Vec<u8>) -> Result<(), PageFault> {
    if let [alone] = entries {
        split_entry(alone, 0)?;
        out.extend_from_slice(alone);
        return Ok(());
    }
    let entries: Vec<Entry<'_>> = entries
        .iter()
        .map(|bytes| split_entry(bytes, 0).map(|(entry, _)| entry))
        .collect::<Result<_, PageFault>>()?;
    let none = PageFault::PastUsed { offset: 0, used: 0 };
    let first = entries.first().ok_or(none)?;
    let mut totals = Totals::default();
    let mut marks = PositionRecord::default();
    for entry in &entries {
        let record = entry.record();
        totals.add(&record);
        marks.recommendation |= record.recommendation;
        marks.learn_value = stronger(marks.learn_value, record.learn_value);
        marks.commentary = marks.commentary.max(record.commentary);
    }
    if marks.recommendation & 0x40 != 0 {
        marks.recommendation &= !0x80;
    }
    let (stats, points) = totals.fitted();
    let record = PositionRecord {
        stats,
        points,
        ..marks
    };
    out.extend_from_slice(first.key_bytes());
    let moves = united(&entries);
    out.push(moves.len() as u8 * 2 + 1);
    out.extend(
        moves
            .iter()
            .flat_map(|&(byte, annotation)| [byte, annotation.0]),
    );
    out.extend(encode_record(&record));
    Ok(())
}

fn stronger(a: i8, b: i8) -> i8 {
    let strength = |learn_value: i8| (learn_value.unsigned_abs(), learn_value < 0);
    if strength(a) >= strength(b) { a } else { b }
}

/// The moves of all entries, at most [`MAX_MOVES`].
fn united(entries: &[Entry<'_>]) -> Vec<(u8, Annotation)> {
    let Some((first, others)) = entries.split_first() else {
        return Vec::new();
    };
    if others.iter().all(|other| other.moves().eq(first.moves())) {
        return first.moves().collect();
    }
    let mut found: [Option<Annotation>; 256] = [None; 256];
    for (byte, annotation) in entries.iter().flat_map(Entry::moves) {
        if let Some(known) = found.get_mut(usize::from(byte)) {
            *known = Some(known.map_or(annotation, |known| joined(known, annotation)));
        }
    }
    (0..=255)
        .zip(found)
        .filter_map(|(byte, annotation)| Some((byte, annotation?)))
        .take(MAX_MOVES)
        .collect()
}

/// The annotation of a move with two annotations.
fn joined(a: Annotation, b: Annotation) -> Annotation {
    const RISING: [Annotation; 8] = [
        Annotation::GOOD,
        Annotation::BRILLIANT,
        Annotation::INTERESTING,
        Annotation::DUBIOUS,
        Annotation::MISTAKE,
        Annotation::BLUNDER,
        Annotation::ONLY_MOVE,
        Annotation(0xff),
    ];
    let weight = |annotation: Annotation| {
        let nag = annotation.nag();
        let known = RISING.iter().position(|known| known.0 == nag);
        (known.map_or(0, |at| at + 1), nag)
    };
    let stronger = if weight(a) >= weight(b) { a } else { b };
    Annotation(stronger.nag() | (a.0 | b.0) & 0xe0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: [u8; 3] = [0x03, 7, 9];

    fn entry(moves: &[(u8, u8)], record: &PositionRecord) -> Vec<u8> {
        let mut bytes = KEY.to_vec();
        bytes.push(moves.len() as u8 * 2 + 1);
        bytes.extend(
            moves
                .iter()
                .flat_map(|&(byte, annotation)| [byte, annotation]),
        );
        bytes.extend(encode_record(record));
        bytes
    }

    fn sum(entries: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        sum_entries(entries, &mut out).unwrap();
        out
    }

    fn record_of(bytes: &[u8]) -> PositionRecord {
        split_entry(bytes, 0).unwrap().0.record()
    }

    /// Entries with counters up to `most`.
    fn any_entry(most: u32) -> impl Strategy<Value = Vec<u8>> {
        let results = (0..most, 0..most, 0..most, 0..most);
        let ratings = (0..most, 0..most, 0..3000_u32, 0..3000_u32);
        let marks = (any::<u8>(), any::<i8>(), any::<u8>(), any::<bool>());
        let moves = prop::collection::vec((0..6_u8, any::<u8>()), 0..5);
        (results, ratings, marks, moves).prop_map(|(results, ratings, marks, moves)| {
            let (wins, draws, losses, unfinished) = results;
            let (own_rated, other_rated, own, other) = ratings;
            let points = if marks.3 {
                10 * wins + 5 * draws + 5 * unfinished
            } else {
                0
            };
            let record = PositionRecord {
                stats: Stats {
                    games: wins + draws + losses + unfinished,
                    wins,
                    draws,
                    losses,
                    own_rated,
                    own_rating_sum: u64::from(own_rated.saturating_mul(own)),
                    other_rated,
                    other_rating_sum: u64::from(other_rated.saturating_mul(other)),
                },
                points,
                recommendation: marks.0,
                learn_value: marks.1,
                commentary: marks.2,
            };
            entry(&moves, &record)
        })
    }

    proptest! {
        #[test]
        fn sums_do_not_depend_on_order_or_grouping(
            entries in prop::collection::vec(any_entry(100_000), 2..6),
            cut in any::<prop::sample::Index>(),
            order in any::<prop::sample::Index>(),
        ) {
            let all: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
            let expected = sum(&all);
            let mut turned = all.clone();
            turned.rotate_left(order.index(all.len()));
            prop_assert_eq!(&sum(&turned), &expected);
            turned.reverse();
            prop_assert_eq!(&sum(&turned), &expected);
            let (left, right) = turned.split_at(1 + cut.index(all.len() - 1));
            prop_assert_eq!(&sum(&[&sum(left), &sum(right)]), &expected);
        }

        #[test]
        fn saturated_counters_keep_their_ratios(entries in prop::collection::vec(any_entry(MAX_COUNT / 4), 8..20)) {
            let all: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
            let mut totals = Totals::default();
            all.iter().for_each(|bytes| totals.add(&record_of(bytes)));
            let record = record_of(&sum(&all));
            let stats = record.stats;
            if totals.games > MAX_COUNT.into() {
                prop_assert_eq!(stats.games, MAX_COUNT);
            }
            prop_assert!(stats.results().games() <= stats.games.into());
            let share = |part: u64, whole: u64| part as f64 / whole as f64;
            let near = |a: f64, b: f64| (a - b).abs() < 1e-5;
            for (fitted, total) in [(stats.wins, totals.wins), (stats.draws, totals.draws), (stats.losses, totals.losses)] {
                prop_assert!(near(share(fitted.into(), stats.games.into()), share(total, totals.games)));
            }
            let least = 5 * stats.results().half_points();
            let most = least + 10 * u64::from(stats.unfinished());
            prop_assert!((least..=most).contains(&record.points.into()));
            prop_assert!(stats.own_rated <= stats.games.max(stats.own_rated));
            if totals.own_rated > 1000 {
                let mean = share(totals.own_rating_sum, totals.own_rated);
                prop_assert!((stats.average_elo().unwrap() - mean).abs() < 0.01);
            }
            let mut turned = all.clone();
            turned.reverse();
            prop_assert_eq!(sum(&turned), sum(&all));
        }
    }

    #[test]
    fn a_sum_of_ratings_too_large_is_scaled_with_its_count() {
        let totals = Totals {
            own_rated: 2_000_000,
            own_rating_sum: 5_000_000_000,
            other_rated: 1_000_000,
            other_rating_sum: 2_500_000_000,
            ..Totals::default()
        };
        let (stats, _) = totals.fitted();
        assert!(u32::try_from(stats.own_rating_sum).is_ok());
        assert!((stats.average_elo().unwrap() - 2500.0).abs() < 0.01);
        assert_eq!(
            (stats.other_rated, stats.other_rating_sum),
            (1_000_000, 2_500_000_000)
        );
    }

    #[test]
    fn one_entry_alone_is_not_touched() {
        let odd = PositionRecord {
            recommendation: 0xff,
            ..PositionRecord::default()
        };
        let bytes = entry(&[(9, 1), (3, 2), (9, 4)], &odd);
        assert_eq!(sum(&[&bytes]), bytes);
        assert!(sum_entries(&[&bytes[1..]], &mut Vec::new()).is_err());
        assert!(sum_entries(&[], &mut Vec::new()).is_err());
    }

    #[test]
    fn moves_keep_their_order_where_books_agree() {
        let record = PositionRecord::default();
        let moves = |bytes: &[u8]| -> Vec<(u8, u8)> {
            let (entry, _) = split_entry(bytes, 0).unwrap();
            entry.moves().map(|(byte, a)| (byte, a.0)).collect()
        };
        let a = entry(&[(9, 1), (3, 0)], &record);
        assert_eq!(moves(&sum(&[&a, &a, &a])), [(9, 1), (3, 0)]);
        let b = entry(&[(9, 0), (4, 6)], &record);
        assert_eq!(moves(&sum(&[&a, &b])), [(3, 0), (4, 6), (9, 1)]);
        let many = |from: u8| {
            entry(
                &(0..100).map(|n| (from + n, 0)).collect::<Vec<_>>(),
                &record,
            )
        };
        let all = moves(&sum(&[&many(100), &many(0)]));
        assert_eq!((all.len(), all[0], all[126]), (127, (0, 0), (126, 0)));
    }

    #[test]
    fn warnings_outweigh_praise() {
        let joined = |a, b| joined(Annotation(a), Annotation(b)).0;
        assert_eq!(joined(0, 1), 1);
        assert_eq!(joined(1, 6), 6);
        assert_eq!(joined(2, 3), 2);
        assert_eq!(joined(0x16, 1), 1);
        assert_eq!(joined(0x16, 0x0a), 0x16);
        assert_eq!(joined(0xe0, 0x24), 0xe4);
        assert_eq!(stronger(-20, 20), -20);
        assert_eq!(stronger(-20, 21), 21);
        assert_eq!(stronger(0, -128), -128);
        let marked = |recommendation| {
            entry(
                &[],
                &PositionRecord {
                    recommendation,
                    ..PositionRecord::default()
                },
            )
        };
        let both = sum(&[&marked(0x80), &marked(0x44)]);
        assert_eq!(record_of(&both).recommendation, 0x44);
    }

    #[test]
    fn an_old_book_without_expected_points_gets_them() {
        let stats = Stats {
            games: 5,
            wins: 1,
            draws: 2,
            losses: 1,
            ..Stats::default()
        };
        let old = entry(
            &[],
            &PositionRecord {
                stats,
                ..PositionRecord::default()
            },
        );
        let new = entry(
            &[],
            &PositionRecord {
                stats,
                points: 21,
                ..PositionRecord::default()
            },
        );
        assert_eq!(record_of(&sum(&[&old, &new])).points, 25 + 21);
    }
}
