//! The start of an engine, from the request to the first command.

use std::time::Duration;

use super::super::Request;
use super::super::out::Out;
use super::answers::shown;
use super::child::{ANALYSE_MODE, ChildOptions, Declaration, OPPONENT};
use super::heard::Heard;
use super::restarts::Restarts;
use super::{Engine, Link, Loss, Patience, Phase, Process, ReadyFor, Sending, Starting};
use crate::declarations;
use crate::session::Profile;
use crate::session::backlog::Backlog;
use tabia_choice::settings::{NONE, OptionId, Settings};
use tabia_uci::engine::{Id, OptionError, id, option};
use tabia_uci::gui::{self, GuiCommand};
use tabia_uci::message::{self, UciMessage, UciOptionConfig};

/// An engine has introduced itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Introduced {
    /// The engine is the first of the session, and has got its options.
    First,
    /// The GUI knows this engine or an earlier one: the engine continues the session.
    Again,
    /// The options of the engine are tried one by one first.
    Trying,
}

/// The answer to an option that was sent alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Trial {
    /// The next option has been sent.
    Next,
    /// The engine has all its options, and lives.
    Over,
}

/// The time is over that a profile gives its engine to start.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum TimeOver {
    /// The engine has started.
    Started,
    /// The engine gets the same time again, and the GUI does not wait for it.
    Late,
    /// The engine is of no use, for this reason; whether it may be started again.
    Useless(String, bool),
}

impl Engine {
    // The choice of an engine.

    /// The session begins with the first engine, if there is one.
    pub(in super::super) fn first(&self) -> Option<usize> {
        (self.engines.chain > 0).then_some(0)
    }

    /// Uses the options of an engine that is tried at the start; no line of the GUI has
    /// been handled yet.
    pub(in super::super) fn adopt(&mut self, index: usize) -> Option<&Profile> {
        let profile = self.engines.profiles.get(index)?;
        self.options = ChildOptions::default();
        for (name, value) in &profile.options {
            let line = message::set_option(name, Some(value));
            let value = Some(value.as_bytes());
            self.options.note(name, value, line.as_bytes());
        }
        Some(profile)
    }

    /// Requests the engine of a profile, in place of one that has been lost.
    pub(in super::super) fn start(
        &mut self,
        index: usize,
        loss: Option<&mut Loss>,
        out: &mut Out<'_>,
    ) {
        // A GUI that has got `uciok` without an engine does not get another one.
        let was_late = loss.as_ref().and_then(|loss| loss.start) == Some(Patience::Second);
        let waiting = loss.map(|loss| std::mem::take(&mut loss.waiting));
        self.link = Link::Starting(Starting {
            index,
            patience: match was_late && !self.was_up {
                true => Patience::Second,
                false => Patience::First,
            },
            phase: Phase::Requested,
            waiting: waiting.unwrap_or_default().unremembered(),
        });
        self.declared = Declaration::default();
        self.ready.awaited.retain(|reason| *reason == ReadyFor::Gui);
        out.request(Request::StartEngine(index));
        self.set_alarm(out);
    }

    /// An alarm for the end of the time that its profile gives it.
    fn set_alarm(&self, out: &mut Out<'_>) {
        if let Some(profile) = self.profile() {
            out.alarm(profile.start_timeout);
        }
    }

    /// Starts an engine that was given up while idle; true if there is one.
    pub(in super::super) fn try_again(&mut self, out: &mut Out<'_>) -> bool {
        let Link::Down {
            given_up: Some(index),
        } = self.link
        else {
            return false;
        };
        self.restarts = Restarts::default();
        out.notice("the engine is started again");
        self.start(index, None, out);
        true
    }

    /// Says with every move of the built-in engine which engine it replaces.
    pub(in super::super) fn report_stand_in(&self, out: &mut Out<'_>) {
        match self.stands_in_for.as_deref() {
            None => {}
            Some("") => out.info("the built-in engine's move: no engine is configured"),
            Some(lost) => out.info(&format!("the built-in engine's move, in place of {lost}")),
        }
    }

    // The start.

    fn starts_with(&self, patience: Patience) -> bool {
        matches!(&self.link, Link::Starting(starting) if starting.patience == patience)
    }

    /// The GUI has not got `uciok` yet, because no engine has started.
    pub(in super::super) fn is_unknown(&self) -> bool {
        !self.was_up && self.starts_with(Patience::First)
    }

    /// The engine has not started in the time that its profile gives it.
    pub(in super::super) fn is_late(&self) -> bool {
        self.starts_with(Patience::Second)
    }

    /// The process runs; nothing has been sent to it yet.
    pub(in super::super) fn runs(&mut self, out: &mut Out<'_>) {
        if let Link::Starting(starting) = &mut self.link
            && let Phase::Requested = starting.phase
        {
            starting.phase = Phase::Introducing;
            out.engine(b"uci");
        }
    }

    /// Whether the engine has lived at all, so that starting it again may help.
    pub(in super::super) const fn has_lived(&self) -> bool {
        self.was_up
            || !matches!(
                self.link,
                Link::Down { .. }
                    | Link::Starting(Starting {
                        phase: Phase::Requested,
                        ..
                    })
            )
    }

    /// Reads a line with the name or the author of the engine.
    pub(in super::super) fn identify(&mut self, line: &[u8]) {
        match id(line) {
            Some(Id::Name(name)) => self.declared.name = name,
            Some(Id::Author(author)) => self.declared.author = author,
            None => {}
        }
    }

    /// Reads a line with an option of the engine.
    pub(in super::super) fn declare(&mut self, line: &[u8]) {
        self.declared.options.extend(option(line));
    }

    /// The engine has sent nothing yet that a UCI engine sends.
    pub(in super::super) fn has_declared_nothing(&self) -> bool {
        let Declaration {
            name,
            author,
            options,
        } = &self.declared;
        name.is_empty() && author.is_empty() && options.is_empty()
    }

    /// Why an engine with this answer to `uci` cannot be used.
    pub(in super::super) fn of_xboard(&self, answer: &[u8]) -> String {
        let name = self.profile().map_or("", |profile| &profile.name);
        format!(
            "engine \"{name}\" is not a UCI engine: it speaks the protocol of XBoard (\"{}\")",
            shown(answer)
        )
    }

    /// Handles the `uciok` of the engine.
    pub(in super::super) fn introduce(&mut self, now: Duration, out: &mut Out<'_>) -> Introduced {
        let Link::Starting(Starting {
            index, patience, ..
        }) = self.link
        else {
            return Introduced::First;
        };
        self.restarts.engine_up(now);
        let again = self.was_up || patience == Patience::Second || index >= self.engines.chain;
        self.was_up = true;
        self.leave_options_out(index, out);
        if again {
            if std::mem::take(&mut self.sending) == Sending::OneByOne
                && self.next_option(Vec::new(), out)
            {
                return Introduced::Trying;
            }
            // The options of the profile are sent with the others.
            return Introduced::Again;
        }
        self.send_options(out);
        let waited = self.begin_service(Heard::Nothing, false);
        debug_assert_eq!(waited.bytes(), 0, "a line was handled before `uciok`");
        Introduced::First
    }

    fn send_options(&self, out: &mut Out<'_>) {
        let lines = self.options.lines.iter();
        lines.for_each(|(_, line)| out.engine(line));
    }

    /// The engine has started: returns the lines that waited for it.
    fn begin_service(&mut self, heard: Heard, options_unanswered: bool) -> Backlog {
        let (index, waiting) = match std::mem::take(&mut self.link) {
            Link::Starting(starting) => (starting.index, starting.waiting),
            other => {
                debug_assert!(false, "it has not been started: {other:?}");
                self.link = other;
                return Backlog::default();
            }
        };
        self.link = Link::Up(Process {
            index,
            silent: false,
            options_unanswered,
            last_answer: None,
            stray: None,
            heard,
            ending: None,
            waiting: Backlog::default(),
        });
        waiting
    }

    /// Sends to an engine that was started during a session everything that the last one
    /// got: the options unless they have been `tried`, and the `position`, if it can be
    /// sent.
    pub(in super::super) fn resume(
        &mut self,
        now: Duration,
        tried: bool,
        position: Option<&[u8]>,
        out: &mut Out<'_>,
    ) {
        let has_options = !tried && !self.options.lines.is_empty();
        if has_options {
            self.send_options(out);
        }
        let backlog = self.begin_service(Heard::NothingAfterLoss, has_options);
        out.engine(b"ucinewgame");
        if let Some(line) = position.filter(|_| self.position_sent) {
            out.engine(line);
        }
        backlog.send(out);
        self.ready
            .awaited
            .iter()
            .for_each(|_| out.engine(b"isready"));
        self.ready.since = self.owes_ready().then_some(now);
    }

    /// Removes options that are certainly wrong from those to be sent to an engine:
    /// options of its profile that it has not declared, and values of the wrong type or
    /// outside the declared range. Some engines end on such a value.
    fn leave_options_out(&mut self, index: usize, out: &mut Out<'_>) {
        let profile = self.engines.profiles.get(index);
        let of_profile = profile.map_or(&[][..], |profile| &profile.options);
        let mut wrong = Vec::new();
        for (name, line) in &mut self.options.lines {
            let GuiCommand::SetOption(option) = gui::parse(line) else {
                continue;
            };
            // Unknown names from a chess program are not reported.
            let ours = |(known, _): &(String, String)| known.eq_ignore_ascii_case(name);
            let may_be_unknown = !of_profile.iter().any(ours);
            if let Some(option_error) = self.declared.option_error(&option, may_be_unknown) {
                wrong.push((name.clone(), option_error));
            } else if let Some(expected) = self.declared.line_to_set(&option) {
                *line = expected;
            }
        }
        for (name, option_error) in wrong {
            self.options.forget(&name);
            self.leave_out(&option_error, out);
        }
    }

    /// An option is not sent, which is reported once.
    pub(super) fn leave_out(&mut self, wrong: &OptionError, out: &mut Out<'_>) {
        if self.options.reported.insert(wrong.clone()) {
            let ours = match wrong {
                OptionError::NoSuchOption { name, like: None } => OptionId::meant_by(name),
                _ => None,
            };
            let ours = ours.map_or_else(String::new, |id| {
                format!(" (did you mean Tabia's \"{}\"?)", id.spec().name)
            });
            out.notice(&format!("{wrong}{ours}: it is left out"));
        }
    }

    /// Handles the end of the time that its profile gives it.
    pub(in super::super) fn time_over(&mut self, out: &mut Out<'_>) -> TimeOver {
        let was_up = self.was_up;
        let Link::Starting(starting) = &mut self.link else {
            return TimeOver::Started;
        };
        let Some(profile) = self.engines.profiles.get(starting.index) else {
            return TimeOver::Started;
        };
        if let Phase::Trying(_) = starting.phase {
            let text = "the engine does not answer \"isready\"";
            return TimeOver::Useless(text.to_owned(), true);
        }
        let timeout = profile.start_timeout;
        let text = format!(
            "engine \"{}\" has not answered \"uci\" within {} ms",
            profile.name,
            match starting.patience {
                Patience::First => timeout.as_millis(),
                Patience::Second => timeout.as_millis() * 2,
            }
        );
        let is_last = was_up || starting.index + 1 >= self.engines.chain;
        if !is_last || starting.patience == Patience::Second {
            return TimeOver::Useless(text, was_up);
        }
        // GUIs wait 10 to 60 seconds for `uciok`: they get it with Tabia's options, and
        // the engine gets the same time again.
        starting.patience = Patience::Second;
        out.notice(&text);
        out.alarm(timeout);
        TimeOver::Late
    }

    /// Introduces Tabia and the engine to the GUI; `own` are the settings of a session
    /// without an engine.
    pub(in super::super) fn introduction(
        &self,
        own: &Settings,
        wants_opponent: bool,
        out: &mut Out<'_>,
    ) {
        let version = env!("CARGO_PKG_VERSION");
        let ours = "the Tabia developers";
        let (name, author) = match (self.declared.name.as_str(), self.declared.author.as_str()) {
            ("", _) => (format!("Tabia {version}"), ours),
            (name, "") => (format!("{name} with Tabia {version}"), ours),
            (name, author) => (format!("{name} with Tabia {version}"), author),
        };
        let name = self.engines.announced.clone().unwrap_or(name);
        // The values that the GUI has set are not defaults: a second `uci` gets the same
        // answer as the first.
        let settings = self.profile().map_or(own, |profile| &profile.settings);
        let of_tabia = declarations(settings.options()).map(declaration);
        let of_engine = self.declared.options.iter();
        let of_engine =
            of_engine.map(|option| option.announce(Declaration::prefix_of(&option.name)));
        let analyse = UciOptionConfig::Check {
            name: ANALYSE_MODE.to_owned(),
            default: Some(false),
        };
        let opponent = UciOptionConfig::String {
            name: OPPONENT.to_owned(),
            default: Some(NONE.to_owned()),
        };
        let analyse = (!self.knows(ANALYSE_MODE)).then(|| declaration(analyse));
        let opponent = (wants_opponent && !self.knows(OPPONENT)).then(|| declaration(opponent));
        [message::id_name(&name), message::id_author(author)]
            .into_iter()
            .chain(of_tabia)
            .map(String::into_bytes)
            .chain(of_engine)
            .chain(analyse.map(String::into_bytes))
            .chain(opponent.map(String::into_bytes))
            .for_each(|line| out.gui(&line));
        out.uci_ok();
    }

    // Options one by one.

    /// Sends the next option that the engine has not got, with its `isready`; false if there
    /// is none.
    fn next_option(&mut self, mut tried: Vec<Vec<u8>>, out: &mut Out<'_>) -> bool {
        let mut lines = self.options.lines.iter().map(|(_, line)| line);
        let Some(next) = lines.find(|line| !tried.contains(line)) else {
            return false;
        };
        out.engine(next);
        out.engine(b"isready");
        self.set_alarm(out);
        tried.push(next.clone());
        if let Link::Starting(starting) = &mut self.link {
            starting.phase = Phase::Trying(tried);
        }
        true
    }

    /// Handles a `readyok` of an engine that gets its options one by one.
    pub(in super::super) fn survives_option(&mut self, out: &mut Out<'_>) -> Trial {
        let tried = match &mut self.link {
            Link::Starting(Starting {
                phase: Phase::Trying(tried),
                ..
            }) => std::mem::take(tried),
            _ => return Trial::Over,
        };
        match self.next_option(tried, out) {
            true => Trial::Next,
            false => Trial::Over,
        }
    }
}

/// The declaration of an option of the adapter's own.
fn declaration(option: UciOptionConfig) -> String {
    UciMessage::Option(option).to_string()
}
