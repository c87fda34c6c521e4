//! Bounds-checked reading of numbers from book files.
//!
//! Nothing here panics or trusts a length: a read past the end returns `None`,
//! and the caller makes an error with the file and the offset.

/// The byte at `at`.
#[inline]
#[must_use]
pub fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// The big-endian 16-bit number at `at`.
#[inline]
#[must_use]
pub fn be_u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_be_bytes)
}

/// The big-endian 32-bit number at `at`.
#[inline]
#[must_use]
pub fn be_u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_be_bytes)
}

/// The big-endian 64-bit number at `at`.
#[inline]
#[must_use]
pub fn be_u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_be_bytes)
}

/// The little-endian 16-bit number at `at`.
#[inline]
#[must_use]
pub fn le_u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

/// The little-endian 32-bit number at `at`.
#[inline]
#[must_use]
pub fn le_u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

#[inline]
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

/// The initial state of [`fnv1a`].
pub const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a hash, the same on every machine. `hash` is the hash of the bytes before,
/// or [`FNV_START`].
#[must_use]
pub const fn fnv1a(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// Appends a number in the encoding that [`Cursor::varint`] reads.
#[inline]
pub fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads numbers one after the other. A read past the end returns `None` and
/// moves nothing.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte.
    #[must_use]
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    /// How many bytes have been read.
    #[must_use]
    #[inline]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    #[must_use]
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let array = array_at(self.bytes, self.at)?;
        self.at += N;
        Some(array)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// One byte as a signed number.
    #[inline]
    pub fn i8(&mut self) -> Option<i8> {
        self.array().map(i8::from_be_bytes)
    }

    /// Two bytes, most significant first.
    #[inline]
    pub fn be_u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Three bytes, most significant first.
    #[inline]
    pub fn be_u24(&mut self) -> Option<u32> {
        self.array()
            .map(|[high, middle, low]| u32::from_be_bytes([0, high, middle, low]))
    }

    /// Four bytes, most significant first.
    #[inline]
    pub fn be_u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Eight bytes, most significant first.
    #[inline]
    pub fn be_u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Four bytes, least significant first.
    #[inline]
    pub fn le_u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes, least significant first.
    #[inline]
    pub fn le_u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of variable length: seven bits per byte, the least significant ones
    /// first; the highest bit is set in all bytes but the last.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let next = self.u8()?;
            value |= u64::from(next & 0x7f) << shift;
            if next & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Four bytes as a signed number, least significant first.
    #[inline]
    pub fn le_i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_byte_orders() {
        let bytes: Vec<u8> = (1..=31).collect();
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(cursor.u8(), Some(1));
        assert_eq!(cursor.be_u16(), Some(0x0203));
        assert_eq!(cursor.be_u24(), Some(0x04_0506));
        assert_eq!(cursor.be_u32(), Some(0x0708_090a));
        assert_eq!(cursor.be_u16(), Some(0x0b0c));
        assert_eq!(cursor.le_u32(), Some(0x100f_0e0d));
        assert_eq!(cursor.be_u64(), Some(0x1112_1314_1516_1718));
        assert_eq!(cursor.take(2), Some(&[25, 26][..]));
        assert_eq!((cursor.position(), cursor.remaining()), (26, 5));
        assert_eq!(cursor.le_i32(), Some(0x1e1d_1c1b));
    }

    #[test]
    fn signed_numbers_keep_their_sign() {
        let mut cursor = Cursor::new(&[0xff, 0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(cursor.i8(), Some(-1));
        assert_eq!(cursor.le_i32(), Some(-2));
    }

    #[test]
    fn a_read_past_the_end_moves_nothing() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(cursor.be_u32(), None);
        assert_eq!(cursor.take(usize::MAX), None);
        assert_eq!(cursor.be_u24(), Some(0x01_0203));
        assert_eq!(cursor.u8(), None);
    }

    #[test]
    fn numbers_of_any_length_come_back() {
        let near = |bits: u32| [(1_u64 << bits) - 1, 1 << bits];
        let numbers: Vec<u64> = (0..64).flat_map(near).chain([u64::MAX]).collect();
        let mut bytes = Vec::new();
        for number in &numbers {
            put_varint(*number, &mut bytes);
        }
        let mut cursor = Cursor::new(&bytes);
        for number in numbers {
            assert_eq!(cursor.varint(), Some(number));
        }
        assert_eq!(cursor.remaining(), 0);
        assert_eq!(Cursor::new(&[0x80; 20]).varint(), None);
    }

    #[test]
    fn reads_at_a_place_are_checked_too() {
        assert_eq!(be_u16_at(&[1, 2, 3], 1), Some(0x0203));
        assert_eq!(be_u16_at(&[1, 2, 3], 2), None);
        assert_eq!(be_u32_at(&[0; 4], usize::MAX), None);
        assert_eq!(u8_at(&[], 0), None);
    }
}
