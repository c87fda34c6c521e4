//! The engine's process, with bounded lines and waits.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use super::{EngineCommand, EngineProcess, SpawnError, Spawned, itself};

/// Limit of a line; real UCI lines, even long option lists, are much shorter.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Limit of queued lines; when it is reached, the engine blocks on its pipe.
const MAX_WAITING: usize = 64;
/// Limit of the bytes of one answer.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// Number of lines stored for the report, and bytes of each.
const KEPT_LINES: usize = 40;
const KEPT_CHARS: usize = 200;

/// An event from the engine.
enum Event {
    Line(String),
    TooLong,
}

/// Why an expected line was not received.
#[derive(Debug)]
pub(in crate::process) enum Missing {
    /// The time limit has passed.
    Silent,
    /// A line is longer than the limit.
    TooLong,
    /// The answer is larger than the limit.
    Flood,
    /// The engine has closed its output; with its status if it has ended.
    Gone(Option<ExitStatus>),
    /// The engine is a Tabia.
    Itself(SpawnError),
}

/// A running engine. Killed when dropped.
pub(in crate::process) struct Peer {
    process: Arc<EngineProcess>,
    /// `None` once its input is closed.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Event>,
    exchange: VecDeque<String>,
    program: PathBuf,
}

impl Peer {
    pub(in crate::process) fn start(command: &EngineCommand) -> Result<Self, SpawnError> {
        let Spawned {
            process,
            stdin,
            stdout,
        } = command.spawn()?;
        // A thread for each direction, so that an engine that does not read or write
        // cannot block this thread. Both end with the process.
        let (input, to_write) = mpsc::channel();
        thread::spawn(move || write_all(stdin, &to_write));
        let (lines, output) = mpsc::sync_channel(MAX_WAITING);
        thread::spawn(move || read_lines(stdout, &lines));
        Ok(Self {
            process: Arc::new(process),
            input: Some(input),
            output,
            exchange: VecDeque::new(),
            program: command.program.clone(),
        })
    }

    pub(in crate::process) fn send(&mut self, line: &str) {
        self.send_raw(line, "\n");
    }

    pub(in crate::process) fn send_raw(&mut self, line: &str, end: &str) {
        self.keep(">> ", line);
        if let Some(input) = &self.input {
            // If the writer has ended, the answer will be missing.
            let _ = input.send(format!("{line}{end}").into_bytes());
        }
    }

    /// Closes the engine's input after all pending lines are written.
    pub(in crate::process) fn close_input(&mut self) {
        self.keep(">> ", "(end of input)");
        self.input = None;
    }

    /// The next line, without its line end.
    pub(in crate::process) fn next(&mut self, limit: Duration) -> Result<String, Missing> {
        match self.output.recv_timeout(limit) {
            Ok(Event::Line(line)) => {
                self.keep("<< ", &line);
                match itself::is_refusal(line.as_bytes()) {
                    true => Err(Missing::Itself(SpawnError::itself(&self.program))),
                    false => Ok(line),
                }
            }
            Ok(Event::TooLong) => {
                self.keep("<< ", "(a line of more than 64 KiB)");
                Err(Missing::TooLong)
            }
            Err(RecvTimeoutError::Timeout) => Err(Missing::Silent),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.process.wait(Duration::from_millis(300));
                Err(Missing::Gone(status))
            }
        }
    }

    /// Reads lines up to and including the first that begins with `word`.
    pub(in crate::process) fn until(
        &mut self,
        word: &str,
        limit: Duration,
    ) -> Result<Vec<String>, Missing> {
        match self.read(Some(word), limit)? {
            (lines, true) => Ok(lines),
            (_, false) => Err(Missing::Silent),
        }
    }

    /// Reads lines for `time`; returns earlier only if the engine ends.
    pub(in crate::process) fn watch(&mut self, time: Duration) -> Result<Vec<String>, Missing> {
        self.read(None, time).map(|(lines, _)| lines)
    }

    /// Reads lines within `limit`, up to one that begins with `last`; returns whether
    /// that one was received.
    fn read(
        &mut self,
        last: Option<&str>,
        limit: Duration,
    ) -> Result<(Vec<String>, bool), Missing> {
        let end = Instant::now() + limit;
        let mut lines = Vec::new();
        let mut bytes = 0;
        loop {
            let line = match self.next(end.saturating_duration_since(Instant::now())) {
                Err(Missing::Silent) => return Ok((lines, false)),
                line => line?,
            };
            // In a flood the channel is never empty, so the timeout above is never
            // reached.
            bytes += line.len() + 16;
            if bytes > MAX_ANSWER_BYTES {
                return Err(Missing::Flood);
            }
            let found = last.is_some() && line.split_ascii_whitespace().next() == last;
            lines.push(line);
            if found || Instant::now() >= end {
                return Ok((lines, found));
            }
        }
    }

    /// Whether the engine ends within `limit`. Its output is read meanwhile, because it
    /// cannot end with a full pipe.
    pub(in crate::process) fn ends(&mut self, limit: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.next(left) {
                Ok(_) | Err(Missing::TooLong) if !left.is_zero() => {}
                _ => break,
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        self.process.wait(left.max(Duration::from_millis(50)))
    }

    /// Its process, for cancellation by other threads.
    pub(in crate::process) fn process(&self) -> &Arc<EngineProcess> {
        &self.process
    }

    /// Deletes the stored lines.
    pub(in crate::process) fn new_exchange(&mut self) {
        self.exchange.clear();
    }

    /// The last lines sent and received.
    pub(in crate::process) fn exchange(&self) -> Vec<String> {
        self.exchange.iter().cloned().collect()
    }

    fn keep(&mut self, mark: &str, line: &str) {
        if self.exchange.len() == KEPT_LINES {
            self.exchange.pop_front();
        }
        let mut text: String = line.chars().take(KEPT_CHARS).collect();
        if text.len() < line.len() {
            text.push_str(" ...");
        }
        // Control characters could change the user's terminal.
        let text = text.replace(char::is_control, "\u{fffd}");
        self.exchange.push_back(format!("{mark}{text}"));
    }
}

fn write_all(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, lines: &SyncSender<Event>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stdout)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let event = if line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
            // Reported before it is skipped: it may never end.
            if lines.send(Event::TooLong).is_err() || stdout.skip_until(b'\n').is_err() {
                return;
            }
            continue;
        } else {
            let text = String::from_utf8_lossy(&line);
            Event::Line(text.trim_end_matches(['\n', '\r']).to_owned())
        };
        if lines.send(event).is_err() {
            return;
        }
    }
}
