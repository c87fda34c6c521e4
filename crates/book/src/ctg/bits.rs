//! The bits of a key: piece codes, writing, reading.

use super::{Key, KeyFault};
use tabia_io::input::bytes::be_u64_at;

/// Code and its length in bits of what is on a square: 0 nothing, pawn 1 to
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
/// first. The low [`LENGTH_BITS`] are the length, the others the code.
const PAIRS: [u32; 256] = {
    let mut pairs = [0; 256];
    let mut n = 0;
    while n < 256 {
        let (first, first_bits) = CODES[n & 15];
        let (second, second_bits) = CODES[n >> 4];
        let code = (first as u32) << second_bits | second as u32;
        pairs[n] = code << LENGTH_BITS | (first_bits + second_bits) as u32;
        n += 1;
    }
    pairs
};

/// The same for three squares.
static TRIPLES: [u32; 4096] = {
    let mut triples = [0; 4096];
    let mut n = 0;
    while n < 4096 {
        let pair = PAIRS[n & 255];
        let (third, bits) = CODES[n >> 8];
        let code = pair >> LENGTH_BITS << bits | third as u32;
        triples[n] = code << LENGTH_BITS | ((pair & LENGTH) + bits as u32);
        n += 1;
    }
    triples
};

/// The eight squares of a file take at most 48 bits.
const LENGTH_BITS: u32 = 6;
const LENGTH: u32 = (1 << LENGTH_BITS) - 1;

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
/// The squares become eight nibbles, and three or two nibbles at a time their
/// code. No step depends on what is where, which makes it fast.
#[inline]
pub(super) fn file_code([b0, b1, b2]: [u8; 3], black: u8) -> (u64, u32) {
    // No `map`: it is not always inlined.
    let spread = |byte: u8| SPREAD[usize::from(byte)];
    let squares = spread(b0) | spread(b1) << 1 | spread(b2) << 2 | spread(black) << 3;
    let first = TRIPLES[squares as usize & 0xfff];
    let second = TRIPLES[(squares >> 12) as usize & 0xfff];
    let third = PAIRS[(squares >> 24) as usize];
    let code = u64::from(first >> LENGTH_BITS);
    let code = code << (second & LENGTH) | u64::from(second >> LENGTH_BITS);
    let code = code << (third & LENGTH) | u64::from(third >> LENGTH_BITS);
    (code, (first + second + third) & LENGTH)
}

/// 32 men make at most 8 + 224 + 7 bits; each [`BitWriter::push`] writes eight bytes.
pub(super) type KeyBuffer = [u8; 40];

/// Packs bits, most significant first, after byte 0 of a key. Apart from the bytes, so
/// that it stays in registers.
pub(super) struct BitWriter {
    /// The bits of the byte that is not full, in the upper places.
    unfinished: u64,
    /// The next bit, counted from the first of byte 0.
    pub(super) at: u32,
}

impl BitWriter {
    pub(super) fn after_first_byte() -> BitWriter {
        BitWriter {
            unfinished: 0,
            at: 8,
        }
    }

    /// The most bits that are appended at once.
    pub(super) const MOST: u32 = 56;

    /// Appends the low `count` bits of `value`, up to [`BitWriter::MOST`] of them; the
    /// others are 0.
    #[inline]
    pub(super) fn push(&mut self, value: u64, count: u32, bytes: &mut KeyBuffer) {
        // What follows the bits is written as zeros, and then again: nothing is
        // read back, which would have to wait for it.
        self.unfinished |= value << (63 - count) << 1 >> (self.at % 8);
        let byte = self.at / 8;
        if let Some((_, to)) = bytes.split_at_mut_checked(byte as usize)
            && let Some(to) = to.first_chunk_mut()
        {
            *to = self.unfinished.to_be_bytes();
        }
        self.at += count;
        self.unfinished <<= 8 * (self.at / 8 - byte);
    }

    /// The key, ended with the byte that `at` is in.
    #[inline]
    pub(super) fn finish(self, flags: u8, mut bytes: KeyBuffer) -> Key {
        bytes[0] = flags | self.at.div_ceil(8) as u8 & Key::LENGTH;
        Key::new(bytes.first_chunk().copied().unwrap_or_default())
    }
}

/// What begins with each six bits of which the first is set: the man as in
/// [`CODES`], and the length of its code. Every pattern means something.
const MEN: [(u8, u8); 32] = {
    let mut men = [(0, 0); 32];
    let mut man = 1;
    while man < 15 {
        let (code, length) = CODES[man];
        if length > 0 {
            let rest = 6 - length;
            let first = (code as usize) << rest;
            let mut n = 0;
            while n < 1 << rest {
                men[(first + n) & 31] = (man as u8, length);
                n += 1;
            }
        }
        man += 1;
    }
    men
};

/// Bits of a key that are read at once.
const WINDOW_BITS: usize = 12;

/// What some squares hold: for each, one bit of each of the three bits of the
/// role (nothing 0, pawn 1 to king 6), and one of the black men.
#[derive(Clone, Copy, Default)]
pub(super) struct Squares {
    pub(super) roles: [u64; 3],
    pub(super) black: u64,
}

/// The squares that each window holds the whole codes of: four words of
/// [`WINDOW_BITS`], then in four bits how many squares, and in four how many bits
/// their codes take.
static WINDOWS: [u64; 1 << WINDOW_BITS] = {
    let mut windows = [0; 1 << WINDOW_BITS];
    let mut window = 0;
    while window < windows.len() {
        let (mut words, mut squares, mut at) = (0, 0, 0);
        loop {
            let rest = (window << at) & ((1 << WINDOW_BITS) - 1);
            let (man, length) = match rest >> (WINDOW_BITS - 1) {
                0 => (0, 1),
                _ => MEN[rest >> (WINDOW_BITS - 6) & 31],
            };
            if at + length as usize > WINDOW_BITS {
                break;
            }
            let mut bit = 0;
            while bit < 4 {
                words |= (man as u64 >> bit & 1) << (bit * WINDOW_BITS + squares);
                bit += 1;
            }
            squares += 1;
            at += length as usize;
        }
        let counts = (squares | at << 4) as u64;
        windows[window] = counts << (4 * WINDOW_BITS) | words;
        window += 1;
    }
    windows
};

/// Reads the bits of a key, most significant first; after its end there are
/// zeros.
pub(super) struct BitReader {
    bytes: [u8; 40],
    bits: u32,
    /// The next bit, counted from the first of byte 0.
    pub(super) at: u32,
}

impl BitReader {
    /// From byte 1 on.
    #[inline]
    pub(super) fn new(key: &Key) -> BitReader {
        let mut bytes = [0; 40];
        if let Some(to) = bytes.first_chunk_mut() {
            *to = *key.padded();
        }
        BitReader {
            bytes,
            bits: 8 * key.as_bytes().len() as u32,
            at: 8,
        }
    }

    /// The next bits, 57 of them at the least, in the upper places of a word.
    #[inline]
    fn ahead(&self) -> u64 {
        let word = be_u64_at(&self.bytes, self.at as usize / 8).unwrap_or(0);
        word << (self.at % 8)
    }

    /// # Errors
    ///
    /// More was read than there is.
    pub(super) fn not_beyond(&self) -> Result<(), KeyFault> {
        match self.at <= self.bits {
            true => Ok(()),
            false => Err(KeyFault::Short),
        }
    }

    pub(super) fn number(&mut self, count: u32) -> Result<u8, KeyFault> {
        let number = self.ahead() >> (64 - count);
        self.at += count;
        self.not_beyond()?;
        Ok(number as u8)
    }

    /// The 64 squares of the board; where it ends, they tell.
    pub(super) fn board(&mut self) -> Squares {
        const WORD: u64 = (1 << WINDOW_BITS) - 1;
        let mut board = Squares::default();
        let mut square = 0;
        // Several squares at a time. What the last window holds beyond the
        // board falls off the words.
        while square < 64 {
            let window = WINDOWS[(self.ahead() >> (64 - WINDOW_BITS)) as usize];
            let word = |n: usize| (window >> (n * WINDOW_BITS) & WORD) << square;
            let [b0, b1, b2] = &mut board.roles;
            *b0 |= word(0);
            *b1 |= word(1);
            *b2 |= word(2);
            board.black |= word(3);
            let counts = window >> (4 * WINDOW_BITS);
            square += counts as u32 & 15;
            self.at += (counts >> 4) as u32;
        }
        board
    }
}
