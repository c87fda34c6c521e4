//! Games that were left out or cut short, and why.

use std::fmt;

/// A game that was left out or cut short, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The source, as its user named it.
    pub source: String,
    /// Where in the source.
    pub place: GamePlace,
    /// Whether the game is there, but not all of it.
    pub cut: bool,
    /// Why.
    pub reason: SkipReason,
}

impl Skipped {
    /// The same of a game that is there in part.
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

/// The place of a game in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GamePlace {
    /// The line of the (decompressed) text that it starts on, from 1.
    Line(u64),
    /// Its number in a database, from 1.
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
pub enum SkipReason {
    /// It starts from a set-up position.
    #[error("it starts from a set-up position")]
    SetUp,
    /// It is no ordinary chess.
    #[error("its variant is {0}")]
    Variant(String),
    /// Its first position is impossible.
    #[error("its set-up position cannot be used: {0}")]
    Position(String),
    /// A move breaks the rules.
    #[error("move {number} on line {line} is impossible: {san}")]
    Move {
        /// The move's number as in `12...`.
        number: String,
        /// Its line in the text, from 1.
        line: u64,
        /// The move as written.
        san: String,
    },
    /// A word in the place of a move is not a move.
    #[error("move {number} on line {line} is not understood: {word}")]
    Word {
        /// The number of the move as in `12...`.
        number: String,
        /// Its line in the text, from 1.
        line: u64,
        /// The word.
        word: String,
    },
    /// The text, or the bytes, are broken.
    #[error("{0}")]
    Text(String),
    /// It is marked as deleted.
    #[error("it is deleted")]
    Deleted,
    /// The entry is not a game but a text or the like.
    #[error("it is {0}")]
    NoGame(String),
}

impl SkipReason {
    /// Broken text, or bytes.
    pub(super) fn text(text: impl Into<String>) -> SkipReason {
        SkipReason::Text(text.into())
    }

    /// Whether nothing is wrong: the source wants it left out.
    #[must_use]
    pub fn is_intended(&self) -> bool {
        matches!(self, SkipReason::Deleted | SkipReason::NoGame(_))
    }
}
