//! Positions to be searched, as line and as board.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use tabia_notation as notation;

/// A `position` line and what it means.
#[derive(Clone)]
pub(super) struct Scene {
    /// The whole line.
    pub(super) line: String,
    /// The board to be searched.
    pub(super) board: Chess,
    /// How castling is written.
    pub(super) mode: CastlingMode,
}

impl Scene {
    /// After `moves` from the start position or a FEN; an error is a mistake
    /// of ours, which a test excludes.
    pub(super) fn new(
        fen: Option<&str>,
        moves: &str,
        mode: CastlingMode,
    ) -> Result<Self, &'static str> {
        let wrong = "the position of this step is wrong";
        let mut line = String::from("position ");
        let mut board = match fen {
            None => {
                line.push_str("startpos");
                Chess::default()
            }
            Some(fen) => {
                line.push_str("fen ");
                line.push_str(fen);
                notation::position(fen).map_err(|_| wrong)?
            }
        };
        if !moves.is_empty() {
            line.push_str(" moves ");
            line.push_str(moves);
        }
        for word in moves.split_ascii_whitespace() {
            let mv = notation::find_uci(&board, word.as_bytes()).ok_or(wrong)?;
            board.play_unchecked(mv);
        }
        Ok(Self { line, board, mode })
    }

    /// The move that a word means, if it is legal and written the way every program
    /// reads it.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in a user's words.
    pub(super) fn read_move(&self, word: &str) -> Result<Move, String> {
        read_move(&self.board, word, self.mode)
    }
}

/// The legal move that `word` means on `board`.
pub(super) fn read_move(board: &Chess, word: &str, mode: CastlingMode) -> Result<Move, String> {
    let lower = word.to_ascii_lowercase();
    let m: UciMove = lower
        .parse()
        .map_err(|_| format!("\"{word}\" is not a move"))?;
    let m = m
        .to_move(board)
        .map_err(|_| format!("{word} is not legal"))?;
    let usual = m.to_uci(mode).to_string();
    if usual == word {
        Ok(m)
    } else {
        Err(format!("{word} should be written {usual}"))
    }
}
