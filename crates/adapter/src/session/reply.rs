//! Lines of the engine.

use super::search::{Held, Search};
use super::{Moment, Outlet, Session};
use tabia_uci::engine::{self, EngineReply};
use tabia_uci::line::text;

impl Session {
    pub(super) fn on_engine(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let reply = engine::parse(line);
        if self.link.is_starting() && !self.link.hello.complete {
            return self.on_hello(line, reply, at);
        }
        if self.link.tried.is_some() {
            return self.on_trial(line, reply, at);
        }
        if matches!(reply, EngineReply::ReadyOk | EngineReply::BestMove) {
            self.link.options_unanswered = false;
        }
        match reply {
            EngineReply::Info => {
                // The GUI would take `info` lines of a background search for those of its
                // own.
                if !self.link.searches_in_background() {
                    self.learner.receive_info(line);
                    at.out.gui(line);
                } else if let Search::Held(Held {
                    check: Some(check), ..
                }) = &mut self.search
                {
                    check.receive(line);
                }
            }
            EngineReply::BestMove => self.on_best_move(line, at),
            EngineReply::ReadyOk => {
                self.link.on_ready(at.now, at.out);
                self.go_on_checking(at.now, at.out);
            }
            EngineReply::Id | EngineReply::Option | EngineReply::UciOk => {}
            EngineReply::Protection | EngineReply::Other => at.out.gui(line),
        }
    }

    fn on_best_move(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let Some(answer) = engine::sound_answer(line) else {
            // It ends no search, neither one of the GUI nor an abandoned one: a `stop`
            // that is due is still sent.
            if self.link.searches_in_background() || self.search.is_engine() {
                self.report_unsound(line, at.out);
            }
            return;
        };
        let has_looked = self.link.is_warming();
        if self.link.ignores_answer(at.now, at.out) {
            if has_looked {
                self.on_looked(answer, at);
            }
            return;
        }
        match &mut self.search {
            // A second answer, or one without a search.
            Search::Idle | Search::Held(_) => {}
            Search::Engine(running) => {
                let (kind, may_answer) = (running.kind, running.may_answer());
                self.link.restarts.engine_answers();
                self.learn_answer(answer);
                self.search = Search::Idle;
                self.report_stand_in(at.out);
                if may_answer {
                    at.out.gui(answer);
                } else {
                    self.search = Search::hold(answer.to_vec(), kind);
                }
                self.go_on(at);
            }
        }
    }

    /// Reports an answer that is not a move, which programs would take for one.
    fn report_unsound(&mut self, line: &[u8], out: &mut dyn Outlet) {
        let shown: String = text(line).chars().take(80).collect();
        self.notice(
            &format!("the engine's answer is no UCI and does not count: {shown}"),
            out,
        );
    }
}
