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
        let name = name.to_ascii_lowercase();
        // A button does its work once.
        let Some(value) = value else { return };
        let value = text(value).to_ascii_lowercase();
        let on = matches!(value.as_str(), "true" | "1" | "yes" | "on");
        match name.as_str() {
            "multipv" => self.multi_pv = value.parse::<u32>().is_ok_and(|lines| lines > 1),
            "uci_analysemode" => self.analyse = on,
            "uci_chess960" => self.chess960 = on,
            _ => {}
        }
        match self.lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => line.clone_into(known),
            None => self.lines.push((name, line.to_vec())),
        }
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
        let Engine::Starting { index, .. } = self.link.state else {
            return;
        };
        self.link.hello.complete = true;
        self.link.state = Engine::Up { index };
        self.link.restarts.engine_up(now);
        // The one that stands in takes over what is there.
        let again = std::mem::replace(&mut self.link.was_up, true) || index >= self.engines.chain;
        let Some(profile) = self.engines.profiles.get(index) else {
            return;
        };
        if again {
            // The options of the profile are among those it is told.
            self.bring_up_to_date(now, out);
        } else {
            self.settings = profile.settings.announced();
            self.librarian.settings_changed();
            for (name, value) in &profile.options {
                let line = format!("setoption name {name} value {value}");
                if self.link.hello.option(name).is_none() {
                    self.notices
                        .push(format!("the engine has no option \"{name}\""));
                }
                self.link
                    .options
                    .note(name, Some(value.as_bytes()), line.as_bytes());
                out.engine(line.as_bytes());
            }
            self.reseed();
        }
        if std::mem::take(&mut self.uci_wanted) {
            self.tell_uci(out);
        }
        self.go_on(now, book_set, out);
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
            let line = if OptionId::by_name(&option.name).is_some() {
                option.announce(&format!("{PREFIX}{}", option.name))
            } else {
                option.announce(&option.name)
            };
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
            if std::mem::take(&mut self.uci_wanted) {
                self.tell_uci(out);
            }
        } else {
            self.on_engine_gone(now, &text, book_set, out);
        }
    }
}
