//! Statistics of a match and of the suite it was played from.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::Color;

use super::entry::{number_of, pack};
use super::filter::BoardFilter;
use super::gather::{self, CandidateFilter};
use super::job::Cut;
use super::text::is_suite;
use crate::each_game::{each_game, points};
use crate::error::{Error, about};
use crate::pairs::{Pairs, Strength};
use tabia_games::{Game, GameFilter, GameParts, GameResult, Sources, Starts, Tally};
use tabia_io::progress::Watch;

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
struct MatchGame {
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
pub fn match_report(
    games: &Path,
    suite: &Path,
    watch: &mut Watch<'_>,
) -> Result<MatchReport, Error> {
    let keys = keys_of(suite, watch)?;
    let wanted = GameParts::default().up_to(60);
    let played = |game: &Game| Ok(MatchGame::new(game, &keys));
    let (all, tally) = each_game(
        games,
        &GameFilter::default(),
        wanted,
        Starts::Any,
        watch,
        played,
    )?;
    Ok(count(all, keys.len() as u64, &tally))
}

impl MatchGame {
    fn new(game: &Game, keys: &Keys) -> MatchGame {
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
        MatchGame {
            names: [game.names.white.clone(), game.names.black.clone()],
            result: game.result,
            opening: found.ok_or_else(|| fen(0)),
        }
    }
}

/// The games of two players in an opening.
#[derive(Default)]
struct Shared {
    /// Points of the first player, by his colour, whose second game has not come yet. None of
    /// an unfinished game, which also has a second one: that does not belong to another.
    waiting: [std::collections::VecDeque<Option<u8>>; 2],
    /// Points of the first player with White and with Black.
    pairs: Vec<[u8; 2]>,
    /// Games whose second one was not finished.
    unpaired: u64,
}

impl Shared {
    /// Adds a game by the colour of the first player and his points.
    fn add(&mut self, colour: Color, own: Option<u8>) {
        let [white, black] = &mut self.waiting;
        let (others, waiting) = match colour {
            Color::White => (black, white),
            Color::Black => (white, black),
        };
        match (others.pop_front(), own) {
            (None, own) => waiting.push_back(own),
            (Some(Some(other)), Some(own)) => self.pairs.push(match colour {
                Color::White => [own, other],
                Color::Black => [other, own],
            }),
            (Some(Some(_)), None) | (Some(None), Some(_)) => self.unpaired += 1,
            (Some(None), None) => {}
        }
    }

    fn unpaired(&self) -> u64 {
        let waiting = self.waiting.iter().flatten().flatten();
        self.unpaired + waiting.count() as u64
    }
}

fn count(all: Vec<MatchGame>, positions: u64, tally: &Tally) -> MatchReport {
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
        let points = points(played.result, Color::White);
        match points {
            None => report.unfinished += 1,
            Some(points) => {
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
            }
        }
        let [white, black] = played.names;
        let (names, colour, own) = match white <= black {
            true => ([white, black], Color::White, points),
            false => (
                [black, white],
                Color::Black,
                points.map(|points| 2 - points),
            ),
        };
        shared.entry((names, opening)).or_default().add(colour, own);
    }
    let mut pairings: BTreeMap<[String; 2], Pairs> = BTreeMap::new();
    let mut results: HashMap<u32, Vec<[u8; 2]>> = HashMap::new();
    for ((names, opening), shared) in shared {
        let pairs = pairings.entry(names).or_default();
        shared.pairs.iter().for_each(|pair| pairs.add(*pair));
        report.unpaired += shared.unpaired();
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
mod tests {
    use super::*;

    fn game(names: [&str; 2], result: GameResult, opening: u32) -> MatchGame {
        MatchGame {
            names: names.map(str::to_owned),
            result,
            opening: match opening {
                99 => Err("somewhere".to_owned()),
                _ => Ok((opening, format!("opening {opening}"))),
            },
        }
    }

    /// The games of a match that goes through its suite several times.
    #[test]
    fn an_unfinished_game_leaves_the_other_pairs_as_they_are() {
        let [white, black] = [Color::White, Color::Black].map(GameResult::Won);
        let results = [white, white, white, black, GameResult::Draw, white];
        let games = |unfinished: Option<usize>| {
            let results = results.iter().enumerate();
            let games = results.map(|(n, result)| {
                let names = if n % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
                let is_finished = Some(n) != unfinished;
                game(
                    names,
                    if is_finished {
                        *result
                    } else {
                        GameResult::Unknown
                    },
                    0,
                )
            });
            count(games.collect(), 1, &Tally::default())
        };
        assert_eq!(games(None).players[0].pairs.pentanomial, [0, 1, 1, 0, 1]);
        let without = [[0, 1, 0, 0, 1], [0, 1, 1, 0, 0], [0, 0, 1, 0, 1]];
        for (n, wanted) in without
            .into_iter()
            .flat_map(|wanted| [wanted; 2])
            .enumerate()
        {
            let report = games(Some(n));
            assert_eq!(report.players[0].pairs.pentanomial, wanted, "{n}");
            assert_eq!((report.unpaired, report.unfinished), (1, 1), "{n}");
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
