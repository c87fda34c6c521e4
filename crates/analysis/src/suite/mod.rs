//! Opening suites: files of start positions for matches between engines.
//!
//! ```text
//! games, suites -> gather --+
//!                           +-> candidates, sorted: equal ones meet
//! books ----------> walk ---+        |
//!                                    v
//!       popularity -> values -> window -> count -> order -> .epd or .pgn
//! ```
//!
//! Intermediate data are sorted on disk (`tabia_io::sort`), and every order depends only
//! on the positions themselves: the same sources give the same bytes whatever the number
//! of threads and the order of the sources. [`check`] reports on suites, [`mod@matches`]
//! on games played from one, and [`review`] on games played from a book.

pub mod check;
mod choice;
mod entry;
mod evaluate;
pub mod figures;
mod filter;
mod full_lines;
mod funnel;
mod gather;
mod make;
pub mod managers;
pub mod matches;
pub mod metadata;
mod output;
mod publish;
pub mod review;
mod sources;
mod unite;
mod values;
mod walk;

use std::io::Read;
use std::path::{Path, PathBuf};

use shakmaty::Chess;

pub use choice::Confirmed;
pub use filter::{BoardFilter, Castled, Queens, Range};
pub use funnel::{Funnel, FunnelRow, FunnelStep};
pub use gather::is_epd;
pub use make::{MadeSuite, run};
pub use output::{Counters, Form};
pub use values::{PositionEval, ValueView, ValueWindow};
pub use walk::Play;

use crate::error::{Error, about};
use crate::evaluate::EnginePlan;
use tabia_games::GameFilter;
use tabia_io::atomic::Old;
use tabia_notation::Line;

/// Where to cut lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After this many plies.
    At(u32),
    /// After each number of plies in this range.
    Range(u32, u32),
    /// At the end of each game.
    End,
    /// Where the book ends.
    Exit,
}

/// Default limit of plies in walks through books.
const DEEPEST: u32 = 300;

impl Cut {
    /// The first and the last ply needed of a book.
    fn plies_of_books(self) -> (u32, u32) {
        match self {
            Cut::At(ply) => (ply, ply),
            Cut::Range(first, last) => (first, last.min(DEEPEST)),
            Cut::End | Cut::Exit => (0, DEEPEST),
        }
    }
}

/// The order of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SuiteOrder {
    /// At random, by a seed.
    #[default]
    Random,
    /// The most popular first.
    Popular,
    /// By the value of the better side.
    Eval,
    /// As the sources have them.
    File,
}

/// A suite to make: its sources and options.
#[derive(Clone, Debug)]
pub struct SuiteJob {
    /// Books, games, suites.
    pub sources: Vec<PathBuf>,
    /// Path of the suite: `.epd` or `.pgn`.
    pub target: PathBuf,
    /// What to do with an existing file.
    pub old: Old,
    /// Conditions on games.
    pub filter: GameFilter,
    /// The password of encrypted archives.
    pub password: Option<String>,
    pub cut: Cut,
    /// Only positions after this line.
    pub below: Option<Line>,
    /// The frequencies of moves in books.
    pub play: Play,
    /// Conditions on the board.
    pub board: BoardFilter,
    /// Lowest number of games through a position.
    pub min_games: u64,
    /// Lowest frequency of a position, in per cent.
    pub min_share: f64,
    /// Conditions on values.
    pub window: ValueWindow,
    /// Files with values.
    pub eval_files: Vec<PathBuf>,
    /// The engine for positions without a value.
    pub engine: Option<EnginePlan>,
    /// Nodes of a second search of positions that meet the conditions on values; they
    /// must meet them by the new value too.
    pub confirm: Option<u64>,
    /// The margin of that value inside the ends of `window`, as a share of the width, 0
    /// to 0.5: the second search has errors too.
    pub confirm_margin: f64,
    /// File to which the engine's values are added; positions in it are not searched
    /// again.
    pub save: Option<PathBuf>,
    /// Whether positions with colours exchanged count as equal.
    pub mirrors: bool,
    /// Highest number of positions after the same first plies: number, plies.
    pub per_line: Option<(u32, usize)>,
    /// Highest number of positions.
    pub count: Option<u64>,
    /// Whether they are drawn by weight instead of taken from the top.
    pub sample: bool,
    /// The order of the file.
    pub order: SuiteOrder,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The format of the file.
    pub form: Form,
    /// Whether to write a zip archive too.
    pub zip: bool,
    /// Path of `books.json`.
    pub metadata: Option<PathBuf>,
    /// Folder for OpenBench's file.
    pub openbench: Option<PathBuf>,
    /// URL of the archive, for that file.
    pub source_url: Option<String>,
    /// Threads for reading.
    pub threads: usize,
    /// Memory for sorting in bytes.
    pub memory: u64,
}

impl SuiteJob {
    fn below(&self) -> Option<&Chess> {
        self.below.as_ref().map(Line::last)
    }
}

/// The text of a file, decompressed.
fn text_of(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    let text = tabia_games::unpacked(path).map_err(|error| about(path, error))?;
    Ok(text.plain)
}

/// Whether a file is a suite of positions.
fn is_suite(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    let read = text_of(path)?.take(4096).read_to_end(&mut start);
    read.map_err(|error| about(path, error))?;
    Ok(is_epd(&start))
}
