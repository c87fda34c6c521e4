//! How pieces move, in the order of ChessBase's programs: the move numbers of their formats
//! depend on it.

use shakmaty::{File, Rank, Role, Square};

/// The squares that a piece moves by: number of files and of ranks.
pub(super) type Direction = (i32, i32);

pub(super) const KING: [Direction; 8] = [
    (-1, -1),
    (-1, 0),
    (-1, 1),
    (0, -1),
    (0, 1),
    (1, -1),
    (1, 0),
    (1, 1),
];
pub(super) const QUEEN: [Direction; 8] = [
    (-1, -1),
    (1, -1),
    (1, 1),
    (-1, 1),
    (-1, 0),
    (0, -1),
    (1, 0),
    (0, 1),
];
pub(super) const ROOK: [Direction; 4] = [(-1, 0), (0, -1), (1, 0), (0, 1)];
pub(super) const BISHOP: [Direction; 4] = [(-1, -1), (1, -1), (1, 1), (-1, 1)];
pub(super) const KNIGHT: [Direction; 8] = [
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

/// The square in a direction, if it is on the board.
pub(super) fn neighbor(from: Square, (files, ranks): Direction) -> Option<Square> {
    let file = from.file().offset(files)?;
    Some(Square::from_coords(file, from.rank().offset(ranks)?))
}

/// The square with a number in ChessBase's formats: a1, a2 and so on to h8. Only
/// the lowest six bits count.
pub(super) fn square(number: u16) -> Square {
    let (file, rank) = (number >> 3 & 7, number & 7);
    Square::from_coords(File::new(file.into()), Rank::new(rank.into()))
}
