//! One adapter, as the manager uses it through pipes.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use shakmaty::Color;
use tabia_uci::info::finding;
use test_programs::client::Client;
use test_programs::processes::ends;

/// After so long without output the player hangs.
const HANGS: Duration = Duration::from_secs(30);

pub(crate) struct Player {
    at: Client,
    pub(crate) received: Received,
}

/// Counts of messages, and faults.
#[derive(Default)]
pub(crate) struct Received {
    /// The faults found so far.
    pub(crate) faults: Vec<String>,
    pub(crate) book_moves: usize,
    pub(crate) restarts: usize,
    pub(crate) vetoes: usize,
    pub(crate) exits: usize,
    /// Its options: the text after `option name`.
    options: Vec<String>,
    /// The lines of the last search.
    pub(crate) of_search: Vec<String>,
}

/// Sends a signal to processes.
pub(crate) fn send(processes: &[u32], signal: Signal) {
    for id in processes {
        let pid = i32::try_from(*id).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process(pid, signal));
    }
}

impl Player {
    /// Starts a player and sets its options, before them all to their defaults if required.
    pub(crate) fn start(command: &[String], defaults: bool, sets: &[(String, String)]) -> Player {
        let mut player = Player {
            at: Client::start(
                Command::new(&command[0])
                    .args(&command[1..])
                    .env("TABIA_CONFIG", ""),
            ),
            received: Received::default(),
        };
        player.send("uci");
        player.wait_for("uciok");
        if defaults {
            player.set_options();
        }
        for (name, value) in sets {
            player.send(&format!("setoption name {name} value {value}"));
        }
        player
    }

    /// Sends every option with its default, sorted by name, as many GUIs do,
    /// and a preset among them.
    fn set_options(&mut self) {
        let mut options = self.received.options.clone();
        options.sort();
        for option in options {
            let Some((name, rest)) = option.split_once(" type ") else {
                continue;
            };
            let Some((_, default)) = rest.split_once(" default ") else {
                continue;
            };
            let default = default.split(" min ").next().unwrap_or(default);
            let default = default.split(" var ").next().unwrap_or(default);
            let value = if name == "Book Preset" {
                "Normal"
            } else {
                default
            };
            self.send(&format!("setoption name {name} value {value}"));
        }
    }

    pub(crate) fn send(&mut self, line: &str) {
        if self.at.write(format!("{line}\n").as_bytes()).is_err() {
            self.fault("it does not listen any more");
        }
    }

    pub(crate) fn fault(&mut self, what: &str) {
        self.received.faults.push(what.to_owned());
    }

    /// Reads all lines up to the one that begins with `word`.
    pub(crate) fn wait_for(&mut self, word: &str) -> Option<String> {
        let until = Instant::now() + HANGS;
        let begins = |line: &str| line.split(' ').next() == Some(word);
        let received = &mut self.received;
        let line = self.at.find_line(until, begins, |line| {
            if !begins(line) {
                received.add(line);
            }
        });
        if line.is_none() {
            self.fault(&format!("no {word}"));
        }
        line
    }

    pub(crate) fn new_game(&mut self, seed: u64) {
        let mut options = self.received.options.iter();
        if options.any(|option| option.starts_with("Book Seed type ")) {
            self.send(&format!("setoption name Book Seed value {seed}"));
        }
        self.send("ucinewgame");
        self.is_ready();
    }

    pub(crate) fn is_ready(&mut self) {
        self.send("isready");
        self.wait_for("readyok");
    }

    /// The processes that the adapter has started: its engine.
    pub(crate) fn engines(&self) -> Vec<u32> {
        let pid = self.at.child.id();
        let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let list = list.unwrap_or_default();
        list.split_whitespace()
            .filter_map(|id| id.parse().ok())
            .collect()
    }

    /// Sends a signal to the engine, such as SIGKILL, which the system sends when memory is
    /// short. Returns the processes.
    pub(crate) fn signal_engine(&self, signal: Signal) -> Vec<u32> {
        let engines = self.engines();
        send(&engines, signal);
        engines
    }

    /// Its private resident memory (KiB), descriptors and threads.
    pub(crate) fn size(&self) -> [u64; 3] {
        let proc = format!("/proc/{}", self.at.child.id());
        let status = fs::read_to_string(format!("{proc}/status")).unwrap_or_default();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok())
                .unwrap_or(0)
        };
        let files = fs::read_dir(format!("{proc}/fd")).map_or(0, |list| list.count() as u64);
        [number("RssAnon:"), files, number("Threads:")]
    }

    /// As `size`, after temporary descriptors and threads are gone: a thread that opens
    /// books ends when it is done. The limit is only for what stays.
    pub(crate) fn size_at_rest(&self, before: [u64; 3]) -> [u64; 3] {
        let until = Instant::now() + HANGS;
        loop {
            let size = self.size();
            if (size[1] <= before[1] && size[2] <= before[2]) || Instant::now() > until {
                return size;
            }
            // No event tells of a thread's end.
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends `quit` and waits for its end; returns the faults.
    pub(crate) fn quit(mut self) -> Vec<String> {
        let engines = self.engines();
        self.send("quit");
        let until = Instant::now() + HANGS;
        while let Some(line) = self.at.next_line(until) {
            self.received.add(&line);
        }
        let status = self.at.wait(until);
        if !status.is_some_and(|status| status.success()) {
            self.fault(&format!("it ended with {status:?}"));
        }
        if !engines.into_iter().all(ends) {
            self.fault("its engine is still there");
        }
        self.received.faults
    }
}

impl Received {
    /// The comment of match managers on the last move: `book`, or its value and depth.
    pub(crate) fn comment(&self, turn: Color) -> String {
        let is_book = |line: &String| line.starts_with("info string book ");
        if self.of_search.iter().any(is_book) {
            return "book".to_owned();
        }
        let found = finding(turn, self.of_search.iter().map(String::as_str));
        found.map_or_else(String::new, |found| {
            let value = f64::from(found.value.for_side(turn)) / 100.0;
            format!("{value:+.2}/{}", found.depth)
        })
    }

    fn add(&mut self, line: &str) {
        self.book_moves += usize::from(line.starts_with("info string book starter:"));
        self.restarts += usize::from(line.contains("started again"));
        self.vetoes += usize::from(line.starts_with("info string Book Verify: "));
        self.exits += usize::from(line.contains(" cp, exit at "));
        self.of_search.push(line.to_owned());
        self.options
            .extend(line.strip_prefix("option name ").map(str::to_owned));
        let first = line.split(' ').next().unwrap_or_default();
        if !matches!(first, "info" | "id" | "option") {
            self.faults.push(format!("not requested: \"{line}\""));
        }
    }
}
