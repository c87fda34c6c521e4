//! The provenance of a book, in a file next to it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use crate::cli::arguments::common::PlayerColour;
use crate::cli::arguments::counting::{Choice, Counting};
use tabia_book::ctg::Written;
use tabia_build::{BuildJob, Product, Summary};
use tabia_io::atomic::{self, Previous};
use tabia_io::input::path::file_name;

/// The content of the file. It does not depend on time, place or memory: the same games
/// give the same file.
#[derive(Serialize)]
struct Provenance<'a> {
    format: &'static str,
    version: u32,
    tabia: &'static str,
    book: String,
    bytes: u64,
    sources: Vec<Source>,
    conditions: String,
    max_ply: u16,
    eco_relative: Option<u16>,
    only: Option<&'a str>,
    min_games: u32,
    /// Only for a Polyglot book.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uniform: Option<bool>,
    dedupe: bool,
    variations: bool,
    annotations: bool,
    setups: bool,
    #[serde(flatten)]
    numbers: BuildNumbers,
}

/// Numbers of the result, and of used and skipped games.
#[derive(Serialize)]
pub(crate) struct BuildNumbers {
    games: u64,
    positions: u64,
    moves: u64,
    read: u64,
    filtered: u64,
    duplicates: u64,
    skipped: u64,
    cut: u64,
    cut_sources: u64,
    left_out: u64,
    unstorable: u64,
}

impl BuildNumbers {
    pub(crate) fn new(games: u64, written: &Written, summary: &Summary) -> BuildNumbers {
        let tally = &summary.tally;
        BuildNumbers {
            games,
            positions: written.positions,
            moves: written.moves,
            read: tally.read,
            filtered: tally.filtered,
            duplicates: summary.duplicates,
            skipped: tally.skipped,
            cut: tally.cut,
            cut_sources: tally.cut_sources,
            left_out: tally.left_out,
            unstorable: summary.unstorable,
        }
    }
}

/// A source named on the command line.
#[derive(Serialize)]
struct Source {
    path: String,
    /// The length of a file; `None` for other sources.
    bytes: Option<u64>,
    priority: bool,
}

/// The path `BOOK.provenance.json`.
pub(crate) fn path_of(book: &Path) -> PathBuf {
    book.with_extension("provenance.json")
}

/// Writes the file next to a finished book.
pub(crate) fn write(
    job: &BuildJob,
    reading: &Counting,
    choice: &Choice,
    summary: &Summary,
) -> anyhow::Result<()> {
    let sources = job.sources.iter().map(|source| Source {
        path: source.path.display().to_string(),
        bytes: fs::metadata(&source.path)
            .ok()
            .and_then(|data| data.is_file().then_some(data.len())),
        priority: source.priority,
    });
    let polyglot = match job.product {
        Product::Polyglot(rule) => Some(rule),
        Product::Book | Product::Records => None,
    };
    let provenance = Provenance {
        format: "tabia-provenance",
        version: 1,
        tabia: env!("CARGO_PKG_VERSION"),
        book: file_name(&job.target).into_owned(),
        bytes: summary.written.bytes,
        sources: sources.collect(),
        conditions: job.filter.words().join(" "),
        max_ply: choice.max_ply,
        eco_relative: choice.eco_relative,
        only: choice.only().map(|only| match only {
            PlayerColour::White => "white",
            PlayerColour::Black => "black",
        }),
        min_games: choice.min_games,
        min_score: polyglot.map(|rule| rule.min_score),
        uniform: polyglot.map(|rule| rule.uniform),
        dedupe: choice.dedupe,
        variations: reading.variations,
        annotations: reading.annotations,
        setups: reading.setups,
        numbers: BuildNumbers::new(summary.games, &summary.written, summary),
    };
    let path = path_of(&job.target);
    let mut text =
        serde_json::to_string_pretty(&provenance).with_context(|| path.display().to_string())?;
    text.push('\n');
    atomic::write(&path, text.as_bytes(), job.old)?;
    Ok(())
}

/// Checks, before any work, whether the file may be written.
pub(crate) fn check(book: &Path, old: Previous) -> anyhow::Result<()> {
    Ok(atomic::check(&path_of(book), &[], old)?)
}
