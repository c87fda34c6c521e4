//! The adapter's own options: names, ranges, values.
//!
//! One table serves the UCI handshake, `setoption`, `engines.toml` and
//! `--set`. Names are matched without regard to case.

use std::fmt::Write as _;

use crate::policy::Policy;

/// An option of the adapter.
#[allow(missing_docs)] // The table below documents each by its help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionId {
    OwnBook,
    File,
    WhiteFile,
    BlackFile,
    Depth,
    Preset,
    Variety,
    MinimumGames,
    MinimumScore,
    MinimumShare,
    Tournament,
    Annotations,
    LearnInfluence,
    Learn,
    Transpositions,
    AvoidRepetition,
    LeaveEarly,
    MissLimit,
    Ponder,
    ThinkAhead,
    InAnalysis,
    Info,
    Seed,
    Restart,
    StandIn,
}

/// Type, default and range of an option, as in UCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Check(bool),
    /// A whole number: default, least, greatest.
    Spin(u32, u32, u32),
    /// One of a few words: index of the default, the words.
    Combo(usize, &'static [&'static str]),
    /// Any text.
    Text(&'static str),
}

/// The declaration of an option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Which one.
    pub id: OptionId,
    /// The name in UCI.
    pub name: &'static str,
    /// Type, default and range.
    pub kind: Kind,
    /// What it does, for people.
    pub help: &'static str,
}

/// The values of `Book Preset`.
pub const PRESETS: &[&str] = &["Custom", "Optimize", "Normal", "Handicap"];
/// The values of `Book Info`.
pub const INFO: &[&str] = &["none", "brief", "full"];

/// Stands for the book that comes with the program.
pub const STARTER: &str = "<starter>";
/// Stands for no book at all.
pub const NONE: &str = "<empty>";
/// Stands for the `[[books]]` of engines.toml.
pub const CONFIGURED: &str = "<configured>";

const fn spec(id: OptionId, name: &'static str, kind: Kind, help: &'static str) -> Spec {
    Spec {
        id,
        name,
        kind,
        help,
    }
}

/// All options, in the order in which they are declared.
pub const SPECS: [Spec; 25] = {
    use Kind::{Check, Combo, Spin, Text};
    use OptionId as Id;
    [
        spec(
            Id::OwnBook,
            "OwnBook",
            Check(true),
            "the book answers at all",
        ),
        spec(
            Id::File,
            "Book File",
            Text(STARTER),
            "path of a book; several separated by ';' are asked in that order",
        ),
        spec(
            Id::WhiteFile,
            "Book White File",
            Text(""),
            "a book for White alone, asked before Book File",
        ),
        spec(
            Id::BlackFile,
            "Book Black File",
            Text(""),
            "a book for Black alone, asked before Book File",
        ),
        spec(
            Id::Depth,
            "Book Depth",
            Spin(1000, 0, 1000),
            "last full move that the book may answer",
        ),
        spec(
            Id::Preset,
            "Book Preset",
            Combo(0, PRESETS),
            "sets variety, learn influence, marks and minimums at once",
        ),
        spec(
            Id::Variety,
            "Book Variety",
            Spin(50, 0, 100),
            "0 the heaviest move, 50 by weight, 100 every move alike",
        ),
        spec(
            Id::MinimumGames,
            "Book Minimum Games",
            Spin(1, 0, 1_000_000),
            "games that the position after the move must have",
        ),
        spec(
            Id::MinimumScore,
            "Book Minimum Score",
            Spin(0, 0, 100),
            "per cent that the move must have scored",
        ),
        spec(
            Id::MinimumShare,
            "Book Minimum Share",
            Spin(5, 0, 1000),
            "per mille of the position's weight below which a move is dropped",
        ),
        spec(
            Id::Tournament,
            "Book Tournament",
            Check(true),
            "red moves never, and where there are green ones only those",
        ),
        spec(
            Id::Annotations,
            "Book Annotations",
            Check(true),
            "?, ?? and ?! only when nothing else is left; !, !! weigh more",
        ),
        spec(
            Id::LearnInfluence,
            "Book Learn Influence",
            Spin(50, 0, 100),
            "how far the learn values bend the weights",
        ),
        spec(
            Id::Learn,
            "Book Learn",
            Check(false),
            "notes played games beside the book and learns from them",
        ),
        spec(
            Id::Transpositions,
            "Book Transpositions",
            Check(true),
            "moves into the book that nobody stored count too",
        ),
        spec(
            Id::AvoidRepetition,
            "Book Avoid Repetition",
            Check(true),
            "no book move into a position of this game",
        ),
        spec(
            Id::LeaveEarly,
            "Book Leave Early",
            Spin(0, 0, 20),
            "full moves before the end of a line at which the book falls silent",
        ),
        spec(
            Id::MissLimit,
            "Book Miss Limit",
            Spin(0, 0, 100),
            "misses in a game after which the book stays shut; 0 never",
        ),
        spec(
            Id::Ponder,
            "Book Ponder",
            Check(true),
            "names the book's best reply as the move to ponder on",
        ),
        spec(
            Id::ThinkAhead,
            "Book Think Ahead",
            Check(false),
            "the engine searches while a book move is held in go ponder",
        ),
        spec(
            Id::InAnalysis,
            "Book In Analysis",
            Check(false),
            "shows the book's moves in analysis; the engine always answers",
        ),
        spec(
            Id::Info,
            "Book Info",
            Combo(2, INFO),
            "what is printed with a book move",
        ),
        spec(
            Id::Seed,
            "Book Seed",
            Spin(0, 0, 2_147_483_647),
            "other than 0: the same positions give the same moves",
        ),
        spec(
            Id::Restart,
            "Engine Restart",
            Check(true),
            "an engine that dies is started again and its search repeated",
        ),
        spec(
            Id::StandIn,
            "Engine Stand-in",
            Check(false),
            "the built-in engine plays on where no restart helps",
        ),
    ]
};

impl OptionId {
    /// The declaration.
    #[must_use]
    pub fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }

    /// The option of this UCI name, case aside.
    #[must_use]
    pub fn by_name(name: &str) -> Option<OptionId> {
        SPECS
            .iter()
            .find(|spec| spec.name.eq_ignore_ascii_case(name))
            .map(|spec| spec.id)
    }

    /// The option that somebody meant who wrote a name like one of ours, but
    /// not one: blanks left out, underscores, a slip of the finger.
    #[must_use]
    pub fn like(name: &str) -> Option<OptionId> {
        let plain = |name: &str| -> String {
            name.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        let name = plain(name);
        SPECS
            .iter()
            .map(|spec| {
                (
                    strsim::damerau_levenshtein(&name, &plain(spec.name)),
                    spec.id,
                )
            })
            .min_by_key(|(distance, _)| *distance)
            .filter(|(distance, _)| *distance <= 2 && name.len() > 5)
            .map(|(_, id)| id)
    }

    /// The option of this key in a `[book]` table of engines.toml: the name
    /// in lower case with `_` for blanks, with or without "book" before it.
    #[must_use]
    pub fn by_key(key: &str) -> Option<OptionId> {
        let key = key.to_ascii_lowercase().replace(['_', '-'], " ");
        SPECS
            .iter()
            .find(|spec| {
                let name = spec.name.to_ascii_lowercase().replace('-', " ");
                name == key || name.strip_prefix("book ") == Some(&key) || {
                    spec.id == OptionId::OwnBook && key == "own book"
                }
            })
            .map(|spec| spec.id)
    }

    /// The key in a `[book]` table: see [`OptionId::by_key`].
    #[must_use]
    pub fn key(self) -> String {
        let name = match self {
            OptionId::OwnBook => "own_book".to_owned(),
            _ => self
                .spec()
                .name
                .to_ascii_lowercase()
                .replace([' ', '-'], "_"),
        };
        name.strip_prefix("book_")
            .map_or(name.clone(), str::to_owned)
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of a check.
    Check(bool),
    /// Of a spin.
    Spin(u32),
    /// Of a combo: the index of the word.
    Combo(usize),
    /// Of a text; empty for `<empty>`.
    Text(String),
}

/// A value that an option does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} takes {expected}, not \"{given}\"")]
pub struct ValueError {
    name: &'static str,
    expected: String,
    given: String,
}

/// The values of all options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    values: Vec<Value>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            values: SPECS.iter().map(|spec| spec.kind.default_value()).collect(),
        }
    }
}

impl Kind {
    fn default_value(self) -> Value {
        match self {
            Kind::Check(on) => Value::Check(on),
            Kind::Spin(number, _, _) => Value::Spin(number),
            Kind::Combo(index, _) => Value::Combo(index),
            Kind::Text(text) => Value::Text(text.to_owned()),
        }
    }

    /// Reads a value; the error says what would do.
    fn read(self, text: &str) -> Result<Value, String> {
        let word = text.trim();
        match self {
            Kind::Check(_) => match word.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(Value::Check(true)),
                "false" | "0" | "no" | "off" => Ok(Value::Check(false)),
                _ => Err("true or false".to_owned()),
            },
            Kind::Spin(_, least, greatest) => word
                .parse()
                .ok()
                .filter(|number| (least..=greatest).contains(number))
                .map(Value::Spin)
                .ok_or_else(|| format!("a whole number from {least} to {greatest}")),
            Kind::Combo(_, words) => words
                .iter()
                .position(|known| known.eq_ignore_ascii_case(word))
                .map(Value::Combo)
                .ok_or_else(|| format!("one of {}", words.join(", "))),
            Kind::Text(_) => Ok(Value::Text(match word {
                NONE => String::new(),
                _ => unquoted(text).to_owned(),
            })),
        }
    }
}

/// Takes off one pair of quotes around the whole: some users quote paths.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

impl Settings {
    /// Whether a check is on; false for other kinds.
    #[must_use]
    pub fn check(&self, id: OptionId) -> bool {
        matches!(self.values[id as usize], Value::Check(true))
    }

    /// The number of a spin or the index of a combo; 0 for other kinds.
    #[must_use]
    pub fn number(&self, id: OptionId) -> u32 {
        match self.values[id as usize] {
            Value::Spin(number) => number,
            Value::Combo(index) => u32::try_from(index).unwrap_or(0),
            _ => 0,
        }
    }

    /// The text of a text option, the word of a combo; empty for other
    /// kinds.
    #[must_use]
    pub fn text(&self, id: OptionId) -> &str {
        match (&self.values[id as usize], id.spec().kind) {
            (Value::Text(text), _) => text,
            (Value::Combo(index), Kind::Combo(_, words)) => words.get(*index).unwrap_or(&""),
            _ => "",
        }
    }

    /// Sets an option from its text; true when that changed its value.
    ///
    /// A preset sets the options it stands for; changing one of these makes
    /// the preset `Custom`.
    ///
    /// # Errors
    ///
    /// The option does not take this value; nothing has changed then.
    pub fn set(&mut self, id: OptionId, text: &str) -> Result<bool, ValueError> {
        let spec = id.spec();
        let value = spec.kind.read(text).map_err(|expected| ValueError {
            name: spec.name,
            expected,
            given: text.trim().chars().take(80).collect(),
        })?;
        let changed = self.values[id as usize] != value;
        self.values[id as usize] = value;
        if id == OptionId::Preset {
            self.apply_preset();
        } else if changed && preset_values("Normal").any(|(member, _)| member == id) {
            self.values[OptionId::Preset as usize] = Value::Combo(0);
        }
        Ok(changed)
    }

    fn apply_preset(&mut self) {
        let preset = self.text(OptionId::Preset).to_owned();
        for (id, value) in preset_values(&preset) {
            self.values[id as usize] = match id.spec().kind {
                Kind::Check(_) => Value::Check(value != 0),
                _ => Value::Spin(value),
            };
        }
    }

    /// The part that decides between moves.
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
        }
    }

    /// The value as it is written in UCI and for people.
    #[must_use]
    pub fn display(&self, id: OptionId) -> String {
        match &self.values[id as usize] {
            Value::Check(on) => on.to_string(),
            Value::Spin(number) => number.to_string(),
            Value::Combo(_) => self.text(id).to_owned(),
            Value::Text(text) if text.is_empty() => NONE.to_owned(),
            Value::Text(text) => text.clone(),
        }
    }

    /// The `option` lines of UCI. The defaults announced are the values in
    /// force, so that a GUI which sends every default back changes nothing.
    #[must_use]
    pub fn declarations(&self) -> String {
        let mut lines = String::new();
        for spec in &SPECS {
            let default = self.display(spec.id);
            let (kind, details) = match spec.kind {
                Kind::Check(_) => ("check", String::new()),
                Kind::Spin(_, least, greatest) => ("spin", format!(" min {least} max {greatest}")),
                Kind::Combo(_, words) => ("combo", format!(" var {}", words.join(" var "))),
                Kind::Text(_) => ("string", String::new()),
            };
            let _ = writeln!(
                lines,
                "option name {} type {kind} default {default}{details}",
                spec.name
            );
        }
        lines
    }
}

/// What a preset stands for. `Normal` is the defaults; `Optimize` plays what
/// has scored best and is well tried; `Handicap` plays whatever the book has.
fn preset_values(preset: &str) -> impl Iterator<Item = (OptionId, u32)> {
    use OptionId as Id;
    let column = match preset {
        "Optimize" => Some(0),
        "Normal" => Some(1),
        "Handicap" => Some(2),
        _ => None,
    };
    const TABLE: [(OptionId, [u32; 3]); 7] = [
        (Id::Variety, [15, 50, 100]),
        (Id::LearnInfluence, [100, 50, 0]),
        (Id::Tournament, [1, 1, 0]),
        (Id::Annotations, [1, 1, 0]),
        (Id::MinimumGames, [5, 1, 0]),
        (Id::MinimumScore, [40, 0, 0]),
        (Id::MinimumShare, [50, 5, 0]),
    ];
    TABLE
        .into_iter()
        .filter_map(move |(id, values)| column.map(|column: usize| (id, values[column])))
}

#[cfg(test)]
mod tests;
