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
mod legal;
mod members;
mod nic;
mod oddities;
mod open;
mod peeked;
mod pgn;
mod record;
pub mod scdb;
pub mod scid;
mod seven_zip;
mod skipped;
mod steps;
pub mod tgx;
mod tree;
mod zip;

pub use conditions::{Conditions, Speed, Title, title};
pub use date::{Date, Month};
pub use error::Error;
pub use extract::{Extracted, extract};
pub use files::files;
pub use filter::{Band, EcoRange, GROUPS, GameCondition, GameFilter, Rejected, group_of, has_name};
pub use game::{Game, GameResult, Item, MoveAnnotation, Tags};
pub use intake::{Batch, Batches, Intake, Sources, Starts, Tally};
pub use open::{PlainText, is_game_file, open, open_with, unpacked};
pub use pgn::{PgnSource, write_pgn};
pub use record::Recorder;
pub use skipped::{GamePlace, SkipReason, Skipped};

/// A source of games: a file or a stream.
pub trait GameSource: Send {
    /// Reads the next batch; `None` at the end.
    ///
    /// # Errors
    ///
    /// The source cannot be read further.
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error>;

    /// Bytes of the source read so far (of the named file, as stored on disk).
    fn bytes_read(&self) -> u64;

    /// Whether a part is lost because the source is damaged or cut off. Final when
    /// every batch has been read to its end; the remarks give details.
    fn is_cut(&self) -> bool {
        false
    }

    /// Whether games contradict themselves, so that part of what they state was not
    /// used. Final when every batch has been read to its end; the remarks give details.
    fn has_contradictions(&self) -> bool {
        false
    }

    /// Remarks about the whole source: missing files, bytes that belong to no game.
    /// Complete when every batch has been read to its end.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An open source, or why it cannot be opened.
pub type OpenResult = Result<Box<dyn GameSource>, Error>;

/// A batch of games.
pub trait GameBatch: Send {
    /// Fills `game` with the next game; false at the end. The buffer is reused, so that
    /// reading does not allocate. A game that breaks off is returned up to that place,
    /// with [`Game::cut`] set.
    ///
    /// # Errors
    ///
    /// Why a game must be skipped. `game` is undefined then; the next call continues
    /// with the game after it.
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason>;

    /// Like [`GameBatch::next_game`], for callers that use only games that meet
    /// `filter`: if the tags already exclude a game, its moves are neither read nor
    /// checked. The caller still has to apply the filter.
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

    /// The name of the source, as the user gave it.
    fn source(&self) -> &str;

    /// The place of the last game in the source.
    fn place(&self) -> GamePlace;

    /// Describes the last game, if the caller skips it.
    fn skip(&self, reason: SkipReason) -> Skipped {
        Skipped {
            source: self.source().to_owned(),
            place: self.place(),
            cut: false,
            reason,
        }
    }
}

/// Which parts of each game are read. Other parts are not checked either.
#[derive(Clone, Copy, Debug)]
pub struct GameParts {
    /// Plies of the main line; later moves are not read.
    pub plies: usize,
    /// Moves of variations too, as [`Game::side_moves`].
    pub variations: bool,
    /// Everything that a PGN file can contain: [`Game::tags`] and [`Game::movetext`].
    pub notes: bool,
    /// Annotations (NAGs) of moves and positions, as [`Game::annotations`].
    pub annotations: bool,
    /// Only the header, as [`Game::tags`], without the movetext.
    pub headers: bool,
}

impl GameParts {
    /// Every move of the main lines.
    const MAIN_LINES: GameParts = GameParts {
        plies: usize::MAX,
        variations: false,
        notes: false,
        annotations: false,
        headers: false,
    };

    /// Everything, to write the game again.
    pub const EVERYTHING: GameParts = GameParts {
        notes: true,
        headers: true,
        ..GameParts::MAIN_LINES
    };

    /// The number of plies of the main line to read; `None` if all lines are read.
    fn main_line(self) -> Option<usize> {
        let all = self.plies > 0 && (self.variations || self.notes);
        (!all).then_some(self.plies)
    }

    /// Whether tags are read.
    fn tags(self) -> bool {
        self.notes || self.headers
    }
}

impl Default for GameParts {
    fn default() -> GameParts {
        GameParts::MAIN_LINES
    }
}

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
