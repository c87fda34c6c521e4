//! How the options are made that set a [`GameFilter`](super::GameFilter): a row of its table
//! makes the field, the condition, and what the command line and Python offer.

use shakmaty::Color;

use super::{Band, EcoRange, GameCondition, group_of, words};
use crate::{GameResult, Month, ParseError, Speed, Title};

/// An option that sets a condition of a [`GameFilter`](super::GameFilter).
#[derive(Clone, Copy, Debug)]
pub struct FilterOption {
    /// The condition. Its name is that of the option on the command line.
    pub condition: GameCondition,
    /// The name as an argument of a function.
    pub key: &'static str,
    /// How many values it takes.
    pub takes: Takes,
    /// What a value is.
    pub value: ValueKind,
    /// What stands for a value in help texts.
    pub value_name: &'static str,
    /// The help text.
    pub help: &'static str,
}

impl FilterOption {
    /// The name on the command line, without hyphens before it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.condition.as_str().trim_start_matches('-')
    }
}

/// How many values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None: it is given or not.
    Nothing,
    /// One.
    One,
    /// Several, with commas between them.
    List,
    /// One, and it may be given several times.
    Each,
}

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number from 0 to 65535.
    Number,
    /// A year, or a month as `2025-01`.
    Month,
    /// One of these words, or its first letter.
    Words(&'static [&'static str]),
    /// A name, which may have blanks and commas.
    Name,
    /// Text of a form of its own.
    Text,
}

/// A value as it is typed.
pub(super) trait Typed {
    const KIND: ValueKind;

    fn typed(&self) -> String;
}

/// Implements [`Typed`] for types that print as they are typed.
macro_rules! typed {
    ($($value:ty: $kind:expr, $self:ident => $typed:expr;)*) => {
        $(impl Typed for $value {
            const KIND: ValueKind = $kind;

            fn typed(&self) -> String {
                let $self = self;
                $typed
            }
        })*
    };
}

typed! {
    u16: ValueKind::Number, number => number.to_string();
    Month: ValueKind::Month, month => month.to_string();
    String: ValueKind::Name, name => name.clone();
    Color: ValueKind::Words(&["white", "black"]), colour => colour.to_string();
    GameResult: ValueKind::Text, result => result.to_pgn().to_owned();
    EcoRange: ValueKind::Text, range => range.to_string();
    Band: ValueKind::Text, band => band.to_string();
    Speed: ValueKind::Text, speed => speed.as_str().to_owned();
    Title: ValueKind::Text, title => String::from_utf8_lossy(title).trim_end_matches('\0').to_owned();
    // Of a flag: it takes no value.
    bool: ValueKind::Text, _is_set => String::new();
}

/// The type of a field.
macro_rules! field {
    (Nothing $value:ty) => { bool };
    (One $value:ty) => { Option<$value> };
    ($several:ident $value:ty) => { Vec<$value> };
}

/// Adds a value to a field.
macro_rules! add {
    (Nothing $field:expr, $value:expr) => {
        $field = $value
    };
    (One $field:expr, $value:expr) => {
        $field = Some($value)
    };
    ($several:ident $field:expr, $value:expr) => {
        $field.push($value)
    };
}

/// The values in a field.
macro_rules! values {
    (Nothing $field:expr) => {
        Some(&$field).filter(|is_set| **is_set).into_iter()
    };
    ($some:ident $field:expr) => {
        $field.iter()
    };
}

/// Makes [`GameFilter`](super::GameFilter), [`GameCondition`] and the options from a table.
///
/// A row of an option is
///
/// ```text
/// /// Documentation of the field.
/// Takes Condition field: type of a value = reader,
///     "key", "--name", "VALUE", "help";
/// ```
macro_rules! game_filter {
    (
        options { $(
            $(#[$doc:meta])*
            $takes:ident $condition:ident $field:ident: $value:ty = $read:expr,
                $key:literal, $name:literal, $value_name:literal, $help:literal;
        )* }
        others { $(
            $(#[$other_doc:meta])*
            $other:ident $other_field:ident: $other_type:ty, $by:literal;
        )* }
    ) => {
        /// Conditions on a game; it must meet all that are set, and by default none is.
        ///
        /// # Examples
        ///
        /// The games that a player has won with White; of others no moves are read:
        ///
        /// ```
        /// use tabia_games::shakmaty::Color;
        /// use tabia_games::{Error, Game, GameFilter, GameReader, GameResult, Sources, Watch};
        ///
        /// # let path = "../../tests/data/chessbase/Capa.cbh".into();
        /// let mut filter = GameFilter::default();
        /// filter.player = Some("capablanca".to_owned());
        /// filter.colour = Some(Color::White);
        /// filter.result = Some(GameResult::Won(Color::White));
        /// let add = |games: &mut u64, _: &Game| {
        ///     *games += 1;
        ///     Ok::<(), Error>(())
        /// };
        /// let (sources, reader) = (Sources::list([&path])?, GameReader::new(&filter));
        /// let (tally, sums) = reader.add_up(&sources, add, &mut Watch::default())?;
        /// assert_eq!((sums.iter().sum::<u64>(), tally.read), (67, 113));
        /// assert_eq!(tally.rejected.to_string(), "44 by --player, 2 by --result");
        /// # Ok::<(), Error>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct GameFilter {
            $($(#[$doc])* pub $field: $crate::filter::options::field!($takes $value),)*
            $($(#[$other_doc])* pub $other_field: $other_type,)*
        }

        tabia_notation::named! {
            /// A condition of a [`GameFilter`], by the option that sets it.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum GameCondition {
                $(#[doc = concat!("[`GameFilter::", stringify!($field), "`].")] $condition = $name,)*
                $(#[doc = concat!("[`GameFilter::", stringify!($other_field), "`].")] $other = $by,)*
            }
        }

        impl GameFilter {
            /// The options that set conditions.
            pub const OPTIONS: &[FilterOption] = &[$(FilterOption {
                condition: GameCondition::$condition,
                key: $key,
                takes: Takes::$takes,
                value: <$value as $crate::filter::options::Typed>::KIND,
                value_name: $value_name,
                help: $help,
            },)*];

            /// Sets a condition as its option does, or adds a value to it.
            ///
            /// # Errors
            ///
            /// The text is not such a value, or no option sets the condition.
            pub fn set(&mut self, condition: GameCondition, text: &str) -> Result<(), ParseError> {
                match condition {
                    $(GameCondition::$condition => {
                        $crate::filter::options::add!($takes self.$field, $read(text)?);
                    })*
                    $(GameCondition::$other => return Err(ParseError("no option sets this")),)*
                }
                Ok(())
            }

            /// The values of a condition, each as it is typed; of one that takes none, an
            /// empty text if it is set. None if no option sets the condition.
            #[must_use]
            pub fn typed(&self, condition: GameCondition) -> Vec<String> {
                use $crate::filter::options::Typed as _;
                match condition {
                    $(GameCondition::$condition => {
                        let values = $crate::filter::options::values!($takes self.$field);
                        values.map(|value| value.typed()).collect()
                    })*
                    $(GameCondition::$other => Vec::new(),)*
                }
            }
        }
    };
}

pub(super) use {add, field, game_filter, values};

/// Of what takes no value.
#[allow(clippy::unnecessary_wraps)] // As the other readers.
pub(super) fn flag(_: &str) -> Result<bool, ParseError> {
    Ok(true)
}

pub(super) fn number(text: &str) -> Result<u16, ParseError> {
    text.trim()
        .parse()
        .map_err(|_| ParseError("expected a whole number from 0 to 65535"))
}

pub(super) fn first_month(text: &str) -> Result<Month, ParseError> {
    Month::range(text).map(|(first, _)| first)
}

pub(super) fn last_month(text: &str) -> Result<Month, ParseError> {
    Month::range(text).map(|(_, last)| last)
}

/// A name without a word would be that of every player.
pub(super) fn name(text: &str) -> Result<String, ParseError> {
    match words(text).next() {
        Some(_) => Ok(text.to_owned()),
        None => Err(ParseError("expected a name")),
    }
}

pub(super) fn colour(text: &str) -> Result<Color, ParseError> {
    match text.to_ascii_lowercase().as_str() {
        "white" | "w" => Ok(Color::White),
        "black" | "b" => Ok(Color::Black),
        _ => Err(ParseError("expected white or black")),
    }
}

pub(super) fn result(text: &str) -> Result<GameResult, ParseError> {
    match GameResult::from_pgn(text.as_bytes()) {
        GameResult::Unknown if text != "*" => Err(ParseError("expected 1-0, 0-1 or 1/2-1/2")),
        result => Ok(result),
    }
}

pub(super) fn group(text: &str) -> Result<u16, ParseError> {
    number(text).map(group_of)
}

pub(super) fn title(text: &str) -> Result<Title, ParseError> {
    let is_word = text
        .trim()
        .bytes()
        .all(|letter| letter.is_ascii_alphabetic());
    let found = crate::title(text.as_bytes());
    let found = found.filter(|title| is_word && *title != Title::default());
    found.ok_or(ParseError("expected a title as GM, IM, WGM or BOT"))
}
