//! The meaning of the codes of the compact encoding.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | null move |
//! | 1 to 8 | king, one step |
//! | 9, 10 | castling short, long |
//! | 11 to 38 | queen 1 |
//! | 39 to 52, 53 to 66 | rook 1, 2 |
//! | 67 to 80, 81 to 94 | bishop 1, 2 |
//! | 95 to 102, 103 to 110 | knight 1, 2 |
//! | 111 to 142 | pawns 1 to 8, four codes each |
//! | 143 to 170, 171 to 198 | queen 2, 3 |
//! | 199 to 212, 213 to 226, 227 to 234 | rook, bishop, knight 3 |
//! | 235 | the move is stored in the next two bytes |
//! | 236 | filler of old programs |
//! | 237 to 253 | never seen |
//! | 254 | the next move has an alternative: push the position |
//! | 255 | end of the line: pop the last pushed position |
//!
//! Sliders have seven steps in each direction and wrap around the edge of the board, so
//! that seven steps up are one step down. Evidence: the public list of codes; all of
//! 1,213 genuine games are legal with it.

use shakmaty::{CastlingSide, Role};

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The side to move passes.
    Null,
    /// A piece moves by some files and ranks; for a pawn, from its owner's view.
    Piece {
        role: Role,
        /// Which of the side's pieces of this kind, from 0.
        number: u8,
        files: i8,
        ranks: i8,
        /// Whether the move wraps around the edge of the board.
        wraps: bool,
    },
    Castle(CastlingSide),
    TwoBytes,
    Filler,
    Unknown,
    Begin,
    End,
}

/// The meaning of every code.
pub(super) static CODES: [Code; 256] = codes();

const KING: [(i8, i8); 8] = [
    (0, 1),
    (1, 1),
    (1, 0),
    (1, -1),
    (0, -1),
    (-1, -1),
    (-1, 0),
    (-1, 1),
];

const KNIGHT: [(i8, i8); 8] = [
    (2, 1),
    (1, 2),
    (-1, 2),
    (-2, 1),
    (-2, -1),
    (-1, -2),
    (1, -2),
    (2, -1),
];

/// One step up, right, up right, down right.
const SLIDES: [(i8, i8); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// One step, two steps, capture right, capture left.
const PAWN: [(i8, i8); 4] = [(0, 1), (0, 2), (1, 1), (-1, 1)];

/// First code, kind and number of each piece except king and pawns.
const PIECES: [(usize, Role, u8); 12] = [
    (11, Role::Queen, 0),
    (39, Role::Rook, 0),
    (53, Role::Rook, 1),
    (67, Role::Bishop, 0),
    (81, Role::Bishop, 1),
    (95, Role::Knight, 0),
    (103, Role::Knight, 1),
    (143, Role::Queen, 1),
    (171, Role::Queen, 2),
    (199, Role::Rook, 2),
    (213, Role::Bishop, 2),
    (227, Role::Knight, 2),
];

const FIRST_PAWN: usize = 111;

const fn codes() -> [Code; 256] {
    let mut codes = [Code::Unknown; 256];
    codes[0] = Code::Null;
    steps(&mut codes, 1, Role::King, 0, &KING);
    codes[9] = Code::Castle(CastlingSide::KingSide);
    codes[10] = Code::Castle(CastlingSide::QueenSide);
    let mut i = 0;
    while i < PIECES.len() {
        let (first, role, number) = PIECES[i];
        match role {
            Role::Queen => slides(&mut codes, first, role, number, 0, 4),
            Role::Rook => slides(&mut codes, first, role, number, 0, 2),
            Role::Bishop => slides(&mut codes, first, role, number, 2, 4),
            _ => steps(&mut codes, first, role, number, &KNIGHT),
        }
        i += 1;
    }
    let mut i = 0;
    while i < 32 {
        codes[FIRST_PAWN + i] = piece(Role::Pawn, (i / 4) as u8, PAWN[i % 4], false);
        i += 1;
    }
    codes[235] = Code::TwoBytes;
    codes[236] = Code::Filler;
    codes[254] = Code::Begin;
    codes[255] = Code::End;
    codes
}

const fn piece(role: Role, number: u8, (files, ranks): (i8, i8), wraps: bool) -> Code {
    Code::Piece {
        role,
        number,
        files,
        ranks,
        wraps,
    }
}

const fn steps(codes: &mut [Code; 256], first: usize, role: Role, number: u8, by: &[(i8, i8); 8]) {
    let mut i = 0;
    while i < by.len() {
        codes[first + i] = piece(role, number, by[i], false);
        i += 1;
    }
}

/// Seven steps in each of the directions `from..to`.
const fn slides(
    codes: &mut [Code; 256],
    first: usize,
    role: Role,
    number: u8,
    from: usize,
    to: usize,
) {
    let mut i = 0;
    while i < 7 * (to - from) {
        let (files, ranks) = SLIDES[from + i / 7];
        let steps = (i % 7 + 1) as i8;
        codes[first + i] = piece(role, number, (files * steps, ranks * steps), true);
        i += 1;
    }
}
