//! The key of a position: the bytes that identify it in the book, and their hash.

use std::fmt;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

/// The key of a position: up to 31 bytes; the first contains the length.
///
/// | bits of byte 0 | meaning |
/// |---|---|
/// | 0x1f | length of the key in bytes, including this byte |
/// | 0x20 | an en passant file is stored |
/// | 0x40 | castling rights are stored |
/// | 0x80 | always 0 |
///
/// (unofficial specification 0.2, readers agree, genuine book.) A position of at most 32
/// men needs at most 30 bytes: 32 empty squares of one bit, 30 queens and 2 kings of six,
/// together 28 bytes, then one for the flags, and the first byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    bytes: [u8; Key::MAX_BYTES],
}

/// Why a key is not a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// The bits end before the 64th square.
    #[error("the key ends inside the board")]
    Short,
    /// The length of the board does not match byte 0.
    #[error("the key is {found} bytes long, but its board and flags require {expected}")]
    Length {
        /// Length in byte 0, in bytes.
        found: usize,
        /// Length of the content, in bytes.
        expected: usize,
    },
    /// There is not exactly one king of each colour.
    #[error("the key does not have one king of each colour")]
    Kings,
}

impl Key {
    /// The longest key that the length bits can express.
    pub const MAX_BYTES: usize = 31;
    /// Bits of byte 0 with the length.
    pub(super) const LENGTH: u8 = 0x1f;
    /// Bit of byte 0: an en passant file is stored.
    pub(super) const EN_PASSANT: u8 = 0x20;
    /// Bit of byte 0: castling rights are stored.
    pub(super) const CASTLING: u8 = 0x40;

    /// Reads the key at the start of `bytes`; `None` if there are too few or the length
    /// is 0. Does not check whether the key is a position.
    #[inline]
    #[must_use]
    pub fn from_prefix(bytes: &[u8]) -> Option<Key> {
        let mut key = [0; Key::MAX_BYTES];
        Key::read(bytes, &mut key)?;
        Some(Key { bytes: key })
    }

    /// As [`Key::from_prefix`], but writes [`Key::padded`] to a buffer; returns the key's
    /// length.
    #[inline]
    pub fn read(bytes: &[u8], key: &mut [u8; Key::MAX_BYTES]) -> Option<usize> {
        let length = usize::from(bytes.first()? & Key::LENGTH);
        if length == 0 || length > bytes.len() {
            return None;
        }
        match bytes.first_chunk::<{ Key::MAX_BYTES }>() {
            // Nearly always more bytes follow: then all are copied and those after the
            // key cleared, in two overlapping halves of 16 bytes, because a copy of
            // variable length would be a function call.
            Some(all) => {
                let tail = Key::MAX_BYTES - length;
                for from in [0, Key::MAX_BYTES - 16] {
                    let half = all.get(from..)?.first_chunk::<16>()?;
                    let kept = KEPT.get(tail + from..)?.first_chunk::<16>()?;
                    let half = u128::from_ne_bytes(*half) & u128::from_ne_bytes(*kept);
                    *key.get_mut(from..)?.first_chunk_mut::<16>()? = half.to_ne_bytes();
                }
            }
            None => {
                let (to, tail) = key.split_at_mut_checked(length)?;
                to.copy_from_slice(bytes.get(..length)?);
                tail.fill(0);
            }
        }
        Some(length)
    }

    /// The bytes as in the file, including byte 0.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let [first, ..] = self.bytes;
        // At most 31, so the slice always exists.
        self.bytes
            .get(..usize::from(first & Key::LENGTH))
            .unwrap_or_default()
    }

    /// Appends [`Key::as_bytes`]: copies as many bytes as fit and removes the excess,
    /// because a copy of variable length would be a function call.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.as_bytes().len();
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }

    /// A 64-bit hash of the key. In a book of a million positions two keys collide once
    /// in a hundred million books.
    pub(crate) fn wide_hash(&self) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(self.as_bytes())
    }

    /// The hash that determines the key's slot.
    #[inline]
    #[must_use]
    pub fn hash(&self) -> u32 {
        hash(self.as_bytes())
    }

    /// The key, padded with zeros.
    #[inline]
    pub const fn padded(&self) -> &[u8; Key::MAX_BYTES] {
        &self.bytes
    }

    /// The inverse of [`Key::padded`].
    #[inline]
    pub const fn from_padded(bytes: [u8; Key::MAX_BYTES]) -> Key {
        Key { bytes }
    }

    pub(super) const fn new(bytes: [u8; Key::MAX_BYTES]) -> Key {
        Key { bytes }
    }
}

/// Hexadecimal digits without spaces.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// Masks for keys of all lengths: from offset 31 - n on, n bytes 0xff, then zeros.
const KEPT: [u8; 2 * Key::MAX_BYTES] = {
    let mut mask = [0; 2 * Key::MAX_BYTES];
    let mut n = 0;
    while n < Key::MAX_BYTES {
        mask[n] = 0xff;
        n += 1;
    }
    mask
};

/// The 32-bit hash of key bytes.
///
/// Nibble by nibble, the low one of each byte first, an index moves by 61 - 4v, and the
/// constant at that index (modulo 64) is added, modulo 2^32. This is the scheme of the
/// `dbm` library of 1979, including its constants (readers agree, all keys of the genuine
/// book are found by it).
#[inline]
#[must_use]
pub fn hash(bytes: &[u8]) -> u32 {
    // Before a byte the index is even; half of it is the number of a row of the table.
    let mut row = 0_usize;
    let mut sum = 0_u32;
    for &byte in bytes {
        sum = sum.wrapping_add(SUMS[row & ROWS | usize::from(byte)]);
        row += usize::from(STEPS[usize::from(byte)]);
    }
    sum
}

/// The bits of a row number in [`SUMS`].
const ROWS: usize = 31 << 8;

/// The sum of the constants for a byte's two nibbles, by half the index before it and the
/// byte.
static SUMS: [u32; 32 << 8] = {
    let mut sums = [0_u32; 32 << 8];
    let mut n = 0;
    while n < sums.len() {
        let low = 2 * (n >> 8) + 61 + 64 - 4 * (n & 15);
        let high = low + 61 + 64 - 4 * (n >> 4 & 15);
        sums[n] = CONSTANTS[low & 63].wrapping_add(CONSTANTS[high & 63]);
        n += 1;
    }
    sums
};

/// By byte: the distance in [`SUMS`] that its two nibbles move the index.
static STEPS: [u16; 256] = {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let rows = 61 + 64 - 2 * ((byte & 15) + (byte >> 4));
        steps[byte] = (rows << 8 & ROWS) as u16;
        byte += 1;
    }
    steps
};

#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0x3100_d2bf, 0x3118_e3de, 0x34ab_1372, 0x2807_a847, 0x1633_f566, 0x2143_b359, 0x26d5_6488, 0x3b9e_6f59,
    0x3775_5656, 0x3089_ca7b, 0x18e9_2d85, 0x0cd0_e9d8, 0x1a9e_3b54, 0x3eaa_902f, 0x0d9b_faae, 0x2f32_b45b,
    0x31ed_6102, 0x3d3c_8398, 0x1466_60e3, 0x0f8d_4b76, 0x02c7_7a5f, 0x146c_8799, 0x1c47_f51f, 0x249f_8f36,
    0x2477_2043, 0x1fbc_1e4d, 0x1e86_b3fa, 0x37df_36a6, 0x16ed_30e4, 0x02c3_148e, 0x216e_5929, 0x0636_b34e,
    0x317f_9f56, 0x15f0_9d70, 0x1310_26fb, 0x38c7_84b1, 0x29ac_3305, 0x2b48_5dc5, 0x3c04_9ddc, 0x35a9_fbcd,
    0x31d5_373b, 0x2b24_6799, 0x0a29_23d3, 0x08a9_6e9d, 0x3003_1a9f, 0x08f5_25b5, 0x3361_1c06, 0x2409_db98,
    0x0ca4_feb2, 0x1000_b71e, 0x3056_6e32, 0x3944_7d31, 0x194e_3752, 0x0823_3a95, 0x0f38_fe36, 0x29c7_cd57,
    0x0f7b_3a39, 0x328e_8a16, 0x1e7d_1388, 0x0fba_78f5, 0x274c_7e7c, 0x1e8b_e65c, 0x2fa0_b0bb, 0x1eb6_c371,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_at_once_makes_the_same_hash() {
        let slowly = |bytes: &[u8]| {
            let (mut index, mut sum) = (0_i64, 0_u32);
            for nibble in bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]) {
                index += 61 - 4 * i64::from(nibble);
                sum = sum.wrapping_add(CONSTANTS[index.rem_euclid(64) as usize]);
            }
            sum
        };
        let mut bytes = [0_u8; 31];
        for round in 0..5000_u32 {
            for (n, byte) in bytes.iter_mut().enumerate() {
                *byte = (round.wrapping_mul(0x9e37_79b9) >> (n % 24)) as u8 ^ byte.rotate_left(3);
            }
            let length = round as usize % 32;
            assert_eq!(hash(&bytes[..length]), slowly(&bytes[..length]));
            assert_eq!(hash(&[255; 31][..length]), slowly(&[255; 31][..length]));
        }
    }

    /// Whatever follows, and also if nothing follows.
    #[test]
    fn a_key_is_read_from_its_bytes_alone() {
        for flags in [0, Key::EN_PASSANT, Key::CASTLING | Key::EN_PASSANT] {
            for length in 1..=Key::MAX_BYTES {
                let mut bytes = [0xa5; 2 * Key::MAX_BYTES];
                bytes[0] = flags | length as u8;
                for end in 0..bytes.len() {
                    let key = Key::from_prefix(&bytes[..end]);
                    let read = key.as_ref().map(Key::as_bytes);
                    let expected = (length <= end).then(|| &bytes[..length]);
                    assert_eq!(read, expected, "{length} of {end}");
                    if let Some(key) = key {
                        assert!(key.padded()[length..].iter().all(|byte| *byte == 0));
                        let mut list = vec![7];
                        key.append_to(&mut list);
                        assert_eq!(list[1..], bytes[..length]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_key_is_as_long_as_its_first_byte_says() {
        let key = Key::from_prefix(&[0x43, 1, 2, 3, 4]).unwrap();
        assert_eq!(key.as_bytes(), [0x43, 1, 2]);
        assert_eq!(key.to_string(), "430102");
        let followed: Vec<u8> = [0x43, 1, 2].into_iter().chain(3..50).collect();
        assert_eq!(Key::from_prefix(&followed), Some(key));
        let all = Key::from_prefix(&[0x1f; 40]).unwrap();
        assert_eq!(all.as_bytes(), [0x1f; 31]);
        assert_eq!(Key::from_prefix(&[0x43, 1]), None);
        assert_eq!(Key::from_prefix(&[0x40, 1]), None);
        assert_eq!(Key::from_prefix(&[]), None);
    }
}
