//! What suite to make.

use std::path::PathBuf;

use shakmaty::Chess;

use super::filter::BoardFilter;
use super::output::{Counters, Form};
use super::values::ValueWindow;
use crate::evaluate::EnginePlan;
use tabia_book::policy::Rules;
use tabia_games::{GameFilter, TextEncoding};
use tabia_io::atomic::Previous;
use tabia_io::input::path::has_extension;
use tabia_io::parallel;
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
pub(super) const DEEPEST: u32 = 300;

impl Cut {
    /// The first and the last ply needed of a book.
    pub(super) fn plies_of_books(self) -> (u32, u32) {
        match self {
            Cut::At(ply) => (ply, ply),
            Cut::Range(first, last) => (first, last.min(DEEPEST)),
            Cut::End | Cut::Exit => (0, DEEPEST),
        }
    }
}

/// The frequencies of moves.
#[derive(Clone, Debug)]
pub enum Play {
    /// As the adapter plays with these options.
    Adapter(Box<Rules>),
    /// By the games of the book, or else by its weights.
    Games,
}

/// The order of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[non_exhaustive]
pub struct SuiteJob {
    /// Books, games, suites.
    pub sources: Vec<PathBuf>,
    /// Path of the suite: `.epd` or `.pgn`.
    pub target: PathBuf,
    /// What to do with an existing file.
    pub old: Previous,
    /// Conditions on games.
    pub filter: GameFilter,
    /// The password of encrypted archives.
    pub password: Option<String>,
    /// The encoding of texts that are not UTF-8.
    pub encoding: Option<TextEncoding>,
    /// Where lines are cut.
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
    /// All positions after 16 plies of these sources, in random order: of games as they
    /// were played, of books as the adapter would play them. `target` ends in `.epd` or
    /// `.pgn`, and must not exist.
    #[must_use]
    pub fn new(sources: Vec<PathBuf>, target: PathBuf) -> SuiteJob {
        let form = match has_extension(&target, "pgn") {
            true => Form::Pgn,
            false => Form::Epd {
                counters: Counters::default(),
                operations: false,
            },
        };
        SuiteJob {
            sources,
            target,
            old: Previous::Refuse,
            filter: GameFilter::default(),
            password: None,
            encoding: None,
            cut: Cut::At(16),
            below: None,
            play: Play::Adapter(Box::default()),
            board: BoardFilter::default(),
            min_games: 1,
            min_share: 0.0,
            window: ValueWindow {
                undecided: true,
                ..ValueWindow::default()
            },
            eval_files: Vec::new(),
            engine: None,
            confirm: None,
            confirm_margin: 0.2,
            save: None,
            mirrors: false,
            per_line: None,
            count: None,
            sample: false,
            order: SuiteOrder::Random,
            seed: 1,
            form,
            zip: false,
            metadata: None,
            openbench: None,
            source_url: None,
            threads: parallel::threads(),
            memory: 256 << 20,
        }
    }

    pub(super) fn below(&self) -> Option<&Chess> {
        self.below.as_ref().map(Line::last)
    }
}
