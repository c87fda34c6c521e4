//! A small engine that uses its clock: it captures if possible, else plays any move. Its
//! evaluation of a move comes from the position after it.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position};
use test_programs::engine::{Search, lines_of_input, position, send, uci};

pub(crate) fn run() {
    let lines = lines_of_input();
    let mut board = Chess::default();
    let mut search = Search::None;
    let mut only = Vec::new();
    loop {
        let line = match search.next_line(&lines) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => "stop".to_owned(),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["uci"] => send(
                "id name Small\nid author nobody\noption name Hash type spin default 1 min 1 max 9\noption name Ponder type check default false\nuciok",
            ),
            ["isready"] => send("readyok"),
            ["position", rest @ ..] => board = position(rest),
            ["go", rest @ ..] => {
                let searchmoves = rest.iter().skip_while(|word| **word != "searchmoves");
                let searchmoves = searchmoves
                    .skip(1)
                    .filter_map(|word| word.parse::<UciMove>().ok());
                only = searchmoves.filter_map(|m| m.to_move(&board).ok()).collect();
                search = if rest.contains(&"infinite") || rest.contains(&"ponder") {
                    Search::Waiting
                } else {
                    Search::Until(Instant::now() + time_for_move(rest, &board))
                };
            }
            ["stop" | "ponderhit"] if !matches!(search, Search::None) => {
                search = Search::None;
                answer(&board, &only);
            }
            ["quit"] => return,
            _ => {}
        }
    }
}

/// Time for a move: a thirtieth of the clock, at most six milliseconds.
fn time_for_move(words: &[&str], board: &Chess) -> Duration {
    let clock = if board.turn().is_white() {
        "wtime"
    } else {
        "btime"
    };
    let after = |name: &str| -> Option<u64> {
        let number = words.iter().skip_while(|word| **word != name).nth(1)?;
        number.parse().ok()
    };
    let own = after("movetime").unwrap_or(after(clock).unwrap_or(100) / 30);
    Duration::from_millis(own.min(6))
}

fn answer(board: &Chess, only: &[Move]) {
    let Some(m) = only.first().copied().or_else(|| choose(board)) else {
        return send("bestmove (none)");
    };
    let mut next = board.clone();
    next.play_unchecked(m);
    let hash: Zobrist64 = next.zobrist_hash(EnPassantMode::Legal);
    let value = i64::try_from(hash.0 % 201).unwrap_or(0) - 100;
    let info = format!("info depth 1 score cp {value} nodes 1 pv {}", uci(m));
    match choose(&next) {
        Some(reply) => send(&format!(
            "{info}\nbestmove {} ponder {}",
            uci(m),
            uci(reply)
        )),
        None => send(&format!("{info}\nbestmove {}", uci(m))),
    }
}

/// Chooses mate, else the capture of the most valuable piece, else a move by the hash of
/// the position: the same each time.
fn choose(board: &Chess) -> Option<Move> {
    let moves = board.legal_moves();
    let mates = |m: &Move| {
        let mut next = board.clone();
        next.play_unchecked(*m);
        next.is_checkmate()
    };
    if let Some(m) = moves.iter().find(|m| mates(m)) {
        return Some(*m);
    }
    let hash: Zobrist64 = board.zobrist_hash(EnPassantMode::Legal);
    let start = usize::try_from(hash.0 >> 33).unwrap_or(0) % moves.len().max(1);
    let taken = |m: &Move| m.capture().map_or(0, |role| role as u32);
    let best = moves.iter().map(taken).max()?;
    let order = moves.iter().cycle().skip(start).take(moves.len());
    order.copied().find(|m| taken(m) == best)
}
