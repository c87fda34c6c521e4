//! I/O around the session: pipes, processes, timers.
//!
//! One loop waits for the next event (bytes of the GUI, bytes of the engine, an alarm,
//! opened books), passes it to [step](crate::session::Session::step) of the session,
//! carries out its requests and writes its lines. A forwarded line costs one read and one
//! write, without allocation or thread switch. Neither the GUI nor the engine can block
//! the loop: lines for a full pipe wait here, and an engine that writes faster than the
//! GUI reads is not read until there is room again.
//!
//! Waiting for several pipes at once differs between systems: see `port`. The thread of
//! the loop starts the engines, because on Linux an engine dies with the thread that
//! started it. A separate thread opens books.

mod cover;
mod learn;
mod port;
#[cfg(target_os = "linux")]
mod port_poll;
mod port_threads;
mod side_file;
mod system;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::session::{Event, GameRecord, Output, Request, Session, Side};
use crate::transcript::Transcript;
use cover::CoverFile;
pub use cover::check_cover;
use port::{Listen, Port, Ready, ThreadReport};
pub use side_file::SideFileError;
pub use system::{Warnings, standard_streams};
use system::{describe_end, handle_signals, into_file};
use tabia_choice::book_set::{BookSet, BookSpec, Opener};
use tabia_choice::seeds::TakenSeed;
use tabia_engine::{EngineCommand, EngineProcess, Spawned};
use tabia_io::sanitize::escape_control;
use tabia_uci::line::LineBuffer;

#[cfg(target_os = "linux")]
use port_poll::PollPort as SystemPort;
#[cfg(not(target_os = "linux"))]
use port_threads::ThreadPort as SystemPort;

/// [`Relay::quit_limit`] of the program.
const QUIT_LIMIT: Duration = Duration::from_secs(1);

/// How long an engine that has closed its output may take to end, and how long writing
/// the last lines for the GUI may take.
const LAST_OUTPUT_LIMIT: Duration = Duration::from_millis(200);

/// How often the input of a GUI that has closed its output is read before it counts as
/// closed too: some megabytes.
const LAST_READS: usize = 64;

/// The engine is not read while more than this waits for the GUI.
const HIGH_WATER: usize = 1 << 20;

/// The GUI is not read while more than this of its lines waits for the engine, or more
/// than this of the output waits for the GUI. More than [`HIGH_WATER`], so that its
/// `stop` is read while an engine sends too much.
const HIGHEST_WATER: usize = 4 << 20;

/// What a session needs from files. [`Opener`] has the books and
/// side files of the program; an implementation of your own may have books from anywhere.
pub trait Files: Send + Sync {
    /// Opens books: gets the requested books and the present book set, and returns the new
    /// book set and messages about it. It runs in a thread of its own.
    fn open_books(&self, books: &[BookSpec], present: &BookSet) -> (BookSet, Vec<String>);

    /// Takes the next seed of a file (`Book Seed File`); must not take long.
    ///
    /// # Errors
    ///
    /// There is none, or the file cannot be used.
    fn take_seed(&self, _path: &str) -> Result<TakenSeed, SideFileError> {
        Err(SideFileError::Other("seeds are not read here".to_owned()))
    }

    /// Finds the file of played lines of a book (`Book Cover`).
    fn cover_file(&self, _book: &str) -> Option<PathBuf> {
        None
    }

    /// Adds a line to the record of games.
    ///
    /// # Errors
    ///
    /// The line cannot be written; only the first error is reported.
    fn record(&self, _record: &GameRecord) -> Result<(), SideFileError> {
        Ok(())
    }
}

impl Files for Opener {
    fn open_books(&self, books: &[BookSpec], present: &BookSet) -> (BookSet, Vec<String>) {
        self.book_set(books, present)
    }

    fn take_seed(&self, path: &str) -> Result<TakenSeed, SideFileError> {
        Ok(Opener::take_seed(self, path)?)
    }

    fn cover_file(&self, book: &str) -> Option<PathBuf> {
        Opener::cover_file(self, book)
    }
}

/// The adapter's streams and helpers.
#[non_exhaustive]
pub struct Environment {
    /// From the GUI, without buffering.
    pub input: File,
    /// To the GUI, without buffering.
    pub output: File,
    /// How to start the engine of each profile.
    pub commands: Vec<EngineCommand>,
    /// Opens the books and the files beside them.
    pub files: Arc<dyn Files>,
    /// Writes the session to a file.
    pub transcript: Option<Transcript>,
    /// Messages for the user about the above, sent with the first `uciok`.
    pub remarks: Vec<String>,
}

impl Environment {
    /// The streams (see [`standard_streams`]), how to start the engine of each profile, and
    /// the files; without transcript and remarks.
    pub fn new(
        (input, output): (File, File),
        commands: Vec<EngineCommand>,
        files: impl Files + 'static,
    ) -> Environment {
        Environment {
            input,
            output,
            commands,
            files: Arc::new(files),
            transcript: None,
            remarks: Vec::new(),
        }
    }
}

/// How a session has ended.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExitStatus {
    /// The exit code for the program.
    pub code: u8,
    /// The reason, if the end is not ordinary.
    pub reason: Option<String>,
}

/// Runs a session to its end.
///
/// On return the engine has ended. Threads that wait for input may still run; the process
/// is expected to end.
///
/// # Errors
///
/// The system cannot wait for these streams.
pub fn run(session: Session, environment: Environment) -> io::Result<ExitStatus> {
    run_through(SystemPort::new, session, environment, QUIT_LIMIT)
}

fn run_through<P: Port>(
    open: impl FnOnce(File, File) -> io::Result<P>,
    session: Session,
    environment: Environment,
    quit_limit: Duration,
) -> io::Result<ExitStatus> {
    let at_terminal = environment.output.is_terminal();
    let Environment {
        input,
        output,
        commands,
        files,
        transcript,
        remarks,
    } = environment;
    let mut relay = Relay::new(open(input, output)?, session, (commands, files));
    relay.lines.transcript = transcript;
    relay.lines.remarks = remarks;
    relay.lines.at_terminal = at_terminal;
    relay.quit_limit = quit_limit;
    handle_signals(&relay.port);
    relay.session.start(&mut relay.lines);
    let code = relay.work();
    relay.end();
    Ok(ExitStatus {
        code,
        reason: relay.session.end_reason().map(str::to_owned),
    })
}

/// Output and requests of the session that are not written or carried out yet.
#[derive(Debug, Default)]
struct Lines {
    gui: Vec<u8>,
    engine: Vec<u8>,
    requests: VecDeque<Request>,
    transcript: Option<Transcript>,
    /// Messages to send after the first `uciok`.
    remarks: Vec<String>,
    /// The output goes to a terminal: control characters of the engine are escaped.
    at_terminal: bool,
}

impl Lines {
    /// Passes an event to the session, and writes both to the transcript.
    fn step(&mut self, session: &mut Session, now: Duration, event: Event<'_>, book_set: &BookSet) {
        if let Some(transcript) = &mut self.transcript {
            transcript.event(now, &event, book_set);
        }
        session.step(now, event, book_set, self);
    }

    /// Flushes the transcript.
    fn write_down(&mut self) {
        if let Some(trouble) = self.transcript.as_mut().and_then(Transcript::flush) {
            log::error!("the log cannot be written any more: {trouble}");
            self.transcript = None;
        }
    }

    /// Sends a line that does not come from the session. In a transcript it is a remark,
    /// because a replayed session would not produce it.
    fn put_remark(&mut self, line: &str) {
        if let Some(transcript) = &mut self.transcript {
            transcript.remark(line);
        }
        self.put(line.as_bytes());
    }

    /// Adds a line for the GUI.
    fn put(&mut self, line: &[u8]) {
        if self.at_terminal {
            // A tab is the only control character that is allowed in text.
            let text = escape_control(&String::from_utf8_lossy(line));
            self.gui.extend_from_slice(text.as_bytes());
        } else {
            self.gui.extend_from_slice(line);
        }
        self.gui.push(b'\n');
    }
}

impl Output for Lines {
    fn gui(&mut self, line: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.to_gui(line);
        }
        self.put(line);
        if !self.remarks.is_empty() && line == b"uciok" {
            for remark in std::mem::take(&mut self.remarks) {
                self.put_remark(&format!("info string {remark}"));
            }
        }
    }

    fn engine(&mut self, line: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.to_engine(line);
        }
        self.engine.extend_from_slice(line);
        self.engine.push(b'\n');
    }

    fn request(&mut self, request: Request) {
        if let Some(transcript) = &mut self.transcript {
            transcript.request(&request);
        }
        self.requests.push_back(request);
    }
}

struct Relay<P: Port> {
    session: Session,
    book_set: Arc<BookSet>,
    port: P,
    lines: Lines,
    gui: LineBuffer,
    engine: Option<EngineProcess>,
    engine_lines: LineBuffer,
    commands: Vec<EngineCommand>,
    files: Arc<dyn Files>,
    cover: CoverFile,
    /// The message that games cannot be recorded has been sent.
    record_reported: bool,
    /// The GUI has closed its end of Tabia's output.
    gui_gone: bool,
    begun: Instant,
    wake_at: Option<Instant>,
    /// The engine's process has ended, but a child process has its output open: until
    /// when the output is still read.
    output_until: Option<Instant>,
    /// Since when the engine is not read, because the GUI does not read.
    unread_since: Option<Instant>,
    /// The message about where games are recorded, or why not, has been sent.
    learn_reported: bool,
    /// Number of requests to open books.
    opening: u64,
    /// Messages about books that have been written to standard error.
    reported: Vec<String>,
    /// How long the engine may take to end by itself after `quit`.
    quit_limit: Duration,
}

impl<P: Port> Relay<P> {
    /// A session with these pipes, engines and files that has not begun.
    fn new(
        port: P,
        session: Session,
        (commands, files): (Vec<EngineCommand>, Arc<dyn Files>),
    ) -> Relay<P> {
        Relay {
            session,
            book_set: Arc::default(),
            begun: port.now(),
            port,
            lines: Lines::default(),
            gui: LineBuffer::default(),
            engine: None,
            engine_lines: LineBuffer::default(),
            commands,
            files,
            cover: CoverFile::default(),
            record_reported: false,
            gui_gone: false,
            wake_at: None,
            output_until: None,
            unread_since: None,
            learn_reported: false,
            opening: 0,
            reported: Vec::new(),
            quit_limit: QUIT_LIMIT,
        }
    }

    /// Runs until the session ends; returns the exit code.
    fn work(&mut self) -> u8 {
        loop {
            while let Some(request) = self.lines.requests.pop_front() {
                if let Some(code) = self.carry_out(request) {
                    return code;
                }
            }
            self.cover.unlock();
            if self.gui_gone {
                self.lines.gui.clear();
            } else if self.port.write(Side::Gui, &mut self.lines.gui).is_err() {
                // The GUI has closed its end of the pipe.
                self.gui_is_gone();
                continue;
            }
            if self
                .port
                .write(Side::Engine, &mut self.lines.engine)
                .is_err()
            {
                // The end of the engine's output will be reported as its end.
                self.lines.engine.clear();
            }
            self.lines.write_down();
            self.session.look_ahead(&self.book_set);
            let for_engine = self.lines.engine.len() + self.session.backlog();
            let listen = Listen {
                gui: for_engine.max(self.lines.gui.len()) < HIGHEST_WATER,
                engine: self.lines.gui.len() < HIGH_WATER,
            };
            if listen.engine {
                self.end_unread();
            } else {
                self.prolong_output();
                self.unread_since.get_or_insert_with(|| self.port.now());
            }
            // Lines that arrived before the wait must not count as late: the clock is
            // read first, and lines that have arrived since are handled before any alarm,
            // even if this process was suspended in between.
            let now = self.port.now();
            let timeout = self.next_alarm(now);
            let ready = self
                .port
                .wait(timeout, listen, &self.lines.gui, &self.lines.engine);
            let gui_closed = ready.gui_closed;
            self.attend(ready, listen, now);
            if gui_closed {
                self.gui_is_gone();
            }
        }
    }

    /// The GUI reads no more: the session ends as if its input had ended, so that the game
    /// is recorded. What the GUI has sent before is read first: a program that ends may
    /// have sent the last moves of the game. A program that is killed closes both pipes at once;
    /// `--games` and `Book Learn` once lost such games.
    fn gui_is_gone(&mut self) {
        if std::mem::replace(&mut self.gui_gone, true) {
            return;
        }
        self.lines.gui.clear();
        let listen = Listen {
            gui: true,
            engine: false,
        };
        for _ in 0..LAST_READS {
            let now = self.port.now();
            let ready = self.port.wait(Some(Duration::ZERO), listen, &[], &[]);
            let is_read = ready.gui;
            self.attend(ready, listen, now);
            if !is_read {
                break;
            }
        }
        self.step(Event::GuiClosed);
    }

    /// Carries out a request of the session; returns the exit code if it ends.
    fn carry_out(&mut self, request: Request) -> Option<u8> {
        match request {
            Request::StartEngine(index) => self.start_engine(index),
            Request::KillEngine => self.kill_engine(),
            Request::OpenBooks(books) => self.open(books),
            Request::WakeUp(after) => self.wake_at = self.port.now().checked_add(after),
            Request::NoteGame(note) => self.note(&note),
            Request::TakeSeed(path) => {
                let taken = self.files.take_seed(&path);
                if let Ok(TakenSeed {
                    skipped: Some(text),
                    ..
                }) = &taken
                {
                    self.lines.put_remark(&format!("info string {text}"));
                }
                let seed = taken
                    .map(|taken| taken.seed)
                    .map_err(|error| error.to_string());
                self.step(Event::Seed(seed.as_ref().copied().map_err(String::as_str)));
            }
            Request::ReadCover(book) => {
                let read = self.cover.read(self.files.cover_file(&book));
                let read = read.map_err(|error| format!("the move is drawn: {error}"));
                self.step(Event::Cover(read.as_deref().map_err(String::as_str)));
            }
            Request::AddCover(line) => {
                if let Err(error) = self.cover.add(&line) {
                    log::warn!("a played line is not written: {error}");
                }
            }
            Request::Record(record) => {
                if let Err(text) = self.files.record(&record)
                    && !std::mem::replace(&mut self.record_reported, true)
                {
                    self.lines.put_remark(&format!("info string {text}"));
                }
            }
            Request::Exit(code) => return Some(code),
        }
        None
    }

    /// Handles the events of a wait that began at `now`.
    fn attend(&mut self, ready: Ready, listen: Listen, now: Instant) {
        for report in ready.reports {
            self.receive(report);
        }
        if ready.engine {
            self.prolong_output();
            if self.read(Side::Engine) {
                self.engine_is_over();
            }
        } else if listen.engine && self.output_until.is_some_and(|at| at <= now) {
            // The wait included its output, and there was none.
            self.engine_is_over();
        }
        if ready.engine_ended {
            self.on_process_ended();
        }
        if ready.gui && self.read(Side::Gui) {
            self.step(Event::GuiClosed);
        }
        if self.wake_at.is_some_and(|at| at <= now) {
            self.wake_at = None;
            self.step(Event::WakeUp);
        }
        if self.is_overdue(now) && self.unread_since.is_some() {
            // The answer may have been waiting unread.
            self.end_unread();
        }
        if self.is_overdue(now) {
            self.step(Event::Overdue);
        }
    }

    fn receive(&mut self, report: ThreadReport) {
        match report {
            ThreadReport::Books(number, book_set, messages) if number == self.opening => {
                self.book_set = Arc::new(book_set);
                self.report(&messages);
                self.step(Event::BooksOpened(&messages));
            }
            // The result of an older request.
            ThreadReport::Books(..) => {}
            #[cfg(unix)]
            ThreadReport::Terminate => self.step(Event::GuiClosed),
        }
    }

    /// Writes messages about the books to standard error too, each of them once: match
    /// managers show no `info string`.
    fn report(&mut self, messages: &[String]) {
        for message in messages {
            if !self.reported.contains(message) {
                log::error!("{message}");
                self.reported.push(message.clone());
            }
        }
    }

    fn now(&self) -> Duration {
        self.since(self.begun)
    }

    fn since(&self, begun: Instant) -> Duration {
        whole_micros(self.port.now().saturating_duration_since(begun))
    }

    /// The time until the next alarm.
    fn next_alarm(&self, now: Instant) -> Option<Duration> {
        let alarm = self.wake_at.into_iter().chain(self.output_until).min();
        let alarm = alarm.map(|at| at.saturating_duration_since(now));
        let deadline = self
            .session
            .deadline()
            // The session counts whole microseconds: an alarm must not come before them.
            .map(|due| due.saturating_sub(now - self.begun) + Duration::from_micros(1));
        match (alarm, deadline) {
            (Some(alarm), Some(deadline)) => Some(alarm.min(deadline)),
            (alarm, deadline) => alarm.or(deadline),
        }
    }

    fn is_overdue(&self, now: Instant) -> bool {
        let now = whole_micros(now.saturating_duration_since(self.begun));
        self.session.deadline().is_some_and(|due| due <= now)
    }

    /// Reports to the session how long the engine was not read.
    fn end_unread(&mut self) {
        if let Some(since) = self.unread_since.take() {
            self.step(Event::OutputPaused(self.since(since)));
        }
    }

    fn step(&mut self, event: Event<'_>) {
        let now = self.now();
        self.lines
            .step(&mut self.session, now, event, &self.book_set);
    }

    /// Passes the lines of a side to the session; true at the end of its pipe.
    fn read(&mut self, side: Side) -> bool {
        let (lines, event_of): (_, fn(&[u8]) -> Event<'_>) = match side {
            Side::Gui => (&mut self.gui, |line| Event::Gui(line)),
            Side::Engine => (&mut self.engine_lines, |line| Event::Engine(line)),
        };
        let read = self.port.read(side, lines);
        let now = whole_micros(self.port.now().saturating_duration_since(self.begun));
        let (session, book_set, out) = (&mut self.session, &*self.book_set, &mut self.lines);
        while let Some(line) = lines.next_line() {
            out.step(session, now, event_of(line), book_set);
        }
        let is_over = !matches!(read, Ok(1..));
        if is_over && let Some(line) = lines.last_line() {
            out.step(session, now, event_of(line), book_set);
        }
        if lines.take_dropped() > 0 {
            out.step(session, now, Event::Overlong(side), book_set);
        }
        is_over
    }

    /// The engine's process has ended. Its output ends too, unless its child processes
    /// have it open: these are killed now.
    fn on_process_ended(&mut self) {
        if let Some(engine) = &self.engine {
            let _ = engine.status();
            self.output_until = Some(self.port.now() + LAST_OUTPUT_LIMIT);
        }
    }

    /// The time limit for the engine's last lines starts when they can be read.
    fn prolong_output(&mut self) {
        if let Some(until) = &mut self.output_until {
            *until = self.port.now() + LAST_OUTPUT_LIMIT;
        }
    }

    /// The engine's output has ended.
    fn engine_is_over(&mut self) {
        let status = self
            .engine
            .as_ref()
            .and_then(|engine| engine.wait(LAST_OUTPUT_LIMIT));
        self.kill_engine();
        self.step(Event::EngineGone(&describe_end(status)));
    }

    fn kill_engine(&mut self) {
        self.output_until = None;
        // Close the pipes first: an engine that waits for input ends by itself.
        self.port.detach();
        self.lines.engine.clear();
        self.engine_lines = LineBuffer::default();
        if let Some(engine) = self.engine.take() {
            engine.kill();
        }
    }

    fn start_engine(&mut self, index: usize) {
        self.kill_engine();
        let Some(command) = self.commands.get(index) else {
            return self.step(Event::EngineGone("there is no such engine"));
        };
        let started = command.spawn().map_err(|error| error.to_string());
        let started = started.and_then(|spawned| {
            let Spawned {
                process,
                stdin,
                stdout,
            } = spawned;
            let end = process.end();
            let attached = self.port.attach(into_file(stdin), into_file(stdout), end);
            attached
                .map(|()| process)
                .map_err(|error| error.to_string())
        });
        match started {
            Ok(process) => {
                self.engine = Some(process);
                self.step(Event::EngineUp);
            }
            Err(reason) => self.step(Event::EngineGone(&reason)),
        }
    }

    /// Opens books in a separate thread, because opening a file may block for ever.
    fn open(&mut self, books: Vec<BookSpec>) {
        self.opening += 1;
        let number = self.opening;
        let present = Arc::clone(&self.book_set);
        let files = Arc::clone(&self.files);
        let deliver = self.port.deliver();
        let work = move || {
            let opened = catch_unwind(AssertUnwindSafe(|| files.open_books(&books, &present)));
            let (book_set, messages) = opened.unwrap_or_else(|_| {
                let trouble = "the books cannot be opened: see standard error";
                (BookSet::default(), vec![trouble.to_owned()])
            });
            deliver(ThreadReport::Books(number, book_set, messages));
        };
        // If no thread can be started, this one does the work.
        let work = Arc::new(Mutex::new(Some(work)));
        let taken = Arc::clone(&work);
        let run = move || {
            let work = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.into_iter().for_each(|work| work());
        };
        if let Err(error) = thread::Builder::new().name("books".to_owned()).spawn(run) {
            log::warn!("books are opened without a thread of their own: {error}");
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.into_iter().for_each(|work| work());
        }
    }

    /// Writes the remaining output to the GUI, then ends the engine: by `quit`, then by
    /// closing its input, then by force.
    fn end(&mut self) {
        self.lines.write_down();
        let until = Instant::now() + LAST_OUTPUT_LIMIT;
        while self.port.write(Side::Gui, &mut self.lines.gui).is_ok()
            && !self.lines.gui.is_empty()
            && Instant::now() < until
        {
            thread::sleep(Duration::from_millis(1));
        }
        if let Some(engine) = self.engine.take() {
            if let Some(transcript) = &mut self.lines.transcript {
                transcript.remark("the engine gets \"quit\"");
            }
            self.lines.engine.extend_from_slice(b"quit\n");
            let _ = self.port.write(Side::Engine, &mut self.lines.engine);
            // Continue to read, so that an engine which still writes can end.
            if let Some(mut output) = self.port.detach() {
                let drain = move || io::copy(&mut output, &mut io::sink());
                let _ = thread::Builder::new().spawn(drain);
            }
            if engine.wait(self.quit_limit).is_none() {
                log::warn!("the engine ignores \"quit\" and is killed");
            }
            engine.kill();
        }
        self.lines.write_down();
        self.port.flush(LAST_OUTPUT_LIMIT);
    }
}

/// Whole microseconds, the precision of a transcript: the rest is cut off.
fn whole_micros(time: Duration) -> Duration {
    Duration::new(time.as_secs(), time.subsec_micros() * 1000)
}

#[cfg(all(test, unix))]
mod tests;
