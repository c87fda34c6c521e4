//! Linear equations over GF(2): which constants of a hash an XOR of keys consists of.

use shakmaty::{Board, CastlingSide, Chess, Color, EnPassantMode, Piece, Position as _, Square};

/// Constants of a hash of this kind: piece and square, castling rights, side to move, file
/// of an en passant capture.
const CONSTANTS: usize = 12 * 64 + 4 + 1 + 8;
const RIGHTS: usize = 12 * 64;
const SIDE: usize = RIGHTS + 4;
const FILES: usize = SIDE + 1;
const WORDS: usize = CONSTANTS.div_ceil(64);

/// A set of constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Constants([u64; WORDS]);

impl Constants {
    /// The constants of a position's key. En passant counts where a capture is legal.
    pub(super) fn of(position: &Chess) -> Constants {
        let mut all = Constants::default();
        let board: &Board = position.board();
        for (square, piece) in board.clone() {
            all.toggle_piece(piece, square);
        }
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                if position.castles().has(color, side) {
                    all.toggle(RIGHTS + 2 * color as usize + side as usize);
                }
            }
        }
        if position.turn().is_white() {
            all.toggle_side();
        }
        if let Some(square) = position.ep_square(EnPassantMode::Legal) {
            all.toggle(FILES + square.file() as usize);
        }
        all
    }

    fn toggle(&mut self, constant: usize) {
        if let Some(word) = self.0.get_mut(constant / 64) {
            *word ^= 1 << (constant % 64);
        }
    }

    pub(super) fn toggle_piece(&mut self, piece: Piece, square: Square) {
        let kind = 6 * piece.color as usize + piece.role as usize - 1;
        self.toggle(64 * kind + square as usize);
    }

    pub(super) fn toggle_side(&mut self) {
        self.toggle(SIDE);
    }

    pub(super) fn with(mut self, other: &Constants) -> Constants {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word ^= more;
        }
        self
    }

    fn has(&self, constant: usize) -> bool {
        let word = self.0.get(constant / 64);
        word.is_some_and(|word| word >> (constant % 64) & 1 != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// Whether there is anything but files of en passant captures.
    pub(super) fn is_beyond_passant(&self) -> bool {
        self.first().is_some_and(|first| first < FILES)
    }

    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        let bits = self.0.get(word)?.trailing_zeros() as usize;
        Some(64 * word + bits)
    }

    /// Each constant of the set. For the tests' writer.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CONSTANTS).filter(|constant| self.has(*constant))
    }

    /// The number of the constant for White to move, and that of all.
    #[cfg(test)]
    pub(super) const SIDE_OF_ALL: (usize, usize) = (SIDE, CONSTANTS);
}

/// Sets whose XOR is known, in reduced form: the first constant of each is in no other.
#[derive(Debug, Default)]
pub(super) struct System(Vec<(usize, Constants, u64)>);

impl System {
    /// The rest of a set that is not known, and the XOR of what is.
    pub(super) fn reduce(&self, set: &Constants) -> (Constants, u64) {
        let (mut rest, mut sum) = (*set, 0);
        for (first, known, value) in &self.0 {
            if set.has(*first) {
                rest = rest.with(known);
                sum ^= value;
            }
        }
        (rest, sum)
    }

    /// Adds an equation; false if it contradicts the others.
    pub(super) fn add(&mut self, set: &Constants, value: u64) -> bool {
        let (rest, sum) = self.reduce(set);
        let value = value ^ sum;
        let Some(first) = rest.first() else {
            return value == 0;
        };
        for (_, known, sum) in &mut self.0 {
            if known.has(first) {
                *known = known.with(&rest);
                *sum ^= value;
            }
        }
        self.0.push((first, rest, value));
        true
    }
}
