//! The loop with books that cannot be opened; tests that need the whole program are in
//! `tests/play.rs` and `tests/faults`.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Write as _};

use super::*;
use crate::session::{Engines, Profile};

type OpenBooks = Arc<dyn Fn(&[BookSpec], &BookSet) -> (BookSet, Vec<String>) + Send + Sync>;

impl Files for OpenBooks {
    fn open_books(&self, books: &[BookSpec], present: &BookSet) -> (BookSet, Vec<String>) {
        self(books, present)
    }
}

/// Sends `lines` to an adapter without an engine whose books are opened by
/// `open_books`, and returns its output up to the line that begins with `last`.
fn converse(lines: &str, last: &str, open_books: OpenBooks) -> Vec<String> {
    let engines = Engines {
        profiles: vec![Profile::default()],
        ..Engines::default()
    };
    let session = Session::new(engines, 1);
    converse_through(
        SystemPort::new,
        session,
        Vec::new(),
        lines,
        last,
        open_books,
    )
}

fn environment(
    input: io::PipeReader,
    output: io::PipeWriter,
    commands: Vec<EngineCommand>,
    open_books: OpenBooks,
) -> Environment {
    let input = into_file(std::os::fd::OwnedFd::from(input));
    let output = into_file(std::os::fd::OwnedFd::from(output));
    Environment::new((input, output), commands, open_books)
}

fn converse_through<P: Port>(
    open: impl FnOnce(File, File) -> io::Result<P> + Send + 'static,
    session: Session,
    commands: Vec<EngineCommand>,
    lines: &str,
    last: &str,
    open_books: OpenBooks,
) -> Vec<String> {
    let (input, mut gui_in) = io::pipe().unwrap();
    let (gui_out, output) = io::pipe().unwrap();
    let environment = environment(input, output, commands, open_books);
    let adapter =
        thread::spawn(move || run_through(open, session, environment, QUIT_LIMIT).unwrap());
    gui_in.write_all(lines.as_bytes()).unwrap();
    let mut received = Vec::new();
    for line in BufReader::new(gui_out).lines().map_while(Result::ok) {
        let is_last = line.starts_with(last);
        received.push(line);
        if is_last {
            break;
        }
    }
    drop(gui_in);
    assert_eq!(adapter.join().unwrap().code, 0);
    received
}

const READY: &str = "uci\nposition startpos\nisready\n";

#[test]
fn books_that_never_open_do_not_block_the_session() {
    let received = converse(
        READY,
        "readyok",
        Arc::new(|_, _| {
            loop {
                thread::park();
            }
        }),
    );
    assert_eq!(received.last().unwrap(), "readyok");
    // It came because of the limit, which the session's own time tests.
    let waited = |line: &String| line.contains("are not open after");
    assert!(received.iter().any(waited), "{received:#?}");
}

#[test]
fn a_failure_to_open_books_is_reported() {
    let received = converse(
        READY,
        "readyok",
        // Without the panic hook: printing the location takes seconds on a busy machine.
        Arc::new(|_, _| std::panic::resume_unwind(Box::new("a book like no other"))),
    );
    assert!(
        received
            .iter()
            .any(|line| line.contains("cannot be opened")),
        "{received:#?}"
    );
    // After a failure nothing waits for the books.
    assert!(
        !received
            .iter()
            .any(|line| line.contains("are not open after")),
        "{received:#?}"
    );
}

/// Pipes of an adapter that is suspended for a while: the first wait returns input of the
/// GUI but none of the engine, then time passes in which the engine writes. Its clock
/// stands still otherwise.
struct Stalled<P> {
    port: P,
    now: Instant,
    stall: Option<Duration>,
}

impl<P: Port> Port for Stalled<P> {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait(
        &mut self,
        timeout: Option<Duration>,
        mut listen: Listen,
        gui_left: &[u8],
        engine_left: &[u8],
    ) -> Ready {
        let stall = self.stall.take();
        listen.engine &= stall.is_none();
        let ready = self.port.wait(timeout, listen, gui_left, engine_left);
        if let Some(stall) = stall {
            assert!(ready.gui && !ready.engine);
            self.now += stall;
            let of_engine = Listen {
                gui: false,
                engine: true,
            };
            assert!(self.port.wait(None, of_engine, &[], &[]).engine);
        }
        ready
    }

    fn read(&mut self, from: Side, buffer: &mut LineBuffer) -> io::Result<usize> {
        self.port.read(from, buffer)
    }

    fn write(&mut self, to: Side, lines: &mut Vec<u8>) -> io::Result<()> {
        self.port.write(to, lines)
    }

    fn attach(&mut self, stdin: File, stdout: File, end: Option<File>) -> io::Result<()> {
        self.port.attach(stdin, stdout, end)
    }

    fn detach(&mut self) -> Option<File> {
        self.port.detach()
    }

    fn flush(&mut self, limit: Duration) {
        self.port.flush(limit);
    }

    fn deliver(&self) -> port::Deliver {
        self.port.deliver()
    }
}

#[test]
fn lines_sent_in_time_are_read_before_the_alarm() {
    const LIMIT: Duration = Duration::from_secs(4);
    let engine = EngineCommand::new("/bin/sh").args(vec![
        "-c".into(),
        "printf 'id name Quick\\nuciok\\n'; exec cat >/dev/null".into(),
    ]);
    let open = |input, output| {
        Ok(Stalled {
            port: SystemPort::new(input, output)?,
            now: Instant::now(),
            stall: Some(LIMIT + Duration::from_millis(100)),
        })
    };
    let profile = Profile {
        start_timeout: LIMIT,
        ..Profile::default()
    };
    let engines = Engines {
        profiles: vec![profile],
        chain: 1,
        ..Engines::default()
    };
    let no_books: OpenBooks = Arc::new(|_, _| (BookSet::default(), Vec::new()));
    let session = Session::new(engines, 1);
    let received = converse_through(open, session, vec![engine], "uci\n", "uciok", no_books);
    let greeting = received
        .iter()
        .any(|line| line.starts_with("id name Quick"));
    assert!(greeting, "{received:#?}");
}

/// This engine ends when its answer has been received: an answer that is held back until
/// it has ended, or is killed, is not there in time.
#[test]
fn the_last_answers_are_written_before_the_engine_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let [received, ended] = ["received", "ended"].map(|name| folder.path().join(name));
    let made = std::process::Command::new("mkfifo").arg(&received).status();
    assert!(made.unwrap().success());
    // For both directions, so that this side waits for nobody.
    let mut received_pipe = File::options()
        .read(true)
        .write(true)
        .open(&received)
        .unwrap();
    let script = "echo uciok
        while read -r line; do
            case $line in
                isready) echo readyok ;;
                stop) echo bestmove e2e4 ;;
                quit) read -r line <\"$0\"; : >\"$1\"; exit ;;
            esac
        done";
    let engine = EngineCommand::new("/bin/sh").args(vec![
        "-c".into(),
        script.into(),
        received.into(),
        ended.clone().into(),
    ]);
    let engines = Engines {
        profiles: vec![Profile {
            start_timeout: Duration::from_secs(120),
            ..Profile::default()
        }],
        chain: 1,
        ..Engines::default()
    };
    let (input, mut gui_in) = io::pipe().unwrap();
    let (gui_out, output) = io::pipe().unwrap();
    let environment = environment(
        input,
        output,
        vec![engine],
        Arc::new(|_, _| (BookSet::default(), Vec::new())),
    );
    let session = Session::new(engines, 1);
    let quit_limit = Duration::from_secs(120);
    let adapter = thread::spawn(move || {
        run_through(SystemPort::new, session, environment, quit_limit).unwrap()
    });
    gui_in
        .write_all(b"uci\nposition startpos\ngo infinite\nquit\n")
        .unwrap();
    let mut lines = BufReader::new(gui_out).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "bestmove e2e4"));
    received_pipe.write_all(b"\n").unwrap();
    assert_eq!(adapter.join().unwrap().code, 0);
    assert!(ended.exists(), "the engine was killed");
}
