//! Arguments of several commands, and of those that have few.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::force::Force;
use tabia_book::ctg::RewriteOptions;

/// Where the configuration comes from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ConfigArgs {
    /// Configuration file [default: $TABIA_CONFIG, then tabia.toml or
    /// engines.toml beside the program, in the user's configuration folder,
    /// and engines.toml in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// Arguments of `play`.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct PlayArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// The engine: a name from the configuration, or the path of a program
    #[arg(long, value_name = "NAME")]
    pub(super) engine: Option<String>,
    /// A book to play from; may be given several times, asked in this order
    /// [default: the starter book]
    #[arg(long, value_name = "FILE")]
    pub(super) book: Vec<PathBuf>,
    /// Sets a UCI option, ours or the engine's, as if the GUI had
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// Writes the whole conversation to a file: see `tabia replay`
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Adds a line to a file for each game, and for each time that the engine
    /// is started again: see `tabia review --games`
    #[arg(long, value_name = "FILE.csv")]
    pub(super) games: Option<PathBuf>,
    /// Reads books by system calls instead of mapping them into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
    /// Tries the configuration and plays nothing: the same as `tabia check`
    #[arg(long)]
    pub(super) check_config: bool,
    /// An engine to run, with its arguments, instead of a configured one
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<std::ffi::OsString>,
}

/// Arguments of `info`.
#[derive(Args, Debug)]
pub(super) struct InfoArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Reads all of a book however large it is; else books of more than
    /// 64 MiB are read here and there, and what was estimated is called so
    #[arg(long)]
    pub(super) full: bool,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
}

/// Arguments of `probe`.
#[derive(Args, Debug)]
pub(super) struct ProbeArgs {
    /// The book
    pub(super) book: PathBuf,
    /// The position [default: the start position]; `-` reads FENs from
    /// standard input, one a line
    #[arg(value_name = "FEN", num_args = 0..)]
    pub(super) fen: Vec<String>,
    /// The position, as an option
    #[arg(long = "fen", value_name = "FEN", conflicts_with = "fen")]
    pub(super) position: Option<String>,
    /// Moves to play from there first, as in "e2e4 e7e5" or "1. e4 e5"
    #[arg(long, value_name = "MOVES")]
    pub(super) moves: Option<String>,
    /// Prints one JSON object a position
    #[arg(long)]
    pub(super) json: bool,
    /// Shows file, page, offset and bytes of every entry
    #[arg(long)]
    pub(super) explain: bool,
    /// Sets one of the options that decide between moves
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
}

/// A colour on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum PlayerColour {
    /// White
    #[value(alias = "w")]
    White,
    /// Black
    #[value(alias = "b")]
    Black,
}

impl From<PlayerColour> for shakmaty::Color {
    fn from(colour: PlayerColour) -> shakmaty::Color {
        match colour {
            PlayerColour::White => shakmaty::Color::White,
            PlayerColour::Black => shakmaty::Color::Black,
        }
    }
}

/// How books are written anew.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Rewriting {
    #[command(flatten)]
    pub(super) force: Force,
    /// Memory for sorting a book whose pages follow no order, as 64M or 2G
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    memory: u64,
    /// What cannot be read is an error: nothing is written then
    #[arg(long)]
    strict: bool,
}

impl Rewriting {
    pub(super) fn options(self) -> RewriteOptions {
        RewriteOptions {
            old: self.force.old(),
            memory: self.memory,
            strict: self.strict,
            ..RewriteOptions::default()
        }
    }
}

/// Arguments of `merge`.
#[derive(Args, Debug)]
pub(super) struct MergeArgs {
    /// The book to make: .ctg, with .cto and .ctb beside it, or .bin
    #[arg(short, long, value_name = "OUT.ctg|OUT.bin")]
    pub(super) output: PathBuf,
    /// Of Polyglot books: the moves of a position in the order of the first book
    /// that has it, as `polyglot merge-book` leaves them, not the heaviest first
    #[arg(long)]
    pub(super) first_wins: bool,
    /// The books to add up, all of one format
    #[arg(value_name = "BOOK", required = true, num_args = 2..)]
    pub(super) books: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) rewriting: Rewriting,
}

/// Arguments of `compact`.
#[derive(Args, Debug)]
pub(super) struct CompactArgs {
    /// The book, or a games index (.tgx)
    pub(super) book: PathBuf,
    /// The new one [default: in place of the old one]
    #[arg(short, long, value_name = "OUT.ctg")]
    pub(super) output: Option<PathBuf>,
    /// Joins pages that the book has split although their positions fit one,
    /// and makes the index one that every reader can read
    #[arg(long)]
    pub(super) repack: bool,
    #[command(flatten)]
    pub(super) rewriting: Rewriting,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
}

/// Divides the value of `--set`.
pub(super) fn name_and_value(set: &str) -> anyhow::Result<(&str, &str)> {
    let parts = set.split_once('=');
    let (name, value) =
        parts.with_context(|| format!("--set \"{set}\" has no \"=\": write NAME=VALUE"))?;
    Ok((name.trim(), value))
}

/// Reads a number of bytes: 1000000, 512K, 64M, 2G.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text
        .get(digits.len()..)
        .unwrap_or("")
        .to_ascii_uppercase()
        .as_str()
    {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err("expected a size like 64M or 2G".to_owned()),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a size like 64M or 2G".to_owned())?;
    match number.checked_mul(1 << unit) {
        Some(bytes) if bytes >= 1 << 20 => Ok(bytes),
        Some(_) => Err("at least 1M is needed".to_owned()),
        None => Err("that is more than there can be".to_owned()),
    }
}

/// Arguments of `check-engine`.
#[derive(Args, Debug)]
pub(super) struct CheckEngineArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// A name from the configuration, or the path of a program
    pub(super) name: Option<String>,
    /// The engine's command with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<std::ffi::OsString>,
}
