//! Writes learn values into a book.

use std::io;
use std::path::Path;

use shakmaty::Position as _;

use super::{Learned, place_of};
use tabia_book::mark::ListedChanges;
use tabia_book::{Book, BookEditor, Error, Field, MarkChange};
use tabia_choice::learn::{PLAY_STRENGTH, learned, read_games};
use tabia_notation::Results;

tabia_io::options! {
    /// Options of learning.
    #[derive(Clone, Copy, Debug)]
    pub struct LearnOptions {
        /// Effect of the results on the values, 0 to 100. Polyglot counts ignore it and
        /// take every game.
        strength: u32 = PLAY_STRENGTH,
        /// The old values of these moves are reset first.
        fresh: bool = false,
        /// Only computes the changes, without writing them.
        dry_run: bool = false,
        /// Number of changes to list.
        shown: usize = 0,
    }
}

/// The changes made in a book, or computed in a dry run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LearnReport {
    /// Learn values that change.
    pub changed: u64,
    /// How many of these increase.
    pub raised: u64,
    /// The first changes, with the results that cause them.
    pub listed: ListedChanges,
}

impl Learned {
    /// Adds the games of a side file.
    ///
    /// # Errors
    ///
    /// The side file or the book cannot be read.
    pub fn add_side_file(&mut self, path: &Path, book: &Book) -> io::Result<()> {
        let mut games = Vec::new();
        let (_, bad_lines) = read_games(path, 0, |game| games.push(game))?;
        self.counted += games.len() as u64;
        self.games.skipped += bad_lines;
        for game in games {
            game.each_book_move(|before, mv, after| {
                // Moves of a side file may have been deleted from the book.
                if let Some(place) = place_of(book, before, mv, after)? {
                    let tally = self.tallies.entry(place).or_default();
                    tally.count(before.turn(), game.winner);
                }
                Ok(())
            })
            .map_err(|error: Error| io::Error::other(error))?;
        }
        Ok(())
    }

    /// Changes the learn values of a book, whose old files are kept with `.bak`. In a
    /// Polyglot book every game counts one and its points twice, as in Polyglot itself.
    ///
    /// # Errors
    ///
    /// The book cannot be read or written; nothing was changed.
    pub fn teach(
        &self,
        editor: &BookEditor,
        book: &Book,
        options: LearnOptions,
    ) -> Result<LearnReport, Error> {
        let format = book.format();
        let field = format.learn_field().ok_or_else(|| Error::Format {
            path: book.path().into(),
            format,
            what: "learn values",
        })?;
        // In the order of the file, so that each page is written once.
        let mut stored = Vec::with_capacity(self.tallies.len());
        for (place, tally) in &self.tallies {
            stored.extend(
                book.stored(place, field)?
                    .map(|known| (known, place, tally)),
            );
        }
        stored.sort_by_key(|((last, _), ..)| *last);
        let mut batch = editor.batch();
        let mut report = LearnReport::default();
        for ((last, old), place, tally) in stored {
            let (new, is_raised) = match field {
                Field::LearnValue => {
                    let value =
                        |stored: u32| stored.to_le_bytes()[0].cast_signed().saturating_neg();
                    let known = if options.fresh { 0 } else { value(old) };
                    let new = learned(*tally, known, options.strength);
                    let stored = new.saturating_neg().cast_unsigned();
                    (stored.into(), new > value(old))
                }
                _ => {
                    let known = if options.fresh { 0 } else { old };
                    (counts(*tally, known), tally.wins > tally.losses)
                }
            };
            if new == old {
                continue;
            }
            report.changed += 1;
            report.raised += u64::from(is_raised);
            if report.listed.len() < options.shown {
                let change = MarkChange {
                    place: *place,
                    field,
                    old: Some(old),
                    new: Some(new),
                };
                report.listed.push((change, tally.to_string()));
            }
            batch.set(last, old, new)?;
        }
        if !options.dry_run {
            editor.commit_keeping(batch)?;
        }
        Ok(report)
    }
}

/// Adds these games to Polyglot's learn counts: games in the upper sixteen bits, points
/// (two for a win, one for a draw) in the lower. On overflow both are halved.
fn counts(results: Results, old: u32) -> u32 {
    let games = u64::from(old >> 16) + results.games();
    let mut counts = [games, u64::from(old & 0xffff) + results.half_points()];
    while counts.iter().any(|count| *count > 0xffff) {
        counts = counts.map(|count| count / 2);
    }
    (counts[0] << 16 | counts[1]) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_halved_until_both_have_room() {
        let known = 30_000 << 16 | 60_000;
        // 70,001 games and 140,000 points, halved twice.
        let new = counts(Results::new(40_000, 0, 1), known);
        assert_eq!((new >> 16, new & 0xffff), (17_500, 35_000));
        // 30,002 games and 60,003 points.
        assert_eq!(counts(Results::new(1, 1, 0), known), 30_002 << 16 | 60_003);
    }
}
