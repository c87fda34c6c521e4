//! One engine process and its pipes.

use std::process::Command;
use std::time::{Duration, Instant};

use shakmaty::Color;
use tabia_uci::info::finding;
use test_programs::referee;

pub(crate) struct Player {
    at: referee::Player,
    pub(crate) name: String,
    has_seed: bool,
}

/// The answer of a player.
pub(crate) struct Answer {
    pub(crate) mv: String,
    /// Centipawns from its own view; `None` for moves of its book.
    pub(crate) score: Option<i32>,
    /// Time from `go` to `bestmove`.
    pub(crate) took: Duration,
}

/// Value of a mate in centipawns.
const MATE: i32 = 10_000;

impl Player {
    pub(crate) fn start(command: &str) -> Player {
        let mut player = Player {
            at: referee::Player::start(Command::new("sh").args(["-c", &format!("exec {command}")])),
            name: command.to_owned(),
            has_seed: false,
        };
        player.send("uci");
        let mut has_seed = false;
        player.until("uciok", |line| {
            has_seed |= line.starts_with("option name Book Seed ");
        });
        player.has_seed = has_seed;
        player
    }

    pub(crate) fn send(&mut self, line: &str) {
        let said = self.at.send(line);
        said.unwrap_or_else(|error| panic!("{}: {error}", self.name));
    }

    /// Reads lines up to the one that begins with `word`.
    fn until(&mut self, word: &str, on_line: impl FnMut(&str)) -> String {
        let line = self.at.wait_for(word, Duration::MAX, on_line);
        line.unwrap_or_else(|_| panic!("{} ended instead of saying {word}", self.name))
    }

    pub(crate) fn new_game(&mut self, seed: usize) {
        if self.has_seed {
            self.send(&format!("setoption name Book Seed value {seed}"));
        }
        self.send("ucinewgame\nisready");
        self.until("readyok", |_| ());
    }

    /// Sends `position` and `go`, where `turn` is to move, and waits for the move.
    pub(crate) fn ask(&mut self, position: &str, go: &str, turn: Color) -> Answer {
        let start = Instant::now();
        self.send(&format!("{position}\n{go}"));
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
        let _ = self.at.send("quit");
        let _ = self.at.child.wait();
    }
}
