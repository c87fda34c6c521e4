//! What was learnt, put into a book.

use std::io;
use std::path::Path;

use shakmaty::Position as _;

use super::side::read_games;
use super::{Learned, learned, place_of};
use tabia_book::mark::ListedChanges;
use tabia_book::{Book, BookEditor, Error, Field, Format, MarkChange};
use tabia_notation::Results;

/// How a book learns.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// How far results move the values, 0 to 100. The counts of a Polyglot
    /// book take every game as it is.
    pub strength: u32,
    /// The old values of these moves are forgotten first.
    pub fresh: bool,
    /// Nothing is changed.
    pub dry_run: bool,
    /// How many changes are listed.
    pub shown: usize,
}

/// What a book has learnt, or would.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Taught {
    /// Learn values that change.
    pub changed: u64,
    /// Those that rise.
    pub raised: u64,
    /// The first of them, with the results that they come from.
    pub listed: ListedChanges,
}

impl Learned {
    /// Adds the games that a side file holds.
    ///
    /// # Errors
    ///
    /// It or the book cannot be read.
    pub fn add_side_file(&mut self, path: &Path, book: &Book) -> io::Result<()> {
        let mut games = Vec::new();
        let (_, bad_lines) = read_games(path, 0, |game| games.push(game))?;
        self.counted += games.len() as u64;
        self.games.skipped += bad_lines;
        for game in games {
            game.each_book_move(|before, mv, after| {
                // Moves of a side file may have left the book.
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

    /// Changes the learn values of a book. In a Polyglot book every game counts
    /// one and its points twice, as Polyglot itself counts.
    ///
    /// # Errors
    ///
    /// The book cannot be read or written; nothing was changed.
    pub fn teach(&self, editor: &BookEditor, book: &Book, method: Method) -> Result<Taught, Error> {
        let field = match book.format() {
            Format::Ctg => Field::Factor,
            Format::Bin | Format::Abk => Field::Learn,
        };
        // In the order of the file pages are written once.
        let mut stored = Vec::with_capacity(self.tallies.len());
        for (place, tally) in &self.tallies {
            stored.extend(
                book.stored(place, field)?
                    .map(|known| (known, place, tally)),
            );
        }
        stored.sort_by_key(|((last, _), ..)| *last);
        let mut batch = editor.batch();
        let mut taught = Taught::default();
        for ((last, old), place, tally) in stored {
            let (new, is_raised) = match field {
                Field::Factor => {
                    let value =
                        |stored: u32| stored.to_le_bytes()[0].cast_signed().saturating_neg();
                    let known = if method.fresh { 0 } else { value(old) };
                    let new = learned(*tally, known, method.strength);
                    let stored = new.saturating_neg().cast_unsigned();
                    (stored.into(), new > value(old))
                }
                _ => {
                    let known = if method.fresh { 0 } else { old };
                    (counts(*tally, known), tally.wins > tally.losses)
                }
            };
            if new == old {
                continue;
            }
            taught.changed += 1;
            taught.raised += u64::from(is_raised);
            if taught.listed.len() < method.shown {
                let change = MarkChange {
                    place: *place,
                    field,
                    old: Some(old),
                    new: Some(new),
                };
                taught.listed.push((change, tally.to_string()));
            }
            batch.set(last, old, new)?;
        }
        if !method.dry_run {
            editor.commit(batch)?;
        }
        Ok(taught)
    }
}

/// Polyglot's learn counts with these games added: the games in the upper
/// sixteen bits, two for a win and one for a draw in the lower. Both are
/// halved where one would grow too large.
fn counts(results: Results, old: u32) -> u32 {
    let games = u64::from(old >> 16) + results.games();
    let mut counts = [games, u64::from(old & 0xffff) + results.half_points()];
    while counts.iter().any(|count| *count > 0xffff) {
        counts = counts.map(|count| count / 2);
    }
    (counts[0] << 16 | counts[1]) as u32
}
