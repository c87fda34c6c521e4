//! The table of options: one row makes the field, its default, its name, its values, and
//! where it may stand.

use std::fmt;

use super::{BookFiles, Cover, Delay, EvaluationFile, Info, OptionalPath, Paths, Preset};
use tabia_book::options::{Expected, OptionKind, OptionValue};
use tabia_book::policy::{Policy, Topic};

/// For what the value of an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The option decides between the moves of a book: `probe` and the explorer take it too. Each
    /// book may have a value of its own, under `[[books]]`.
    Choice(Topic),
    /// The option determines how a book is opened. Each book may have a value of its own; `probe` takes
    /// it too.
    Opening,
    /// Each book may have a value of its own.
    Book,
    /// The option counts for the whole adapter. Under `[[books]]` it is refused with this advice.
    Adapter(&'static str),
}

impl Scope {
    /// Whether `probe` and the explorer take it.
    #[must_use]
    pub const fn counts_for_probe(self) -> bool {
        match self {
            Scope::Choice(_) | Scope::Opening => true,
            Scope::Book | Scope::Adapter(_) => false,
        }
    }
}

/// The advice for options that count for all books.
const GENERAL: Scope = Scope::Adapter("it counts for all books: write it under [book]");

/// The declaration of an option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The name in UCI.
    pub name: &'static str,
    /// The key in engines.toml.
    pub key: &'static str,
    /// For what a value counts.
    pub scope: Scope,
    /// The help text for users.
    pub help: &'static str,
}

/// The lowest value of `Book Exit Below`, in centipawns. It switches the option off.
pub(super) const EXIT_BELOW: i32 = -2000;
/// The highest value of `Book Exit Above`, in centipawns. It switches the option off.
pub(super) const EXIT_ABOVE: i32 = 2000;

/// What differs between the adapter's own rows and those of the policy.
macro_rules! part {
    (own field $options:ident $field:ident) => {
        $options.$field
    };
    (policy field $options:ident $field:ident) => {
        $options.policy.$field
    };
    (own scope $scope:expr) => {
        $scope
    };
    (policy scope $topic:expr) => {
        Scope::Choice($topic)
    };
}

/// Makes [`Options`], [`OptionId`] and [`Setting`] from the adapter's own rows, in three
/// groups, and the rows of the policy, in two that are declared between them.
macro_rules! options {
    (
        first { $($first:tt)* }
        second { $($second:tt)* }
        third { $($third:tt)* }
        weight { $($weight:tt)* }
        evaluation { $($evaluation:tt)* }
    ) => {
        options! { @fields $($first)* $($second)* $($third)* }
        options! { @rows
            own { $($first)* }
            policy { $($weight)* }
            own { $($second)* }
            policy { $($evaluation)* }
            own { $($third)* }
        }
    };
    (@fields $(
        $id:ident $field:ident: $type:ty = $default:expr, $range:expr, $name:literal,
        $scope:expr, $help:literal;
    )*) => {
        /// The values of all options.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct Options {
            $(#[doc = concat!("`", $name, "`: `", $help, "`")] pub $field: $type,)*
            /// The options that decide between the moves of a position.
            pub policy: Policy,
        }

        impl Default for Options {
            fn default() -> Options {
                Options {
                    $($field: $default,)*
                    policy: Policy::default(),
                }
            }
        }
    };
    (@rows $($part:ident { $(
        $(#[$doc:meta])*
        $id:ident $field:ident: $type:ty = $default:expr, $range:expr, $name:literal,
        $scope:expr, $([$optimize:expr, $normal:expr, $handicap:expr],)? $help:literal;
    )* })*) => {
        /// An option of the adapter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum OptionId {
            $($(#[doc = concat!("`", $name, "`: `", $help, "`")] $id,)*)*
        }

        /// An option with its value.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Setting {
            $($(#[doc = concat!("`", $name, "`: `", $help, "`")] $id($type),)*)*
        }

        impl OptionId {
            /// All options, in the order in which they are declared.
            pub const ALL: &'static [OptionId] = &[$($(OptionId::$id,)*)*];

            /// The declaration.
            #[must_use]
            pub const fn spec(self) -> Spec {
                use Scope::{Adapter, Book, Choice, Opening};
                use Topic::*;
                match self {
                    $($(OptionId::$id => Spec {
                        name: $name,
                        key: stringify!($field),
                        scope: part!($part scope $scope),
                        help: $help,
                    },)*)*
                }
            }
        }

        impl Setting {
            /// The option.
            #[must_use]
            pub const fn id(&self) -> OptionId {
                match self {
                    $($(Setting::$id(_) => OptionId::$id,)*)*
                }
            }

            /// Reads the value of an option.
            ///
            /// # Errors
            ///
            /// The option does not take the value.
            pub fn read(id: OptionId, text: &str) -> Result<Setting, ValueError> {
                let read = match id {
                    $($(OptionId::$id => {
                        <$type as OptionValue>::read(text, &$range).map(Setting::$id)
                    })*)*
                };
                read.map_err(|expected| ValueError::new(id, expected, text))
            }

            /// What a preset sets.
            pub(super) fn of_preset(preset: Preset) -> Vec<Setting> {
                vec![$($($(Setting::$id(match preset {
                    Preset::Custom => return Vec::new(),
                    Preset::Optimize => $optimize,
                    Preset::Normal => $normal,
                    Preset::Handicap => $handicap,
                }),)?)*)*]
            }
        }

        /// The value as text, for UCI and for users.
        impl fmt::Display for Setting {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(Setting::$id(value) => value.fmt(f),)*)*
                }
            }
        }

        impl Options {
            /// An option with its value.
            #[must_use]
            pub fn get(&self, id: OptionId) -> Setting {
                match id {
                    $($(OptionId::$id => Setting::$id(part!($part field self $field).clone()),)*)*
                }
            }

            /// Gives an option another value.
            pub fn set(&mut self, setting: Setting) {
                match setting {
                    $($(Setting::$id(value) => part!($part field self $field) = value,)*)*
                }
            }

            /// How an option is declared, with its value.
            #[must_use]
            pub fn kind(&self, id: OptionId) -> OptionKind {
                match id {
                    $($(OptionId::$id => part!($part field self $field).kind(&$range),)*)*
                }
            }
        }
    };
}

tabia_book::policy_options! { options! {
    first {
        OwnBook own_book: bool = true, .., "OwnBook",
            Adapter("it counts for all books: to leave one out, remove its entry"),
            "the book answers at all";
        File file: BookFiles = BookFiles::default(), .., "Book File",
            Adapter("a [[books]] entry has one file"),
            "path of a book; several separated by ';' are asked in that order";
        WhiteFile white_file: Paths = Paths::default(), .., "Book White File",
            Adapter("write file = \"...\" and colour = \"white\""),
            "a book for White alone, asked before Book File";
        BlackFile black_file: Paths = Paths::default(), .., "Book Black File",
            Adapter("write file = \"...\" and colour = \"black\""),
            "a book for Black alone, asked before Book File";
        Depth depth: u32 = 1000, 0..=1000, "Book Depth", Choice(Line),
            "last full move that the book may answer";
        Preset preset: Preset = Preset::Custom, .., "Book Preset", Choice(Draw),
            "sets variety, learn influence, marks and minimums at once";
    }
    second {
        Learn learn: bool = false, .., "Book Learn", Opening,
            "records played games beside the book and learns from them";
        Evaluations evaluations: EvaluationFile = EvaluationFile::Beside, ..,
            "Book Evaluations", Opening,
            "file of engine evaluations; <beside> is the one beside the book";
    }
    third {
        AvoidRepetition avoid_repetition: bool = true, .., "Book Avoid Repetition",
            Choice(Positions),
            "no book move that repeats a position of this game";
        LeaveEarly leave_early: u32 = 0, 0..=20, "Book Leave Early", Choice(Line),
            "the book stops answering this many full moves before the end of a line";
        MissLimit miss_limit: u32 = 0, 0..=100, "Book Miss Limit", GENERAL,
            "misses in a game after which the book is no longer used in it; 0 never";
        Ponder ponder: bool = true, .., "Book Ponder", Book,
            "names the book's best reply as the move to ponder on";
        ThinkAhead think_ahead: bool = false, .., "Book Think Ahead", Book,
            "the engine searches while a book move is held in go ponder";
        InAnalysis in_analysis: bool = false, .., "Book In Analysis", Book,
            "shows the book's moves in analysis; the engine always answers";
        Info info: Info = Info::Full, .., "Book Info", Book,
            "what is printed with a book move";
        Seed seed: u32 = 0, 0..=2_147_483_647, "Book Seed", GENERAL,
            "other than 0: seed, game and position decide the draw";
        Verify verify: u32 = 0, 0..=10_000, "Book Verify", Book,
            "milliseconds for which the engine looks at a book move; 0 not at all";
        VerifyMargin verify_margin: u32 = 50, 0..=2000, "Book Verify Margin", Book,
            "centipawns that it may find the book move worse than its own best";
        ExitBelow exit_below: i32 = EXIT_BELOW, -2000..=2000, "Book Exit Below", Choice(Exit),
            "centipawns for us below which the book stops answering; -2000 never";
        ExitAbove exit_above: i32 = EXIT_ABOVE, -2000..=2000, "Book Exit Above", Choice(Exit),
            "centipawns for us above which the book stops answering; 2000 never";
        Delay delay: Delay = Delay::default(), .., "Book Delay", Book,
            "milliseconds before a book move is sent, 800 or 800+400";
        Cover cover: Cover = Cover::Off, .., "Book Cover", GENERAL,
            "lines: each line of the book is played once before one is repeated";
        SeedFile seed_file: OptionalPath = OptionalPath::default(), .., "Book Seed File", GENERAL,
            "file with one seed for each game, taken in order by all adapters";
        Forbid forbid: bool = false, .., "Book Forbid", Book,
            "moves that are marked red or lose too much are not played by the engine either";
        ClockOnly clock_only: bool = false, .., "Book Clock Only", GENERAL,
            "the book answers only a go with a clock: analysis by depth is the engine's";
        EngineRestart engine_restart: bool = true, .., "Engine Restart", GENERAL,
            "an engine that dies is started again and its search repeated";
        EngineStandIn engine_stand_in: bool = false, .., "Engine Stand-in", GENERAL,
            "the built-in engine plays on where no restart helps";
    }
} }

/// A value that an option does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} takes {expected}, not \"{given}\"")]
pub struct ValueError {
    name: &'static str,
    expected: Expected,
    given: String,
}

impl ValueError {
    fn new(id: OptionId, expected: Expected, text: &str) -> ValueError {
        ValueError {
            name: id.spec().name,
            expected,
            given: text.trim().chars().take(80).collect(),
        }
    }
}
