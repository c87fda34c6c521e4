//! Arguments of several commands.

use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::complete::{self, Of};
use super::configuration::ConfigArgs;
use super::line;
use tabia_book::ctg::RewriteOptions;
use tabia_choice::settings::{OptionId, Options, Settings};
use tabia_io::atomic::{Previous, TempFolder};
use tabia_io::input::path::temporary_folder;
use tabia_notation::Line;

/// Arguments of `play`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The engine: a name from the configuration, or the path of a program
    #[arg(long, value_name = "NAME", add = complete::engines(), conflicts_with = "command")]
    pub(crate) engine: Option<String>,
    /// A book to play from; may be given several times, used in this order
    /// [default: the starter book]
    #[arg(long, value_name = "FILE", add = complete::books())]
    pub(crate) book: Vec<PathBuf>,
    /// Sets a UCI option of Tabia or of the engine, as the GUI would
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Both))]
    pub(crate) set: Vec<String>,
    /// Writes the whole conversation to a file: see `tabia replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Adds a line to a file for each game, and for each time that the engine
    /// is started again: see `tabia review --games`
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) games: Option<PathBuf>,
    /// Reads books by system calls instead of mapping them into memory
    #[arg(long)]
    pub(crate) no_mmap: bool,
    /// Tests the configuration without a game: the same as `tabia check`
    #[arg(long)]
    pub(crate) check_config: bool,
    /// An engine to run, with its arguments, instead of a configured one
    #[arg(last = true, value_name = "COMMAND", add = complete::commands())]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// Other names of `--max-ply`.
pub(crate) const PLIES: [&str; 2] = ["plies", "max-plies"];

/// Other names of `--colour`, which commands had before, or other programs have.
pub(crate) const COLOUR: [&str; 4] = ["color", "side", "as", "only"];

/// A position of a book, and moves to play from there.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlaceArgs {
    /// The position [default: the start position]
    #[arg(value_name = "FEN", num_args = 0..)]
    pub(crate) fen: Vec<String>,
    /// The position, as an option
    #[arg(long = "fen", value_name = "FEN", conflicts_with = "fen")]
    position: Option<String>,
    /// Moves to play from there first, as in "e2e4 e7e5" or "1. e4 e5"
    #[arg(long, visible_alias = "line", value_name = "MOVES")]
    pub(crate) moves: Option<String>,
}

impl PlaceArgs {
    /// The words of the position.
    pub(crate) fn words(&self) -> &[String] {
        self.position
            .as_ref()
            .map_or(&self.fen, std::slice::from_ref)
    }

    /// The line, which is read.
    pub(crate) fn line(&self) -> anyhow::Result<Line> {
        line::line_of(self.words(), self.moves.as_deref())
    }
}

/// A colour on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PlayerColour {
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

/// Whether a file may be replaced: the argument of every command that writes one.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Force {
    /// Replaces an existing file; the old one is kept, with .bak after its name
    #[arg(short, long)]
    force: bool,
}

impl Force {
    pub(crate) fn old(self) -> Previous {
        match self.force {
            true => Previous::Keep,
            false => Previous::Refuse,
        }
    }
}

/// One colour, or both.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sides {
    #[value(alias = "w")]
    White,
    #[value(alias = "b")]
    Black,
    Both,
}

impl Sides {
    /// The colour, if it is one.
    pub(crate) fn alone(self) -> Option<shakmaty::Color> {
        match self {
            Sides::White => Some(shakmaty::Color::White),
            Sides::Black => Some(shakmaty::Color::Black),
            Sides::Both => None,
        }
    }
}

/// Whether a command only shows what it would do.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DryRun {
    /// Does the work, reports it, and leaves all files as they are
    #[arg(short = 'n', long, help_heading = "Work")]
    pub(crate) dry_run: bool,
}

impl DryRun {
    pub(crate) const NO: DryRun = DryRun { dry_run: false };

    /// A place for the result of a dry run, with the name of the real one, in a folder of its
    /// own that is removed. It is elsewhere if the system lets nobody write beside the target.
    pub(crate) fn place(
        self,
        target: &std::path::Path,
    ) -> anyhow::Result<Option<(TempFolder, PathBuf)>> {
        if !self.dry_run {
            return Ok(None);
        }
        let beside = TempFolder::beside(target).or_else(|error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                TempFolder::beside(&temporary_folder().join("x"))
            }
            _ => Err(error),
        });
        let folder = beside.with_context(|| target.display().to_string())?;
        let place = folder.path().join(target.file_name().unwrap_or_default());
        Ok(Some((folder, place)))
    }

    /// What is added to the report.
    pub(crate) fn note(self) {
        if self.dry_run {
            summary!("nothing was changed: --dry-run");
        }
    }
}

/// How books are rewritten.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Rewriting {
    #[command(flatten)]
    pub(crate) force: Force,
    /// Memory for sorting a book with unordered pages, as 64M or 2G
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    memory: u64,
    /// Unreadable parts of a book are an error, and nothing is written
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Rewriting {
    pub(crate) fn options(self) -> RewriteOptions {
        RewriteOptions::default()
            .old(self.force.old())
            .memory(self.memory)
            .strict(self.strict)
    }
}

/// A word of an option, its help, and what it means.
pub(crate) type Word<T> = (&'static str, &'static str, T);

/// Reads one of these words: for values of the libraries, which do not know the command
/// line.
pub(crate) fn one_of<T: Copy + Send + Sync>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let possible = words.iter();
    let possible = possible.map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(possible).try_map(|text| {
        let known = words.iter().find(|(word, ..)| *word == text);
        known.map(|(.., value)| *value).ok_or("an unknown word")
    })
}

/// Splits the value of `--set`.
pub(crate) fn name_and_value(set: &str) -> anyhow::Result<(&str, &str)> {
    let parts = set.split_once('=');
    let (name, value) =
        parts.with_context(|| format!("--set \"{set}\" has no \"=\": write NAME=VALUE"))?;
    Ok((name.trim(), value))
}

/// The options as `--set` changes them; `is_known` returns which are allowed, and `what`
/// describes the allowed ones.
pub(crate) fn options(
    sets: &[String],
    is_known: impl Fn(OptionId) -> bool,
    what: &str,
) -> anyhow::Result<Options> {
    let mut settings = Settings::default();
    for set in sets {
        let (name, value) = name_and_value(set)?;
        let Some(id) = OptionId::by_name(name).filter(|id| is_known(*id)) else {
            let like = OptionId::meant_by(name).filter(|id| is_known(*id));
            let like = like.map_or_else(String::new, |id| {
                format!(" (did you mean \"{}\"?)", id.spec().name)
            });
            bail!("there is no option \"{name}\"{what}{like}");
        };
        settings.set(id, value)?;
    }
    Ok(settings.options().clone())
}

/// The options of `--set` that decide between moves.
pub(crate) fn choice_options(sets: &[String]) -> anyhow::Result<Options> {
    let counts = |id: OptionId| id.spec().scope.counts_for_probe();
    options(sets, counts, " that decides between moves")
}

/// Reads a number of bytes: 1000000, 512K, 64M, 2G.
pub(crate) fn size(text: &str) -> Result<u64, String> {
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
        None => Err("the number is too large".to_owned()),
    }
}
