//! Evaluations in the comments of games.

use shakmaty::{Chess, Position as _};

use super::collected::{CollectedValues, Gathered, cancelled};
use crate::Error;
use tabia_book::eval::Value;
use tabia_book::evals::{EvalFile, EvalKey, EvalTable, Imported};
use tabia_book::{Book, Lookup, Probe as _, Wanted};
use tabia_games::{Game, GameFilter, GameParts, GameReader, Item, Sources, Starts};
use tabia_io::progress::Watch;

/// Whether a position is wanted.
pub(super) type Holds<'a> = &'a (dyn Fn(&Chess, EvalKey) -> bool + Sync);

/// Reads `[%eval ...]` comments of those games of `sources` that meet `filter`, and adds
/// the evaluations of positions of `book` to `table` and, if new, to `file`, with
/// `source` as their source.
///
/// # Errors
///
/// A file cannot be read or written; nothing has been added then, or only a part.
pub fn gather_games(
    sources: &Sources,
    filter: &GameFilter,
    source: &str,
    book: &Book,
    table: &mut EvalTable,
    file: &EvalFile,
    watch: &mut Watch<'_>,
) -> Result<Gathered, Error> {
    // Positions that cannot be read count as missing.
    let holds = |position: &Chess, _| {
        let mut found = Lookup::default();
        let probed = book.probe(position, Wanted::Stored, &mut found);
        probed.is_ok() && found.here.is_some()
    };
    let (read, collected) = read(sources, filter, &holds, watch).map_err(cancelled)?;
    let new = collected.add_to(table, file, source)?;
    Ok(Gathered {
        read,
        unit: "games",
        new,
    })
}

/// Collects the evaluations of wanted positions from games.
pub(super) fn read(
    sources: &Sources,
    filter: &GameFilter,
    holds: Holds<'_>,
    watch: &mut Watch<'_>,
) -> Result<(Imported, CollectedValues), Error> {
    let reader = GameReader::new(filter)
        .wanted(GameParts::EVERYTHING)
        .starts(Starts::SetUp);
    let add = |(collected, hits): &mut (CollectedValues, u64), game: &Game| {
        *hits += add_game(game, holds, collected);
        Ok::<_, Error>(())
    };
    let (tally, sums) = reader.add_up(sources, add, watch)?;
    let mut read = Imported {
        lines: tally.read,
        ..Imported::default()
    };
    let mut all = CollectedValues::default();
    for (collected, hits) in sums {
        all.join(collected);
        read.hits += hits;
    }
    Ok((read, all))
}

/// Adds the `[%eval]` of a game's moves, including variations; returns how many were
/// about wanted positions.
fn add_game(game: &Game, holds: Holds<'_>, collected: &mut CollectedValues) -> u64 {
    let Some(first) = game.positions.first().filter(|_| !game.chess960) else {
        return 0;
    };
    // The position on the board, and the one before the last move, where variations
    // begin.
    let (mut now, mut before) = (first.clone(), first.clone());
    let mut outside = Vec::new();
    let mut hits = 0;
    for item in &game.movetext {
        match item {
            Item::Move(mv) => {
                before = now.clone();
                now.play_unchecked(*mv);
            }
            Item::Null => {
                before = now.clone();
                match now.clone().swap_turn() {
                    Ok(passed) => now = passed,
                    Err(_) => break,
                }
            }
            Item::Begin => {
                outside.push((now.clone(), before.clone()));
                now = before.clone();
            }
            Item::End => match outside.pop() {
                Some(known) => (now, before) = known,
                None => break,
            },
            Item::Nag(_) => {}
            Item::Comment(text) => {
                let Some((value, depth)) = Value::in_comment(now.turn(), text) else {
                    continue;
                };
                let key = EvalKey::from_position(&now);
                if holds(&now, key) {
                    hits += 1;
                    collected.add(&now, key, value, depth);
                }
            }
        }
    }
    hits
}
