//! Statistics of a match and of the suite it was played from.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::Color;

use super::entry::{number_of, pack};
use super::gather::{self, CandidateFilter};
use super::{BoardFilter, Cut, is_suite};
use crate::error::{Error, about};
use tabia_book::eval::model::elo;
use tabia_games::{Game, GameFilter, GameParts, GameResult, Sources, Starts, Tally};
use tabia_io::progress::Watch;

/// Results of pairs: both games of an opening, with colours exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// Pairs by points of the first player: 0, 0.5, 1, 1.5, 2.
    pub pentanomial: [u64; 5],
    /// Games won, drawn and lost by the first player.
    pub games: [u64; 3],
}

/// The strength of two players computed from pairs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Strength {
    /// Points per game, 0 to 1.
    pub score: f64,
    /// Variance of the score of a pair.
    pub variance: f64,
    /// Elo, and half of its 95 % interval.
    pub elo: [f64; 2],
    /// Normalized Elo, and half of its 95 % interval.
    pub nelo: [f64; 2],
    /// Likelihood that the first player is stronger.
    pub los: f64,
    /// Root mean square of the openings' bias, in Elo.
    pub rms_bias: f64,
}

impl Pairs {
    /// Counts a pair by the half points of the first player in each game.
    pub fn add(&mut self, half_points: [u8; 2]) {
        for half_points in half_points {
            self.games[usize::from(2 - half_points)] += 1;
        }
        self.pentanomial[usize::from(half_points.iter().sum::<u8>())] += 1;
    }

    /// The number of pairs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.pentanomial.iter().sum()
    }

    /// The strength; `None` without pairs.
    #[must_use]
    pub fn strength(&self) -> Option<Strength> {
        let pairs = self.count() as f64;
        if pairs == 0.0 {
            return None;
        }
        let points = || (0..5).map(|n| f64::from(n) / 4.0).zip(self.pentanomial);
        let score = points().map(|(s, n)| s * n as f64).sum::<f64>() / pairs;
        let variance = points()
            .map(|(s, n)| (s - score).powi(2) * n as f64)
            .sum::<f64>()
            / pairs;
        let error = (variance / pairs).sqrt();
        let games = 2.0 * pairs;
        let of_games = [1.0, 0.5, 0.0].iter().zip(self.games);
        let of_games = of_games
            .map(|(s, n)| (s - score).powi(2) * n as f64)
            .sum::<f64>()
            / games;
        let bias = (of_games - 2.0 * variance).max(0.0).sqrt();
        const NELO: f64 = 800.0 / std::f64::consts::LN_10;
        let deviation = (2.0 * variance).sqrt();
        let nelo = |s: f64| match deviation > 0.0 {
            true => (s - 0.5) / deviation * NELO,
            false => 0.0,
        };
        let half = 1.96 * error;
        Some(Strength {
            score,
            variance,
            elo: [elo(score), (elo(score + half) - elo(score - half)) / 2.0],
            nelo: [nelo(score), nelo(0.5 + half)],
            los: normal((score - 0.5) / error.max(1e-12)),
            rms_bias: elo(0.5 + bias.min(0.499)),
        })
    }
}

/// The normal distribution function (Abramowitz and Stegun 7.1.26, to 1.5e-7).
fn normal(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = series * (-z * z).exp() / 2.0;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

/// An opening with its games.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MatchOpening {
    /// The position.
    pub fen: String,
    /// White won, drawn, Black won.
    pub results: [u64; 3],
    /// Pairs of games with colours exchanged.
    pub pairs: u64,
    /// Whether all its pairs, at least ten, had the same two results.
    pub dead: bool,
}

/// A match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MatchReport {
    /// Games with a result that began in a position of the suite.
    pub games: u64,
    /// Drawn ones.
    pub draws: u64,
    /// Games won by White.
    pub white_wins: u64,
    /// Games won by Black.
    pub black_wins: u64,
    /// Games without a result.
    pub unfinished: u64,
    /// Games that began in another position.
    pub elsewhere: u64,
    /// The first of these: `game 7`, with its start position.
    pub elsewhere_named: Vec<String>,
    /// Results by players.
    pub players: Vec<Pairing>,
    /// Number of positions in the suite, and of those that were played.
    pub suite: [u64; 2],
    /// Openings that the same players had in more than one pair.
    pub repeated: u64,
    /// Pairs by the same players beyond the first of an opening.
    pub repeated_pairs: u64,
    /// Games without a game with colours exchanged.
    pub unpaired: u64,
    /// Openings that were played, those with the most games first.
    pub openings: Vec<MatchOpening>,
    /// The first games that could not be read.
    pub skipped: Vec<String>,
}

/// The result of two players.
#[derive(Clone, Debug, Serialize)]
pub struct Pairing {
    /// The first player in order of names.
    pub first: String,
    /// The other player.
    pub second: String,
    pub pairs: Pairs,
    /// The strength computed from the pairs.
    pub strength: Option<Strength>,
}

type Keys = HashMap<u64, u32, FxBuildHasher>;

/// The positions of a suite.
fn keys_of(suite: &Path, watch: &mut Watch<'_>) -> Result<Keys, Error> {
    let board = BoardFilter {
        in_check: true,
        ..BoardFilter::default()
    };
    let checks = CandidateFilter {
        board: &board,
        mirrors: false,
        below: None,
        cut: Cut::End,
    };
    let mut keys = Keys::default();
    let keep = |candidate: super::entry::Candidate| {
        let number = keys.len() as u32;
        keys.entry(number_of(&candidate.entry.own))
            .or_insert(number);
        Ok(())
    };
    if is_suite(suite)? {
        gather::read_epd(suite, checks, watch, keep)?;
    } else {
        let sources = Sources::list([&suite.to_owned()])?;
        gather::read_games(&sources, &GameFilter::default(), checks, 1, watch, keep)?;
    }
    if keys.is_empty() {
        return Err(about(suite, "no position in it"));
    }
    Ok(keys)
}

/// A game of the match.
struct Played {
    names: [String; 2],
    result: GameResult,
    /// The number and FEN of its opening; the error is its start position.
    opening: Result<(u32, String), String>,
}

/// Makes the statistics of the games of a match.
///
/// # Errors
///
/// A file cannot be read.
pub fn report(games: &Path, suite: &Path, watch: &mut Watch<'_>) -> Result<MatchReport, Error> {
    let keys = keys_of(suite, watch)?;
    let wanted = GameParts::default().up_to(60);
    let played = |game: &Game| Ok(Played::of(game, &keys));
    let (all, tally) = gather::each_game(games, wanted, Starts::Any, watch, played)?;
    Ok(count(all, keys.len() as u64, &tally))
}

impl Played {
    fn of(game: &Game, keys: &Keys) -> Played {
        let fen = |at: usize| {
            let position = game.positions.get(at);
            position.map_or_else(String::new, tabia_notation::fen)
        };
        // A game with a set-up begins in its opening; another reaches it by moves: the
        // longest line of the suite counts.
        let count = match game.set_up {
            true => 1,
            false => game.positions.len(),
        };
        let positions = game.positions.iter().take(count).enumerate();
        let found = positions.rev().find_map(|(at, position)| {
            let number = keys.get(&number_of(&pack(position)))?;
            Some((*number, fen(at)))
        });
        Played {
            names: [game.names.white.clone(), game.names.black.clone()],
            result: game.result,
            opening: found.ok_or_else(|| fen(0)),
        }
    }
}

/// The games of two players in an opening.
#[derive(Default)]
struct Shared {
    /// Points of the first player, by his colour, whose second game has not come yet.
    waiting: [std::collections::VecDeque<u8>; 2],
    /// Points of the first player with White and with Black.
    pairs: Vec<[u8; 2]>,
}

fn count(all: Vec<Played>, positions: u64, tally: &Tally) -> MatchReport {
    let mut report = MatchReport {
        suite: [positions, 0],
        skipped: tally.named.iter().map(ToString::to_string).collect(),
        ..MatchReport::default()
    };
    let mut openings: BTreeMap<u32, MatchOpening> = BTreeMap::new();
    let mut shared: BTreeMap<([String; 2], u32), Shared> = BTreeMap::new();
    for (number, played) in all.into_iter().enumerate() {
        let (opening, fen) = match played.opening {
            Ok(opening) => opening,
            Err(fen) => {
                report.elsewhere += 1;
                if report.elsewhere_named.len() < 20 {
                    let named = format!("game {} began in {fen}", number + 1);
                    report.elsewhere_named.push(named);
                }
                continue;
            }
        };
        let Some(points) = gather::points(played.result, Color::White) else {
            report.unfinished += 1;
            continue;
        };
        report.games += 1;
        let own = openings.entry(opening).or_insert_with(|| MatchOpening {
            fen,
            ..MatchOpening::default()
        });
        match points {
            2 => (report.white_wins += 1, own.results[0] += 1),
            1 => (report.draws += 1, own.results[1] += 1),
            _ => (report.black_wins += 1, own.results[2] += 1),
        };
        let [white, black] = played.names;
        let first_is_white = white <= black;
        let (names, colour, own) = match first_is_white {
            true => ([white, black], 0, points),
            false => ([black, white], 1, 2 - points),
        };
        let shared = shared.entry((names, opening)).or_default();
        match shared.waiting[1 - colour].pop_front() {
            Some(other) if colour == 1 => shared.pairs.push([other, own]),
            Some(other) => shared.pairs.push([own, other]),
            None => shared.waiting[colour].push_back(own),
        }
    }
    let mut pairings: BTreeMap<[String; 2], Pairs> = BTreeMap::new();
    let mut results: HashMap<u32, Vec<[u8; 2]>> = HashMap::new();
    for ((names, opening), shared) in shared {
        let pairs = pairings.entry(names).or_default();
        shared.pairs.iter().for_each(|pair| pairs.add(*pair));
        report.unpaired += shared.waiting.iter().map(|w| w.len() as u64).sum::<u64>();
        let count = shared.pairs.len() as u64;
        report.repeated += u64::from(count > 1);
        report.repeated_pairs += count.saturating_sub(1);
        results.entry(opening).or_default().extend(shared.pairs);
    }
    for (number, opening) in &mut openings {
        let pairs = results.remove(number).unwrap_or_default();
        opening.pairs = pairs.len() as u64;
        let first = pairs.first().copied();
        let is_dead = |pair: &[u8; 2]| pair[0] + pair[1] == 2 && Some(*pair) == first;
        opening.dead = pairs.len() >= 10 && pairs.iter().all(is_dead);
    }
    report.suite[1] = openings.len() as u64;
    report.openings = openings.into_values().collect();
    report
        .openings
        .sort_by_key(|opening| std::cmp::Reverse(opening.results.iter().sum::<u64>()));
    let players = pairings
        .into_iter()
        .map(|([first, second], pairs)| Pairing {
            first,
            second,
            strength: pairs.strength(),
            pairs,
        });
    report.players = players.collect();
    report
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_genuine_match_has_its_published_figures() {
        let pairs = Pairs {
            pentanomial: [18, 462, 1026, 473, 21],
            games: [1048, 1921, 1031],
        };
        let strength = pairs.strength().unwrap();
        assert!((strength.score - 0.5021).abs() < 1e-4);
        assert!((strength.variance - 0.0341).abs() < 1e-4);
        assert!((strength.elo[1] - 5.6).abs() < 0.05);
        assert!((strength.nelo[0] - 2.8).abs() < 0.05);
        assert!((strength.rms_bias - 189.0).abs() < 1.0);
        assert!((0.65..0.75).contains(&strength.los));
        assert!(Pairs::default().strength().is_none());
        assert!((normal(1.96) - 0.975).abs() < 1e-4 && (normal(-1.96) - 0.025).abs() < 1e-4);
    }

    fn game(names: [&str; 2], result: GameResult, opening: u32) -> Played {
        Played {
            names: names.map(str::to_owned),
            result,
            opening: match opening {
                99 => Err("somewhere".to_owned()),
                _ => Ok((opening, format!("opening {opening}"))),
            },
        }
    }

    #[test]
    fn games_become_pairs_and_what_is_odd_is_counted() {
        let white = GameResult::Won(Color::White);
        let mut all = Vec::new();
        // White always wins: the first opening is dead.
        for _ in 0..10 {
            all.push(game(["b", "a"], white, 0));
            all.push(game(["a", "b"], white, 0));
        }
        all.push(game(["a", "b"], white, 1));
        all.push(game(["b", "a"], GameResult::Draw, 1));
        all.push(game(["a", "b"], GameResult::Draw, 2));
        all.push(game(["a", "b"], GameResult::Unknown, 2));
        all.push(game(["a", "b"], white, 99));
        let report = count(all, 5, &Tally::default());
        let pairing = &report.players[0];
        assert_eq!(
            (pairing.first.as_str(), pairing.second.as_str()),
            ("a", "b")
        );
        assert_eq!(pairing.pairs.pentanomial, [0, 0, 10, 1, 0]);
        assert_eq!(pairing.pairs.games, [11, 1, 10]);
        assert_eq!(
            (report.unpaired, report.unfinished, report.elsewhere),
            (1, 1, 1)
        );
        assert_eq!((report.repeated, report.repeated_pairs), (1, 9));
        assert_eq!((report.games, report.draws, report.suite), (23, 2, [5, 3]));
        assert_eq!(report.openings.iter().filter(|o| o.dead).count(), 1);
    }
}
