//! A filter that rejects most positions that are not in the book.
//!
//! The men of the side to move make the *group* of a position. All moves that take nothing
//! leave the men of the other side as they are, so the positions after them are of one group.
//! Most groups have one position, that after the only move of a game: where a group has no
//! more positions than stored moves lead to, nothing else can lead there, and nobody needs to
//! list the moves. The group also decides which 64 bytes of the filter belong to a position, so
//! that one wait for the memory is enough for most moves of a position.
//!
//! Measured in the book of all games of the GNU Chess collection (2.8 million positions): 38
//! moves a position, of three groups; 45 in a hundred positions need no list, 22 moves a position
//! are listed, and one in fifty of those that do not lead into the book passes the filter.

use super::ahead::Sign;

/// A Bloom filter of 24 bits for each position, three of which it sets in one word, and
/// counts of positions by groups.
#[derive(Debug)]
pub(super) struct Sieve {
    lines: Vec<Line>,
}

/// Of some sixteen positions.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line {
    words: [u64; 6],
    /// Counts of 32 groups, four bits each; 15 is many.
    counts: [u64; 2],
}

/// What a count ends at.
const MANY: u64 = 15;

impl Sieve {
    pub(super) fn with_room(positions: usize) -> Sieve {
        Sieve {
            lines: vec![Line::default(); positions / 16 + 1],
        }
    }

    pub(super) fn add(&mut self, Sign { group, hash }: Sign) {
        let at = self.line(group);
        let Some(line) = self.lines.get_mut(at) else {
            return;
        };
        let (word, bits) = Sieve::bits(hash);
        if let Some(word) = line.words.get_mut(word) {
            *word |= bits;
        }
        let (word, shift) = Sieve::counter(group);
        if let Some(counts) = line.counts.get_mut(word)
            && *counts >> shift & MANY != MANY
        {
            *counts += 1 << shift;
        }
    }

    /// The most positions that a group may have; `None` for many.
    #[inline]
    pub(super) fn most(&self, group: u32) -> Option<u64> {
        let line = self.lines.get(self.line(group));
        let (word, shift) = Sieve::counter(group);
        let counts = line.and_then(|line| line.counts.get(word));
        Some(counts? >> shift & MANY).filter(|count| *count != MANY)
    }

    /// Loads the lines of some groups, in a short loop, so that the waits for the memory
    /// overlap.
    #[inline]
    pub(super) fn ask_for(&self, groups: impl Iterator<Item = u32>) {
        let lines = groups.filter_map(|group| self.lines.get(self.line(group)));
        std::hint::black_box(lines.fold(0, |all, line| all | line.counts[0]));
    }

    /// The numbers of the signs that pass; of others about one in fifty. No branch
    /// depends on a word. Their lines should be asked for.
    #[inline]
    pub(super) fn sift(&self, signs: impl Iterator<Item = Sign>, passed: &mut Vec<u32>) {
        passed.resize(256, 0);
        let mut count = 0;
        for (n, Sign { group, hash }) in (0..).zip(signs) {
            if let Some(next) = passed.get_mut(count) {
                *next = n;
            }
            let (word, bits) = Sieve::bits(hash);
            let line = self.lines.get(self.line(group));
            let word = line.and_then(|line| line.words.get(word));
            count += usize::from(word.copied().unwrap_or(0) & bits == bits);
        }
        passed.truncate(count);
    }

    #[inline]
    fn line(&self, group: u32) -> usize {
        ((u64::from(group) * self.lines.len() as u64) >> 32) as usize
    }

    /// The number of the word, and its bits.
    #[inline]
    fn bits(hash: u64) -> (usize, u64) {
        let word = ((hash >> 18 & 0xffff) * 6) >> 16;
        let bits = 1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63);
        (word as usize, bits)
    }

    /// The number of the word, and the lowest bit of the count.
    #[inline]
    fn counter(group: u32) -> (usize, u32) {
        ((group >> 4 & 1) as usize, (group & 15) * 4)
    }
}
