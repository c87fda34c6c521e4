//! The adapter around the built-in engine, line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Adapter {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Adapter {
    /// Says `uci` and `isready` and waits for both answers. What it learns lies
    /// beside the book.
    pub fn start(book: &Path, sets: &[&str]) -> Adapter {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabia"));
        command
            .args(["--config", "/dev/null", "--engine", "builtin", "--book"])
            .arg(book);
        for set in ["Book Variety=0", "Book Ponder=false"].iter().chain(sets) {
            command.args(["--set", set]);
        }
        command.env("XDG_DATA_HOME", book.parent().unwrap().join("data"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut adapter = Adapter {
            child,
            input,
            output,
        };
        adapter.say("uci");
        adapter.until("uciok");
        adapter.ready();
        adapter
    }

    pub fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// All lines up to the one that begins so.
    pub fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "it ended before {start}"
            );
            lines.push(line.trim().to_owned());
            if line.starts_with(start) {
                return lines;
            }
        }
    }

    pub fn ready(&mut self) -> Vec<String> {
        self.say("isready");
        self.until("readyok")
    }

    /// What it answers to a short search.
    pub fn best(&mut self, position: &str) -> String {
        self.say(position);
        self.say("go movetime 20");
        self.until("bestmove").pop().unwrap()
    }

    pub fn quit(mut self) {
        self.say("quit");
        assert!(self.child.wait().unwrap().success());
    }
}
