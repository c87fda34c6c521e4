//! A GUI with one fault.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use test_programs::client::Client;

use super::case::{Case, Gui, Moment, Seen};

/// Far longer than any step takes; only a hang reaches it.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// How long to wait where no answer is expected.
const SILENCE: Duration = Duration::from_millis(150);

const OUT_OF_BOOK: &str = "position startpos moves a2a3 a7a6 h2h3";

/// What happened in a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observation {
    pub(crate) received: Vec<String>,
    pub(crate) asked_go: usize,
    pub(crate) asked_ready: usize,
    /// `None` if the GUI ended first.
    pub(crate) code: Option<i32>,
    /// From the last action of the GUI to the end of the adapter.
    pub(crate) end_took: Duration,
    /// Peak resident memory of the adapter in KiB.
    pub(crate) peak_kib: u64,
}

impl Observation {
    /// Number of received lines that begin with `start`.
    pub(crate) fn count(&self, start: &str) -> usize {
        let begins = |line: &&String| line.starts_with(start);
        self.received.iter().filter(begins).count()
    }

    fn has(&self, part: &str) -> bool {
        self.received.iter().any(|line| line.contains(part))
    }

    /// Whether every command was answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.count("bestmove") == self.asked_go && self.count("readyok") == self.asked_ready
    }

    /// The result for a GUI that stays.
    pub(crate) fn seen(&self) -> Option<Seen> {
        match (self.code, self.is_answered()) {
            (Some(2), _) => Some(Seen::Ends),
            (Some(0), false) => Some(Seen::Waits),
            (Some(0), true) if self.has("the built-in engine's move") => Some(Seen::BuiltIn),
            (Some(0), true) if self.has("started again") => Some(Seen::Restarts),
            (Some(0), true) => Some(Seen::Plays),
            _ => None,
        }
    }
}

/// The files of a case.
pub(crate) struct Place {
    pub(crate) notes: PathBuf,
    pub(crate) config: PathBuf,
    games: PathBuf,
}

impl Place {
    pub(crate) fn in_folder(folder: &Path) -> Place {
        Place {
            notes: folder.join("notes"),
            config: folder.join("engines.toml"),
            games: folder.join("games.csv"),
        }
    }

    pub(crate) fn set_up(&self, engine: &Path, case: &Case) {
        // Only an engine that never starts needs a short limit, but one long enough to receive
        // its first line.
        let mute = matches!(case.engine.name, "silent" | "hangs" | "no-newline");
        let limit = match case.moment.0 {
            Moment::Handshake if mute => 3000,
            _ => 120_000,
        };
        let text = format!(
            "default = [\"x\"]\n[engine.x]\ncommand = '{}'\nargs = [\"{}\", \"{}\"]\nstart_timeout_ms = {limit}\n",
            engine.display(),
            case.engine.name,
            case.moment.1
        );
        fs::write(&self.config, text).expect("the configuration");
        fs::write(&self.notes, "").expect("the notes");
    }

    fn read_notes(&self) -> String {
        fs::read_to_string(&self.notes).unwrap_or_default()
    }

    /// Whether the engine has begun to fail.
    pub(crate) fn has_failed(&self) -> bool {
        self.read_notes().lines().any(|line| line == "fault")
    }

    /// The ids of all processes that were started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.read_notes()
            .lines()
            .filter_map(|line| line.strip_prefix("process ")?.parse().ok())
            .collect()
    }

    /// Whether the game is in the record of the match.
    pub(crate) fn has_recorded(&self) -> bool {
        let record = fs::read_to_string(&self.games).unwrap_or_default();
        record.contains(",game,black,")
    }

    pub(crate) fn note(&self, text: &str) {
        let file = fs::File::options().append(true).open(&self.notes);
        let written = file.and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
        written.expect("the notes");
    }
}

/// Waits until `done` returns true, which no event tells: the engine's notes are a file. The
/// limit is only for what never comes.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + LIMIT;
    while !done() {
        assert!(Instant::now() < until, "{what} took too long");
        // Lets the processes run that it waits for.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The peak of the adapter's own memory in KiB. Excludes pages of its program file, which
/// is large in a debug build.
pub(crate) fn peak_kib(adapter: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", adapter.id())).ok()?;
    let number = |name: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    number("VmHWM")?.checked_sub(number("RssFile")?)
}

pub(crate) struct Player<'a> {
    case: Case,
    place: &'a Place,
    client: Client,
    seen: Observation,
}

impl<'a> Player<'a> {
    pub(crate) fn start(case: Case, place: &'a Place) -> Player<'a> {
        let client = Client::start(
            Command::new(env!("CARGO_BIN_EXE_tabia"))
                .arg("--config")
                .arg(&place.config)
                .arg("--games")
                .arg(&place.games)
                .env("FAULTY_ENGINE_NOTES", &place.notes)
                .stderr(Stdio::null()),
        );
        place.note(&format!("process {}", client.child.id()));
        Player {
            case,
            place,
            client,
            seen: Observation::default(),
        }
    }

    /// Plays the case to its end.
    pub(crate) fn play(mut self) -> Observation {
        match self.case.gui.0 {
            Gui::OneWrite => self.all_at_once(),
            _ => self.line_by_line(),
        }
        self.wait_for_end();
        std::mem::take(&mut self.seen)
    }

    /// Plays up to the moment and stops there.
    pub(crate) fn play_until_moment(&mut self) {
        self.send_commands_before();
        self.reach_moment();
    }

    fn all_at_once(&mut self) {
        let moment = match self.case.moment.0 {
            Moment::InBook | Moment::Pondering => "ponderhit\n",
            _ => "",
        };
        let (before, at) = self.lines();
        self.send(&format!("{before}{at}\n{moment}quit"));
    }

    fn line_by_line(&mut self) {
        self.play_until_moment();
        match self.case.gui.0 {
            Gui::ClosesInput => self.client.stdin = None,
            Gui::ClosesOutput => self.client.stdout = None,
            Gui::StopsReading => {
                self.send("ponderhit\nisready\nstop\nquit");
                self.seen.asked_ready += 1;
            }
            gui => {
                if gui == Gui::Garbage {
                    self.send_garbage();
                }
                self.continue_game();
            }
        }
    }

    /// The lines before the moment, and the line that causes it.
    fn lines(&self) -> (String, &'static str) {
        let hello = "uci\nisready\n";
        let out_of_book = format!("{hello}{OUT_OF_BOOK}\n");
        match self.case.moment.0 {
            Moment::Handshake => (String::new(), "uci"),
            Moment::Idle => ("uci\n".to_owned(), "isready"),
            Moment::InBook => (
                hello.to_owned(),
                "position startpos\ngo ponder wtime 60000 btime 60000",
            ),
            Moment::Thinking => (out_of_book, "go wtime 60000 btime 60000"),
            Moment::Pondering => (out_of_book, "go ponder wtime 60000 btime 60000"),
            Moment::AfterStop => (format!("{out_of_book}go infinite\n"), "stop"),
            Moment::Quitting => (hello.to_owned(), "quit"),
        }
    }

    fn send_commands_before(&mut self) {
        let (before, _) = self.lines();
        for line in before.lines() {
            self.send(line);
            match line {
                "uci" => self.expect("uciok"),
                "isready" => self.expect("readyok"),
                _ => true,
            };
        }
    }

    fn reach_moment(&mut self) {
        let (_, at) = self.lines();
        self.send(at);
        let place = self.place;
        if self.case.engine.name == "none" {
            return;
        }
        let quits = self.case.moment.0 == Moment::Quitting;
        let child = &mut self.client.child;
        // An engine that does not receive "quit" within a second is killed.
        let mut is_over = || quits && matches!(child.try_wait(), Ok(Some(_)));
        wait_until("the engine's fault", || place.has_failed() || is_over());
        self.measure();
    }

    /// For a GUI that stays: the pending answer, one more search, the end.
    fn continue_game(&mut self) {
        let answered = match self.case.moment.0 {
            Moment::Handshake => self.expect("uciok"),
            Moment::Idle => self.expect("readyok"),
            Moment::InBook | Moment::Pondering => {
                self.send("ponderhit");
                self.expect("bestmove")
            }
            Moment::Thinking | Moment::AfterStop => self.expect("bestmove"),
            Moment::Quitting => return,
        };
        if answered && self.ready() {
            self.send(&format!("{OUT_OF_BOOK}\ngo movetime 20"));
            self.expect("bestmove");
        }
        self.measure();
        self.send("quit");
    }

    fn ready(&mut self) -> bool {
        self.send("isready");
        self.expect("readyok")
    }

    fn send(&mut self, lines: &str) {
        for line in lines.lines() {
            self.seen.asked_go += usize::from(line.starts_with("go"));
            self.seen.asked_ready += usize::from(line == "isready");
        }
        let end = match self.case.gui.0 {
            Gui::CarriageReturns => "\r\n",
            _ => "\n",
        };
        let text = format!("{lines}\n").replace('\n', end);
        match self.case.gui.0 {
            Gui::ByteByByte => text.bytes().for_each(|byte| self.write(&[byte])),
            _ => self.write(text.as_bytes()),
        }
    }

    /// Ignores errors: the adapter may have ended for a good reason.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.client.write(bytes);
    }

    fn send_garbage(&mut self) {
        let noise: Vec<u8> = (0..=255).cycle().take(9000).collect();
        self.write(&noise);
        self.write(b"\n\0\0\n\xff\xfe\nsetoption\nsetoption name\n");
        self.write(b"\x1b[2J\nxyzzy plugh\ninfo string uciok\n");
        self.write(&[b'x'; 3 << 20]);
        self.write(b"\n");
    }

    /// Waits for a line that begins with `start`. Returns false if none comes; panics if
    /// the case does not allow that.
    fn expect(&mut self, start: &str) -> bool {
        let patient = !matches!(
            self.case.seen,
            Seen::Waits | Seen::Ends | Seen::RestartsOrEnds
        );
        let gui = self.case.gui.0;
        // In other cases too, lines that always come get the full limit.
        let limit = if patient || self.is_always_sent(start) {
            LIMIT
        } else {
            SILENCE
        };
        let until = Instant::now() + limit;
        let received = &mut self.seen.received;
        let begins = |line: &str| line.starts_with(start);
        let keep = |line: &str| received.push(line.to_owned());
        if self.client.find_line(until, begins, keep).is_some() {
            return true;
        }
        let report = || format!("{}: no {start}; {:#?}", self.case, self.last_lines());
        assert!(!patient || self.client.has_ended, "{}", report());
        assert!(
            !patient || gui != Gui::Sound || !self.client.has_ended,
            "{}",
            report()
        );
        false
    }

    /// Whether even an engine that is about to fail, or the book, gives this answer.
    fn is_always_sent(&self, start: &str) -> bool {
        let before = !self.place.has_failed();
        let ends = matches!(self.case.seen, Seen::Ends | Seen::RestartsOrEnds);
        let book =
            self.case.moment.0 == Moment::InBook && start == "bestmove" && self.seen.asked_go == 1;
        start == "uciok" || before || book || ends
    }

    fn last_lines(&self) -> &[String] {
        let received = &self.seen.received;
        &received[received.len().saturating_sub(3)..]
    }

    fn measure(&mut self) {
        let peak = peak_kib(&self.client.child).unwrap_or(0);
        self.seen.peak_kib = self.seen.peak_kib.max(peak);
    }

    /// Waits until the adapter ends; reads its output if this GUI reads.
    fn wait_for_end(&mut self) {
        let begin = Instant::now();
        let until = begin + LIMIT;
        if self.case.gui.0 != Gui::StopsReading {
            while let Some(line) = self.client.next_line(until) {
                self.seen.received.push(line);
            }
        }
        let status = self
            .client
            .wait(until)
            .unwrap_or_else(|| panic!("{}: it does not end; {:#?}", self.case, self.last_lines()));
        self.seen.code = status.code();
        self.seen.end_took = begin.elapsed();
    }
}
