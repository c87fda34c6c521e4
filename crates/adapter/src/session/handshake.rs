//! The engine's introduction, from `uci` to `uciok`.

use super::child::{ANALYSE_MODE, ChildOptions, Hello, OPPONENT};
use super::link::Engine;
use super::restart::Loss;
use super::{Moment, Outlet, Request, Session, info_string};
use crate::settings::NONE;
use tabia_uci::engine::{EngineReply, Id, OptionError, id, option};
use tabia_uci::gui::{self, GuiCommand};
use tabia_uci::message::{self, UciMessage, UciOptionConfig};
use tabia_uci::process::itself;

impl Session {
    /// Handles a line of an engine that has not sent `uciok` yet.
    pub(super) fn on_hello(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            EngineReply::Info if itself::is_refusal(line) => {
                self.notice(itself::REASON, at.out);
                self.end_for(itself::REASON, at.out);
            }
            EngineReply::Id => match id(line) {
                Some(Id::Name(name)) => self.link.hello.name = name,
                Some(Id::Author(author)) => self.link.hello.author = author,
                None => {}
            },
            EngineReply::Option => self.link.hello.options.extend(option(line)),
            EngineReply::UciOk => self.on_uci_ok(at),
            EngineReply::Protection => at.out.gui(line),
            // Other text is not passed on before `uciok`.
            EngineReply::Info
            | EngineReply::Other
            | EngineReply::ReadyOk
            | EngineReply::BestMove => {}
        }
    }

    fn on_uci_ok(&mut self, at: &mut Moment<'_>) {
        let Engine::Starting { index, late } = self.link.state else {
            return;
        };
        self.link.hello.complete = true;
        self.link.restarts.engine_up(at.now);
        // The GUI already knows this engine or an earlier one: the new engine continues
        // the session.
        let again = self.link.was_up || late || index >= self.engines.chain;
        self.link.was_up = true;
        self.leave_options_out(index, at.out);
        if again && self.try_options(at) {
            return;
        }
        self.link.state = Engine::Up { index };
        if again {
            // The options of the profile are sent with the others.
            self.bring_up_to_date(at.now, true, at.out);
        } else {
            for (_, line) in &self.link.options.lines {
                at.out.engine(line);
            }
        }
        self.answer_uci(at.out);
        self.go_on(at);
    }

    /// Uses the profile of an engine that is tried at the start; no line of the GUI has
    /// been handled yet.
    pub(super) fn adopt(&mut self, index: usize) {
        let Some(profile) = self.engines.profiles.get(index) else {
            return;
        };
        self.settings = profile.settings.announced();
        self.chooser.settings_changed();
        self.link.options = ChildOptions::default();
        self.conditions.forget_rules();
        for (name, value) in &profile.options {
            self.conditions.set_rules(name, value);
            let line = message::set_option(name, Some(value));
            self.link
                .options
                .note(name, Some(value.as_bytes()), line.as_bytes());
        }
    }

    /// Removes options that are certainly wrong from those to be sent to an engine:
    /// options of its profile that it has not declared, and values of the wrong type or
    /// outside the declared range. Some engines end on such a value.
    fn leave_options_out(&mut self, index: usize, out: &mut dyn Outlet) {
        let profile = self.engines.profiles.get(index);
        let of_profile = profile.map_or(&[][..], |profile| &profile.options);
        let mut wrong = Vec::new();
        for (name, line) in &self.link.options.lines {
            let GuiCommand::SetOption(option) = gui::parse(line) else {
                continue;
            };
            // Unknown names from a chess program are not reported.
            let ours = |(known, _): &(String, String)| known.eq_ignore_ascii_case(name);
            let may_be_unknown = !of_profile.iter().any(ours);
            if let Some(option_error) = self.link.hello.option_error(&option, may_be_unknown) {
                wrong.push((name.clone(), option_error));
            }
        }
        for (name, option_error) in wrong {
            self.link.options.forget(&name);
            self.report_option_error(&option_error, out);
        }
    }

    /// Reports once that an option is not sent.
    pub(super) fn report_option_error(&mut self, option_error: &OptionError, out: &mut dyn Outlet) {
        if self.link.options.is_news(option_error) {
            self.notice(&format!("{option_error}: it is left out"), out);
        }
    }

    /// Answers each `uci` that waits for the engine.
    pub(super) fn answer_uci(&mut self, out: &mut dyn Outlet) {
        for _ in 0..std::mem::take(&mut self.uci_wanted) {
            self.send_uci(out);
        }
    }

    /// Sends the introduction of Tabia and the engine to the GUI.
    pub(super) fn send_uci(&mut self, out: &mut dyn Outlet) {
        let version = env!("CARGO_PKG_VERSION");
        let (name, author) = match (
            self.link.hello.name.as_str(),
            self.link.hello.author.as_str(),
        ) {
            ("", _) => (
                format!("Tabia {version}"),
                "the Tabia developers".to_owned(),
            ),
            (name, "") => (
                format!("{name} with Tabia {version}"),
                "the Tabia developers".to_owned(),
            ),
            (name, author) => (format!("{name} with Tabia {version}"), author.to_owned()),
        };
        out.gui(message::id_name(&name).as_bytes());
        out.gui(message::id_author(&author).as_bytes());
        // The values that the GUI has set are not defaults: a second `uci` gets the same
        // answer as the first.
        let declared = self.profile().map_or(&self.settings, |p| &p.settings);
        for option in declared.options().declarations() {
            declare(option, out);
        }
        for option in &self.link.hello.options {
            let name = Hello::announced_name(&option.name);
            out.gui(option.announce(&name).as_bytes());
        }
        if self.link.hello.option(ANALYSE_MODE).is_none() {
            let option = UciOptionConfig::Check {
                name: ANALYSE_MODE.to_owned(),
                default: Some(false),
            };
            declare(option, out);
        }
        if self.wants_opponent() && self.link.hello.option(OPPONENT).is_none() {
            let option = UciOptionConfig::String {
                name: OPPONENT.to_owned(),
                default: Some(NONE.to_owned()),
            };
            declare(option, out);
        }
        self.send_notices(out);
        out.gui(UciMessage::UciOk.to_string().as_bytes());
    }

    /// Sends the notices that waited for `uciok`; later ones are sent at once.
    pub(super) fn send_notices(&mut self, out: &mut dyn Outlet) {
        self.link.hello.announced = true;
        for notice in std::mem::take(&mut self.notices) {
            info_string(&notice, out);
        }
    }

    /// Handles the end of the time that a profile gives its engine to start.
    pub(super) fn on_wake_up(&mut self, at: &mut Moment<'_>) {
        let Engine::Starting { index, late } = self.link.state else {
            return;
        };
        let Some(profile) = self.engines.profiles.get(index) else {
            return;
        };
        let timeout = profile.start_timeout;
        if self.link.tried.is_some() {
            let text = "the engine does not answer \"isready\"";
            return self.replace_engine(text, Loss::Useless, true, at);
        }
        let text = format!(
            "engine \"{}\" has not answered \"uci\" within {} ms",
            profile.name,
            timeout.as_millis() * if late { 2 } else { 1 }
        );
        let is_last = self.link.was_up || index + 1 >= self.engines.chain;
        if is_last && !late {
            // GUIs wait 10 to 60 seconds for `uciok`: they get it with Tabia's options,
            // and the engine gets the same time again.
            self.link.state = Engine::Starting { index, late: true };
            self.notice(&text, at.out);
            at.out.request(Request::WakeUp(timeout));
            self.answer_uci(at.out);
            self.go_on(at);
        } else {
            self.replace_engine(&text, Loss::Useless, self.link.was_up, at);
        }
    }
}

/// Sends the declaration of an option of the adapter's own.
fn declare(option: UciOptionConfig, out: &mut dyn Outlet) {
    out.gui(UciMessage::Option(option).to_string().as_bytes());
}
