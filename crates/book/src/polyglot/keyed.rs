//! Probing books that store moves under the key of their position: Polyglot books, and
//! those that were read whole.

use shakmaty::{Chess, Move, Position as _};

use super::{KeyAhead, PackedMove};
use crate::{
    Annotation, BookMove, Error, Lookup, PositionRecord, Preference, Probe, Stats, Wanted, polyglot,
};
use tabia_io::input::file::{DataFile, View};
use tabia_io::input::state::Change;

/// An entry: a move of the position with a given key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyedEntry {
    /// The move, as stored.
    pub mv: PackedMove,
    /// The weight or priority in the book.
    pub preference: Preference,
    /// Games with this move from the view of its player, if the format counts them.
    pub stats: Option<Stats>,
    /// Polyglot's learn field; 0 elsewhere.
    pub learn: u32,
    /// Offset of its first byte in the file.
    pub offset: u64,
}

/// A book that finds entries by key. They have places, in ascending order of keys, and as
/// stored where these are equal.
pub(crate) trait Keyed {
    /// The file of the book.
    fn file(&self) -> &DataFile;

    /// Visits the key of every entry with its place, in order.
    fn each_key(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), Error>;

    /// The place of the first entry with this key.
    fn place_of(&self, key: u64) -> Result<Option<u64>, Error>;

    /// Access to the file for many calls of [`Keyed::each_at`]; `None` if it needs none.
    fn view(&self) -> Result<Option<View<'_>>, Error> {
        Ok(None)
    }

    /// A byte of the entry at a place, if that needs no system call.
    fn touch(&self, view: Option<&View<'_>>, place: u64) -> u8;

    /// Visits the entries from a place on that have this key.
    fn each_at(
        &self,
        view: Option<&View<'_>>,
        place: u64,
        key: u64,
        visit: &mut dyn FnMut(KeyedEntry),
    ) -> Result<(), Error>;

    /// Visits every entry with this key, in stored order.
    fn each(&self, key: u64, visit: &mut dyn FnMut(KeyedEntry)) -> Result<(), Error> {
        match self.place_of(key)? {
            Some(place) => self.each_at(self.view()?.as_ref(), place, key, visit),
            None => Ok(()),
        }
    }

    /// Whether the book has an entry with this key.
    fn holds(&self, key: u64) -> Result<bool, Error> {
        Ok(self.place_of(key)?.is_some())
    }
}

impl<B: Keyed> Probe for B {
    /// Fills `found`. Illegal moves are left out; the numbers of a move stored twice are
    /// added. There are no transpositions: such a book plays only moves that it lists. A
    /// position that is not in the book may be one of the side that it is not for
    /// ([`Wanted::Lines`]).
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        let filled = fill(self, position, found).and_then(|()| match found.here {
            None if wanted == Wanted::Lines => lines_on(self, position, found),
            _ => Ok(()),
        });
        filled.inspect_err(|_| found.clear())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        self.holds(polyglot::key(position))
    }

    fn is_current(&self) -> bool {
        matches!(self.file().change(), Change::None | Change::Gone)
    }
}

/// The bytes of the entry at `offset` of a file.
pub(crate) fn raw_entry(file: &DataFile, offset: u64, bytes: usize) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![0; bytes];
    let read = file.positional_view().read(offset, &mut buffer);
    let bytes = read.map_err(|error| Error::read(file.path(), error))?;
    Ok(bytes.to_vec())
}

/// The message for a file that does not end with a whole entry, without its name.
pub(crate) fn cut_off(file: &DataFile, entry_bytes: usize) -> Option<String> {
    let rest = file.len() % entry_bytes as u64;
    (rest > 0).then(|| {
        format!(
            "file byte {}: the last {rest} bytes are not a complete entry and are ignored; the \
             book may be cut off",
            file.len() - rest
        )
    })
}

fn fill(book: &dyn Keyed, position: &Chess, found: &mut Lookup) -> Result<(), Error> {
    let key = polyglot::key(position);
    let Some(place) = book.place_of(key)? else {
        return Ok(());
    };
    stored(book, None, (key, place), &position.legal_moves(), found)?;
    let ahead = KeyAhead::new(key, position);
    for known in &mut found.moves {
        if known.after.is_none() && book.holds(ahead.after(known.mv))? {
            known.after = Some(PositionRecord::default());
        }
    }
    Ok(())
}

/// Adds the stored moves and figures of a position, whose first entry has this place. `legal`:
/// its legal moves, or only the stored ones.
pub(crate) fn stored(
    book: &dyn Keyed,
    view: Option<&View<'_>>,
    (key, place): (u64, u64),
    legal: &[Move],
    found: &mut Lookup,
) -> Result<(), Error> {
    let mut here = PositionRecord::default();
    book.each_at(view, place, key, &mut |entry| {
        let Some(&mv) = entry.mv.find(legal).and_then(|n| legal.get(n)) else {
            return;
        };
        if let Some(stats) = entry.stats {
            here.stats = sum(here.stats, stats);
        }
        add(&mut found.moves, mv, &entry);
    })?;
    found.here = Some(here);
    Ok(())
}

/// Finds the legal moves that lead to positions of the book.
fn lines_on(book: &dyn Keyed, position: &Chess, found: &mut Lookup) -> Result<(), Error> {
    let ahead = KeyAhead::new(polyglot::key(position), position);
    for mv in position.legal_moves() {
        if book.holds(ahead.after(mv))? {
            let after = PositionRecord::default();
            found.moves.push(BookMove::transposition(mv, after));
        }
    }
    Ok(())
}

fn add(moves: &mut Vec<BookMove>, mv: Move, entry: &KeyedEntry) {
    let after = entry.stats.map(|stats| PositionRecord {
        stats: stats.reversed(),
        ..PositionRecord::default()
    });
    let Some(known) = moves.iter_mut().find(|known| known.mv == mv) else {
        moves.push(BookMove {
            preference: entry.preference,
            ..BookMove::stored(mv, Annotation(0), after)
        });
        return;
    };
    if let (Some(known), Some(more)) = (&mut known.after, after) {
        known.stats = sum(known.stats, more.stats);
    }
    known.preference = match (known.preference, entry.preference) {
        (Preference::Weight(a), Preference::Weight(b)) => Preference::Weight(a.saturating_add(b)),
        (Preference::Priority(a), Preference::Priority(b)) => Preference::Priority(a.max(b)),
        (known, _) => known,
    };
}

fn sum(a: Stats, b: Stats) -> Stats {
    Stats {
        games: a.games.saturating_add(b.games),
        wins: a.wins.saturating_add(b.wins),
        draws: a.draws.saturating_add(b.draws),
        losses: a.losses.saturating_add(b.losses),
        ..a
    }
}
