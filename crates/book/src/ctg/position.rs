//! From a position to its key and back.
//!
//! A book stores every position only in one form, the *canonical* one:
//!
//! 1. the side to move is White: with Black to move the ranks are mirrored (a1 becomes
//!    a8) and the colours of men, rights and en passant swapped;
//! 2. if then *neither* side can still castle and the white king is on the files a to
//!    d, the files are mirrored (a becomes h).
//!
//! Four positions (two colours, two wings) thus share one entry. The board is written
//! square by square, a1, a2, ... a8, b1, ... h8, in a prefix code:
//!
//! | content | White | Black |
//! |---|---|---|
//! | empty | `0` | |
//! | pawn | `110` | `111` |
//! | rook | `10110` | `10111` |
//! | bishop | `10100` | `10101` |
//! | knight | `10010` | `10011` |
//! | queen | `100010` | `100011` |
//! | king | `100000` | `100001` |
//!
//! Then, at the *end* of the last byte, three bits of en passant file and four bits of
//! castling rights follow, each only if byte 0 says so, with as few zero bits before them
//! as make whole bytes. Without either, at least one zero bit follows the board: if the
//! board ends with a byte, a zero byte. (Unofficial specification 0.2; all keys of three
//! genuine books were reproduced by it.)
//!
//! The en passant file is stored if an en passant capture is *legal* (67 of 67 keys in a
//! genuine book). It is unknown what ChessBase does if the only capturer is pinned; no
//! such position is in a genuine book, so readers should try both forms:
//! [`CanonicalBoard::other_key`].

use shakmaty::{
    Bitboard, Board, ByColor, ByRole, CastlingMode, Chess, Color, File, FromSetup as _,
    Position as _, PositionError, Rank, Role, Setup, Square, uci::UciMove,
};

use crate::polyglot::PackedMove;

use super::{
    Key, KeyFault,
    bits::{BitReader, BitWriter, HalfFiles, Squares},
};

/// How the canonical board is turned against the real board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// Ranks and colours are exchanged: Black is to move.
    pub inverted: bool,
    /// Files are exchanged.
    pub mirrored: bool,
}

impl Orientation {
    /// The corresponding square on the other board; its own inverse.
    #[inline]
    #[must_use]
    pub fn apply(self, square: Square) -> Square {
        let files = if self.mirrored { 7 } else { 0 };
        let ranks = if self.inverted { 56 } else { 0 };
        Square::new(square.to_u32() ^ files ^ ranks)
    }

    /// As [`Orientation::apply`], for a move in sixteen bits.
    #[must_use]
    pub(crate) fn apply_to_packed(self, PackedMove(mv): PackedMove) -> PackedMove {
        let files = if self.mirrored { 0o0707 } else { 0 };
        let ranks = if self.inverted { 0o7070 } else { 0 };
        PackedMove(mv ^ files ^ ranks)
    }

    /// The corresponding move on the other board; its own inverse.
    #[must_use]
    pub fn apply_to_move(self, mv: UciMove) -> UciMove {
        match mv {
            UciMove::Normal {
                from,
                to,
                promotion,
            } => UciMove::Normal {
                from: self.apply(from),
                to: self.apply(to),
                promotion,
            },
            other => other,
        }
    }
}

/// A position in canonical form: White ("own") is to move.
///
/// Bit `8 * file + rank` of each word is a square, so that counting upwards visits the
/// squares in the order of the format. Optimised for speed: a probe makes one for every
/// legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanonicalBoard {
    pub(super) own: u64,
    pub(super) other: u64,
    /// The content of each square in binary, 0 = nothing, pawn = 1 to king = 6: word n
    /// has bit n.
    pub(super) role_bits: [u64; 3],
    /// Black O-O 8, Black O-O-O 4, White O-O 2, White O-O-O 1.
    pub(super) castling: u8,
    /// File of a legal en passant capture, 0 = a.
    pub(super) en_passant: Option<u8>,
    /// File of en passant captures that all leave the own king in check, 0 = a.
    pub(super) pinned_en_passant: Option<u8>,
    pub(super) orientation: Orientation,
}

impl CanonicalBoard {
    /// The canonical board of a position. `None` if the format cannot express it:
    /// castling rights of a king that is not on its e square or of a rook not in the
    /// corner (Chess960), more than 32 men, or no king.
    #[must_use]
    pub fn from_position(position: &Chess) -> Option<CanonicalBoard> {
        let board = position.board();
        if board.occupied().count() > 32 {
            return None;
        }
        let inverted = position.turn().is_black();
        let castling = castling_nibble(position, inverted)?;
        // Exchanging colours leaves files as they are.
        let king = board.king_of(position.turn())?;
        let mirrored = castling == 0 && king.file() < File::E;
        let orientation = Orientation { inverted, mirrored };
        let place = |squares: Bitboard| {
            let squares = if inverted {
                squares.flip_vertical()
            } else {
                squares
            };
            // From 8 * rank + file to 8 * file + rank: now a file is a byte.
            let squares = squares.flip_diagonal().0;
            if mirrored {
                squares.swap_bytes()
            } else {
                squares
            }
        };
        let file = |square: Square| orientation.apply(square).file().to_u32() as u8;
        let pseudo_legal = position.pseudo_legal_ep_square();
        let legal = pseudo_legal.and_then(|_| position.legal_ep_square());
        let own = place(board.by_color(position.turn()));
        let role_bits = [
            place(board.pawns() | board.bishops() | board.queens()),
            place(board.knights() | board.bishops() | board.kings()),
            place(board.rooks() | board.queens() | board.kings()),
        ];
        let [b0, b1, b2] = role_bits;
        Some(CanonicalBoard {
            own,
            other: (b0 | b1 | b2) & !own,
            role_bits,
            castling,
            en_passant: legal.map(file),
            pinned_en_passant: pseudo_legal.filter(|_| legal.is_none()).map(file),
            orientation,
        })
    }

    /// How this board is turned against the board it was made from; the identity for a
    /// decoded key.
    #[inline]
    #[must_use]
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// The same board, as decoded from its key.
    pub(super) fn unturned(&self) -> CanonicalBoard {
        CanonicalBoard {
            pinned_en_passant: None,
            orientation: Orientation::default(),
            ..*self
        }
    }

    /// Whether a side can still castle.
    #[must_use]
    pub fn may_castle(&self) -> bool {
        self.castling != 0
    }

    /// The file of the en passant capture in the key, 0 = a.
    #[must_use]
    pub fn en_passant(&self) -> Option<u8> {
        self.en_passant
    }

    /// The key of the position, with an en passant file only if a capture is legal.
    // Not inlined: that would copy the key once more.
    #[must_use]
    pub fn key(&self) -> Key {
        self.encode(self.en_passant)
    }

    /// The other form of the key, with the en passant file, for positions in which en
    /// passant captures exist but are all illegal because of a pin or a check. `None` in
    /// all other positions.
    #[must_use]
    pub fn other_key(&self) -> Option<Key> {
        self.pinned_en_passant.map(|file| self.encode(Some(file)))
    }

    /// Bits of the board part of the key.
    #[must_use]
    pub fn board_bits(&self) -> u32 {
        let roles = self.roles();
        // An empty square has one bit.
        let pawns = roles.pawn.count_ones() * (3 - 1);
        let minors_and_rooks = (roles.knight | roles.bishop | roles.rook).count_ones() * (5 - 1);
        let queens_and_kings = (roles.queen | roles.king).count_ones() * (6 - 1);
        64 + pawns + minors_and_rooks + queens_and_kings
    }

    /// The `number`-th own piece of a role (from 1), in the order a1, a2, ... h8.
    #[must_use]
    pub fn own_man(&self, role: Role, number: u8) -> Option<Square> {
        let mut men = self.of_role(role) & self.own;
        for _ in 1..number {
            men &= men.wrapping_sub(1);
        }
        (men != 0).then(|| square_of_bit(men.trailing_zeros()))
    }

    /// The number of the own piece of a role on `square` (from 1, in the order of
    /// [`CanonicalBoard::own_man`]); `None` if there is none.
    #[inline]
    pub(super) fn number_among(&self, role: Role, square: Square) -> Option<u8> {
        let index = role as u64;
        let mut alike = self.own;
        for (n, word) in self.role_bits.iter().enumerate() {
            alike &= word ^ (index >> n & 1).wrapping_sub(1);
        }
        let bit = 1_u64 << bit_of_square(square);
        (alike & bit != 0).then(|| (alike & (bit - 1)).count_ones() as u8 + 1)
    }

    fn of_role(&self, role: Role) -> u64 {
        *self.roles().get(role)
    }

    pub(super) fn roles(&self) -> ByRole<u64> {
        let [b0, b1, b2] = self.role_bits;
        ByRole {
            pawn: b0 & !b1 & !b2,
            knight: !b0 & b1 & !b2,
            bishop: b0 & b1,
            rook: !b0 & !b1 & b2,
            queen: b0 & b2,
            king: b1 & b2,
        }
    }

    #[inline]
    fn encode(&self, en_passant: Option<u8>) -> Key {
        let (mut bits, mut bytes) = (BitWriter::after_first_byte(), [0; 40]);
        let mut files = HalfFiles::new(self.role_bits, self.other);
        for _ in 0..4 {
            bits.push(files.next(), &mut bytes);
        }

        let (mut tail, mut length, mut flags) = (0, 0, 0);
        if let Some(file) = en_passant {
            (tail, length, flags) = (u64::from(file), 3, Key::EN_PASSANT);
        }
        if self.castling != 0 {
            tail = tail << 4 | u64::from(self.castling);
            length += 4;
            flags |= Key::CASTLING;
        }
        let zeros = match length {
            // At least one zero bit must follow the board.
            0 => 1,
            _ => (bits.at + length).wrapping_neg() % 8,
        };
        let end = zeros + length;
        bits.push_bits(tail << (u64::BITS - end), end, &mut bytes);
        bits.finish(flags, bytes)
    }

    /// Decodes a key. The result has the identity as orientation.
    ///
    /// # Errors
    ///
    /// The bytes are not a position.
    pub fn from_key(key: &Key) -> Result<CanonicalBoard, KeyFault> {
        let bytes = key.as_bytes();
        let first = bytes.first().copied().unwrap_or(0);
        let mut bits = BitReader::new(key);
        let Squares { roles, black } = bits.board();
        let [b0, b1, b2] = roles;
        let mut board = CanonicalBoard {
            own: (b0 | b1 | b2) & !black,
            other: black,
            role_bits: roles,
            castling: 0,
            en_passant: None,
            pinned_en_passant: None,
            orientation: Orientation::default(),
        };
        bits.at = 8 + board.board_bits();
        bits.not_beyond()?;
        let used = bits.at;
        let tail =
            u32::from(first & Key::EN_PASSANT != 0) * 3 + u32::from(first & Key::CASTLING != 0) * 4;
        let expected = match tail {
            0 => used / 8 + 1,
            _ => (used + tail).div_ceil(8),
        };
        if expected as usize != bytes.len() {
            return Err(KeyFault::Length {
                found: bytes.len(),
                expected: expected as usize,
            });
        }
        bits.at = expected * 8 - tail;
        if first & Key::EN_PASSANT != 0 {
            board.en_passant = Some(bits.number(3)?);
        }
        if first & Key::CASTLING != 0 {
            board.castling = bits.number(4)?;
        }
        let kings = board.roles().king;
        if !(kings & board.own).is_power_of_two() || !(kings & board.other).is_power_of_two() {
            return Err(KeyFault::Kings);
        }
        Ok(board)
    }

    /// The canonical position as shakmaty's set-up: White to move, en passant target on
    /// the sixth rank. It may be illegal.
    #[must_use]
    pub fn to_setup(&self) -> Setup {
        let squares = |word: u64| Bitboard(word).flip_diagonal();
        let by_role = self.roles().map(squares);
        let by_color = ByColor {
            black: squares(self.other),
            white: squares(self.own),
        };
        let rooks = (0..).zip(ROOKS);
        let castling_rights = rooks
            .filter(|(n, _)| self.castling >> n & 1 != 0)
            .map(|(_, rook)| rook)
            .collect();
        Setup {
            // The words never overlap, by construction.
            board: Board::try_from_bitboards(by_role, by_color).unwrap_or_else(|_| Board::empty()),
            castling_rights,
            ep_square: self
                .en_passant
                .map(|file| Square::from_coords(File::new(u32::from(file)), Rank::Sixth)),
            ..Setup::empty()
        }
    }
}

/// The board of a key, White to move; `None` if the rules cannot be applied.
pub(crate) fn position_of(key: &Key) -> Option<(CanonicalBoard, Chess)> {
    let board = CanonicalBoard::from_key(key).ok()?;
    let position = Chess::from_setup(board.to_setup(), CastlingMode::Standard)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material);
    Some((board, position.ok()?))
}

#[inline]
pub(super) fn bit_of_square(square: Square) -> u32 {
    8 * square.file().to_u32() + square.rank().to_u32()
}

fn square_of_bit(bit: u32) -> Square {
    Square::from_coords(File::new(bit / 8 % 8), Rank::new(bit % 8))
}

pub(super) fn castling_nibble(position: &Chess, inverted: bool) -> Option<u8> {
    let rights = position.castles().castling_rights();
    if rights.is_empty() {
        return Some(0);
    }
    let board = position.board();
    let standard = [(Color::White, Square::E1), (Color::Black, Square::E8)]
        .into_iter()
        .all(|(color, king)| {
            !position.castles().has_color(color) || board.king_of(color) == Some(king)
        });
    if !standard || !rights.is_subset(Bitboard::CORNERS) {
        return None;
    }
    Some(rights_nibble(rights, inverted))
}

/// The rooks of the bits of castling rights, the lowest bit first.
const ROOKS: [Square; 4] = [Square::A1, Square::H1, Square::A8, Square::H8];

/// The castling rights as four bits, for rooks in the corners.
pub(super) fn rights_nibble(rights: Bitboard, inverted: bool) -> u8 {
    let rights = match inverted {
        true => rights.flip_vertical(),
        false => rights,
    };
    let bits = [1, 2, 4, 8].into_iter().zip(ROOKS);
    bits.map(|(bit, rook)| u8::from(rights.contains(rook)) * bit)
        .sum()
}
