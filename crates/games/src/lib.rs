//! Reads and writes collections of chess games in many formats.
//!
//! [`open`] returns a [`GameSource`]; it cuts its input into [`GameBatch`]es, which is
//! cheap and happens in one thread; a batch can decode its games in any thread. Nothing
//! here filters or counts: a source only returns its content.
//!
//! A new format is a module with these two traits and a row in the table of
//! `open/mod.rs`. It passes its moves to a `Recorder`, which produces either the
//! cheap form of a game that books are made from (positions and moves) or the full one
//! that becomes PGN again (tags, variations, comments, NAGs): see [`GameParts`].

#![warn(missing_docs)]

mod archive;
mod cbf;
mod cbh;
mod cbh2;
mod cbv;
mod conditions;
mod counted_remark;
mod date;
mod directions;
mod encodings;
mod error;
mod export;
mod extract;
mod files;
mod filter;
mod game;
mod indexed;
mod legal;
mod loss;
mod movetext;
mod nic;
mod open;
mod parts;
mod pgn;
mod reader;
mod record;
mod same;
mod scdb;
mod scid;
mod skipped;
mod source;
#[cfg(test)]
mod tests;
pub mod tgx;
mod tree;

pub use conditions::{Conditions, Speed, Title, title};
pub use date::{Date, Month};
pub use encodings::TextEncoding;
pub use error::{Error, ParseError, WriteError};
pub use export::{ExportJob, ExportTarget, Exported};
pub use extract::{Extracted, extract};
pub use files::files;
pub use filter::{
    Band, EcoRange, FilterOption, GROUPS, GameCondition, GameFilter, Rejected, Takes, ValueKind,
    group_of, has_name,
};
pub use game::{Game, GameResult, MoveAnnotation, Tags};
pub use loss::{Loss, LossCount, Losses};
pub use movetext::{Item, Movetext};
pub use open::{PlainText, game_endings, is_game_file, open, open_encoded, open_with, unpacked};
pub use parts::GameParts;
pub use pgn::{PgnSource, write_pgn};
pub use reader::{Batch, Batches, GameReader, Sources, Starts, Tally};
pub use same::family_name;
pub use shakmaty;
pub use skipped::{GamePlace, SkipReason, Skipped};
pub use source::{GameBatch, GameSource, OpenResult};
pub use tabia_io::atomic::Previous;
pub use tabia_io::progress::{Progress, Watch};

use record::Recorder;

/// Code that tests share with the fuzz targets names the package.
#[cfg(test)]
extern crate self as tabia_games;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
