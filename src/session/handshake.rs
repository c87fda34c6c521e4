//! The engine's introduction.

use std::time::Duration;

use super::link::Engine;
use super::{Outlet, Request, Session, info_string};
use crate::book_set::BookSet;
use crate::settings::OptionId;
use crate::uci::engine::{EngineOption, EngineReply, Id, id, option};
use crate::uci::line::text;

/// What the engine has said of itself before `uciok`.
#[derive(Debug, Default)]
pub(super) struct Hello {
    name: String,
    author: String,
    options: Vec<EngineOption>,
    /// The engine has said `uciok`.
    pub(super) complete: bool,
    /// The GUI has been told of us, or plays without having asked.
    pub(super) told: bool,
}

impl Hello {
    /// A new engine is about to introduce itself.
    pub(super) fn begin(&mut self) {
        *self = Hello {
            told: self.told,
            ..Hello::default()
        };
    }

    /// The engine's option of this name.
    pub(super) fn option(&self, name: &str) -> Option<&EngineOption> {
        self.options
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// The engine's option that switches a book of its own, if that is on
    /// unless somebody switches it off.
    pub(super) fn own_book(&self) -> Option<&str> {
        let is_on = |option: &&EngineOption| {
            let name = option.name.to_ascii_lowercase().replace([' ', '_'], "");
            let default = option.details.to_ascii_lowercase();
            OWN_BOOKS.contains(&name.as_str())
                && option.kind == "check"
                && default.split_whitespace().eq(["default", "true"])
        };
        let option = self.options.iter().find(is_on)?;
        Some(&option.name)
    }

    /// The name under which the GUI knows an option of the engine.
    pub(super) fn announced_name(name: &str) -> String {
        match OptionId::by_name(name) {
            Some(_) => format!("{PREFIX}{name}"),
            None => name.to_owned(),
        }
    }

    /// The engine's option that the GUI knows under this name, if it had to
    /// be renamed because we have one of that name: `Engine OwnBook`.
    pub(super) fn behind_prefix(&self, name: &str) -> Option<&str> {
        let start = name.get(..PREFIX.len())?;
        let rest = name.get(PREFIX.len()..)?;
        (start.eq_ignore_ascii_case(PREFIX) && OptionId::by_name(rest).is_some())
            .then(|| self.option(rest).map(|option| option.name.as_str()))
            .flatten()
    }
}

/// Stands before the name of an engine's option that is also one of ours.
const PREFIX: &str = "Engine ";

/// By this option GUIs say that they analyse. It is offered whether the
/// engine has it or not: an analysis by depth, nodes or time is not for the
/// book.
pub(super) const ANALYSE_MODE: &str = "UCI_AnalyseMode";

/// Names of options, blanks and case aside, by which engines switch a book of
/// their own.
const OWN_BOOKS: [&str; 8] = [
    "ownbook",
    "usebook",
    "useownbook",
    "usepolyglotbook",
    "openingbook",
    "useopeningbook",
    "book",
    "bookenabled",
];

/// The engine's options as they were last set, for an engine that has to be
/// started again, and what they say about the kind of search.
#[derive(Debug, Default)]
pub(super) struct ChildOptions {
    /// Name in lower case, and the whole line.
    pub(super) lines: Vec<(String, Vec<u8>)>,
    multi_pv: bool,
    analyse: bool,
    chess960: bool,
}

impl ChildOptions {
    pub(super) fn note(&mut self, name: &str, value: Option<&[u8]>, line: &[u8]) {
        // A button does its work once.
        let Some(value) = value else { return };
        self.heed(name, value);
        let name = name.to_ascii_lowercase();
        match self.lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => line.clone_into(known),
            None => self.lines.push((name, line.to_vec())),
        }
    }

    /// What an option says about the kind of search, whether the engine has it
    /// or not.
    pub(super) fn heed(&mut self, name: &str, value: &[u8]) {
        let value = text(value).to_ascii_lowercase();
        let on = matches!(value.as_str(), "true" | "1" | "yes" | "on");
        match name.to_ascii_lowercase().as_str() {
            "multipv" => self.multi_pv = value.parse::<u32>().is_ok_and(|lines| lines > 1),
            "uci_analysemode" => self.analyse = on,
            "uci_chess960" => self.chess960 = on,
            _ => {}
        }
    }

    /// Whether somebody has set this option, to whatever.
    pub(super) fn has_set(&self, name: &str) -> bool {
        self.lines
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// The GUI analyses: the book does not answer.
    pub(super) const fn analysing(&self) -> bool {
        self.multi_pv || self.analyse
    }

    /// Several lines are asked for, which is analysis.
    pub(super) const fn multi_pv(&self) -> bool {
        self.multi_pv
    }

    /// Castling is written as king takes rook.
    pub(super) const fn chess960(&self) -> bool {
        self.chess960
    }
}

impl Session {
    /// A line of an engine that has not said `uciok`.
    pub(super) fn on_hello(
        &mut self,
        now: Duration,
        line: &[u8],
        reply: EngineReply,
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        match reply {
            EngineReply::Id => match id(line) {
                Some(Id::Name(name)) => self.link.hello.name = name,
                Some(Id::Author(author)) => self.link.hello.author = author,
                None => {}
            },
            EngineReply::Option => self.link.hello.options.extend(option(line)),
            EngineReply::UciOk => self.on_uci_ok(now, book_set, out),
            EngineReply::Protection => out.gui(line),
            // Banners have no place before `uciok`.
            EngineReply::Info
            | EngineReply::Other
            | EngineReply::ReadyOk
            | EngineReply::BestMove => {}
        }
    }

    fn on_uci_ok(&mut self, now: Duration, book_set: &BookSet, out: &mut dyn Outlet) {
        let Engine::Starting { index, late } = self.link.state else {
            return;
        };
        self.link.hello.complete = true;
        self.link.state = Engine::Up { index };
        self.link.restarts.engine_up(now);
        // The GUI knows it already, or the one before it: it takes over what
        // is there.
        let again = self.link.was_up || late || index >= self.engines.chain;
        if !std::mem::replace(&mut self.link.was_up, true) {
            self.miss_options(index, out);
        }
        if again {
            // The options of the profile are among those it is told.
            self.bring_up_to_date(now, out);
        } else {
            for (_, line) in &self.link.options.lines {
                out.engine(line);
            }
        }
        self.answer_uci(out);
        self.go_on(now, book_set, out);
    }

    /// Makes the profile of an engine that is tried at the start the one in
    /// force; no line of the GUI has been heeded yet.
    pub(super) fn adopt(&mut self, index: usize) {
        let Some(profile) = self.engines.profiles.get(index) else {
            return;
        };
        self.settings = profile.settings.announced();
        self.librarian.settings_changed();
        self.link.options = ChildOptions::default();
        for (name, value) in &profile.options {
            let line = format!("setoption name {name} value {value}");
            self.link
                .options
                .note(name, Some(value.as_bytes()), line.as_bytes());
        }
    }

    /// Says which options of its profile an engine does not have.
    fn miss_options(&mut self, index: usize, out: &mut dyn Outlet) {
        let Some(profile) = self.engines.profiles.get(index) else {
            return;
        };
        let mut missing = Vec::new();
        for (name, _) in &profile.options {
            if self.link.hello.option(name).is_none() {
                missing.push(format!("the engine has no option \"{name}\""));
            }
        }
        for text in missing {
            self.notice(&text, out);
        }
    }

    /// Answers each `uci` that has waited for the engine.
    pub(super) fn answer_uci(&mut self, out: &mut dyn Outlet) {
        for _ in 0..std::mem::take(&mut self.uci_wanted) {
            self.tell_uci(out);
        }
    }

    /// Introduces us and the engine to the GUI.
    pub(super) fn tell_uci(&mut self, out: &mut dyn Outlet) {
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
        out.gui(format!("id name {name}").as_bytes());
        out.gui(format!("id author {author}").as_bytes());
        // What the GUI has set since is no default: a second "uci" is
        // answered as the first was.
        let declared = self.profile().map_or(&self.settings, |p| &p.settings);
        for line in declared.declarations().lines() {
            out.gui(line.as_bytes());
        }
        for option in &self.link.hello.options {
            let name = Hello::announced_name(&option.name);
            out.gui(option.announce(&name).as_bytes());
        }
        if self.link.hello.option(ANALYSE_MODE).is_none() {
            let line = format!("option name {ANALYSE_MODE} type check default false");
            out.gui(line.as_bytes());
        }
        self.tell_notices(out);
        out.gui(b"uciok");
    }

    /// Says what has been kept back so far; from now on nothing is.
    pub(super) fn tell_notices(&mut self, out: &mut dyn Outlet) {
        self.link.hello.told = true;
        for notice in std::mem::take(&mut self.notices) {
            info_string(&notice, out);
        }
    }

    /// The engine has had the time that its profile gives it.
    pub(super) fn on_wake_up(&mut self, now: Duration, book_set: &BookSet, out: &mut dyn Outlet) {
        let Engine::Starting { index, late } = self.link.state else {
            return;
        };
        let Some(profile) = self.engines.profiles.get(index) else {
            return;
        };
        let timeout = profile.start_timeout;
        let text = format!(
            "engine \"{}\" has not answered \"uci\" within {} ms",
            profile.name,
            timeout.as_millis() * if late { 2 } else { 1 }
        );
        let is_last = self.link.was_up || index + 1 >= self.engines.chain;
        if is_last && !late {
            // GUIs wait 10 to 60 seconds for `uciok`: they get it with our
            // options, and the engine gets the same time once more.
            self.link.state = Engine::Starting { index, late: true };
            self.notice(&text, out);
            out.request(Request::WakeUp(timeout));
            self.answer_uci(out);
            self.go_on(now, book_set, out);
        } else {
            self.replace_engine(now, &text, self.link.was_up, book_set, out);
        }
    }
}
