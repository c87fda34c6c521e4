//! Options that crash an engine.
//!
//! Some engines end on an option: Debian's Ethereal on `SyzygyPath`, with any value.
//! Programs that set all options send it before every game. If a restarted engine gets
//! its options and ends again without an answer, the options are sent one by one the next
//! time, each followed by `isready`. The one that it does not answer is not sent any
//! more.

use super::link::Engine;
use super::restart::Loss;
use super::{Moment, Session};
use crate::session::Request;
use tabia_uci::engine::EngineReply;
use tabia_uci::gui::{self, GuiCommand};

impl Session {
    /// Begins to send the options to the engine one by one, if the last engine died of
    /// them; true if so.
    pub(super) fn try_options(&mut self, at: &mut Moment<'_>) -> bool {
        if !std::mem::take(&mut self.link.tries_options) {
            return false;
        }
        self.link.tried = Some(Vec::new());
        self.try_next_option(at)
    }

    /// Sends the next option that the engine has not got; false if none is left.
    fn try_next_option(&mut self, at: &mut Moment<'_>) -> bool {
        let Some(tried) = &mut self.link.tried else {
            return false;
        };
        let lines = self.link.options.lines.iter().map(|(_, line)| line);
        let Some(next) = lines.clone().find(|line| !tried.contains(line)).cloned() else {
            self.link.tried = None;
            return false;
        };
        at.out.engine(&next);
        at.out.engine(b"isready");
        tried.push(next);
        // A session that is ending has set another alarm.
        if !self.leaving
            && let Some(limit) = self.profile().map(|profile| profile.start_timeout)
        {
            at.out.request(Request::WakeUp(limit));
        }
        true
    }

    /// Handles a line of an engine that gets its options one by one.
    pub(super) fn on_trial(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            EngineReply::ReadyOk if !self.try_next_option(at) => {
                if let Engine::Starting { index, .. } = self.link.state {
                    self.link.state = Engine::Up { index };
                }
                self.bring_up_to_date(at.now, false, at.out);
                self.answer_uci(at.out);
                self.go_on(at);
            }
            EngineReply::Info | EngineReply::Other => at.out.gui(line),
            _ => {}
        }
    }

    /// The engine has ended, or hangs: stops sending the last option; true if there is
    /// one.
    pub(super) fn leave_deadly_option_out(&mut self, loss: Loss, at: &mut Moment<'_>) -> bool {
        let mut tried = self.link.tried.take().unwrap_or_default();
        let Some(GuiCommand::SetOption(option)) = tried.pop().map(|line| gui::parse(&line)) else {
            self.link.tries_options = self.link.options_unanswered;
            return false;
        };
        let value = option.text();
        let value = if value.is_empty() { "<empty>" } else { &value };
        let name = &option.name;
        let text = match loss {
            Loss::Ended => {
                format!("the engine ends itself when \"{name}\" is set to {value}: it is left out")
            }
            Loss::Useless => {
                let limit = self.profile().map(|profile| profile.start_timeout);
                format!(
                    "the engine has not answered within {} ms after \"{name}\" was set to \
                     {value}: the option is left out",
                    limit.unwrap_or_default().as_millis()
                )
            }
        };
        self.notice(&text, at.out);
        self.link.options.leave_out(&option.name);
        self.link.tries_options = true;
        true
    }
}
