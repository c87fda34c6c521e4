//! Whether a move is legal, and which move a SAN means; fast enough for millions of moves.

use shakmaty::san::San;
use shakmaty::{Bitboard, Chess, Color, Move, Position, Role, Square, attacks};

/// The legal move that a SAN names.
#[inline]
pub(super) fn resolve(san: San, position: &Chess) -> Option<Move> {
    resolve_simple(san, position).or_else(|| san.to_move(position).ok())
}

/// Whether a move read from a database is legal: the same result as the library,
/// but without generating other moves.
#[inline(always)]
pub(super) fn is_legal(m: Move, position: &Chess) -> bool {
    match m {
        Move::Normal {
            role,
            from,
            capture,
            to,
            promotion,
        } => {
            position.board().role_at(to) == capture
                && has_move_to(role, from, capture.is_some(), to, promotion, position)
        }
        _ => position.is_legal(m),
    }
}

/// The move of a piece between two squares, if it is legal; never castling.
#[inline(always)]
pub(super) fn from_to(
    role: Role,
    from: Square,
    to: Square,
    promotion: Option<Role>,
    position: &Chess,
) -> Option<Move> {
    let capture = position.board().role_at(to);
    if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
        let m = Move::EnPassant { from, to };
        return (promotion.is_none() && position.is_legal(m)).then_some(m);
    }
    has_move_to(role, from, capture.is_some(), to, promotion, position).then_some(Move::Normal {
        role,
        from,
        capture,
        to,
        promotion,
    })
}

/// Whether a square has a piece of the side to move that can go to another square.
/// Ignores en passant and castling.
#[inline(always)]
fn has_move_to(
    role: Role,
    from: Square,
    capture: bool,
    to: Square,
    promotion: Option<Role>,
    position: &Chess,
) -> bool {
    let board = position.board();
    let own = board.by_color(position.turn());
    let is_there = (own & board.by_role(role)).contains(from);
    is_there
        && !own.contains(to)
        && possible_origins(role, capture, to, promotion, position)
            .is_some_and(|pieces| pieces.contains(from))
        && (attacks::between(from, to) & board.occupied()).is_empty()
        && is_safe(role, from, to, position)
}

/// The move, if only one piece can go there, as for nearly all moves of a game.
/// `None` for castling, en passant, and moves that need a pin or check to be unambiguous:
/// the library resolves these.
#[inline(always)]
fn resolve_simple(san: San, position: &Chess) -> Option<Move> {
    let San::Normal {
        role,
        file,
        rank,
        capture,
        to,
        promotion,
    } = san
    else {
        return None;
    };
    let (board, turn) = (position.board(), position.turn());
    let (own, taken) = (board.by_color(turn), board.role_at(to));
    if taken.is_some() != capture || own.contains(to) {
        return None;
    }
    let mut pieces =
        possible_origins(role, capture, to, promotion, position)? & own & board.by_role(role);
    if let Some(file) = file {
        pieces &= Bitboard::from_file(file);
    }
    if let Some(rank) = rank {
        pieces &= Bitboard::from_rank(rank);
    }
    let is_free = |from: &Square| (attacks::between(*from, to) & board.occupied()).is_empty();
    if pieces.more_than_one() {
        pieces = pieces.into_iter().filter(is_free).collect();
    }
    let from = pieces.single_square().filter(is_free)?;
    is_safe(role, from, to, position).then_some(Move::Normal {
        role,
        from,
        capture: taken,
        to,
        promotion,
    })
}

/// The squares that a piece attacks on an empty board. One table for all roles: a
/// branch on the role is slow, because it is hard to predict.
#[inline]
fn attacks_on_empty_board(role: Role, from: Square) -> Bitboard {
    EMPTY_BOARD_ATTACKS[usize::from(role) - 1][from.to_usize()]
}

static EMPTY_BOARD_ATTACKS: [[Bitboard; 64]; 6] = {
    let mut table = [[Bitboard::EMPTY; 64]; 6];
    let mut number = 0;
    while number < 6 * 64 {
        let (role, from) = (number / 64, number % 64);
        let piece = Role::ALL[role].of(Color::White);
        let from_square = Square::new(from as u32);
        table[role][from] = attacks::attacks(from_square, piece, Bitboard::EMPTY);
        number += 1;
    }
    table
};

/// Squares from which a piece could reach a square of an empty board, without en
/// passant and castling. `None` if no piece can go there like that.
#[inline]
fn possible_origins(
    role: Role,
    capture: bool,
    to: Square,
    promotion: Option<Role>,
    position: &Chess,
) -> Option<Bitboard> {
    if role != Role::Pawn {
        return promotion
            .is_none()
            .then(|| attacks_on_empty_board(role, to));
    }
    let promotes = matches!(
        promotion,
        Some(Role::Queen | Role::Rook | Role::Bishop | Role::Knight)
    );
    let arrives = Bitboard::BACKRANKS.contains(to);
    if arrives != promotes || promotes != promotion.is_some() {
        return None;
    }
    match capture {
        true => Some(attacks::pawn_attacks(!position.turn(), to)),
        false => pushes(to, position),
    }
}

/// Whether the mover's king is not attacked after a move.
#[inline]
fn is_safe(role: Role, from: Square, to: Square, position: &Chess) -> bool {
    let (board, turn) = (position.board(), position.turn());
    let king = match role {
        Role::King => Some(to),
        _ => board.king_of(turn),
    };
    let Some(king) = king else { return false };
    // All but the captured piece.
    let them = board.by_color(!turn).without(to);
    let threats = attacks_on_empty_board(Role::Rook, king) & board.rooks_and_queens()
        | attacks_on_empty_board(Role::Bishop, king) & board.bishops_and_queens()
        | attacks::knight_attacks(king) & board.knights()
        | attacks::pawn_attacks(turn, king) & board.pawns()
        | attacks::king_attacks(king) & board.kings();
    let after = board.occupied().without(from).with(to);
    // Usually there is no such piece.
    (threats & them)
        .into_iter()
        .all(|piece| (attacks::between(king, piece) & after).any())
}

/// Squares from which a pawn can advance to a square.
fn pushes(to: Square, position: &Chess) -> Option<Bitboard> {
    let back = position.turn().fold_wb(-8, 8);
    let one = to.offset(back)?;
    if position.board().occupied().contains(one) {
        return Some(Bitboard::from_square(one));
    }
    let fourth = position.turn().relative_rank(shakmaty::Rank::Fourth);
    let two = (to.rank() == fourth).then(|| one.offset(back))??;
    Some(Bitboard::from_square(two))
}

#[cfg(test)]
mod tests {
    use shakmaty::san::San;

    use super::*;

    /// Random moves between any squares, legal or not.
    fn some_moves(random: &mut impl FnMut(usize) -> usize) -> Vec<Move> {
        let mut moves = Vec::new();
        for role in Role::ALL {
            for _ in 0..8 {
                let from = Square::new(random(64) as u32);
                let to = Square::new(random(64) as u32);
                let capture = (random(3) == 0).then(|| Role::ALL[random(6)]);
                let promotion = (random(5) == 0).then(|| Role::ALL[random(6)]);
                moves.push(Move::Normal {
                    role,
                    from,
                    capture,
                    to,
                    promotion,
                });
            }
        }
        moves
    }

    /// Tests SAN of every kind, legal or not, in thousands of positions of random
    /// games: some target squares in each position.
    #[test]
    fn what_is_plain_is_what_the_rules_say() {
        let mut number = 1_u64;
        let mut random = move |below: usize| {
            number = number.wrapping_mul(6_364_136_223_846_793_005);
            number = number.wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) as usize % below
        };
        let (mut found, mut asked) = (0, 0);
        for _ in 0..40 {
            let mut position = Chess::default();
            for _ in 0..150 {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                for role in Role::ALL {
                    for _ in 0..8 {
                        let to = Square::new(random(64) as u32);
                        let promotions = [None, Some(Role::Queen), Some(Role::King)];
                        for (capture, promotion) in [false, true]
                            .into_iter()
                            .flat_map(|capture| promotions.map(|p| (capture, p)))
                        {
                            let from = Square::new(random(64) as u32);
                            let san = San::Normal {
                                role,
                                file: (random(4) == 0).then(|| from.file()),
                                rank: (random(4) == 0).then(|| from.rank()),
                                capture,
                                to,
                                promotion,
                            };
                            asked += 1;
                            if let Some(m) = resolve_simple(san, &position) {
                                found += 1;
                                assert_eq!(san.to_move(&position), Ok(m), "{san} {position:?}");
                            }
                        }
                    }
                }
                for m in some_moves(&mut random) {
                    assert_eq!(is_legal(m, &position), position.is_legal(m), "{m:?}");
                    let (from, to) = (m.from().unwrap(), m.to());
                    let same = |other: &&Move| {
                        (m.role(), m.promotion()) == (other.role(), other.promotion())
                            && (Some(from), to) == (other.from(), other.to())
                            && !other.is_castle()
                    };
                    let found = from_to(m.role(), from, to, m.promotion(), &position);
                    assert_eq!(found, legal.iter().find(same).copied(), "{m:?}");
                }
                for m in &legal {
                    assert!(is_legal(*m, &position));
                    let from = m.from().unwrap();
                    let found = from_to(m.role(), from, m.to(), m.promotion(), &position);
                    assert!(m.is_castle() || found == Some(*m));
                }
                let is_simple =
                    |m: &&Move| resolve_simple(San::from_move(&position, **m), &position).is_some();
                let normal = |m: &&Move| matches!(m, Move::Normal { .. });
                if !position.is_check() {
                    let moves = legal.iter().filter(normal).count();
                    assert!(5 * legal.iter().filter(is_simple).count() >= 3 * moves);
                }
                let m = legal.get(random(legal.len())).copied();
                position.play_unchecked(m.unwrap());
            }
        }
        assert!(found > 10_000 && asked > 10 * found, "{found} of {asked}");
    }
}
