//! The 14-byte header of a game.

use shakmaty::{ByColor, Color};

use super::unscramble;
use crate::GameResult;
use crate::game::eco_code;

/// Bytes of a header.
pub(super) const HEADER_BYTES: usize = 14;

/// Bytes of a set-up position.
pub(super) const SETUP_BYTES: usize = 33;

/// The mask of a header's last byte; each earlier byte has three times the mask of the
/// byte after it.
const LAST_MASK: u8 = 0x65;

/// The content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// 0 if unknown.
    pub(super) year: u16,
    pub(super) result: GameResult,
    /// Bytes of the players' names.
    pub(super) players_bytes: usize,
    /// Bytes of the source's name.
    pub(super) source_bytes: usize,
    /// Bytes of the moves.
    pub(super) moves_bytes: usize,
    /// Bytes of the annotations.
    pub(super) notes_bytes: usize,
    /// 0 if unknown.
    pub(super) elo: ByColor<u16>,
    /// Zeros if unknown.
    pub(super) eco: [u8; 3],
    /// Set if the game does not start from the standard position.
    pub(super) set_up: Option<SetUp>,
    /// White's moves in the main line.
    pub(super) white_moves: u8,
    /// Whether the check byte has one of the two known values.
    pub(super) is_checked: bool,
}

/// The fields of a header for a set-up position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetUp {
    pub(super) turn: Color,
    /// White long, White short, Black long, Black short.
    pub(super) castling: [bool; 4],
    /// 0 if there is none, 1 for the file a.
    pub(super) en_passant_file: u8,
}

impl Header {
    pub(super) fn decode(mut bytes: [u8; HEADER_BYTES]) -> Header {
        unscramble(&mut bytes, LAST_MASK, 3);
        let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13] = bytes;
        let (players, source) = (b4 & 0x3f, b5 & 0x3f);
        // A00 is 1.
        let eco = match b10 & 1 {
            0 => u16::from(b10 & 0x3e) >> 1 | u16::from(b4 & 0xc0) >> 1 | u16::from(b5 & 0xc0) << 1,
            _ => 0,
        };
        let flag = |bit: u8| b10 >> bit & 1 == 1;
        let checks = [
            b0.wrapping_mul(37).wrapping_add(b5).wrapping_add(b9),
            // 0x1EC1 is 0xC1 modulo 256.
            b3.wrapping_mul(0xc1)
                .wrapping_mul(b8.wrapping_add(1))
                .wrapping_mul(b0),
        ];
        Header {
            year: match b0 as i8 {
                127 => 0,
                years => (1900 + i16::from(years)).unsigned_abs(),
            },
            result: match b1 {
                0 => GameResult::Won(Color::Black),
                1 => GameResult::Draw,
                2 => GameResult::Won(Color::White),
                _ => GameResult::Unknown,
            },
            players_bytes: usize::from(players),
            source_bytes: usize::from(source),
            moves_bytes: usize::from(u16::from_be_bytes([b2, b3])),
            notes_bytes: usize::from(u16::from_be_bytes([b6, b7]).saturating_sub(1)),
            elo: ByColor {
                white: elo(b8),
                black: elo(b9),
            },
            eco: eco_code(eco.checked_sub(1)),
            set_up: flag(0).then(|| SetUp {
                turn: Color::from_black(flag(1)),
                castling: [flag(2), flag(3), flag(4), flag(5)],
                en_passant_file: (b11 ^ (HEADER_BYTES as u8 + players + source)) & 0x0f,
            }),
            white_moves: b12,
            is_checked: checks.contains(&b13),
        }
    }

    /// Offset of the moves.
    pub(super) fn moves_at(&self) -> usize {
        HEADER_BYTES + self.players_bytes + self.source_bytes
    }

    /// Offset of the set-up position.
    pub(super) fn set_up_at(&self) -> usize {
        self.moves_at() + self.moves_bytes + self.notes_bytes
    }

    /// All bytes of the game that are read.
    pub(super) fn bytes(&self) -> usize {
        match self.set_up {
            Some(_) => self.set_up_at() + SETUP_BYTES,
            None => self.moves_at() + self.moves_bytes,
        }
    }
}

fn elo(byte: u8) -> u16 {
    match byte {
        0 => 0,
        steps => 1600 + 5 * u16::from(steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masks as published in the post of 1994.
    #[test]
    fn the_masks_are_those_that_are_known() {
        let mut masks = [0; HEADER_BYTES];
        unscramble(&mut masks, LAST_MASK, 3);
        assert_eq!(
            masks,
            [
                0x3f, 0x15, 0x07, 0xad, 0x8f, 0x85, 0xd7, 0x9d, 0xdf, 0xf5, 0xa7, 0x8d, 0x2f, 0x65
            ]
        );
    }
}
