//! Numbers by 64-bit hashes of what they number.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Numbers by hashes; several numbers may have one hash.
pub(in crate::ctg) struct Numbers(HashTable<Slot>);

/// The table finds a place by the low bits of a hash and compares the highest seven; these
/// are other bits, but in tables of more than 2^25 places.
struct Slot {
    bits: u32,
    number: u32,
}

/// How many numbers a hash has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ctg) enum Known {
    None,
    One(u32),
    Several,
}

fn bits(hash: u64) -> u32 {
    (hash >> 25) as u32
}

impl Numbers {
    pub(in crate::ctg) fn new(numbered: impl Iterator<Item = (u32, u64)> + Clone) -> Numbers {
        let mut slots = HashTable::with_capacity(numbered.clone().count());
        for (number, hash) in numbered {
            let bits = bits(hash);
            // It never grows, so hashes are not needed again.
            slots.insert_unique(hash, Slot { bits, number }, |_| 0);
        }
        Numbers(slots)
    }

    /// Numbers hashes from 0; `None` if two are equal.
    pub(in crate::ctg) fn unique(hashes: impl ExactSizeIterator<Item = u64>) -> Option<Numbers> {
        let mut slots = HashTable::with_capacity(hashes.len());
        for (number, hash) in (0..).zip(hashes) {
            let bits = bits(hash);
            match slots.entry(hash, |slot: &Slot| slot.bits == bits, |_| 0) {
                Entry::Vacant(place) => place.insert(Slot { bits, number }),
                Entry::Occupied(_) => return None,
            };
        }
        Some(Numbers(slots))
    }

    /// The number of numbers.
    pub(in crate::ctg) fn len(&self) -> usize {
        self.0.len()
    }

    /// The numbers that may belong to a hash, in no order.
    pub(in crate::ctg) fn of(&self, hash: u64) -> impl Iterator<Item = u32> {
        let slots = self.0.iter_hash(hash);
        let slots = slots.filter(move |slot| slot.bits == bits(hash));
        slots.map(|slot| slot.number)
    }

    /// The number of a hash, if it is the only one.
    #[inline]
    pub(in crate::ctg) fn only(&self, hash: u64) -> Known {
        let mut numbers = self.of(hash);
        match (numbers.next(), numbers.next()) {
            (None, _) => Known::None,
            (Some(number), None) => Known::One(number),
            (Some(_), Some(_)) => Known::Several,
        }
    }

    /// One of the numbers of a hash.
    #[inline]
    pub(in crate::ctg) fn any(&self, hash: u64) -> Option<u32> {
        let bits = bits(hash);
        let slot = self.0.find(hash, |slot| slot.bits == bits);
        slot.map(|slot| slot.number)
    }

    #[inline]
    pub(in crate::ctg) fn has(&self, hash: u64) -> bool {
        self.any(hash).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_numbers_of_a_hash_are_told_from_one() {
        let hash = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hashes = (0..10_000).map(|n| (n, hash(u64::from(n % 9_000))));
        let numbers = Numbers::new(hashes.clone());
        assert_eq!(numbers.len(), 10_000);
        for n in 0..9_000 {
            let found = match n {
                0..1_000 => Known::Several,
                _ => Known::One(n),
            };
            assert_eq!(numbers.only(hash(n.into())), found);
        }
        assert_eq!(numbers.only(hash(9_000)), Known::None);
        assert!(
            Numbers::unique(hashes.map(|(_, hash)| hash).collect::<Vec<_>>().into_iter()).is_none()
        );
        let unique = Numbers::unique((0..9_000).map(hash).collect::<Vec<_>>().into_iter());
        assert_eq!(unique.unwrap().any(hash(77)), Some(77));
    }
}
