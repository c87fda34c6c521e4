//! Lines of the engine.

use std::time::Duration;

use super::search::Search;
use super::{Outlet, Session};
use crate::book_set::BookSet;
use crate::uci::engine::{self, EngineReply};

impl Session {
    pub(super) fn on_engine(
        &mut self,
        now: Duration,
        line: &[u8],
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        let reply = engine::parse(line);
        if self.link.is_starting() && !self.link.hello.complete {
            return self.on_hello(now, line, reply, book_set, out);
        }
        match reply {
            EngineReply::Info => {
                // Infos of a search that the GUI does not know of would be
                // taken for those of another.
                if !self.link.is_aside() {
                    self.learner.hear(line);
                    out.gui(line);
                }
            }
            EngineReply::BestMove => self.on_best_move(now, line, book_set, out),
            EngineReply::ReadyOk => {
                if self.link.ready_owed > 0 {
                    self.link.ready_owed -= 1;
                    out.gui(b"readyok");
                    self.go_on(now, book_set, out);
                }
            }
            EngineReply::Id | EngineReply::Option | EngineReply::UciOk => {}
            EngineReply::Protection | EngineReply::Other => out.gui(line),
        }
    }

    fn on_best_move(
        &mut self,
        now: Duration,
        line: &[u8],
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        if self.link.ignores_answer(out) {
            return;
        }
        if matches!(&self.search, Search::Engine(running) if !running.replaced) {
            self.learn_answer(line);
        }
        match &mut self.search {
            // A second answer, or one to nothing.
            Search::Idle | Search::Held(_) => {}
            Search::Engine(running) => {
                self.link.restarts.engine_answers();
                let kind = running.kind;
                let (replaced, may_answer) = (running.replaced, running.may_answer());
                self.search = Search::Idle;
                if !replaced {
                    self.tell_stand_in(out);
                    if may_answer {
                        out.gui(line);
                    } else {
                        self.search = Search::hold(line.to_vec(), kind);
                    }
                }
                self.go_on(now, book_set, out);
            }
        }
    }
}
