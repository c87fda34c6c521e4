//! Waiting with threads, where pipes cannot be polled (Windows) or where that
//! was never tried: one thread reads each side, one writes to each.
//!
//! It runs everywhere, and is tested everywhere.

#![cfg_attr(target_os = "linux", allow(dead_code))]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::port::{Deliver, Listen, News, Port, Ready};
use tabia_uci::line::LineBuffer;

/// What the threads report.
enum PortEvent {
    /// Bytes of the GUI; none at its end.
    Gui(Vec<u8>),
    /// Bytes of the engine with this number; none at its end.
    Engine(u64, Vec<u8>),
    News(News),
    /// A writer has written so many bytes; `None` when its pipe is closed.
    GuiWritten(Option<usize>),
    EngineWritten(u64, Option<usize>),
}

/// A pipe and the thread that writes to it.
#[derive(Default)]
struct Writer {
    to_thread: Option<Sender<Vec<u8>>>,
    /// Bytes that the thread has not written yet.
    waiting: usize,
    broken: bool,
}

impl Writer {
    fn start(mut file: File, written: impl Fn(Option<usize>) + Send + 'static) -> Writer {
        let (to_thread, lines) = channel::<Vec<u8>>();
        thread::spawn(move || {
            for piece in lines {
                if file.write_all(&piece).is_err() {
                    return written(None);
                }
                written(Some(piece.len()));
            }
        });
        Writer {
            to_thread: Some(to_thread),
            waiting: 0,
            broken: false,
        }
    }

    /// Hands lines to the thread, unless it has enough to do.
    fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        const ENOUGH: usize = 1 << 16;
        if self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if lines.is_empty() || self.waiting > ENOUGH {
            return Ok(());
        }
        let piece = std::mem::take(lines);
        self.waiting += piece.len();
        match &self.to_thread {
            Some(to_thread) => to_thread
                .send(piece)
                .map_err(|_| io::ErrorKind::BrokenPipe.into()),
            None => Ok(()),
        }
    }

    fn written(&mut self, count: Option<usize>) {
        match count {
            Some(count) => self.waiting = self.waiting.saturating_sub(count),
            None => self.broken = true,
        }
    }
}

/// Keeps a thread from reading more than can be used: counts the bytes that were read
/// and not taken yet.
#[derive(Default)]
struct Gate {
    unused: Mutex<Unused>,
    taken: Condvar,
}

#[derive(Default)]
struct Unused {
    bytes: usize,
    /// The data is not taken any more: the thread may read freely.
    open: bool,
}

impl Gate {
    /// The thread has read so much; waits if that is too much.
    fn put(&self, count: usize) {
        const ENOUGH: usize = 1 << 18;
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.bytes += count;
        while unused.bytes > ENOUGH && !unused.open {
            unused = self
                .taken
                .wait(unused)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn take(&self, count: usize) {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.bytes = unused.bytes.saturating_sub(count);
        self.taken.notify_one();
    }

    fn open(&self) {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.open = true;
        self.taken.notify_one();
    }
}

/// Bytes that have come and were not read yet.
#[derive(Default)]
struct Inbox {
    pieces: VecDeque<Vec<u8>>,
    at_end: bool,
    gate: Arc<Gate>,
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.gate.open();
    }
}

impl Inbox {
    fn put(&mut self, piece: Vec<u8>) {
        if piece.is_empty() {
            self.at_end = true;
        } else {
            self.pieces.push_back(piece);
        }
    }

    fn is_ready(&self) -> bool {
        self.at_end || !self.pieces.is_empty()
    }
}

impl Read for Inbox {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = self.pieces.front_mut() else {
            // The end is reported once.
            self.at_end = false;
            return Ok(0);
        };
        let count = piece.as_slice().read(buffer)?;
        piece.drain(..count);
        self.gate.take(count);
        if piece.is_empty() {
            self.pieces.pop_front();
        }
        Ok(count)
    }
}

/// The pipes and the threads around them.
pub(super) struct ThreadPort {
    reports: Receiver<PortEvent>,
    to_reports: Sender<PortEvent>,
    gui: Inbox,
    gui_writer: Writer,
    /// Number of the present engine: late reports of an earlier one are ignored.
    engine_number: u64,
    engine: Inbox,
    engine_writer: Writer,
    news: Vec<News>,
}

fn start_reader(
    mut file: File,
    report: impl Fn(Vec<u8>) -> PortEvent + Send + 'static,
    to: Sender<PortEvent>,
    gate: Arc<Gate>,
) {
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        loop {
            let count = match file.read(&mut bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let piece = bytes.get(..count).unwrap_or_default().to_vec();
            if to.send(report(piece)).is_err() || count == 0 {
                return;
            }
            gate.put(count);
        }
    });
}

impl ThreadPort {
    pub(super) fn new(input: File, output: File) -> io::Result<ThreadPort> {
        let (to_reports, reports) = channel();
        let gui = Inbox::default();
        start_reader(input, PortEvent::Gui, to_reports.clone(), gui.gate.clone());
        let written = to_reports.clone();
        Ok(ThreadPort {
            reports,
            gui,
            gui_writer: Writer::start(output, move |count| {
                let _ = written.send(PortEvent::GuiWritten(count));
            }),
            to_reports,
            engine_number: 0,
            engine: Inbox::default(),
            engine_writer: Writer::default(),
            news: Vec::new(),
        })
    }

    fn take_in(&mut self, report: PortEvent) {
        match report {
            PortEvent::Gui(piece) => self.gui.put(piece),
            PortEvent::Engine(number, piece) => {
                if number == self.engine_number {
                    self.engine.put(piece);
                }
            }
            PortEvent::News(news) => self.news.push(news),
            PortEvent::GuiWritten(count) => self.gui_writer.written(count),
            PortEvent::EngineWritten(number, count) => {
                if number == self.engine_number {
                    self.engine_writer.written(count);
                }
            }
        }
    }

    fn is_ready(&self, listen: Listen) -> bool {
        (listen.gui && self.gui.is_ready())
            || (listen.engine && self.engine.is_ready())
            || !self.news.is_empty()
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
        // A thread that has read something may not have come to report it
        // when all of us could not run.
        const HAIR: Duration = Duration::from_millis(2);
        // Lines that are left wait for a report that others were written:
        // any report ends the wait.
        if !self.is_ready(listen) {
            let first = match timeout {
                Some(timeout) => self.reports.recv_timeout(timeout.max(HAIR)).ok(),
                None => self.reports.recv().ok(),
            };
            if let Some(report) = first {
                self.take_in(report);
            }
        }
        while let Ok(report) = self.reports.try_recv() {
            self.take_in(report);
        }
        Ready {
            gui: listen.gui && self.gui.is_ready(),
            engine: listen.engine && self.engine.is_ready(),
            news: std::mem::take(&mut self.news),
            ..Ready::default()
        }
    }

    fn read_gui(&mut self, buffer: &mut LineBuffer) -> io::Result<usize> {
        buffer.fill(&mut self.gui)
    }

    fn read_engine(&mut self, buffer: &mut LineBuffer) -> io::Result<usize> {
        buffer.fill(&mut self.engine)
    }

    fn write_gui(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.gui_writer.write(lines)
    }

    fn write_engine(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        if self.engine_writer.to_thread.is_none() {
            lines.clear();
        }
        self.engine_writer.write(lines)
    }

    fn attach(&mut self, stdin: File, stdout: File, _end: Option<File>) -> io::Result<()> {
        self.detach();
        let number = self.engine_number;
        start_reader(
            stdout,
            move |piece| PortEvent::Engine(number, piece),
            self.to_reports.clone(),
            self.engine.gate.clone(),
        );
        let written = self.to_reports.clone();
        self.engine_writer = Writer::start(stdin, move |count| {
            let _ = written.send(PortEvent::EngineWritten(number, count));
        });
        Ok(())
    }

    /// The output stays with the thread that reads it, which goes on.
    fn detach(&mut self) -> Option<File> {
        self.engine_number += 1;
        self.engine = Inbox::default();
        self.engine_writer = Writer::default();
        None
    }

    fn settle(&mut self, limit: Duration) {
        let until = Instant::now() + limit;
        while self.gui_writer.waiting > 0 && !self.gui_writer.broken {
            let left = until.saturating_duration_since(Instant::now());
            match self.reports.recv_timeout(left) {
                Ok(report) => self.take_in(report),
                Err(_) => return,
            }
        }
    }

    fn deliver(&self) -> Deliver {
        let to_reports = self.to_reports.clone();
        Arc::new(move |news| {
            let _ = to_reports.send(PortEvent::News(news));
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
        ends.port.read_gui(&mut buffer).unwrap();
        assert_eq!(buffer.next_line(), Some(&b"uci"[..]));
        ends.engine_out.write_all(b"uciok\n").unwrap();
        while !wait(&mut ends.port).engine {}
        ends.port.read_engine(&mut buffer).unwrap();
        assert_eq!(buffer.next_line(), Some(&b"uciok"[..]));
        ends.port.write_gui(&mut b"to gui".to_vec()).unwrap();
        ends.port.write_engine(&mut b"to eng".to_vec()).unwrap();
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
        assert_eq!(ends.port.read_engine(&mut buffer).unwrap(), 0);
        let ready = ends
            .port
            .wait(Some(Duration::from_millis(20)), BOTH, &[], &[]);
        assert!(!ready.engine);
    }

    #[test]
    fn a_reader_that_sleeps_does_not_hold_us_up() {
        let mut ends = connected();
        let mut lines = Vec::new();
        for _ in 0..100 {
            lines.extend_from_slice(&[b'x'; 10_000]);
            ends.port.write_gui(&mut lines).unwrap();
        }
        // Some has been handed over, the rest is still ours.
        assert!(lines.len() > 100_000, "{}", lines.len());
        let mut port = ends.port;
        drop(ends.gui_out);
        while !port.gui_writer.broken {
            wait(&mut port);
        }
        assert!(port.write_gui(&mut lines).is_err());
    }

    #[test]
    fn who_is_not_read_can_write_no_more() {
        let mut ends = connected();
        let mut engine_out = ends.engine_out;
        let written = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = Arc::clone(&written);
        thread::spawn(move || {
            while engine_out.write_all(&[b'x'; 1 << 14]).is_ok() {
                count.fetch_add(1 << 14, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let deaf = Listen {
            gui: true,
            engine: false,
        };
        for _ in 0..20 {
            ends.port
                .wait(Some(Duration::from_millis(10)), deaf, &[], &[]);
        }
        let stuck = written.load(std::sync::atomic::Ordering::Relaxed);
        assert!(stuck < 1 << 20, "{stuck} bytes were taken in");
        // It goes on when it is read.
        let mut buffer = LineBuffer::default();
        while written.load(std::sync::atomic::Ordering::Relaxed) < stuck + (1 << 20) {
            wait(&mut ends.port);
            ends.port.read_engine(&mut buffer).unwrap();
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
        ends.port.read_engine(&mut buffer).unwrap();
        assert_eq!(buffer.next_line(), Some(&b"new"[..]));
    }
}
