//! A book that is probed by keys, with all of its keys in memory: for commands that look
//! up every position, and for each of them the positions after its moves.
//!
//! Keys are random numbers, so that the highest bits of one, of which there are a quarter as
//! many values as keys, leave four keys to look at: two accesses to the memory in place of the
//! twenty or more of a search in the file. Takes 13 to 14 bytes for each position.

use super::keyed::{Keyed, KeyedEntry};
use crate::{Book, Error};
use tabia_io::input::file::{DataFile, View};

/// See the [module](self).
pub(crate) struct Indexed<'b> {
    book: &'b (dyn Keyed + Sync),
    /// The keys, ascending, each once.
    keys: Vec<u64>,
    /// For each key the place of its first entry.
    places: Vec<u32>,
    /// By the highest bits of a key, the number of the first key with these; one more at the
    /// end.
    starts: Vec<u32>,
    shift: u32,
}

impl<'b> Indexed<'b> {
    /// Reads the keys of a book; `None` for a ChessBase book.
    pub(crate) fn read(book: &'b Book) -> Result<Option<Indexed<'b>>, Error> {
        let book: &(dyn Keyed + Sync) = match book {
            Book::Bin(book) => book,
            Book::Loaded(book) => book,
            Book::Ctg(_) => return Ok(None),
        };
        let (mut keys, mut places) = (Vec::new(), Vec::new());
        let mut most = 0;
        book.each_key(&mut |key, place| {
            if keys.last() != Some(&key) {
                keys.push(key);
                // What does not fit is reported below.
                places.push(place as u32);
                most = place;
            }
        })?;
        if u32::try_from(most).is_err() {
            return Err(Error::refused(book.file().path(), "has too many entries"));
        }
        let bits = (keys.len() / 4).max(2).ilog2();
        let shift = u64::BITS - bits;
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        let mut number = 0;
        for high in 0..1_u64 << bits {
            starts.push(number);
            let rest = keys.get(number as usize..).unwrap_or_default();
            number += rest.iter().take_while(|key| **key >> shift == high).count() as u32;
        }
        starts.push(number);
        Ok(Some(Indexed {
            book,
            keys,
            places,
            starts,
            shift,
        }))
    }

    /// The number of positions.
    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The keys by their numbers.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The place of the first entry of a key, by its number.
    pub(crate) fn place(&self, number: usize) -> Option<u64> {
        self.places.get(number).map(|place| u64::from(*place))
    }

    /// Loads what [`Indexed::number`] looks at, so that the waits for the memory overlap.
    pub(crate) fn ask_for(&self, keys: impl Iterator<Item = u64> + Clone) {
        let start = |key: u64| self.starts.get((key >> self.shift) as usize).copied();
        let starts = keys.clone().filter_map(start);
        std::hint::black_box(starts.fold(0, |all, start| all ^ start));
        let near = keys.filter_map(|key| self.keys.get(start(key)? as usize));
        std::hint::black_box(near.fold(0, |all, near| all ^ near));
    }

    /// The number of a key in ascending order.
    #[inline]
    pub(crate) fn number(&self, key: u64) -> Option<usize> {
        let high = (key >> self.shift) as usize;
        let start = *self.starts.get(high)? as usize;
        let end = *self.starts.get(high + 1)? as usize;
        let near = self.keys.get(start..end)?.binary_search(&key).ok()?;
        Some(start + near)
    }
}

impl Keyed for Indexed<'_> {
    fn file(&self) -> &DataFile {
        self.book.file()
    }

    fn each_key(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        self.book.each_key(visit)
    }

    fn place_of(&self, key: u64) -> Result<Option<u64>, Error> {
        Ok(self.number(key).and_then(|number| self.place(number)))
    }

    fn view(&self) -> Result<Option<View<'_>>, Error> {
        self.book.view()
    }

    fn touch(&self, view: Option<&View<'_>>, place: u64) -> u8 {
        self.book.touch(view, place)
    }

    fn each_at(
        &self,
        view: Option<&View<'_>>,
        place: u64,
        key: u64,
        visit: &mut dyn FnMut(KeyedEntry),
    ) -> Result<(), Error> {
        self.book.each_at(view, place, key, visit)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{bin, polyglot::PackedMove};
    use shakmaty::Square;

    #[test]
    fn every_key_is_found_and_no_other() {
        let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let near_each_other = |n: u64| 0x1234_5678_0000_0000 | n;
        let mv = PackedMove::new(Square::E2, Square::E4, None);
        for count in [1, 2, 7, 9, 3000] {
            for of in [&spread as &dyn Fn(u64) -> u64, &near_each_other] {
                let mut keys: Vec<u64> = (1..=count).map(|n| of(2 * n)).chain([u64::MAX]).collect();
                keys.sort_unstable();
                // Every second one has two entries.
                let twice = keys
                    .iter()
                    .enumerate()
                    .flat_map(|(n, key)| vec![*key; 1 + n % 2]);
                let bytes: Vec<u8> = twice.flat_map(|key| bin::encode(key, mv, 1, 0)).collect();
                let file = DataFile::from_bytes(Path::new("x.bin"), bytes);
                let book = Book::Bin(bin::BinBook::new(file).unwrap());
                let indexed = Indexed::read(&book).unwrap().unwrap();
                assert_eq!(indexed.keys(), keys);
                let Book::Bin(book) = &book else { panic!() };
                for (n, key) in keys.iter().enumerate() {
                    assert_eq!(indexed.number(*key), Some(n));
                    assert_eq!(
                        indexed.place_of(*key).unwrap(),
                        book.place_of(*key).unwrap()
                    );
                    let mut entries = Vec::new();
                    indexed
                        .each(*key, &mut |entry| entries.push(entry))
                        .unwrap();
                    assert_eq!(entries, book.entries_of(*key).unwrap());
                    assert_eq!(entries.len(), 1 + n % 2);
                }
                for n in 0..count {
                    for other in [of(2 * n + 1), of(n) ^ 1 << 40, n] {
                        assert_eq!(indexed.number(other), keys.binary_search(&other).ok());
                    }
                }
            }
        }
    }
}
