//! A Bloom filter that rejects most positions that were not added.
//!
//! The men of the side to move decide which 64 bytes of the filter belong to a position, and
//! its hash decides which bits of them. All moves of a position that take nothing leave the
//! men of the other side as they are, so they ask for the same cache line: in a book of 2.8
//! million positions, a position has 38 moves and asks for 3 lines.

use super::ahead::Sign;

/// Three bits of each position in one word of a line; two bytes for each position. Of other
/// positions about one in a hundred passes.
#[derive(Debug)]
pub(super) struct Sieve {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line([u64; 8]);

impl Sieve {
    pub(super) fn with_room(positions: usize) -> Sieve {
        Sieve {
            lines: vec![Line::default(); (positions / 32 + 1).next_power_of_two()],
        }
    }

    pub(super) fn add(&mut self, sign: Sign) {
        let (line, word, bits) = self.place(sign);
        let line = self.lines.get_mut(line);
        if let Some(word) = line.and_then(|line| line.0.get_mut(word)) {
            *word |= bits;
        }
    }

    /// The numbers of the signs that pass.
    #[inline]
    pub(super) fn sift(&self, signs: impl Iterator<Item = Sign> + Clone, passed: &mut Vec<u32>) {
        // One short loop first, so that the waits for the memory overlap.
        let lines = signs.clone().map(|Sign { group, .. }| {
            let line = self.lines.get(group as usize & (self.lines.len() - 1));
            line.map_or(0, |line| line.0[0])
        });
        std::hint::black_box(lines.fold(0, |all, word| all | word));
        passed.resize(256, 0);
        let mut count = 0;
        for (n, sign) in (0..).zip(signs) {
            if let Some(next) = passed.get_mut(count) {
                *next = n;
            }
            let (line, word, bits) = self.place(sign);
            let line = self.lines.get(line);
            let word = line.and_then(|line| line.0.get(word)).copied().unwrap_or(0);
            count += usize::from(word & bits == bits);
        }
        passed.truncate(count);
    }

    #[inline]
    fn place(&self, Sign { group, hash }: Sign) -> (usize, usize, u64) {
        let line = group as usize & (self.lines.len() - 1);
        let bits = 1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63);
        (line, (hash >> 18) as usize & 7, bits)
    }
}
