//! The bits of a key: codes of pieces, writing, reading.

use super::{Key, KeyFault};
use tabia_io::input::bytes::be_u64_at;

/// Code and its length in bits for the content of a square: 0 nothing, pawn 1 to king 6,
/// for Black 8 more. Other values do not occur.
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

/// Bits, the first one most significant, and their number in the low byte.
#[derive(Clone, Copy)]
pub(super) struct Code(u32);

impl Code {
    const NONE: Code = Code(0);

    const fn new(bits: u32, length: u32) -> Code {
        Code(bits << (u32::BITS - length) | length)
    }

    /// Joins two codes.
    const fn then(self, other: Code) -> Code {
        Code(self.0 + (other.0 >> 8 << 8 >> (self.0 & 0xff)) + (other.0 & 0xff))
    }

    #[inline]
    fn length(self) -> u32 {
        self.0 & 0xff
    }

    /// The bits, the first one most significant.
    #[inline]
    fn bits(self) -> u64 {
        u64::from(self.0 & !0xff) << 32
    }
}

/// The codes of the lower or upper four squares of a file: a key takes 400 instructions by
/// this table, and took 550 with 16 squares at a time through three tables. The index has four
/// bits for the black men, then four for each bit of the role, so that the few arrangements of
/// real games are close together in memory.
static HALF_FILES: [Code; 1 << 16] = {
    let mut halves = [Code::NONE; 1 << 16];
    let mut n = 0;
    while n < halves.len() {
        let (first, second) = (square_of(n, 0).then(square_of(n, 1)), square_of(n, 2));
        halves[n] = first.then(second).then(square_of(n, 3));
        n += 1;
    }
    halves
};

/// The code of one square in an index of [`HALF_FILES`].
const fn square_of(index: usize, square: u32) -> Code {
    let bits = index >> square;
    let man = (bits & 1) << 3 | bits >> 4 & 1 | bits >> 7 & 2 | bits >> 10 & 4;
    let (code, length) = CODES[man];
    match length {
        0 => Code::NONE,
        _ => Code::new(code as u32, length as u32),
    }
}

/// The squares of a board as indexes of [`HALF_FILES`]: those of every other file in one
/// word, a1 to a4 in the lowest bits.
pub(super) struct HalfFiles([u64; 4]);

impl HalfFiles {
    /// Converts words in which each byte is a file.
    #[inline]
    pub(super) fn new([b0, b1, b2]: [u64; 3], black: u64) -> HalfFiles {
        const NEAR: u64 = 0x0f0f_0f0f_0f0f_0f0f;
        const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
        let near = |low: u64, high: u64| low & NEAR | (high & NEAR) << 4;
        let far = |low: u64, high: u64| low >> 4 & NEAR | high & !NEAR;
        let even = |low: u64, high: u64| low & EVEN | (high & EVEN) << 8;
        let odd = |low: u64, high: u64| low >> 8 & EVEN | high & !EVEN;
        let (near_low, near_high) = (near(black, b0), near(b1, b2));
        let (far_low, far_high) = (far(black, b0), far(b1, b2));
        HalfFiles([
            even(near_low, near_high),
            even(far_low, far_high),
            odd(near_low, near_high),
            odd(far_low, far_high),
        ])
    }

    /// Removes and returns the codes of the next two files.
    #[inline]
    pub(super) fn next(&mut self) -> [Code; 4] {
        let [a, b, c, d] = self.0;
        self.0 = [a >> 16, b >> 16, c >> 16, d >> 16];
        let code = |index: u64| HALF_FILES[usize::from(index as u16)];
        [code(a), code(b), code(c), code(d)]
    }
}

/// 32 men need at most 8 + 224 + 7 bits; each [`BitWriter::push`] writes eight bytes.
pub(super) type KeyBuffer = [u8; 40];

/// Packs bits, most significant first, after byte 0 of a key. Separate from the buffer,
/// so that it stays in registers.
pub(super) struct BitWriter {
    /// The bits of the incomplete byte, in the upper bits.
    unfinished: u64,
    /// The number of the next bit, counted from byte 0.
    pub(super) at: u32,
}

impl BitWriter {
    pub(super) fn after_first_byte() -> BitWriter {
        BitWriter {
            unfinished: 0,
            at: 8,
        }
    }

    /// Appends codes.
    #[inline]
    pub(super) fn push(&mut self, codes: [Code; 4], bytes: &mut KeyBuffer) {
        // Not `map`, which is not always inlined.
        let [a, b, c, d] = codes;
        let second = a.length();
        let third = second + b.length();
        let fourth = third + c.length();
        let count = fourth + d.length();
        // Nearly always one step is enough.
        if count <= BitWriter::MOST {
            let bits = a.bits() | b.bits() >> second | c.bits() >> third | d.bits() >> fourth;
            self.push_bits(bits, count, bytes);
        } else {
            for code in codes {
                self.push_bits(code.bits(), code.length(), bytes);
            }
        }
    }

    /// The most bits that are appended at once.
    const MOST: u32 = 56;

    /// Appends the upper `count` bits of `bits`, up to [`BitWriter::MOST`]; its other
    /// bits must be 0.
    #[inline]
    pub(super) fn push_bits(&mut self, bits: u64, count: u32, bytes: &mut KeyBuffer) {
        // The bytes after the bits are written as zeros, and later overwritten: reading
        // them back would have to wait for the write.
        self.unfinished |= bits >> (self.at % 8);
        let byte = self.at / 8;
        if let Some((_, to)) = bytes.split_at_mut_checked(byte as usize)
            && let Some(to) = to.first_chunk_mut()
        {
            *to = self.unfinished.to_be_bytes();
        }
        self.at += count;
        self.unfinished <<= 8 * (self.at / 8 - byte);
    }

    /// Returns the key, up to the byte that contains `at`.
    #[inline]
    pub(super) fn finish(self, flags: u8, mut bytes: KeyBuffer) -> Key {
        bytes[0] = flags | self.at.div_ceil(8) as u8 & Key::LENGTH;
        Key::new(bytes.first_chunk().copied().unwrap_or_default())
    }
}

/// The code at the start of each group of six bits that begins with 1: the man as in
/// [`CODES`], and the length of its code. Every pattern is valid.
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

/// Bits of a key that are decoded at once. The table of them takes 16 KiB, so that it stays
/// in the first cache; a longer one takes longer for each window than it saves windows.
const WINDOW_BITS: usize = 11;

/// The content of some squares: for each, one bit in each of the three words of the role
/// (nothing 0, pawn 1 to king 6), and one in the word of black men.
#[derive(Clone, Copy, Default)]
pub(super) struct Squares {
    pub(super) roles: [u64; 3],
    pub(super) black: u64,
}

/// The squares whose complete codes are in each window: four words of [`WINDOW_BITS`],
/// then four bits for the number of squares, and four for the length of their codes.
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

/// Reads the bits of a key, most significant first; zeros after the end.
pub(super) struct BitReader {
    bytes: [u8; 40],
    bits: u32,
    /// The number of the next bit, counted from byte 0.
    pub(super) at: u32,
}

impl BitReader {
    /// Starts at byte 1.
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

    /// The next bits, at least 57, in the upper bits of a word.
    #[inline]
    fn ahead(&self) -> u64 {
        let word = be_u64_at(&self.bytes, self.at as usize / 8).unwrap_or(0);
        word << (self.at % 8)
    }

    /// Checks that no bits beyond the end were read.
    ///
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

    /// Reads the 64 squares of the board.
    pub(super) fn board(&mut self) -> Squares {
        const WORD: u64 = (1 << WINDOW_BITS) - 1;
        let mut board = Squares::default();
        let mut square = 0;
        // Several squares at a time. Squares of the last window beyond the board are
        // shifted out.
        while square < 64 {
            // Five windows for each access to the bytes: the next window waits for the
            // length of this one only.
            let mut ahead = self.ahead();
            for _ in 0..5 {
                let window = WINDOWS[(ahead >> (64 - WINDOW_BITS)) as usize];
                let word = |n: usize| (window >> (n * WINDOW_BITS) & WORD) << square;
                let [b0, b1, b2] = &mut board.roles;
                *b0 |= word(0);
                *b1 |= word(1);
                *b2 |= word(2);
                board.black |= word(3);
                let counts = window >> (4 * WINDOW_BITS);
                let bits = (counts >> 4) as u32;
                ahead <<= bits;
                self.at += bits;
                square += counts as u32 & 15;
                if square >= 64 {
                    break;
                }
            }
        }
        board
    }
}
