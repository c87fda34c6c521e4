//! Lengths: one byte; or 0x80 plus the number of bytes that follow, then the
//! length in these bytes.

/// Reads a length from the start of `bytes`; returns it and the bytes after it.
/// Accepts longer forms than needed.
pub(super) fn read(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let count = match first {
        0x00..=0x7f => return Some((usize::from(*first), rest)),
        0x81..=0x84 => usize::from(first & 0x0f),
        _ => return None,
    };
    let (digits, rest) = rest.split_at_checked(count)?;
    let value = digits
        .iter()
        .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    Some((usize::try_from(value).ok()?, rest))
}

/// Bytes of the longest form.
pub(super) const MOST_BYTES: usize = 5;

/// Writes a length; false if it is too large for the format. The largest length of
/// each form takes the next form: the author's program does the same, and its
/// reader rejects 7F in one byte.
#[must_use]
pub(super) fn write(length: usize, out: &mut Vec<u8>) -> bool {
    let Ok(length) = u32::try_from(length) else {
        return false;
    };
    let bytes = length.to_be_bytes();
    let count = match length {
        0..0x7f => 0,
        0x7f..0xff => 1,
        0xff..0xffff => 2,
        0xffff..0xff_ffff => 3,
        _ => 4,
    };
    if count == 0 {
        out.push(bytes[3]);
    } else {
        out.push(0x80 | count as u8);
        out.extend(bytes.iter().skip(4 - count));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_the_programs_form_is_written() {
        let cases: &[(usize, &[u8])] = &[
            (0, &[0]),
            (126, &[126]),
            (127, &[0x81, 127]),
            (254, &[0x81, 254]),
            (255, &[0x82, 0, 255]),
            (65534, &[0x82, 0xff, 0xfe]),
            (65535, &[0x83, 0, 0xff, 0xff]),
            (16_777_214, &[0x83, 0xff, 0xff, 0xfe]),
            (16_777_215, &[0x84, 0, 0xff, 0xff, 0xff]),
        ];
        for (length, bytes) in cases {
            let mut out = Vec::new();
            assert!(write(*length, &mut out));
            assert_eq!(out, *bytes);
            assert_eq!(read(bytes), Some((*length, &[][..])));
        }
        for longer in [
            &[0x81, 5][..],
            &[0x82, 0, 5],
            &[0x83, 0, 0, 5],
            &[0x84, 0, 0, 0, 5],
        ] {
            assert_eq!(read(longer), Some((5, &[][..])));
        }
        assert_eq!(read(&[0x7f]), Some((127, &[][..])));
        for bad in [
            &[][..],
            &[0x80],
            &[0x85, 0, 0, 0, 0, 1],
            &[0x82, 0],
            &[0xff],
        ] {
            assert_eq!(read(bad), None);
        }
    }
}
