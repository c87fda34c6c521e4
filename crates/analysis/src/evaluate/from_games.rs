//! Evaluations in the comments of games.

use shakmaty::{Chess, Color, Position as _};

use super::collected::{CollectedValues, Gathered, GatheredFrom};
use crate::Error;
use tabia_book::evals::{EvalFile, EvalKey, EvalTable, Imported};
use tabia_book::{Book, Lookup, Probe as _, Wanted};
use tabia_games::{Batches, Game, GameFilter, GameParts, GameReader, Item, Sources, Starts, Tally};
use tabia_io::progress::Watch;
use tabia_notation::value::{PgnValue, Value};

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
    let (read, tally, collected) = read(sources, filter, &holds, watch)?;
    let new = collected.add_to(table, file, source)?;
    Ok(Gathered {
        read,
        from: GatheredFrom::Games(Box::new(tally)),
        new,
    })
}

/// Collects the evaluations of wanted positions from games.
pub(super) fn read(
    sources: &Sources,
    filter: &GameFilter,
    holds: Holds<'_>,
    watch: &mut Watch<'_>,
) -> Result<(Imported, Tally, CollectedValues), Error> {
    let reader = GameReader::new(filter)
        .wanted(GameParts::EVERYTHING)
        .starts(Starts::SetUp);
    let worker = |batches: &Batches<'_, Option<String>, Sum, Error>| {
        let (mut sum, mut game) = (Sum::default(), Game::default());
        batches.each(|batch| {
            let mut first_bad = None;
            while batch.next(&mut game) {
                sum.add(&game, holds);
                if let Some(bad) = sum.bad_in_game.take() {
                    first_bad.get_or_insert_with(|| format!("{}: {bad}", batch.place()));
                }
            }
            Ok(first_bad)
        })?;
        Ok(sum)
    };
    let mut first_bad = None;
    let in_order = |bad: Option<String>| {
        first_bad = first_bad.take().or(bad);
        Ok(())
    };
    let (tally, sums) = reader.read(sources, worker, in_order, watch)?;
    let mut read = Imported {
        lines: tally.read,
        first_bad,
        ..Imported::default()
    };
    let mut all = CollectedValues::default();
    for sum in sums {
        all.join(sum.collected);
        read.hits += sum.hits;
        read.in_centipawns += sum.in_centipawns;
        read.bad_lines += sum.bad;
    }
    Ok((read, tally, all))
}

/// What one thread has found.
#[derive(Default)]
struct Sum {
    collected: CollectedValues,
    /// Evaluations of wanted positions.
    hits: u64,
    /// Evaluations of wanted positions that were written in centipawns.
    in_centipawns: u64,
    /// Evaluations that are not understood.
    bad: u64,
    /// The first of them in the last game, until it is taken.
    bad_in_game: Option<String>,
}

/// An evaluation in a game.
struct Found {
    /// The position after the move.
    position: Chess,
    /// The ply of the move in the main line; `None` in a variation.
    ply: Option<usize>,
    value: PgnValue,
}

impl Sum {
    /// Adds the `[%eval]` of a game's moves, including variations.
    fn add(&mut self, game: &Game, holds: Holds<'_>) {
        let mut found = self.values_of(game);
        if is_from_white(&found) {
            let of_black =
                |found: &&mut Found| found.value.in_centipawns && found.position.turn().is_white();
            for found in found.iter_mut().filter(of_black) {
                found.value.value = found.value.value.reversed();
            }
        }
        for Found {
            position, value, ..
        } in found
        {
            let key = EvalKey::from_position(&position);
            if holds(&position, key) {
                self.hits += 1;
                self.in_centipawns += u64::from(value.in_centipawns);
                self.collected.add(&position, key, value.value, value.depth);
            }
        }
    }

    /// The evaluations in the comments of a game.
    fn values_of(&mut self, game: &Game) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let Some(first) = game.positions.first().filter(|_| !game.chess960) else {
            return found;
        };
        // The position on the board, and the one before the last move, where variations
        // begin.
        let (mut now, mut before) = (first.clone(), first.clone());
        let mut outside = Vec::new();
        let mut ply = 0;
        for item in &game.movetext {
            match item {
                Item::Move(mv) => {
                    before = now.clone();
                    now.play_unchecked(*mv);
                    ply += usize::from(outside.is_empty());
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
                Item::Comment(text) => match Value::in_comment(now.turn(), text) {
                    Some(value) => found.push(Found {
                        position: now.clone(),
                        ply: outside.is_empty().then_some(ply),
                        value,
                    }),
                    None => self.note_bad(text),
                },
            }
        }
        found
    }

    /// Counts an evaluation that is not understood, if the comment has one.
    fn note_bad(&mut self, comment: &str) {
        let Some((_, rest)) = comment.split_once("[%eval") else {
            return;
        };
        self.bad += 1;
        let text: String = rest.split(']').next().into_iter().collect();
        let text: String = text.trim().chars().take(30).collect();
        self.bad_in_game
            .get_or_insert_with(|| format!("[%eval {text}] is not understood"));
    }
}

/// Whether the centipawns of a game, which are read as those of the side that has moved,
/// are from White's view: then they change less from move to move. No standard says it.
fn is_from_white(found: &[Found]) -> bool {
    let (mut as_read, mut turned) = (0, 0);
    for pair in found.windows(2) {
        let [one, next] = pair else { continue };
        let is_next = one.ply.is_some_and(|ply| next.ply == Some(ply + 1));
        if !(is_next && one.value.in_centipawns && next.value.in_centipawns) {
            continue;
        }
        let [a, b] = [one, next].map(|found| found.value.value.clamped(Color::White));
        as_read += (a - b).abs();
        turned += (a + b).abs();
    }
    turned < as_read
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use tabia_games::{GameSource as _, PgnSource};

    /// The evaluations of a text in centipawns from White's view, with their plies.
    fn values(text: &str) -> (Vec<(Option<usize>, i32)>, Sum) {
        let bytes = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        let mut source = PgnSource::new("a text", bytes, Arc::default());
        let mut batch = source.next_batch().unwrap().unwrap();
        let mut game = Game::default();
        assert!(batch.next_game(GameParts::EVERYTHING, &mut game).unwrap());
        let mut sum = Sum::default();
        sum.add(&game, &|_, _| true);
        let mut found = Sum::default().values_of(&game);
        let is_turned = is_from_white(&found);
        let of = |found: &mut Found| {
            let turned = is_turned && found.position.turn().is_white();
            let value = found.value.value.for_side(Color::White);
            (found.ply, if turned { -value } else { value })
        };
        (found.iter_mut().map(of).collect(), sum)
    }

    #[test]
    fn centipawns_are_of_the_side_that_moved_or_of_white() {
        let of_mover = "1. e4 {[%eval 31,20]} e5 {[%eval -28,19]} 2. Nf3 {[%eval 27,21]} \
                        Nc6 {[%eval -35,20]} *\n";
        let wanted = [(Some(1), 31), (Some(2), 28), (Some(3), 27), (Some(4), 35)];
        let (found, sum) = values(of_mover);
        assert_eq!(found, wanted);
        assert_eq!((sum.hits, sum.in_centipawns, sum.bad), (4, 4, 0));
        let of_white = of_mover.replace('-', "");
        assert_eq!(values(&of_white).0, wanted);
    }

    #[test]
    fn what_is_not_understood_is_counted() {
        let text = "1. e4 {[%eval\n0.31,18]} e5 {[%eval good] x} (1... c5 {[%eval 0.5]}) *\n";
        let (found, sum) = values(text);
        assert_eq!(found, [(Some(1), 31), (None, 50)]);
        assert_eq!((sum.hits, sum.in_centipawns, sum.bad), (2, 0, 1));
        let first = sum.bad_in_game.as_deref();
        assert_eq!(first, Some("[%eval good] is not understood"));
    }
}
