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
//! Everything between is sorted outside of memory (`tabia_io::sort`), and every
//! order is made of the positions themselves: the same sources give the same
//! bytes whatever the number of threads and the order in which they are named.
//! [`check`] reports on suites, [`mod@matches`] on what was played from one, and
//! [`review`] on what was played from a book.

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
mod walk;
mod worth;

use std::io::Read;
use std::path::{Path, PathBuf};

use shakmaty::Chess;

pub use choice::Confirmed;
pub use filter::{BoardFilter, Castled, Queens, Range};
pub use funnel::{Funnel, FunnelRow, FunnelStep};
pub use gather::is_epd;
pub use make::{MadeSuite, run};
pub use output::{Counters, Form};
pub use walk::Play;
pub use worth::{ValueView, ValueWindow, Worth};

use crate::error::{Error, about};
use crate::evaluate::EnginePlan;
use tabia_games::GameFilter;
use tabia_io::atomic::Old;
use tabia_notation::Line;

/// Where lines are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After so many plies.
    At(u32),
    /// After so many plies and everywhere between.
    Range(u32, u32),
    /// At the end of each game.
    End,
    /// Where the book ends.
    Exit,
}

/// Plies that books are walked at most by default.
const DEEPEST: u32 = 300;

impl Cut {
    /// The first and the last ply that are wanted of a book.
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

/// What is to be made.
#[derive(Clone, Debug)]
pub struct SuiteJob {
    /// Books, games, suites.
    pub sources: Vec<PathBuf>,
    /// `.epd` or `.pgn`.
    pub target: PathBuf,
    /// What becomes of the old one.
    pub old: Old,
    /// Conditions on games.
    pub filter: GameFilter,
    /// The password of encrypted archives.
    pub password: Option<String>,
    /// Where lines are cut.
    pub cut: Cut,
    /// Only what comes after this line.
    pub below: Option<Line>,
    /// Which moves of books are played how often.
    pub play: Play,
    /// Conditions on the board.
    pub board: BoardFilter,
    /// Games through a position.
    pub min_games: u64,
    /// How often it is reached, in per cent.
    pub min_share: f64,
    /// Values.
    pub window: ValueWindow,
    /// Files with values.
    pub eval_files: Vec<PathBuf>,
    /// Who evaluates the others.
    pub engine: Option<EnginePlan>,
    /// Who meets the conditions on values is searched again by so many nodes,
    /// and has to meet them by that value too.
    pub confirm: Option<u64>,
    /// The share of the width of `window` by which that value has to lie inside
    /// of its ends, 0 to 0.5: the next search errs as well.
    pub confirm_margin: f64,
    /// What that engine finds is added here, and what is here is not
    /// searched again.
    pub save: Option<PathBuf>,
    /// Positions with colours exchanged count as equal.
    pub mirrors: bool,
    /// So many positions at most below the same first plies: most, plies.
    pub per_line: Option<(u32, usize)>,
    /// So many positions.
    pub count: Option<u64>,
    /// They are drawn by weight instead of taken from the top.
    pub sample: bool,
    /// The order of the file.
    pub order: SuiteOrder,
    /// For everything random.
    pub seed: u64,
    /// What is written.
    pub form: Form,
    /// The archive beside it.
    pub zip: bool,
    /// `books.json`.
    pub metadata: Option<PathBuf>,
    /// A folder for OpenBench's file.
    pub openbench: Option<PathBuf>,
    /// Where the archive can be had, for that file.
    pub source_url: Option<String>,
    /// Threads that read.
    pub threads: usize,
    /// Bytes for sorting.
    pub memory: u64,
}

impl SuiteJob {
    fn below(&self) -> Option<&Chess> {
        self.below.as_ref().map(Line::last)
    }
}

/// The text of a file, unpacked.
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
