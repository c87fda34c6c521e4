//! One engine at its pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use shakmaty::Color;
use tabia_uci::info::finding;

pub(crate) struct Player {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pub(crate) name: String,
    has_seed: bool,
}

/// What a player answered.
pub(crate) struct Answer {
    pub(crate) mv: String,
    /// Centipawns from its own view; `None` for moves of its book.
    pub(crate) score: Option<i32>,
    /// From `go` to `bestmove`.
    pub(crate) took: Duration,
}

/// What a mate is worth, in centipawns.
const MATE: i32 = 10_000;

impl Player {
    pub(crate) fn start(command: &str) -> Player {
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            // The configuration of whoever runs this stays out of it.
            .env("TABIA_CONFIG", "")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut player = Player {
            stdin: child.stdin.take().expect("its input"),
            stdout: BufReader::new(child.stdout.take().expect("its output")),
            child,
            name: command.to_owned(),
            has_seed: false,
        };
        player.say("uci");
        let mut has_seed = false;
        player.until("uciok", |line| {
            has_seed |= line.starts_with("option name Book Seed ");
        });
        player.has_seed = has_seed;
        player
    }

    pub(crate) fn say(&mut self, line: &str) {
        let written = self.stdin.write_all(format!("{line}\n").as_bytes());
        written.unwrap_or_else(|error| panic!("{}: {error}", self.name));
    }

    /// Hears everything up to the line that begins with `word`.
    fn until(&mut self, word: &str, mut hear: impl FnMut(&str)) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.stdout.read_line(&mut line).expect("text");
            assert!(read > 0, "{} ended instead of saying {word}", self.name);
            if line.split_whitespace().next() == Some(word) {
                return line;
            }
            hear(&line);
        }
    }

    pub(crate) fn new_game(&mut self, seed: usize) {
        if self.has_seed {
            self.say(&format!("setoption name Book Seed value {seed}"));
        }
        self.say("ucinewgame\nisready");
        self.until("readyok", |_| ());
    }

    /// Sends `position` and `go`, where `turn` is to move, and waits for the
    /// move.
    pub(crate) fn ask(&mut self, position: &str, go: &str, turn: Color) -> Answer {
        let start = Instant::now();
        self.say(&format!("{position}\n{go}"));
        let (mut lines, mut from_book) = (Vec::new(), false);
        let best = self.until("bestmove", |line| {
            from_book |= line.starts_with("info string book ");
            lines.push(line.to_owned());
        });
        let took = start.elapsed();
        let mv = best.split_whitespace().nth(1).unwrap_or_default();
        let found = match from_book {
            true => None,
            false => finding(turn, lines.iter().map(String::as_str)),
        };
        Answer {
            mv: mv.to_owned(),
            score: found.map(|found| found.value.for_side(turn).clamp(-MATE, MATE)),
            took,
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.stdin.write_all(b"quit\n");
        let _ = self.child.wait();
    }
}
