//! Index fields about the positions of a game. Searches use them to skip games
//! that cannot contain the position.
//!
//! *Final material*: queens, rooks, bishops, knights (2 bits each, 3 means 3
//! or more) and pawns (4 bits) of White, from the top of 24 bits, then of Black.
//! *Pawns that left home*: in the order in which they moved or were taken, 15
//! (a2) to 8 (h2), 7 (a7) to 0 (h7); 4 bits each, the upper half of a byte
//! first. Checked with all records of databases written by Scid.

use shakmaty::{Bitboard, Board, Color, Rank, Role, Square};

/// The order in which pawns leave home, and the material of the last position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) material: u32,
    pub(super) left: u8,
    pub(super) pawns: [u8; 8],
}

/// The pawns of a side that have not moved.
fn home(board: &Board) -> Bitboard {
    let of =
        |color: Color, rank: Rank| board.by_color(color) & board.pawns() & Bitboard::from(rank);
    of(Color::White, Rank::Second) | of(Color::Black, Rank::Seventh)
}

/// Collects the keys along a main line.
#[derive(Clone, Debug)]
pub(super) struct KeyCollector {
    keys: Keys,
    at_home: Bitboard,
}

impl KeyCollector {
    /// Starts a game. Only games from the usual start have a list of pawns.
    pub(super) fn new(is_usual: bool) -> KeyCollector {
        let at_home = home(&Board::default());
        KeyCollector {
            keys: Keys::default(),
            at_home: if is_usual { at_home } else { Bitboard::EMPTY },
        }
    }

    /// Updates the pawns after a move.
    pub(super) fn see(&mut self, board: &Board) {
        let now = home(board);
        for square in self.at_home & !now {
            self.keys.leave(square);
        }
        self.at_home &= now;
    }

    /// Completes the keys; `last` is the final board.
    pub(super) fn finish(self, last: &Board) -> Keys {
        Keys {
            material: material(last),
            ..self.keys
        }
    }
}

impl Keys {
    fn leave(&mut self, square: Square) {
        let file = 7 - u8::from(square.file());
        let number = if square.rank() == Rank::Second {
            8 + file
        } else {
            file
        };
        let (byte, is_low) = (usize::from(self.left / 2), self.left % 2 == 1);
        if let Some(byte) = self.pawns.get_mut(byte) {
            *byte |= if is_low { number } else { number << 4 };
            self.left += 1;
        }
    }
}

fn material(board: &Board) -> u32 {
    let mut sum = 0;
    for color in Color::ALL {
        for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
            let count = (board.by_color(color) & board.by_role(role)).count();
            sum = sum << 2 | count.min(3) as u32;
        }
        let pawns = (board.by_color(color) & board.pawns()).count();
        sum = sum << 4 | pawns.min(15) as u32;
    }
    sum
}
