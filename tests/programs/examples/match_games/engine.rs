//! A small engine that uses its clock: takes what it can, else any move. What it
//! thinks of a move comes from the position after it.

use std::io::{BufRead, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(format!("{text}\n").as_bytes());
    if written.and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// A search under way: until when, or until it is told.
enum Search {
    None,
    Held,
    Until(Instant),
}

pub(crate) fn run() {
    let (to_lines, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if to_lines.send(line).is_err() {
                return;
            }
        }
    });
    let mut board = Chess::default();
    let mut search = Search::None;
    let mut only = Vec::new();
    loop {
        let left = match search {
            Search::Until(end) => end.saturating_duration_since(Instant::now()),
            _ => Duration::from_secs(3600),
        };
        let line = match lines.recv_timeout(left) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => "stop".to_owned(),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["uci"] => say(
                "id name Small\nid author nobody\noption name Hash type spin default 1 min 1 max 9\noption name Ponder type check default false\nuciok",
            ),
            ["isready"] => say("readyok"),
            ["position", "startpos", rest @ ..] => board = position(rest),
            ["go", rest @ ..] => {
                let asked = rest.iter().skip_while(|word| **word != "searchmoves");
                let asked = asked
                    .skip(1)
                    .filter_map(|word| word.parse::<UciMove>().ok());
                only = asked.filter_map(|m| m.to_move(&board).ok()).collect();
                search = if rest.contains(&"infinite") || rest.contains(&"ponder") {
                    Search::Held
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

fn position(words: &[&str]) -> Chess {
    let mut board = Chess::default();
    for word in words.iter().skip(1) {
        let m = word
            .parse::<UciMove>()
            .ok()
            .and_then(|m| m.to_move(&board).ok());
        board.play_unchecked(m.expect("a legal move"));
    }
    board
}

/// Some of the clock, never much: a thirtieth, at most six milliseconds.
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
    let uci = |m: Move| m.to_uci(CastlingMode::Standard).to_string();
    let Some(m) = only.first().copied().or_else(|| choose(board)) else {
        return say("bestmove (none)");
    };
    let mut next = board.clone();
    next.play_unchecked(m);
    let hash: Zobrist64 = next.zobrist_hash(EnPassantMode::Legal);
    let value = i64::try_from(hash.0 % 201).unwrap_or(0) - 100;
    let info = format!("info depth 1 score cp {value} nodes 1 pv {}", uci(m));
    match choose(&next) {
        Some(reply) => say(&format!(
            "{info}\nbestmove {} ponder {}",
            uci(m),
            uci(reply)
        )),
        None => say(&format!("{info}\nbestmove {}", uci(m))),
    }
}

/// Mate, else the dearest man that can be taken, else what the position's
/// hash says: the same each time.
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
