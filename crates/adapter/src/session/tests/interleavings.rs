//! A simulation: one number, the seed, decides what the GUI, the engine and the clock do,
//! in the session's own time. The GUI sends any line at any time; the engine answers late,
//! early, twice, illegally, in letters, in capitals or not at all, is deaf or silent while
//! it searches, floods, ignores `stop` or `searchmoves`, declares its options wrongly or
//! dies of one, sends lines that nobody asked for, dies, hangs or does not start; books open
//! at any time; the machine sleeps.
//!
//! A GUI that waits for an answer before its next `go` (`polite`) must get exactly one
//! legal answer for each `go`, at the right time, and no move that `Book Forbid` keeps from an
//! engine that obeys `searchmoves`, whatever positions and games it sends
//! meanwhile; one that does not wait must get one for each `go` that no other has
//! replaced, and never more than it requested. A book move that `Book Verify` should have
//! checked was checked, or a message says that it was not. A seed that fails is printed as a
//! conversation in the form of `tests/session/*.txt`, after it has been made short;
//! `TABIA_SEED=7 TABIA_TEST_CASES=1` plays that seed alone.

#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use crate::session::{Engines, Event, GameRecord, Output, Profile, Request, Session};
use crate::transcript::{LogHeader, Recording, Transcript, replay};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};
use tabia_book::{
    Annotation, BookMove, Error, Lookup, PositionRecord, Preference, Probe, Stats, Wanted,
};
use tabia_choice::book_set::{BookSet, BookSpec, OpenBook};
use tabia_choice::settings::OptionId;

/// Positions that the GUI may send: the line, and the move that the model's engine plays
/// there.
const POSITIONS: [(&str, &str); 9] = [
    ("startpos", "a2a3"),
    ("startpos moves e2e4", "a7a6"),
    ("startpos moves e2e4 e7e5", "b2b3"),
    ("fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e1d1"),
    ("fen 4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", "e8d8"),
    ("fen 4k3/8/8/8/8/8/4P3/4K2R w K - 0 1", CASTLING),
    // Checkmate: the engine says nothing.
    ("startpos moves f2f3 e7e5 g2g4 d8h4", ""),
    // One legal move.
    ("fen 7k/5K2/8/8/8/8/8/6Q1 b - - 0 1", "h8h7"),
    ("fen 4k3/8/8/8/8/8/4P3/4K2R w K - 0 1 moves e1g1", "e8d8"),
];
const CASTLING: &str = "e1g1";
/// The same in the notation that is not in force: the GUI and the engine may write so, and
/// neither may read it.
const OTHER_CASTLING: &str = "e1h1";
/// One move for each position, and none of the book's.
const SEARCHMOVES: &str = "searchmoves a2a3 a7a6 b2b3 e1d1 e8d8 e1g1 h8h7";
/// The book: position and move.
const BOOK: [(usize, &str); 2] = [(0, "e2e4"), (2, "g1f3")];
/// Its red moves, which the engine would play, and the book too without `Book Tournament`;
/// the last of them is the only legal one.
const RED: [(usize, &str); 5] = [
    (0, "a2a3"),
    (1, "a7a6"),
    (3, "e1d1"),
    (5, CASTLING),
    (7, "h8h7"),
];

/// `go` without `searchmoves`, and the time that it gives White and Black, in
/// milliseconds.
const GOS: [(&str, Option<[u64; 2]>); 8] = [
    ("go movetime 100", Some([100, 100])),
    ("go wtime 1000 btime 900 winc 50", Some([1050, 900])),
    ("go depth 3", None),
    ("go depth 3 wtime 7000 btime 20", Some([7000, 20])),
    ("go infinite", None),
    ("go", None),
    ("go ponder wtime 1000 btime 900", Some([1000, 900])),
    ("go ponder movetime 300", Some([300, 300])),
];

const PERFT: &str = "go perft 1";

struct Board {
    position: Chess,
    legal: Vec<String>,
}

static BOARDS: LazyLock<Vec<Board>> = LazyLock::new(|| {
    POSITIONS
        .iter()
        .map(|(text, _)| {
            let (start, moves) = text.split_once(" moves ").unwrap_or((text, ""));
            let mut position: Chess = match start.strip_prefix("fen ") {
                Some(fen) => {
                    let fen: Fen = fen.parse().unwrap();
                    fen.into_position(CastlingMode::Standard).unwrap()
                }
                None => Chess::default(),
            };
            for word in moves.split_whitespace() {
                let uci: UciMove = word.parse().unwrap();
                position.play_unchecked(uci.to_move(&position).unwrap());
            }
            let legal = position
                .legal_moves()
                .iter()
                .map(|mv| mv.to_uci(CastlingMode::Standard).to_string())
                .collect();
            Board { position, legal }
        })
        .collect()
});

/// A book with the moves of [`BOOK`].
struct TwoMoves;

impl Probe for TwoMoves {
    fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        for (index, mv) in BOOK.into_iter().chain(RED) {
            if BOARDS[index].position == *position {
                let child = PositionRecord {
                    stats: Stats {
                        games: 5,
                        losses: 5,
                        ..Stats::default()
                    },
                    recommendation: if RED.contains(&(index, mv)) { 0x40 } else { 0 },
                    ..PositionRecord::default()
                };
                let uci: UciMove = mv.parse().unwrap();
                found.here = Some(child);
                found.moves.push(BookMove {
                    mv: uci.to_move(position).unwrap(),
                    annotation: Annotation::default(),
                    after: Some(child),
                    transposition: false,
                    preference: Preference::Statistics,
                    evaluation: None,
                });
            }
        }
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        Ok(BOOK
            .iter()
            .chain(&RED)
            .any(|(index, _)| BOARDS[*index].position == *position))
    }
}

/// A step of a test.
#[derive(Clone, Copy, Debug)]
enum Do {
    Position(usize),
    BadPosition(usize),
    Go(usize, bool),
    /// `go perft 1`, whose answer is no `bestmove`.
    Perft,
    Stop,
    PonderHit,
    IsReady,
    NewGame,
    Uci,
    /// `d N`: a non-UCI line for the engine, numbered.
    Own,
    /// `setoption name Hash value N`, numbered.
    Hash,
    Ours(usize),
    /// The engine starts, and handles this many lines.
    Work(usize),
    /// The engine sends an unexpected line.
    Odd(usize),
    /// The engine prints its last `bestmove` again, where that can be noticed.
    AnswerAgain,
    /// So many answers of the engine are illegal.
    Illegal(usize),
    /// The engine writes castling in letters, or in the form of UCI.
    Letters(bool),
    /// The GUI writes castling as king takes rook, or as the king's move.
    OtherCastling(bool),
    /// The engine takes a habit, or gives it up.
    Habit(usize, bool),
    /// The rules are those of a variant, or of chess.
    Variant(bool),
    Die,
    StartFails,
    Hang,
    Books,
    Time(u64),
    /// Like `Time`, but alarms come only at the end.
    Sleep(u64),
    OutputPaused(u64),
}

/// A habit of an engine; each is that of a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It does not end a search that has to be stopped.
    IgnoresStop,
    /// It answers `go infinite` and `go ponder` by itself.
    AnswersEarly,
    IgnoresSearchmoves,
    /// It answers `isready` only after its search.
    DeafInSearch,
    /// It prints nothing about its searches.
    Silent,
    /// Its `info` lines have a score without a unit, and moves that nobody can play.
    BadInfo,
    /// It answers that there is no move.
    NoMove,
    /// It writes its moves in capitals.
    Shouts,
    /// It sends each `readyok` twice.
    ReadyTwice,
    /// It declares an option twice, one with a default outside its range, and one with a
    /// blank default.
    BadOptions,
    /// It dies of any `setoption`.
    DiesOnOptions,
    /// It prints far more about its searches than anybody reads.
    Floods,
    /// It writes castling as king takes rook.
    OtherCastling,
}

const FAULTS: [Fault; 13] = [
    Fault::IgnoresStop,
    Fault::AnswersEarly,
    Fault::IgnoresSearchmoves,
    Fault::DeafInSearch,
    Fault::Silent,
    Fault::BadInfo,
    Fault::NoMove,
    Fault::Shouts,
    Fault::ReadyTwice,
    Fault::BadOptions,
    Fault::DiesOnOptions,
    Fault::Floods,
    Fault::OtherCastling,
];

const OURS: [&str; 22] = [
    "Book Variety value 3",
    "Book Think Ahead value true",
    "Book Think Ahead value false",
    "Book Verify value 200",
    "Book Verify value 0",
    "Book Delay value 300+200",
    "Book Delay value 0",
    "Book Exit Above value 30",
    "Book Cover value lines",
    "Book Cover value off",
    "Book Seed File value seeds",
    "Book Seed File value <empty>",
    "Book File value x.ctg",
    "Book Forbid value true",
    "Book Forbid value true",
    "Book Forbid value false",
    "Book Tournament value false",
    "Book Tournament value true",
    "OwnBook value false",
    "OwnBook value true",
    "Engine Stand-in value true",
    "Engine Restart value false",
];

/// A game of another adapter, with positions that do not occur here.
const OTHER_GAME: &str = "000000000000000a white 0 463b96181691fc9c 823c9b50fd114196 end";

/// Invalid `position` lines.
const BAD: [&str; 2] = ["position fen rubbish", "position fen"];

const ODD: [&str; 8] = [
    "info depth 1 score cp 3 pv a2a3",
    "readyok",
    "uciok",
    "option name Late type check default true",
    "no UCI at all",
    "bestmove",
    "bestmove Nh9",
    "",
];

fn any_action() -> impl Strategy<Value = Do> {
    prop_oneof![
        5 => (0..POSITIONS.len()).prop_map(Do::Position),
        1 => (0..BAD.len()).prop_map(Do::BadPosition),
        9 => (0..GOS.len(), prop::bool::weighted(0.2)).prop_map(|(go, only)| Do::Go(go, only)),
        1 => Just(Do::Perft),
        4 => Just(Do::Stop),
        3 => Just(Do::PonderHit),
        3 => Just(Do::IsReady),
        1 => Just(Do::NewGame),
        1 => Just(Do::Uci),
        2 => Just(Do::Own),
        2 => Just(Do::Hash),
        3 => (0..OURS.len()).prop_map(Do::Ours),
        14 => (1_usize..8).prop_map(Do::Work),
        1 => (0..ODD.len()).prop_map(Do::Odd),
        3 => Just(Do::AnswerAgain),
        1 => (1_usize..4).prop_map(Do::Illegal),
        1 => prop::bool::ANY.prop_map(Do::Letters),
        1 => prop::bool::ANY.prop_map(Do::OtherCastling),
        1 => (0..FAULTS.len(), prop::bool::weighted(0.7)).prop_map(|(at, on)| Do::Habit(at, on)),
        1 => prop::bool::weighted(0.3).prop_map(Do::Variant),
        2 => Just(Do::Die),
        1 => Just(Do::StartFails),
        1 => Just(Do::Hang),
        5 => Just(Do::Books),
        2 => (1_u64..2000).prop_map(Do::Time),
        1 => (5000_u64..60_000).prop_map(Do::Time),
        1 => (5000_u64..600_000).prop_map(Do::Sleep),
        1 => (1_u64..20_000).prop_map(Do::OutputPaused),
    ]
}

/// A line that the engine has not handled yet.
struct Unread {
    line: String,
    /// Where the books kept red moves from the engine when it was sent: when it is handled,
    /// another `go` may wait.
    forbids: Option<usize>,
}

/// A running engine.
#[derive(Default)]
struct Engine {
    inbox: VecDeque<Unread>,
    hangs: bool,
    position: usize,
    /// Whether it searches; true while it may not end by itself.
    searches: Option<bool>,
    /// The moves that it may play (`searchmoves`), if the `go` has them.
    only: Vec<String>,
    /// The position and the move of its last answer.
    answered: Option<String>,
    /// It has answered what no engine may.
    is_faulty: bool,
    /// It has sent a `readyok` that nobody asked for.
    has_lied: bool,
    /// It may be checking a book move.
    is_checking: bool,
    /// How many `isready` it answers after its search.
    unanswered: usize,
}

/// The `go` that the GUI waits for.
#[derive(Debug)]
struct PendingGo {
    position: Option<usize>,
    only: bool,
    /// It may be answered now.
    due: bool,
    ponders: bool,
    time: Option<[u64; 2]>,
    /// When its clock began to run.
    since: Duration,
    stopped: Option<Duration>,
    answered: bool,
    /// The rules have been those of chess since.
    is_chess: bool,
    /// `Book Verify` has been on since.
    verifies: bool,
    /// A check may have been sent to the engine since.
    is_check_sent: bool,
    /// The books keep red moves from the engine.
    forbids: bool,
    /// The engine has made it, or a message says that it has not.
    is_checked: bool,
}

/// The environment of the session, in place of the relay.
struct World {
    polite: bool,
    now: Duration,
    script: String,
    alarm: Option<Duration>,
    /// The engine that has been requested.
    wanted: Option<usize>,
    opening: bool,
    seed_asked: bool,
    cover_asked: bool,
    exit: Option<u8>,
    engine: Option<Engine>,
    /// Number of engines that have died, hung or not started.
    faults: usize,
    /// For a time there was no engine: lines for it are lost.
    lost_engine: bool,
    /// While true, only engines that start or hang may be killed.
    alarm_rings: bool,
    declarations: usize,
    perfts: usize,
    /// How many of them the engine has made.
    perfts_made: usize,
    transcript: Option<Transcript>,

    // The GUI.
    board: Option<usize>,
    pending: Option<PendingGo>,
    gos: usize,
    answers: usize,
    /// Number of stopped searches without an answer before the next `go`.
    owed: usize,
    pings: usize,
    pongs: usize,
    /// The position of the engine's last answer.
    engine_at: Option<usize>,
    verifies: bool,
    /// `Book Forbid` and `OwnBook` are on.
    forbids: bool,
    owns_book: bool,
    is_chess: bool,
    /// A position of the game could not be judged.
    was_unjudged: bool,

    /// The engine's habits, and those that any engine has had.
    habits: Vec<Fault>,
    former: Vec<Fault>,
    /// How many of the engine's next answers are illegal.
    illegal: usize,
    letters: bool,
    /// How the GUI writes castling.
    castling: &'static str,

    /// Numbers of the non-UCI lines: the last sent, all received.
    own_sent: usize,
    own_arrived: usize,
    hash_sent: usize,
    hash_arrived: usize,
    wrong: Option<String>,
}

impl World {
    fn note(&mut self, line: &str) {
        self.script.push_str(line);
        self.script.push('\n');
    }

    fn must(&mut self, holds: bool, what: &str) {
        if !holds && self.wrong.is_none() {
            let _ = writeln!(self.script, "# WRONG: {what}");
            self.wrong = Some(what.to_owned());
        }
    }

    fn on_answer(&mut self, line: &str) {
        self.answers += 1;
        self.must(self.answers <= self.gos, "more answers than questions");
        let engine_at = self.engine_at.take();
        if !self.polite {
            match (&mut self.pending, &mut self.owed) {
                (Some(pending), 0) => pending.answered = true,
                (_, owed) => *owed = owed.saturating_sub(1),
            }
            return;
        }
        let Some(pending) = self.pending.take() else {
            return self.must(false, "an answer that was not asked for");
        };
        self.must(pending.due, "an answer before its time");
        let Some(position) = pending.position else {
            return;
        };
        let mv = line.split_whitespace().nth(1).unwrap_or_default();
        let legal = &BOARDS[position].legal;
        // A program that waits for a move of a game gets one.
        let may_lack = pending.stopped.is_some() || pending.only;
        let is_none = self.former.contains(&Fault::NoMove) && mv == "(none)" && may_lack;
        let is_over = legal.is_empty() && mv == "0000" || is_none;
        let is_legal = is_over || legal.iter().any(|legal| legal == mv);
        self.must(is_legal || !pending.is_chess, "an illegal answer");
        let is_book = BOOK.contains(&(position, mv));
        self.must(
            !is_book || !pending.verifies || pending.is_checked,
            "a book move that nobody has checked, in silence",
        );
        self.must(
            !is_book || !pending.is_chess || self.is_chess,
            "a book move in a variant",
        );
        self.must(
            !pending.only
                || is_over
                || !pending.is_chess
                || SEARCHMOVES.contains(mv)
                || self.former.contains(&Fault::IgnoresSearchmoves),
            "an answer outside searchmoves",
        );
        self.must(
            !pending.forbids
                || !pending.is_chess
                || legal.len() == 1
                || !RED.contains(&(position, mv))
                || self.former.contains(&Fault::IgnoresSearchmoves),
            "a move that the book forbids",
        );
        self.must(
            engine_at.is_none_or(|at| at == position),
            "the engine has searched another position",
        );
    }

    /// Whether the engine may be killed for being late: as the GUI sees it, with a second
    /// less than promised.
    fn is_late(&self) -> bool {
        const PROMISED: Duration = Duration::from_secs(9);
        let Some(pending) = &self.pending else {
            return false;
        };
        if let Some(stopped) = pending.stopped
            && self.now >= stopped + PROMISED
        {
            return true;
        }
        let (Some(time), Some(position)) = (pending.time, pending.position) else {
            return pending.time.is_some();
        };
        let side = usize::from(BOARDS[position].position.turn().is_black());
        !pending.ponders && self.now >= pending.since + Duration::from_millis(time[side]) + PROMISED
    }

    /// Handles a kill request of the session.
    fn on_kill(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.faults += 1;
            if self.alarm_rings {
                // It has not introduced itself in time.
                return;
            }
            // An engine with unread lines may delay the session by a look.
            let idles = engine.hangs || engine.is_faulty || !engine.inbox.is_empty();
            let deserved = !self.polite || idles || self.is_late();
            self.must(deserved, "a healthy engine is ended");
        }
    }
}

impl Output for World {
    fn gui(&mut self, line: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.to_gui(line);
        }
        let line = String::from_utf8_lossy(line).into_owned();
        let ours = |line: &str| {
            let name = line.strip_prefix("option name ")?.split(" type ").next()?;
            OptionId::by_name(name)
        };
        if ours(&line).is_some() {
            self.declarations += 1;
            if self.declarations.is_multiple_of(OptionId::ALL.len()) {
                self.note("gui< our options");
            }
            return;
        }
        self.note(&format!("gui< {line}"));
        let word = line.split_whitespace().next().unwrap_or_default();
        let protocol = [
            "id", "option", "uciok", "readyok", "bestmove", "info", "Nodes",
        ];
        self.must(
            protocol.contains(&word) || ODD.contains(&line.as_str()),
            "a line that is no UCI",
        );
        self.must(!line.contains(['\n', '\r']), "a line in the line");
        match word {
            "bestmove" => self.on_answer(&line),
            "readyok" => {
                self.pongs += 1;
                self.must(self.pongs <= self.pings, "more readyok than isready");
            }
            _ => {
                if let Some(at) = line.strip_prefix("info string at ") {
                    self.engine_at = at.parse().ok();
                }
                if line.starts_with("info string Book Verify: ")
                    && line.contains(" not checked: ")
                    && let Some(pending) = &mut self.pending
                {
                    pending.is_checked = true;
                }
            }
        }
    }

    fn engine(&mut self, line: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.to_engine(line);
        }
        let line = String::from_utf8_lossy(line).into_owned();
        self.note(&format!("eng< {line}"));
        if let Some(pending) = &mut self.pending {
            pending.is_check_sent |= line.starts_with("go movetime");
        }
        let empty = line.starts_with("go") && line.ends_with("searchmoves");
        self.must(!empty, "no move is left to the engine");
        self.must(line != BAD[1], "a position that is none is passed on");
        let is_other = line.starts_with("position") && line.contains(OTHER_CASTLING);
        self.must(
            !is_other || self.was_unjudged,
            "a position with castling in the other notation",
        );
        if let Some(number) = line.strip_prefix("d ") {
            let number: usize = number.parse().unwrap();
            self.must(
                number > self.own_arrived,
                "a line of the GUI doubled or out of order",
            );
            self.must(
                number == self.own_arrived + 1 || self.lost_engine,
                "a line of the GUI is lost",
            );
            self.own_arrived = number;
        }
        if let Some(number) = line.strip_prefix("setoption name Hash value ") {
            let number: usize = number.parse().unwrap();
            self.must(number >= self.hash_arrived, "options out of order");
            self.hash_arrived = number;
        }
        let pending = self.pending.as_ref();
        let pending = pending.filter(|pending| pending.forbids && pending.is_chess);
        let forbids = pending.and_then(|pending| pending.position);
        match &mut self.engine {
            Some(engine) => engine.inbox.push_back(Unread { line, forbids }),
            None => self.must(false, "a line for an engine that is not there"),
        }
    }

    fn request(&mut self, request: Request) {
        if let Some(transcript) = &mut self.transcript {
            transcript.request(&request);
        }
        self.note(&format!("ask< {request}"));
        match request {
            Request::StartEngine(index) => {
                self.on_kill();
                self.wanted = Some(index);
            }
            Request::KillEngine => {
                self.on_kill();
                // It never started.
                self.faults += usize::from(self.wanted.take().is_some());
                self.lost_engine = true;
            }
            Request::OpenBooks(_) => self.opening = true,
            Request::WakeUp(after) => self.alarm = Some(self.now + after),
            // Used only with `Book Learn`, which is off here.
            Request::NoteGame(note) => panic!("{note:?}"),
            Request::TakeSeed(_) => self.seed_asked = true,
            Request::ReadCover(_) => self.cover_asked = true,
            Request::AddCover(_) => {}
            Request::Record(record) => {
                let line = format!("now,{}", record.line());
                let read = GameRecord::read(&line).map(|(_, read)| read);
                self.must(
                    read.as_ref() == Some(&*record),
                    "a record that cannot be read",
                );
            }
            Request::Exit(code) => self.exit = Some(code),
        }
    }
}

/// A file in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn identify(_path: &str) -> String {
    "same".to_owned()
}

fn book_set() -> BookSet {
    let book = OpenBook::new(BookSpec::default(), Arc::new(TwoMoves)).name("book1".to_owned());
    BookSet::from(vec![book])
}

struct Play {
    session: Session,
    book_set: BookSet,
    world: World,
}

impl Play {
    /// A world whose transcript goes to `log`.
    fn begin(polite: bool, log: Option<&Log>) -> Play {
        let profile = |name: &str| Profile {
            name: name.to_owned(),
            start_timeout: Duration::from_secs(8),
            ..Profile::default()
        };
        let mut fish = profile("fish");
        fish.settings.set(OptionId::Info, "brief").unwrap();
        let mut builtin = profile("builtin");
        builtin.settings.set(OptionId::Info, "brief").unwrap();
        let engines = Engines {
            profiles: vec![fish, builtin],
            stand_in: Some(1),
            chain: 1,
            record_games: true,
            ..Engines::default()
        };
        let header = LogHeader {
            version: "",
            begun: "",
            seed: 1,
            engines: &engines,
            commands: &[],
            folders: &[],
            mmap: true,
        };
        let transcript = log.map(|log| {
            Transcript::begin(Box::new(log.clone()), &header, Box::new(identify)).unwrap()
        });
        let world = World {
            polite,
            now: Duration::ZERO,
            script: "engine fish\nstand-in builtin\nset Book Info=brief\nbook\n\
                   in : e2e4=0/0/5 a2a3=0/0/5r\nin e2e4 e7e5: g1f3=0/0/5\nin e2e4: a7a6=0/0/5r\n"
                .to_owned(),
            alarm: None,
            wanted: None,
            opening: false,
            seed_asked: false,
            cover_asked: false,
            exit: None,
            engine: None,
            faults: 0,
            lost_engine: false,
            alarm_rings: false,
            declarations: 0,
            perfts: 0,
            perfts_made: 0,
            transcript,
            board: Some(0),
            pending: None,
            gos: 0,
            answers: 0,
            owed: 0,
            pings: 0,
            pongs: 0,
            engine_at: None,
            verifies: false,
            forbids: false,
            owns_book: true,
            is_chess: true,
            was_unjudged: false,
            habits: Vec::new(),
            former: Vec::new(),
            illegal: 0,
            letters: false,
            castling: CASTLING,
            own_sent: 0,
            own_arrived: 0,
            hash_sent: 0,
            hash_arrived: 0,
            wrong: None,
        };
        let mut play = Play {
            session: Session::new(engines, 1),
            book_set: BookSet::default(),
            world,
        };
        play.session.start(&mut play.world);
        play
    }

    fn step(&mut self, text: &str, event: Event<'_>) {
        if self.world.exit.is_none() {
            self.world.note(text);
            let now = self.world.now;
            if let Some(transcript) = &mut self.world.transcript {
                transcript.event(now, &event, &self.book_set);
            }
            self.session
                .step(now, event, &self.book_set, &mut self.world);
            // The seed comes at once, before any other event.
            if std::mem::take(&mut self.world.seed_asked) {
                let taken = (!now.subsec_millis().is_multiple_of(3)).then_some(7);
                let text = taken.map_or_else(|| "none is left".to_owned(), |n| n.to_string());
                self.step(
                    &format!("seed {text}"),
                    Event::Seed(taken.ok_or("none is left")),
                );
            }
            if std::mem::take(&mut self.world.cover_asked) {
                let read = (!now.subsec_millis().is_multiple_of(3)).then_some(OTHER_GAME);
                let read = read.ok_or("another adapter uses it");
                let text = read.unwrap_or_else(|reason| reason);
                self.step(&format!("cover {text}"), Event::Cover(read));
            }
        }
    }

    fn gui(&mut self, line: &str) {
        self.step(&format!("gui> {line}"), Event::Gui(line.as_bytes()));
    }

    fn action(&mut self, action: Do) {
        if self.world.exit.is_some() {
            return;
        }
        let polite = self.world.polite;
        let waits = polite && self.world.pending.is_some();
        match action {
            Do::Go(..) | Do::Perft if waits => {}
            Do::Position(index) => {
                self.world.board = Some(index);
                let line = format!("position {}", POSITIONS[index].0);
                self.gui(&line.replace(CASTLING, self.world.castling));
            }
            Do::BadPosition(index) => {
                self.world.board = None;
                self.world.was_unjudged = true;
                self.gui(BAD[index]);
            }
            Do::Go(index, only) => self.go(index, only),
            Do::Perft => {
                self.replace_pending();
                // There is nothing to count without a position, and an engine that starts
                // gets only the last search.
                let is_made = self.world.board.is_some() && self.session.parts.engine.is_up();
                self.world.perfts += usize::from(is_made);
                self.gui(PERFT);
            }
            Do::Stop => {
                let now = self.world.now;
                if let Some(pending) = &mut self.world.pending {
                    pending.due = true;
                    pending.stopped.get_or_insert(now);
                }
                self.gui("stop");
            }
            Do::PonderHit => {
                let now = self.world.now;
                let ponders = match &mut self.world.pending {
                    Some(pending) if pending.ponders => {
                        pending.ponders = false;
                        pending.due = true;
                        pending.since = now;
                        true
                    }
                    _ => false,
                };
                if ponders || !polite {
                    self.gui("ponderhit");
                }
            }
            Do::IsReady => {
                self.world.pings += 1;
                self.gui("isready");
            }
            Do::NewGame => self.gui("ucinewgame"),
            Do::Uci => self.gui("uci"),
            Do::Own => {
                self.world.own_sent += 1;
                self.gui(&format!("d {}", self.world.own_sent));
            }
            Do::Hash => {
                self.world.hash_sent += 1;
                self.gui(&format!(
                    "setoption name Hash value {}",
                    self.world.hash_sent
                ));
            }
            Do::Ours(index) => {
                if let Some(time) = OURS[index].strip_prefix("Book Verify value ") {
                    self.world.verifies = time != "0";
                    if let Some(pending) = &mut self.world.pending {
                        pending.verifies &= self.world.verifies;
                    }
                }
                match OURS[index].split_once(" value ") {
                    Some(("Book Forbid", on)) => self.world.forbids = on == "true",
                    Some(("OwnBook", on)) => self.world.owns_book = on == "true",
                    _ => {}
                }
                self.gui(&format!("setoption name {}", OURS[index]));
            }
            Do::Variant(on) => {
                self.world.is_chess = !on;
                self.world.was_unjudged |= on;
                if let Some(pending) = &mut self.world.pending {
                    pending.is_chess &= !on;
                }
                let name = if on { "antichess" } else { "chess" };
                self.gui(&format!("setoption name UCI_Variant value {name}"));
            }
            Do::Illegal(count) => self.world.illegal = count,
            Do::Habit(at, on) => {
                self.world.habits.retain(|known| *known != FAULTS[at]);
                if on {
                    self.world.habits.push(FAULTS[at]);
                    self.world.former.push(FAULTS[at]);
                }
            }
            Do::Letters(on) => self.world.letters = on,
            Do::OtherCastling(on) => {
                self.world.castling = if on { OTHER_CASTLING } else { CASTLING };
            }
            Do::AnswerAgain => self.answer_again(),
            Do::Work(count) => {
                for _ in 0..count {
                    self.work();
                }
            }
            Do::Odd(index) => {
                // After an answer that counts as none, only `readyok` shows that the
                // engine has ended its search.
                let is_answer = ODD[index].starts_with("bestmove");
                let is_ready = ODD[index] == "readyok";
                let lies =
                    |engine: &Engine| engine.is_faulty && is_ready || engine.has_lied && is_answer;
                if self.is_alive() && !self.world.engine.as_ref().is_some_and(lies) {
                    let engine = self.world.engine.as_mut().unwrap();
                    engine.is_faulty |= is_answer;
                    engine.has_lied |= is_ready;
                    self.step(
                        &format!("eng> {}", ODD[index]),
                        Event::Engine(ODD[index].as_bytes()),
                    );
                }
            }
            Do::Die => {
                if self.world.engine.take().is_some() {
                    self.world.faults += 1;
                    self.step("gone dead", Event::EngineGone("dead"));
                }
            }
            Do::StartFails => {
                if self.world.wanted.take().is_some() {
                    self.world.faults += 1;
                    self.step("gone no such file", Event::EngineGone("no such file"));
                }
            }
            Do::Hang => {
                if let Some(engine) = &mut self.world.engine {
                    engine.hangs = true;
                }
            }
            Do::Books => {
                if std::mem::take(&mut self.world.opening) {
                    self.book_set = book_set();
                    self.step("opened", Event::BooksOpened(&[]));
                }
            }
            Do::Time(ms) => self.time(ms, false),
            Do::Sleep(ms) => self.time(ms, true),
            Do::OutputPaused(ms) => {
                let time = Duration::from_millis(ms);
                self.step(&format!("heldup {ms}"), Event::OutputPaused(time));
            }
        }
    }

    /// The engine prints its last answer again, unless it would be legal in the position
    /// of another search: nobody could tell these two apart.
    fn answer_again(&mut self) {
        let engine = self.world.engine.as_mut();
        let Some(engine) = engine.filter(|engine| !engine.hangs && !engine.has_lied) else {
            return;
        };
        let mut position = engine.position;
        let mut searched = engine.searches.map(|_| position);
        for Unread { line, .. } in &engine.inbox {
            if let Some(known) = known_position(line) {
                position = known;
            }
            if line.starts_with("go") {
                searched = Some(position);
            }
        }
        let Some(answer) = engine.answered.clone() else {
            return;
        };
        let meant = match answer.to_lowercase().as_str() {
            "o-o" | OTHER_CASTLING => CASTLING.to_owned(),
            other => other.to_owned(),
        };
        let is_legal = |position: usize| BOARDS[position].legal.contains(&meant);
        let is_noticed = searched.is_none_or(|position| !is_legal(position));
        // In a position that cannot be read, and in a variant, every answer counts.
        if is_noticed && !self.world.was_unjudged {
            engine.is_faulty = true;
            let line = format!("bestmove {answer}");
            self.step(&format!("eng> {line}"), Event::Engine(line.as_bytes()));
        }
    }

    fn is_alive(&self) -> bool {
        self.world
            .engine
            .as_ref()
            .is_some_and(|engine| !engine.hangs)
    }

    fn go(&mut self, index: usize, only: bool) {
        let (text, time) = GOS[index];
        let ponders = text.contains("ponder");
        let open = text == "go infinite" || text == "go";
        self.world.gos += 1;
        self.replace_pending();
        self.world.pending = Some(PendingGo {
            position: self.world.board,
            only,
            due: !ponders && !open,
            ponders,
            time,
            since: self.world.now,
            stopped: None,
            answered: false,
            is_chess: self.world.is_chess,
            verifies: self.world.verifies,
            forbids: self.world.forbids
                && self.world.owns_book
                && !self.book_set.books.is_empty()
                && !open
                && !only,
            is_check_sent: false,
            is_checked: false,
        });
        if only && text != "go" {
            let moves = SEARCHMOVES.replace(CASTLING, self.world.castling);
            self.gui(&format!("{text} {moves}"));
        } else {
            self.world.pending.as_mut().unwrap().only = false;
            self.gui(text);
        }
    }

    /// The GUI sends another `go`.
    fn replace_pending(&mut self) {
        if let Some(before) = self.world.pending.take() {
            // A stopped search is not replaced by another.
            self.world.owed += usize::from(before.stopped.is_some() && !before.answered);
        }
    }

    /// The engine starts, or handles one line; false if it cannot.
    fn work(&mut self) -> bool {
        if self.world.exit.is_some() {
            return false;
        }
        if self.world.wanted.take().is_some() {
            self.world.engine = Some(Engine::default());
            self.step("up", Event::EngineUp);
            return true;
        }
        let Some(engine) = &mut self.world.engine else {
            return false;
        };
        if engine.hangs {
            return false;
        }
        // It says that it has ended a search which it goes on with.
        let ignores_stop = engine.is_faulty && self.world.former.contains(&Fault::IgnoresStop);
        let unread = engine.inbox.pop_front();
        let forbids = unread.as_ref().and_then(|unread| unread.forbids);
        let line = unread.map(|unread| unread.line);
        let words: Vec<&str> = line.iter().flat_map(|line| line.split(' ')).collect();
        let answers = match words.first().copied() {
            Some("uci") if self.world.habits.contains(&Fault::BadOptions) => [
                "option name Hash type spin default 0",
                "option name Rate type spin default 5 min 10 max 20",
                "option name Ponder type check default false",
                "option name ponder type check default false",
                "option name Path type string default ",
                "uciok",
            ]
            .map(str::to_owned)
            .to_vec(),
            Some("uci") => vec![
                "option name Hash type spin default 0".to_owned(),
                "uciok".to_owned(),
            ],
            Some("setoption") if self.world.habits.contains(&Fault::DiesOnOptions) => {
                self.action(Do::Die);
                return true;
            }
            Some("isready")
                if engine.searches.is_some()
                    && self.world.habits.contains(&Fault::DeafInSearch) =>
            {
                engine.unanswered += 1;
                Vec::new()
            }
            Some("isready") => {
                let mut answers = vec!["readyok".to_owned()];
                if self.world.habits.contains(&Fault::ReadyTwice) && !engine.is_faulty {
                    engine.has_lied = true;
                    answers.push("readyok".to_owned());
                }
                answers
            }
            Some("stop") if self.world.habits.contains(&Fault::IgnoresStop) => {
                engine.is_faulty |= engine.searches.is_some();
                Vec::new()
            }
            Some("stop") if engine.searches.take().is_some() => self.answer(),
            Some("ponderhit") => {
                engine.searches = engine.searches.map(|_| false);
                Vec::new()
            }
            Some("go") if line.as_deref() == Some(PERFT) => {
                // Afterwards nobody could tell its last answer, printed again, from one to
                // this: some engines search instead.
                engine.answered = None;
                let busy = engine.searches.is_some() && !ignores_stop;
                self.world.must(!busy, "a go for an engine that searches");
                self.world.perfts_made += 1;
                vec!["Nodes searched: 20".to_owned()]
            }
            Some("go") => {
                let busy = engine.searches.is_some() && !ignores_stop;
                let held =
                    words.len() == 1 || words.contains(&"infinite") || words.contains(&"ponder");
                let early = self.world.habits.contains(&Fault::AnswersEarly);
                engine.searches = Some(held && !early);
                engine.is_checking = words.get(1) == Some(&"movetime");
                let only = words.iter().skip_while(|word| **word != "searchmoves");
                engine.only = only.skip(1).map(ToString::to_string).collect();
                let (here, only) = (engine.position, engine.only.clone());
                self.world.must(!busy, "a go for an engine that searches");
                let may_play = |mv: &str| only.is_empty() || only.iter().any(|only| only == mv);
                // `Book Think Ahead` warms it up, and its answer is not used.
                let is_bad = forbids == Some(here)
                    && self.world.polite
                    && self.world.is_chess
                    && !words.contains(&"ponder")
                    && BOARDS[here].legal.len() > 1
                    && RED.iter().any(|(at, mv)| *at == here && may_play(mv));
                self.world
                    .must(!is_bad, "a search for a move that the book forbids");
                let can_castle = BOARDS[here].legal.iter().any(|mv| mv == CASTLING);
                let is_other = can_castle && only.iter().any(|mv| mv == OTHER_CASTLING);
                self.world.must(
                    !is_other || self.world.was_unjudged,
                    "searchmoves with castling in the other notation",
                );
                Vec::new()
            }
            Some("position" | "setoption" | "ucinewgame") => {
                let text = line.as_deref().unwrap_or_default();
                // It ignores lines that it cannot read, as some engines do.
                if let Some(at) = known_position(text) {
                    engine.position = at;
                }
                let busy = engine.searches.is_some() && !ignores_stop;
                self.world
                    .must(!busy, "an engine that searches is disturbed");
                Vec::new()
            }
            Some(_) => Vec::new(),
            None if engine.searches == Some(false) => {
                engine.searches = None;
                self.answer()
            }
            None => return false,
        };
        for answer in answers {
            self.step(&format!("eng> {answer}"), Event::Engine(answer.as_bytes()));
        }
        true
    }

    /// The engine's answer to its search.
    fn answer(&mut self) -> Vec<String> {
        let world = &mut self.world;
        let Some(engine) = &mut world.engine else {
            return Vec::new();
        };
        // Its own move is the better one.
        let own = POSITIONS[engine.position].1;
        let mut late = vec!["readyok".to_owned(); std::mem::take(&mut engine.unanswered)];
        if own.is_empty() {
            return late;
        }
        let has = |fault| world.habits.contains(&fault);
        let (mut mv, value) = match engine.only.first() {
            Some(first)
                if !engine.only.iter().any(|mv| mv == own) && !has(Fault::IgnoresSearchmoves) =>
            {
                (first.clone(), -60)
            }
            _ => (own.to_owned(), 40),
        };
        let at = format!("info string at {}", engine.position);
        let info = match has(Fault::BadInfo) {
            true => format!("info depth 3 score {value} pv {mv} {mv}"),
            false => format!("info depth 3 score cp {value} pv {mv}"),
        };
        let (silent, shouts) = (has(Fault::Silent), has(Fault::Shouts));
        let other_castling = has(Fault::OtherCastling);
        if has(Fault::NoMove) {
            engine.is_faulty = true;
            late.insert(0, "bestmove (none)".to_owned());
            engine.answered = None;
            if let Some(pending) = &mut world.pending {
                pending.is_checked |= engine.is_checking && pending.is_check_sent;
            }
            return late;
        }
        engine.answered = Some(mv.clone());
        if world.illegal > 0 && !engine.has_lied {
            world.illegal -= 1;
            engine.is_faulty = true;
            let (_, other) = POSITIONS[(engine.position + 1) % POSITIONS.len()];
            let legal = &BOARDS[engine.position].legal;
            let is_legal = other.is_empty() || legal.iter().any(|legal| legal == other);
            mv = if is_legal { "a1a1" } else { other }.to_owned();
            engine.answered = Some(mv.clone());
        } else if let Some(pending) = &mut world.pending {
            pending.is_checked |= engine.is_checking && pending.is_check_sent;
        }
        if world.letters && mv == CASTLING {
            "O-O".clone_into(&mut mv);
            // Nobody can say which move that is in a position that cannot be read.
            engine.is_faulty |= world.was_unjudged;
            engine.answered = Some(mv.clone());
        }
        if other_castling && mv == CASTLING {
            OTHER_CASTLING.clone_into(&mut mv);
            engine.answered = Some(mv.clone());
        }
        if shouts {
            mv = mv.to_uppercase();
            engine.is_faulty |= world.was_unjudged;
            engine.answered = Some(mv.clone());
        }
        let mut lines = vec![info; if has(Fault::Floods) { 60 } else { 1 }];
        lines.insert(0, at);
        lines.retain(|_| !silent);
        lines.push(format!("bestmove {mv}"));
        lines.append(&mut late);
        lines
    }

    /// Advances the time. Alarms come in time, or at the end if everything `sleeps`.
    fn time(&mut self, ms: u64, sleeps: bool) {
        let until = self.world.now + Duration::from_millis(ms);
        let mut from = self.world.now;
        if sleeps {
            from = until;
        }
        for _ in 0..1000 {
            let overdue = self.session.deadline();
            let next = match (self.world.alarm, overdue) {
                (Some(alarm), Some(due)) => alarm.min(due),
                (alarm, due) => match alarm.or(due) {
                    Some(next) => next,
                    None => break,
                },
            };
            if next > until || self.world.exit.is_some() {
                break;
            }
            self.advance(next.max(from));
            if self.world.alarm == Some(next) {
                self.world.alarm = None;
                self.world.alarm_rings = true;
                self.step("wake", Event::WakeUp);
                self.world.alarm_rings = false;
            } else {
                self.step("overdue", Event::Overdue);
                let again = self.session.deadline();
                let moved = again.is_none_or(|again| again > self.world.now);
                self.world.must(moved, "a deadline without any effect");
            }
        }
        self.advance(until);
    }

    fn advance(&mut self, to: Duration) {
        if to > self.world.now {
            let ms = (to - self.world.now).as_millis();
            self.world.note(&format!("time {ms}"));
            self.world.now = to;
        }
    }

    /// Handles all pending events; then the clock runs until nothing is left to wait for.
    fn run_until_idle(&mut self) {
        for _ in 0..400 {
            while self.world.opening || self.world.wanted.is_some() || self.is_alive() {
                self.action(Do::Books);
                if self.world.exit.is_some() || (!self.work() && !self.world.opening) {
                    break;
                }
            }
            let next = match (self.world.alarm, self.session.deadline()) {
                (Some(alarm), Some(due)) => alarm.min(due),
                (alarm, due) => match alarm.or(due) {
                    Some(next) => next,
                    None => return,
                },
            };
            if self.world.exit.is_some() {
                return;
            }
            let ms = next.saturating_sub(self.world.now).as_millis();
            self.time(u64::try_from(ms).unwrap() + 1, false);
        }
        self.world.must(false, "it never comes to rest");
    }

    /// Another game is played, whatever happened before.
    fn next_game(&mut self) {
        let answers = self.world.answers;
        for action in [Do::NewGame, Do::Position(2), Do::Go(0, false)] {
            self.action(action);
        }
        self.run_until_idle();
        let lost_engine = self.world.exit == Some(2) && self.world.faults > 0;
        let answered = self.world.answers == answers + 1;
        self.world
            .must(answered || lost_engine, "the next game is not played");
    }

    fn finish(&mut self, by_eof: bool) {
        self.run_until_idle();
        if self
            .world
            .pending
            .as_ref()
            .is_some_and(|pending| pending.stopped.is_none())
        {
            self.action(Do::Stop);
            self.run_until_idle();
        }
        let hangs = self
            .world
            .engine
            .as_ref()
            .is_some_and(|engine| engine.hangs);
        if let Some(code) = self.world.exit {
            self.world.must(code == 2, "an end that was not requested");
            let faults = self.world.faults > 0;
            self.world.must(faults, "giving up with a healthy engine");
            self.world.must(
                self.session.end_reason().is_some(),
                "an end without a reason",
            );
            return;
        }
        let pending = self.world.pending.as_ref();
        let done = pending.is_none_or(|pending| pending.answered) && self.world.owed == 0;
        self.world.must(done, "a go without an answer");
        if !hangs {
            let all = self.world.pongs == self.world.pings;
            self.world.must(all, "an isready without readyok");
            let arrived = self.world.own_arrived == self.world.own_sent;
            self.world.must(
                arrived || self.world.lost_engine,
                "a line of the GUI is lost",
            );
            let made = self.world.perfts_made >= self.world.perfts;
            self.world
                .must(made || self.world.faults > 0, "a perft is lost");
            // After several deaths the option may seem to be the cause.
            let is_left_out = self.session.parts.engine.leaves_out("Hash");
            let arrived = self.world.hash_arrived == self.world.hash_sent || is_left_out;
            self.world
                .must(arrived || self.world.lost_engine, "an option is lost");
            self.world.must(
                !is_left_out || self.world.faults > 0,
                "an option is left out",
            );
        }
        if !hangs {
            self.next_game();
        }
        if self.world.exit.is_some() {
            return;
        }
        let sent = self.world.now;
        if by_eof {
            self.step("eof", Event::GuiClosed);
        } else {
            self.gui("quit");
        }
        self.run_until_idle();
        self.world
            .must(self.world.exit == Some(0), "it does not end");
        let soon = self.world.now <= sent + Duration::from_millis(1600);
        self.world.must(soon, "it ends too late");
    }
}

/// The position of a `position` line that the engine can read.
fn known_position(line: &str) -> Option<usize> {
    // In a variant it gets castling as it was written.
    let text = line.strip_prefix("position ")?;
    let text = text.replace(OTHER_CASTLING, CASTLING);
    POSITIONS.iter().position(|(known, _)| *known == text)
}

/// Plays a conversation, and returns it in the form of `tests/session/*.txt`; the error says
/// what was wrong, too.
fn run(polite: bool, actions: &[Do], by_eof: bool, log: Option<&Log>) -> Result<String, String> {
    let mut play = Play::begin(polite, log);
    let played = catch_unwind(AssertUnwindSafe(|| {
        for action in actions {
            play.action(*action);
            if play.world.wrong.is_some() {
                return;
            }
        }
        play.finish(by_eof);
    }));
    let world = play.world;
    match (world.wrong, played) {
        (None, Ok(())) => Ok(world.script),
        (Some(wrong), _) => Err(format!("{wrong}\n{}", world.script)),
        (None, Err(_)) => Err(format!("it has panicked\n{}", world.script)),
    }
}

/// The strategy by which a number decides a conversation.
fn conversations() -> impl Strategy<Value = (Vec<Do>, bool)> {
    (prop::collection::vec(any_action(), 0..50), any::<bool>())
}

/// Plays the conversation of a seed: the GUI, the engine and the clock. One that fails is
/// made short first.
fn simulate(
    polite: bool,
    seed: u64,
    conversations: &impl Strategy<Value = (Vec<Do>, bool)>,
) -> Result<String, String> {
    let seeds = [seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), !seed];
    let bytes: Vec<u8> = seeds.iter().flat_map(|seed| seed.to_le_bytes()).collect();
    // The default generator would take most of the time.
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, &bytes);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut tree = conversations.new_tree(&mut runner).unwrap();
    let play = |(actions, by_eof): (Vec<Do>, bool)| run(polite, &actions, by_eof, None);
    let mut wrong = match play(tree.current()) {
        Ok(script) => return Ok(script),
        Err(wrong) => wrong,
    };
    let mut is_shorter = tree.simplify();
    for _ in 0..20_000 {
        if !is_shorter {
            break;
        }
        is_shorter = match play(tree.current()) {
            Ok(_) => tree.complicate(),
            Err(shorter) => {
                wrong = shorter;
                tree.simplify()
            }
        };
    }
    Err(format!("TABIA_SEED={seed}: {wrong}"))
}

/// Plays the conversations of as many seeds as wanted, on all processors.
fn simulate_all(polite: bool) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, count) = (number("TABIA_SEED").unwrap_or(1), u64::from(cases()));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let step = u64::try_from(threads).unwrap();
    let begun = Instant::now();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..step)
            .map(|thread| {
                scope.spawn(move || {
                    let conversations = conversations();
                    let mut seeds = (first + thread..first + count).step_by(threads);
                    seeds.find_map(|seed| {
                        let script = simulate(polite, seed, &conversations);
                        script
                            .map(|script| keep_digest(polite, seed, &script))
                            .err()
                    })
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.flatten().collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let seconds = begun.elapsed().as_secs_f64();
    eprintln!(
        "{count} conversations from seed {first} on, {:.0} a second",
        f64::from(cases()) / seconds
    );
}

/// Adds the digest of a conversation to the file that `TABIA_DIGESTS` names: two builds that
/// send the same bytes write the same lines, in any order. One that is played alone is printed.
fn keep_digest(polite: bool, seed: u64, script: &str) {
    let Some(path) = std::env::var_os("TABIA_DIGESTS") else {
        return;
    };
    if cases() == 1 {
        eprintln!("{script}");
    }
    let mut hasher = std::hash::DefaultHasher::new();
    script.hash(&mut hasher);
    let line = format!("{polite} {seed} {:016x}\n", hasher.finish());
    let file = std::fs::File::options()
        .create(true)
        .append(true)
        .open(path);
    file.unwrap().write_all(line.as_bytes()).unwrap();
}

/// Number of seeds of each property; `TABIA_TEST_CASES` for a longer run.
fn cases() -> u32 {
    let wanted = std::env::var("TABIA_TEST_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(1000)
}

/// Runs a conversation, and replays it from its transcript.
fn run_twice(actions: &[Do], by_eof: bool) -> Result<(), TestCaseError> {
    let log = Log::default();
    run(false, actions, by_eof, Some(&log)).map_err(TestCaseError::fail)?;
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let recording = Recording::read(&text).unwrap();
    let replayed = replay(&recording, "", &mut |_, _| book_set(), &identify);
    prop_assert!(replayed.notes.is_empty(), "{:?}", replayed.notes);
    if let Some(difference) = &replayed.difference {
        return Err(TestCaseError::fail(format!("{difference:#?}\n{text}")));
    }
    prop_assert_eq!(replayed.came + replayed.matched, recording.lines.len());
    Ok(())
}

#[test]
fn a_polite_program_gets_what_it_asks_for() {
    simulate_all(true);
}

#[test]
fn an_impatient_gui_gets_each_answer_once() {
    simulate_all(false);
}

proptest! {
    // Writing and reading take longer than the conversation.
    #![proptest_config(ProptestConfig {
        cases: cases() / 10,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_replay_sends_the_same_lines(
        actions in prop::collection::vec(any_action(), 0..50),
        by_eof: bool,
    ) {
        run_twice(&actions, by_eof)?;
    }
}
