//! UCI on the side of an engine.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

use crate::odd::{OddEngine, Then};

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

/// Is this engine, to the end of its input.
pub fn run(mut engine: OddEngine) {
    act(engine.start());
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        act(engine.command(&line, &mut |line| send(line)));
    }
    act(engine.end_of_input());
}

/// Returns if the engine reads on.
fn act(then: Then) {
    match then {
        Then::Reads => {}
        Then::Ends(code) => std::process::exit(code),
        Then::Hangs => loop {
            // Until it is killed.
            std::thread::park();
        },
        Then::Repeats(line) => loop {
            send(line);
        },
        Then::EndlessLine => {
            let chunk = [b'x'; 1 << 16];
            let mut out = io::stdout().lock();
            while out.write_all(&chunk).is_ok() {}
            std::process::exit(0);
        }
    }
}

/// The engine of an example in documentation, which has no other program to start: the example
/// itself, started again with the argument `engine`. Then this call does not return.
pub fn this_program() -> PathBuf {
    if std::env::args().nth(1).is_some() {
        run(OddEngine::new("thinks-aloud"));
    }
    std::env::current_exe().expect("a program has a path")
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
