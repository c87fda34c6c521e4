//! The session against a model of GUI and engine: whatever order lines come
//! in, every question gets its answer and nothing is left hanging.

#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use shakmaty::{Chess, Position};
use tabia::book::{
    Annotation, BookMove, Error, Lookup, PositionRecord, Preference, Probe, Stats, Wanted,
};
use tabia::book_set::{BookSet, BookSpec, OpenBook};
use tabia::session::{Engines, Event, Outlet, Profile, Request, Session};

/// Knows the first move of the start position and nothing else.
struct OneMove;

impl Probe for OneMove {
    fn probe(&self, position: &Chess, _wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        if *position == Chess::default() {
            let child = PositionRecord {
                stats: Stats {
                    games: 5,
                    losses: 5,
                    ..Stats::default()
                },
                ..PositionRecord::default()
            };
            found.here = Some(child);
            found.moves.push(BookMove {
                mv: position.legal_moves()[0],
                annotation: Annotation::default(),
                child: Some(child),
                transposition: false,
                preference: Preference::Statistics,
            });
        }
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        Ok(*position == Chess::default())
    }
}

/// A well-behaved engine: what it was told and has not answered yet.
#[derive(Default)]
struct Engine {
    inbox: VecDeque<String>,
    /// It searches; true when it may not stop by itself.
    searching: Option<bool>,
}

#[derive(Default)]
struct World {
    engine: Engine,
    bestmoves: usize,
    readyoks: usize,
    opening: bool,
    said: Vec<String>,
}

impl Outlet for World {
    fn gui(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).into_owned();
        self.bestmoves += usize::from(line.starts_with("bestmove"));
        self.readyoks += usize::from(line == "readyok");
        self.said.push(format!("gui< {line}"));
    }

    fn engine(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).into_owned();
        self.said.push(format!("eng< {line}"));
        self.engine.inbox.push_back(line);
    }

    fn request(&mut self, request: Request) {
        assert!(
            !matches!(request, Request::StartEngine(_)) || self.said.is_empty(),
            "a healthy engine is not replaced"
        );
        self.opening |= matches!(request, Request::OpenBooks(_));
    }
}

struct Play {
    session: Session,
    book_set: BookSet,
    world: World,
}

impl Play {
    fn begin() -> Play {
        let engines = Engines {
            profiles: vec![Profile::default()],
            stand_in: None,
            chain: 1,
        };
        let mut play = Play {
            session: Session::new(engines, 1),
            book_set: BookSet {
                books: vec![OpenBook {
                    name: "one".to_owned(),
                    spec: BookSpec::default(),
                    book: Arc::new(OneMove),
                    notices: Vec::new(),
                }],
            },
            world: World::default(),
        };
        play.session.start(&mut play.world);
        play.step(Event::EngineUp);
        play
    }

    fn step(&mut self, event: Event<'_>) {
        self.world.said.push(match event {
            Event::Gui(line) => format!("gui> {}", String::from_utf8_lossy(line)),
            Event::Engine(line) => format!("eng> {}", String::from_utf8_lossy(line)),
            ref other => format!("{other:?}"),
        });
        self.session
            .step(Duration::ZERO, event, &self.book_set, &mut self.world);
    }

    fn gui(&mut self, line: &str) {
        self.step(Event::Gui(line.as_bytes()));
    }

    /// The engine does one thing, if there is one to do; false otherwise.
    fn engine_works(&mut self) -> bool {
        if std::mem::take(&mut self.world.opening) {
            self.step(Event::BooksOpened(&[]));
            return true;
        }
        let engine = &mut self.world.engine;
        let answer = match engine.inbox.pop_front().as_deref() {
            Some("uci") => "uciok",
            Some("isready") => "readyok",
            Some("stop") if engine.searching.take().is_some() => "bestmove a2a3",
            Some("ponderhit") if engine.searching.is_some() => {
                engine.searching = Some(false);
                return true;
            }
            Some(line) if line.starts_with("go") => {
                assert!(engine.searching.is_none(), "{:#?}", self.world.said);
                let held = line.contains("infinite") || line.contains("ponder");
                engine.searching = Some(held);
                return true;
            }
            Some(line) if line.starts_with("position") || line.starts_with("setoption") => {
                assert!(engine.searching.is_none(), "{:#?}", self.world.said);
                return true;
            }
            Some(_) => return true,
            None if engine.searching == Some(false) => {
                engine.searching = None;
                "bestmove a2a3"
            }
            None => return false,
        };
        self.step(Event::Engine(answer.as_bytes()));
        true
    }

    fn settle(&mut self) {
        let mut steps = 0;
        while self.engine_works() {
            steps += 1;
            assert!(steps < 10_000, "{:#?}", self.world.said);
        }
    }
}

const LINES: &[&str] = &[
    "isready",
    "ucinewgame",
    "position startpos",
    "position startpos moves e2e4",
    "position startpos moves e2e4 e7e5",
    "position fen nonsense",
    "go movetime 10",
    "go wtime 1000 btime 1000",
    "go infinite",
    "go ponder wtime 1000 btime 1000",
    "stop",
    "ponderhit",
    "setoption name Hash value 3",
    "setoption name Book Variety value 3",
    "setoption name Book Think Ahead value true",
    "setoption name Book File value x.ctg",
    "uci",
    "d",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn every_question_gets_its_answer(
        script in prop::collection::vec((0..LINES.len(), 0_usize..4), 0..40),
    ) {
        let mut play = Play::begin();
        let mut asked_ready = 0;
        let mut asked_go = 0;
        for (line, work) in &script {
            let line = LINES[*line];
            asked_ready += usize::from(line == "isready");
            asked_go += usize::from(line.starts_with("go"));
            play.gui(line);
            for _ in 0..*work {
                play.engine_works();
            }
            prop_assert!(play.world.bestmoves <= asked_go, "{:#?}", play.world.said);
            prop_assert!(play.world.readyoks <= asked_ready, "{:#?}", play.world.said);
        }
        play.gui("stop");
        play.settle();
        prop_assert_eq!(play.world.readyoks, asked_ready, "{:#?}", play.world.said);
        // Whatever has been, the next game is played.
        let before = play.world.bestmoves;
        play.gui("setoption name OwnBook value true");
        play.gui("setoption name Book File value y.ctg");
        for (lines, answer) in [
            ("position startpos\ngo movetime 5", "gui< bestmove"),
            ("position startpos moves a2a3\ngo movetime 5", "gui< bestmove a2a3"),
        ] {
            for line in lines.lines() {
                play.gui(line);
            }
            play.settle();
            let last = play.world.said.iter().rev().find(|line| line.starts_with("gui< bestmove"));
            prop_assert!(
                last.is_some_and(|last| last.starts_with(answer)),
                "{:#?}",
                play.world.said
            );
        }
        prop_assert_eq!(play.world.bestmoves, before + 2, "{:#?}", play.world.said);
    }

    #[test]
    fn one_go_at_a_time_gets_one_answer_each(
        script in prop::collection::vec((0_usize..5, 0_usize..4, any::<bool>()), 0..20),
    ) {
        let mut play = Play::begin();
        let mut owed = 0;
        for (kind, work, in_book) in script {
            play.gui(if in_book { "position startpos" } else { "position startpos moves e2e4" });
            let go = ["go depth 3", "go infinite", "go ponder wtime 9 btime 9", "go ponder movetime 9",
                "go movetime 3 searchmoves a2a3"][kind];
            play.gui(go);
            owed += 1;
            for _ in 0..work {
                play.engine_works();
            }
            let waits = kind > 0 && kind < 4;
            if waits {
                prop_assert_eq!(play.world.bestmoves, owed - 1, "{:#?}", play.world.said);
            }
            play.gui(if kind == 3 { "ponderhit" } else { "stop" });
            play.settle();
            prop_assert_eq!(play.world.bestmoves, owed, "{:#?}", play.world.said);
        }
    }
}
