//! The rows of the table in the module of records and learning notes.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::out::written;
use super::*;
use shakmaty::{Chess, Move};
use tabia_book::{Error, Lookup, Probe, Wanted};
use tabia_choice::book_set::BookSpec;
use tabia_notation as notation;
use tabia_uci::gui::Go;

const ABOUT: About<'static> = About {
    opponent: "somebody",
    misses: 2,
};

struct Empty;

impl Probe for Empty {
    fn probe(&self, _: &Chess, _: Wanted, _: &mut Lookup) -> Result<(), Error> {
        Ok(())
    }

    fn contains(&self, _: &Chess) -> Result<bool, Error> {
        Ok(false)
    }
}

fn book(learns: bool) -> OpenBook {
    OpenBook::new(BookSpec::new("book1.ctg"), Arc::new(Empty))
        .name("book1".to_owned())
        .side_file(learns.then(|| PathBuf::from("book1.ctg.learn")))
}

/// A game that is observed.
struct Play {
    game: Game,
    observers: Observers,
    book: OpenBook,
}

impl Play {
    fn new(records: bool, learns: bool) -> Play {
        Play {
            game: Game::default(),
            observers: Observers::new(records),
            book: book(learns),
        }
    }

    fn position(&mut self, moves: &str) -> Vec<String> {
        let before = self.observers.remember(&self.game);
        let step = self
            .game
            .update(format!("position startpos moves {moves}").as_bytes());
        written(|out| (self.observers).position(before, &self.game, step, ABOUT, out)).1
    }

    fn go(&mut self, ponder: bool) {
        let go = Go {
            ponder,
            ..Go::default()
        };
        self.observers.ignore_search();
        self.game.search(&go, true);
        self.observers.go(&self.game);
    }

    fn mv(&self, mv: &str) -> Move {
        notation::find_uci(self.game.position().unwrap(), mv.as_bytes()).unwrap()
    }

    fn book_moves(&mut self, mv: &str) {
        self.go(false);
        let mv = self.mv(mv);
        self.observers.book_moves(&self.game, &self.book, mv);
    }

    fn engine_moves(&mut self, mv: &str, value: i32, ponder: bool) -> Option<i32> {
        self.go(ponder);
        self.observers.engine_searches(&self.game, true);
        let info = format!("info depth 5 score cp {value} pv {mv}");
        self.observers.receive(info.as_bytes());
        let answer = format!("bestmove {mv}");
        let learns = self.book.side_file.is_some();
        self.observers
            .answered(&self.game, answer.as_bytes(), learns)
    }

    fn end(&mut self) -> Vec<String> {
        let record = written(|out| self.observers.record(&self.game, ABOUT, out)).1;
        [record, self.note()].concat()
    }

    fn note(&mut self) -> Vec<String> {
        written(|out| self.observers.note(&self.game, out)).1
    }

    fn restarted(&mut self) -> Vec<String> {
        let why = "it died";
        written(|out| (self.observers).restarted(&self.game, ABOUT, why, out)).1
    }
}

#[test]
fn a_game_is_recorded_from_its_first_go_to_its_end() {
    let mut play = Play::new(true, false);
    assert_eq!(play.position("e2e4"), [""; 0]);
    assert_eq!(play.end(), [""; 0], "nobody has asked for a move");
    play.position("");
    play.book_moves("e2e4");
    let moves = "e2e4 e7e5 g1f3 b8c6";
    assert_eq!(play.position(moves), [""; 0]);
    let value = play.engine_moves("f1b5", 31, false);
    assert_eq!(value, Some(31));
    let position = notation::fen(play.game.position().unwrap());
    let line =
        format!("record game,white,somebody,book1,1,4,{position},e2e4,31,0,2,,,{moves} f1b5,");
    let another = play.position("d2d4 d7d5 c2c4 e7e6");
    assert_eq!(another, [line]);
    assert_eq!(play.end(), [""; 0], "it is recorded once");
}

#[test]
fn a_restart_is_recorded_and_told_at_the_end() {
    let mut play = Play::new(true, false);
    play.position("e2e4");
    play.go(false);
    let line = "record restart,black,somebody,,0,,,,,1,2,,,e2e4,it died";
    assert_eq!(play.restarted(), [line]);
    let expected = "in this game the engine was started again once";
    assert_eq!(play.end()[0], expected);
    let mut play = Play::new(false, true);
    assert_eq!(play.restarted(), [""; 0]);
}

#[test]
fn an_answer_to_a_ponder_move_counts_if_that_is_played() {
    for (hit, moves) in [(true, "e2e4 e7e5 g1f3"), (false, "e2e4")] {
        let mut play = Play::new(true, false);
        play.position("e2e4 e7e5");
        play.engine_moves("g1f3", 20, true);
        if hit {
            play.game.ponder_hit();
        }
        assert!(play.end()[0].ends_with(&format!(",{moves},")), "{hit}");
    }
    let mut play = Play::new(true, false);
    play.position("e2e4 e7e5");
    play.engine_moves("g1f3", 20, true);
    play.position("e2e4 c7c5");
    assert!(play.end()[0].ends_with(",e2e4 c7c5,"));
}

#[test]
fn a_book_learns_from_its_moves_that_were_played() {
    let mut play = Play::new(false, true);
    play.position("");
    play.book_moves("f2f3");
    play.position("f2f3 e7e5");
    play.book_moves("g2g4");
    let notes = play.position("f2f3 e7e5 g2g4 d8h4");
    assert_eq!(notes, [""; 0], "the same game");
    let line = "note book1.ctg: game 0 0-1 mate startpos f2f3* e7e5 g2g4* .";
    assert_eq!(play.note(), [line]);
    assert_eq!(play.note(), [""; 0], "it is recorded once");
}

#[test]
fn a_vetoed_book_move_is_not_learned_from() {
    let mut play = Play::new(false, true);
    play.position("f2f3 e7e5");
    play.book_moves("g2g4");
    play.observers.forget_choice(&play.game);
    play.position("f2f3 e7e5 g2g4 d8h4");
    assert_eq!(play.note(), [""; 0]);
}

#[test]
fn what_was_taken_back_is_forgotten() {
    let mut play = Play::new(false, true);
    play.position("f2f3 e7e5");
    play.book_moves("g2g4");
    play.position("f2f3 e7e5 a2a3 d8h4");
    assert_eq!(play.position("f2f3 e7e5 b2b3 d8h4"), [""; 0]);
    assert_eq!(play.note(), [""; 0], "g2g4 was not played");
}

#[test]
fn an_analysis_and_an_unreadable_position_do_not_count() {
    let mut play = Play::new(true, true);
    play.position("e2e4");
    play.observers.ignore_search();
    play.observers.receive(b"info depth 5 score cp 20 pv e7e5");
    let answer = b"bestmove e7e5";
    assert_eq!(play.observers.answered(&play.game, answer, true), None);
    assert_eq!(play.end(), [""; 0]);
    play.position("e2e4 e2e4");
    assert_eq!(play.engine_moves("e7e5", 20, false), None);
    assert!(play.end()[0].ends_with(",e2e4,"));
}
