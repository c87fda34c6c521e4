//! What the books answer to a `go`, and the rows of the table in their module.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::out::written;
use super::*;
use shakmaty::{Chess, Position};
use tabia_book::policy::Weighed;
use tabia_book::{
    Annotation, BookMove, Error, Lookup, PositionRecord, Preference, Probe, Stats, Wanted,
};
use tabia_choice::book_set::OpenBook;

const NOW: Duration = Duration::from_secs(5);

/// A book of the first legal moves of each position up to a ply; counts look-ups.
pub(super) struct FirstMoves {
    plies: u32,
    moves: usize,
    probes: AtomicU32,
}

impl FirstMoves {
    pub(super) fn new(plies: u32, moves: usize) -> FirstMoves {
        FirstMoves {
            plies,
            moves,
            probes: AtomicU32::new(0),
        }
    }

    pub(super) fn probes(&self) -> u32 {
        self.probes.load(Ordering::Relaxed)
    }
}

impl Probe for FirstMoves {
    fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
        self.probes.fetch_add(1, Ordering::Relaxed);
        found.clear();
        if !self.contains(position)? {
            return Ok(());
        }
        found.here = Some(PositionRecord::default());
        let stats = Stats {
            games: 5,
            losses: 5,
            ..Stats::default()
        };
        let legal = position.legal_moves();
        found
            .moves
            .extend(legal.iter().take(self.moves).map(|mv| BookMove {
                mv: *mv,
                annotation: Annotation::default(),
                after: Some(PositionRecord {
                    stats,
                    ..PositionRecord::default()
                }),
                transposition: false,
                preference: Preference::Statistics,
                evaluation: None,
            }));
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        let ply = 2 * (position.fullmoves().get() - 1) + u32::from(position.turn().is_black());
        Ok(ply < self.plies)
    }
}

fn book_set(book: FirstMoves) -> BookSet {
    let book = OpenBook::new(BookSpec::new("first.ctg"), Arc::new(book));
    BookSet::from(vec![book])
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
            book_set: book_set(FirstMoves::new(1, 1)),
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

    /// The lines of the answer; the request for which it waits; or what is said instead.
    fn lines(&mut self) -> Vec<String> {
        let go = Go::default();
        let scene = Scene {
            game: &self.game,
            book_set: &self.book_set,
            configured: &[],
            analysis: self.analysis,
            shows_wdl: false,
        };
        if let Some(request) = self.books.needs(NOW, &go, scene) {
            return vec![request.to_string()];
        }
        let analyses = self.analysis.is_some();
        let (choice, said) = written(|out| match analyses {
            true => None,
            false => self.books.answer(&go, scene, out),
        });
        let Some(choice) = choice else {
            return vec![format!("silent {}", said.len())];
        };
        let (lines, _) = written(|out| self.books.announce(choice, &go, scene, out));
        let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
        lines.into_iter().map(text).collect()
    }

    /// The last of these lines.
    fn decide(&mut self) -> String {
        self.lines().pop().unwrap()
    }
}

/// What is said while `work` is done.
fn said(work: impl FnOnce(&mut Out<'_>)) -> Vec<String> {
    written(work).1
}

#[test]
fn a_go_waits_for_books_then_a_seed_then_played_lines() {
    let mut table = Table::new(&[("Book Cover", "lines"), ("Book Seed File", "seeds")]);
    assert_eq!(table.decide(), "open 1");
    assert!(table.books.are_awaited());
    said(|out| table.books.opened(&[], out));
    assert_eq!(table.decide(), "seed seeds");
    assert!(table.books.are_awaited());
    assert_eq!(said(|out| table.books.seed_taken(Ok(7), out)), [""; 0]);
    assert_eq!(table.decide(), "cover first.ctg");
    assert!(table.books.are_awaited());
    assert_eq!(said(|out| table.books.cover_read(Ok(""), out)), [""; 0]);
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
    said(|out| table.books.opened(&[], out));
    table.decide();
    let reason = "none is left";
    assert_eq!(
        said(|out| table.books.seed_taken(Err(reason), out)),
        [reason]
    );
    table.decide();
    let reason = "another adapter uses it";
    assert_eq!(
        said(|out| table.books.cover_read(Err(reason), out)),
        [reason]
    );
    assert!(table.decide().starts_with("bestmove "));
}

#[test]
fn the_books_are_silent_where_they_may_not_or_cannot_answer() {
    let mut table = Table::new(&[]);
    table.decide();
    said(|out| table.books.opened(&[], out));
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
    said(|out| table.books.opened(&[], out));
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
        let news = said(|out| table.books.opened(&messages, out));
        assert_eq!(news.len(), count, "{event}");
        assert!(!table.books.are_opening());
        table.books.new_game_is_announced();
    }
    table.decide();
    assert_eq!(said(|out| table.books.give_up_waiting(out)).len(), 1);
    assert!(table.books.are_opening() && !table.books.are_awaited());
    said(|out| table.books.opened(&messages, out));
    assert!(!table.books.are_opening());
}

/// Plays the last move of the book.
struct Last;

impl ChooseMove for Last {
    fn choose(&self, _: &Chess, moves: &[BookMove], verdicts: &mut [Weighed]) {
        for (index, verdict) in verdicts.iter_mut().enumerate() {
            verdict.probability = if index + 1 == moves.len() { 1.0 } else { 0.0 };
        }
    }
}

#[test]
fn a_policy_of_your_own_chooses_the_move_and_the_ponder_move() {
    let mut table = Table::new(&[]);
    table.book_set = book_set(FirstMoves::new(9, 3));
    table.books.choose_by(Arc::new(Last));
    table.decide();
    said(|out| table.books.opened(&[], out));
    let third = |position: &Chess| position.legal_moves()[2];
    let start = Chess::default();
    let (mv, after) = (third(&start), tabia_notation::after(&start, third(&start)));
    let mode = shakmaty::CastlingMode::Standard;
    let line = format!(
        "bestmove {} ponder {}",
        mv.to_uci(mode),
        third(&after).to_uci(mode)
    );
    assert_eq!(table.decide(), line);
    let info = table.lines().swap_remove(0);
    assert!(
        info.starts_with(&format!(
            "info string book first.ctg: {} 100%",
            mv.to_uci(mode)
        )),
        "{info}"
    );
}
