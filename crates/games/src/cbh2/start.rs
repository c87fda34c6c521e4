//! Where a game begins: the words before its moves.
//!
//! | words | meaning |
//! |---|---|
//! | `FFFC` | moves follow |
//! | `FFFB`, one number, `FFFC` | that start of Chess960 |
//! | `FFFB`, three words, pieces, `FFFC` | a set-up position |
//! | `FFFB`, 1000, three words, pieces, `FFFC` | a set-up position of Chess960 |
//!
//! The three words: the move number; Black to move (low byte) and castling
//! rights (high byte: 1 White long, 2 White short, 4, 8 Black); the en passant
//! file. An older description has the file in the high byte and the rights in
//! the third word; so a position may have two readings, and the moves decide.
//! A word for each piece: C02D + 64 * kind + square for White (king, queen,
//! knight, bishop, rook), C16D for Black; C2AD + 6 * file + rank - 2 for white
//! pawns, C2DD for black ones.

use std::num::NonZeroU32;

use shakmaty::{Board, CastlingMode, Chess, Color, File, Rank, Role, Setup, Square};

use super::framing::Tag;
use crate::cbh::fields;
use crate::directions::{ROLES, square};
use tabia_notation as notation;

const START: u16 = 0xfffb;
const MOVES: u16 = 0xfffc;

/// The word that marks a set-up position of Chess960.
const SET_UP_960: u16 = 1000;

const WHITE_PIECES: u16 = 0xc02d;
const BLACK_PIECES: u16 = 0xc16d;
const WHITE_PAWNS: u16 = 0xc2ad;
const BLACK_PAWNS: u16 = 0xc2dd;
const END: u16 = 0xc30d;

/// The first position of a game.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) position: Chess,
    pub(super) chess960: bool,
    /// Number of the first position of Chess960, if it is one.
    pub(super) number: Option<u16>,
    /// The other possible reading of the first position.
    pub(super) other: Option<Chess>,
    /// Words before the moves.
    pub(super) words: usize,
}

/// Reads the words before the moves.
///
/// # Errors
///
/// They are missing, or no game can start from that position.
pub(super) fn read(words: &[u16], tag: Tag) -> Result<Start, String> {
    let chess960 = tag == Tag::Chess960;
    let usual = |position, number| Start {
        position,
        chess960,
        number,
        other: None,
        words: 1,
    };
    match words {
        [MOVES, ..] => return Ok(usual(Chess::default(), None)),
        [START, ..] => {}
        _ => return Err("its first position is of an unknown kind".to_owned()),
    }
    let end = words.iter().position(|word| *word == MOVES);
    let end = end.ok_or("it has no end")?;
    let found = match words.get(1..end).unwrap_or_default() {
        [number @ 0..960] => Start {
            position: notation::position_of(chess960_start(*number), CastlingMode::Chess960)?,
            chess960: true,
            number: Some(*number),
            other: None,
            words: 0,
        },
        [SET_UP_960, head @ ..] | head => {
            let [number, side, third, pieces @ ..] = head else {
                return Err("it is cut off".to_owned());
            };
            let [turn, high] = side.to_le_bytes();
            let mut setup = Setup::empty();
            setup.board = board(pieces)?;
            setup.turn = Color::from_black(turn & 1 != 0);
            setup.fullmoves = NonZeroU32::new((*number).into()).unwrap_or(NonZeroU32::MIN);
            let reading = |rights: u16, file: u16| {
                let setup = with(&setup, rights, file, chess960);
                let mode = match chess960 {
                    true => CastlingMode::detect(&setup),
                    false => CastlingMode::Standard,
                };
                fields::position(setup, mode)
            };
            let position = reading(high.into(), *third)?;
            let other = reading(*third, high.into());
            Start {
                other: other.ok().filter(|other| *other != position),
                position,
                chess960,
                number: None,
                words: 0,
            }
        }
    };
    Ok(Start {
        words: end + 1,
        ..found
    })
}

fn chess960_start(number: u16) -> Setup {
    let mut setup = Setup::initial();
    setup.board = Board::chess960(number.into());
    setup.castling_rights = setup.board.rooks();
    setup
}

fn board(words: &[u16]) -> Result<Board, String> {
    let mut board = Board::empty();
    for word in words {
        let piece = |first: u16, color: Color| {
            let number = word - first;
            let role = ROLES.get(usize::from(number / 64)).copied();
            (square(number % 64), role.unwrap_or(Role::King).of(color))
        };
        let pawn = |first: u16, color: Color| {
            let number = word - first;
            (
                square(number / 6 * 8 + number % 6 + 1),
                Role::Pawn.of(color),
            )
        };
        let (square, piece) = match *word {
            WHITE_PIECES..BLACK_PIECES => piece(WHITE_PIECES, Color::White),
            BLACK_PIECES..WHITE_PAWNS => piece(BLACK_PIECES, Color::Black),
            WHITE_PAWNS..BLACK_PAWNS => pawn(WHITE_PAWNS, Color::White),
            BLACK_PAWNS..END => pawn(BLACK_PAWNS, Color::Black),
            other => return Err(format!("{other:04x} is not a piece")),
        };
        if board.piece_at(square).is_some() {
            return Err(format!("two pieces on {square}"));
        }
        board.set_piece_at(square, piece);
    }
    Ok(board)
}

/// Adds castling rights, if king and rook are on their squares, and the en passant
/// file.
fn with(setup: &Setup, rights: u16, file: u16, chess960: bool) -> Setup {
    let mut setup = setup.clone();
    for (bit, color, is_short) in [
        (1, Color::White, false),
        (2, Color::White, true),
        (4, Color::Black, false),
        (8, Color::Black, true),
    ] {
        if rights & bit != 0
            && let Some(rook) = castling_rook(&setup.board, color, is_short, chess960)
        {
            setup.castling_rights.add(rook);
        }
    }
    let rank = setup.turn.fold_wb(Rank::Sixth, Rank::Third);
    let file = file
        .checked_sub(1)
        .and_then(|file| File::try_from(u32::from(file)).ok());
    setup.ep_square = file.map(|file| Square::from_coords(file, rank));
    setup
}

/// The castling rook: on its usual square or, in Chess960, the outermost one on its
/// side of the king.
pub(super) fn castling_rook(
    board: &Board,
    color: Color,
    is_short: bool,
    chess960: bool,
) -> Option<Square> {
    let rank = color.backrank();
    let king = board.king_of(color).filter(|king| king.rank() == rank)?;
    if chess960 {
        return fields::outermost_rook(board, color, is_short);
    }
    let rooks = board.by_color(color) & board.rooks();
    let file = if is_short { File::H } else { File::A };
    let rook = Square::from_coords(file, rank);
    (king.file() == File::E && rooks.contains(rook)).then_some(rook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::EnPassantMode;
    use shakmaty::fen::Fen;

    fn fen(position: &Chess) -> String {
        Fen::from_position(position, EnPassantMode::Legal).to_string()
    }

    #[test]
    fn the_worked_example() {
        let words = [
            0xfffb, 20, 0x0200, 0, 0xc2f2, 0xc04d, 0xc2c8, 0xc194, 0xc165, 0xfffc, 0xb12a, 0xffff,
        ];
        let start = read(&words, Tag::Game).unwrap();
        assert_eq!(fen(&start.position), "4k3/8/8/3pP3/8/8/8/4K2R w K - 0 20");
        assert_eq!(start.words, 10);
    }

    #[test]
    fn both_descriptions_of_a_position_are_kept() {
        // The file of the pawn in the high byte, rights in the third word.
        let words = [
            0xfffb, 20, 0x0400, 2, 0xc2f2, 0xc04d, 0xc2c8, 0xc194, 0xc165, 0xfffc, 0xffff,
        ];
        let start = read(&words, Tag::Game).unwrap();
        assert_eq!(fen(&start.position), "4k3/8/8/3pP3/8/8/8/4K2R w - - 0 20");
        let other = start.other.unwrap();
        assert_eq!(fen(&other), "4k3/8/8/3pP3/8/8/8/4K2R w K d6 0 20");
    }

    #[test]
    fn starts_that_cannot_be_are_refused() {
        for words in [
            &[][..],
            &[0xad3f],
            &[0xfffb, 518],
            &[0xfffb, 960, 0xfffc],
            &[0xfffb, 1, 0, 0, 0xc04d, 0xc04d, 0xfffc],
            &[0xfffb, 1, 0, 0, 0xad3f, 0xfffc],
            &[0xfffb, 1, 0, 0, 0xc04d, 0xfffc],
        ] {
            assert!(read(words, Tag::Game).is_err(), "{words:x?}");
        }
        let first = read(&[0xfffb, 0, 0xfffc, 0xffff], Tag::Chess960).unwrap();
        assert_eq!(
            fen(&first.position).split(' ').next(),
            Some("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR")
        );
    }
}
