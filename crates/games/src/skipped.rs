//! Games that were left out or cut short, and why.

use std::fmt;

use tabia_notation::IllegalPosition;

/// A game that was left out or cut short, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The source, as the user named it.
    pub source: String,
    /// Where the game is in the source.
    pub place: GamePlace,
    /// Whether part of the game was read.
    pub cut: bool,
    /// Why it is missing or cut.
    pub reason: SkipReason,
}

impl Skipped {
    /// Marks the game as cut short.
    #[must_use]
    pub fn cut_short(self) -> Skipped {
        Skipped { cut: true, ..self }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = if self.cut { "cut short" } else { "skipped" };
        let Skipped {
            source,
            place,
            reason,
            ..
        } = self;
        write!(f, "{source}: {place}: game {done}: {reason}")
    }
}

/// The location of a game in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GamePlace {
    /// The line of the (decompressed) text at which the game starts, from 1.
    Line(u64),
    /// Number of the game in a database, from 1.
    Game(u64),
}

impl fmt::Display for GamePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GamePlace::Line(line) => write!(f, "line {line}"),
            GamePlace::Game(number) => write!(f, "game {number}"),
        }
    }
}

/// Why a game was left out or cut short.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// The game starts from a set-up position.
    #[error("it starts from a set-up position")]
    SetUp,
    /// The game is a chess variant.
    #[error("its variant is {0}")]
    Variant(String),
    /// The first position is impossible.
    #[error("its set-up position cannot be used: {0}")]
    Position(String),
    /// A move is illegal.
    #[error("move {number} on line {line} is impossible: {san}")]
    Move {
        /// The move's number, such as `12...`.
        number: String,
        /// Its line in the text, from 1.
        line: u64,
        /// The move as written.
        san: String,
    },
    /// A move is legal in several ways.
    #[error("move {number} on line {line} fits two moves: {san}")]
    Ambiguous {
        /// The move's number, such as `12...`.
        number: String,
        /// Its line in the text, from 1.
        line: u64,
        /// The move as written.
        san: String,
    },
    /// A word that should be a move is not one.
    #[error("move {number} on line {line} is not understood: {word}")]
    Word {
        /// The move's number, such as `12...`.
        number: String,
        /// Its line in the text, from 1.
        line: u64,
        /// The word as written.
        word: String,
    },
    /// A comment has no end.
    #[error("the comment that begins on line {line} has no end")]
    Unclosed {
        /// Its line in the text, from 1.
        line: u64,
    },
    /// The source ends within the game.
    #[error("the text ends here")]
    BrokenOff,
    /// The text or the bytes are damaged.
    #[error("{0}")]
    Text(String),
    /// The game is marked as deleted.
    #[error("it is deleted")]
    Deleted,
    /// The entry is not a game but, for example, a text.
    #[error("it is {0}")]
    NoGame(String),
}

impl From<IllegalPosition> for SkipReason {
    fn from(reason: IllegalPosition) -> SkipReason {
        SkipReason::Position(reason.to_string())
    }
}

impl SkipReason {
    /// The reason for damaged text or bytes.
    pub(super) fn text(text: impl Into<String>) -> SkipReason {
        SkipReason::Text(text.into())
    }

    /// Whether the source itself excludes the game, so nothing is wrong.
    #[must_use]
    pub fn is_intended(&self) -> bool {
        matches!(self, SkipReason::Deleted | SkipReason::NoGame(_))
    }
}
