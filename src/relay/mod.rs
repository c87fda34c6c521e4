//! The rim of the adapter: threads, pipes and clocks around the session.
//!
//! One thread reads the GUI, one reads the engine; each takes the session's
//! lock, lets it [step](crate::session::Session::step), and writes what came
//! of it after the lock is free. A line is thus forwarded by the thread that
//! read it, with one read and one write. A third thread, the keeper, starts
//! engines (on Linux an engine dies with the thread that started it, so that
//! one has to last) and wakes the session when its time has come. Books are
//! opened in a thread of their own.

mod outbox;

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{EngineCommand, EngineProcess, Spawned};
use crate::session::{Event, Outlet, Request, Session};
use crate::shelf::{BookSpec, Shelf};
use crate::uci::line::LineBuffer;
use outbox::{Outbox, Patience};

/// How long an engine may take to end by itself after `quit`.
const QUIT_LIMIT: Duration = Duration::from_secs(1);

/// How long the last lines for the GUI may take.
const LAST_WORDS_LIMIT: Duration = Duration::from_millis(200);

/// Opens books: gets those wanted and the present shelf, gives the new shelf
/// and what there is to say about it.
pub type OpenBooks = Box<dyn Fn(&[BookSpec], &Shelf) -> (Shelf, Vec<String>) + Send + Sync>;

/// The adapter's streams and helpers.
pub struct Rim {
    /// From the GUI.
    pub input: Box<dyn Read + Send>,
    /// To the GUI, without buffering.
    pub output: File,
    /// How to start the engine of each profile.
    pub commands: Vec<EngineCommand>,
    /// Opens books.
    pub open_books: OpenBooks,
}

/// Runs a session to its end; the exit code.
///
/// On return the engine is gone. The threads that wait for input may still
/// be there; the process is expected to end.
pub fn run(session: Session, rim: Rim) -> u8 {
    let (to_keeper, keeper_inbox) = channel();
    let (to_caller, ended) = channel();
    let relay = Arc::new(Relay {
        core: Mutex::new(Core {
            session,
            shelf: Arc::default(),
            engine: None,
            generation: 0,
        }),
        gui: Arc::new(Outbox::new(rim.output)),
        begun: Instant::now(),
        to_keeper,
        open_books: rim.open_books,
    });
    // Before the GUI is listened to: a `uci` that is already there has to wait
    // for the engine's options. The keeper finds the request in its inbox.
    relay.drive(
        |session, outlet, _, _| session.start(outlet),
        Patience::Wait,
    );
    let commands = rim.commands;
    let keeper = Arc::clone(&relay);
    start_thread("keeper", move || {
        keeper.keep(&keeper_inbox, &commands, &to_caller);
    });
    let reader = Arc::clone(&relay);
    let input = rim.input;
    start_thread("gui", move || reader.read_gui(input));
    let code = ended.recv().unwrap_or(2);
    relay.end();
    code
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    if let Err(error) = started {
        log::error!("no thread can be started: {error}");
    }
}

/// An errand for the keeper.
enum Errand {
    Request(Request),
    /// The books asked for.
    Books(Shelf, Vec<String>),
}

/// What the threads share.
struct Relay {
    core: Mutex<Core>,
    gui: Arc<Outbox>,
    begun: Instant,
    to_keeper: Sender<Errand>,
    open_books: OpenBooks,
}

/// What is under the lock.
struct Core {
    session: Session,
    shelf: Arc<Shelf>,
    engine: Option<Running>,
    /// Counts engines, so that the last words of one that is gone are not
    /// taken for those of the next.
    generation: u64,
}

/// The engine that runs.
#[derive(Clone)]
struct Running {
    process: Arc<EngineProcess>,
    stdin: Arc<Outbox>,
}

/// Where the words of the session go during a step.
struct Lines<'a> {
    relay: &'a Relay,
    engine: Option<&'a Outbox>,
}

impl Outlet for Lines<'_> {
    fn gui(&mut self, line: &[u8]) {
        trace("gui<", line);
        self.relay.gui.push(line);
    }

    fn engine(&mut self, line: &[u8]) {
        trace("eng<", line);
        if let Some(engine) = self.engine {
            engine.push(line);
        }
    }

    fn request(&mut self, request: Request) {
        let _ = self.relay.to_keeper.send(Errand::Request(request));
    }
}

/// Writes a line of the conversation to the log.
fn trace(direction: &str, line: &[u8]) {
    if log::log_enabled!(log::Level::Debug) {
        log::debug!("{direction} {}", String::from_utf8_lossy(line));
    }
}

impl Relay {
    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the session work under the lock, then writes what came of it.
    fn drive(
        &self,
        work: impl FnOnce(&mut Session, &mut dyn Outlet, &Shelf, Duration),
        patience: Patience,
    ) {
        let mut core = self.core();
        self.drive_locked(&mut core, work);
        let engine = core.engine.as_ref().map(|engine| Arc::clone(&engine.stdin));
        drop(core);
        self.flush(engine, patience);
    }

    fn drive_locked(
        &self,
        core: &mut Core,
        work: impl FnOnce(&mut Session, &mut dyn Outlet, &Shelf, Duration),
    ) {
        let mut lines = Lines {
            relay: self,
            engine: core.engine.as_ref().map(|engine| &*engine.stdin),
        };
        work(
            &mut core.session,
            &mut lines,
            &core.shelf,
            self.begun.elapsed(),
        );
    }

    fn flush(&self, engine: Option<Arc<Outbox>>, patience: Patience) {
        if let Some(engine) = engine {
            // An engine that waits for us to read must not make us wait for
            // it to read.
            let _ = engine.flush(Patience::Hurry);
        }
        if self.gui.flush(patience).is_err() {
            // Nobody listens any more.
            let _ = self.to_keeper.send(Errand::Request(Request::Exit(0)));
        }
    }

    fn read_gui(&self, mut input: Box<dyn Read + Send>) {
        let mut buffer = LineBuffer::default();
        loop {
            let read = buffer.fill(&mut input);
            let at_end = !matches!(read, Ok(1..));
            self.drive(
                |session, out, shelf, now| {
                    while let Some(line) = buffer.next_line() {
                        trace("gui>", line);
                        session.step(now, Event::Gui(line), shelf, out);
                    }
                    if at_end {
                        if let Some(line) = buffer.last_line() {
                            trace("gui>", line);
                            session.step(now, Event::Gui(line), shelf, out);
                        }
                        session.step(now, Event::GuiClosed, shelf, out);
                    }
                    if buffer.take_dropped() > 0 {
                        out.gui(b"info string a line longer than 2 MiB was ignored");
                    }
                },
                Patience::Hurry,
            );
            if at_end {
                return;
            }
        }
    }

    fn read_engine(&self, mut output: impl Read, generation: u64, process: &EngineProcess) {
        let mut buffer = LineBuffer::default();
        loop {
            let read = buffer.fill(&mut output);
            let at_end = !matches!(read, Ok(1..));
            let mut core = self.core();
            if core.generation != generation {
                return;
            }
            self.drive_locked(&mut core, |session, out, shelf, now| {
                while let Some(line) = buffer.next_line() {
                    trace("eng>", line);
                    session.step(now, Event::Engine(line), shelf, out);
                }
                if at_end && let Some(line) = buffer.last_line() {
                    trace("eng>", line);
                    session.step(now, Event::Engine(line), shelf, out);
                }
                if buffer.take_dropped() > 0 {
                    out.gui(
                        b"info string the engine sent a line longer than 2 MiB; it was ignored",
                    );
                }
            });
            let engine = core.engine.as_ref().map(|engine| Arc::clone(&engine.stdin));
            drop(core);
            self.flush(engine, Patience::Wait);
            if at_end {
                break;
            }
        }
        let status = process.wait(LAST_WORDS_LIMIT);
        process.kill();
        let mut core = self.core();
        if core.generation == generation {
            core.engine = None;
            let reason = describe_end(status);
            self.drive_locked(&mut core, |session, out, shelf, now| {
                session.step(now, Event::EngineGone(&reason), shelf, out);
            });
            drop(core);
            self.flush(None, Patience::Wait);
        }
    }

    /// The keeper's work: errands, and the session's alarm clock.
    fn keep(
        self: &Arc<Self>,
        inbox: &Receiver<Errand>,
        commands: &[EngineCommand],
        ended: &Sender<u8>,
    ) {
        let mut wake_at: Option<Instant> = None;
        loop {
            let errand = match wake_at {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match errand {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    wake_at = None;
                    self.step(Event::WakeUp);
                }
                Ok(Errand::Request(Request::WakeUp(after))) => {
                    wake_at = Some(Instant::now() + after);
                }
                Ok(Errand::Request(Request::StartEngine(index))) => {
                    self.start_engine(commands.get(index));
                }
                Ok(Errand::Request(Request::KillEngine)) => self.kill_engine(),
                Ok(Errand::Request(Request::OpenBooks(books))) => self.open(books),
                Ok(Errand::Books(shelf, messages)) => {
                    self.core().shelf = Arc::new(shelf);
                    self.step(Event::BooksOpened(&messages));
                }
                Ok(Errand::Request(Request::Exit(code))) => {
                    let _ = ended.send(code);
                    return;
                }
            }
        }
    }

    fn step(&self, event: Event<'_>) {
        self.drive(
            |session, out, shelf, now| session.step(now, event, shelf, out),
            Patience::Hurry,
        );
    }

    fn open(self: &Arc<Self>, books: Vec<BookSpec>) {
        let relay = Arc::clone(self);
        start_thread("books", move || {
            let present = Arc::clone(&relay.core().shelf);
            let (shelf, messages) = (relay.open_books)(&books, &present);
            let _ = relay.to_keeper.send(Errand::Books(shelf, messages));
        });
    }

    fn kill_engine(&self) {
        let mut core = self.core();
        core.generation += 1;
        let engine = core.engine.take();
        drop(core);
        if let Some(engine) = engine {
            engine.process.kill();
        }
    }

    fn start_engine(self: &Arc<Self>, command: Option<&EngineCommand>) {
        self.kill_engine();
        let Some(command) = command else {
            return self.step(Event::EngineGone("there is no such engine"));
        };
        let Spawned {
            process,
            stdin,
            stdout,
        } = match command.spawn() {
            Ok(spawned) => spawned,
            Err(error) => return self.step(Event::EngineGone(&error.to_string())),
        };
        let running = Running {
            process: Arc::new(process),
            stdin: Arc::new(Outbox::new(into_file(stdin))),
        };
        let mut core = self.core();
        core.generation += 1;
        let generation = core.generation;
        core.engine = Some(running.clone());
        drop(core);
        self.step(Event::EngineUp);
        let relay = Arc::clone(self);
        start_thread("engine", move || {
            relay.read_engine(stdout, generation, &running.process);
        });
    }

    /// Ends the engine: `quit`, the end of its input, and force.
    fn end(&self) {
        let mut core = self.core();
        let engine = core.engine.clone();
        // Its reader goes on reading, so that an engine which still writes
        // can end; the session does not listen any more.
        core.generation += u64::from(engine.is_none());
        drop(core);
        if let Some(engine) = engine {
            trace("eng<", b"quit");
            engine.stdin.push(b"quit");
            engine.stdin.close();
            if engine.process.wait(QUIT_LIMIT).is_none() {
                log::warn!("the engine ignores \"quit\" and is killed");
            }
            engine.process.kill();
        }
        self.gui.settle(LAST_WORDS_LIMIT);
    }
}

#[cfg(unix)]
fn into_file(stdin: std::process::ChildStdin) -> File {
    File::from(std::os::fd::OwnedFd::from(stdin))
}

#[cfg(windows)]
fn into_file(stdin: std::process::ChildStdin) -> File {
    File::from(std::os::windows::io::OwnedHandle::from(stdin))
}

/// Standard output as a file: unbuffered, for lines are written whole.
///
/// # Errors
///
/// There is no standard output.
pub fn standard_output() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
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
