//! Options under `[[books]]`: each either acts for its book, as the general option would
//! if there were no other book, or is refused.

#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use crate::config::Config;
use crate::session::{Engines, Event, Output, Profile, Request, Session};
use tabia_book::{
    Annotation, BookMove, Error, Lookup, MoveEvaluation, PositionRecord, Preference, Probe, Stats,
    Wanted,
};
use tabia_choice::book_set::{BookSet, BookSpec, OpenBook};
use tabia_choice::settings::{BookFiles, OptionId, Options, Scope, Setting};

/// A book in which every option makes a difference.
struct Rich(HashMap<Chess, Vec<BookMove>>);

impl Rich {
    fn book() -> Rich {
        let mut moves = HashMap::new();
        let start = Chess::default();
        let at_start = [
            book_move(&start, "e2e4", [500, 20, 0]),
            book_move(&start, "d2d4", [300, 0, 0]),
            BookMove {
                annotation: Annotation::MISTAKE,
                ..book_move(&start, "c2c4", [200, 60, 0])
            },
            // Its learn value and its mark are those of the position after it.
            book_move(&start, "b2b3", [250, 10, 40]),
            book_move(&start, "g2g3", [250, 10, -0x40]),
            BookMove {
                transposition: true,
                ..book_move(&start, "f2f4", [220, 40, 0])
            },
            book_move(&start, "g1f3", [280, 30, 0]),
            book_move(&start, "a2a3", [1, 0, 0]),
        ];
        moves.insert(start, at_start.to_vec());
        for mv in [
            "e2e4", "d2d4", "c2c4", "b2b3", "g2g3", "f2f4", "g1f3", "a2a3",
        ] {
            let after = position(mv);
            let reply = book_move(&after, "e7e5", [400, 0, 0]);
            moves.insert(after, vec![reply]);
        }
        Rich(moves)
    }
}

/// A move of these games, with a loss in centipawns and a learn value; -0x40 marks it red.
fn book_move(position: &Chess, mv: &str, [games, loss, learn]: [i32; 3]) -> BookMove {
    let count = u32::try_from(games).unwrap();
    let loss = u32::try_from(loss).unwrap();
    BookMove {
        mv: mv.parse::<UciMove>().unwrap().to_move(position).unwrap(),
        annotation: Annotation::default(),
        after: Some(PositionRecord {
            stats: Stats {
                games: count,
                wins: count / 4,
                draws: count / 4,
                losses: count / 2,
                own_rated: count,
                own_rating_sum: u64::from(count) * 2400,
                other_rated: count,
                other_rating_sum: u64::from(count * (2300 + count / 10)),
            },
            learn_value: i8::try_from(-learn.max(0)).unwrap(),
            recommendation: if learn < 0 { 0x40 } else { 0 },
            ..PositionRecord::default()
        }),
        transposition: false,
        preference: Preference::Statistics,
        evaluation: Some(MoveEvaluation {
            value: 30 - loss.cast_signed(),
            loss,
            depth: 0,
        }),
    }
}

fn position(moves: &str) -> Chess {
    let mut position = Chess::default();
    for mv in moves.split_whitespace() {
        let mv = mv.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        position.play_unchecked(mv);
    }
    position
}

impl Probe for Rich {
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        if let Some(moves) = self.0.get(position) {
            found.here = Some(PositionRecord::default());
            let moves = moves
                .iter()
                .filter(|entry| !entry.transposition || wanted == Wanted::Transpositions);
            found.moves.extend(moves.cloned());
        }
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        Ok(self.0.contains_key(position))
    }
}

/// What comes out of a session, and an engine that answers at once.
#[derive(Default)]
struct World {
    seen: Vec<String>,
    engine: VecDeque<&'static str>,
    /// The engine searches until `stop`.
    searches: bool,
    opens: bool,
}

impl Output for World {
    fn gui(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        // Defaults are announced; this is not what a book decides.
        if !line.starts_with("option name ") {
            self.seen.push(format!("gui< {line}"));
        }
    }

    fn engine(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        self.seen.push(format!("eng< {line}"));
        match line.split(' ').next() {
            Some("isready") => self.engine.push_back("readyok"),
            // Its move is another one than the book's, and better.
            Some("go") if line.contains("searchmoves") => {
                let mv = line.split(' ').next_back().unwrap();
                let answers = ANSWERS.iter().find(|(known, _)| *known == mv);
                let (_, answers) = answers.unwrap_or(&ANSWERS[0]);
                self.engine.extend(answers);
            }
            Some("go") if line.contains("infinite") || line.contains("ponder") => {
                self.searches = true;
            }
            Some("go") => self.engine.extend(&OWN),
            Some("stop") if std::mem::take(&mut self.searches) => self.engine.extend(&OWN),
            _ => {}
        }
    }

    fn request(&mut self, request: Request) {
        self.opens |= matches!(request, Request::OpenBooks(_));
        self.seen.push(format!("ask< {request:?}"));
    }
}

/// The engine's own move.
const OWN: [&str; 2] = ["info depth 9 score cp 200 pv h2h3", "bestmove h2h3"];

/// Its values of the book's moves.
const ANSWERS: [(&str, [&str; 2]); 5] = [
    (
        "e2e4",
        ["info depth 9 score cp 30 pv e2e4", "bestmove e2e4"],
    ),
    (
        "d2d4",
        ["info depth 9 score cp 20 pv d2d4", "bestmove d2d4"],
    ),
    (
        "g1f3",
        ["info depth 9 score cp 20 pv g1f3", "bestmove g1f3"],
    ),
    (
        "b2b3",
        ["info depth 9 score cp 10 pv b2b3", "bestmove b2b3"],
    ),
    (
        "f2f4",
        ["info depth 9 score cp -10 pv f2f4", "bestmove f2f4"],
    ),
];

/// The output of a session with these general options and books, whose options are those
/// of the specifications.
fn play(general: &[Setting], books: Vec<(BookSpec, Rich)>) -> Vec<String> {
    let mut options = Options::default().with(general);
    options.file = BookFiles::Configured;
    let specs: Vec<BookSpec> = books.iter().map(|(spec, _)| spec.clone()).collect();
    let profile = Profile {
        name: "fish".to_owned(),
        settings: options.into(),
        books: specs,
        start_timeout: Duration::from_secs(8),
        ..Profile::default()
    };
    let engines = Engines {
        profiles: vec![profile],
        chain: 1,
        ..Engines::default()
    };
    let open = |(spec, book): (BookSpec, Rich)| OpenBook::new(spec, Arc::new(book));
    let books: Vec<OpenBook> = books.into_iter().map(open).collect();
    let book_set = BookSet::from(books);
    let mut session = Session::new(engines, 1);
    let mut world = World::default();
    let mut now = Duration::ZERO;
    session.start(&mut world);
    let mut step = |world: &mut World, event: Event<'_>| {
        session.step(now, event, &book_set, world);
        loop {
            if std::mem::take(&mut world.opens) {
                session.step(now, Event::BooksOpened(&[]), &book_set, world);
            } else if let Some(line) = world.engine.pop_front() {
                session.step(now, Event::Engine(line.as_bytes()), &book_set, world);
            } else if let Some(due) = session.deadline() {
                now = now.max(due);
                world.seen.push(format!("at {now:?}"));
                session.step(now, Event::Overdue, &book_set, world);
            } else {
                return;
            }
        }
    };
    step(&mut world, Event::EngineUp);
    step(&mut world, Event::Engine(b"id name Fish"));
    step(&mut world, Event::Engine(b"uciok"));
    for line in [
        "isready",
        "position startpos moves g1f3 g8f6 f3g1 f6g8",
        "go wtime 60000 btime 60000",
        "position startpos",
        "go wtime 60000 btime 60000",
        "go ponder wtime 60000 btime 60000",
        "stop",
        "go infinite",
        "stop",
        "position startpos moves e2e4",
        "go wtime 60000 btime 60000",
        "quit",
    ] {
        world.seen.push(format!("gui> {line}"));
        step(&mut world, Event::Gui(line.as_bytes()));
    }
    world.seen
}

/// The book with these options of its own.
fn rich(overrides: &[Setting]) -> (BookSpec, Rich) {
    let spec = BookSpec::new("rich").overrides(overrides.to_vec());
    (spec, Rich::book())
}

fn without_requests(lines: Vec<String>) -> Vec<String> {
    let is_open = |line: &String| line.starts_with("ask< OpenBooks");
    lines.into_iter().filter(|line| !is_open(line)).collect()
}

/// The options that a book may have.
fn of_books() -> impl Iterator<Item = OptionId> {
    let is_of_books = |id: &OptionId| !matches!(id.spec().scope, Scope::Adapter(_));
    OptionId::ALL.iter().copied().filter(is_of_books)
}

/// Other options: some act only where book moves are checked, some only where not.
fn others() -> [Vec<Setting>; 2] {
    [Vec::new(), vec![Setting::Verify(1000)]]
}

#[test]
fn an_option_of_a_book_acts_as_the_general_one_does() {
    for id in of_books() {
        let mut has_effect = false;
        for others in others() {
            let usual = play(&others, vec![rich(&[])]);
            for setting in id.sample_values() {
                let general = [&others[..], std::slice::from_ref(&setting)].concat();
                let general = play(&general, vec![rich(&[])]);
                let own = play(&others, vec![rich(std::slice::from_ref(&setting))]);
                has_effect |= general != usual;
                // Which options the books are opened with is written in one order.
                let (general, own) = (without_requests(general), without_requests(own));
                assert_eq!(own, general, "{setting:?}");
            }
        }
        assert!(
            has_effect,
            "{id:?} has no effect: add to the book what it acts on"
        );
    }
}

#[test]
fn nor_does_it_act_for_another_book() {
    let empty = || Rich(HashMap::new());
    for others in others() {
        // A book that is not asked draws no number.
        let others = [others, vec![Setting::Variety(0)]].concat();
        let first = |options: &[Setting]| (rich(options).0, empty());
        let usual = without_requests(play(&others, vec![first(&[]), rich(&[])]));
        for setting in of_books().flat_map(OptionId::sample_values) {
            let with = play(
                &others,
                vec![first(std::slice::from_ref(&setting)), rich(&[])],
            );
            assert_eq!(without_requests(with), usual, "{setting:?}");
        }
    }
}

#[test]
fn every_option_acts_under_books_or_is_refused_with_its_line() {
    for setting in OptionId::ALL.iter().flat_map(|id| id.sample_values()) {
        let id = setting.id();
        let text = format!(
            "[[books]]\nfile = \"x\"\n\n{} = \"{setting}\"\n",
            id.spec().key
        );
        let config = Config::parse(&text, Path::new("/home/me/engines.toml"));
        match id.spec().scope {
            // The key of the book's own file.
            Scope::Adapter(_) if id == OptionId::File => {
                assert!(config.unwrap_err().to_string().contains("line 4"));
            }
            Scope::Adapter(advice) => {
                let error = config.unwrap_err().to_string();
                assert!(
                    error.contains("line 4: ") && error.contains(advice),
                    "{error}"
                );
            }
            Scope::Choice(_) | Scope::Opening | Scope::Book => {
                let book = config.unwrap().books.remove(0);
                assert_eq!(book.options(&Options::default()).get(id), setting);
            }
        }
    }
}
