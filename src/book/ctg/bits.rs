//! The bits of a key: piece codes, writing, reading.

use shakmaty::{Color, Role};

use super::{Key, KeyFault};

/// Code and its length in bits of what stands on a square: 0 nothing, pawn 1 to
/// king 6, for Black 8 more. The rest never occurs.
const CODES: [(u16, u8); 16] = [
    (0b0, 1),
    (0b110, 3),
    (0b10010, 5),
    (0b10100, 5),
    (0b10110, 5),
    (0b100010, 6),
    (0b100000, 6),
    (0, 0),
    (0, 0),
    (0b111, 3),
    (0b10011, 5),
    (0b10101, 5),
    (0b10111, 5),
    (0b100011, 6),
    (0b100001, 6),
    (0, 0),
];

/// [`CODES`] for two squares, the lower one in the low nibble; its code comes
/// first.
const PAIRS: [(u16, u8); 256] = {
    let mut pairs = [(0, 0); 256];
    let mut n = 0;
    while n < 256 {
        let (first, first_bits) = CODES[n & 15];
        let (second, second_bits) = CODES[n >> 4];
        pairs[n] = (first << second_bits | second, first_bits + second_bits);
        n += 1;
    }
    pairs
};

/// Bit n of the index becomes bit 4n.
const SPREAD: [u32; 256] = {
    let mut spread = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut bit = 0;
        while bit < 8 {
            spread[n] |= (n as u32 >> bit & 1) << (4 * bit);
            bit += 1;
        }
        n += 1;
    }
    spread
};

/// The code of a file, and its length in bits, from one byte of each bit of the
/// role (nothing 0, pawn 1 to king 6) and one of the black men; bit n is the
/// n-th rank.
///
/// The squares become eight nibbles, and two nibbles at a time their code. No
/// step depends on what stands where, which makes it fast.
pub(super) fn file_code(role_bits: [u8; 3], black: u8) -> (u64, u32) {
    let spread = |byte: u8| SPREAD[usize::from(byte)];
    let [b0, b1, b2] = role_bits.map(spread);
    let squares = b0 | b1 << 1 | b2 << 2 | spread(black) << 3;
    let (mut code, mut length) = (0, 0);
    for pair in squares.to_le_bytes() {
        let (bits, count) = PAIRS[usize::from(pair)];
        code = code << count | u64::from(bits);
        length += u32::from(count);
    }
    (code, length)
}

/// Packs bits, most significant first, behind byte 0 of a key. Zeros cost
/// nothing: the words are zero from the start.
pub(super) struct BitWriter {
    /// 32 men make at most 8 + 224 + 7 bits; the last word takes what an
    /// overlong push spills.
    words: [u64; 5],
    /// The next bit, counted from the first of byte 0.
    pub(super) at: u32,
}

impl BitWriter {
    pub(super) fn after_first_byte() -> BitWriter {
        BitWriter {
            words: [0; 5],
            at: 8,
        }
    }

    /// Appends zero bits.
    pub(super) fn skip(&mut self, zeros: u32) {
        self.at += zeros;
    }

    /// Appends the low `count` bits of `value`, 1 to 64 of them; the others
    /// are 0.
    pub(super) fn push(&mut self, value: u64, count: u32) {
        // Two words are written each time, the second mostly with nothing:
        // that is faster than to ask.
        let bits = value << (64 - count);
        let offset = self.at % 64;
        let index = (self.at / 64) as usize;
        if let Some([word, spill]) = self.words.get_mut(index..index + 2) {
            *word |= bits >> offset;
            *spill |= bits << 1 << (63 - offset);
        }
        self.at += count;
    }

    /// The key, ended with the byte that `at` is in.
    pub(super) fn finish(mut self, flags: u8) -> Key {
        let length = self.at.div_ceil(8) as u8 & Key::LENGTH;
        self.at = 0;
        self.push(u64::from(flags | length), 8);
        let mut bytes = [0; 40];
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.words) {
            *to = word.to_be_bytes();
        }
        Key::new(bytes.first_chunk().copied().unwrap_or_default())
    }
}

/// Reads bits, most significant first.
pub(super) struct BitReader<'a> {
    pub(super) bytes: &'a [u8],
    /// The next bit, counted from the first of byte 0.
    pub(super) at: u32,
}

impl BitReader<'_> {
    fn bit(&mut self) -> Result<bool, KeyFault> {
        let byte = self
            .bytes
            .get(self.at as usize / 8)
            .ok_or(KeyFault::Short)?;
        let bit = byte << (self.at % 8) & 0x80;
        self.at += 1;
        Ok(bit != 0)
    }

    pub(super) fn number(&mut self, count: u32) -> Result<u8, KeyFault> {
        (0..count).try_fold(0, |number, _| Ok(number << 1 | u8::from(self.bit()?)))
    }

    /// What stands on the next square.
    pub(super) fn man(&mut self) -> Result<Option<(Role, Color)>, KeyFault> {
        if !self.bit()? {
            return Ok(None);
        }
        // A pawn's code is known by its second bit, an officer's by the two
        // after it, queen and king by one more. Every pattern means something.
        let role = if self.bit()? {
            Role::Pawn
        } else {
            match self.number(2)? {
                0b11 => Role::Rook,
                0b10 => Role::Bishop,
                0b01 => Role::Knight,
                _ => match self.bit()? {
                    true => Role::Queen,
                    false => Role::King,
                },
            }
        };
        Ok(Some((role, Color::from_black(self.bit()?))))
    }
}
