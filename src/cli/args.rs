//! What can be typed: arguments and help texts, nothing else.

#[cfg(feature = "build")]
use std::num::NonZeroU16;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "build")]
use super::also::Also;
#[cfg(feature = "build")]
use super::collection::GameFilter;
use super::force::Force;
use super::replay::ReplayArgs;

/// Plays any UCI engine from ChessBase opening books (.ctg).
///
/// Without a command, tabia is a UCI engine: register it in a chess GUI. In
/// book it answers by itself, out of book the real engine does.
#[derive(Debug, Parser)]
#[command(
    name = "tabia",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 done; 1 a negative answer (not in book, an engine with \
                  faults); 2 wrong usage, configuration or files.\n\n\
                  Example: tabia --engine stockfish --book main.ctg --set \"Book Variety=20\""
)]
pub(super) struct Cli {
    /// The command; `play` when there is none.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Arguments of `play`.
    #[command(flatten)]
    pub(super) play: PlayArgs,
}

/// What tabia can do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The UCI adapter on standard input and output (also without a command)
    #[command(after_help = "Examples:\n  \
        tabia play --engine stockfish --book main.ctg\n  \
        tabia play --set \"Book Variety=0\" --set Hash=256 -- /opt/lc0/lc0 --threads=2")]
    Play(PlayArgs),
    /// Shows what a book is: positions, moves, pages, marks, problems
    #[command(after_help = "Examples:\n  \
        tabia info books/tabia.ctg\n  \
        tabia info --full huge.ctg\n  \
        tabia info --json books/tabia.ctg")]
    Info(InfoArgs),
    /// Shows the moves of a position and how likely each is played
    #[command(after_help = "Examples:\n  \
        tabia probe books/tabia.ctg\n  \
        tabia probe books/tabia.ctg --moves \"e2e4 c7c5\" --set \"Book Variety=100\"\n  \
        tabia probe books/tabia.ctg --json - < fens.txt\n\n\
        Exit code 1 when the position is not in the book.")]
    Probe(ProbeArgs),
    #[cfg(feature = "explore")]
    /// Shows books in the browser: moves, figures, probabilities, marks
    #[command(after_help = "Examples:\n  \
        tabia explore\n  \
        tabia explore main.ctg other.ctg\n  \
        tabia explore --port 8000 --no-open --read-only main.ctg\n\n\
        The address is printed on standard output. Ctrl-C ends it. Programs can ask it as \
        they ask the lichess opening explorer: /masters?fen=...&play=e2e4,c7c5; see \
        docs/explore.md of the source.")]
    Explore(super::explore::ExploreArgs),
    #[cfg(feature = "build")]
    /// Makes a book from games
    #[command(after_help = "Examples:\n  \
        tabia build -o masters.ctg masters.pgn.zst\n  \
        tabia build -o mine.ctg --player \"Smith, Jane\" --as white games/ extra.pgn\n  \
        tabia build -o good.ctg --both-elo 2400 --since 2000 --min-games 3 all.pgn\n  \
        tabia build -o blitz.ctg --speeds blitz --also \"slow.ctg: --speeds classical\" all.pgn\n  \
        zcat games.pgn.gz | tabia build -o book.ctg --priority lines.pgn -\n  \
        tabia build --records may.parquet may.pgn; tabia build -o all.ctg *.parquet\n\n\
        A game must meet every condition given. What a game does not say about itself \
        (year, rating) never meets one. The book is the same byte for byte whatever \
        --threads and --memory are.\n\n\
        Records (.parquet; needs a tabia built with the feature `parquet`) are sums: what \
        chooses games, and --max-ply, acts when they are written; --min-games when the book \
        is made. docs/scale.md of the source has their columns.\n\n\
        Exit codes: 0 done; 1 some games were skipped, with --strict; 2 no book was made.")]
    Build(BuildArgs),
    #[cfg(feature = "build")]
    /// Adds games, or a line, to a book
    #[command(after_help = super::add::EXAMPLES)]
    Add(super::add::AddArgs),
    #[cfg(feature = "games")]
    /// Game databases to PGN, or to a Simple Chess Database
    #[command(after_help = super::games::AFTER_HELP)]
    Games(super::games::GamesArgs),
    #[cfg(feature = "index")]
    /// Indexes games by position, for `tabia explore` and for books
    #[command(after_help = super::index::EXAMPLES)]
    Index(Box<super::index::IndexArgs>),
    #[cfg(feature = "suite")]
    /// What played games say about a book: exits, first values, results
    #[command(after_help = super::review::AFTER_HELP)]
    Review(super::review::ReviewArgs),
    #[cfg(feature = "suite")]
    /// Opening suites for engine testers: makes them, checks them, reports on
    /// matches
    #[command(after_help = super::suite::AFTER_HELP)]
    Suite(Box<super::suite::SuiteArgs>),
    #[cfg(feature = "games")]
    /// Moves learn values by the results of games, without adding moves
    #[command(after_help = super::learn::LEARN_EXAMPLES)]
    Learn(super::learn::LearnArgs),
    #[cfg(feature = "games")]
    /// Fills the evaluations beside a book, from files or by engines
    #[command(after_help = super::evaluate::EXAMPLES)]
    Evaluate(super::evaluate::EvaluateArgs),
    /// Says what is wrong with a book by its evaluations
    #[command(after_help = super::audit::EXAMPLES)]
    Audit(super::audit::AuditArgs),
    /// Changes marks in place: main, avoid, ! and ?, learn values
    #[command(after_help = super::mark::MARK_EXAMPLES)]
    Mark(super::mark::MarkArgs),
    /// Adds books up: numbers of shared positions are summed
    #[command(after_help = "Examples:\n  \
        tabia merge -o all.ctg 2023.ctg 2024.ctg 2025.ctg\n\n\
        The order of the books does not matter, nor whether all are merged at once. \
        Moves are united; of two marks or annotations the warning one stays.")]
    Merge(MergeArgs),
    #[cfg(feature = "build")]
    /// Extends a book where it is dropped out of, by an engine
    #[command(after_help = super::grow::EXAMPLES)]
    Grow(Box<super::grow::GrowArgs>),
    #[cfg(feature = "build")]
    /// One's own moves out of a book, against what opponents play
    #[command(after_help = super::repertoire::EXAMPLES)]
    Repertoire(super::repertoire::RepertoireArgs),
    /// Takes moves out of a book, and what only they lead to
    #[command(after_help = super::prune::EXAMPLES)]
    Prune(super::prune::PruneArgs),
    /// Writes a book anew: stale bytes gone, index and counts right
    #[command(after_help = "Examples:\n  \
        tabia compact old.ctg\n  \
        tabia compact damaged.ctg -o saved.ctg\n\n\
        Works without .cto and .ctb, and on damaged books: what cannot be read is named \
        and left out. Without -o the new book takes the place of the old one, at once \
        and only when it is complete.")]
    Compact(CompactArgs),
    /// Turns a book into one of another format, into text, games or a table
    #[command(after_help = super::convert::HELP)]
    Convert(super::convert::ConvertArgs),
    /// Reads every byte of a book and says what is wrong in it
    #[command(after_help = "Examples:\n  \
        tabia verify book.ctg\n  \
        tabia verify --json book.ctg\n\n\
        Looks at header, page bounds, keys, moves, children, numbers, and the index \
        against the pages. Each problem has file, page, byte of the file, kind and text. \
        What books made by ChessBase have too (stale bytes, a header that counts too many \
        positions) is a note.\n\n\
        Exit codes: 0 no problem; 1 problems; 2 the file cannot be read or is no book.")]
    Verify(VerifyArgs),
    /// Shows the tree of a book, what is seldom played folded away
    #[command(after_help = super::tree::EXAMPLES)]
    Tree(super::tree::TreeArgs),
    /// Shows what two books disagree about, position by position
    #[command(after_help = super::diff::EXAMPLES)]
    Diff(super::diff::DiffArgs),
    #[cfg(feature = "register")]
    /// Registers the adapter with a chess program
    #[command(after_help = super::register::EXAMPLES)]
    Register(super::register::RegisterArgs),
    #[cfg(feature = "register")]
    /// Finds engines, books and chess programs, and sets everything up
    #[command(after_help = super::setup::EXAMPLES)]
    Setup(super::setup::SetupArgs),
    /// Prints completions for a shell
    #[command(after_help = super::shell::COMPLETIONS_EXAMPLES)]
    Completions(super::shell::CompletionsArgs),
    /// Prints the manual page, or writes all of them to a folder
    #[command(after_help = super::shell::MAN_EXAMPLES)]
    Man(super::shell::ManArgs),
    /// Walks an engine through UCI step by step and says what it does wrong
    #[command(after_help = "Examples:\n  \
        tabia check-engine stockfish\n  \
        tabia check-engine -- /opt/lc0/lc0 --threads=2\n\n\
        Exit code 1 when it does something wrong.")]
    CheckEngine(CheckEngineArgs),
    /// Runs a log of the adapter once more and shows where it departs
    #[command(
        after_help = "Example: tabia --log game.log -- stockfish; tabia replay game.log\n\n\
        No engine is started: what it said stands in the log. Books are opened again; the \
        seed, the times and the settings are those of the log.\n\n\
        Exit codes: 0 the same again; 1 it departs; 2 the file cannot be read or is no log."
    )]
    Replay(ReplayArgs),
    #[cfg(feature = "builtin-engine")]
    /// The built-in engine: an ordinary UCI engine
    Engine,
}

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
    /// Reads books by system calls instead of mapping them into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
    /// Prints the configuration that would be used, starts each engine until
    /// it says "uciok", and says which would play and what each book would
    /// play in the start position. Exit code 2 when no engine answers or a
    /// book does not open
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

/// Arguments of `build`.
#[cfg(feature = "build")]
#[derive(Args, Debug)]
pub(super) struct BuildArgs {
    /// The book to make; .cto and .ctb are put beside it
    #[arg(
        short,
        long,
        value_name = "OUT.ctg",
        required_unless_present = "records"
    )]
    pub(super) output: Option<PathBuf>,
    /// Writes what was counted as a Parquet table instead of a book, to be
    /// added up with others by any SQL engine and given back as a source;
    /// --min-games waits for the book
    #[arg(long, value_name = "OUT.parquet", conflicts_with_all = ["output", "min_games", "annotations"])]
    pub(super) records: Option<PathBuf>,
    /// Makes another book in the same pass over the games, of those that meet
    /// these conditions: as "white1800.ctg: --ratings 1800 --only white"; may be
    /// given several times. Behind the colon stand the options that choose
    /// games, plies and moves (--max-ply, --eco-relative, --only, --min-games,
    /// --dedupe, and all conditions on games); how games are read is said
    /// outside, for all books. Implies --provenance
    #[arg(long, value_name = "BOOK: OPTIONS", conflicts_with = "records", value_parser = Also::read)]
    pub(super) also: Vec<Also>,
    /// Writes OUT.provenance.json beside the book: sources, conditions, counts,
    /// and the version of this program
    #[arg(long)]
    pub(super) provenance: bool,
    /// Keeps what the comments of the games say of the book's positions
    /// ([%eval 0.31]) in OUT.evals, as `tabia evaluate --import` does; the games
    /// are read once more for it
    #[arg(long, conflicts_with = "records")]
    pub(super) evaluations: bool,
    #[command(flatten)]
    pub(super) force: Force,
    /// Games: .pgn, also .gz, .zst or .bz2; databases (docs/databases.md); a
    /// folder with such files; or `-` for PGN on standard input. Or records: .parquet, whose games were
    /// chosen, and their plies cut, when they were written. Or books:
    /// .ctg, whose numbers are added to those of the games
    #[arg(value_name = "SOURCE", required_unless_present = "priority")]
    pub(super) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) games: Counting,
}

/// What of which games goes into a book.
#[cfg(feature = "build")]
#[derive(Args, Clone, Debug)]
#[command(mut_arg("player_colour", |arg| arg
    .requires(clap::builder::Resettable::Reset)
    .help("The colour of that player; without --player the same as --only")))]
pub(super) struct Choice {
    /// Plies of each game that are stored
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(super) max_ply: u16,
    /// Of these, N plies at most behind the last position that has a name as an
    /// opening; ChessBase proposes 20
    #[arg(long, value_name = "N")]
    pub(super) eco_relative: Option<u16>,
    /// Stores moves of this side only
    #[arg(long, value_name = "COLOUR")]
    only: Option<PlayerColour>,
    /// Leaves out positions and moves of fewer games
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) min_games: u32,
    #[command(flatten)]
    pub(super) filter: GameFilter,
    /// Counts a game that is there several times once: the same moves, result
    /// and family names
    #[arg(long)]
    pub(super) dedupe: bool,
}

#[cfg(feature = "build")]
impl Choice {
    /// The side whose moves alone are stored: that of `--only`, or of an `--as`
    /// that is nobody's colour.
    pub(super) fn only(&self) -> Option<PlayerColour> {
        self.only.or(self.filter.nobodys_colour())
    }
}

/// What of which games is counted, and how they are read.
#[cfg(feature = "build")]
#[derive(Args, Debug)]
pub(super) struct Counting {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// Stores moves of variations too, without numbers
    #[arg(long)]
    pub(super) variations: bool,
    /// Makes marks of the signs in the games: of moves (! ? !! ?? !? ?!, only
    /// move) and of positions (+=, -+ and the like). The most frequent one
    /// counts; of several, that of the best player
    #[arg(long)]
    pub(super) annotations: bool,
    /// Games that count like the others and whose moves get the `main` mark;
    /// may be given several times
    #[arg(long, value_name = "SOURCE")]
    pub(super) priority: Vec<PathBuf>,
    /// Counts games from set-up positions too
    #[arg(long)]
    pub(super) setups: bool,
    /// Threads that count [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroU16>,
    /// Memory for counting, as 64M or 2G; what does not fit is sorted on disk
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    pub(super) memory: u64,
    /// Folder for temporary files [default: the book's folder]
    #[arg(long, value_name = "FOLDER")]
    pub(super) temp: Option<PathBuf>,
    /// Prints one JSON object with the numbers of the book and of the games
    #[arg(long)]
    pub(super) json: bool,
    /// Ends with exit code 1 when games were skipped
    #[arg(long)]
    pub(super) strict: bool,
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

/// Arguments of `merge`.
#[derive(Args, Debug)]
pub(super) struct MergeArgs {
    /// The book to make; .cto and .ctb are put beside it
    #[arg(short, long, value_name = "OUT.ctg")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) force: Force,
    /// The books to add up
    #[arg(value_name = "BOOK", required = true, num_args = 2..)]
    pub(super) books: Vec<PathBuf>,
    /// Memory for sorting books whose pages follow no order, as 64M or 2G
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    pub(super) memory: u64,
    /// What cannot be read is an error: nothing is written then
    #[arg(long)]
    pub(super) strict: bool,
}

/// Arguments of `compact`.
#[derive(Args, Debug)]
pub(super) struct CompactArgs {
    /// The book, or a games index (.tgx)
    pub(super) book: PathBuf,
    /// The new one [default: in place of the old one]
    #[arg(short, long, value_name = "OUT.ctg")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) force: Force,
    /// Joins pages that the book has split although their positions fit one,
    /// and makes the index one that every reader can read
    #[arg(long)]
    pub(super) repack: bool,
    /// Memory for sorting a book whose pages follow no order, as 64M or 2G
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    pub(super) memory: u64,
    /// What cannot be read is an error: nothing is written then
    #[arg(long)]
    pub(super) strict: bool,
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

/// Divides what stands behind `--set`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_argument_explained() {
        let mut command = Cli::command();
        command.build();
        command.clone().debug_assert();
        for part in std::iter::once(&command).chain(command.get_subcommands()) {
            for argument in part.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    part.get_name(),
                    argument.get_id()
                );
            }
        }
    }

    #[test]
    fn play_is_the_default_and_takes_one_word_forms() {
        let cli = Cli::parse_from([
            "tabia",
            "--config=a.toml",
            "--engine=/opt/x",
            "--",
            "y",
            "-z",
        ]);
        assert!(cli.command.is_none());
        assert_eq!(cli.play.engine.as_deref(), Some("/opt/x"));
        assert_eq!(cli.play.command, ["y", "-z"]);
        let cli = Cli::parse_from([
            "tabia",
            "probe",
            "b.ctg",
            "8/8/8/8/8/8/8/Kk6",
            "w",
            "-",
            "-",
        ]);
        let Some(Command::Probe(probe)) = cli.command else {
            panic!("not probe");
        };
        assert_eq!(probe.fen.len(), 4);
    }
}
