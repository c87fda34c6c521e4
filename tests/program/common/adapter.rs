//! The adapter as a process, used like a GUI does.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use test_programs::client::Client;

use super::{Arguments, command, example};

/// Far more than anything takes here; only a hang takes so long.
pub const LIMIT: Duration = Duration::from_secs(60);

pub struct Adapter {
    pub client: Client,
    /// All lines received from it.
    pub received: Vec<String>,
}

impl Adapter {
    pub fn start(arguments: &(impl Arguments + ?Sized)) -> Adapter {
        Adapter::run(&mut command(arguments))
    }

    /// Starts it with the odd engine and one of its faults.
    pub fn around(fault: &str, arguments: &[&str]) -> Adapter {
        let mut command = command(arguments);
        command.arg("--").arg(example("odd_engine")).arg(fault);
        Adapter::run(&mut command)
    }

    /// Starts it with the built-in engine and a book whose best move is played; it has
    /// answered `uci` and is ready. Learned results are stored next to the book.
    pub fn of_book(book: &Path, sets: &[&str]) -> Adapter {
        let mut command = command("--config /dev/null --engine builtin");
        command.arg("--book").arg(book);
        for set in ["Book Variety=0", "Book Ponder=false"].iter().chain(sets) {
            command.args(["--set", set]);
        }
        command.env("XDG_DATA_HOME", book.with_file_name("data"));
        let mut adapter = Adapter::run(&mut command);
        adapter.handshake();
        adapter.ready();
        adapter
    }

    pub fn run(command: &mut Command) -> Adapter {
        Adapter {
            client: Client::start(command.stderr(Stdio::null())),
            received: Vec::new(),
        }
    }

    pub fn send(&mut self, lines: &str) {
        self.send_bytes(format!("{lines}\n").as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.client.write(bytes).unwrap();
    }

    /// The next line that begins with `start`.
    #[track_caller]
    pub fn expect(&mut self, start: &str) -> String {
        let until = Instant::now() + LIMIT;
        let received = &mut self.received;
        let line = self.client.find_line(
            until,
            |line| line.starts_with(start),
            |line| received.push(line.to_owned()),
        );
        line.unwrap_or_else(|| panic!("no {start} after {:#?}", self.received))
    }

    pub fn handshake(&mut self) {
        self.send("uci");
        self.expect("uciok");
    }

    pub fn ready(&mut self) {
        self.send("isready");
        self.expect("readyok");
    }

    pub fn new_game(&mut self) {
        self.send("ucinewgame");
        self.ready();
    }

    /// The answer to a short search.
    pub fn best(&mut self, position: &str) -> String {
        self.send(&format!("{position}\ngo movetime 20"));
        self.expect("bestmove")
    }

    /// Number of received lines that begin with `start`.
    pub fn count(&self, start: &str) -> usize {
        let starts = |line: &&String| line.starts_with(start);
        self.received.iter().filter(starts).count()
    }

    #[track_caller]
    pub fn assert_received(&self, part: &str) {
        assert!(self.has_received(part), "no {part}: {:#?}", self.received);
    }

    pub fn has_received(&self, part: &str) -> bool {
        self.received.iter().any(|line| line.contains(part))
    }

    /// Reads to the end of the output and takes the exit status.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + LIMIT;
        while let Some(line) = self.client.next_line(until) {
            self.received.push(line);
        }
        let status = self.client.wait(until);
        status.unwrap_or_else(|| panic!("no end after {:#?}", self.received))
    }

    pub fn quit(&mut self) -> ExitStatus {
        self.send("quit");
        self.end()
    }
}
