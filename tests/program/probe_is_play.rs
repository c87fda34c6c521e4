//! The adapter plays what `tabia probe` prints, and a seed repeats its choices.

#![allow(clippy::unwrap_used)] // A test that fails here shows the line.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use shakmaty::Position as _;
use tabia_adapter::session::{Engines, Event, Output, Profile, Request, Session};
use tabia_choice::book_set::{BookSet, BookSpec, Opener};
use tabia_choice::learn::{Evidence, PlayedGame, append, side_path};
use tabia_notation as notation;

/// A book with everything that affects the choice of moves: marks, annotations, learn
/// values, transpositions, short lines; and some of its positions.
fn rich_book(folder: &Path) -> (PathBuf, Vec<String>) {
    let (mut book, positions) = crate::common::random_book(2500, 3);
    for (index, (_, record)) in book.entries.values_mut().enumerate() {
        record.recommendation = [0, 0, 0x80, 0, 0x40, 0, 0][index % 7];
        record.learn_value = [0, 60, 0, -125, -40, 0, 20, 0, 0, 0, 125][index % 11];
        record.stats.wins += [0, 40, 9][index % 3];
        record.stats.games = record.stats.wins + 8;
    }
    let step = positions.len() / 12;
    let some = positions
        .iter()
        .take(12)
        .chain(positions.iter().step_by(step));
    let fens = some.map(notation::fen).collect();
    (book.write(folder, "rich"), fens)
}

/// The probabilities that `tabia probe` prints for each position.
fn probed(book: &Path, sets: &[&str], fens: &[String]) -> Vec<BTreeMap<String, f64>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabia"));
    command.arg("probe").arg(book).args(["--json", "-"]);
    for set in sets {
        command.args(["--set", set]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // The side files of the user must not be used.
    command.env("XDG_DATA_HOME", book.parent().unwrap().join("data"));
    let mut running = command.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    let lines = fens.join("\n");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = running.wait_with_output().unwrap();
    writer.join().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<_> = answers
        .lines()
        .map(|line| {
            let answer: serde_json::Value = serde_json::from_str(line).unwrap();
            let moves = answer["moves"].as_array().unwrap().iter();
            moves
                .map(|mv| {
                    let uci = mv["uci"].as_str().unwrap().to_owned();
                    (uci, mv["probability"].as_f64().unwrap())
                })
                .collect()
        })
        .collect();
    assert_eq!(answers.len(), fens.len());
    answers
}

/// The lines that the session sends.
#[derive(Default)]
struct Sent {
    gui: Vec<String>,
    engine: Vec<String>,
}

impl Output for Sent {
    fn gui(&mut self, line: &[u8]) {
        self.gui.push(String::from_utf8_lossy(line).into_owned());
    }

    fn engine(&mut self, line: &[u8]) {
        self.engine.push(String::from_utf8_lossy(line).into_owned());
    }

    fn request(&mut self, _request: Request) {}
}

/// An adapter with one book and an engine that plays the moves of the test.
struct Adapter {
    session: Session,
    book_set: BookSet,
    sent: Sent,
    /// The last `position` line.
    position: String,
}

impl Adapter {
    fn new(book: &Path, sets: &[&str]) -> Adapter {
        let mut profile = Profile::default();
        profile.name = "fish".to_owned();
        let engines = Engines::one(profile);
        let mut adapter = Adapter {
            session: Session::new(engines, 1),
            book_set: BookSet::default(),
            sent: Sent::default(),
            position: "position startpos".to_owned(),
        };
        adapter.session.start(&mut adapter.sent);
        adapter.step(Event::EngineUp);
        adapter.step(Event::Engine(b"uciok"));
        let path = book.to_str().unwrap();
        adapter.gui(&format!("setoption name Book File value {path}"));
        for set in sets {
            let (name, value) = set.split_once('=').unwrap();
            adapter.gui(&format!("setoption name {name} value {value}"));
        }
        let opener = Opener::here(true);
        let specs = BookSpec::wanted(adapter.session.settings().options(), &[]);
        let (book_set, messages) = opener.book_set(&specs, &BookSet::default());
        assert!(messages.is_empty(), "{messages:?}");
        adapter.book_set = book_set;
        adapter.get_ready();
        adapter
    }

    fn get_ready(&mut self) {
        self.gui("isready");
        self.step(Event::BooksOpened(&[]));
        self.step(Event::Engine(b"readyok"));
    }

    fn step(&mut self, event: Event<'_>) {
        self.session
            .step(Duration::ZERO, event, &self.book_set, &mut self.sent);
    }

    fn gui(&mut self, line: &str) {
        if line.starts_with("position ") {
            line.clone_into(&mut self.position);
        }
        self.step(Event::Gui(line.as_bytes()));
    }

    /// A legal move, or any move where the position line is not legal.
    fn legal_move(&self) -> String {
        let (start, moves) = self
            .position
            .split_once(" moves")
            .unwrap_or((&self.position, ""));
        let fen = start.strip_prefix("position fen ").unwrap_or_default();
        let line = notation::Line::read(fen, moves).ok();
        let first = line.and_then(|line| line.last().legal_moves().first().copied());
        first.map_or_else(|| "a2a3".to_owned(), notation::uci)
    }

    /// The engine answers its search.
    fn engine_answers(&mut self) {
        let answer = format!("bestmove {}", self.legal_move());
        self.step(Event::Engine(answer.as_bytes()));
    }

    /// The book move for a `go`; `None` if the engine gets the `go`.
    fn book_move(&mut self, go: &str) -> Option<String> {
        self.sent.gui.clear();
        self.sent.engine.clear();
        self.gui(go);
        if self.sent.engine.iter().any(|line| line == go) {
            self.gui("stop");
            self.engine_answers();
            return None;
        }
        self.sent.gui.iter().find_map(|line| {
            let mut words = line.strip_prefix("bestmove ")?.split(' ');
            words.next().map(str::to_owned)
        })
    }
}

/// Settings that allow many moves.
const LOOSE: [&str; 3] = [
    "Book Tournament=false",
    "Book Annotations=false",
    "Book Learn Influence=0",
];

const SETTINGS: [&[&str]; 11] = [
    &[],
    &["Book Variety=0"],
    &["Book Variety=100", "Book Minimum Share=0"],
    &["Book Preset=Optimize", "Book Variety=50"],
    &["Book Preset=Handicap"],
    &["Book Transpositions=false"],
    &["Book Leave Early=1", "Book Tournament=false"],
    &["Book Depth=1"],
    &["Book Minimum Games=60", "Book Annotations=false"],
    &["Book Learn Influence=0", "Book Minimum Score=50"],
    &["Book Learn=true", "Book Learn Influence=100"],
];

#[test]
fn probe_has_the_probabilities_of_the_played_moves() {
    const DRAWS: u32 = 100;
    let folder = tempfile::tempdir().unwrap();
    let (book, fens) = rich_book(folder.path());
    for mv in ["e2e4", "d2d4", "d2d4", "g1f3"] {
        let game = PlayedGame {
            start: None,
            winner: Some(shakmaty::Color::White),
            evidence: Evidence::Mate,
            moves: vec![(mv.to_owned(), true)],
        };
        append(&side_path(&book), &game).unwrap();
    }
    let mut silent = 0;
    for sets in SETTINGS {
        let mut adapter = Adapter::new(&book, sets);
        for (fen, probabilities) in fens.iter().zip(probed(&book, sets, &fens)) {
            adapter.gui(&format!("position fen {fen}"));
            let mut drawn: BTreeMap<String, u32> = BTreeMap::new();
            let playable = probabilities.values().any(|p| *p > 0.0);
            for _ in 0..if playable { DRAWS } else { 1 } {
                match adapter.book_move("go movetime 1") {
                    Some(mv) => *drawn.entry(mv).or_default() += 1,
                    None => assert!(!playable, "{sets:?} {fen}: {probabilities:?}"),
                }
            }
            silent += u32::from(drawn.is_empty());
            for (mv, p) in &probabilities {
                let times = drawn.remove(mv).unwrap_or(0);
                if *p == 0.0 || *p > 0.999_999 {
                    let expected = if *p == 0.0 { 0 } else { DRAWS };
                    assert_eq!(times, expected, "{sets:?} {fen} {mv}");
                }
                // The choices are the same in every run; five deviations allow another
                // random generator.
                let deviation = (p * (1.0 - p) / f64::from(DRAWS)).sqrt();
                let share = f64::from(times) / f64::from(DRAWS);
                assert!(
                    (share - p).abs() <= 5.0 * deviation + 1e-9,
                    "{sets:?} {fen} {mv}: {share} of the draws, {p} printed"
                );
            }
            assert!(drawn.is_empty(), "{sets:?} {fen}: {drawn:?} is not printed");
        }
    }
    assert!(silent > 0, "no position is without a move");
}

/// Learning changes the probabilities of the same position.
#[test]
fn probe_shows_what_was_learnt_while_playing() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("book.ctg");
    for extension in ["ctg", "cto", "ctb"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/tabia");
        let to = book.with_extension(extension);
        std::fs::copy(from.with_extension(extension), to).unwrap();
    }
    let game = |mv: &str| PlayedGame {
        start: None,
        winner: Some(shakmaty::Color::Black),
        evidence: Evidence::Mate,
        moves: vec![(mv.to_owned(), true)],
    };
    let start = [notation::fen(&shakmaty::Chess::default())];
    let plain = probed(&book, &[], &start);
    let (mv, before) = plain[0]
        .iter()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map(|(mv, p)| (mv.clone(), *p))
        .unwrap();
    for _ in 0..20 {
        append(&side_path(&book), &game(&mv)).unwrap();
    }
    assert_eq!(probed(&book, &[], &start), plain);
    let learnt = probed(&book, &["Book Learn=true"], &start);
    assert!(learnt[0][&mv] < before, "{mv}: {before} {learnt:?}");
}

/// The book moves of two games; `ask` sends each request.
fn two_games(
    book: &Path,
    seed: u32,
    mut ask: impl FnMut(&mut Adapter, &str) -> String,
) -> [String; 2] {
    let seed = format!("Book Seed={seed}");
    let mut adapter = Adapter::new(book, &[LOOSE[0], LOOSE[1], LOOSE[2], &seed]);
    [(); 2].map(|()| {
        adapter.gui("ucinewgame");
        adapter.get_ready();
        let mut line = "position startpos moves".to_owned();
        for _ in 0..3 {
            let mv = ask(&mut adapter, &line);
            line.push(' ');
            line.push_str(&mv);
        }
        line
    })
}

#[test]
fn equal_games_get_equal_moves_despite_other_requests_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let (book, _) = rich_book(folder.path());
    let plain = |adapter: &mut Adapter, line: &str| {
        adapter.gui(line);
        let answer = adapter.book_move("go movetime 1");
        answer.unwrap_or_else(|| adapter.legal_move())
    };
    let busy = |adapter: &mut Adapter, line: &str| {
        // Wrong ponder moves, an analysis, the same request again.
        for guess in ["e2e4", "d2d4", "e7e5"] {
            adapter.gui(&format!("{line} {guess}"));
            adapter.gui("go ponder wtime 1000 btime 1000");
            adapter.gui("stop");
            adapter.engine_answers();
        }
        adapter.gui(line);
        adapter.gui("go infinite");
        adapter.gui("stop");
        adapter.engine_answers();
        let first = plain(adapter, line);
        assert_eq!(plain(adapter, line), first);
        first
    };
    let mut openings = std::collections::BTreeSet::new();
    for seed in 1..=12 {
        let games = two_games(&book, seed, plain);
        assert_eq!(games, two_games(&book, seed, busy), "seed {seed}");
        openings.extend(games);
    }
    // Another game or another seed gives another choice.
    assert!(openings.len() > 12, "{openings:#?}");
}

#[test]
fn without_a_seed_no_two_draws_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (book, _) = rich_book(folder.path());
    let mut adapter = Adapter::new(&book, &LOOSE);
    adapter.gui("position startpos");
    let moves: Vec<_> = (0..40)
        .filter_map(|_| adapter.book_move("go movetime 1"))
        .collect();
    assert_eq!(moves.len(), 40);
    assert!(moves.iter().any(|mv| *mv != moves[0]), "{moves:?}");
}

/// Looking ahead changes only the time that a move takes.
#[test]
fn book_think_ahead_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (book, fens) = rich_book(folder.path());
    for sets in [&LOOSE[..], &["Book Leave Early=1"], &["Book Seed=3"]] {
        let [ahead, plain] = [true, false].map(|looks_ahead| {
            let mut adapter = Adapter::new(&book, sets);
            let mut lines = Vec::new();
            for fen in fens.iter().chain(&fens) {
                adapter.gui(&format!("position fen {fen}"));
                for set in [
                    "Book Transpositions value false",
                    "Book Transpositions value true",
                ] {
                    if looks_ahead {
                        adapter.session.look_ahead(&adapter.book_set);
                    }
                    adapter.gui(&format!("setoption name {set}"));
                    adapter.book_move("go movetime 1");
                    lines.append(&mut adapter.sent.gui);
                }
            }
            lines
        });
        assert_eq!(ahead, plain, "{sets:?}");
    }
}
