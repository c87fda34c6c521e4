//! A checksum of rows that survives a sum: that of `GROUP BY key, move` over any tables is
//! the sum of theirs.
//!
//! Each row counts as its numbers, each times a constant, times the hash of its key and
//! move, modulo 2^64. All factors are odd, so one changed bit always changes the checksum;
//! any other damage goes unnoticed with a probability of 2^-63. The order of rows and the
//! tables that they are in do not matter.

use twox_hash::XxHash64;

use super::{COUNTERS, NO_MOVE};

/// Odd numbers without a pattern: digits of pi.
const FACTORS: [u64; COUNTERS.len()] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7345,
    0xa409_3822_299f_31d1,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6d,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
    0x9216_d5d9_8979_fb1b,
];

/// The checksum of the rows so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Checksum {
    sum: u64,
    /// Of the key: a position has several rows.
    hash: u64,
}

impl Checksum {
    /// Begins the rows of a key.
    pub(super) fn begin(&mut self, key: &[u8]) {
        self.hash = hash(key);
    }

    /// Adds a row of the key.
    pub(super) fn add(&mut self, byte: i64, counters: &[u64; COUNTERS.len()]) {
        let move_part = (byte - i64::from(NO_MOVE)) as u64;
        let place = self.hash ^ move_part.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let numbers = counters.iter().zip(FACTORS);
        let numbers = numbers.fold(0_u64, |sum, (&number, factor)| {
            sum.wrapping_add(number.wrapping_mul(factor))
        });
        self.sum = self.sum.wrapping_add((place | 1).wrapping_mul(numbers));
    }

    pub(super) fn sum(&self) -> u64 {
        self.sum
    }
}

/// XXH64, the same everywhere.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(rows: &[(Vec<u8>, i64, [u64; 9])]) -> u64 {
        let mut sum = Checksum::default();
        for (key, byte, counters) in rows {
            sum.begin(key);
            sum.add(*byte, counters);
        }
        sum.sum()
    }

    fn row() -> impl Strategy<Value = (Vec<u8>, i64, [u64; 9])> {
        let key = prop::collection::vec(any::<u8>(), 0..31);
        (key, -1..256_i64, prop::array::uniform9(0..1_u64 << 52))
    }

    /// Files of earlier versions have it. XXH64 of nothing is ef46db3751d8e999.
    #[test]
    fn the_checksum_of_a_row_stays_the_same() {
        let row = (Vec::new(), 5, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(of(&[row]), 0xff51_2463_90cd_db6d);
    }

    proptest! {
        #[test]
        fn sums_of_rows_have_the_sum_of_checksums(
            one in row(), more in prop::array::uniform9(0..1_u64 << 40), other in row(),
        ) {
            let two = (one.0.clone(), one.1, more);
            let mut both = one.clone();
            both.2.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            let apart = of(&[one.clone(), other.clone()]).wrapping_add(of(&[two]));
            prop_assert_eq!(of(&[other, both]), apart);
        }

        #[test]
        fn a_changed_bit_changes_it(before in row(), place in 0..9_usize, bit in 0..63_u32) {
            let mut after = before.clone();
            after.2[place] ^= 1 << bit;
            prop_assert_ne!(of(&[before]), of(&[after]));
        }
    }
}
