//! The second stage of packing: short codes for frequent bytes.
//!
//! | part | size |
//! |---|---|
//! | bytes to produce | 16 bits, big-endian |
//! | for each byte value from 0 to 255: the length of its code, then the code | 4 bits, then that many; length 0: the value does not occur |
//! | the codes of the bytes | bits, directly after the table |
//!
//! Most significant bits first. The codes are complete: every sequence of bits can be
//! decoded, or the table is damaged.

use super::CUT_CODE;

/// Bits of the longest code.
const LONGEST: u32 = 15;

const DAMAGED_TABLE: &str = "its table of codes is damaged";

/// Adds the unpacked bytes of `input` to `out`. `codes` is a buffer.
pub(super) fn unpack(
    input: &[u8],
    codes: &mut Vec<u16>,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    let (count, rest) = input.split_first_chunk().ok_or(CUT_CODE)?;
    let count = usize::from(u16::from_be_bytes(*count));
    let mut bits = Bits::new(rest);
    let longest = read_table(&mut bits, codes)?;
    let start = out.len();
    out.resize(start + count, 0);
    for byte in out.get_mut(start..).unwrap_or_default() {
        let index = bits.peek(longest) as usize;
        let [value, length] = codes.get(index).copied().unwrap_or_default().to_le_bytes();
        bits.skip(length.into());
        *byte = value;
    }
    // In one known file the last code runs past the end; zeros are meant.
    if bits.beyond() > LONGEST.into() {
        return Err(CUT_CODE);
    }
    Ok(())
}

/// Fills `codes`, indexed by the next bits: the value, and the length of its code in
/// the upper half. Returns the length of the longest code.
fn read_table(bits: &mut Bits<'_>, codes: &mut Vec<u16>) -> Result<u32, &'static str> {
    let mut table = [(0, 0); 256];
    for entry in &mut table {
        let length = bits.take(4);
        *entry = (length, bits.take(length));
    }
    let longest = table.iter().map(|(length, _)| *length).max().unwrap_or(0);
    codes.clear();
    codes.resize(1 << longest, 0);
    let mut free = codes.len();
    for (value, (length, code)) in (0_u8..=255).zip(table) {
        if length == 0 {
            continue;
        }
        let width = 1_usize << (longest - length);
        let start = code as usize * width;
        let mine = codes.get_mut(start..start + width).ok_or(DAMAGED_TABLE)?;
        if mine.iter().any(|entry| *entry != 0) {
            return Err(DAMAGED_TABLE);
        }
        mine.fill(u16::from_le_bytes([value, length as u8]));
        free -= width;
    }
    if free == 0 {
        Ok(longest)
    } else {
        Err(DAMAGED_TABLE)
    }
}

/// A bit reader, most significant bit first; zeros after the end.
struct Bits<'i> {
    input: &'i [u8],
    /// The next bits, from the top; at least 56 of them after a refill.
    held: u64,
    count: u32,
    /// Number of zero bytes added to `held` after the end of the input.
    made_up: u64,
}

impl<'i> Bits<'i> {
    fn new(input: &'i [u8]) -> Bits<'i> {
        Bits {
            input,
            held: 0,
            count: 0,
            made_up: 0,
        }
    }

    /// The next bits, at most 32.
    #[inline]
    fn peek(&mut self, count: u32) -> u32 {
        if self.count < count {
            self.refill();
        }
        // Two shifts, because a shift by 64 is not allowed.
        (self.held >> 1 >> (63 - count)) as u32
    }

    #[inline]
    fn skip(&mut self, count: u32) {
        self.held <<= count;
        self.count = self.count.saturating_sub(count);
    }

    fn take(&mut self, count: u32) -> u32 {
        let bits = self.peek(count);
        self.skip(count);
        bits
    }

    #[inline]
    fn refill(&mut self) {
        if let Some((word, rest)) = self.input.split_first_chunk::<4>()
            && self.count <= 32
        {
            let word = u64::from(u32::from_be_bytes(*word));
            self.held |= word << (32 - self.count);
            self.count += 32;
            self.input = rest;
            return;
        }
        while self.count <= 56 {
            let byte = match self.input.split_first() {
                Some((byte, rest)) => {
                    self.input = rest;
                    *byte
                }
                None => {
                    self.made_up += 1;
                    0
                }
            };
            self.held |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }

    /// How many bits after the end were used.
    fn beyond(&self) -> u64 {
        (8 * self.made_up).saturating_sub(self.count.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes `0`, `10`, `11` for the values 0, 1 and 255.
    fn packed(count: u16, codes: &str) -> Vec<u8> {
        let mut bits = "00010".to_owned() + "001010";
        bits += &"0000".repeat(253);
        bits += "001011";
        bits += codes;
        let mut bytes = count.to_be_bytes().to_vec();
        for chunk in bits.as_bytes().chunks(8) {
            let text = std::str::from_utf8(chunk).unwrap();
            bytes.push(u8::from_str_radix(&format!("{text:0<8}"), 2).unwrap());
        }
        bytes
    }

    fn unpacked(input: &[u8]) -> Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        unpack(input, &mut Vec::new(), &mut out)?;
        Ok(out)
    }

    #[test]
    fn codes_as_they_are_stored() {
        let out = unpacked(&packed(5, "10110010")).unwrap();
        assert_eq!(out, [1, 255, 0, 0, 1]);
    }

    #[test]
    fn a_little_may_be_missing_and_is_zero() {
        let whole = packed(4, "1011");
        let out = unpacked(&whole).unwrap();
        assert_eq!(out.get(..2), Some(&[1, 255][..]));
        assert_eq!(unpacked(&packed(200, "1011")), Err(CUT_CODE));
    }

    #[test]
    fn a_table_with_gaps_or_collisions_is_damage() {
        let mut gap = packed(1, "0");
        *gap.get_mut(2).unwrap() = 0;
        assert_eq!(unpacked(&gap), Err(DAMAGED_TABLE));
        assert_eq!(unpacked(&[]), Err(CUT_CODE));
        assert_eq!(unpacked(&[0, 1]), Err(DAMAGED_TABLE));
    }
}
