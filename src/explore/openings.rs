//! Names and ECO codes of openings: the public-domain list of lichess, which
//! the crate `esca` carries.

use esca::openings::{Opening as Named, lookup};
use serde::Serialize;
use shakmaty::Chess;

use crate::notation;

/// What an opening is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Opening {
    /// As `B27`.
    pub(super) eco: &'static str,
    /// In English, as `Sicilian Defense: Hyperaccelerated Dragon`.
    pub(super) name: &'static str,
}

/// Makes the table of names, which takes some milliseconds: otherwise the
/// first look-up does.
pub fn warm_up() {
    let _ = esca::openings::count();
}

/// The name of a position, if it has one, whatever moves led to it.
pub(super) fn of(position: &Chess) -> Option<Opening> {
    let position = esca::Position::from_fen(&notation::fen(position)).ok()?;
    lookup(&position).map(|Named { eco, name }| Opening { eco, name })
}

/// The name of the last position of a line that has one.
pub(super) fn of_line(positions: &[Chess]) -> Option<Opening> {
    positions.iter().rev().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::Line;

    #[test]
    fn a_line_is_called_by_its_last_named_position() {
        let line = Line::read("", "e2e4,c7c5").unwrap();
        let sicilian = of(line.last()).unwrap();
        assert_eq!((sicilian.eco, sicilian.name), ("B20", "Sicilian Defense"));
        let line = Line::read("", "e2e4,c7c5,h2h3,h7h6,a2a3,a7a6,b2b3").unwrap();
        assert_eq!(of(line.last()), None);
        assert!(
            of_line(line.positions())
                .unwrap()
                .name
                .starts_with("Sicilian Defense")
        );
        assert_eq!(of_line(&[Chess::default()]), None);
    }

    #[test]
    fn transpositions_have_the_same_name() {
        let one = Line::read("", "d2d4,g8f6,c2c4,e7e6,g2g3").unwrap();
        let other = Line::read("", "c2c4,e7e6,g2g3,g8f6,d2d4").unwrap();
        assert!(of(one.last()).is_some());
        assert_eq!(of(one.last()), of(other.last()));
    }
}
