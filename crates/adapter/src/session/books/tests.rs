//! What the books answer to a `go`, and the rows of the table in their module.

use std::sync::Arc;

use super::*;
use crate::book_set::OpenBook;
use shakmaty::{Chess, Position};
use tabia_book::{
    Annotation, BookMove, Error, Lookup, PositionRecord, Preference, Probe, Stats, Wanted,
};

const NOW: Duration = Duration::from_secs(5);

/// A book of the first legal move at the start.
struct First;

impl Probe for First {
    fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        if *position == Chess::default() {
            found.here = Some(PositionRecord::default());
            found.moves.push(BookMove {
                mv: position.legal_moves()[0],
                annotation: Annotation::default(),
                after: Some(PositionRecord {
                    stats: Stats {
                        games: 5,
                        losses: 5,
                        ..Stats::default()
                    },
                    ..PositionRecord::default()
                }),
                transposition: false,
                preference: Preference::Statistics,
                evaluation: None,
            });
        }
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        Ok(*position == Chess::default())
    }
}

fn book_set() -> BookSet {
    BookSet {
        books: vec![OpenBook {
            name: "first".to_owned(),
            spec: BookSpec {
                path: "first.ctg".to_owned(),
                ..BookSpec::default()
            },
            book: Arc::new(First),
            notices: Vec::new(),
            side_file: None,
            evaluations: None,
        }],
    }
}

/// Books, and a game at its start.
struct Table {
    books: Books,
    game: Game,
    book_set: BookSet,
    analysis: Option<Analysis>,
}

impl Table {
    fn new(options: &[(&str, &str)]) -> Table {
        let mut table = Table {
            books: Books::new(Settings::default(), 1),
            game: Game::default(),
            book_set: book_set(),
            analysis: None,
        };
        for (name, value) in options {
            table.set(name, value);
        }
        table
    }

    fn set(&mut self, name: &str, value: &str) {
        let id = OptionId::by_name(name).unwrap();
        self.books.set(id, value, &[]).unwrap();
    }

    /// The answer in one word.
    fn decide(&mut self) -> String {
        let scene = Scene {
            game: &self.game,
            book_set: &self.book_set,
            configured: &[],
            analysis: self.analysis,
        };
        let for_analysis = self.analysis.is_some();
        match self.books.decide(NOW, &Go::default(), for_analysis, scene) {
            Decision::Wait(request) => request.to_string(),
            Decision::Silent(said) => format!("silent {}", said.len()),
            Decision::Play(answer) => {
                let line = answer.lines.last().unwrap();
                String::from_utf8_lossy(line).into_owned()
            }
        }
    }
}

#[test]
fn a_go_waits_for_books_then_a_seed_then_played_lines() {
    let mut table = Table::new(&[("Book Cover", "lines"), ("Book Seed File", "seeds")]);
    assert_eq!(table.decide(), "open 1");
    assert!(table.books.are_awaited());
    table.books.opened(&[]);
    assert_eq!(table.decide(), "seed seeds");
    assert!(table.books.are_awaited());
    assert_eq!(table.books.seed_taken(Ok(7)), None);
    assert_eq!(table.decide(), "cover first.ctg");
    assert!(table.books.are_awaited());
    assert_eq!(table.books.cover_read(Ok("")), None);
    assert!(table.decide().starts_with("bestmove "));
    assert!(
        table.decide().starts_with("bestmove "),
        "nothing is asked again"
    );
}

#[test]
fn what_is_missing_is_said_and_asked_for_once() {
    let mut table = Table::new(&[("Book Cover", "lines"), ("Book Seed File", "seeds")]);
    table.decide();
    table.books.opened(&[]);
    table.decide();
    let said = Act::Info("none is left".to_owned());
    assert_eq!(table.books.seed_taken(Err("none is left")), Some(said));
    table.decide();
    let said = Act::Info("another adapter uses it".to_owned());
    assert_eq!(
        table.books.cover_read(Err("another adapter uses it")),
        Some(said)
    );
    assert!(table.decide().starts_with("bestmove "));
}

#[test]
fn the_books_are_silent_where_they_may_not_or_cannot_answer() {
    let mut table = Table::new(&[]);
    table.decide();
    table.books.opened(&[]);
    assert!(table.decide().starts_with("bestmove "));
    table.analysis = Some(Analysis::Mode);
    assert_eq!(table.decide(), "silent 0");
    table.analysis = None;
    table.set("OwnBook", "false");
    assert_eq!(table.decide(), "silent 0");
    table.set("OwnBook", "true");
    table.game.update(b"position startpos moves e2e4");
    table.books.forget_position();
    assert_eq!(table.decide(), "silent 0");
}

#[test]
fn books_are_closed_after_too_many_misses_until_the_next_game() {
    let mut table = Table::new(&[("Book Miss Limit", "1")]);
    table.decide();
    table.books.opened(&[]);
    table.game.update(b"position startpos moves e2e4");
    table.books.forget_position();
    assert_eq!(table.decide(), "silent 1", "it says that it is closed");
    table.game.update(b"position startpos");
    table.books.forget_position();
    assert_eq!(table.decide(), "silent 0");
    table.books.new_game();
    assert!(table.decide().starts_with("bestmove "));
}

#[test]
fn messages_of_the_books_are_news_once() {
    let mut table = Table::new(&[]);
    let messages = ["book x: playing without it".to_owned()];
    for (event, count) in [("first", 1), ("again", 0)] {
        assert_eq!(table.decide(), "open 1", "{event}");
        assert_eq!(table.books.opened(&messages).len(), count, "{event}");
        assert!(!table.books.are_opening());
        table.books.new_game_is_announced();
    }
    table.decide();
    assert!(matches!(table.books.give_up_waiting(), Act::Notice(_)));
    assert!(table.books.are_opening() && !table.books.are_awaited());
    table.books.opened(&messages);
    assert!(!table.books.are_opening());
}
