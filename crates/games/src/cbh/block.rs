//! A game's block in the .cbg file: head and first position.
//!
//! Big-endian:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | bits 0 to 5 encoding; bit 6: a first position follows; bit 7: a text, but one genuine game has it too |
//! | 1 | 3 | bytes of the whole block |
//! | 4 | 28 | first position, if there is one |
//! | 32 | 8 | squares of kings and rooks: with a first position, in Chess960 |
//! | | | moves, to the end of the block |
//!
//! The first position:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | 1, unknown |
//! | 1 | 1 | bits 0 to 3 file of an en passant square, 1 to 8; bit 4: Black to move |
//! | 2 | 1 | castling: bit 0 White long, 1 White short, 2 Black long, 3 Black short |
//! | 3 | 1 | number of the next move; 0 means 1 |
//! | 4 | 24 | bits from the most significant on, square by square from a1, a2 to h8: 0 empty; 1, colour (1 Black), three bits of [`ROLES`] |
//!
//! Evidence: 280 genuine first positions.

use std::num::NonZeroU32;

use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, Color, File, Piece, Rank, Role, Setup,
    Square,
};

use super::{ciphers, fields};
use crate::directions::square;
use tabia_io::input::bytes::Cursor;

/// Bytes before the first position or the moves.
pub(super) const HEAD_BYTES: usize = 4;

/// Pieces by their three bits, from 1.
const ROLES: [Role; 6] = [
    Role::King,
    Role::Queen,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Pawn,
];

/// The first four bytes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) mode: u8,
    pub(super) has_position: bool,
    /// Bytes of the whole block, as stored in it.
    pub(super) len: usize,
}

impl Head {
    /// Parses the head; `None` if there are fewer than four bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<Head> {
        let mut cursor = Cursor::new(bytes);
        let flags = cursor.u8()?;
        let len = cursor.be_u24()?;
        Some(Head {
            mode: flags & 0x3f,
            has_position: flags & 0x40 != 0,
            len: usize::try_from(len).ok()?,
        })
    }
}

/// How the moves of a game are encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    /// The substitution table.
    pub(super) cipher: &'static [u8; 256],
    /// Whether the move count is subtracted before the table lookup, or after it.
    pub(super) counts_first: bool,
    /// Whether each move is two bytes with its squares.
    pub(super) simple: bool,
    /// Whether pieces are numbered from h8.
    pub(super) reversed: bool,
    /// Whether it is for Chess960.
    pub(super) chess960: bool,
}

impl Encoding {
    /// The encoding with a number.
    ///
    /// # Errors
    ///
    /// The chess variant, if the number belongs to a game that is not chess.
    pub(super) fn from_mode(mode: u8) -> Result<Encoding, String> {
        let Some(cipher) = ciphers::for_mode(mode) else {
            return Err(match mode {
                8 | 9 => "losing chess".to_owned(),
                12 | 13 => "Out Chatrang".to_owned(),
                14 | 15 => "Twins".to_owned(),
                16 | 17 => "Makruk".to_owned(),
                18 | 19 => "Pawns".to_owned(),
                63 => "chess with illegal positions".to_owned(),
                _ => format!("unknown (encoding {mode})"),
            });
        };
        let chess960 = mode >= 10;
        Ok(Encoding {
            cipher,
            counts_first: mode < 4,
            simple: mode & 1 != 0 && !chess960,
            reversed: if chess960 {
                mode & 1 != 0
            } else {
                mode & 2 != 0
            },
            chess960,
        })
    }
}

/// The first position of a game.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) position: Chess,
    /// Whether king or castling rooks are not on their usual squares.
    pub(super) chess960: bool,
    /// Bytes of the block before the moves.
    pub(super) moves_at: usize,
}

/// Reads the first position of a block.
///
/// # Errors
///
/// It is missing, or no game can start from it.
pub(super) fn start(block: &[u8], head: Head, encoding: Encoding) -> Result<Start, String> {
    if !head.has_position {
        // The standard position, which is also one of Chess960.
        return Ok(Start {
            position: Chess::default(),
            chess960: false,
            moves_at: HEAD_BYTES,
        });
    }
    let mut cursor = Cursor::new(block.get(HEAD_BYTES..).unwrap_or_default());
    let cut_off = "the block ends inside it";
    let bytes = cursor.take(28).ok_or(cut_off)?;
    let mut setup = parse(bytes)?;
    let rights = bytes.get(2).copied().unwrap_or(0);
    let squares = if encoding.chess960 {
        cursor.take(8).ok_or(cut_off)?
    } else {
        &[]
    };
    setup.castling_rights = castling_rights(&setup.board, rights, squares);
    let chess960 = encoding.chess960 && CastlingMode::detect(&setup).is_chess960();
    let mode = CastlingMode::from_chess960(chess960);
    Ok(Start {
        position: fields::position(setup, mode)?,
        chess960,
        moves_at: HEAD_BYTES + cursor.position(),
    })
}

/// Parses everything except the castling rights.
fn parse(bytes: &[u8]) -> Result<Setup, String> {
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let mut setup = Setup::empty();
    setup.board = board(bytes.get(4..).unwrap_or_default())?;
    setup.turn = Color::from_white(at(1) & 16 == 0);
    let rank = setup.turn.fold_wb(Rank::Sixth, Rank::Third);
    setup.ep_square = (at(1) & 15)
        .checked_sub(1)
        .and_then(|file| File::try_from(u32::from(file)).ok())
        .map(|file| Square::from_coords(file, rank));
    setup.fullmoves = NonZeroU32::new(at(3).into()).unwrap_or(NonZeroU32::MIN);
    Ok(setup)
}

fn board(bytes: &[u8]) -> Result<Board, String> {
    let mut bits = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    let mut board = Board::empty();
    for index in 0..64 {
        let cut_off = || "its board has too many pieces".to_owned();
        if bits.next().ok_or_else(cut_off)? == 0 {
            continue;
        }
        let is_black = bits.next().ok_or_else(cut_off)? == 1;
        let mut number = 0;
        for _ in 0..3 {
            number = number << 1 | usize::from(bits.next().ok_or_else(cut_off)?);
        }
        let role = number
            .checked_sub(1)
            .and_then(|index| ROLES.get(index))
            .ok_or_else(|| format!("its board has a piece of unknown kind {number}"))?;
        let color = Color::from_black(is_black);
        board.set_piece_at(square(index), Piece { color, role: *role });
    }
    Ok(board)
}

/// The rooks that may castle. In Chess960 eight bytes contain their squares: squares
/// of both kings, of White's rooks on the h side and the a side, and of Black's, and
/// the number of the position. The number, and sometimes the squares, are wrong in
/// genuine games; so a square counts only where there is a rook.
fn castling_rights(board: &Board, rights: u8, squares: &[u8]) -> Bitboard {
    let mut rooks = Bitboard::EMPTY;
    for (bit, color, side, at) in [
        (1, Color::White, CastlingSide::QueenSide, 3),
        (2, Color::White, CastlingSide::KingSide, 2),
        (4, Color::Black, CastlingSide::QueenSide, 5),
        (8, Color::Black, CastlingSide::KingSide, 4),
    ] {
        if rights & bit == 0 {
            continue;
        }
        if squares.is_empty() {
            let file = match side {
                CastlingSide::KingSide => File::H,
                CastlingSide::QueenSide => File::A,
            };
            rooks.add(Square::from_coords(file, color.backrank()));
            continue;
        }
        let own = board.by_color(color) & board.rooks() & Bitboard::from(color.backrank());
        let named = squares.get(at).map(|index| square((*index).into()));
        let rook = named
            .filter(|rook| own.contains(*rook))
            .or_else(|| fields::outermost_rook(board, color, side.is_king_side()));
        rooks.extend(rook);
    }
    rooks
}
