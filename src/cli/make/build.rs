//! `tabia build`: makes a book from games.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, Resettable, TypedValueParser as _};
use serde_json::json;

use super::also::Also;
use super::provenance;
use crate::cli::arguments::collection::{self, ReachArgs};
use crate::cli::arguments::common::{DryRun, Force};
use crate::cli::arguments::complete;
use crate::cli::arguments::counting::{Choice, Counting};
use crate::cli::files;
use crate::cli::judge::evaluations;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use shakmaty::Color;
use tabia_book::convert::{self, ConvertJob};
use tabia_book::ctg::{CtgBook, OpenOptions, RewriteOptions, Written, merge};
use tabia_build::{self as build, BuildError, BuildJob, Compression, Product, Source, Summary};
use tabia_io::atomic::{self, Previous, TempFolder};
use tabia_io::input::path::has_extension;
use tabia_notation::Line;
use tabia_notation::kind::Kind;

/// Arguments of `build`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct BuildArgs {
    /// The book to make: .ctg, with .cto and .ctb beside it; .bin, as
    /// `polyglot make-book` makes it; or .abk, .jsonl, .csv
    #[arg(
        short,
        long,
        value_name = "OUT.ctg|OUT.bin|OUT.abk",
        required_unless_present = "records"
    )]
    output: Option<PathBuf>,
    /// Writes the counts as a Parquet table instead of a book. Any SQL engine can add
    /// such tables up, and the sum is a source again (docs/cluster.md); --min-games applies
    /// when the book is made. --force leaves no .bak, which an engine would count again
    #[arg(long, value_name = "OUT.parquet", conflicts_with_all = ["output", "min_games", "annotations"])]
    records: Option<PathBuf>,
    /// How the table of --records is packed
    #[arg(
        long,
        value_name = "NAME",
        default_value = Compression::default().name(),
        conflicts_with = "output",
        value_parser = PossibleValuesParser::new(Compression::ALL.map(Compression::name))
            .map(|name| Compression::ALL.into_iter().find(|one| one.name() == name).unwrap_or_default())
    )]
    compression: Compression,
    /// Of more games than a position of a .ctg can count (16777215): divides the numbers of
    /// all positions by the same, so that they stay comparable. Without it each position with
    /// more has the greatest number
    #[arg(long, conflicts_with = "records")]
    scale_counts: bool,
    /// Makes another book in the same pass over the games, from those that meet these
    /// conditions: as "white1800.ctg: --ratings 1800 --colour white"; may be
    /// given several times. After the colon come the options that choose games,
    /// plies and moves (--max-ply, --eco-relative, --min-games, --dedupe,
    /// and all conditions on games); how games are read is given before it, for all
    /// books, as are --line and --fen for those without their own. BOOK has any format of
    /// --output. Implies --provenance
    #[arg(long, value_name = "BOOK: OPTIONS", conflicts_with = "records", value_parser = Also::read)]
    also: Vec<Also>,
    /// Writes OUT.provenance.json beside the book: sources, conditions, counts,
    /// and the version of this program
    #[arg(long)]
    provenance: bool,
    /// Writes the evaluations in the comments of the games ([%eval 0.31]) to OUT.evals,
    /// as `tabia evaluate --import` does; reads the games twice
    #[arg(long, conflicts_with = "records")]
    evaluations: bool,
    #[command(flatten)]
    force: Force,
    /// Games: .pgn, also .gz, .zst or .bz2; databases (docs/databases.md); a folder
    /// with such files; or `-` for PGN on standard input. Or records: .parquet, whose
    /// games were chosen, and their plies cut, when they were written. Or books: .ctg,
    /// whose numbers are added to those of the games
    #[arg(
        value_name = "SOURCE",
        required_unless_present = "priority",
        add = complete::books_and_games(),
        help_heading = Resettable::Reset
    )]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    games: Counting,
}

/// Ends of the files that are made from a finished book.
const CONVERTED: [&str; 3] = ["abk", "jsonl", "csv"];

pub(crate) fn run(args: &BuildArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let (product, target) = match (&args.output, &args.records) {
        (_, Some(records)) => (Product::Records, records),
        (Some(book), None) => (args.games.choice.product(book)?, book),
        (None, None) => anyhow::bail!("nothing to make: see --output"),
    };
    check_name(target, product)?;
    files::complete_interrupted(target)?;
    let job = job(&args.games, &args.sources, target, args.force.old())
        .product(product)
        .compression(args.compression)
        .scale_counts(args.scale_counts);
    make(args, job, out)
}

/// Refuses a name whose end is of no book.
fn check_name(target: &Path, product: Product) -> anyhow::Result<()> {
    match product {
        Product::Book => {}
        Product::Polyglot(_) | Product::Records => return Ok(()),
    }
    let name = target.display();
    ensure!(
        !has_extension(target, "pgn"),
        "{name}: this makes a book; `tabia games -o {name}` writes games, and `tabia convert \
         BOOK.ctg {name}` the lines of a book"
    );
    ensure!(
        has_extension(target, "ctg") || is_converted(target),
        "{name}: the name of a book ends with .ctg, .bin, .abk, .jsonl or .csv"
    );
    Ok(())
}

/// Whether this file is made from a finished book.
fn is_converted(target: &Path) -> bool {
    CONVERTED.iter().any(|end| has_extension(target, end))
}

/// A book that is made.
struct Making {
    /// The file that was asked for.
    asked: PathBuf,
    /// For a file that is made from a ChessBase book, makes that one in the folder, which is
    /// removed.
    job: BuildJob,
    folder: Option<TempFolder>,
}

impl Making {
    fn new(args: &BuildArgs, mut job: BuildJob) -> anyhow::Result<Making> {
        let asked = job.target.clone();
        let mut folder = None;
        if job.product == Product::Book && is_converted(&asked) {
            let name = asked.display();
            for (option, is_typed) in [
                ("--evaluations", args.evaluations),
                ("--json", args.games.work.json),
            ] {
                ensure!(!is_typed, "{name}: {option} is only for .ctg and .bin");
            }
            convert::check_target(&asked, job.old)?;
            let made = TempFolder::beside(&asked).with_context(|| name.to_string())?;
            job = job.target(made.path().join("book.ctg"));
            folder = Some(made);
        }
        Ok(Making { asked, job, folder })
    }

    /// Makes the file from its book; the numbers are then those of the file.
    fn convert(&self, made: &mut Written) -> anyhow::Result<u8> {
        if self.folder.is_none() {
            return Ok(0);
        }
        let job = ConvertJob::new(self.job.target.clone(), self.asked.clone()).old(self.job.old);
        let start = Instant::now();
        let done = progress::watched(|watch| convert::run(&job, watch))??;
        (made.positions, made.moves, made.bytes) = (done.positions, done.moves, done.bytes);
        Ok(super::convert::report(&self.asked, &done, start))
    }
}

/// Makes a book or records.
fn make(args: &BuildArgs, mut job: BuildJob, out: &mut impl Write) -> anyhow::Result<u8> {
    let product = job.product;
    job.filter.reaches = args.reach.position()?;
    let books = books_among(&args.sources)?;
    if books.is_empty() {
        return build_all(args, job, out);
    }
    ensure!(args.records.is_none(), "--records takes games, not books");
    let name = job.target.display();
    ensure!(
        !is_converted(&job.target),
        "{name}: this is made of games; `tabia merge -o {name}` adds books"
    );
    ensure!(args.also.is_empty(), "--also takes games, not books");
    ensure!(!args.provenance, "--provenance takes games, not books");
    ensure!(!args.evaluations, "--evaluations takes games, not books");
    // The counts of the books stay as they are: the sum would have other proportions.
    ensure!(!args.scale_counts, "--scale-counts takes games, not books");
    ensure!(
        product == Product::Book,
        "{}: a Polyglot book is made of games; `tabia merge` adds Polyglot books",
        job.target.display()
    );
    atomic::check(&job.target, &["cto", "ctb"], job.old)?;
    add_to_books(&args.games, job, books, &[], DryRun::NO, out)
}

/// Makes the book, or records, and the books of `--also`, in one pass.
fn build_all(args: &BuildArgs, job: BuildJob, out: &mut impl Write) -> anyhow::Result<u8> {
    let also = args.also.iter().map(|also| {
        let product = also.choice.product(&also.target)?;
        let mut job = also.choice.apply(job.clone());
        if also.reaches.is_some() {
            job.filter.reaches.clone_from(&also.reaches);
        }
        check_name(&also.target, product)?;
        Ok(job.target(also.target.clone()).product(product))
    });
    let also: Vec<BuildJob> = also.collect::<anyhow::Result<_>>()?;
    let all = std::iter::once(job).chain(also);
    let all: Vec<Making> = all
        .map(|job| Making::new(args, job))
        .collect::<anyhow::Result<_>>()?;
    let jobs: Vec<BuildJob> = all.iter().map(|making| making.job.clone()).collect();
    if args.evaluations {
        jobs.iter().try_for_each(evaluations::check_sources)?;
    }
    let games = &args.games;
    ensure!(
        !(games.variations || games.annotations || !games.priority.is_empty())
            || !jobs.iter().all(|job| job.product.is_polyglot()),
        "--variations, --annotations and --priority are for ChessBase books (.ctg): a Polyglot \
         book has only moves of games and their weights"
    );
    ensure!(
        !args.scale_counts || jobs.iter().any(|job| job.product == Product::Book),
        "--scale-counts is for ChessBase books (.ctg): the weights of a Polyglot book are in proportion anyway"
    );
    let several = jobs.len() > 1;
    for (index, Making { asked, job, .. }) in all.iter().enumerate() {
        // Books of the same name but for its end would have one file of provenance.
        let of = provenance::path_of;
        let mut others = all.iter().take(index);
        ensure!(
            !others.any(|other| atomic::is_same_file(&of(&other.asked), &of(asked))),
            "--also {}: there is another book of this name in the same command",
            asked.display()
        );
        if several || args.provenance {
            provenance::check(asked, job.old)?;
        }
    }
    let start = Instant::now();
    let made = progress::watched(|watch| build::run_all(&jobs, watch))?;
    let made = made.map_err(|error| match error {
        BuildError::Book { path, error } => {
            let making = all.iter().find(|making| making.job.target == path);
            let path = making.map_or(path, |making| making.asked.clone());
            BuildError::Book { path, error }
        }
        error => error,
    })?;
    let time = start.elapsed();
    if let Some(summary) = made.first() {
        collection::report(&summary.tally);
    }
    let mut code = 0;
    let choices = std::iter::once(&args.games.choice).chain(args.also.iter().map(|a| &a.choice));
    for ((making, mut summary), choice) in all.iter().zip(made).zip(choices) {
        let Making { asked, job, .. } = making;
        let target = asked.display().to_string();
        report(&target, job, &summary, time);
        code = code.max(making.convert(&mut summary.written)?);
        if several || args.provenance {
            let job = job.clone().target(asked.clone());
            provenance::write(&job, &args.games, choice, &summary)?;
        }
        let evaluations = match args.evaluations {
            true => Some(evaluations::of_games(job)?),
            false => None,
        };
        if args.games.work.json {
            let mut object = to_json(summary.games, &summary.written, &summary);
            if let Some(new) = evaluations {
                object["evaluations"] = new.into();
            }
            if several {
                object["book"] = target.into();
            }
            writeln!(out, "{object}")?;
        }
        code = code.max(collection::exit_code(
            args.games.work.strict,
            &summary.tally,
        ));
    }
    Ok(code)
}

/// The sources that are books.
pub(crate) fn books_among(sources: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let books: Vec<PathBuf> = sources
        .iter()
        .filter(|path| is_book(path))
        .cloned()
        .collect();
    for book in &books {
        if has_extension(book, "pgn") {
            let text = Kind::of_file(book).and_then(Kind::no_games);
            anyhow::bail!("{}: {}", book.display(), text.unwrap_or_default());
        }
        files::only_ctg(book)?;
    }
    Ok(books)
}

fn to_json(games: u64, written: &Written, summary: &Summary) -> serde_json::Value {
    let mut object = json!(provenance::BuildNumbers::new(games, written, summary));
    object["bytes"] = written.bytes.into();
    object
}

/// Makes one book of the games and another of the lines, and adds them to the others.
pub(crate) fn add_to_books(
    args: &Counting,
    mut job: BuildJob,
    mut books: Vec<PathBuf>,
    lines: &[(Line, Vec<(usize, u8)>)],
    dry_run: DryRun,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    ensure!(
        args.choice.min_games <= 1 || books.iter().all(|book| *book == job.target),
        "--min-games {} cannot be used with a .ctg source: a book does not say how often \
         each of its moves was played",
        args.choice.min_games
    );
    let target = job.target.clone();
    // A book for one side gets moves of that side only.
    for book in &books {
        let side = CtgBook::open(book, &OpenOptions::default())?.only();
        if *book == target && job.only.is_none() {
            job.only = side;
        }
        ensure!(
            job.only.is_none() || job.only == side || *book == target && side.is_none(),
            "{}: not a book for {} only; `tabia prune --colour` makes one from it",
            book.display(),
            job.only.unwrap_or(Color::White)
        );
    }
    let start = Instant::now();
    let mut games = Summary::default();
    let given = books.clone();
    let beside = TempFolder::beside(&target).with_context(|| target.display().to_string())?;
    let options = RewriteOptions::default()
        .old(job.old)
        .memory(args.work.memory)
        .strict(args.work.strict)
        .whole(books.contains(&target));
    if !job.sources.is_empty() {
        job.target = beside.path().join("games.ctg");
        games = build_games(&job, "the games")?;
        books.push(job.target);
    }
    if !lines.is_empty() {
        let path = beside.path().join("lines.ctg");
        build::write_lines(lines, &path, job.only)?;
        books.push(path);
    }
    let made = match dry_run.dry_run {
        true => beside.path().join("dry-run.ctg"),
        false => target.clone(),
    };
    let done = progress::watched(|watch| merge(&made, &books, &options, watch))??;
    let what = format!(
        "{}: {}",
        target.display(),
        counted(books.len() as u64, "book")
    );
    let code = made::report(&what, &done, start);
    made::report_side(&done, &made, &books, &given);
    dry_run.note();
    if options.whole && !dry_run.dry_run {
        files::report_kept(&target);
    }
    if args.work.json {
        writeln!(out, "{}", to_json(done.games.into(), &done.written, &games))?;
        out.flush()?;
    }
    Ok(code.max(collection::exit_code(args.work.strict, &games.tally)))
}

fn build_games(job: &BuildJob, name: &str) -> anyhow::Result<Summary> {
    let start = Instant::now();
    let summary = progress::watched(|watch| build::run(job, watch))??;
    collection::report(&summary.tally);
    report(name, job, &summary, start.elapsed());
    Ok(summary)
}

fn is_book(path: &Path) -> bool {
    matches!(Kind::of_file(path), Some(Kind::Book(_)))
}

pub(crate) fn job(args: &Counting, sources: &[PathBuf], target: &Path, old: Previous) -> BuildJob {
    if args.variations || args.annotations {
        // A pipe is read once only.
        let files = sources.iter().filter(|path| path.is_file());
        for path in files.filter(|path| files::is_index(path)) {
            message!(
                "tabia: {}: an index of games holds no variations and annotations",
                path.display()
            );
        }
    }
    let source =
        |priority| move |path: &std::path::PathBuf| Source::new(path.clone()).priority(priority);
    // A file that is named twice counts once, as a priority.
    let mut all: Vec<Source> = args.priority.iter().map(source(true)).collect();
    let games = sources.iter().filter(|path| !is_book(path));
    all.extend(games.map(source(false)));
    let job = BuildJob::new(all, target.to_owned())
        .old(old)
        .password(args.choice.filter.password.clone())
        .encoding(args.choice.filter.encoding)
        .variations(args.variations)
        .annotations(args.annotations)
        .setups(args.setups)
        .threads(collection::threads(args.work.threads))
        .memory(args.work.memory)
        .temp(args.work.temp.clone());
    args.choice.apply(job)
}

impl Choice {
    /// Applies these options for games, plies and moves.
    fn apply(&self, job: BuildJob) -> BuildJob {
        let mut filter = self.filter.filter();
        // Given once for all books.
        filter.reaches = job.filter.reaches.clone();
        job.filter(filter)
            .max_ply(self.max_ply.into())
            .eco_relative(self.eco_relative.map(usize::from))
            .only(self.only().map(shakmaty::Color::from))
            .min_games(self.min_games)
            .dedupe(self.dedupe)
    }
}

fn report(name: &str, job: &BuildJob, summary: &Summary, time: Duration) {
    let games = &summary.tally;
    let filtered = collection::counts([(games.filtered, "games filtered out")]);
    let extra = collection::counts([
        (summary.duplicates, "duplicates"),
        (games.skipped, "games skipped"),
        (games.cut, "games cut short"),
        (games.null_variations, "variations ended by a null move"),
        (games.left_out, "deleted games and texts left out"),
        (
            summary.unstorable,
            "moves left out that the format cannot hold",
        ),
        (summary.sorted_on_disk, "bytes through temporary files"),
    ]);
    // Who does not choose a length should know it: players miss move 21 in their books.
    let usual = BuildJob::new(Vec::new(), PathBuf::new()).max_ply;
    // In records the plies are cut already.
    let length = match job.max_ply == usual && games.read > 0 {
        true => format!("; up to move {} (--max-ply)", usual / 2),
        false => String::new(),
    };
    let extra = format!("{filtered}{}{extra}{length}", collection::unrated(games));
    let what = format!("{name}: {},", counted(summary.games, "game"));
    made::made(&what, made::numbers(&summary.written), time, &extra);
}
