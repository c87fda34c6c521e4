//! The rules of the games, and their clocks.

use std::collections::HashMap;
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position};

use test_programs::engine::uci;

/// The current game.
pub(crate) struct Game {
    pub(crate) start: Chess,
    pub(crate) board: Chess,
    pub(crate) moves: Vec<Move>,
    seen: HashMap<Zobrist64, u32>,
    /// The `position` command for the engines.
    pub(crate) position: String,
}

impl Game {
    pub(crate) fn new(start: &Chess) -> Game {
        let mut game = Game {
            start: start.clone(),
            board: start.clone(),
            moves: Vec::new(),
            seen: HashMap::new(),
            position: match *start == Chess::default() {
                true => "position startpos".to_owned(),
                false => format!(
                    "position fen {}",
                    Fen::from_position(start, EnPassantMode::Legal)
                ),
            },
        };
        game.count_position();
        game
    }

    fn hash(&self) -> Zobrist64 {
        self.board.zobrist_hash(EnPassantMode::Legal)
    }

    fn count_position(&mut self) {
        *self.seen.entry(self.hash()).or_default() += 1;
    }

    /// A legal move in UCI notation, with castling written either way.
    pub(crate) fn read(&self, text: &str) -> Option<Move> {
        text.parse::<UciMove>().ok()?.to_move(&self.board).ok()
    }

    pub(crate) fn play(&mut self, m: Move) {
        let before = if self.moves.is_empty() {
            " moves "
        } else {
            " "
        };
        self.position.push_str(before);
        self.position.push_str(&uci(m));
        self.board.play_unchecked(m);
        self.moves.push(m);
        self.count_position();
    }

    /// By the rules of chess, including draws that a player may claim.
    pub(crate) fn is_over(&self) -> bool {
        self.board.is_game_over() || self.board.halfmoves() >= 100 || self.seen[&self.hash()] >= 3
    }
}

/// The clocks of White and Black as in a `go`.
pub(crate) fn clocks(left: [Duration; 2], increment: Duration) -> String {
    // Some engines read zero as no clock.
    let [white, black] = left.map(|left| left.as_millis().max(1));
    let increment = increment.as_millis();
    format!("wtime {white} btime {black} winc {increment} binc {increment}")
}
