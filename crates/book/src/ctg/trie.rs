//! The trie of slots while a book is written: the slot of each entry of a sorted stream.
//!
//! [`super::index`] explains the numbering. In the order of *bit-reversed* hashes the
//! entries of each slot are contiguous, and the slots are ordered like the leaves of the
//! trie from left to right. So one pass is enough: a slot must be split as soon as its
//! entries exceed a page, and is complete as soon as an entry beyond it comes.

use std::iter;

/// The deepest level: 31 bits choose a slot there. On the next level slot numbers would
/// not fit 32 bits.
pub(super) const DEEPEST: u32 = 31;

/// A slot with the hashes that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrieNode {
    /// The number of hash bits that choose it.
    pub(super) level: u32,
    /// Slot number.
    pub(super) slot: u32,
    /// These bits, the first one on top, as in a bit-reversed hash.
    prefix: u32,
}

impl TrieNode {
    pub(super) const ROOT: TrieNode = TrieNode {
        level: 0,
        slot: 0,
        prefix: 0,
    };

    /// Whether a bit-reversed hash belongs to the slot.
    pub(super) fn holds(&self, reversed: u32) -> bool {
        (reversed ^ self.prefix)
            .checked_shr(32 - self.level)
            .unwrap_or(0)
            == 0
    }

    /// The two slots below, first that of hash bit 0; `None` on the deepest level.
    pub(super) fn children(&self) -> Option<[TrieNode; 2]> {
        (self.level < DEEPEST).then(|| {
            let level = self.level + 1;
            [
                TrieNode {
                    level,
                    slot: self.slot + (1 << self.level),
                    prefix: self.prefix,
                },
                TrieNode {
                    level,
                    slot: self.slot + (2 << self.level),
                    prefix: self.prefix | 1 << (32 - level),
                },
            ]
        })
    }
}

/// The level of a slot.
pub(super) fn level_of(slot: u64) -> u32 {
    (slot + 1).ilog2()
}

/// Whether a hash belongs to a slot.
pub(super) fn is_of_slot(slot: u32, hash: u32) -> bool {
    let n = (1_u64 << level_of(slot.into())) - 1;
    (u64::from(hash) & n) + n == u64::from(slot)
}

/// The slot above, `None` for slot 0.
pub(super) fn parent(slot: u64) -> Option<u64> {
    let level = level_of(slot).checked_sub(1)?;
    // The bits that chose it, without the last one, which is the highest.
    let bits = (slot + 1 - (2 << level)) & ((1 << level) - 1);
    Some(bits + (1 << level) - 1)
}

/// A slot and all slots above it.
pub(super) fn upwards(slot: u64) -> impl Iterator<Item = u64> {
    iter::successors(Some(slot), |&slot| parent(slot))
}

/// A set of split slots.
///
/// Takes one bit for every slot up to the highest in it, as the bitmap in the .ctb file
/// does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Splits {
    words: Vec<u64>,
}

impl Splits {
    /// The slots above the given live slots.
    #[must_use]
    pub fn above(live: impl IntoIterator<Item = u32>) -> Splits {
        let mut splits = Splits::default();
        for slot in live {
            for above in upwards(slot.into()).skip(1) {
                if !splits.insert(above) {
                    break;
                }
            }
        }
        splits
    }

    /// Whether the slot is split.
    #[must_use]
    pub fn contains(&self, slot: u64) -> bool {
        usize::try_from(slot / 64)
            .ok()
            .and_then(|at| self.words.get(at))
            .is_some_and(|word| word >> (slot % 64) & 1 != 0)
    }

    /// The highest slot that is split.
    #[must_use]
    pub fn highest(&self) -> Option<u64> {
        let at = self.words.iter().rposition(|&word| word != 0)?;
        let word = self.words.get(at)?;
        Some(at as u64 * 64 + u64::from(word.ilog2()))
    }

    /// Adds a slot; false if it was there already.
    fn insert(&mut self, slot: u64) -> bool {
        let at = (slot / 64) as usize;
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        let Some(word) = self.words.get_mut(at) else {
            return false;
        };
        let fresh = *word >> (slot % 64) & 1 == 0;
        *word |= 1 << (slot % 64);
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(reversed: u32, level: u32) -> TrieNode {
        let mut node = TrieNode::ROOT;
        while node.level < level {
            let [zero, one] = node.children().unwrap();
            node = if zero.holds(reversed) { zero } else { one };
            assert!(node.holds(reversed));
        }
        node
    }

    #[test]
    fn nodes_are_the_slots_of_a_walk() {
        for hash in [0, 1, 0xeb7e_d3d7, 0x8c97_8593, 0x8000_0000, u32::MAX] {
            let reversed = u32::reverse_bits(hash);
            for level in 0..=DEEPEST {
                let node = find(reversed, level);
                let n = (1_u64 << level) - 1;
                assert_eq!(u64::from(node.slot), (u64::from(hash) & n) + n);
                assert_eq!(level_of(node.slot.into()), level);
                let above = (level > 0).then(|| u64::from(find(reversed, level - 1).slot));
                assert_eq!(parent(node.slot.into()), above);
            }
        }
        assert_eq!(find(0, DEEPEST).children(), None);
        assert_eq!(find(u32::MAX, DEEPEST).slot, u32::MAX - 1);
    }

    #[test]
    fn the_path_of_the_start_position_upwards() {
        let path: Vec<u64> = upwards(470).collect();
        assert_eq!(path, [470, 214, 86, 54, 22, 14, 6, 2, 0]);
    }

    #[test]
    fn splits_are_all_slots_above() {
        let splits = Splits::above([470, 402, 1]);
        let members: Vec<u64> = (0..600).filter(|&slot| splits.contains(slot)).collect();
        assert_eq!(members, [0, 2, 6, 10, 14, 18, 22, 50, 54, 82, 86, 146, 214]);
        assert_eq!(splits.highest(), Some(214));
        assert!(!splits.contains(u64::MAX));
        assert_eq!(Splits::above([0]), Splits::default());
        assert!(Splits::default().highest().is_none());
    }
}
