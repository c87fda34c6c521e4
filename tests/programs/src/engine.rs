//! UCI on the side of an engine.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

/// Writes a text without a line end. Ends the program if the output is closed.
pub fn write(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes());
    if written.and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Writes a line.
pub fn send(line: &str) {
    write(&format!("{line}\n"));
}

/// Returns the lines as they come, so that a search can be interrupted.
pub fn lines_of_input() -> Receiver<String> {
    let (to_lines, lines) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            if to_lines.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The current search.
pub enum Search {
    None,
    /// Until `stop` or `ponderhit`.
    Waiting,
    Until(Instant),
}

impl Search {
    /// Waits for the next line, or until the time of the search is up.
    pub fn next_line(&self, lines: &Receiver<String>) -> Result<String, RecvTimeoutError> {
        lines.recv_timeout(match self {
            Search::Until(end) => end.saturating_duration_since(Instant::now()),
            Search::None | Search::Waiting => Duration::MAX,
        })
    }
}

/// The position from the words after `position`.
pub fn position(words: &[&str]) -> Chess {
    let (mut board, moves) = match words {
        ["fen", rest @ ..] => {
            let fen: Fen = rest[..6].join(" ").parse().expect("a FEN");
            let board = fen.into_position(CastlingMode::Standard);
            (board.expect("a board"), &rest[6..])
        }
        rest => (Chess::default(), &rest[1.min(rest.len())..]),
    };
    for word in moves.iter().filter(|word| **word != "moves") {
        let m: UciMove = word.parse().expect("a move");
        board.play_unchecked(m.to_move(&board).expect("a legal move"));
    }
    board
}

/// A move in UCI notation.
pub fn uci(m: shakmaty::Move) -> String {
    m.to_uci(CastlingMode::Standard).to_string()
}
