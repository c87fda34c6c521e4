//! A tiny UCI engine that plays the first legal move and has one fault if requested. It
//! imitates the faults of real engines.
//!
//! `odd_engine [FAULT]`; see `main` for the faults.

use std::io::{BufRead, Write};
use std::time::Duration;

use shakmaty::{Chess, Position};
use test_programs::engine::{position, send, uci};

struct Engine {
    fault: String,
    board: Chess,
    /// Whether a search waits for `stop` or `ponderhit`.
    is_waiting: bool,
    searches: u32,
    searchmoves: Vec<String>,
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
        is_waiting: false,
        searches: 0,
        searchmoves: Vec::new(),
    };
    match &*engine.fault {
        "hangs-at-start" => sleep_forever(),
        "dies-at-start" => std::process::exit(3),
        "babbles" => loop {
            send("\u{7}\u{1b}[2J nothing to do with chess");
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
                send("id name Odd");
                send("id author nobody");
                send("option name Ponder type check default false");
                if self.has("bad-options") {
                    send("option name Hash type spin default 5 min 10 max 20");
                    send("option name ponder type check default false");
                }
                if self.has("blank-default") {
                    send("option name Path type string default ");
                }
                send("uciok");
            }
            "isready" => {
                if self.is_waiting && self.has("deaf-in-search") {
                    return;
                }
                send("readyok");
                if self.has("ready-twice") {
                    send("readyok");
                }
            }
            "setoption" if self.has("dies-on-options") => std::process::exit(1),
            "position" => self.board = position(words),
            "go" => self.go(words),
            "stop" | "ponderhit" if self.is_waiting && !self.has("ignores-stop") => {
                self.is_waiting = false;
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
        self.searchmoves = words
            .iter()
            .skip_while(|&&word| word != "searchmoves")
            .skip(1)
            .map(|&word| word.to_owned())
            .collect();
        match &*self.fault {
            "dies-in-search" if self.searches == 2 => std::process::exit(9),
            "hangs-in-search" => return,
            "floods" => loop {
                send("info depth 1 score cp 0");
            },
            _ => {}
        }
        self.is_waiting = words.contains(&"infinite") || words.contains(&"ponder");
        if self.is_waiting && self.has("answers-too-early") {
            self.is_waiting = false;
        }
        if !self.is_waiting {
            self.answer();
        }
    }

    fn answer(&self) {
        let searchmoves = &self.searchmoves;
        let m = self.board.legal_moves().into_iter().map(uci).find(|m| {
            searchmoves.is_empty() || searchmoves.contains(m) || self.has("ignores-searchmoves")
        });
        let Some(m) = m else {
            send("bestmove (none)");
            return;
        };
        match &*self.fault {
            "bad-info" => send("info depth 1 score 35"),
            "silent" => {}
            "wrong-pv" => send(&format!("info depth 1 score cp 0 pv {m} {m}")),
            _ => send(&format!("info depth 1 score cp 0 nodes 1 pv {m}")),
        }
        match &*self.fault {
            "illegal-move" => send("bestmove e2e5"),
            "shouts" => send(&format!("bestmove {}", m.to_uppercase())),
            "answers-twice" => {
                send(&format!("bestmove {m}"));
                send(&format!("bestmove {m}"));
            }
            _ => send(&format!("bestmove {m}")),
        }
    }
}
