//! Waiting with `poll`, on Linux: everything happens in one thread. Other systems have
//! `poll` too, but not for every kind of file (terminals on macOS), and it was never
//! tested there.
//!
//! Threads ([`port_threads`](super::port_threads)) would do on Linux as well, at a price.
//! Measured side by side on a loaded machine (`cargo bench --bench relay`, two runs each):
//! `isready` to `readyok`, two lines, takes 9 and 11 µs more than with the engine alone here,
//! with threads 38 and 39; a `go` in book 9 to 13 µs, with threads 27 to 34; `stop` after a
//! flood of lines 0.6 ms, with threads 1.5 to 2.1. Nor do threads notice that a GUI has closed
//! its end before they write to it, or that an engine has ended whose child process has its
//! output open. A line costs less than 20 µs with threads, too; it is for these three that
//! Linux, where tournaments run, has a port of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::port::{Deliver, Listen, Port, Ready, ThreadReport};
use crate::session::Side;
use tabia_uci::line::LineBuffer;

/// What a pipe takes without blocking once `poll` reports it writable (`PIPE_BUF` on
/// Linux; POSIX promises 512).
const SAFE_CHUNK: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// The pipes, and one more by which other threads wake the loop.
pub(super) struct PollPort {
    input: File,
    /// The GUI has closed its end: its input is not polled any more.
    input_ended: bool,
    output: OutPipe,
    /// The GUI has closed its end of the output: it is not polled any more.
    output_ended: bool,
    engine: Option<(OutPipe, File)>,
    /// Becomes readable when the engine's process ends.
    engine_end: Option<File>,
    wake: io::PipeReader,
    waker: Arc<io::PipeWriter>,
    reports: Receiver<ThreadReport>,
    to_reports: Sender<ThreadReport>,
}

/// A pipe that can be written to without blocking.
struct OutPipe {
    file: File,
    /// A write to a full pipe returns at once; otherwise `poll` is needed before each
    /// write.
    nonblocking: bool,
}

impl OutPipe {
    /// Wraps a pipe end that only this process uses.
    fn owned(file: File) -> io::Result<OutPipe> {
        set_nonblocking(file.as_fd())?;
        Ok(OutPipe {
            file,
            nonblocking: true,
        })
    }

    /// Wraps a stream that Tabia shares with the program that started it. Making that
    /// stream non-blocking would affect all its users; a pipe can be opened again, with
    /// separate flags.
    fn shared(file: File) -> OutPipe {
        let is_pipe = rustix::fs::fstat(&file)
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo());
        let own = is_pipe.then(|| {
            OpenOptions::new()
                .write(true)
                .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
                .open(format!("/proc/self/fd/{}", file.as_raw_fd()))
        });
        match own {
            Some(Ok(own)) => OutPipe {
                file: own,
                nonblocking: true,
            },
            _ => OutPipe {
                file,
                nonblocking: false,
            },
        }
    }

    /// Writes what the pipe takes now and removes it from `lines`.
    fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = lines.get(done..).filter(|rest| !rest.is_empty()) {
            let chunk = if self.nonblocking {
                rest
            } else if is_writable(self.file.as_fd()) {
                rest.get(..SAFE_CHUNK).unwrap_or(rest)
            } else {
                break;
            };
            match self.file.write(chunk) {
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if done == lines.len() {
            lines.clear();
        } else {
            lines.drain(..done);
        }
        Ok(())
    }
}

fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | OFlags::NONBLOCK)?)
}

fn is_writable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    // If `poll` fails, try to write anyway.
    poll(&mut fds, Some(&Timespec::default())).map_or(true, |ready| ready > 0)
}

impl PollPort {
    pub(super) fn new(input: File, output: File) -> io::Result<PollPort> {
        let (wake, waker) = io::pipe()?;
        let (to_reports, reports) = channel();
        Ok(PollPort {
            input,
            input_ended: false,
            output: OutPipe::shared(output),
            output_ended: false,
            engine: None,
            engine_end: None,
            wake,
            waker: Arc::new(waker),
            reports,
            to_reports,
        })
    }
}

impl Port for PollPort {
    fn wait(
        &mut self,
        timeout: Option<Duration>,
        listen: Listen,
        gui_left: &[u8],
        engine_left: &[u8],
    ) -> Ready {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut ready = Ready::default();
        let mut woken = false;
        {
            // Unused entries have no events.
            let nothing = || PollFd::new(&self.wake, PollFlags::empty());
            let mut fds = [
                nothing(),
                PollFd::new(&self.wake, PollFlags::IN),
                nothing(),
                nothing(),
                nothing(),
                nothing(),
            ];
            // `poll` reports a closed end even for a descriptor without requested events.
            if !self.input_ended && listen.gui {
                fds[0] = PollFd::new(&self.input, PollFlags::IN);
            }
            if let Some((stdin, stdout)) = &self.engine {
                if listen.engine {
                    fds[2] = PollFd::new(stdout, PollFlags::IN);
                }
                if !engine_left.is_empty() {
                    fds[3] = PollFd::new(&stdin.file, PollFlags::OUT);
                }
            }
            if !self.output_ended {
                // Even without requested events, `poll` reports that the reader is gone.
                let wanted = match gui_left.is_empty() {
                    true => PollFlags::empty(),
                    false => PollFlags::OUT,
                };
                fds[4] = PollFd::new(&self.output.file, wanted);
            }
            if let Some(end) = &self.engine_end {
                fds[5] = PollFd::new(end, PollFlags::IN);
            }
            match poll(&mut fds, timeout.as_ref()) {
                Ok(_) => {
                    // Closed ends and errors are handled when the pipe is read.
                    let closed = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                    let any = |index: usize, of: PollFlags| {
                        fds.get(index)
                            .is_some_and(|fd: &PollFd<'_>| fd.revents().intersects(of))
                    };
                    let has = |index| any(index, PollFlags::IN | closed);
                    ready.gui = listen.gui && !self.input_ended && has(0);
                    woken = has(1);
                    ready.engine = listen.engine && self.engine.is_some() && has(2);
                    ready.gui_closed = any(4, closed);
                    ready.engine_ended = self.engine_end.is_some() && has(5);
                }
                Err(Errno::INTR) => {}
                Err(error) => log::error!("poll: {error}"),
            }
        }
        self.output_ended |= ready.gui_closed;
        if ready.engine_ended {
            self.engine_end = None;
        }
        if woken {
            let mut bytes = [0; 16];
            let _ = self.wake.read(&mut bytes);
            ready.reports.extend(self.reports.try_iter());
        }
        ready
    }

    fn read(&mut self, from: Side, buffer: &mut LineBuffer) -> io::Result<usize> {
        match (from, &mut self.engine) {
            (Side::Gui, _) => {
                let read = buffer.fill(&mut self.input);
                self.input_ended = !matches!(read, Ok(1..));
                read
            }
            (Side::Engine, Some((_, stdout))) => buffer.fill(stdout),
            (Side::Engine, None) => Ok(0),
        }
    }

    fn write(&mut self, to: Side, lines: &mut Vec<u8>) -> io::Result<()> {
        match (to, &mut self.engine) {
            (Side::Gui, _) => self.output.write(lines),
            (Side::Engine, Some((stdin, _))) => stdin.write(lines),
            (Side::Engine, None) => {
                lines.clear();
                Ok(())
            }
        }
    }

    fn attach(&mut self, stdin: File, stdout: File, end: Option<File>) -> io::Result<()> {
        self.engine = Some((OutPipe::owned(stdin)?, stdout));
        self.engine_end = end;
        Ok(())
    }

    fn detach(&mut self) -> Option<File> {
        self.engine_end = None;
        self.engine.take().map(|(_, stdout)| stdout)
    }

    fn flush(&mut self, _limit: Duration) {}

    fn deliver(&self) -> Deliver {
        let to_reports = self.to_reports.clone();
        let waker = Arc::clone(&self.waker);
        Arc::new(move |report| {
            let _ = to_reports.send(report);
            let _ = (&*waker).write_all(b"!");
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    const BOTH: Listen = Listen {
        gui: true,
        engine: true,
    };

    /// Longer than any wait for what comes.
    const LIMIT: Option<Duration> = Some(Duration::from_secs(60));

    fn pipe() -> (File, File) {
        let (reader, writer) = io::pipe().unwrap();
        (
            File::from(OwnedFd::from(reader)),
            File::from(OwnedFd::from(writer)),
        )
    }

    /// A port, and the ends of the GUI.
    fn connected() -> (PollPort, File, File) {
        let (input, gui_in) = pipe();
        let (gui_out, output) = pipe();
        (PollPort::new(input, output).unwrap(), gui_in, gui_out)
    }

    #[test]
    fn a_gui_that_is_gone_is_noticed_without_anything_to_write() {
        let (mut port, gui_in, gui_out) = connected();
        drop(gui_out);
        let ready = port.wait(LIMIT, BOTH, &[], &[]);
        assert!(ready.gui_closed && !ready.gui && !ready.engine);
        // Once: the loop would never sleep.
        let ready = port.wait(Some(Duration::ZERO), BOTH, &[], &[]);
        assert!(!ready.gui_closed);
        // Its input has ended too, and is read to its end.
        drop(gui_in);
        assert!(port.wait(LIMIT, BOTH, &[], &[]).gui);
        assert_eq!(port.read(Side::Gui, &mut LineBuffer::default()).unwrap(), 0);
    }

    #[test]
    fn a_detached_engine_has_no_input_and_its_output_is_left() {
        let (mut port, _gui_in, _gui_out) = connected();
        let (mut engine_in, stdin) = pipe();
        let (stdout, mut engine_out) = pipe();
        port.attach(stdin, stdout, None).unwrap();
        port.write(Side::Engine, &mut b"quit\n".to_vec()).unwrap();
        engine_out.write_all(b"bestmove e2e4\n").unwrap();
        drop(engine_out);
        let mut output = String::new();
        let mut left = port.detach().unwrap();
        left.read_to_string(&mut output).unwrap();
        assert_eq!(output, "bestmove e2e4\n");
        let mut input = String::new();
        engine_in.read_to_string(&mut input).unwrap();
        assert_eq!(input, "quit\n");
        assert!(port.detach().is_none());
        // Lines for an engine that is not there are dropped.
        let mut lines = b"stop\n".to_vec();
        port.write(Side::Engine, &mut lines).unwrap();
        assert!(lines.is_empty());
    }

    /// Whatever part a full pipe or socket takes, the other end reads every byte once, in
    /// order.
    #[test]
    fn what_is_full_takes_the_rest_later() {
        let (pipe, _gui_in, gui_out) = connected();
        is_written_whole(pipe, Side::Gui, gui_out);

        let (input, _gui_in) = self::pipe();
        let both = UnixStream::pair().unwrap();
        let [gui_out, output] = <[_; 2]>::from(both).map(|end| File::from(OwnedFd::from(end)));
        is_written_whole(PollPort::new(input, output).unwrap(), Side::Gui, gui_out);

        let (mut engine, _gui_in, _gui_out) = connected();
        let (engine_in, stdin) = self::pipe();
        let (stdout, _engine_out) = self::pipe();
        engine.attach(stdin, stdout, None).unwrap();
        is_written_whole(engine, Side::Engine, engine_in);
    }

    fn is_written_whole(mut port: PollPort, side: Side, mut other_end: File) {
        let all: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        let mut left = all.clone();
        port.write(side, &mut left).unwrap();
        assert!((1..all.len()).contains(&left.len()), "{}", left.len());
        let mut found = Vec::new();
        let mut bytes = vec![0; 50_000];
        while found.len() < all.len() {
            let count = other_end.read(&mut bytes).unwrap();
            found.extend_from_slice(&bytes[..count]);
            port.write(side, &mut left).unwrap();
        }
        assert!(found == all && left.is_empty());
    }
}
