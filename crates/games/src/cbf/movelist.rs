//! The numbered move list that the program generated for a position.
//!
//! A move is stored as its number. The list also counts moves that leave the king in
//! check, and castling after king or rook has moved; neither is ever played. It also
//! repeats two errors of the program, see [`list`].

use shakmaty::{Board, Color, File, Piece, Rank, Role, Square};

use crate::directions::{BISHOP, Direction, KING, KNIGHT, QUEEN, ROOK, neighbor};

const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// A move of the list; `None` for a number without a move.
pub(super) type Listed = Option<(Square, Square, Option<Role>)>;

/// The list. `en_passant` is the square behind a pawn that has just moved two steps;
/// castling does not reset it (first error). Without such a square, a white pawn on a5
/// or a black pawn on a4 takes one number more (second error: the post of 1994 calls it
/// "a5xh6 e.p.").
pub(super) fn list(board: &Board, turn: Color, en_passant: Option<Square>) -> Vec<Listed> {
    let mut list = List {
        board,
        turn,
        en_passant,
        moves: Vec::with_capacity(48),
    };
    for file in File::ALL {
        for rank in Rank::ALL {
            let from = Square::from_coords(file, rank);
            if let Some(piece) = board.piece_at(from)
                && piece.color == turn
            {
                list.add(from, piece.role);
            }
        }
    }
    list.moves
}

struct List<'b> {
    board: &'b Board,
    turn: Color,
    en_passant: Option<Square>,
    moves: Vec<Listed>,
}

impl List<'_> {
    fn add(&mut self, from: Square, role: Role) {
        match role {
            Role::King => {
                self.steps(from, &KING);
                self.castling(from);
            }
            Role::Queen => self.rays(from, &QUEEN),
            Role::Rook => self.rays(from, &ROOK),
            Role::Bishop => self.rays(from, &BISHOP),
            Role::Knight => self.steps(from, &KNIGHT),
            Role::Pawn => self.pawn(from),
        }
    }

    fn push(&mut self, from: Square, to: Square) {
        self.moves.push(Some((from, to, None)));
    }

    fn is_own(&self, square: Square) -> bool {
        self.board.color_at(square) == Some(self.turn)
    }

    fn is_empty(&self, square: Square) -> bool {
        self.board.piece_at(square).is_none()
    }

    fn steps(&mut self, from: Square, steps: &[Direction]) {
        for step in steps {
            if let Some(to) = neighbor(from, *step)
                && !self.is_own(to)
            {
                self.push(from, to);
            }
        }
    }

    fn rays(&mut self, from: Square, steps: &[Direction]) {
        for step in steps {
            let mut at = from;
            while let Some(to) = neighbor(at, *step) {
                if self.is_own(to) {
                    break;
                }
                self.push(from, to);
                if !self.is_empty(to) {
                    break;
                }
                at = to;
            }
        }
    }

    /// Adds short castling, then long.
    fn castling(&mut self, from: Square) {
        let rank = self.turn.fold_wb(Rank::First, Rank::Eighth);
        if from != Square::from_coords(File::E, rank) {
            return;
        }
        let rook = Piece {
            color: self.turn,
            role: Role::Rook,
        };
        let ways: [(File, &[File], File); 2] = [
            (File::H, &[File::F, File::G], File::G),
            (File::A, &[File::B, File::C, File::D], File::C),
        ];
        for (corner, between, to) in ways {
            let at = |file: File| Square::from_coords(file, rank);
            if self.board.piece_at(at(corner)) == Some(rook)
                && between.iter().all(|file| self.is_empty(at(*file)))
            {
                self.push(from, at(to));
            }
        }
    }

    fn pawn(&mut self, from: Square) {
        let up = self.turn.fold_wb(1, -1);
        let home = self.turn.fold_wb(Rank::Second, Rank::Seventh);
        let one = neighbor(from, (0, up)).filter(|to| self.is_empty(*to));
        let two = neighbor(from, (0, 2 * up)).filter(|to| self.is_empty(*to));
        if let (Some(_), Some(two)) = (one, two)
            && from.rank() == home
        {
            self.push(from, two);
        }
        if let Some(one) = one {
            self.pawn_move(from, one);
        }
        let sides = [neighbor(from, (-1, up)), neighbor(from, (1, up))];
        for to in sides.into_iter().flatten() {
            if !self.is_own(to) && !self.is_empty(to) {
                self.pawn_move(from, to);
            }
        }
        for to in sides.into_iter().flatten() {
            if Some(to) == self.en_passant {
                self.push(from, to);
            }
        }
        let phantom = self.turn.fold_wb(Square::A5, Square::A4);
        if from == phantom && self.en_passant.is_none() {
            self.moves.push(None);
        }
    }

    fn pawn_move(&mut self, from: Square, to: Square) {
        if to.rank() == self.turn.fold_wb(Rank::Eighth, Rank::First) {
            let all = PROMOTIONS.map(|role| Some((from, to, Some(role))));
            self.moves.extend(all);
        } else {
            self.push(from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;

    fn numbers(fen: &str) -> Vec<String> {
        let setup = fen.parse::<Fen>().unwrap().into_setup();
        let moves = list(&setup.board, setup.turn, setup.ep_square);
        let name = |listed: &Listed| match listed {
            Some((from, to, role)) => {
                format!(
                    "{from}{to}{}",
                    role.map_or(String::new(), |r| r.char().to_string())
                )
            }
            None => "-".to_owned(),
        };
        moves.iter().map(name).collect()
    }

    /// Numbers from the descriptions.
    #[test]
    fn the_first_moves_are_numbered_as_described() {
        let moves = numbers("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let expected = "a2a4 a2a3 b1a3 b1c3 b2b4 b2b3 c2c4 c2c3 d2d4 d2d3 e2e4 e2e3 f2f4 f2f3 \
                        g1f3 g1h3 g2g4 g2g3 h2h4 h2h3";
        assert_eq!(moves.join(" "), expected);
    }

    #[test]
    fn a_pawn_on_a5_takes_a_number_more_unless_there_is_en_passant() {
        assert_eq!(
            numbers("4k3/8/8/P7/8/8/8/4K3 w - - 0 1")[..2],
            ["a5a6", "-"]
        );
        assert_eq!(
            numbers("4k3/8/8/PpP5/8/8/8/4K3 w - b6 0 1")[..4],
            ["a5a6", "a5b6", "c5c6", "c5b6"]
        );
        assert_eq!(
            numbers("4k3/8/8/8/p7/8/8/4K3 b - - 0 1")[..2],
            ["a4a3", "-"]
        );
    }

    #[test]
    fn castling_counts_whatever_has_moved_and_promotions_count_four() {
        let moves = numbers("8/8/8/8/8/8/1k5P/4K2R w - - 0 1");
        assert!(moves.contains(&"e1g1".to_owned()));
        let moves = numbers("8/P7/8/8/8/8/1k6/4K3 w - - 0 1");
        assert_eq!(moves[..4], ["a7a8q", "a7a8r", "a7a8b", "a7a8n"]);
    }
}
