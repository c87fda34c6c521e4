//! A UCI engine that plays the first legal move and fails in one way at one
//! moment of the conversation: for tests of programs that use engines.
//!
//! `faulty_engine FAULT MOMENT`. The moments are `handshake` (at `uci`),
//! `idle` (`isready`), `in-book` (`position startpos`), `thinking` (`go` with
//! a clock), `pondering` (`go ponder`), `analysing` (`go infinite`), `after-stop` (`stop`)
//! and `quitting` (`quit`). The faults are in [`Engine::fail`].
//!
//! It appends lines to the file `FAULTY_ENGINE_NOTES`: `process N` for its own
//! process and each that it starts, `fault` when it begins to fail, `stop after N`
//! with the number of lines of its flood so far.
//! `FAULTY_ENGINE_FLOOD` is the number of lines of a flood.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use shakmaty::{Chess, Position};
use test_programs::engine::{Search, lines_of_input, position, send, uci, write};

/// Duration of a search with a clock.
const THINKS: Duration = Duration::from_millis(30);

/// How long a search takes to begin.
const BEGINS: Duration = Duration::from_millis(5);

fn main() {
    let mut args = std::env::args().skip(1);
    let notes = std::env::var_os("FAULTY_ENGINE_NOTES");
    let before = notes
        .as_ref()
        .and_then(|path| fs::read_to_string(path).ok())
        .unwrap_or_default();
    let mut engine = Engine {
        fault: args.next().unwrap_or_default(),
        moment: args.next().unwrap_or_default(),
        failed_before: before.lines().any(|line| line == "fault"),
        notes: notes.and_then(|path| File::options().append(true).create(true).open(path).ok()),
        board: Chess::default(),
        search: Search::None,
        failing: false,
        silent: false,
        begins: None,
        written: Arc::default(),
    };
    engine.note(&format!("process {}", std::process::id()));
    engine.work(&lines_of_input());
    if engine.failing && engine.fault == "ignores-quit" {
        sleep_forever();
    }
}

struct Engine {
    fault: String,
    moment: String,
    /// Whether an earlier process of this engine has failed.
    failed_before: bool,
    notes: Option<File>,
    board: Chess,
    search: Search,
    /// Whether it has begun to fail.
    failing: bool,
    silent: bool,
    /// When its search begins, if it has not: until then it loses a `stop` or `ponderhit`.
    begins: Option<Instant>,
    /// Number of flood lines written so far.
    written: Arc<AtomicUsize>,
}

fn sleep_forever() -> ! {
    loop {
        std::thread::park();
    }
}

impl Engine {
    fn note(&mut self, text: &str) {
        if let Some(notes) = &mut self.notes {
            let _ = notes.write_all(format!("{text}\n").as_bytes());
        }
    }

    fn work(&mut self, lines: &Receiver<String>) {
        loop {
            let next = match self.begins {
                Some(at) => Search::Until(at).next_line(lines),
                None => self.search.next_line(lines),
            };
            let line = match next {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if self.begins.take().is_some() => {
                    send("info depth 1 score cp 0 nodes 1");
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.best_move();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.command(&line);
        }
    }

    fn command(&mut self, line: &str) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let moment = match words.as_slice() {
            ["uci"] => "handshake",
            ["isready"] => "idle",
            ["position", "startpos"] => "in-book",
            ["go", "ponder", ..] => "pondering",
            // A search that began as pondering may be repeated without `ponder`.
            ["go", "wtime", ..] if self.failed_before && self.moment == "pondering" => "pondering",
            ["go", "wtime", ..] => "thinking",
            ["go", "infinite"] => "analysing",
            ["stop"] => "after-stop",
            ["quit"] => "quitting",
            _ => "",
        };
        if moment == "after-stop" {
            let written = self.written.load(Ordering::Relaxed);
            self.note(&format!("stop after {written}"));
        }
        if moment == self.moment {
            self.fail(moment);
        }
        if self.silent && moment != "quitting" {
            return;
        }
        self.answer(&words);
    }

    /// Shows its fault.
    fn fail(&mut self, moment: &str) {
        let first = !self.failing;
        self.failing = true;
        if first {
            self.note("fault");
        }
        match self.fault.as_str() {
            // Slow, but within every limit of the adapter.
            "late" => std::thread::sleep(Duration::from_millis(150)),
            "silent" => self.silent = true,
            "hangs" => sleep_forever(),
            "floods" if first => self.flood(),
            "crashes" => std::process::exit(9),
            "crashes-once" if !self.failed_before => std::process::exit(9),
            "closes-output" if !self.failed_before => close_output(),
            "no-newline" => {
                write(match moment {
                    "handshake" => "id name Faulty\nuciok",
                    "idle" => "readyok",
                    "thinking" | "after-stop" => "bestmove a7a6",
                    _ => "info depth 1",
                });
                self.silent = true;
            }
            "forks" if first => self.fork(),
            "forks-and-dies" if !self.failed_before => {
                self.fork();
                std::process::exit(9);
            }
            // Answers without a command.
            "answers-twice" if first => match moment {
                "idle" | "in-book" => send("bestmove a7a6\nreadyok"),
                "handshake" => send("uciok\nbestmove a7a6"),
                _ => {}
            },
            "plays-illegal" if first => match moment {
                "handshake" => send("option name\noption name x type y\nbestmove e2e5"),
                "idle" | "in-book" => send("bestmove e2e5"),
                _ => {}
            },
            _ => {}
        }
    }

    /// Starts a process that keeps our output open.
    fn fork(&mut self) {
        let child = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .spawn();
        if let Ok(child) = child {
            self.note(&format!("process {}", child.id()));
        }
    }

    fn flood(&self) {
        let lines = std::env::var("FAULTY_ENGINE_FLOOD").ok();
        let lines = lines.and_then(|lines| lines.parse().ok()).unwrap_or(30_000);
        let written = Arc::clone(&self.written);
        std::thread::spawn(move || {
            let mut n = 0;
            while n < lines {
                let mut piece = String::new();
                for _ in 0..50 {
                    n += 1;
                    piece.push_str(&format!(
                        "info depth 20 seldepth 30 score cp 31 nodes {n} nps 900000 pv a7a6 b2b3 c7c5\n"
                    ));
                }
                write(&piece);
                written.store(n, Ordering::Relaxed);
            }
        });
    }

    fn answer(&mut self, words: &[&str]) {
        match words {
            ["uci"] => self.send_answer("id name Faulty\nid author nobody\noption name Ponder type check default false\nuciok"),
            ["isready"] => self.send_answer("readyok"),
            ["position", rest @ ..] => self.board = position(rest),
            ["go", rest @ ..] => {
                let is_waiting = rest.contains(&"infinite") || rest.contains(&"ponder");
                self.search = if is_waiting { Search::Waiting } else { Search::Until(Instant::now() + THINKS) };
                if self.failing && self.fault == "loses-stop" {
                    self.begins = Some(Instant::now() + BEGINS);
                }
            }
            // It waits for the end of a search that nothing ends.
            ["stop" | "ponderhit"] if self.begins.is_some() => sleep_forever(),
            ["stop" | "ponderhit"] if !matches!(self.search, Search::None) => self.best_move(),
            ["quit"] if self.failing && self.fault == "ignores-quit" => {}
            ["quit"] => std::process::exit(0),
            _ => {}
        }
    }

    fn send_answer(&self, answer: &str) {
        send(answer);
        if self.failing && self.fault == "answers-twice" {
            send(answer);
        }
    }

    fn best_move(&mut self) {
        self.search = Search::None;
        let first = self.board.legal_moves().first().copied();
        let m = first.map_or_else(|| "(none)".to_owned(), uci);
        if self.failing && self.fault == "plays-illegal" && !self.failed_before {
            return self.send_answer("bestmove e2e5");
        }
        self.send_answer(&format!(
            "info depth 1 score cp 0 nodes 1 pv {m}\nbestmove {m}"
        ));
    }
}

/// Becomes a process that has closed its output but does not end.
#[cfg(unix)]
fn close_output() {
    use std::os::unix::process::CommandExt;
    let error = Command::new("sh")
        .args(["-c", "exec >&-; exec sleep 600"])
        .exec();
    panic!("sh: {error}");
}

#[cfg(not(unix))]
fn close_output() {
    std::process::exit(9);
}
