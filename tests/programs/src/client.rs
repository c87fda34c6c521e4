//! A UCI client: a GUI that reads only when it waits for a line, and every wait has a
//! limit.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// An engine or adapter, and its pipes.
pub struct Client {
    pub child: Child,
    /// `None` closes it.
    pub stdin: Option<ChildStdin>,
    /// `None` closes it.
    pub stdout: Option<ChildStdout>,
    /// Whether the program has closed its output.
    pub has_ended: bool,
    unread: Vec<u8>,
}

impl Client {
    /// Starts a program.
    pub fn start(command: &mut Command) -> Client {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().expect("the program");
        Client {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            child,
            has_ended: false,
            unread: Vec::new(),
        }
    }

    /// # Errors
    ///
    /// The program has closed its input, or this client has.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut();
        stdin.ok_or(io::ErrorKind::NotConnected)?.write_all(bytes)
    }

    /// The next line; `None` at the end of the output or after the limit.
    pub fn next_line(&mut self, until: Instant) -> Option<String> {
        loop {
            if let Some(at) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=at).collect();
                return Some(String::from_utf8_lossy(&line[..at]).into_owned());
            }
            if self.has_ended || !self.read(until) {
                return None;
            }
        }
    }

    /// The first line for which `is_it`; it and those before go to `on_line`.
    pub fn find_line(
        &mut self,
        until: Instant,
        is_it: impl Fn(&str) -> bool,
        mut on_line: impl FnMut(&str),
    ) -> Option<String> {
        loop {
            let line = self.next_line(until)?;
            on_line(&line);
            if is_it(&line) {
                return Some(line);
            }
        }
    }

    /// Reads once; returns false if nothing came.
    fn read(&mut self, until: Instant) -> bool {
        let Some(stdout) = &mut self.stdout else {
            return false;
        };
        if !comes(stdout, until.saturating_duration_since(Instant::now())) {
            return false;
        }
        let mut buffer = [0; 1 << 14];
        match stdout.read(&mut buffer) {
            Ok(count @ 1..) => self.unread.extend_from_slice(&buffer[..count]),
            _ => self.has_ended = true,
        }
        true
    }

    /// Waits until the program ends; `None` after the limit.
    pub fn wait(&mut self, until: Instant) -> Option<ExitStatus> {
        loop {
            match self.child.try_wait().expect("a child") {
                // The standard library waits for an end without a limit only.
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                status => return status,
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for output, or for its end.
#[cfg(unix)]
fn comes(stdout: &ChildStdout, left: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let timeout = Timespec::try_from(left).expect("a short time");
    let mut fds = [PollFd::new(stdout, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&timeout)), Ok(1..))
}

/// Elsewhere the read itself waits, without a limit.
#[cfg(not(unix))]
fn comes(_stdout: &ChildStdout, _left: Duration) -> bool {
    true
}
