//! Writes game records (`--games`) and the notes from which books learn.
//!
//! Both follow positions, searches, answers and ends of games.
//!
//! | event | record | notes |
//! |---|---|---|
//! | `go` for a move | whose move it is | - |
//! | a book moves, or does not play its move after all | the move | the move, if the book learns |
//! | the engine searches | where | - |
//! | the engine answers | its move and value | its move and value |
//! | the engine is started again | a line | - |
//! | `position` of the same game | - | what was taken back is forgotten |
//! | `position` of another game, `ucinewgame`, the end | a line, if there was a `go` | a note for each book that learns |

mod learn;
mod record;

use shakmaty::Color;

use super::Request;
use super::game::{Continuation, Game, Story};
use super::out::Out;
use crate::record::RecordKind;
use learn::Learner;
pub use learn::Note;
pub(super) use record::About;
use record::Recorder;
use tabia_choice::book_set::OpenBook;
use tabia_notation as notation;
use tabia_uci::{info, line};

/// What is recorded of the current game.
#[derive(Debug, Default)]
pub(super) struct Observers {
    /// The engine's output about its search, if it counts for this game.
    search: Option<info::Search>,
    learner: Learner,
    /// Collects the record of the game, if games are recorded.
    recorder: Option<Recorder>,
}

impl Observers {
    pub(super) fn new(record_games: bool) -> Observers {
        Observers {
            recorder: record_games.then(Recorder::default),
            ..Observers::default()
        }
    }

    /// Whether games are recorded.
    pub(super) const fn records(&self) -> bool {
        self.recorder.is_some()
    }

    /// The game before a `position` line, if it has something to record.
    pub(super) fn remember(&self, game: &Game) -> Option<Story> {
        let is_blank = self.recorder.as_ref().is_none_or(Recorder::is_blank);
        (!is_blank || !self.learner.is_blank()).then(|| game.story())
    }

    /// Handles a `position` line: `before` is what was remembered before it.
    pub(super) fn position(
        &mut self,
        before: Option<Story>,
        game: &Game,
        step: Continuation,
        about: About<'_>,
        out: &mut Out<'_>,
    ) {
        let Some(before) = before else { return };
        if !self.learner.is_blank() {
            note(self.learner.position(before.clone(), &game.story()), out);
        }
        match (step, &mut self.recorder) {
            (Continuation::Anew, _) => self.record_game(before, about, out),
            (Continuation::Onward, Some(recorder)) => recorder.go_on(&before),
            (Continuation::Onward, None) => {}
        }
    }

    /// Handles a `go` for a move.
    pub(super) fn go(&mut self, game: &Game) {
        if let Some(recorder) = &mut self.recorder {
            recorder.go(game);
        }
    }

    /// A search begins that does not count.
    pub(super) fn ignore_search(&mut self) {
        self.search = None;
    }

    /// The engine searches for a move of this game; its values are `wanted` by others, too.
    pub(super) fn engine_searches(&mut self, game: &Game, wanted: bool) {
        let is_followed = game.position().is_some() || game.has_other_rules();
        let counts = is_followed && (wanted || self.records());
        let turn = game.white_moves().map_or(Color::White, Color::from_white);
        self.search = counts.then(|| info::Search::new(turn, 1));
        if let Some(recorder) = self.recorder.as_mut().filter(|_| is_followed) {
            recorder.engine_searches(game);
        }
    }

    /// Handles an `info` line of the engine about its search.
    pub(super) fn receive(&mut self, info: &[u8]) {
        if let Some(search) = &mut self.search {
            search.add(&line::text(info));
        }
    }

    /// A book chooses this move.
    pub(super) fn book_moves(&mut self, game: &Game, book: &OpenBook, mv: shakmaty::Move) {
        let learns = book.side_file.is_some();
        if !learns && !self.records() {
            return;
        }
        let mv = notation::uci_of_any(mv);
        if let Some(recorder) = &mut self.recorder {
            recorder.book_moves(game, &book.name, &mv);
        }
        // Results of other rules cannot be judged.
        if learns && !game.has_other_rules() {
            let ply = game.story().moves.len();
            self.learner.choose(ply, mv, &book.spec.path);
        }
    }

    /// The book's move is not played.
    pub(super) fn forget_choice(&mut self, game: &Game) {
        if !self.learner.is_blank() {
            self.learner.forget_choice(game.story().moves.len());
        }
    }

    /// Handles the engine's answer; returns its value in centipawns for White. `learns`:
    /// a book notes games.
    pub(super) fn answered(&mut self, game: &Game, best_move: &[u8], learns: bool) -> Option<i32> {
        let search = self.search.take()?;
        let found = search.results().next().flatten();
        let score = found.map(|found| found.value.for_side(Color::White));
        let mv = line::words(best_move).nth(1).map(line::text);
        let mv = mv.map(|mv| game.in_one_notation(&mv));
        if let Some((recorder, mv)) = self.recorder.as_mut().zip(mv.as_deref()) {
            recorder.engine_answers(mv, score);
        }
        if learns || !self.learner.is_blank() {
            let ply = game.story().moves.len();
            self.learner.answer(ply, mv, score);
        }
        score
    }

    /// Records a restart of the engine.
    pub(super) fn restarted(
        &mut self,
        game: &Game,
        about: About<'_>,
        why: &str,
        out: &mut Out<'_>,
    ) {
        if let Some(recorder) = &mut self.recorder {
            let record = recorder.restarted(game.story(), about, why);
            out.request(Request::Record(Box::new(record)));
        }
    }

    /// The game is over: its line of the record, if games are recorded.
    pub(super) fn record(&mut self, game: &Game, about: About<'_>, out: &mut Out<'_>) {
        if !self.recorder.as_ref().is_none_or(Recorder::is_blank) {
            self.record_game(game.story(), about, out);
        }
    }

    fn record_game(&mut self, story: Story, about: About<'_>, out: &mut Out<'_>) {
        let recorder = self.recorder.as_mut().map(std::mem::take);
        let Some(recorder) = recorder.filter(Recorder::has_begun) else {
            return;
        };
        let record = recorder.record(RecordKind::Game, story, about);
        let times = match record.restarts {
            0 => None,
            1 => Some("once".to_owned()),
            times => Some(format!("{times} times")),
        };
        if let Some(times) = times {
            out.info(&format!(
                "in this game the engine was started again {times}"
            ));
        }
        out.request(Request::Record(Box::new(record)));
    }

    /// The game is over: the notes of books that learn.
    pub(super) fn note(&mut self, game: &Game, out: &mut Out<'_>) {
        let learner = std::mem::take(&mut self.learner);
        if !learner.is_blank() {
            note(learner.notes(game.story()), out);
        }
    }
}

fn note(notes: Vec<Note>, out: &mut Out<'_>) {
    for note in notes {
        out.request(Request::NoteGame(note));
    }
}

#[cfg(test)]
mod tests;
