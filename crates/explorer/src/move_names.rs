//! The names of a move on the page.

use serde::Serialize;
use shakmaty::{Chess, Move, Position};

use tabia_notation::{self as notation, Line};

/// A move in both notations.
#[derive(Serialize)]
pub(super) struct MoveNames {
    uci: String,
    san: String,
}

impl MoveNames {
    pub(super) fn new((position, mv): (&Chess, Option<Move>)) -> MoveNames {
        MoveNames {
            uci: mv.map_or_else(|| notation::uci_or_null(None), |mv| uci(position, mv)),
            san: notation::san_or_null(position, mv),
        }
    }

    /// The names of successive moves.
    pub(super) fn of_moves(position: &Chess, moves: &[Move]) -> Vec<MoveNames> {
        let mut line = Line::from_start(position.clone());
        moves.iter().for_each(|&mv| line.push(mv));
        line.steps().map(MoveNames::new).collect()
    }
}

/// In Chess960 positions castling is written as the king taking the rook, because the
/// usual castling move of the king may be an ordinary move.
pub(super) fn uci(position: &Chess, mv: Move) -> String {
    mv.to_uci(position.castles().mode()).to_string()
}
