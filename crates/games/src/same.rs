//! Games that occur several times, also as the beginning of another one.
//!
//! Two games are the same if they have the same first position, moves and result, and
//! players with the same [family names](family_name). A game is the beginning of another
//! if these players have played its moves and more, it has the result of the other or
//! none, and neither date nor round contradict: a broadcast that was saved before its end.
//!
//! The games are read three times, so that memory does not grow with their moves: for
//! the fingerprint of each game (40 bytes), for the fingerprints of all beginnings, and to be
//! written.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};
use shakmaty::Position as _;

use super::{
    Batches, Date, Error, Game, GameFilter, GameParts, GameReader, GameResult, Sources, Starts,
};
use tabia_io::progress::Watch;

/// The family name of a player: the text before the first comma or blank, in small
/// letters. Collections write the rest differently.
#[must_use]
pub fn family_name(name: &str) -> String {
    let family = name.split([',', ' ']).find(|part| !part.is_empty());
    family.unwrap_or("").to_lowercase()
}

/// What a game is compared by; games without moves are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Identity {
    /// The players, the first position and the moves.
    moves: u128,
    result: GameResult,
    date: Date,
    /// A hash of the round without its board, 0 if unknown.
    round: u32,
}

/// What becomes of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    /// The game occurs a second time.
    Duplicate,
    /// The game is the beginning of another one.
    Beginning,
}

/// The fates of all games, by what they are compared by.
pub(super) struct SameGames(FxHashMap<Identity, Fate>);

/// What a game is compared by, for its fate.
pub(super) struct Compared(Option<Identity>);

impl Compared {
    pub(super) fn new(game: &Game) -> Compared {
        let mut moves = None;
        prefixes(game, |prefix| moves = Some(prefix));
        Compared(moves.map(|moves| Identity::new(game, moves)))
    }
}

impl Identity {
    fn new(game: &Game, moves: u128) -> Identity {
        let round = game.tags.get("Round").unwrap_or_default();
        let round = round.split('.').next().unwrap_or_default().trim();
        Identity {
            moves,
            result: game.result,
            date: game.date(),
            round: match round {
                "" | "?" | "-" => 0,
                round => half(7, &round) as u32 | 1,
            },
        }
    }

    /// Whether this game, which has some of the moves of the other, is its beginning.
    fn begins(&self, other: &Identity) -> bool {
        let agree = |a: u16, b: u16| a == 0 || b == 0 || a == b;
        let (date, after) = (self.date, other.date);
        let same_result = [GameResult::Unknown, other.result].contains(&self.result);
        same_result
            && agree(date.year, after.year)
            && agree(date.month.into(), after.month.into())
            && agree(date.day.into(), after.day.into())
            && (self.round == 0 || other.round == 0 || self.round == other.round)
    }
}

/// Not the fast hash of the tables: its bits are not random enough.
fn half(seed: u64, value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, value).hash(&mut hasher);
    hasher.finish()
}

/// Calls `each` with a number for the players, the first position and the first moves:
/// for one move, two, and so on. Even among billions of games, the chance that two
/// different beginnings are equal is 1 in 10^18.
fn prefixes(game: &Game, mut each: impl FnMut(u128)) {
    let families = [&game.names.white, &game.names.black].map(|name| family_name(name));
    let start = game.positions.first().filter(|_| game.set_up);
    let start = start.map(|start| (start.board().clone(), start.turn()));
    let mut halves = [0, 1].map(|seed| half(seed, &(&families, &start)));
    for mv in &game.moves {
        halves = halves.map(|before| half(before, mv));
        let [high, low] = halves;
        each(u128::from(high) << 64 | u128::from(low));
    }
}

impl SameGames {
    /// Finds the games of these sources that are the same.
    pub(super) fn find(
        sources: &Sources,
        filter: &GameFilter,
        threads: usize,
        watch: &mut Watch<'_>,
    ) -> Result<SameGames, Error> {
        let reader = GameReader::new(filter)
            .wanted(GameParts::default().with_headers())
            .starts(Starts::Any)
            .threads(threads);
        // In the order of the sources, so that the first game of several is kept.
        let mut found: Vec<Identity> = Vec::new();
        let worker = |batches: &Batches<'_, Vec<Identity>, (), Error>| {
            let mut game = Game::default();
            batches.each(|batch| {
                let mut all = Vec::new();
                while batch.next(&mut game) {
                    all.extend(Compared::new(&game).0);
                }
                Ok(all)
            })
        };
        let take = |all: Vec<Identity>| {
            found.extend(all);
            Ok(())
        };
        reader.read(sources, worker, take, watch)?;
        let mut seen = FxHashSet::default();
        found.retain(|identity| seen.insert(*identity));
        drop(seen);
        let mut classes = found.clone();
        classes.sort_unstable_by_key(|identity| identity.moves);
        let begins: Vec<AtomicBool> = classes.iter().map(|_| AtomicBool::new(false)).collect();
        // Only one in thousands of beginnings is a game, too.
        let known: FxHashSet<u64> = classes.iter().map(|one| one.moves as u64).collect();
        let mark = |(): &mut (), game: &Game| {
            let Compared(Some(whole)) = Compared::new(game) else {
                return Ok(());
            };
            prefixes(game, |moves| {
                if !known.contains(&(moves as u64)) {
                    return;
                }
                let first = classes.partition_point(|one| one.moves < moves);
                let these = classes.iter().zip(&begins).skip(first);
                for (one, begins) in these.take_while(|(one, _)| one.moves == moves) {
                    // With the same moves, one without a result may begin one with it.
                    let is_shorter = moves != whole.moves || one.result != whole.result;
                    if is_shorter && one.begins(&whole) {
                        begins.store(true, Ordering::Relaxed);
                    }
                }
            });
            Ok::<(), Error>(())
        };
        reader.add_up(sources, mark, watch)?;
        let begun = classes.into_iter().zip(begins);
        let begun = begun.filter(|(_, begins)| begins.load(Ordering::Relaxed));
        let mut fates: FxHashMap<Identity, Fate> =
            begun.map(|(one, _)| (one, Fate::Beginning)).collect();
        let mut kept = FxHashSet::default();
        for one in found {
            fates
                .entry(one)
                .or_insert_with(|| match kept.insert((one.moves, one.result)) {
                    true => Fate::Kept,
                    false => Fate::Duplicate,
                });
        }
        Ok(SameGames(fates))
    }

    /// The fate of the next game of the sources, in their order.
    pub(super) fn next(&mut self, Compared(identity): &Compared) -> Fate {
        let Some(fate) = identity.as_ref().and_then(|one| self.0.get_mut(one)) else {
            return Fate::Kept;
        };
        match *fate {
            Fate::Kept => std::mem::replace(fate, Fate::Duplicate),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Chess;

    use super::*;

    /// With one half alone, two of a few billion beginnings would have the same number.
    #[test]
    fn both_halves_of_a_number_depend_on_the_moves_and_not_in_the_same_way() {
        let mut game = Game::default();
        game.moves.extend(Chess::default().legal_moves());
        let mut numbers = Vec::new();
        prefixes(&game, |number| numbers.push(number));
        let halves = numbers.iter();
        let halves = halves.flat_map(|number| [(number >> 64) as u64, *number as u64]);
        let different: FxHashSet<u64> = halves.collect();
        assert_eq!((numbers.len(), different.len()), (20, 40));
    }
}
