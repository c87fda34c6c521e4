//! A tiny UCI engine that plays the first legal move, and on request gets one
//! thing wrong: a stand-in for the engines of this world in tests.
//!
//! `odd_engine [FAULT]`; see `main` for the faults.

use std::io::{BufRead, Write};
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

struct Engine {
    fault: String,
    board: Chess,
    /// A search waits for `stop` or `ponderhit`.
    held: bool,
    searches: u32,
    moves_asked: Vec<String>,
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A checker that has had enough closes the pipe.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn sleep_forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn main() {
    let mut engine = Engine {
        fault: std::env::args().nth(1).unwrap_or_default(),
        board: Chess::default(),
        held: false,
        searches: 0,
        moves_asked: Vec::new(),
    };
    match &*engine.fault {
        "hangs-at-start" => sleep_forever(),
        "dies-at-start" => std::process::exit(3),
        "babbles" => loop {
            say("\u{7}\u{1b}[2J nothing to do with chess");
        },
        "endless-line" => {
            let chunk = [b'x'; 1 << 16];
            let mut out = std::io::stdout().lock();
            while out.write_all(&chunk).is_ok() {}
            return;
        }
        _ => {}
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        engine.command(&line);
    }
    if engine.fault == "ignores-end-of-input" {
        sleep_forever();
    }
}

impl Engine {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn command(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("uci") => {
                say("id name Odd");
                say("id author nobody");
                say("option name Ponder type check default false");
                if self.has("bad-options") {
                    say("option name Hash type spin default 5 min 10 max 20");
                    say("option name ponder type check default false");
                }
                if self.has("blank-default") {
                    say("option name Path type string default ");
                }
                say("uciok");
            }
            Some("isready") => {
                if self.held && self.has("deaf-in-search") {
                    return;
                }
                say("readyok");
                if self.has("ready-twice") {
                    say("readyok");
                }
            }
            Some("setoption") if self.has("dies-on-options") => std::process::exit(1),
            Some("position") => self.position(words),
            Some("go") => self.go(words),
            Some("stop" | "ponderhit") if self.held && !self.has("ignores-stop") => {
                self.held = false;
                self.answer();
            }
            Some("quit") => match &*self.fault {
                "ignores-quit" => {}
                "fails-on-quit" => std::process::exit(7),
                _ => std::process::exit(0),
            },
            _ => {}
        }
    }

    fn position<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) {
        let mut board = Chess::default();
        if words.next() == Some("fen") {
            let fields: Vec<_> = words.by_ref().take(6).collect();
            let fen: Fen = fields.join(" ").parse().expect("a FEN");
            board = fen.into_position(CastlingMode::Standard).expect("a board");
        }
        for word in words.filter(|&word| word != "moves") {
            let m: UciMove = word.parse().expect("a move");
            board.play_unchecked(m.to_move(&board).expect("a legal move"));
        }
        self.board = board;
    }

    fn go<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        self.searches += 1;
        let words: Vec<_> = words.collect();
        self.moves_asked = words
            .iter()
            .skip_while(|&&word| word != "searchmoves")
            .skip(1)
            .map(|&word| word.to_owned())
            .collect();
        match &*self.fault {
            "dies-in-search" if self.searches == 2 => std::process::exit(9),
            "hangs-in-search" => return,
            "floods" => loop {
                say("info depth 1 score cp 0");
            },
            _ => {}
        }
        self.held = words.contains(&"infinite") || words.contains(&"ponder");
        if self.held && self.has("answers-too-early") {
            self.held = false;
        }
        if !self.held {
            self.answer();
        }
    }

    fn answer(&self) {
        let asked = &self.moves_asked;
        let m = self
            .board
            .legal_moves()
            .into_iter()
            .map(|m| m.to_uci(CastlingMode::Standard).to_string())
            .find(|m| asked.is_empty() || asked.contains(m) || self.has("ignores-searchmoves"));
        let Some(m) = m else {
            say("bestmove (none)");
            return;
        };
        match &*self.fault {
            "bad-info" => say("info depth 1 score 35"),
            "silent" => {}
            "wrong-pv" => say(&format!("info depth 1 score cp 0 pv {m} {m}")),
            _ => say(&format!("info depth 1 score cp 0 nodes 1 pv {m}")),
        }
        match &*self.fault {
            "illegal-move" => say("bestmove e2e5"),
            "shouts" => say(&format!("bestmove {}", m.to_uppercase())),
            "answers-twice" => {
                say(&format!("bestmove {m}"));
                say(&format!("bestmove {m}"));
            }
            _ => say(&format!("bestmove {m}")),
        }
    }
}
