//! What the engine has declared before `uciok`, and the options set for it.

use std::collections::HashSet;

use super::super::Analysis;
use tabia_choice::settings::{ENGINE_PREFIX, OptionId};
use tabia_uci::engine::{self, EngineOption, OptionError, check_value};
use tabia_uci::gui::SetOption;
use tabia_uci::line::text;

/// What the engine has declared before `uciok`.
#[derive(Debug, Default)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) author: String,
    pub(super) options: Vec<EngineOption>,
}

impl Declaration {
    /// The engine's option of this name.
    pub(super) fn option(&self, name: &str) -> Option<&EngineOption> {
        self.options
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// Returns what is certainly wrong with setting an option of the engine.
    pub(super) fn option_error(
        &self,
        option: &SetOption,
        may_be_unknown: bool,
    ) -> Option<OptionError> {
        let value = option.value.as_deref()?;
        let option_error = engine::check_option(&self.options, &option.name, &text(value)).err()?;
        let certain = match &option_error {
            OptionError::NoSuchOption { name, .. } => {
                !may_be_unknown && !name.eq_ignore_ascii_case(ANALYSE_MODE)
            }
            OptionError::Value { .. } => true,
        };
        certain.then_some(option_error)
    }

    /// The line that sets an option as the engine has declared it, if another one has come.
    pub(super) fn line_to_set(&self, option: &SetOption) -> Option<Vec<u8>> {
        self.option(&option.name)?.line_to_set(option)
    }

    /// The engine's option for its own book, if that book is on by default.
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

    /// The name by which the GUI knows an option of the engine.
    pub(super) fn announced_name(name: &str) -> String {
        format!("{}{name}", Declaration::prefix_of(name))
    }

    /// The prefix of an engine's option in the GUI, for names that Tabia's own options have.
    pub(super) fn prefix_of(name: &str) -> &'static str {
        match OptionId::by_name(name) {
            Some(_) => ENGINE_PREFIX,
            None => "",
        }
    }

    /// The engine's option that the GUI knows by this name with a prefix, because Tabia
    /// has an option with the same name: `Engine OwnBook`.
    pub(super) fn without_prefix(&self, name: &str) -> Option<&str> {
        let option = self.option(OptionId::without_prefix(name)?)?;
        Some(&option.name)
    }
}

/// GUIs set this option for analysis. It is always offered, because the book must not
/// answer an analysis by depth, nodes or time.
pub const ANALYSE_MODE: &str = "UCI_AnalyseMode";

/// GUIs send the name of the opponent by this option.
pub(in super::super) const OPPONENT: &str = "UCI_Opponent";

/// Names of the options with which engines switch their own book, in lower case and
/// without blanks.
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

/// The engine's options as they were last set, for a restarted engine, and the values that
/// decide which searches the book answers.
#[derive(Debug, Default)]
pub(super) struct ChildOptions {
    /// Name in lower case, and the whole line.
    pub(super) lines: Vec<(String, Vec<u8>)>,
    /// `MultiPV` is above 1, which means analysis. (Nibbler 2.5.9 sets 3 also for games, unless
    /// its list of engines has 1.)
    multi_pv: bool,
    analyse: bool,
    /// The GUI wants the chances of a win, a draw and a loss with each score.
    show_wdl: bool,
    /// Names of options that crash the engine.
    deadly: Vec<String>,
    /// Problems that have been reported with options not sent: each is reported once.
    pub(super) reported: HashSet<OptionError>,
}

impl ChildOptions {
    pub(super) fn note(&mut self, name: &str, value: Option<&[u8]>, line: &[u8]) {
        // A button has an effect once only.
        let Some(value) = value else { return };
        self.apply(name, value);
        let name = name.to_ascii_lowercase();
        match self.lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => line.clone_into(known),
            None => self.lines.push((name, line.to_vec())),
        }
    }

    /// Handles options that affect which searches the book answers, whether the engine
    /// has them or not.
    pub(super) fn apply(&mut self, name: &str, value: &[u8]) {
        let value = text(value);
        match name.to_ascii_lowercase().as_str() {
            "multipv" => self.multi_pv = value.parse::<u32>().is_ok_and(|lines| lines > 1),
            // A value that means nothing changes nothing.
            "uci_analysemode" => self.analyse = check_value(&value).unwrap_or(self.analyse),
            "uci_showwdl" => self.show_wdl = check_value(&value).unwrap_or(self.show_wdl),
            _ => {}
        }
    }

    /// Stops sending the option to the engine, even if the GUI or the profile sets it.
    pub(super) fn leave_out(&mut self, name: &str) {
        self.forget(name);
        self.deadly.push(name.to_owned());
    }

    /// Whether the option must not be sent to the engine.
    pub(super) fn is_left_out(&self, name: &str) -> bool {
        let mut names = self.deadly.iter();
        names.any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Forgets the value of an option.
    pub(super) fn forget(&mut self, name: &str) {
        self.lines
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    }

    /// The line with which the GUI or the profile has set this option.
    pub(super) fn line(&self, name: &str) -> Option<&[u8]> {
        let mut lines = self.lines.iter();
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, line)| line.as_slice())
    }

    /// Whether the GUI wants the chances of a win, a draw and a loss with each score.
    pub(super) const fn show_wdl(&self) -> bool {
        self.show_wdl
    }

    /// Why the GUI analyses, so that the book does not answer, if it does.
    pub(super) const fn analysis(&self) -> Option<Analysis> {
        match (self.multi_pv, self.analyse) {
            (true, _) => Some(Analysis::MultiPv),
            (false, true) => Some(Analysis::Mode),
            (false, false) => None,
        }
    }
}
