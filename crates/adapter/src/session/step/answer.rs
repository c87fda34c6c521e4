//! Lines of the engine.

use std::borrow::Cow;

use super::{Cause, Moment, Parts};
use crate::session::engine::{self, Hearing, ReadyOk};
use crate::session::turn::{Look, Retry, Search, Turn};
use tabia_uci::engine::{self as uci, EngineReply};
use tabia_uci::line;

impl Parts {
    pub(super) fn on_engine(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let reply = uci::parse(line);
        match self.engine.hearing() {
            Hearing::Nobody => {}
            Hearing::Introduction => self.on_introduction(line, reply, at),
            Hearing::Trial => self.on_trial(line, reply, at),
            Hearing::Service => self.on_service(line, reply, at),
        }
    }

    /// Handles a line of an engine that has introduced itself.
    fn on_service(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            // The GUI would take `info` lines of a look for lines of its own search.
            EngineReply::Info if self.turn.hides(&self.engine) => self.turn.receive_look(line),
            EngineReply::Info => {
                if let (Turn::Searching(search), mut to) = self.turn(at) {
                    search.receive(line, &mut to);
                }
                self.observers.receive(line);
                at.out.gui(line);
            }
            EngineReply::BestMove => {
                self.engine.mark_alive();
                self.on_best_move(line, at);
            }
            EngineReply::ReadyOk => {
                self.engine.mark_alive();
                self.on_ready(at);
            }
            EngineReply::Id | EngineReply::Option | EngineReply::UciOk => {}
            // Of Tabia's own `stop`, which has crossed its answer (Glaurung 2.2).
            EngineReply::Other
                if self.turn.hides(&self.engine) && uci::complains_of(line, "stop") => {}
            EngineReply::Protection | EngineReply::Other => at.out.gui(line),
        }
    }

    fn on_ready(&mut self, at: &mut Moment<'_>) {
        match self.engine.on_ready_ok(at.now, &mut at.out) {
            ReadyOk::OfGui => at.out.gui(b"readyok"),
            ReadyOk::Free => {
                if let (Turn::Searching(search), mut to) = self.turn(at) {
                    search.engine_is_free(&mut to);
                }
                self.begin_look(at);
            }
            ReadyOk::OfNobody => {}
        }
    }

    fn on_best_move(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let word = line::words(line).nth(1).unwrap_or_default();
        // A search that is being stopped has its own answer soon.
        let is_hidden = self.turn.hides(&self.engine);
        if self.engine.is_stray(word)
            && (is_hidden
                || self
                    .turn
                    .search_mut()
                    .is_some_and(Search::may_ignore_repeat))
        {
            let text = format!(
                "the engine answered {} twice; the second answer is ignored",
                engine::shown(word)
            );
            return at.out.notice(&text);
        }
        let answer = engine::Answer::read(line, word, &self.game);
        if is_hidden {
            return self.on_hidden_answer(line, answer, at);
        }
        // A second answer, or one without a search.
        if !self.turn.is_searching() {
            return;
        }
        let shown_as = |line: &[u8]| engine::shown(line::words(line).nth(1).unwrap_or_default());
        let answer = match answer {
            engine::Answer::Sound(answer) => Cow::Borrowed(answer),
            engine::Answer::Translated(passed_on) => {
                let text = "the engine castles in another notation: ";
                at.out
                    .notice(&format!("{text}{} is passed on", engine::shown(&passed_on)));
                Cow::Owned(passed_on)
            }
            engine::Answer::Converted(passed_on) => {
                let text = format!(
                    "the engine's answer {} is not UCI: {} is passed on",
                    engine::shown(word),
                    shown_as(&passed_on)
                );
                at.out.notice(&text);
                Cow::Owned(passed_on)
            }
            engine::Answer::NoMove(answer)
                if self.turn.search().is_some_and(Search::may_lack_a_move) =>
            {
                Cow::Borrowed(answer)
            }
            engine::Answer::NoMove(_) | engine::Answer::Illegal => {
                let shown = engine::shown(word);
                let text = format!("the engine's answer {shown} is not legal here");
                self.engine.note_answer(word);
                return self.reject_answer(&text, at);
            }
            engine::Answer::Unreadable => return self.reject_answer(&engine::unsound(line), at),
        };
        self.engine.has_answered(word);
        if let Turn::Searching(search) = &mut self.turn {
            search.has_answered(&mut at.out);
        }
        let value = self
            .observers
            .answered(&self.game, &answer, at.book_set.learns());
        // The answer to a ponder move that was not played is of another position.
        if let Some(value) = value.filter(|_| !self.game.is_pondering()) {
            self.books.learn_value(value);
        }
        let mv = line::words(&answer).nth(1).unwrap_or_default();
        self.books.disobeyed(mv, &self.game, &mut at.out);
        self.engine.report_stand_in(&mut at.out);
        if let Some(line) = self.turn.answer_search(&answer) {
            at.out.gui(line);
        }
        self.go_on(at);
    }

    /// Handles an answer to a search that the GUI does not know of.
    fn on_hidden_answer(&mut self, line: &[u8], answer: engine::Answer<'_>, at: &mut Moment<'_>) {
        let look = self.turn.take_begun_look();
        // The position of an abandoned search is not known any more.
        let is_sound = uci::sound_answer(line).is_some();
        let ends_search = match &answer {
            engine::Answer::Sound(_)
            | engine::Answer::Translated(_)
            | engine::Answer::NoMove(_) => true,
            engine::Answer::Converted(_) | engine::Answer::Illegal => is_sound && look.is_none(),
            engine::Answer::Unreadable => false,
        };
        if ends_search {
            self.engine
                .note_answer(line::words(line).nth(1).unwrap_or_default());
        } else if let engine::Answer::Unreadable = answer {
            at.out.notice(&engine::unsound(line));
        }
        let out = &mut at.out;
        match (&look, ends_search) {
            (Some((went, _)), true) => self.engine.look_has_ended(at.now, *went, out),
            (Some((went, _)), false) => self.engine.end_search(at.now, *went, true, out),
            (None, true) => self.engine.has_ended_search(out),
            (None, false) => self.engine.doubt(at.now, out),
        }
        if let Some((_, Look::Check(check))) = look {
            let answer: &[u8] = match &answer {
                engine::Answer::Sound(answer) | engine::Answer::NoMove(answer) => answer,
                engine::Answer::Translated(passed_on) | engine::Answer::Converted(passed_on) => {
                    passed_on
                }
                engine::Answer::Illegal | engine::Answer::Unreadable => line,
            };
            self.on_looked(check, answer, at);
        }
    }

    /// An answer that cannot be the one to this search: the engine searches again.
    fn reject_answer(&mut self, why: &str, at: &mut Moment<'_>) {
        let search = self.turn.search_mut();
        match search.map_or(Retry::None, Search::reject) {
            Retry::None => at.out.notice(why),
            Retry::GiveUp => {
                let reason = format!("{why} again: it is ended");
                self.replace_engine(&reason, Cause::Useless, true, at);
            }
            Retry::SearchAgain => {
                at.out.notice(&format!("{why}: it searches again"));
                let (turn, mut to) = self.turn(at);
                turn.search_again(&mut to);
            }
        }
    }
}
