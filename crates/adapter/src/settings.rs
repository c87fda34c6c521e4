//! The adapter's own options: names, ranges, values.
//!
//! One table is used for the UCI handshake, `setoption`, `engines.toml` and `--set`.
//! Names are matched without regard to case.
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

mod delay;
pub mod paths;
mod preset;
mod table;

use tabia_book::policy::{Exit, Judgement, Policy, Rules};
use tabia_uci::message::UciOptionConfig;

pub use delay::Delay;
pub use table::{
    BESIDE, CONFIGURED, INFO, JUDGEMENTS, NONE, OptionId, OptionKind, PRESETS, SPECS, STARTER,
    Scope, Spec,
};
use table::{EXIT_ABOVE, EXIT_BELOW};

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Of a check option.
    Check(bool),
    /// Of a spin option.
    Spin(i32),
    /// Of a combo option: the index of the word.
    Combo(usize),
    /// Of a text option; empty for `<empty>`.
    Text(String),
    /// Of a delay option.
    Delay(Delay),
}

/// A value that an option does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} takes {expected}, not \"{given}\"")]
pub struct ValueError {
    name: &'static str,
    expected: String,
    given: String,
}

/// The values of all options: see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The values in force.
    values: Vec<OptionValue>,
    /// The defaults announced to the GUI.
    announced: Vec<OptionValue>,
    /// The values chosen by the user.
    chosen: Vec<Option<OptionValue>>,
}

impl Default for Settings {
    fn default() -> Settings {
        let values: Vec<OptionValue> = SPECS.iter().map(|spec| spec.kind.default_value()).collect();
        Settings {
            announced: values.clone(),
            chosen: vec![None; values.len()],
            values,
        }
    }
}

impl OptionKind {
    fn default_value(self) -> OptionValue {
        match self {
            OptionKind::Check(on) => OptionValue::Check(on),
            OptionKind::Spin(number, _, _) => OptionValue::Spin(number),
            OptionKind::Combo(index, _) => OptionValue::Combo(index),
            OptionKind::Text(text) | OptionKind::Paths(text) => OptionValue::Text(text.to_owned()),
            OptionKind::Delay => OptionValue::Delay(Delay::default()),
        }
    }

    /// Reads a value; the error lists the valid values.
    fn read(self, text: &str) -> Result<OptionValue, String> {
        let word = text.trim();
        match self {
            OptionKind::Check(_) => match word.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(OptionValue::Check(true)),
                "false" | "0" | "no" | "off" => Ok(OptionValue::Check(false)),
                _ => Err("true or false".to_owned()),
            },
            OptionKind::Spin(_, least, greatest) => word
                .parse()
                .ok()
                .filter(|number| (least..=greatest).contains(number))
                .map(OptionValue::Spin)
                .ok_or_else(|| format!("a whole number from {least} to {greatest}")),
            OptionKind::Combo(_, words) => words
                .iter()
                .position(|known| known.eq_ignore_ascii_case(word))
                .map(OptionValue::Combo)
                .ok_or_else(|| format!("one of {}", words.join(", "))),
            OptionKind::Text(_) => Ok(OptionValue::Text(match word {
                NONE => String::new(),
                _ => unquoted(text).to_owned(),
            })),
            OptionKind::Paths(_) => Ok(OptionValue::Text(match word {
                NONE => String::new(),
                _ => paths::join(&paths::split(text)),
            })),
            OptionKind::Delay => Delay::read(word)
                .map(OptionValue::Delay)
                .ok_or_else(|| format!("milliseconds up to {}, 800 or 800+400", Delay::MOST)),
        }
    }
}

/// Removes one pair of quotes around the text: some users quote paths.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

impl OptionId {
    fn read(self, text: &str) -> Result<OptionValue, ValueError> {
        let spec = self.spec();
        spec.kind.read(text).map_err(|expected| ValueError {
            name: spec.name,
            expected,
            given: text.trim().chars().take(80).collect(),
        })
    }
}

impl Settings {
    /// Whether a check option is on; false for other types.
    #[must_use]
    pub fn check(&self, id: OptionId) -> bool {
        matches!(self.values[id as usize], OptionValue::Check(true))
    }

    /// The number of a spin option, if it is not negative, or the index of a combo; 0 for
    /// other types.
    #[must_use]
    pub fn number(&self, id: OptionId) -> u32 {
        match self.values[id as usize] {
            OptionValue::Combo(index) => u32::try_from(index).unwrap_or(0),
            _ => u32::try_from(self.signed(id)).unwrap_or(0),
        }
    }

    /// The number of a spin option; 0 for other types.
    #[must_use]
    pub fn signed(&self, id: OptionId) -> i32 {
        match self.values[id as usize] {
            OptionValue::Spin(number) => number,
            _ => 0,
        }
    }

    /// How long a book move waits: `Book Delay`.
    #[must_use]
    pub fn delay(&self) -> Delay {
        match self.values[OptionId::Delay as usize] {
            OptionValue::Delay(delay) => delay,
            _ => Delay::default(),
        }
    }

    /// The text of a text option, the word of a combo; empty for other types.
    #[must_use]
    pub fn text(&self, id: OptionId) -> &str {
        match (&self.values[id as usize], id.spec().kind) {
            (OptionValue::Text(text), _) => text,
            (OptionValue::Combo(index), OptionKind::Combo(_, words)) => {
                words.get(*index).unwrap_or(&"")
            }
            _ => "",
        }
    }

    /// Sets an option from text as a GUI does; returns true if the values in force
    /// change. The [module](self) describes when a value counts as chosen.
    ///
    /// # Errors
    ///
    /// The value is invalid; nothing has changed then.
    pub fn set(&mut self, id: OptionId, text: &str) -> Result<bool, ValueError> {
        let value = id.read(text)?;
        let index = id as usize;
        if value != self.announced[index] || self.chosen[index].is_some() {
            self.chosen[index] = Some(value);
        }
        Ok(self.update())
    }

    /// Sets an option from a file or the command line: the value counts as chosen, even
    /// if it equals the default.
    ///
    /// # Errors
    ///
    /// The value is invalid; nothing has changed then.
    pub fn choose(&mut self, id: OptionId, text: &str) -> Result<(), ValueError> {
        self.chosen[id as usize] = Some(id.read(text)?);
        self.update();
        Ok(())
    }

    /// A copy with the same values as defaults: for a GUI to which they will be
    /// announced, and for a book or an engine with additional options.
    #[must_use]
    pub fn announced(&self) -> Settings {
        Settings {
            values: self.values.clone(),
            announced: self.values.clone(),
            chosen: vec![None; self.values.len()],
        }
    }

    /// Computes the values in force; true if any of them changes.
    fn update(&mut self) -> bool {
        let chosen = self.chosen.iter().zip(&self.announced);
        let mut values: Vec<OptionValue> = chosen
            .map(|(chosen, announced)| chosen.as_ref().unwrap_or(announced).clone())
            .collect();
        let mut holds = true;
        for (id, value) in preset::values(&values[OptionId::Preset as usize]) {
            let index = id as usize;
            holds &= self.chosen[index]
                .as_ref()
                .is_none_or(|chosen| *chosen == value);
            if self.chosen[index].is_none() {
                values[index] = value;
            }
        }
        if !holds {
            values[OptionId::Preset as usize] = preset::CUSTOM;
        }
        let changed = self.values != values;
        self.values = values;
        changed
    }

    /// The options that control the choice of a move.
    #[must_use]
    pub fn policy(&self) -> Policy {
        use OptionId as Id;
        Policy {
            variety: self.number(Id::Variety),
            minimum_games: self.number(Id::MinimumGames),
            minimum_score: self.number(Id::MinimumScore),
            minimum_share: self.number(Id::MinimumShare),
            tournament: self.check(Id::Tournament),
            annotations: self.check(Id::Annotations),
            learn_influence: self.number(Id::LearnInfluence),
            transpositions: self.check(Id::Transpositions),
            maximum_loss: self.number(Id::MaximumLoss),
            judgement: match self.text(Id::Judgement) {
                "evaluations" => Judgement::Evaluations,
                "both" => Judgement::Both,
                _ => Judgement::Results,
            },
        }
    }

    /// Everything that controls the choice of moves in a game.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let (below, above) = (
            self.signed(OptionId::ExitBelow),
            self.signed(OptionId::ExitAbove),
        );
        Rules {
            policy: self.policy(),
            depth: self.number(OptionId::Depth),
            line_plies: 2 * self.number(OptionId::LeaveEarly),
            avoid_repetition: self.check(OptionId::AvoidRepetition),
            exit: Exit {
                below: (below > EXIT_BELOW).then_some(below),
                above: (above < EXIT_ABOVE).then_some(above),
            },
            value: None,
        }
    }

    /// The value as text, for UCI and for users.
    #[must_use]
    pub fn display(&self, id: OptionId) -> String {
        match &self.values[id as usize] {
            OptionValue::Check(on) => on.to_string(),
            OptionValue::Spin(number) => number.to_string(),
            OptionValue::Combo(_) => self.text(id).to_owned(),
            OptionValue::Text(text) if text.is_empty() => NONE.to_owned(),
            OptionValue::Text(text) => text.clone(),
            OptionValue::Delay(delay) => delay.to_string(),
        }
    }

    /// The preset and its values, for users: `Optimize: variety 15, ...`; `None` if all
    /// are defaults. With `Custom`, only the values that differ from the defaults.
    #[must_use]
    pub fn in_force(&self) -> Option<String> {
        let preset = self.text(OptionId::Preset);
        let values: Vec<String> = preset::options()
            .filter(|id| {
                let usual = id.spec().kind.default_value();
                self.values[OptionId::Preset as usize] != preset::CUSTOM
                    || self.values[*id as usize] != usual
            })
            .map(|id| {
                let name = id.spec().name.trim_start_matches("Book ");
                format!("{} {}", name.to_lowercase(), self.display(id))
            })
            .collect();
        (!values.is_empty()).then(|| format!("{preset}: {}", values.join(", ")))
    }

    /// The UCI declarations of the options. The announced defaults are the values in
    /// force, so that a GUI which sends all defaults back changes nothing.
    pub fn declarations(&self) -> impl Iterator<Item = UciOptionConfig> {
        SPECS.iter().map(|spec| {
            let (name, default) = (spec.name.to_owned(), self.display(spec.id));
            match spec.kind {
                OptionKind::Check(_) => UciOptionConfig::Check {
                    name,
                    default: Some(self.check(spec.id)),
                },
                OptionKind::Spin(_, least, greatest) => UciOptionConfig::Spin {
                    name,
                    default: Some(self.signed(spec.id).into()),
                    min: Some(least.into()),
                    max: Some(greatest.into()),
                },
                OptionKind::Combo(_, words) => UciOptionConfig::Combo {
                    name,
                    default: Some(default),
                    var: words.iter().map(ToString::to_string).collect(),
                },
                OptionKind::Text(_) | OptionKind::Paths(_) | OptionKind::Delay => {
                    UciOptionConfig::String {
                        name,
                        default: Some(default),
                    }
                }
            }
        })
    }
}

/// The options that control the choice of moves, in the order in which users see them.
pub const DECIDING: [OptionId; 16] = [
    OptionId::Preset,
    OptionId::Variety,
    OptionId::MinimumGames,
    OptionId::MinimumScore,
    OptionId::MinimumShare,
    OptionId::LearnInfluence,
    OptionId::Depth,
    OptionId::LeaveEarly,
    OptionId::Tournament,
    OptionId::Annotations,
    OptionId::Judgement,
    OptionId::MaximumLoss,
    OptionId::Transpositions,
    OptionId::AvoidRepetition,
    OptionId::ExitBelow,
    OptionId::ExitAbove,
];

#[cfg(test)]
mod tests;
