//! Tabia's own options: names, ranges, values.
//!
//! One table is used for the UCI handshake, `setoption`, `engines.toml` and `--set`; it
//! includes that of [`Policy`](tabia_book::policy::Policy). Names are matched without
//! regard to case.
//!
//! # Presets
//!
//! The order in which options are set does not matter: GUIs send all options, sorted or
//! not, whether the user has changed a value or not. So each option has a default that
//! was announced to the GUI, and perhaps a value that the user has chosen:
//!
//! * A value other than the announced one is chosen.
//! * The announced value is chosen only if another one was chosen before, which it
//!   replaces. Otherwise the GUI has only sent all options.
//!
//! The chosen value is in force; without one, the value of the preset; else the announced
//! one. If not all values of a preset are in force, its name is `Custom`.
//!
//! ```
//! use tabia_choice::settings::{OptionId, Settings};
//!
//! let mut settings = Settings::default();
//! settings.choose(OptionId::Preset, "Optimize")?;
//! settings.choose(OptionId::Depth, "12")?;
//! for id in OptionId::ALL {
//!     println!("{}: {}", id.spec().name, settings.options().get(*id));
//! }
//! // A wrong value is refused with the right ones.
//! let error = settings.choose(OptionId::Variety, "200").unwrap_err();
//! assert!(error.to_string().contains("0 to 100"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod delay;
mod files;
mod names;
pub mod paths;
mod table;

use tabia_book::policy::{Exit, Rules};
use tabia_book::words;

pub use delay::Delay;
pub use files::{
    BESIDE, BookFiles, CONFIGURED, EvaluationFile, NONE, OptionalPath, Paths, STARTER,
};
pub use names::{ENGINE_PREFIX, nearest};
use table::{EXIT_ABOVE, EXIT_BELOW};
pub use table::{OptionId, Options, Scope, Setting, Spec, ValueError};

words! {
    /// The value of `Book Preset`: several options at once.
    pub enum Preset {
        /// None.
        Custom = "Custom",
        /// Well-tested moves with the best scores.
        Optimize = "Optimize",
        /// The default values.
        Normal = "Normal",
        /// Any move of the book.
        Handicap = "Handicap",
    }
}

words! {
    /// The value of `Book Info`: what is printed with a book move. Polyglot 2.0.4 shows each
    /// `info string` in XBoard as a line of thinking with the score 0.00; `None` prevents it.
    pub enum Info {
        /// The move alone.
        None = "none",
        /// One line about the moves of the book.
        Brief = "brief",
        /// That, and a line with a score.
        Full = "full",
    }
}

words! {
    /// The value of `Book Cover`.
    pub enum Cover {
        /// Moves are drawn.
        Off = "off",
        /// Each line of the book is played once before one is repeated.
        Lines = "lines",
    }
}

impl Options {
    /// The values in force where these are announced and some options are chosen; of two
    /// values of an option the last one counts. The [module](self) describes the rule.
    #[must_use]
    pub fn with(&self, chosen: &[Setting]) -> Options {
        let mut options = self.clone();
        for setting in chosen {
            options.set(setting.clone());
        }
        let mut holds = true;
        for setting in Setting::of_preset(options.preset) {
            match chosen.iter().rfind(|chosen| chosen.id() == setting.id()) {
                Some(chosen) => holds &= *chosen == setting,
                None => options.set(setting),
            }
        }
        if !holds {
            options.preset = Preset::Custom;
        }
        options
    }

    /// Everything that controls the choice of moves in a game.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let (below, above) = (self.exit_below, self.exit_above);
        Rules::default()
            .policy(self.policy)
            .depth(self.depth)
            .line_plies(2 * self.leave_early)
            .avoid_repetition(self.avoid_repetition)
            .exit(Exit {
                below: (below > EXIT_BELOW).then_some(below),
                above: (above < EXIT_ABOVE).then_some(above),
            })
    }

    /// The preset and its values, for users: `Optimize: variety 15, ...`; `None` if all
    /// are defaults. With `Custom`, only the values that differ from the defaults.
    #[must_use]
    pub fn in_force(&self) -> Option<String> {
        let usual = Options::default();
        let values: Vec<String> = OptionId::of_presets()
            .into_iter()
            .filter(|id| self.preset != Preset::Custom || self.get(*id) != usual.get(*id))
            .map(|id| {
                let name = id.spec().name.trim_start_matches("Book ");
                format!("{} {}", name.to_lowercase(), self.get(id))
            })
            .collect();
        (!values.is_empty()).then(|| format!("{}: {}", self.preset, values.join(", ")))
    }
}

/// The options as a GUI or a user sets them: see the [module](self).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The values in force.
    options: Options,
    /// The defaults announced to the GUI.
    announced: Options,
    /// The values chosen by the user, one for an option.
    chosen: Vec<Setting>,
}

/// These values as announced defaults.
impl From<Options> for Settings {
    fn from(options: Options) -> Settings {
        Settings {
            announced: options.clone(),
            options,
            chosen: Vec::new(),
        }
    }
}

impl Settings {
    /// The values in force.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Sets an option from text as a GUI does; returns true if the values in force
    /// change. The [module](self) describes when a value counts as chosen.
    ///
    /// # Errors
    ///
    /// The value is invalid; nothing has changed then.
    pub fn set(&mut self, id: OptionId, text: &str) -> Result<bool, ValueError> {
        let setting = Setting::read(id, text)?;
        let is_chosen = self.chosen.iter().any(|chosen| chosen.id() == id);
        Ok((is_chosen || setting != self.announced.get(id)) && self.choose_value(setting))
    }

    /// Sets an option from a file or the command line: the value counts as chosen, even
    /// if it equals the default.
    ///
    /// # Errors
    ///
    /// The value is invalid; nothing has changed then.
    pub fn choose(&mut self, id: OptionId, text: &str) -> Result<(), ValueError> {
        let setting = Setting::read(id, text)?;
        self.choose_value(setting);
        Ok(())
    }

    /// A copy with the same values as defaults: for a GUI to which they will be
    /// announced, and for an engine with additional options.
    #[must_use]
    pub fn announced(&self) -> Settings {
        Settings::from(self.options.clone())
    }

    /// Chooses a value; true if a value in force changes.
    fn choose_value(&mut self, setting: Setting) -> bool {
        self.chosen.retain(|chosen| chosen.id() != setting.id());
        self.chosen.push(setting);
        let options = self.announced.with(&self.chosen);
        let changed = options != self.options;
        self.options = options;
        changed
    }
}

#[cfg(test)]
mod tests;
