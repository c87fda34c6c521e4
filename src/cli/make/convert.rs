//! `tabia convert`: converts books between formats.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};

use crate::cli::arguments::common::{self, Force, size};
use crate::cli::arguments::complete::{self, Of};
use crate::cli::files;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use tabia_analysis::prune::{self, Conditions};
use tabia_book::convert::{self, ConvertJob, Converted, JobPart, LINE_GAMES, PgnOptions};
use tabia_book::ctg::RewriteOptions;
use tabia_io::atomic::{Previous, TempFolder};
use tabia_io::input::path::has_extension;
use tabia_io::progress::Watch;
use tabia_notation::kind::{BookKind, Kind};

/// Examples of the help.
pub(crate) const HELP: &str = "Examples:\n  \
    tabia convert books/tabia.ctg tabia.jsonl\n  \
    tabia convert tabia.jsonl again.ctg\n  \
    tabia convert books/tabia.ctg tabia.bin --set \"Book Variety=30\"\n  \
    tabia convert books/tabia.ctg small.abk --max-ply 16 --min-games 20\n  \
    tabia convert books/tabia.ctg tabia.pgn --plies 16 --min-games 5\n  \
    tabia convert books/tabia.ctg lines.pgn --lines --report not-taken.csv\n  \
    tabia convert gm2001.bin gm2001.ctg\n\n\
    Reads .ctg, .bin, .abk, .bkt, .obk and .jsonl; writes .ctg, .bin, .abk, .jsonl, .pgn \
    and .csv. .jsonl holds all that a .ctg does. Others are read from the start position on; a \
    .bin also along moves that it does not store, as it has none of one side if it is for \
    the other.\n\n\
    Exit code 1 when parts of the book cannot be read, or no line was found to more than \
    half of its positions.";

/// A value of `--weights`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Weights {
    /// The probability with which the move is played, the likeliest 65,535
    Probability,
    /// The games of the move
    Games,
    /// Two points for a win and one for a draw, as Polyglot makes books
    Score,
}

/// A value of `--comments`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Comments {
    /// Nothing
    None,
    /// Games and score
    Short,
    /// Games, score, results, values, marks and probability
    Full,
}

/// Arguments of `convert`.
#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The book to read: .ctg, .bin, .abk, .bkt, .obk or .jsonl
    #[arg(value_name = "IN", add = complete::books())]
    input: PathBuf,
    /// The file to write: .ctg, .bin, .abk, .jsonl, .pgn or .csv
    #[arg(value_name = "OUT", required_unless_present = "named")]
    output: Option<PathBuf>,
    /// The file to write, as an option
    #[arg(
        short = 'o',
        long = "output",
        value_name = "OUT",
        conflicts_with = "output"
    )]
    named: Option<PathBuf>,
    /// To .bin: what becomes the weight of a move [default: probability]
    #[arg(long, value_name = "WHAT")]
    weights: Option<Weights>,
    /// To .bin: writes every position that an entry represents (also with colours or
    /// wings exchanged), not only those reached from the start position
    #[arg(long)]
    all: bool,
    /// To .bin: writes moves that are never played too, with weight 0
    #[arg(long)]
    keep_never: bool,
    /// To .bin, .abk, .csv and .pgn: sets one of the options that decide between
    /// moves
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Choice))]
    set: Vec<String>,
    /// Leaves out moves beyond N plies from the start position; of a .ctg or .jsonl, or
    /// to .pgn [default: all, to .pgn 40]
    #[arg(long = "max-ply", visible_alias = "plies", aliases = ["max-plies", "depth"],
          value_name = "N")]
    plies: Option<u32>,
    /// Leaves out positions and moves of fewer games; of a .ctg or .jsonl, or to .pgn
    /// [default: 1, of --lines 10]
    #[arg(long, value_name = "N")]
    min_games: Option<u32>,
    /// To .pgn: lines instead of a tree, of moves that may be as good as the best: the upper
    /// end of the 95 % interval of their score (Wilson) is not below the lower end of the
    /// best move's
    #[arg(long, conflicts_with_all = ["game_moves", "comments", "bare"])]
    lines: bool,
    /// A table of the moves that --lines does not take, with the reason of each
    #[arg(long, value_name = "FILE.csv", requires = "lines")]
    report: Option<PathBuf>,
    /// To .pgn: moves of one game, variations included; a larger tree becomes
    /// several games [default: 2000]
    #[arg(long, value_name = "N")]
    game_moves: Option<u32>,
    /// To .pgn: what comments say of each move [default: full]
    #[arg(long, value_name = "WHAT")]
    comments: Option<Comments>,
    /// To .pgn: the same as --comments none
    #[arg(long, conflicts_with = "comments")]
    bare: bool,
    /// To .ctg and .bin, and from .jsonl: memory for sorting alone, not for the whole
    /// program, as 64M or 2G; what does not fit is sorted on disk [default: 128M]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Unreadable parts of the book are an error, and nothing is written
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    force: Force,
}

impl ConvertArgs {
    /// Refuses an option that would have no effect on this target. Whoever limits the
    /// plies of a `.bin` would otherwise get, and play, the whole book.
    fn act_on(&self, output: &Path) -> anyhow::Result<()> {
        let pgn = JobPart::Pgn.formats();
        // From .jsonl most ways lead over a sorted .ctg.
        let sorts = self.memory.is_some() && !has_extension(&self.input, "jsonl");
        let typed = [
            (
                "--weights",
                self.weights.is_some(),
                JobPart::Weights.formats(),
            ),
            ("--all", self.all, JobPart::AllForms.formats()),
            (
                "--keep-never",
                self.keep_never,
                JobPart::KeepNever.formats(),
            ),
            ("--set", !self.set.is_empty(), JobPart::Policy.formats()),
            ("--lines", self.lines, pgn),
            ("--report", self.report.is_some(), pgn),
            ("--game-moves", self.game_moves.is_some(), pgn),
            ("--comments", self.comments.is_some(), pgn),
            ("--bare", self.bare, pgn),
            ("--memory", sorts, &["ctg", "bin"]),
        ];
        for (option, is_typed, targets) in typed {
            ensure!(
                !is_typed || targets.iter().any(|end| has_extension(output, end)),
                "{}: {option} is only for .{}",
                output.display(),
                targets.join(", .")
            );
        }
        let limits = [
            ("--max-ply", self.plies.is_some()),
            ("--min-games", self.min_games.is_some()),
        ];
        // Of other formats a ChessBase book is made first, and their weights would be lost.
        let kind = Kind::of_file(&self.input);
        let is_whole = match kind {
            Some(Kind::Book(book)) => book == BookKind::Ctg || book.is_text(),
            // Anything but a book is refused when it is read.
            Some(
                Kind::Pgn
                | Kind::Packed
                | Kind::GamesAsJson
                | Kind::Utf16
                | Kind::WebPage
                | Kind::LfsPointer
                | Kind::Tar
                | Kind::Sqlite
                | Kind::Other,
            )
            | None => true,
        };
        for (option, _) in limits.into_iter().filter(|(_, is_typed)| *is_typed) {
            ensure!(
                is_whole || has_extension(output, "pgn"),
                "{}: {option} is only for .ctg and .jsonl, or to .pgn: convert it to .ctg first",
                self.input.display()
            );
        }
        Ok(())
    }

    /// The book without what the limits leave out, in a folder that is removed; of a `.ctg`
    /// to be written that is all. To a `.pgn` they are limits of the lines.
    fn limited(&self, output: &Path) -> anyhow::Result<Limited> {
        let mut conditions = Conditions::default();
        conditions.max_ply = self.plies;
        conditions.min_games = self.min_games;
        if conditions.is_empty() || has_extension(output, "pgn") {
            return Ok(Limited::No);
        }
        let start = Instant::now();
        let folder = TempFolder::beside(output).with_context(|| output.display().to_string())?;
        let mut book = self.input.clone();
        if has_extension(&book, "jsonl") {
            book = folder.path().join("whole.ctg");
            let job = ConvertJob::new(self.input.clone(), book.clone()).strict(self.strict);
            progress::watched(|watch| convert::run(&job, watch))??;
        }
        files::only_ctg(&book)?;
        let is_all = has_extension(output, "ctg");
        let (smaller, old) = match is_all {
            true => (output.to_owned(), self.force.old()),
            false => (folder.path().join("book.ctg"), Previous::Refuse),
        };
        let options = RewriteOptions::default().strict(self.strict).old(old);
        let pruned =
            |watch: &mut Watch<'_>| prune::prune(&book, &smaller, &conditions, &options, watch);
        let done = progress::watched(pruned)??;
        summary!(
            "{}: {} left out by --max-ply or --min-games, and {} with {} more",
            self.input.display(),
            counted(done.moves, "move"),
            counted(done.positions, "position"),
            done.moves_of_removed
        );
        Ok(match is_all {
            true => {
                let what = format!("{}:", output.display());
                let made = &done.rewritten;
                let extra = made::lost(&made.salvage);
                let numbers = made::numbers(&made.written);
                made::made(&what, numbers, start.elapsed(), &extra);
                Limited::Done(u8::from(made.salvage.is_loss()))
            }
            false => Limited::Book {
                book: smaller,
                _folder: folder,
            },
        })
    }
}

/// The book within the limits of plies and games.
enum Limited {
    /// There are no limits.
    No,
    /// A smaller book, in a folder that is removed.
    Book { book: PathBuf, _folder: TempFolder },
    /// The file to write, with this exit code.
    Done(u8),
}

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<u8> {
    let output = args.output.as_ref().or(args.named.as_ref());
    let output = output.context("nothing to write: see --output")?;
    files::complete_interrupted(output)?;
    args.act_on(output)?;
    let min_games = if args.lines { LINE_GAMES } else { 1 };
    let usual = PgnOptions::default();
    let mut job = ConvertJob::new(args.input.clone(), output.clone())
        .policy(common::choice_options(&args.set)?.policy)
        .weights(match args.weights.unwrap_or(Weights::Probability) {
            Weights::Probability => convert::Weights::Probability,
            Weights::Games => convert::Weights::Games,
            Weights::Score => convert::Weights::Score,
        })
        .all_forms(args.all)
        .keep_never(args.keep_never)
        .pgn(
            PgnOptions::default()
                .plies(args.plies.unwrap_or(usual.plies))
                .min_games(args.min_games.unwrap_or(min_games))
                .lines(args.lines)
                .game_moves(args.game_moves.unwrap_or(usual.game_moves))
                .comments(match args.comments.unwrap_or(Comments::Full) {
                    _ if args.bare => convert::Comments::None,
                    Comments::None => convert::Comments::None,
                    Comments::Short => convert::Comments::Short,
                    Comments::Full => convert::Comments::Full,
                }),
        )
        .report(args.report.clone())
        .memory(args.memory.unwrap_or(128 << 20))
        .old(args.force.old())
        .strict(args.strict);
    convert::check(&job)?;
    let limited = args.limited(output)?;
    match &limited {
        Limited::No => {}
        Limited::Book { book, .. } => job.source.clone_from(book),
        Limited::Done(code) => return Ok(*code),
    }
    let start = Instant::now();
    let done = progress::watched(|watch| convert::run(&job, watch))??;
    Ok(report(output, &done, start))
}

/// Prints what a conversion has made; returns the exit code.
pub(crate) fn report(output: &Path, done: &Converted, start: Instant) -> u8 {
    for notice in &done.notices {
        message!("tabia: {notice}");
    }
    let mut extra = made::lost(&done.salvage);
    for note in &done.notes {
        extra += "; ";
        extra += note;
    }
    let games = match done.games {
        0 => String::new(),
        games => format!(" {},", counted(games, "game")),
    };
    let what = format!("{}:{games}", output.display());
    let numbers = [done.positions, done.moves, done.bytes];
    made::made(&what, numbers, start.elapsed(), &extra);
    let is_loss = done.salvage.is_loss() || done.is_mostly_unreached;
    u8::from(is_loss)
}
