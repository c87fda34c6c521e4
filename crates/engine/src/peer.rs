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
pub(crate) enum Event {
    Line(String),
    TooLong,
}

/// What is at the other end, with the clock that its time limits refer to: a process, or
/// in tests an engine that answers without one and lets its own time pass while it is
/// silent.
pub(crate) trait Channel: Send {
    /// Sends bytes. If the engine does not read them, the answer will be missing.
    fn send(&mut self, bytes: Vec<u8>);
    fn close_input(&mut self);
    /// The next event, or why there is none: [`Missing::Silent`] or [`Missing::Gone`].
    fn next(&mut self, limit: Duration) -> Result<Event, Missing>;
    /// The status of an engine that ends within the limit.
    fn wait(&mut self, limit: Duration) -> Option<ExitStatus>;
    fn now(&self) -> Instant;
    /// The process, to kill it.
    fn process(&self) -> Option<&Arc<EngineProcess>>;
}

/// Why an expected line was not received.
#[derive(Debug)]
pub(crate) enum Missing {
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

/// An engine's process with a thread for each direction, so that an engine that does not
/// read or write cannot block this thread. Both end with the process.
struct Piped {
    process: Arc<EngineProcess>,
    /// `None` once its input is closed.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Event>,
}

impl Channel for Piped {
    fn send(&mut self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            let _ = input.send(bytes);
        }
    }

    fn close_input(&mut self) {
        self.input = None;
    }

    fn next(&mut self, limit: Duration) -> Result<Event, Missing> {
        self.output
            .recv_timeout(limit)
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => Missing::Silent,
                RecvTimeoutError::Disconnected => {
                    Missing::Gone(self.process.wait(Duration::from_millis(300)))
                }
            })
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        self.process.wait(limit)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn process(&self) -> Option<&Arc<EngineProcess>> {
        Some(&self.process)
    }
}

/// A running engine. Killed when dropped.
pub(crate) struct Peer {
    channel: Box<dyn Channel>,
    exchange: VecDeque<String>,
    program: PathBuf,
}

impl Peer {
    pub(crate) fn start(command: &EngineCommand) -> Result<Self, SpawnError> {
        let Spawned {
            process,
            stdin,
            stdout,
        } = command.spawn()?;
        let (input, to_write) = mpsc::channel();
        thread::spawn(move || write_all(stdin, &to_write));
        let (lines, output) = mpsc::sync_channel(MAX_WAITING);
        thread::spawn(move || read_lines(stdout, &lines));
        let channel = Piped {
            process: Arc::new(process),
            input: Some(input),
            output,
        };
        Ok(Self::over(command.program.clone(), channel))
    }

    pub(crate) fn over(program: PathBuf, channel: impl Channel + 'static) -> Self {
        Self {
            channel: Box::new(channel),
            exchange: VecDeque::new(),
            program,
        }
    }

    /// The engine's time.
    pub(crate) fn now(&self) -> Instant {
        self.channel.now()
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.send_raw(line, "\n");
    }

    pub(crate) fn send_raw(&mut self, line: &str, end: &str) {
        self.keep(">> ", line);
        self.channel.send(format!("{line}{end}").into_bytes());
    }

    /// Closes the engine's input after all pending lines are written.
    pub(crate) fn close_input(&mut self) {
        self.keep(">> ", "(end of input)");
        self.channel.close_input();
    }

    /// The next line, without its line end.
    pub(crate) fn next(&mut self, limit: Duration) -> Result<String, Missing> {
        match self.channel.next(limit)? {
            Event::Line(line) => {
                self.keep("<< ", &line);
                match itself::is_refusal(line.as_bytes()) {
                    true => Err(Missing::Itself(SpawnError::itself(&self.program))),
                    false => Ok(line),
                }
            }
            Event::TooLong => {
                self.keep("<< ", "(a line of more than 64 KiB)");
                Err(Missing::TooLong)
            }
        }
    }

    /// Reads lines up to and including the first that begins with `word`.
    pub(crate) fn until(&mut self, word: &str, limit: Duration) -> Result<Vec<String>, Missing> {
        self.until_or(word, limit, &mut |_| false)
    }

    /// Reads lines up to `word`, but also ends after a line that is `enough`, as if the time were
    /// over.
    pub(crate) fn until_or(
        &mut self,
        word: &str,
        limit: Duration,
        enough: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Vec<String>, Missing> {
        match self.read(Some(word), limit, enough)? {
            (lines, true) => Ok(lines),
            (_, false) => Err(Missing::Silent),
        }
    }

    /// Reads lines for `time`; returns earlier only if the engine ends.
    pub(crate) fn watch(&mut self, time: Duration) -> Result<Vec<String>, Missing> {
        let read = self.read(None, time, &mut |_| false);
        read.map(|(lines, _)| lines)
    }

    /// Reads lines within `limit`, up to one that begins with `last` or is `enough`; returns
    /// whether the former was received.
    fn read(
        &mut self,
        last: Option<&str>,
        limit: Duration,
        enough: &mut dyn FnMut(&str) -> bool,
    ) -> Result<(Vec<String>, bool), Missing> {
        let end = self.now() + limit;
        let mut lines = Vec::new();
        let mut bytes = 0;
        loop {
            let line = match self.next(end.saturating_duration_since(self.now())) {
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
            let is_over = found || enough(&line) || self.now() >= end;
            lines.push(line);
            if is_over {
                return Ok((lines, found));
            }
        }
    }

    /// Whether the engine ends within `limit`. Its output is read meanwhile, because it
    /// cannot end with a full pipe.
    pub(crate) fn ends(&mut self, limit: Duration) -> Option<ExitStatus> {
        let end = self.now() + limit;
        loop {
            let left = end.saturating_duration_since(self.now());
            match self.next(left) {
                Ok(_) | Err(Missing::TooLong) if !left.is_zero() => {}
                _ => break,
            }
        }
        let left = end.saturating_duration_since(self.now());
        self.channel.wait(left.max(Duration::from_millis(50)))
    }

    /// Its process, for cancellation by other threads.
    pub(crate) fn process(&self) -> Option<&Arc<EngineProcess>> {
        self.channel.process()
    }

    /// Deletes the stored lines.
    pub(crate) fn new_exchange(&mut self) {
        self.exchange.clear();
    }

    /// The last lines sent and received.
    pub(crate) fn exchange(&self) -> Vec<String> {
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
