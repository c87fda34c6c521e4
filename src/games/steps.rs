//! How pieces go, in the order of ChessBase's programs: what numbers moves by
//! it depends on that.

use shakmaty::Square;

/// A step: files and ranks.
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

/// The square that a step leads to, if it is on the board.
pub(super) fn go(from: Square, (files, ranks): Step) -> Option<Square> {
    let file = from.file().offset(files)?;
    Some(Square::from_coords(file, from.rank().offset(ranks)?))
}
