//! An encoder, written from the description of the format and not from the decoder: it
//! has a list of pieces with their numbers and computes the codes.

use shakmaty::{CastlingSide, Chess, Color, EnPassantMode, Move, Position, Role, Square};

use crate::cbh::ciphers;
use tabia_notation as notation;

/// A move (`None`: null move) and the moves after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GameNode {
    pub(super) step: Option<Move>,
    pub(super) after: Vec<GameNode>,
}

/// A numbered piece.
#[derive(Clone, Copy)]
struct Man {
    color: Color,
    role: Role,
    number: Option<u8>,
    square: Square,
}

#[derive(Clone)]
struct Men(Vec<Man>);

fn index(square: Square) -> u8 {
    (u32::from(square.file()) * 8 + u32::from(square.rank())) as u8
}

impl Men {
    fn new(position: &Chess, reversed: bool) -> Men {
        let mut squares: Vec<Square> = position.board().occupied().into_iter().collect();
        squares.sort_by_key(|square| index(*square));
        if reversed {
            squares.reverse();
        }
        let mut men = Men(Vec::new());
        for square in squares {
            let piece = position.board().piece_at(square).unwrap();
            men.add(piece.color, piece.role, square);
        }
        men
    }

    fn add(&mut self, color: Color, role: Role, square: Square) {
        let numbers = if role == Role::Pawn { 8 } else { 3 };
        let is_taken = |number: u8| {
            let mut others = self.0.iter();
            others.any(|man| (man.color, man.role, man.number) == (color, role, Some(number)))
        };
        let number = (0..numbers).find(|number| !is_taken(*number));
        self.0.push(Man {
            color,
            role,
            number,
            square,
        });
    }

    fn at(&self, square: Square) -> Man {
        *self.0.iter().find(|man| man.square == square).unwrap()
    }

    fn take(&mut self, square: Square) {
        let gone = self.at(square);
        self.0.retain(|man| man.square != square);
        if gone.role == Role::Pawn {
            return;
        }
        if let Some(free) = gone.number {
            for man in &mut self.0 {
                if (man.color, man.role) == (gone.color, gone.role) {
                    man.number = man.number.map(|own| if own > free { own - 1 } else { own });
                }
            }
        }
    }

    fn go(&mut self, moves: &[(Square, Square)]) {
        let places: Vec<usize> = moves
            .iter()
            .map(|(from, _)| self.0.iter().position(|man| man.square == *from).unwrap())
            .collect();
        for (place, (_, to)) in places.into_iter().zip(moves) {
            self.0[place].square = *to;
        }
    }

    fn play(&mut self, position: &Chess, m: Move) {
        match m {
            Move::Castle { king, rook } => {
                let side = m.castling_side().unwrap();
                let turn = position.turn();
                self.go(&[(king, side.king_to(turn)), (rook, side.rook_to(turn))]);
            }
            Move::EnPassant { from, to } => {
                self.take(Square::from_coords(to.file(), from.rank()));
                self.go(&[(from, to)]);
            }
            _ => {
                if m.is_capture() {
                    self.take(m.to());
                }
                let from = m.from().unwrap();
                match m.promotion() {
                    Some(role) => {
                        self.take(from);
                        self.add(position.turn(), role, m.to());
                    }
                    None => self.go(&[(from, m.to())]),
                }
            }
        }
    }
}

pub(super) struct Encoder {
    mode: u8,
    inverse: [u8; 256],
    count: u8,
    bytes: Vec<u8>,
}

impl Encoder {
    fn new(mode: u8) -> Encoder {
        let cipher = ciphers::for_mode(mode).expect("no encoding");
        let mut inverse = [0; 256];
        for (raw, code) in cipher.iter().enumerate() {
            inverse[usize::from(*code)] = raw as u8;
        }
        Encoder {
            mode,
            inverse,
            count: 0,
            bytes: Vec::new(),
        }
    }

    fn is_reversed(&self) -> bool {
        matches!(self.mode, 2 | 3 | 6 | 7 | 11)
    }

    fn put(&mut self, code: u8) {
        let byte = if self.mode < 4 {
            self.inverse[usize::from(code)].wrapping_add(self.count)
        } else {
            self.inverse[usize::from(code.wrapping_add(self.count))]
        };
        self.bytes.push(byte);
    }

    fn put_word(&mut self, word: u16) {
        for byte in word.to_be_bytes() {
            self.put(byte);
        }
    }

    fn word(position: &Chess, m: Move) -> u16 {
        let (from, to) = match m {
            Move::Castle { king, .. } => {
                (king, m.castling_side().unwrap().king_to(position.turn()))
            }
            _ => (m.from().unwrap(), m.to()),
        };
        let promotion = match m.promotion() {
            Some(Role::Rook) => 1,
            Some(Role::Bishop) => 2,
            Some(Role::Knight) => 3,
            _ => 0,
        };
        u16::from(index(from)) | u16::from(index(to)) << 6 | promotion << 12
    }

    fn compact_move(&mut self, position: &Chess, men: &Men, step: Option<Move>) {
        let Some(m) = step else {
            self.put(0);
            return;
        };
        if let Some(side) = m.castling_side() {
            if self.mode >= 10 {
                let to = u16::from(index(side.king_to(position.turn())));
                self.put(235);
                self.put_word(to | to << 6);
            } else {
                self.put(if side == CastlingSide::KingSide {
                    9
                } else {
                    10
                });
            }
            return;
        }
        let from = m.from().unwrap();
        let code = men
            .at(from)
            .number
            .filter(|_| m.promotion().is_none())
            .and_then(|number| code(position.turn(), m.role(), number, from, m.to()));
        match code {
            Some(code) => self.put(code),
            None => {
                self.put(235);
                self.put_word(Encoder::word(position, m));
            }
        }
    }

    fn after(&mut self, position: &Chess, men: &Men, nodes: &[GameNode]) {
        let simple = self.mode < 8 && self.mode % 2 == 1;
        if nodes.is_empty() && !simple {
            self.put(255);
        }
        for (number, node) in nodes.iter().enumerate() {
            let has_alternative = number + 1 < nodes.len();
            if simple {
                let mut word = node.step.map_or(0, |m| {
                    let word = Encoder::word(position, m);
                    if self.is_reversed() {
                        word & 0xf000 | word >> 6 & 63 | (word & 63) << 6
                    } else {
                        word
                    }
                });
                word |= u16::from(has_alternative) << 15;
                word |= u16::from(node.after.is_empty()) << 14;
                self.put_word(word);
            } else {
                if has_alternative {
                    self.put(254);
                }
                self.compact_move(position, men, node.step);
            }
            self.count = self.count.wrapping_add(1);
            let (mut next, mut moved) = (position.clone(), men.clone());
            match node.step {
                Some(m) => {
                    moved.play(position, m);
                    next.play_unchecked(m);
                }
                None => next = notation::pass(position).unwrap(),
            }
            self.after(&next, &moved, &node.after);
        }
    }
}

/// The code of a move of a numbered piece. `None` if it has none, such as a double step
/// of a set-up pawn from an unusual rank.
fn code(turn: Color, role: Role, number: u8, from: Square, to: Square) -> Option<u8> {
    let files = i32::from(to.file()) - i32::from(from.file());
    let ranks = i32::from(to.rank()) - i32::from(from.rank());
    let round = |steps: i32| steps.rem_euclid(8) as u8;
    let first = |firsts: [u8; 3]| firsts[usize::from(number)];
    let straight = |at: u8| match (files, ranks) {
        (0, up) => at + round(up) - 1,
        (right, _) => at + 6 + round(right),
    };
    let diagonal = |at: u8| match files == ranks {
        true => at + round(files) - 1,
        false => at + 6 + round(files),
    };
    let clockwise = |steps: [(i32, i32); 8]| {
        let at = steps.iter().position(|step| *step == (files, ranks));
        at.map(|at| at as u8)
    };
    Some(match role {
        Role::King => {
            1 + clockwise([
                (0, 1),
                (1, 1),
                (1, 0),
                (1, -1),
                (0, -1),
                (-1, -1),
                (-1, 0),
                (-1, 1),
            ])?
        }
        Role::Queen if files == 0 || ranks == 0 => straight(first([11, 143, 171])),
        Role::Queen => diagonal(first([11, 143, 171]) + 14),
        Role::Rook => straight(first([39, 53, 199])),
        Role::Bishop => diagonal(first([67, 81, 213])),
        Role::Knight => {
            first([95, 103, 227])
                + clockwise([
                    (2, 1),
                    (1, 2),
                    (-1, 2),
                    (-2, 1),
                    (-2, -1),
                    (-1, -2),
                    (1, -2),
                    (2, -1),
                ])?
        }
        Role::Pawn => {
            let forward = turn.fold_wb(1, -1);
            let steps = [(0, 1), (0, 2), (1, 1), (-1, 1)];
            let own = (files * forward, ranks * forward);
            111 + 4 * number + steps.iter().position(|step| *step == own)? as u8
        }
    })
}

/// The 28 bytes of a first position, and 8 more for Chess960.
fn first_position(position: &Chess, mode: u8) -> Vec<u8> {
    let file = position
        .ep_square(EnPassantMode::Always)
        .map_or(0, |square| u32::from(square.file()) as u8 + 1);
    let rook = |color, side| position.castles().rook(color, side);
    let mut rights = 0;
    for (bit, color, side) in [
        (1, Color::White, CastlingSide::QueenSide),
        (2, Color::White, CastlingSide::KingSide),
        (4, Color::Black, CastlingSide::QueenSide),
        (8, Color::Black, CastlingSide::KingSide),
    ] {
        if rook(color, side).is_some() {
            rights |= bit;
        }
    }
    let mut bits = Vec::new();
    for at in 0..64 {
        let square = Square::new(at % 8 * 8 + at / 8);
        let Some(piece) = position.board().piece_at(square) else {
            bits.push(false);
            continue;
        };
        let kind = match piece.role {
            Role::King => 1,
            Role::Queen => 2,
            Role::Knight => 3,
            Role::Bishop => 4,
            Role::Rook => 5,
            Role::Pawn => 6,
        };
        bits.extend([true, piece.color.is_black()]);
        bits.extend([4, 2, 1].map(|bit| kind & bit != 0));
    }
    bits.resize(24 * 8, false);
    let turn = u8::from(position.turn().is_black()) << 4;
    let number = position.fullmoves().get() as u8;
    let mut bytes = vec![1, file | turn, rights, number];
    for eight in bits.chunks(8) {
        bytes.push(eight.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)));
    }
    if mode >= 10 {
        let square = |square: Option<Square>| square.map_or(0, index);
        bytes.extend([
            square(position.board().king_of(Color::White)),
            square(position.board().king_of(Color::Black)),
            square(rook(Color::White, CastlingSide::KingSide)),
            square(rook(Color::White, CastlingSide::QueenSide)),
            square(rook(Color::Black, CastlingSide::KingSide)),
            square(rook(Color::Black, CastlingSide::QueenSide)),
            // A number that matches nothing, as in genuine games.
            0x03,
            0x11,
        ]);
    }
    bytes
}

/// Encodes a whole block.
pub(super) fn encode(position: &Chess, moves: &[GameNode], mode: u8) -> Vec<u8> {
    let mut encoder = Encoder::new(mode);
    let men = Men::new(position, encoder.is_reversed());
    encoder.after(position, &men, moves);
    let mut block = vec![mode, 0, 0, 0];
    if *position != Chess::default() {
        block[0] |= 0x40;
        block.extend(first_position(position, mode));
    }
    block.extend(encoder.bytes);
    let len = (block.len() as u32).to_be_bytes();
    block[1..4].copy_from_slice(&len[1..]);
    block
}
