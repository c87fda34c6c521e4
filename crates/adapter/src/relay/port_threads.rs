//! Waiting with threads, where pipes cannot be polled (Windows) or where that was never
//! tested: one thread reads each side, one writes to each.
//!
//! It works and is tested on all systems.

#![cfg_attr(target_os = "linux", allow(dead_code))]

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::port::{Deliver, Listen, Port, Ready, ThreadReport};
use crate::session::Side;
use tabia_uci::line::LineBuffer;

/// Why the loop of the relay wakes up.
enum Wake {
    /// A thread has read or written something.
    Io,
    Report(ThreadReport),
}

/// A pipe and the thread that writes to it.
struct WriterThread {
    to_thread: Sender<Vec<u8>>,
    state: Arc<WriterState>,
}

#[derive(Default)]
struct WriterState {
    /// Bytes that the thread has not written yet.
    waiting: AtomicUsize,
    /// The pipe is closed.
    broken: AtomicBool,
}

impl WriterThread {
    fn start(mut file: File, wakes: Sender<Wake>) -> WriterThread {
        let (to_thread, lines) = channel::<Vec<u8>>();
        let state = Arc::<WriterState>::default();
        let own = Arc::clone(&state);
        thread::spawn(move || {
            for piece in lines {
                match file.write_all(&piece) {
                    Ok(()) => drop(own.waiting.fetch_sub(piece.len(), Ordering::AcqRel)),
                    Err(_) => own.broken.store(true, Ordering::Release),
                }
                let _ = wakes.send(Wake::Io);
            }
        });
        WriterThread { to_thread, state }
    }

    /// Passes lines to the thread, unless too much is waiting already.
    fn write(&self, lines: &mut Vec<u8>) -> io::Result<()> {
        const ENOUGH: usize = 1 << 16;
        if self.is_broken() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if lines.is_empty() || self.waiting() > ENOUGH {
            return Ok(());
        }
        self.state.waiting.fetch_add(lines.len(), Ordering::AcqRel);
        let sent = self.to_thread.send(std::mem::take(lines));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn waiting(&self) -> usize {
        self.state.waiting.load(Ordering::Acquire)
    }

    fn is_broken(&self) -> bool {
        self.state.broken.load(Ordering::Acquire)
    }
}

/// A pipe and the thread that reads from it. The thread waits while too many chunks are
/// unread; after this value is dropped it reads on, so that the engine can end.
struct Reader {
    /// `None` after the end of the pipe.
    pieces: Option<Receiver<Vec<u8>>>,
    /// The unread part of the last chunk.
    piece: Vec<u8>,
    /// The pipe has ended, which is not reported yet.
    at_end: bool,
}

impl Reader {
    fn start(mut file: File, wakes: Sender<Wake>) -> Reader {
        const MOST_PIECES: usize = 4;
        let (to_port, pieces) = sync_channel(MOST_PIECES);
        thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            loop {
                match file.read(&mut bytes) {
                    Ok(count @ 1..) => {
                        let _ = to_port.send(bytes.get(..count).unwrap_or_default().to_vec());
                        let _ = wakes.send(Wake::Io);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                }
            }
            drop(to_port);
            let _ = wakes.send(Wake::Io);
        });
        Reader {
            pieces: Some(pieces),
            piece: Vec::new(),
            at_end: false,
        }
    }

    fn is_ready(&mut self) -> bool {
        if self.piece.is_empty()
            && let Some(pieces) = &self.pieces
        {
            match pieces.try_recv() {
                Ok(piece) => self.piece = piece,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    self.pieces = None;
                    self.at_end = true;
                }
            }
        }
        self.at_end || !self.piece.is_empty()
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_ready() || self.at_end {
            // The end is reported once.
            self.at_end = false;
            return Ok(0);
        }
        let count = self.piece.as_slice().read(buffer)?;
        self.piece.drain(..count);
        Ok(count)
    }
}

/// The pipes and the threads around them.
pub(super) struct ThreadPort {
    wakes: Receiver<Wake>,
    to_wakes: Sender<Wake>,
    gui: (Reader, WriterThread),
    engine: Option<(Reader, WriterThread)>,
}

impl ThreadPort {
    pub(super) fn new(input: File, output: File) -> io::Result<ThreadPort> {
        let (to_wakes, wakes) = channel();
        let gui = Reader::start(input, to_wakes.clone());
        Ok(ThreadPort {
            wakes,
            gui: (gui, WriterThread::start(output, to_wakes.clone())),
            to_wakes,
            engine: None,
        })
    }

    fn ready(&mut self, listen: Listen, reports: Vec<ThreadReport>) -> Ready {
        let engine = self.engine.as_mut().map(|(reader, _)| reader);
        Ready {
            gui: listen.gui && self.gui.0.is_ready(),
            engine: listen.engine && engine.is_some_and(Reader::is_ready),
            reports,
            ..Ready::default()
        }
    }
}

impl Port for ThreadPort {
    fn wait(
        &mut self,
        timeout: Option<Duration>,
        listen: Listen,
        _gui_left: &[u8],
        _engine_left: &[u8],
    ) -> Ready {
        // If the whole process was suspended, a thread may have read something without
        // reporting it.
        const LEAST_WAIT: Duration = Duration::from_millis(2);
        let ready = self.ready(listen, Vec::new());
        // Unwritten lines wait for a report that others were written: any report ends the
        // wait.
        let first = match timeout {
            _ if ready.gui || ready.engine => None,
            Some(timeout) => self.wakes.recv_timeout(timeout.max(LEAST_WAIT)).ok(),
            None => self.wakes.recv().ok(),
        };
        let wakes = first.into_iter().chain(self.wakes.try_iter());
        let reports = wakes.filter_map(|wake| match wake {
            Wake::Io => None,
            Wake::Report(report) => Some(report),
        });
        let reports = reports.collect();
        self.ready(listen, reports)
    }

    fn read(&mut self, from: Side, buffer: &mut LineBuffer) -> io::Result<usize> {
        match (from, &mut self.engine) {
            (Side::Gui, _) => buffer.fill(&mut self.gui.0),
            (Side::Engine, Some((reader, _))) => buffer.fill(reader),
            (Side::Engine, None) => Ok(0),
        }
    }

    fn write(&mut self, to: Side, lines: &mut Vec<u8>) -> io::Result<()> {
        match (to, &self.engine) {
            (Side::Gui, _) => self.gui.1.write(lines),
            (Side::Engine, Some((_, writer))) => writer.write(lines),
            (Side::Engine, None) => {
                lines.clear();
                Ok(())
            }
        }
    }

    fn attach(&mut self, stdin: File, stdout: File, _end: Option<File>) -> io::Result<()> {
        let reader = Reader::start(stdout, self.to_wakes.clone());
        self.engine = Some((reader, WriterThread::start(stdin, self.to_wakes.clone())));
        Ok(())
    }

    /// The thread that reads the output keeps it and reads on.
    fn detach(&mut self) -> Option<File> {
        self.engine = None;
        None
    }

    fn flush(&mut self, limit: Duration) {
        let until = Instant::now() + limit;
        while self.gui.1.waiting() > 0 && !self.gui.1.is_broken() {
            let left = until.saturating_duration_since(Instant::now());
            if self.wakes.recv_timeout(left).is_err() {
                return;
            }
        }
    }

    fn deliver(&self) -> Deliver {
        let to_wakes = self.to_wakes.clone();
        Arc::new(move |report| {
            let _ = to_wakes.send(Wake::Report(report));
        })
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    fn pipe() -> (File, File) {
        let (reader, writer) = io::pipe().unwrap();
        (
            File::from(OwnedFd::from(reader)),
            File::from(OwnedFd::from(writer)),
        )
    }

    const BOTH: Listen = Listen {
        gui: true,
        engine: true,
    };

    struct Ends {
        port: ThreadPort,
        gui_in: File,
        gui_out: File,
        engine_in: File,
        engine_out: File,
    }

    fn connected() -> Ends {
        let (input, gui_in) = pipe();
        let (gui_out, output) = pipe();
        let (engine_in, stdin) = pipe();
        let (stdout, engine_out) = pipe();
        let mut port = ThreadPort::new(input, output).unwrap();
        port.attach(stdin, stdout, None).unwrap();
        Ends {
            port,
            gui_in,
            gui_out,
            engine_in,
            engine_out,
        }
    }

    fn wait(port: &mut ThreadPort) -> Ready {
        port.wait(Some(Duration::from_secs(20)), BOTH, &[], &[])
    }

    #[test]
    fn bytes_come_from_both_sides_and_go_to_both() {
        let mut ends = connected();
        let mut buffer = LineBuffer::default();
        ends.gui_in.write_all(b"uci\n").unwrap();
        while !wait(&mut ends.port).gui {}
        ends.port.read(Side::Gui, &mut buffer).unwrap();
        assert_eq!(buffer.next_line(), Some(&b"uci"[..]));
        ends.engine_out.write_all(b"uciok\n").unwrap();
        while !wait(&mut ends.port).engine {}
        ends.port.read(Side::Engine, &mut buffer).unwrap();
        assert_eq!(buffer.next_line(), Some(&b"uciok"[..]));
        ends.port.write(Side::Gui, &mut b"to gui".to_vec()).unwrap();
        ends.port
            .write(Side::Engine, &mut b"to eng".to_vec())
            .unwrap();
        let mut bytes = [0; 6];
        ends.gui_out.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"to gui");
        ends.engine_in.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"to eng");
    }

    #[test]
    fn an_end_is_reported_once() {
        let mut ends = connected();
        drop(ends.engine_out);
        while !wait(&mut ends.port).engine {}
        let mut buffer = LineBuffer::default();
        assert_eq!(ends.port.read(Side::Engine, &mut buffer).unwrap(), 0);
        let ready = ends
            .port
            .wait(Some(Duration::from_millis(20)), BOTH, &[], &[]);
        assert!(!ready.engine);
    }

    /// A folder can be opened, but not read.
    #[test]
    fn an_error_is_the_end_of_a_pipe() {
        let mut ends = connected();
        let folder = tempfile::tempdir().unwrap();
        let (_engine_in, stdin) = pipe();
        let stdout = File::open(folder.path()).unwrap();
        ends.port.attach(stdin, stdout, None).unwrap();
        assert!((0..3).any(|_| wait(&mut ends.port).engine));
        let mut buffer = LineBuffer::default();
        assert_eq!(ends.port.read(Side::Engine, &mut buffer).unwrap(), 0);
    }

    /// The limit is not waited for.
    #[test]
    fn the_output_is_flushed_when_all_of_it_is_written() {
        let mut ends = connected();
        let (flushed, reports) = channel();
        let mut port = ends.port;
        port.write(Side::Gui, &mut b"bestmove e2e4\n".to_vec())
            .unwrap();
        thread::spawn(move || {
            port.flush(Duration::from_secs(3600));
            flushed.send(port.gui.1.waiting()).unwrap();
        });
        assert_eq!(reports.recv_timeout(Duration::from_secs(60)), Ok(0));
        let mut line = [0; 14];
        ends.gui_out.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"bestmove e2e4\n");
    }

    #[test]
    fn a_reader_that_sleeps_does_not_hold_us_up() {
        let mut ends = connected();
        let mut lines = Vec::new();
        for _ in 0..100 {
            lines.extend_from_slice(&[b'x'; 10_000]);
            ends.port.write(Side::Gui, &mut lines).unwrap();
        }
        let mut port = ends.port;
        // A pipe takes 64 KiB. How much of the rest waits with the thread, and how much is
        // still in `lines`, depends on when the thread runs.
        let waiting = port.gui.1.waiting();
        assert!(waiting + lines.len() > 900_000, "{waiting} {}", lines.len());
        drop(ends.gui_out);
        while !port.gui.1.is_broken() {
            wait(&mut port);
        }
        assert!(port.write(Side::Gui, &mut lines).is_err());
    }

    #[test]
    fn who_is_not_read_can_write_no_more() {
        let mut ends = connected();
        let mut engine_out = ends.engine_out;
        let written = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&written);
        thread::spawn(move || {
            while engine_out.write_all(&[b'x'; 1 << 14]).is_ok() {
                count.fetch_add(1 << 14, Ordering::Relaxed);
            }
        });
        let gui_only = Listen {
            gui: true,
            engine: false,
        };
        for _ in 0..20 {
            ends.port
                .wait(Some(Duration::from_millis(10)), gui_only, &[], &[]);
        }
        let stuck = written.load(Ordering::Relaxed);
        assert!(stuck < 1 << 20, "{stuck} bytes were taken in");
        // It continues when it is read.
        let mut buffer = LineBuffer::default();
        while written.load(Ordering::Relaxed) < stuck + (1 << 20) {
            wait(&mut ends.port);
            ends.port.read(Side::Engine, &mut buffer).unwrap();
        }
    }

    #[test]
    fn an_engine_that_was_replaced_is_not_read() {
        let mut ends = connected();
        ends.engine_out.write_all(b"old\n").unwrap();
        let (_engine_in, stdin) = pipe();
        let (stdout, mut engine_out) = pipe();
        ends.port.attach(stdin, stdout, None).unwrap();
        engine_out.write_all(b"new\n").unwrap();
        let mut buffer = LineBuffer::default();
        while !wait(&mut ends.port).engine {}
        ends.port.read(Side::Engine, &mut buffer).unwrap();
        assert_eq!(buffer.next_line(), Some(&b"new"[..]));
    }
}
