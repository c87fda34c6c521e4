//! The table of options: names, types, ranges, help texts.

/// Type, default and range of an option, as in UCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off.
    Check(bool),
    /// A whole number: default, minimum, maximum.
    Spin(i32, i32, i32),
    /// One of a few words: index of the default, the words.
    Combo(usize, &'static [&'static str]),
    /// Any text.
    Text(&'static str),
    /// Paths of books, separated by `;`; a string option in UCI.
    Paths(&'static str),
    /// Milliseconds, `800` or `800+400`; a string option in UCI.
    Delay,
}

/// For what a value of an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For each book: under `[[books]]` it counts for that book.
    Book,
    /// For the whole adapter. Under `[[books]]` it is refused with this advice.
    Adapter(&'static str),
}

/// The advice for options that count for all books.
const GENERAL: Scope = Scope::Adapter("it counts for all books: write it under [book]");

/// The declaration of an option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The identifier of the option.
    pub id: OptionId,
    /// The name in UCI.
    pub name: &'static str,
    /// Type, default and range.
    pub kind: OptionKind,
    /// Whether one book may have a value of its own.
    pub scope: Scope,
    /// The help text for users.
    pub help: &'static str,
}

/// The values of `Book Preset`.
pub const PRESETS: &[&str] = &["Custom", "Optimize", "Normal", "Handicap"];
/// The values of `Book Judgement`.
pub const JUDGEMENTS: &[&str] = &["results", "evaluations", "both"];
/// The values of `Book Cover`.
pub(super) const COVERS: &[&str] = &["off", "lines"];
/// The values of `Book Info`.
pub const INFO: &[&str] = &["none", "brief", "full"];

/// The lowest value of `Book Exit Below`, in centipawns. It switches the option off.
pub(super) const EXIT_BELOW: i32 = -2000;
/// The highest value of `Book Exit Above`, in centipawns. It switches the option off.
pub(super) const EXIT_ABOVE: i32 = 2000;

/// The value for the book that comes with the program.
pub const STARTER: &str = "<starter>";
/// The value for no book.
pub const NONE: &str = "<empty>";
/// The value for the evaluation file next to a book.
pub const BESIDE: &str = "<beside>";
/// The value for the `[[books]]` of engines.toml.
pub const CONFIGURED: &str = "<configured>";

/// Generates the option identifiers and their declarations from one table.
macro_rules! options {
    ($($id:ident, $name:literal, $kind:expr, $scope:expr, $help:literal;)*) => {
        /// An option of the adapter.
        #[allow(missing_docs)] // The table documents each by its help text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum OptionId {
            $($id),*
        }

        /// All options, in the order in which they are declared.
        pub const SPECS: [Spec; [$(OptionId::$id),*].len()] = {
            use OptionKind::{Check, Combo, Delay, Paths, Spin, Text};
            use Scope::{Adapter, Book};
            [$(Spec {
                id: OptionId::$id,
                name: $name,
                kind: $kind,
                scope: $scope,
                help: $help,
            }),*]
        };
    };
}

options! {
    OwnBook, "OwnBook", Check(true), Adapter("it counts for all books: to leave one out, remove its entry"),
        "the book answers at all";
    File, "Book File", Paths(STARTER), Adapter("a [[books]] entry has one file"),
        "path of a book; several separated by ';' are asked in that order";
    WhiteFile, "Book White File", Paths(""), Adapter("write file = \"...\" and colour = \"white\""),
        "a book for White alone, asked before Book File";
    BlackFile, "Book Black File", Paths(""), Adapter("write file = \"...\" and colour = \"black\""),
        "a book for Black alone, asked before Book File";
    Depth, "Book Depth", Spin(1000, 0, 1000), Book,
        "last full move that the book may answer";
    Preset, "Book Preset", Combo(0, PRESETS), Book,
        "sets variety, learn influence, marks and minimums at once";
    Variety, "Book Variety", Spin(50, 0, 100), Book,
        "0 the heaviest move, 50 by weight, 100 every move alike";
    MinimumGames, "Book Minimum Games", Spin(1, 0, 1_000_000), Book,
        "games that the position after the move must have";
    MinimumScore, "Book Minimum Score", Spin(0, 0, 100), Book,
        "per cent that the move must have scored";
    MinimumShare, "Book Minimum Share", Spin(5, 0, 1000), Book,
        "per mille of the position's weight below which a move is dropped";
    Tournament, "Book Tournament", Check(true), Book,
        "red moves never, and where there are green ones only those";
    Annotations, "Book Annotations", Check(true), Book,
        "?, ?? and ?! only when nothing else is left; !, !! weigh more";
    LearnInfluence, "Book Learn Influence", Spin(50, 0, 100), Book,
        "how far the learn values bend the weights";
    Learn, "Book Learn", Check(false), Book,
        "notes played games beside the book and learns from them";
    Evaluations, "Book Evaluations", Text(BESIDE), Book,
        "file of engine evaluations; <beside> is the one beside the book";
    Judgement, "Book Judgement", Combo(0, JUDGEMENTS), Book,
        "what the weight is made of, where evaluations are known";
    MaximumLoss, "Book Maximum Loss", Spin(0, 0, 2000), Book,
        "centipawns by which a move may be worse than the best; 0 no limit";
    Transpositions, "Book Transpositions", Check(true), Book,
        "moves into the book that nobody stored count too";
    AvoidRepetition, "Book Avoid Repetition", Check(true), Book,
        "no book move into a position of this game";
    LeaveEarly, "Book Leave Early", Spin(0, 0, 20), Book,
        "full moves before the end of a line at which the book falls silent";
    MissLimit, "Book Miss Limit", Spin(0, 0, 100), GENERAL,
        "misses in a game after which the book stays shut; 0 never";
    Ponder, "Book Ponder", Check(true), Book,
        "names the book's best reply as the move to ponder on";
    ThinkAhead, "Book Think Ahead", Check(false), Book,
        "the engine searches while a book move is held in go ponder";
    InAnalysis, "Book In Analysis", Check(false), Book,
        "shows the book's moves in analysis; the engine always answers";
    Info, "Book Info", Combo(2, INFO), Book,
        "what is printed with a book move";
    Seed, "Book Seed", Spin(0, 0, 2_147_483_647), GENERAL,
        "other than 0: seed, game and position decide the draw";
    Verify, "Book Verify", Spin(0, 0, 10_000), Book,
        "milliseconds for which the engine looks at a book move; 0 not at all";
    VerifyMargin, "Book Verify Margin", Spin(50, 0, 2000), Book,
        "centipawns that it may find the book move worse than its own best";
    ExitBelow, "Book Exit Below", Spin(EXIT_BELOW, -2000, 2000), Book,
        "centipawns for us below which the book falls silent; -2000 never";
    ExitAbove, "Book Exit Above", Spin(EXIT_ABOVE, -2000, 2000), Book,
        "centipawns for us above which the book falls silent; 2000 never";
    Delay, "Book Delay", Delay, Book,
        "milliseconds before a book move is sent, 800 or 800+400";
    Cover, "Book Cover", Combo(0, COVERS), GENERAL,
        "lines: each line of the book is played once before one is repeated";
    SeedFile, "Book Seed File", Text(""), GENERAL,
        "file with one seed for each game, taken in order by all adapters";
    Restart, "Engine Restart", Check(true), GENERAL,
        "an engine that dies is started again and its search repeated";
    StandIn, "Engine Stand-in", Check(false), GENERAL,
        "the built-in engine plays on where no restart helps";
}

impl OptionId {
    /// The declaration.
    #[must_use]
    pub fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }

    /// The option of this UCI name; upper and lower case are the same.
    #[must_use]
    pub fn by_name(name: &str) -> Option<OptionId> {
        SPECS
            .iter()
            .find(|spec| spec.name.eq_ignore_ascii_case(name))
            .map(|spec| spec.id)
    }

    /// The option that the user probably meant by a similar name: without blanks, with
    /// underscores, or with a typing error.
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

    /// The key in a `[book]` table; the reverse of [`OptionId::by_key`].
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
