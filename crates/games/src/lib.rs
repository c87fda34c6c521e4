//! Reads and writes collections of chess games in many formats.
//!
//! [`open`] returns a [`GameSource`]; it cuts its input into [`GameBatch`]es, which is
//! cheap and happens in one thread; a batch can decode its games in any thread. Nothing
//! here filters or counts: a source only returns its content.
//!
//! A new format is a module with these two traits and a row in the table of
//! `open/mod.rs`. It passes its moves to a [`Recorder`], which produces either the
//! cheap form of a game that books are made from (positions and moves) or the full one
//! that becomes PGN again (tags, variations, comments, NAGs): see [`GameParts`].

#![warn(missing_docs)]

mod archive;
mod cbf;
mod cbh;
mod cbh2;
mod cbv;
mod conditions;
mod date;
mod encodings;
mod error;
pub mod export;
mod extract;
mod files;
mod filter;
mod game;
mod indexed;
mod intake;
mod language;
mod members;
mod nic;
mod oddities;
mod open;
mod parse;
mod peeked;
mod pgn;
mod pgn_text;
mod pgn_write;
mod record;
mod san;
pub mod scdb;
pub mod scid;
mod seven_zip;
mod skipped;
mod steps;
pub mod tgx;
mod tokens;
mod tree;
mod zip;

pub use conditions::{Conditions, Speed, Title, title};
pub use date::{Date, Month};
pub use error::Error;
pub use extract::{Extracted, extract};
pub use files::files;
pub use filter::{Band, EcoRange, GROUPS, GameFilter, group_of, has_name};
pub use game::{Game, GameResult, Item, Sign, Tags};
pub use intake::{Batch, Batches, Intake, Sources, Starts, Tally};
pub use open::{PlainText, is_game_file, open, open_with, unpacked};
pub use pgn::PgnSource;
pub use pgn_write::write_pgn;
pub use record::Recorder;
pub use skipped::{GamePlace, SkipReason, Skipped};

/// Something that holds games: a file, or a stream.
pub trait GameSource: Send {
    /// Cuts off the next piece; `None` at the end.
    ///
    /// # Errors
    ///
    /// The source cannot be read on.
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error>;

    /// How many bytes of the source (of the file that was named, as stored on
    /// disk) have been read.
    fn bytes_read(&self) -> u64;

    /// Whether a part of it is lost: it is damaged or breaks off. Known when every
    /// batch has been read to its end; the remarks contain more.
    fn is_cut(&self) -> bool {
        false
    }

    /// Remarks about the source as a whole: files that are missing, bytes that belong
    /// to no game. Complete when every batch has been read to its end.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What opening a source gives.
pub type OpenResult = Result<Box<dyn GameSource>, Error>;

/// A piece of a source.
pub trait GameBatch: Send {
    /// Fills `game` with the next game; false at the end. The same buffer
    /// serves every game, so that reading allocates nothing. A game that breaks
    /// off in the middle is given as far as it goes, with [`Game::cut`] set.
    ///
    /// # Errors
    ///
    /// A game that is no use, and why. `game` is undefined then, and the next call
    /// goes on after it.
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason>;

    /// As [`GameBatch::next_game`], for a caller that does not use games that do not
    /// meet `filter`: where this follows from their tags, their moves are not read,
    /// and not checked. The caller still has to check whether
    /// a game meets it.
    ///
    /// # Errors
    ///
    /// As for [`GameBatch::next_game`].
    fn next_for(
        &mut self,
        wanted: GameParts,
        _filter: &GameFilter,
        game: &mut Game,
    ) -> Result<bool, SkipReason> {
        self.next_game(wanted, game)
    }

    /// The source, as its user named it.
    fn source(&self) -> &str;

    /// The place of the last game in it.
    fn place(&self) -> GamePlace;

    /// Describes the last game for the caller that leaves it out.
    fn skip(&self, reason: SkipReason) -> Skipped {
        Skipped {
            source: self.source().to_owned(),
            place: self.place(),
            cut: false,
            reason,
        }
    }
}

/// How much of each game is looked at. What lies beyond is not read, so it
/// is not checked either.
#[derive(Clone, Copy, Debug)]
pub struct GameParts {
    /// Plies of the main line; the rest is passed over.
    pub plies: usize,
    /// Moves of variations too, as [`Game::side_moves`].
    pub variations: bool,
    /// Everything that a PGN file can contain: [`Game::tags`] and [`Game::movetext`].
    pub notes: bool,
    /// Signs of moves and positions, as [`Game::signs`].
    pub signs: bool,
    /// Its header, as [`Game::tags`], without the movetext.
    pub heads: bool,
}

impl GameParts {
    /// Every move of the main lines.
    const MAIN_LINES: GameParts = GameParts {
        plies: usize::MAX,
        variations: false,
        notes: false,
        signs: false,
        heads: false,
    };

    /// All there is, to be written down again.
    pub const EVERYTHING: GameParts = GameParts {
        notes: true,
        heads: true,
        ..GameParts::MAIN_LINES
    };

    /// So many plies of the main line are enough; `None` if all lines are read.
    fn main_line(self) -> Option<usize> {
        let all = self.plies > 0 && (self.variations || self.notes);
        (!all).then_some(self.plies)
    }

    /// Whether tags are stored.
    fn tags(self) -> bool {
        self.notes || self.heads
    }
}

impl Default for GameParts {
    fn default() -> GameParts {
        GameParts::MAIN_LINES
    }
}

pub mod index;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
