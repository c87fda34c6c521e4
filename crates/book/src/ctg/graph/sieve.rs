//! Filters that reject most positions that are not in the book.
//!
//! A move of a piece that takes nothing leaves the men of the other side and the mover's pawns
//! as they are, one of a pawn also the mover's pieces. So the positions after such moves of a
//! position are of one *group*. Most groups have one position, that after the only move
//! of a game: where a group has no more positions than stored moves lead to, nothing else can
//! lead there, and nobody needs to list the moves.
//!
//! Measured in the book of all games of the GNU Chess collection (2.8 million positions): 38
//! moves a position; 79 in a hundred positions need none but captures, 8 moves a position are
//! listed, and one in sixteen of these passes the filter.

/// A Bloom filter of 16 bits for each position, three of which it sets in one word.
#[derive(Debug)]
pub(crate) struct Sieve {
    words: Vec<u64>,
}

impl Sieve {
    pub(crate) fn with_room(positions: usize) -> Sieve {
        Sieve {
            words: vec![0; positions / 4 + 1],
        }
    }

    pub(crate) fn add(&mut self, hash: u64) {
        let at = self.at(hash);
        if let Some(word) = self.words.get_mut(at) {
            *word |= Sieve::bits(hash);
        }
    }

    /// Loads the words of some hashes, in a short loop, so that the waits for the memory
    /// overlap.
    #[inline]
    pub(crate) fn ask_for(&self, hashes: impl Iterator<Item = u64>) {
        let words = hashes.filter_map(|hash| self.words.get(self.at(hash)));
        std::hint::black_box(words.fold(0, |all, word| all | word));
    }

    /// Whether a position may be in the book; of others one in a hundred is.
    #[inline]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let bits = Sieve::bits(hash);
        let word = self.words.get(self.at(hash));
        word.is_some_and(|word| word & bits == bits)
    }

    #[inline]
    fn at(&self, hash: u64) -> usize {
        (((hash >> 32) * self.words.len() as u64) >> 32) as usize
    }

    #[inline]
    fn bits(hash: u64) -> u64 {
        1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
    }
}

/// Counts of positions by groups, never too small: of two bits, eight for each group, of which
/// two in one line of the memory count it.
#[derive(Debug)]
pub(super) struct Census {
    lines: Vec<Line>,
}

/// Of some 32 groups.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line([u64; 8]);

/// The highest count.
const MANY: u64 = 3;

impl Census {
    pub(super) fn with_room(groups: usize) -> Census {
        Census {
            lines: vec![Line::default(); groups / 32 + 1],
        }
    }

    pub(super) fn add(&mut self, group: u32) {
        let at = self.at(group);
        let Some(Line(words)) = self.lines.get_mut(at) else {
            return;
        };
        for (word, shift) in Census::counters(group) {
            if let Some(word) = words.get_mut(word)
                && *word >> shift & MANY != MANY
            {
                *word += 1 << shift;
            }
        }
    }

    /// The most positions that a group may have; `None` for many.
    #[inline]
    pub(super) fn most(&self, group: u32) -> Option<u32> {
        let Line(words) = self.lines.get(self.at(group))?;
        let [a, b] = Census::counters(group)
            .map(|(word, shift)| words.get(word).map_or(MANY, |word| word >> shift & MANY));
        Some(a.min(b) as u32).filter(|count| u64::from(*count) != MANY)
    }

    /// Loads the lines of some groups.
    #[inline]
    pub(super) fn ask_for(&self, groups: impl Iterator<Item = u32>) {
        let lines = groups.filter_map(|group| self.lines.get(self.at(group)));
        std::hint::black_box(lines.fold(0, |all, Line([word, ..])| all | word));
    }

    #[inline]
    fn at(&self, group: u32) -> usize {
        ((u64::from(group) * self.lines.len() as u64) >> 32) as usize
    }

    /// The numbers of the words, and the lowest bits of the counts: never the same ones.
    #[inline]
    fn counters(group: u32) -> [(usize, u32); 2] {
        let mixed = group.wrapping_mul(0x9e37_79b9) >> 16;
        let first = mixed & 255;
        let second = first + 1 + (mixed >> 8) % 255;
        [first, second & 255].map(|n| (n as usize / 32, n % 32 * 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u32) -> u64 {
        u64::from(n + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
    }

    /// And seldom too many: that only costs time.
    #[test]
    fn a_census_never_counts_too_few() {
        let mut census = Census::with_room(10_000);
        // Groups of 1, 2, 3 and 4 positions by turns.
        let size = |group: u32| group % 4 + 1;
        let groups = || (0..4_000).map(|n| (hash(n) as u32, size(n)));
        for (group, size) in groups() {
            (0..size).for_each(|_| census.add(group));
        }
        let most = |group, size| census.most(group).unwrap_or(u32::MAX).cmp(&size);
        assert!(groups().all(|(group, size)| most(group, size).is_ge()));
        let exact = groups().filter(|(group, size)| most(*group, *size).is_eq());
        let of_few = groups().filter(|(_, size)| *size < 3).count();
        let exact = exact.count();
        assert!(
            (of_few * 9 / 10..=of_few).contains(&exact),
            "{exact} of {of_few}"
        );
        let others = (4_000..8_000).filter(|n| census.most(hash(*n) as u32) != Some(0));
        assert!(others.count() < 400);
    }

    #[test]
    fn a_sieve_rejects_most_positions_that_are_not_in_the_book() {
        let mut sieve = Sieve::with_room(4_000);
        (0..4_000).for_each(|n| sieve.add(hash(n)));
        assert!((0..4_000).all(|n| sieve.may_have(hash(n))));
        let passed = (4_000..8_000).filter(|n| sieve.may_have(hash(*n)));
        assert!(passed.count() < 120);
    }
}
