//! The position that the GUI's `position` lines describe.

use std::collections::VecDeque;

use shakmaty::fen::Fen;
use shakmaty::{Castles, CastlingMode, Chess, EnPassantMode, File, Move, Position};

use tabia_notation as notation;
use tabia_uci::gui;

/// Greatest number of plies of history: after a hundred plies without capture or pawn
/// move, every further quiet move is a draw. The limit also fits long games into the 1024
/// positions of littlewing.
const MAX_HISTORY: usize = 100;

/// A position and the moves since the last irreversible one, for draws by repetition.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    now: Chess,
    base: Chess,
    since_base: VecDeque<Move>,
}

impl Board {
    /// Reads a `position` line.
    ///
    /// # Errors
    ///
    /// What is wrong. After an illegal move the position is unknown.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let read = gui::position(line).ok_or("position: neither startpos nor fen")?;
        let start = match &read.fen {
            None => Chess::default(),
            Some(fen) if fen.is_empty() => return Err("position: the FEN is missing".to_owned()),
            Some(fen) => notation::position(fen).map_err(|error| format!("position: {error}"))?,
        };
        let mut board = Self {
            now: start.clone(),
            base: start,
            since_base: VecDeque::new(),
        };
        for word in gui::moves(read.moves) {
            let m = notation::find_uci(&board.now, word.as_bytes());
            board.play(m.ok_or_else(|| format!("position: {word:?} is not a legal move"))?);
        }
        Ok(board)
    }

    fn play(&mut self, m: Move) {
        let irreversible = self.now.is_irreversible(m);
        self.now.play_unchecked(m);
        if irreversible {
            self.base.clone_from(&self.now);
            self.since_base.clear();
            return;
        }
        self.since_base.push_back(m);
        if self.since_base.len() > MAX_HISTORY
            && let Some(oldest) = self.since_base.pop_front()
        {
            self.base.play_unchecked(oldest);
        }
    }

    /// The position to be searched.
    pub(super) fn now(&self) -> &Chess {
        &self.now
    }

    /// The position after the last irreversible move, for littlewing.
    pub(super) fn base_fen(&self) -> String {
        fen_for_search(&self.base)
    }

    /// The moves from there to the present position.
    pub(super) fn since_base(&self) -> impl Iterator<Item = String> {
        self.since_base
            .iter()
            .map(|m| m.to_uci(CastlingMode::Standard).to_string())
    }
}

/// A position as a FEN for littlewing: it stores both counters in a byte, and knows the
/// castling of ordinary chess only. So the rights of other kings and rooks are left out:
/// their castling is a move at the root, and none below it.
pub(super) fn fen_for_search(position: &Chess) -> String {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    let rights = Castles::from_setup(&setup, CastlingMode::Standard);
    setup.castling_rights = rights.unwrap_or_else(|rights| rights).castling_rights();
    setup.halfmoves = setup.halfmoves.min(100);
    setup.fullmoves = std::num::NonZeroU32::MIN;
    Fen::try_from_setup(setup)
        .unwrap_or_else(|lossy| lossy.ignore())
        .to_string()
}

/// Whether littlewing can play a move: it knows the castling of ordinary chess only.
pub(super) fn is_ordinary(m: Move) -> bool {
    match m {
        Move::Castle { king, rook } => {
            king.file() == File::E && matches!(rook.file(), File::A | File::H)
        }
        Move::Normal { .. } | Move::EnPassant { .. } | Move::Put { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(line: &str) -> Result<Board, String> {
        Board::parse(format!("position {line}").as_bytes())
    }

    fn fen(line: &str) -> String {
        notation::fen(&board(line).unwrap().now)
    }

    #[test]
    fn castling_is_read_in_both_notations() {
        let before = "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
        let after = "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1";
        assert_eq!(fen(&format!("{before} moves e1g1")), after);
        assert_eq!(fen(&format!("{before} 0 1 moves e1h1")), after);
    }

    #[test]
    fn promotion_letters_may_be_upper_case() {
        let line = "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8Q";
        assert_eq!(fen(line), "Q7/7k/8/8/8/8/8/K7 b - - 0 1");
    }

    #[test]
    fn invalid_position_commands_are_reported() {
        let problem = board("startpos moves e2e4 e2e4 d7d5").unwrap_err();
        assert!(problem.contains("e2e4"), "{problem}");
        for line in [
            "",
            "nowhere",
            "fen",
            "fen 8/8/8/8/8/8/8/8 w - - 0 1",
            "fen k7/8/8/8/8/8/8/K6x w - - 0 1",
            "fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        ] {
            assert!(board(line).is_err(), "{line}");
        }
    }

    #[test]
    fn history_starts_at_the_last_irreversible_move() {
        let kept = board("startpos moves e2e4 e7e5 g1f3 b8c6 f3g1 c6b8").unwrap();
        assert_eq!(kept.since_base().count(), 4);
        assert!(kept.base_fen().starts_with("rnbqkbnr/pppp1ppp/8/4p3/4P3"));
    }

    #[test]
    fn a_long_game_without_progress_has_a_bounded_history() {
        let line = format!("startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(2000));
        let kept = board(&line).unwrap();
        assert_eq!(kept.since_base().count(), MAX_HISTORY);
        assert!(kept.base_fen().ends_with(" 100 1"), "{}", kept.base_fen());
    }
}
