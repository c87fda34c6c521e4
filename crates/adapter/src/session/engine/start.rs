//! The start of an engine, from the request to the first command, and its loss.

use std::time::Duration;

use super::super::Request;
use super::super::out::Out;
use super::answers::shown;
use super::backlog::Backlog;
use super::beginning::Heard;
use super::child::{ANALYSE_MODE, ChildOptions, Declaration, OPPONENT};
use super::restarts::Restarts;
use super::{Engine, Lost, Patience, Phase, Process, ReadyFor, Sending, Starting, State, Work};
use crate::session::{IfNoneStarts, Profile};
use crate::settings::{NONE, Settings};
use tabia_uci::engine::{Id, OptionError, id, option};
use tabia_uci::gui::{self, GuiCommand};
use tabia_uci::message::{self, UciMessage, UciOptionConfig};

/// How an engine was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Loss {
    /// It could not be started, or has ended.
    Ended,
    /// It runs, but is of no use: it hangs, or does not answer as it should.
    Useless,
}

/// An engine has introduced itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Introduced {
    /// It is the first of the session, and has got its options.
    First,
    /// The GUI knows it or an earlier one: it continues the session.
    Again,
    /// Its options are tried one by one first.
    Trying,
}

/// The answer to an option that was sent alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Trial {
    /// The next one has been sent.
    Next,
    /// It has all of them, and lives.
    Over,
}

/// The time is over that a profile gives its engine to start.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum TimeOver {
    /// It has started.
    Started,
    /// It gets the same time again, and the GUI does not wait for it.
    Late,
    /// It is of no use, for this reason; whether it may be started again.
    Useless(String, bool),
}

impl Engine {
    // The choice of an engine.

    /// The session begins with the first engine, if there is one.
    pub(in super::super) fn first(&self) -> Option<usize> {
        (self.engines.chain > 0).then_some(0)
    }

    /// The next engine of the chain, while none has started.
    pub(in super::super) fn next_of_chain(&mut self) -> Option<usize> {
        let State::Lost(lost) = &self.state else {
            return None;
        };
        let next = lost.index + 1;
        let is_there = self.is_unknown() && next < self.engines.chain;
        is_there.then(|| {
            self.restarts = Restarts::default();
            next
        })
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

    /// Requests the engine of a profile.
    pub(in super::super) fn start(&mut self, index: usize, out: &mut Out<'_>) {
        // A GUI that has got `uciok` without an engine does not get another one.
        let patience = match self.is_late() && !self.was_up {
            true => Patience::Second,
            false => Patience::First,
        };
        let mut backlog = match std::mem::take(&mut self.state) {
            State::Lost(lost) => lost.backlog,
            State::Down { .. } => Backlog::default(),
            other => {
                debug_assert!(false, "an engine is started beside another: {other:?}");
                Backlog::default()
            }
        };
        backlog.keep_unremembered();
        self.state = State::Starting(Starting {
            index,
            patience,
            phase: Phase::Requested,
            backlog,
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
        let State::Down {
            given_up: Some(index),
        } = self.state
        else {
            return false;
        };
        self.restarts = Restarts::default();
        out.notice("the engine is started again");
        self.start(index, out);
        true
    }

    /// Starts the built-in engine in place of a lost one or of none, unless it has been
    /// lost itself; true if it is there.
    pub(in super::super) fn start_builtin(&mut self, out: &mut Out<'_>) -> bool {
        let is_new = self.stands_in_for.is_none();
        let Some(index) = self.engines.stand_in.filter(|_| is_new) else {
            return false;
        };
        let lost = self.profile().filter(|_| self.engines.chain > 0);
        let lost = lost.map(|profile| profile.name.clone());
        self.stands_in_for = Some(lost.unwrap_or_default());
        // Its own crashes are counted from zero.
        self.restarts = Restarts::default();
        out.notice("the built-in engine stands in");
        self.start(index, out);
        true
    }

    /// Says with every move of the built-in engine which engine it replaces.
    pub(in super::super) fn tell_stand_in(&self, out: &mut Out<'_>) {
        match self.stands_in_for.as_deref() {
            None => {}
            Some("") => out.info("the built-in engine's move: no engine is configured"),
            Some(lost) => out.info(&format!("the built-in engine's move, in place of {lost}")),
        }
    }

    // The start.

    /// The GUI has not got `uciok` yet, because no engine has started.
    pub(in super::super) const fn is_unknown(&self) -> bool {
        !self.was_up
            && matches!(
                self.state,
                State::Starting(Starting {
                    patience: Patience::First,
                    ..
                }) | State::Lost(Lost {
                    start: Some(Patience::First),
                    ..
                })
            )
    }

    /// The engine has not started in the time that its profile gives it.
    pub(in super::super) const fn is_late(&self) -> bool {
        matches!(
            self.state,
            State::Starting(Starting {
                patience: Patience::Second,
                ..
            }) | State::Lost(Lost {
                start: Some(Patience::Second),
                ..
            })
        )
    }

    /// The process runs; nothing has been sent to it yet.
    pub(in super::super) fn runs(&mut self, out: &mut Out<'_>) {
        if let State::Starting(starting) = &mut self.state
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
                self.state,
                State::Down { .. }
                    | State::Starting(Starting {
                        phase: Phase::Requested,
                        ..
                    })
            )
    }

    /// Its name or author.
    pub(in super::super) fn identify(&mut self, line: &[u8]) {
        match id(line) {
            Some(Id::Name(name)) => self.declared.name = name,
            Some(Id::Author(author)) => self.declared.author = author,
            None => {}
        }
    }

    /// One of its options.
    pub(in super::super) fn declare(&mut self, line: &[u8]) {
        self.declared.options.extend(option(line));
    }

    /// It has sent nothing yet that a UCI engine sends.
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

    /// Handles its `uciok`.
    pub(in super::super) fn introduce(&mut self, now: Duration, out: &mut Out<'_>) -> Introduced {
        let State::Starting(Starting {
            index, patience, ..
        }) = self.state
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

    /// The engine has started: returns what has waited for that.
    fn begin_service(&mut self, heard: Heard, options_unanswered: bool) -> Backlog {
        let (index, backlog) = match std::mem::take(&mut self.state) {
            State::Starting(starting) => (starting.index, starting.backlog),
            other => {
                debug_assert!(false, "it has not been started: {other:?}");
                self.state = other;
                return Backlog::default();
            }
        };
        let process = Process {
            index,
            silent: false,
            options_unanswered,
            last_answer: None,
            stray: None,
            heard,
        };
        self.state = State::Up(process, Work::Idle);
        backlog
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
            out.notice(&format!("{wrong}: it is left out"));
        }
    }

    /// Handles the end of the time that its profile gives it.
    pub(in super::super) fn time_over(&mut self, out: &mut Out<'_>) -> TimeOver {
        let was_up = self.was_up;
        let State::Starting(starting) = &mut self.state else {
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
        let of_tabia = settings.options().declarations().map(declaration);
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
        if let State::Starting(starting) = &mut self.state {
            starting.phase = Phase::Trying(tried);
        }
        true
    }

    /// Handles a `readyok` of an engine that gets its options one by one.
    pub(in super::super) fn survives_option(&mut self, out: &mut Out<'_>) -> Trial {
        let tried = match &mut self.state {
            State::Starting(Starting {
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

    // The loss.

    /// The engine has ended, or is of no use; false if there was none.
    pub(in super::super) fn lose(&mut self) -> bool {
        let lost = match std::mem::take(&mut self.state) {
            other @ (State::Down { .. } | State::Lost(_)) => {
                self.state = other;
                return false;
            }
            State::Starting(starting) => Lost {
                index: starting.index,
                start: Some(starting.patience),
                options_unanswered: false,
                tried: match starting.phase {
                    Phase::Trying(mut tried) => tried.pop(),
                    Phase::Requested | Phase::Introducing => None,
                },
                backlog: starting.backlog,
            },
            State::Up(process, work) => Lost {
                index: process.index,
                start: None,
                options_unanswered: process.options_unanswered,
                tried: None,
                backlog: work.into_backlog(),
            },
        };
        self.state = State::Lost(lost);
        true
    }

    /// Stops sending the option that the lost engine got last, if these were sent one by
    /// one; else they may have to be next time. True if it has stopped one.
    pub(in super::super) fn leave_deadly_option_out(
        &mut self,
        loss: Loss,
        out: &mut Out<'_>,
    ) -> bool {
        let State::Lost(lost) = &mut self.state else {
            return false;
        };
        let tried = lost.tried.take().map(|line| gui::parse(&line));
        let Some(GuiCommand::SetOption(option)) = tried else {
            self.sending = match lost.options_unanswered {
                true => Sending::OneByOne,
                false => Sending::Together,
            };
            return false;
        };
        let value = option.text();
        let value = if value.is_empty() { NONE } else { &value };
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
        self.options.leave_out(name);
        self.sending = Sending::OneByOne;
        out.notice(&text);
        true
    }

    /// Whether the lost engine had started, and got the last `position` line.
    pub(in super::super) const fn had_position(&self) -> bool {
        let had_started = matches!(self.state, State::Lost(Lost { start: None, .. }));
        had_started && self.position_sent
    }

    /// Starts the lost engine again, if that has not been done too often; `anyway` if the
    /// death has been cured.
    pub(in super::super) fn restart(
        &mut self,
        now: Duration,
        anyway: bool,
        owes_a_move: bool,
    ) -> Option<usize> {
        let State::Lost(lost) = &self.state else {
            return None;
        };
        let is_allowed = anyway || self.restarts.allow(now, owes_a_move);
        is_allowed.then_some(lost.index)
    }

    /// No other engine is found. Returns whether the lost one was the first of the session
    /// that was to start, and has to: see [`IfNoneStarts`].
    pub(in super::super) fn was_required(&self) -> bool {
        !self.was_up && self.engines.if_none_starts == IfNoneStarts::End
    }

    /// There is no engine any more; `may_return`: the lost one is tried again when it is to
    /// search.
    pub(in super::super) fn stay_down(&mut self, may_return: bool) -> bool {
        let index = match &self.state {
            State::Lost(lost) => Some(lost.index),
            _ => None,
        };
        let given_up = index.filter(|_| may_return);
        self.state = State::Down { given_up };
        given_up.is_some()
    }
}

/// The declaration of an option of the adapter's own.
fn declaration(option: UciOptionConfig) -> String {
    UciMessage::Option(option).to_string()
}
