//! The position that a command is about: a FEN and moves from there.

use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, EnPassantMode, Move, Position as _, fen::Fen};

use crate::session::from_fen;

/// A position and how it was reached.
#[derive(Clone, Debug, Default)]
pub(super) struct Reached {
    /// The position asked for.
    pub(super) position: Chess,
    /// Where the moves began.
    pub(super) start: Chess,
    /// The moves.
    pub(super) moves: Vec<Move>,
    /// The positions before each of the moves.
    pub(super) before: Vec<Chess>,
}

/// Reads a FEN (the start position if there is none) and plays moves, as
/// "e2e4 c7c5" or "1. e4 c5".
pub(super) fn reach(fen: &str, moves: &str) -> Result<Reached, String> {
    let start = match fen.trim() {
        "" | "startpos" => Chess::default(),
        fen => from_fen(fen)?,
    };
    let mut reached = Reached {
        position: start.clone(),
        start,
        ..Reached::default()
    };
    let words = moves
        .split_whitespace()
        .map(without_number)
        .filter(|word| !word.is_empty());
    for (index, word) in words.enumerate() {
        let Some(mv) = find(&reached.position, word) else {
            return Err(format!("move {} ({word}) is not legal", index + 1));
        };
        reached.before.push(reached.position.clone());
        reached.moves.push(mv);
        reached.position.play_unchecked(mv);
    }
    Ok(reached)
}

/// "1.e4" and "1...c5" without their numbers.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix('.') {
        Some(rest) => rest.trim_start_matches('.'),
        None if rest.is_empty() => "",
        None => word,
    }
}

fn find(position: &Chess, word: &str) -> Option<Move> {
    let uci = word.parse::<UciMove>().ok();
    uci.and_then(|mv| mv.to_move(position).ok()).or_else(|| {
        let san = word.trim_end_matches(['!', '?', '+', '#']);
        san.parse::<San>().ok()?.to_move(position).ok()
    })
}

/// The FEN of a position, en passant only where it is legal.
pub(super) fn fen_of(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// Moves in algebraic notation with their numbers: "1. e4 c5 2. Nf3".
pub(super) fn line_of(start: &Chess, moves: &[Move]) -> String {
    let mut position = start.clone();
    let mut text = String::new();
    for (index, &mv) in moves.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if position.turn() == Color::White || index == 0 {
            text.push_str(&numbered(&position));
            text.push(' ');
        }
        text.push_str(&shakmaty::san::SanPlus::from_move(position.clone(), mv).to_string());
        position.play_unchecked(mv);
    }
    text
}

/// The number of the move to be played: "3." or "3...".
pub(super) fn numbered(position: &Chess) -> String {
    let dots = if position.turn() == Color::White {
        "."
    } else {
        "..."
    };
    format!("{}{dots}", position.fullmoves())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_read_in_both_notations() {
        for moves in ["e2e4 c7c5 g1f3", "1. e4 c5 2. Nf3", "1.e4! 1...c5 2.Nf3"] {
            let reached = reach("", moves).unwrap();
            assert_eq!(line_of(&reached.start, &reached.moves), "1. e4 c5 2. Nf3");
            assert_eq!(reached.before.len(), 3);
        }
        let error = reach("", "e4 Ke7").unwrap_err();
        assert_eq!(error, "move 2 (Ke7) is not legal");
    }
}
