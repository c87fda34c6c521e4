//! The rim of the adapter: pipes, processes and clocks around the session.
//!
//! One loop waits for whatever comes first — bytes of the GUI, bytes of the
//! engine, an alarm, books that have been opened — lets the session
//! [step](crate::session::Session::step), does what it asks for and writes
//! what it says. A forwarded line costs one read and one write and no change
//! of threads; nothing is allocated for it. Nobody can block the loop: a pipe
//! that is full keeps its lines here, and an engine that talks faster than
//! the GUI listens is not read until there is room again.
//!
//! How to wait for several pipes at once differs between systems: see
//! `port`. Engines are started by the thread that runs the loop, because on
//! Linux an engine dies with the thread that started it. Books are opened in
//! a thread of their own.

mod learn;
mod port;
#[cfg(unix)]
mod port_poll;
mod port_threads;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{EngineCommand, EngineProcess, Spawned};
use crate::session::{Event, Outlet, Request, Session};
use crate::shelf::{BookSpec, Shelf};
use crate::uci::line::LineBuffer;
use port::{Port, Ready};

#[cfg(unix)]
use port_poll::PollPort as SystemPort;
#[cfg(not(unix))]
use port_threads::ThreadPort as SystemPort;

/// How long an engine may take to end by itself after `quit`.
const QUIT_LIMIT: Duration = Duration::from_secs(1);

/// How long an engine that has closed its output may take to end, and how
/// long the last lines for the GUI may take.
const LAST_WORDS_LIMIT: Duration = Duration::from_millis(200);

/// The engine is not read while more than this waits for the GUI.
const HIGH_WATER: usize = 1 << 20;

/// Opens books: gets those wanted and the present shelf, gives the new shelf
/// and what there is to say about it.
pub type OpenBooks = Arc<dyn Fn(&[BookSpec], &Shelf) -> (Shelf, Vec<String>) + Send + Sync>;

/// The adapter's streams and helpers.
pub struct Rim {
    /// From the GUI, without buffering.
    pub input: File,
    /// To the GUI, without buffering.
    pub output: File,
    /// How to start the engine of each profile.
    pub commands: Vec<EngineCommand>,
    /// Opens books.
    pub open_books: OpenBooks,
}

/// Runs a session to its end; the exit code.
///
/// On return the engine is gone. Threads that wait for input may still be
/// there; the process is expected to end.
///
/// # Errors
///
/// The system does not let us wait for the streams.
pub fn run(session: Session, rim: Rim) -> io::Result<u8> {
    let port = SystemPort::new(rim.input, rim.output)?;
    let mut relay = Relay {
        session,
        shelf: Arc::default(),
        port,
        lines: Lines::default(),
        gui: LineBuffer::default(),
        engine: None,
        engine_lines: LineBuffer::default(),
        commands: rim.commands,
        open_books: rim.open_books,
        begun: Instant::now(),
        wake_at: None,
        learn_told: false,
    };
    relay.session.start(&mut relay.lines);
    let code = relay.work();
    relay.end();
    Ok(code)
}

/// What the session has said and not yet been carried out.
#[derive(Debug, Default)]
struct Lines {
    gui: Vec<u8>,
    engine: Vec<u8>,
    requests: VecDeque<Request>,
}

impl Outlet for Lines {
    fn gui(&mut self, line: &[u8]) {
        trace("gui<", line);
        self.gui.extend_from_slice(line);
        self.gui.push(b'\n');
    }

    fn engine(&mut self, line: &[u8]) {
        trace("eng<", line);
        self.engine.extend_from_slice(line);
        self.engine.push(b'\n');
    }

    fn request(&mut self, request: Request) {
        self.requests.push_back(request);
    }
}

/// Writes a line of the conversation to the log.
fn trace(direction: &str, line: &[u8]) {
    if log::log_enabled!(log::Level::Debug) {
        log::debug!("{direction} {}", String::from_utf8_lossy(line));
    }
}

struct Relay<P: Port> {
    session: Session,
    shelf: Arc<Shelf>,
    port: P,
    lines: Lines,
    gui: LineBuffer,
    engine: Option<EngineProcess>,
    engine_lines: LineBuffer,
    commands: Vec<EngineCommand>,
    open_books: OpenBooks,
    begun: Instant,
    wake_at: Option<Instant>,
    /// The user knows where games are noted, or that they are not.
    learn_told: bool,
}

impl<P: Port> Relay<P> {
    /// Works until the session wants to end; the exit code.
    fn work(&mut self) -> u8 {
        loop {
            while let Some(request) = self.lines.requests.pop_front() {
                if let Some(code) = self.carry_out(request) {
                    return code;
                }
            }
            if self.port.write_gui(&mut self.lines.gui).is_err() {
                // Nobody listens any more.
                return 0;
            }
            if self.port.write_engine(&mut self.lines.engine).is_err() {
                // It will be heard of by the end of its output.
                self.lines.engine.clear();
            }
            let timeout = self
                .wake_at
                .map(|at| at.saturating_duration_since(Instant::now()));
            let listen = self.lines.gui.len() < HIGH_WATER;
            let ready = self
                .port
                .wait(timeout, listen, &self.lines.gui, &self.lines.engine);
            self.attend(ready);
        }
    }

    /// Carries out what the session asks for; the exit code if it ends.
    fn carry_out(&mut self, request: Request) -> Option<u8> {
        match request {
            Request::StartEngine(index) => self.start_engine(index),
            Request::KillEngine => self.kill_engine(),
            Request::OpenBooks(books) => self.open(books),
            Request::NoteGame(note) => self.note(&note),
            Request::WakeUp(after) => self.wake_at = Some(Instant::now() + after),
            Request::Exit(code) => return Some(code),
        }
        None
    }

    fn attend(&mut self, ready: Ready) {
        if let Some((shelf, messages)) = ready.books {
            self.shelf = Arc::new(shelf);
            self.step(Event::BooksOpened(&messages));
        }
        if ready.engine {
            self.read_engine();
        }
        if ready.gui {
            self.read_gui();
        }
        if self.wake_at.is_some_and(|at| at <= Instant::now()) {
            self.wake_at = None;
            self.step(Event::WakeUp);
        }
    }

    fn step(&mut self, event: Event<'_>) {
        let now = self.begun.elapsed();
        self.session.step(now, event, &self.shelf, &mut self.lines);
    }

    fn read_gui(&mut self) {
        let read = self.port.read_gui(&mut self.gui);
        let now = self.begun.elapsed();
        let (session, shelf, out) = (&mut self.session, &*self.shelf, &mut self.lines);
        while let Some(line) = self.gui.next_line() {
            trace("gui>", line);
            session.step(now, Event::Gui(line), shelf, out);
        }
        if !matches!(read, Ok(1..)) {
            if let Some(line) = self.gui.last_line() {
                trace("gui>", line);
                session.step(now, Event::Gui(line), shelf, out);
            }
            session.step(now, Event::GuiClosed, shelf, out);
        }
        if self.gui.take_dropped() > 0 {
            out.gui(b"info string a line longer than 2 MiB was ignored");
        }
    }

    fn read_engine(&mut self) {
        let read = self.port.read_engine(&mut self.engine_lines);
        let now = self.begun.elapsed();
        let (session, shelf, out) = (&mut self.session, &*self.shelf, &mut self.lines);
        while let Some(line) = self.engine_lines.next_line() {
            trace("eng>", line);
            session.step(now, Event::Engine(line), shelf, out);
        }
        let is_over = !matches!(read, Ok(1..));
        if is_over && let Some(line) = self.engine_lines.last_line() {
            trace("eng>", line);
            session.step(now, Event::Engine(line), shelf, out);
        }
        if self.engine_lines.take_dropped() > 0 {
            out.gui(b"info string the engine sent a line longer than 2 MiB; it was ignored");
        }
        if is_over {
            let status = self
                .engine
                .as_ref()
                .and_then(|engine| engine.wait(LAST_WORDS_LIMIT));
            self.kill_engine();
            self.step(Event::EngineGone(&describe_end(status)));
        }
    }

    fn kill_engine(&mut self) {
        // The pipes first: an engine that waits for its input ends by itself.
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
            let attached = self.port.attach(into_file(stdin), into_file(stdout));
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

    fn open(&self, books: Vec<BookSpec>) {
        let present = Arc::clone(&self.shelf);
        let open_books = Arc::clone(&self.open_books);
        let deliver = self.port.deliver();
        let work = move || {
            let (shelf, messages) = open_books(&books, &present);
            deliver(shelf, messages);
        };
        let started = thread::Builder::new().name("books".to_owned()).spawn(work);
        if let Err(error) = started {
            log::error!("no thread can be started: {error}");
        }
    }

    /// Ends the engine: `quit`, the end of its input, and force.
    fn end(&mut self) {
        if let Some(engine) = self.engine.take() {
            trace("eng<", b"quit");
            self.lines.engine.extend_from_slice(b"quit\n");
            let _ = self.port.write_engine(&mut self.lines.engine);
            // Read on, so that an engine which still writes can end.
            if let Some(mut output) = self.port.detach() {
                thread::spawn(move || io::copy(&mut output, &mut io::sink()));
            }
            if engine.wait(QUIT_LIMIT).is_none() {
                log::warn!("the engine ignores \"quit\" and is killed");
            }
            engine.kill();
        }
        let until = Instant::now() + LAST_WORDS_LIMIT;
        while !self.lines.gui.is_empty()
            && self.port.write_gui(&mut self.lines.gui).is_ok()
            && !self.lines.gui.is_empty()
            && Instant::now() < until
        {
            thread::sleep(Duration::from_millis(1));
        }
        self.port.settle(LAST_WORDS_LIMIT);
    }
}

#[cfg(unix)]
fn into_file(pipe: impl Into<std::os::fd::OwnedFd>) -> File {
    File::from(pipe.into())
}

#[cfg(windows)]
fn into_file(pipe: impl Into<std::os::windows::io::OwnedHandle>) -> File {
    File::from(pipe.into())
}

/// Standard input and output as files: unbuffered, for lines are read and
/// written in large pieces.
///
/// # Errors
///
/// One of them does not exist.
pub fn standard_streams() -> io::Result<(File, File)> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok((
            into_file(io::stdin().as_fd().try_clone_to_owned()?),
            into_file(io::stdout().as_fd().try_clone_to_owned()?),
        ))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok((
            into_file(io::stdin().as_handle().try_clone_to_owned()?),
            into_file(io::stdout().as_handle().try_clone_to_owned()?),
        ))
    }
}

fn describe_end(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "the engine closed its output and was ended".to_owned();
    };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let hint = match signal {
                4 => " (illegal instruction: is this build of it made for this processor?)",
                9 => " (killed: out of memory?)",
                _ => "",
            };
            return format!("the engine was ended by signal {signal}{hint}");
        }
    }
    match status.code() {
        Some(code) => format!("the engine has ended with exit code {code}"),
        None => "the engine has ended".to_owned(),
    }
}
