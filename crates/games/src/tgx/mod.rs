//! Games indexes (`.tgx`): games, and sorted tables about them, in one file.
//!
//! This module contains the file format and its games, which are a game source; the
//! content of the tables belongs to `index`. [`TgxFile`] reads and [`TgxWriter`] writes
//! blocks of bytes under ascending keys, whatever their content. A [`GameBlock`]
//! contains consecutive games.
//!
//! # Why not an existing store
//!
//! Measured with 200,000 values of 4 KiB (812 MB) under ascending keys, which is
//! how an index is written, and with 3 million of 22 bytes (96 MB with keys):
//!
//! | store | 4 KiB: processor, size | 22 bytes: processor, size | crates |
//! |---|---|---|---|
//! | `redb` 4.5 | 1.5 s, 1,078 MB | 1.4 s, 135 MB | 1 |
//! | `fjall` 3.1 | 0.3 s, 891 MB | 0.6 s, 179 MB | 46 |
//! The entries of an index come out of a merge in the order of their keys, once, and
//! never change: a store that sorts, logs and balances does that work a second
//! time. `redb` grows by doubling (81 MB of content took 135 MB; its compaction took
//! 17 seconds), and blocks readers while a program adds games; `fjall` needs a folder
//! and starts its own threads. OpenArchive rows after a directory take 20 to 30 bytes a
//! move, each block has a checksum, programs can read while games are added, and the
//! file does not depend on the number of threads.

mod block;
mod facts;
mod file;
mod record;
mod source;
mod write;

pub use block::{BlockMaker, EncodedGames, GameBlock, find_game};
pub use facts::{Facts, rated_number, rated_of, speed_number, speed_of, winner_number, winner_of};
pub use file::{Directory, MAGIC, Root, Segment, TgxFile, is_index};
pub use record::{Head, move_of, squares};
pub(super) use source::open;
pub use write::lock;
pub use write::{TableWriter, TgxWriter};

/// Name of the table of games: by number, from 0.
pub const GAMES: &str = "games";
