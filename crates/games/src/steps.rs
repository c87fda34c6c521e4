//! Steps of the pieces, in the order of ChessBase's programs: the move numbers of
//! their formats depend on it.

use shakmaty::{File, Rank, Role, Square};

/// A step: number of files and of ranks.
pub(super) type Step = (i32, i32);

pub(super) const KING: [Step; 8] = [
    (-1, -1),
    (-1, 0),
    (-1, 1),
    (0, -1),
    (0, 1),
    (1, -1),
    (1, 0),
    (1, 1),
];
pub(super) const QUEEN: [Step; 8] = [
    (-1, -1),
    (1, -1),
    (1, 1),
    (-1, 1),
    (-1, 0),
    (0, -1),
    (1, 0),
    (0, 1),
];
pub(super) const ROOK: [Step; 4] = [(-1, 0), (0, -1), (1, 0), (0, 1)];
pub(super) const BISHOP: [Step; 4] = [(-1, -1), (1, -1), (1, 1), (-1, 1)];
pub(super) const KNIGHT: [Step; 8] = [
    (-2, -1),
    (-2, 1),
    (2, -1),
    (2, 1),
    (-1, -2),
    (-1, 2),
    (1, -2),
    (1, 2),
];

/// Pieces in the order of ChessBase's numbers; pawns come last.
pub(super) const ROLES: [Role; 5] = [
    Role::King,
    Role::Queen,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
];

/// The square that a step leads to, if it is on the board.
pub(super) fn go(from: Square, (files, ranks): Step) -> Option<Square> {
    let file = from.file().offset(files)?;
    Some(Square::from_coords(file, from.rank().offset(ranks)?))
}

/// The square with a number in ChessBase's formats: a1, a2 and so on to h8. Only
/// the lowest six bits count.
pub(super) fn square(number: u16) -> Square {
    let (file, rank) = (number >> 3 & 7, number & 7);
    Square::from_coords(File::new(file.into()), Rank::new(rank.into()))
}
