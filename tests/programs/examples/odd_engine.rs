//! A tiny UCI engine that plays the first legal move and has one fault if requested. It
//! imitates the faults of real engines.
//!
//! `odd_engine [FAULT]`; see `main` for the faults.

use std::io::{BufRead, Write};
use std::time::Duration;

use shakmaty::{Chess, Position};
use test_programs::engine::{position, say, uci};

struct Engine {
    fault: String,
    board: Chess,
    /// Whether a search waits for `stop` or `ponderhit`.
    held: bool,
    searches: u32,
    moves_asked: Vec<String>,
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
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some((first, words)) = words.split_first() else {
            return;
        };
        match *first {
            "uci" => {
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
            "isready" => {
                if self.held && self.has("deaf-in-search") {
                    return;
                }
                say("readyok");
                if self.has("ready-twice") {
                    say("readyok");
                }
            }
            "setoption" if self.has("dies-on-options") => std::process::exit(1),
            "position" => self.board = position(words),
            "go" => self.go(words),
            "stop" | "ponderhit" if self.held && !self.has("ignores-stop") => {
                self.held = false;
                self.answer();
            }
            "quit" => match &*self.fault {
                "ignores-quit" => {}
                "fails-on-quit" => std::process::exit(7),
                _ => std::process::exit(0),
            },
            _ => {}
        }
    }

    fn go(&mut self, words: &[&str]) {
        self.searches += 1;
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
            .map(uci)
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
