//! The meaning of the words of a game.
//!
//! A word of 16 bits names piece, squares, captured piece and promotion, the same in
//! every position. The numbers follow from a few rules, from 1 on: white king, queen,
//! knight, bishop, rook, then the black ones, then white and black pawns, castling, and
//! castling in Chess960.
//!
//! *Pieces*: from each square, a1, a2 to h8; in each direction of the piece, step by
//! step on the empty board; six words for each target: no capture, then capture of
//! queen, knight, bishop, rook, pawn.
//!
//! *Pawns*: from each square, a2, a3 to a7, then the other files. First forward: two
//! steps and one; or promotion to queen, knight, bishop, rook; or one step. Then
//! captures to the lower file, then to the higher one: of queen, knight, bishop, rook,
//! pawn, and en passant where possible; on the last rank of the first four only, with
//! each promotion.

use std::sync::OnceLock;

use shakmaty::{CastlingSide, Color, Move, Rank, Role, Square};

use crate::directions::{BISHOP, Direction, KING, KNIGHT, QUEEN, ROLES, ROOK, neighbor, square};

/// Pieces that can be captured, in the order of the words.
const CAPTURED: [Role; 5] = [
    Role::Queen,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Pawn,
];

/// Pieces in the order of the words; also the order of promotions.
const PIECES: [Role; 4] = [Role::Queen, Role::Knight, Role::Bishop, Role::Rook];

/// The first word of castling in Chess960; `END` is the word after the last one.
const CHESS960: u16 = 0xb12d;
const END: u16 = 0xc02d;

/// A word that is a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Move(Color, Move),
    Castle {
        color: Color,
        side: CastlingSide,
        /// Number of the Chess960 start position, if the word contains it.
        start: Option<u16>,
    },
}

impl Word {
    /// Decodes a word; `None` if it is not a move.
    #[inline(always)]
    pub(super) fn decode(word: u16) -> Option<Word> {
        let table = table();
        let index = usize::from(word.checked_sub(1)?);
        if let Some((color, m)) = table.get(index) {
            return Some(Word::Move(*color, *m));
        }
        let first = table.len() as u16 + 1;
        let (number, start) = match word {
            CHESS960..END => {
                let number = word - CHESS960;
                (number % 4, Some(number / 4))
            }
            word => (word.checked_sub(first).filter(|n| *n < 4)?, None),
        };
        Some(Word::Castle {
            color: Color::from_white(number < 2),
            side: CastlingSide::from_king_side(number % 2 == 1),
            start,
        })
    }
}

/// All words except castling, from 1 on.
fn table() -> &'static [(Color, Move)] {
    static TABLE: OnceLock<Vec<(Color, Move)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Vec::with_capacity(CHESS960.into());
        for color in Color::ALL {
            for role in ROLES {
                add_piece(color, role, &mut table);
            }
        }
        for color in Color::ALL {
            add_pawns(color, &mut table);
        }
        table
    })
}

fn directions(role: Role) -> &'static [Direction] {
    match role {
        Role::King => &KING,
        Role::Knight => &KNIGHT,
        Role::Bishop => &BISHOP,
        Role::Rook => &ROOK,
        _ => &QUEEN,
    }
}

fn add_piece(color: Color, role: Role, table: &mut Vec<(Color, Move)>) {
    let slides = !matches!(role, Role::King | Role::Knight);
    for from in (0..64).map(square) {
        for step in directions(role) {
            let mut next = neighbor(from, *step);
            while let Some(to) = next {
                let captures = CAPTURED.map(Some);
                for capture in [None].into_iter().chain(captures) {
                    table.push((
                        color,
                        Move::Normal {
                            role,
                            from,
                            capture,
                            to,
                            promotion: None,
                        },
                    ));
                }
                next = slides.then(|| neighbor(to, *step)).flatten();
            }
        }
    }
}

fn add_pawns(color: Color, table: &mut Vec<(Color, Move)>) {
    let forward = color.fold_wb(1, -1);
    let start = color.fold_wb(Rank::Second, Rank::Seventh);
    let last = color.fold_wb(Rank::Seventh, Rank::Second);
    let passes = color.fold_wb(Rank::Fifth, Rank::Fourth);
    for from in (0..64).map(square) {
        if matches!(from.rank(), Rank::First | Rank::Eighth) {
            continue;
        }
        let made = |to: Square, capture: Option<Role>, promotion: Option<Role>| {
            let role = Role::Pawn;
            let m = Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            };
            (color, m)
        };
        if let Some(to) = neighbor(from, (0, forward)) {
            if from.rank() == start
                && let Some(far) = neighbor(to, (0, forward))
            {
                table.push(made(far, None, None));
            }
            if from.rank() == last {
                table.extend(PIECES.map(|piece| made(to, None, Some(piece))));
            } else {
                table.push(made(to, None, None));
            }
        }
        for to in [-1, 1].map(|files| neighbor(from, (files, forward))) {
            let Some(to) = to else { continue };
            if from.rank() == last {
                for captured in PIECES {
                    table.extend(PIECES.map(|piece| made(to, Some(captured), Some(piece))));
                }
                continue;
            }
            table.extend(CAPTURED.map(|captured| made(to, Some(captured), None)));
            if from.rank() == passes {
                table.push((color, Move::EnPassant { from, to }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_words_begin_where_they_should() {
        assert_eq!(table().len(), 0xb128);
        let first = |word: u16| match Word::decode(word).unwrap() {
            Word::Move(
                color,
                Move::Normal {
                    role,
                    from,
                    capture: None,
                    to,
                    ..
                },
            ) => {
                format!("{}{from}{to}", role.of(color).char())
            }
            other => panic!("{other:?}"),
        };
        for (word, expected) in [
            (0x0001, "Ka1a2"),
            (0x0007, "Ka1b1"),
            (0x09d9, "Qa1b2"),
            (0x2bf9, "Na1c2"),
            (0x33d9, "Ba1b2"),
            (0x40f9, "Ra1b1"),
            (0x55f9, "ka1a2"),
            (0x5fd1, "qa1b2"),
            (0x81f1, "na1c2"),
            (0x89d1, "ba1b2"),
            (0x96f1, "ra1b1"),
            (0xabf1, "Pa2a4"),
            (0xae8d, "pa2a1"),
            (0xad3f, "Pe2e4"),
        ] {
            assert_eq!(first(word), expected, "{word:04x}");
        }
        let en_passant = Move::EnPassant {
            from: Square::E5,
            to: Square::D6,
        };
        assert_eq!(
            Word::decode(0xad67),
            Some(Word::Move(Color::White, en_passant))
        );
    }

    #[test]
    fn castling_has_words_of_its_own() {
        let castle = |word| match Word::decode(word) {
            Some(Word::Castle { color, side, start }) => Some((color, side, start)),
            _ => None,
        };
        let (long, short) = (CastlingSide::QueenSide, CastlingSide::KingSide);
        assert_eq!(castle(0xb129), Some((Color::White, long, None)));
        assert_eq!(castle(0xb12c), Some((Color::Black, short, None)));
        assert_eq!(castle(0xb12d), Some((Color::White, long, Some(0))));
        assert_eq!(castle(0xc02c), Some((Color::Black, short, Some(959))));
        assert_eq!(Word::decode(0), None);
        assert_eq!(Word::decode(0xc02d), None);
        assert_eq!(Word::decode(0xffff), None);
    }

    /// The notation of the published table.
    fn shown(word: u16) -> String {
        let letter = |role: Option<Role>| role.map_or(String::new(), |role| role.char().into());
        match Word::decode(word) {
            Some(Word::Move(color, Move::EnPassant { from, to })) => {
                format!("{word:04x},{}P,{from},{to},e,", color.char())
            }
            Some(Word::Move(
                color,
                Move::Normal {
                    role,
                    from,
                    capture,
                    to,
                    promotion,
                },
            )) => {
                let piece = role.upper_char();
                let (capture, promotion) = (letter(capture), letter(promotion));
                let color = color.char();
                format!("{word:04x},{color}{piece},{from},{to},{capture},{promotion}")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_words_are_those_of_the_table() {
        let mut sum = flate2::Crc::new();
        for word in 1..=0xb128 {
            sum.update(shown(word).as_bytes());
            sum.update(b"\n");
        }
        assert_eq!(sum.sum(), TABLE_SUM);
    }

    const TABLE_SUM: u32 = 0xf965_6340;
}
