//! A tiny UCI engine that plays the first legal move and has one fault if requested. It
//! imitates the faults of real engines. It does no input or output, so that it runs as a
//! process (`engine::run`) and inside of a test.

use shakmaty::{Chess, Position};

use crate::engine::{position, uci};

/// What the engine does after it has reacted to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Reads the next line.
    Reads,
    /// Ends with this exit code.
    Ends(i32),
    /// Neither reads nor writes any more.
    Hangs,
    /// Prints this line for ever.
    Repeats(&'static str),
    /// Prints a line that never ends.
    EndlessLine,
}

/// The engine's state.
#[derive(Debug)]
pub struct OddEngine {
    fault: String,
    board: Chess,
    /// Whether a search waits for `stop` or `ponderhit`.
    is_waiting: bool,
    searches: u32,
    searchmoves: Vec<String>,
    /// The value of `MultiPV`.
    lines: usize,
}

impl OddEngine {
    /// `fault` is a name from `check-engine`'s tests; without one the engine is sound.
    #[must_use]
    pub fn new(fault: &str) -> OddEngine {
        OddEngine {
            fault: fault.to_owned(),
            board: Chess::default(),
            is_waiting: false,
            searches: 0,
            searchmoves: Vec::new(),
            lines: 1,
        }
    }

    /// What it does before it has read anything.
    #[must_use]
    pub fn start(&self) -> Then {
        match &*self.fault {
            "hangs-at-start" => Then::Hangs,
            "dies-at-start" => Then::Ends(3),
            "babbles" => Then::Repeats("\u{7}\u{1b}[2J nothing to do with chess"),
            "endless-line" => Then::EndlessLine,
            _ => Then::Reads,
        }
    }

    /// What it does at the end of its input.
    #[must_use]
    pub fn end_of_input(&self) -> Then {
        match self.has("ignores-end-of-input") {
            true => Then::Hangs,
            false => Then::Ends(0),
        }
    }

    /// Reacts to lines that come at once: `send` gets the lines of the answers.
    pub fn read(&mut self, text: &str, send: &mut dyn FnMut(&str)) -> Then {
        let is_early = |line: &str| matches!(line, "stop" | "ponderhit");
        let mut lines = text.lines();
        let mut then = Then::Reads;
        while let Some(line) = lines.next().filter(|_| then == Then::Reads) {
            then = self.command(line.trim_end(), send);
            if self.is_waiting && self.has("loses-early-stop") && lines.clone().any(is_early) {
                then = Then::Hangs;
            }
        }
        then
    }

    /// Reacts to a line: `send` gets the lines of the answer.
    pub fn command(&mut self, line: &str, send: &mut dyn FnMut(&str)) -> Then {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some((first, words)) = words.split_first() else {
            return Then::Reads;
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
                if self.has_lines() {
                    send("option name MultiPV type spin default 1 min 1 max 9");
                }
                if self.has("chatty") {
                    (0..5).for_each(|_| send("hello"));
                }
                if self.has("blank-default") {
                    send("option name Path type string default ");
                }
                send("uciok");
            }
            "isready" => {
                if self.is_waiting && self.has("deaf-in-search") {
                    return Then::Reads;
                }
                send("readyok");
                if self.has("ready-twice") {
                    send("readyok");
                }
            }
            "setoption" if self.has("dies-on-options") => return Then::Ends(1),
            "setoption" => {
                if let ["name", "MultiPV", "value", value] = words {
                    self.lines = value.parse().unwrap_or(1);
                }
            }
            "position" => self.board = position(words),
            "go" => return self.go(words, send),
            "stop" | "ponderhit" if self.is_waiting && !self.has("ignores-stop") => {
                self.is_waiting = false;
                self.answer(send);
            }
            "quit" => match &*self.fault {
                "ignores-quit" => {}
                "fails-on-quit" => return Then::Ends(7),
                _ => return Then::Ends(0),
            },
            _ => {}
        }
        Then::Reads
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// `several-lines` is no fault; the others are faults of `MultiPV`.
    fn has_lines(&self) -> bool {
        matches!(&*self.fault, "several-lines" | "one-line" | "same-lines")
    }

    fn go(&mut self, words: &[&str], send: &mut dyn FnMut(&str)) -> Then {
        self.searches += 1;
        self.searchmoves = words
            .iter()
            .skip_while(|&&word| word != "searchmoves")
            .skip(1)
            .map(|&word| word.to_owned())
            .collect();
        match &*self.fault {
            "dies-in-search" if self.searches == 2 => return Then::Ends(9),
            "hangs-in-search" => return Then::Reads,
            "floods" => return Then::Repeats("info depth 1 score cp 0"),
            _ => {}
        }
        self.is_waiting = words.contains(&"infinite") || words.contains(&"ponder");
        if self.is_waiting && self.has("answers-too-early") {
            self.is_waiting = false;
        }
        if !self.is_waiting {
            self.answer(send);
        } else if self.has("thinks-aloud") {
            self.show(send);
        }
        Then::Reads
    }

    /// Sends the result of a search, and returns its move.
    fn show(&self, send: &mut dyn FnMut(&str)) -> Option<String> {
        let searchmoves = &self.searchmoves;
        let m = self.board.legal_moves().into_iter().map(uci).find(|m| {
            searchmoves.is_empty() || searchmoves.contains(m) || self.has("ignores-searchmoves")
        })?;
        let legal = self.board.legal_moves().into_iter().map(uci);
        match &*self.fault {
            "several-lines" | "same-lines" if self.lines > 1 => {
                for (n, other) in (1..=self.lines).zip(legal) {
                    let mv = if self.has("same-lines") { &m } else { &other };
                    send(&format!("info depth 1 multipv {n} score cp 0 pv {mv}"));
                }
            }
            "chatty" => (0..2).for_each(|_| send("hello")),
            "bad-info" => send("info depth 1 score 35"),
            "silent" => {}
            "wrong-pv" => send(&format!("info depth 1 score cp 0 pv {m} {m}")),
            _ => send(&format!("info depth 1 score cp 0 nodes 1 pv {m}")),
        }
        Some(m)
    }

    fn answer(&self, send: &mut dyn FnMut(&str)) {
        let Some(m) = self.show(send) else {
            send("bestmove (none)");
            return;
        };
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
