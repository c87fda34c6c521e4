//! The loop, with pipes and without; tests that need the whole program are in
//! `tests/program` and `tests/faults`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::session::{Engines, Note, Profile};
use shakmaty::{Chess, Color};
use tabia_book::{Error, Lookup, Probe, Wanted};
use tabia_choice::book_set::OpenBook;
use tabia_choice::learn::{Evidence, PlayedGame};
use tabia_uci::line::MAX_LINE;

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

/// No pipes: both sides have sent all that they will, and the clock stands still.
struct NoPipes {
    now: Instant,
    sent: VecDeque<Vec<u8>>,
    deliver: Sender<ThreadReport>,
}

impl Port for NoPipes {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait(&mut self, _: Option<Duration>, _: Listen, _: &[u8], _: &[u8]) -> Ready {
        Ready::default()
    }

    fn read(&mut self, _: Side, buffer: &mut LineBuffer) -> io::Result<usize> {
        let mut rest = self.sent.pop_front().unwrap_or_default();
        let count = buffer.fill(&mut &*rest)?;
        rest.drain(..count);
        if !rest.is_empty() {
            self.sent.push_front(rest);
        }
        Ok(count)
    }

    fn write(&mut self, _: Side, _: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }

    fn attach(&mut self, _: File, _: File, _: Option<File>) -> io::Result<()> {
        Ok(())
    }

    fn detach(&mut self) -> Option<File> {
        None
    }

    fn flush(&mut self, _: Duration) {}

    fn deliver(&self) -> port::Deliver {
        let deliver = self.deliver.clone();
        Arc::new(move |report| deliver.send(report).unwrap())
    }
}

/// A session without engines; each book that it asks for is empty, and a message is their
/// number.
fn without_pipes() -> (Relay<NoPipes>, Receiver<ThreadReport>) {
    let (deliver, reports) = channel();
    let port = NoPipes {
        now: Instant::now(),
        sent: VecDeque::new(),
        deliver,
    };
    let open: OpenBooks = Arc::new(|specs, _| (empty_books(specs), vec![specs.len().to_string()]));
    let session = Session::new(Engines::default(), 1);
    let mut relay = Relay::new(port, session, (Vec::new(), Arc::new(open)));
    relay.session.start(&mut relay.lines);
    (relay, reports)
}

struct Empty;

impl Probe for Empty {
    fn probe(&self, _: &Chess, _: Wanted, _: &mut Lookup) -> Result<(), Error> {
        Ok(())
    }

    fn contains(&self, _: &Chess) -> Result<bool, Error> {
        Ok(false)
    }
}

fn empty_books(specs: &[BookSpec]) -> BookSet {
    let open = |spec: &BookSpec| OpenBook::new(spec.clone(), Arc::new(Empty));
    BookSet::from(specs.iter().map(open).collect::<Vec<_>>())
}

#[test]
fn the_books_asked_for_last_are_used_whenever_others_open() {
    let (mut relay, reports) = without_pipes();
    let opened: Vec<ThreadReport> = (1..=3)
        .map(|count| {
            relay.open(vec![BookSpec::new("a.ctg"); count]);
            reports.recv().unwrap()
        })
        .collect();
    for report in opened.into_iter().rev() {
        relay.receive(report);
        assert_eq!(relay.book_set.books.len(), 3);
    }
    assert_eq!(relay.reported, ["3"]);
}

#[test]
fn a_game_is_noted_beside_its_own_book_or_once_is_said_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, _reports) = without_pipes();
    let mut books = empty_books(&["other", "own", "broken", "strict"].map(BookSpec::new));
    for book in books.books.iter_mut().take(3) {
        book.side_file = Some(folder.path().join(&book.name));
    }
    relay.book_set = Arc::new(books);
    fs::create_dir(folder.path().join("broken")).unwrap();
    let game = PlayedGame {
        start: None,
        winner: Some(Color::White),
        evidence: Evidence::Mate,
        moves: vec![("e2e4".to_owned(), true)],
    };
    for book in ["own", "broken", "strict", "own", "broken"] {
        relay.note(&Note {
            book: book.to_owned(),
            game: game.clone(),
        });
    }
    let noted = fs::read_to_string(folder.path().join("own")).unwrap();
    assert_eq!(
        noted.matches(" 1-0 mate startpos e2e4*").count(),
        2,
        "{noted}"
    );
    assert!(!folder.path().join("other").exists());
    let said = String::from_utf8(relay.lines.gui).unwrap();
    assert_eq!(said.matches("cannot be recorded").count(), 1, "{said}");
}

#[test]
fn every_line_is_read_but_those_that_are_too_long() {
    let (mut relay, _reports) = without_pipes();
    let long = [&vec![b'x'; MAX_LINE + 1][..], b"\n"].concat();
    relay.port.sent = [b"uci\n".to_vec(), long, b"uci\nqui".to_vec(), b"t".to_vec()].into();
    while !relay.port.sent.is_empty() {
        assert!(!relay.read(Side::Gui));
    }
    let said = String::from_utf8(relay.lines.gui.clone()).unwrap();
    assert_eq!(said.matches("\nuciok\n").count(), 2, "{said}");
    assert_eq!(said.matches("longer than 2 MiB").count(), 1, "{said}");
    let has_left = |relay: &Relay<NoPipes>| relay.lines.requests.contains(&Request::Exit(0));
    assert!(!has_left(&relay));
    assert!(relay.read(Side::Gui) && has_left(&relay));
}

#[test]
fn the_next_alarm_is_the_first_one() {
    let (mut relay, _reports) = without_pipes();
    let now = relay.port.now;
    assert_eq!(relay.next_alarm(now), None);
    let [soon, late] = [3, 5].map(Duration::from_millis);
    for [wake, output] in [[soon, late], [late, soon]] {
        relay.wake_at = Some(now + wake);
        relay.output_until = Some(now + output);
        assert_eq!(relay.next_alarm(now), Some(soon));
        assert_eq!(relay.next_alarm(now + late), Some(Duration::ZERO));
    }
    assert_eq!(
        whole_micros(Duration::from_nanos(7_000_001_999)),
        Duration::from_micros(7_000_001)
    );
}
