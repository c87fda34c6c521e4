//! The start of an engine, and its introduction to the GUI.

use super::{Cause, Moment, NO_MOVE, Parts};
use crate::session::engine::{Introduced, TimeOver, Trial};
use crate::session::out::Out;
use tabia_engine::itself;
use tabia_uci::engine::{self as uci, EngineReply};

impl Parts {
    /// Requests the first engine.
    pub(in crate::session) fn start(&mut self, out: &mut Out<'_>) {
        if let Some(first) = self.engine.first() {
            self.adopt(first);
            self.engine.start(first, None, out);
        } else {
            out.notice("no engine is configured: name one in engines.toml");
        }
    }

    /// Uses the profile of an engine that is tried at the start; no line of the GUI has
    /// been handled yet.
    pub(super) fn adopt(&mut self, index: usize) {
        if let Some(profile) = self.engine.adopt(index) {
            self.books.adopt(profile.settings.announced());
            self.game.forget_rules();
            for (name, value) in &profile.options {
                self.game.set_rules(name, value);
            }
        }
    }

    /// Handles a line of an engine that has not sent `uciok` yet.
    pub(super) fn on_introduction(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            EngineReply::Info if itself::is_refusal(line) => {
                at.out.notice(itself::REASON);
                self.end_for(itself::REASON, at);
            }
            EngineReply::Id => self.engine.identify(line),
            EngineReply::Option => self.engine.declare(line),
            EngineReply::UciOk => self.on_uci_ok(at),
            EngineReply::Protection => at.out.gui(line),
            EngineReply::Other if self.engine.has_declared_nothing() && uci::is_of_xboard(line) => {
                let reason = self.engine.of_xboard(line);
                self.replace_engine(&reason, Cause::Useless, false, at);
            }
            // Other text is not passed on before `uciok`.
            EngineReply::Info
            | EngineReply::Other
            | EngineReply::ReadyOk
            | EngineReply::BestMove => {}
        }
    }

    fn on_uci_ok(&mut self, at: &mut Moment<'_>) {
        match self.engine.introduce(at.now, &mut at.out) {
            Introduced::Trying => return,
            Introduced::First => {}
            Introduced::Again => self.bring_up_to_date(false, at),
        }
        self.answer_uci(&mut at.out);
        self.go_on(at);
    }

    /// Handles a line of an engine that gets its options one by one.
    pub(super) fn on_trial(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            EngineReply::ReadyOk => match self.engine.survives_option(&mut at.out) {
                Trial::Next => {}
                Trial::Over => {
                    self.bring_up_to_date(true, at);
                    self.answer_uci(&mut at.out);
                    self.go_on(at);
                }
            },
            EngineReply::Info | EngineReply::Other => at.out.gui(line),
            _ => {}
        }
    }

    /// Sends to an engine that was started during a session everything that the last one
    /// got, and repeats its unanswered search. `tried`: the options have been sent already.
    fn bring_up_to_date(&mut self, tried: bool, at: &mut Moment<'_>) {
        let is_harmless = self.game.problem().is_none() && !self.game.is_risky();
        let position_line = self.game.for_engine();
        let position = is_harmless.then_some(&*position_line);
        self.engine.resume(at.now, tried, position, &mut at.out);
        if !is_harmless && self.engine.has_position() {
            return self.skip_position(at);
        }
        let (turn, mut to) = self.turn(at);
        turn.engine_has_started(&mut to);
    }

    /// The last engine has ended after this illegal `position` line: it is not sent to
    /// the next one.
    fn skip_position(&mut self, at: &mut Moment<'_>) {
        self.engine.withhold_position();
        if self.forget_perft(at) || self.turn.is_searching() {
            at.out.info("the position is not searched again");
        }
        if let Some(line) = self.turn.answer_search(NO_MOVE) {
            at.out.gui(line);
        }
    }

    /// Answers each `uci` that waits for the engine.
    pub(super) fn answer_uci(&mut self, out: &mut Out<'_>) {
        for _ in 0..out.contact.take_uci() {
            self.send_uci(out);
        }
    }

    /// Sends the introduction of Tabia and the engine to the GUI.
    pub(super) fn send_uci(&mut self, out: &mut Out<'_>) {
        let wants_opponent = self.wants_opponent();
        let settings = self.books.settings();
        self.engine.introduction(settings, wants_opponent, out);
    }

    /// Handles the end of the time that a profile gives its engine to start.
    pub(super) fn on_wake_up(&mut self, at: &mut Moment<'_>) {
        match self.engine.time_over(&mut at.out) {
            TimeOver::Started => {}
            TimeOver::Late => {
                self.answer_uci(&mut at.out);
                self.go_on(at);
            }
            TimeOver::Useless(text, may_return) => {
                self.replace_engine(&text, Cause::Useless, may_return, at);
            }
        }
    }
}
