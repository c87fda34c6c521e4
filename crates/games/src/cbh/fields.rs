//! Fields that the old and the new databases share.

use shakmaty::{
    Bitboard, Board, ByColor, CastlingMode, Chess, Color, Position as _, Setup, Square,
};

use crate::game::eco_code;
use crate::{Date, GameResult};
use tabia_notation as notation;

/// ECO numbers from here on are Chess960 positions.
const FIRST_CHESS960_ECO: u16 = 64576;

/// Decodes a result. 0 to 2: Black won, draw, White won; 4 to 6: the same by forfeit. 3
/// is a line or unfinished, 7 lost for both; other values are unknown.
pub(crate) fn result(number: u8) -> GameResult {
    match number {
        0 | 4 => GameResult::Won(Color::Black),
        1 | 5 => GameResult::Draw,
        2 | 6 => GameResult::Won(Color::White),
        _ => GameResult::Unknown,
    }
}

/// Decodes a date: day in 5 bits, month in 4, year in 12; each 0 if unknown.
pub(crate) fn date(bits: u32) -> Date {
    Date {
        year: (bits >> 9 & 0xfff) as u16,
        month: (bits >> 5 & 15) as u8,
        day: (bits & 31) as u8,
    }
}

/// Encodes a date, see [`date`].
pub(crate) fn date_bits(date: Date) -> u32 {
    u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day)
}

/// `Last, First`, or the only one given.
pub(crate) fn full_name(mut last: String, first: &str) -> String {
    if !last.is_empty() && !first.is_empty() {
        last.push_str(", ");
    }
    last + first
}

/// Ratings of at most four digits, as PGN readers accept them; else 0.
pub(crate) fn elo(ratings: ByColor<u16>) -> ByColor<u16> {
    ratings.map(|elo| if elo <= 9999 { elo } else { 0 })
}

/// As in the `Round` tag: `3`, `3.1`; `None` if unknown.
pub(crate) fn round(round: u16, part: u16) -> Option<String> {
    match (round, part) {
        (0, _) => None,
        (round, 0) => Some(round.to_string()),
        (round, part) => Some(format!("{round}.{part}")),
    }
}

/// As `C57`; zeros if unknown.
pub(crate) fn eco(value: u16) -> [u8; 3] {
    let number = (value >> 7).checked_sub(1);
    eco_code(number.filter(|_| value < FIRST_CHESS960_ECO))
}

/// The first position of a game. Programs set the en passant file after every double
/// step; it is used only if an en passant capture is possible.
pub(crate) fn position(mut setup: Setup, mode: CastlingMode) -> Result<Chess, String> {
    let position = notation::position_of(setup.clone(), mode)?;
    if setup.ep_square.is_some() && position.legal_ep_square().is_none() {
        setup.ep_square = None;
        return Ok(notation::position_of(setup, mode)?);
    }
    Ok(position)
}

/// The outermost rook on one side of the king, on its back rank.
pub(crate) fn outermost_rook(board: &Board, color: Color, is_short: bool) -> Option<Square> {
    let king = board.king_of(color)?;
    let rooks = board.by_color(color) & board.rooks() & Bitboard::from(color.backrank());
    let mut beyond = rooks
        .into_iter()
        .filter(|rook| (king.file() < rook.file()) == is_short);
    if is_short {
        beyond.next_back()
    } else {
        beyond.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::{File, Role};

    proptest! {
        #[test]
        fn the_outermost_rook_is_the_last_one_towards_the_edge(
            men in prop::collection::vec((0..64_u32, any::<bool>(), any::<bool>()), 0..12),
            king in 0..8_u32,
            color in any::<bool>(),
            is_short in any::<bool>(),
        ) {
            let color = Color::from_white(color);
            let king = Square::from_coords(File::new(king), color.backrank());
            let mut board = Board::empty();
            for (square, is_white, is_rook) in men {
                let role = if is_rook { Role::Rook } else { Role::Knight };
                board.set_piece_at(Square::new(square), role.of(Color::from_white(is_white)));
            }
            board.set_piece_at(king, Role::King.of(color));
            // From the edge towards the king.
            let mut files = File::ALL;
            if is_short {
                files.reverse();
            }
            let mut beyond = files.into_iter().take_while(|file| *file != king.file());
            let found = beyond.find_map(|file| {
                let square = Square::from_coords(file, color.backrank());
                (board.piece_at(square)? == Role::Rook.of(color)).then_some(square)
            });
            prop_assert_eq!(outermost_rook(&board, color, is_short), found);
        }

        #[test]
        fn dates_come_back_from_their_bits(bits in 0..1_u32 << 21) {
            prop_assert_eq!(date_bits(date(bits)), bits);
        }
    }
}
