//! The first stage of packing: repeated bytes, and copies of earlier bytes.
//!
//! Groups of a control word (16 bits, little-endian) and up to 16 items, one for each
//! bit from the most significant down; the end of the input also ends a group. Bit 0:
//! one literal byte. Bit 1: a code, whose first byte has an upper half `hi` and a lower
//! half `lo`:
//!
//! | hi | bytes | meaning |
//! |---|---|---|
//! | 0 | 2 | lo + 3 times the second byte |
//! | 1 | 3 | 19 + lo + 16 * second times the third byte |
//! | 2 | 3 | copy third + 16 bytes |
//! | 3 to 15 | 2 | copy hi bytes |
//!
//! Copies begin 3 + lo + 16 * second bytes before the current end. In genuine files
//! they stay inside their block and never overlap themselves; both are allowed here.

use super::{CUT_CODE, LARGEST_BYTES};

/// The largest distance of a copy.
pub(in crate::cbv) const FARTHEST: usize = 3 + 15 + 16 * 255;

const TOO_LARGE: &str = "it unpacks to more than a megabyte";
const TOO_FAR: &str = "it copies bytes from before the start of the member";

/// Adds the unpacked bytes of `input` to `out`; copies may refer to its earlier
/// content.
pub(super) fn unpack(input: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let start = out.len();
    let mut rest = input;
    loop {
        let mut control = match rest {
            [] => return Ok(()),
            // One other reader accepts this; no known file has it.
            [last] => {
                out.push(*last);
                return Ok(());
            }
            [low, high, items @ ..] => {
                rest = items;
                u16::from_le_bytes([*low, *high])
            }
        };
        for _ in 0..u16::BITS {
            let is_code = control & 0x8000 != 0;
            control <<= 1;
            rest = match rest {
                [] => return Ok(()),
                [byte, after @ ..] if !is_code => {
                    out.push(*byte);
                    after
                }
                rest => code(rest, out)?,
            };
        }
        // A group adds at most 64 KiB.
        if out.len() - start > LARGEST_BYTES {
            return Err(TOO_LARGE);
        }
    }
}

/// Executes the code at the start of `input`; returns the bytes after it.
fn code<'i>(input: &'i [u8], out: &mut Vec<u8>) -> Result<&'i [u8], &'static str> {
    let [first, second, rest @ ..] = input else {
        return Err(CUT_CODE);
    };
    let low = usize::from(first & 15);
    let large = low + 16 * usize::from(*second);
    let (count, rest) = match first >> 4 {
        0 => {
            out.resize(out.len() + low + 3, *second);
            return Ok(rest);
        }
        1 => {
            let (byte, rest) = rest.split_first().ok_or(CUT_CODE)?;
            out.resize(out.len() + large + 19, *byte);
            return Ok(rest);
        }
        2 => {
            let (count, rest) = rest.split_first().ok_or(CUT_CODE)?;
            (usize::from(*count) + 16, rest)
        }
        count => (usize::from(count), rest),
    };
    let distance = large + 3;
    let from = out.len().checked_sub(distance).ok_or(TOO_FAR)?;
    if count <= distance {
        out.extend_from_within(from..from + count);
    } else {
        for at in from..from + count {
            let byte = out.get(at).copied().unwrap_or_default();
            out.push(byte);
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(input: &[u8]) -> Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        unpack(input, &mut out)?;
        Ok(out)
    }

    #[test]
    fn the_worked_example_of_a_genuine_block() {
        let packed = [
            0x08, 0x50, 0x02, 0x00, 0x00, 0x3d, 0x05, 0x00, 0x2e, 0x63, 0x62, 0x68, 0x00, 0x33,
            0x34, 0x33, 0x35, 0x00, 0x63, 0x00, 0x34, 0x20, 0x0b, 0x00, 0x32, 0x00, 0x33, 0x18,
            0x00, 0x00, 0x07, 0x07, 0x00, 0xb8, 0x00, 0x07, 0x00, 0x07, 0x01, 0x00,
        ];
        let out = unpacked(&packed).unwrap();
        assert_eq!(out.len(), 93);
        assert!(out.starts_with(b"\x02\0\0\0\x3d\0\0\0\0\0\0\0\0.cbh\x00343.cbc\x004"));
        assert_eq!(out.get(27..31), Some(&[0, 0x32, 0, 0x33][..]));
        assert_eq!(out.last(), Some(&0));
    }

    #[test]
    fn a_long_run_and_a_copy_that_overlaps_itself() {
        assert_eq!(unpacked(&[0, 0x80, 0x1e, 0x62, 0]).unwrap(), vec![0; 1601]);
        let copied = unpacked(&[0, 0x10, 1, 2, 3, 0x70, 0]).unwrap();
        assert_eq!(copied, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn what_is_cut_or_reaches_too_far_is_damage() {
        assert_eq!(unpacked(&[0, 0x80, 0x1e, 0x62]), Err(CUT_CODE));
        assert_eq!(unpacked(&[0, 0x80, 0x05]), Err(CUT_CODE));
        assert_eq!(unpacked(&[0, 0x40, 1, 0x30, 0]), Err(TOO_FAR));
        let bomb = [&[0xff, 0xff][..], &[0x1f, 0xff, 0].repeat(16)].concat();
        assert_eq!(unpacked(&bomb.repeat(1000)), Err(TOO_LARGE));
    }
}
