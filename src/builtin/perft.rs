//! `go perft N`: the positions after N plies, by the first move, as Stockfish prints them.

use shakmaty::{Chess, Position};

use super::control::Control;
use super::output::Output;
use super::search::{NO_POSITION, SearchJob};
use tabia_notation as notation;

/// Counts and prints. There is no `bestmove`; `stop` ends it without a sum.
pub(super) fn count(job: &SearchJob, output: &Output) {
    let Some(board) = &job.board else {
        return output.line(NO_POSITION);
    };
    let plies = job.go.perft.unwrap_or(1).max(1);
    let mut sum: u64 = 0;
    for mv in board.now().legal_moves() {
        let after = notation::after(board.now(), mv);
        let Some(count) = positions(&after, plies - 1, &job.control) else {
            return output.line("info string perft stopped");
        };
        sum += count;
        output.line(&format!("{}: {count}", mv.to_uci(job.castling)));
    }
    output.line(&format!("Nodes searched: {sum}"));
}

/// The number of positions after so many plies; `None` if it has to end before.
fn positions(from: &Chess, plies: i64, control: &Control) -> Option<u64> {
    if plies == 0 {
        return Some(1);
    }
    let legal = from.legal_moves();
    if plies == 1 {
        return Some(legal.len() as u64);
    }
    if control.must_end() {
        return None;
    }
    let mut counts = legal.into_iter();
    counts.try_fold(0_u64, |sum, mv| {
        let count = positions(&notation::after(from, mv), plies - 1, control)?;
        Some(sum.saturating_add(count))
    })
}
