//! The command line: one file for each command; the library crates do the work.
//!
//! Results go to standard output, messages to standard error. The exit codes are 0 for
//! success, 1 for a negative answer and 2 for wrong usage, configuration or files; if the
//! reader closes the output, the program ends with 0; work that Ctrl-C ended, with 130.

/// Writes a line to standard error, with control characters escaped. Errors are ignored,
/// because they could not be reported.
macro_rules! message {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!($crate::cli::messages(), $($text)*);
    }};
}

/// A [`message!`] about work that went well, which `--silent` leaves out. What was skipped,
/// lost or guessed is always reported.
macro_rules! summary {
    ($($text:tt)*) => {
        if !$crate::cli::is_silent() {
            message!($($text)*);
        }
    };
}

mod add;
mod also;
mod args;
mod audit;
mod build;
mod changes;
mod check_config;
mod check_engine;
mod collection;
mod columns;
mod command;
mod compact;
mod complete;
mod configuration;
mod convert;
mod counting;
mod diff;
mod diff_json;
mod diff_text;
mod difference;
mod engine_args;
mod engines;
mod evaluate;
mod evaluations;
mod explain;
mod explore;
mod games;
mod groups;
mod grow;
mod index;
mod info;
mod info_index;
mod info_other;
mod instead;
mod learn;
mod mark;
mod meant;
mod merge;
mod play;
mod probe;
mod progress;
mod prove;
mod provenance;
mod prune;
mod register;
mod repertoire;
mod replay;
mod report;
mod review;
mod review_record;
mod setup;
mod shell;
mod style;
mod suite;
mod suite_check;
mod tab;
mod table;
mod tree;
mod usage;
mod verify;
mod welcome;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory as _, FromArgMatches as _};

use command::{Cli, Command};
use configuration::{configuration, program};
use engines::{engine_command, engine_named};
use tabia_book::{Book, BookEditor, EditOptions, Pending};
use tabia_choice::book_set::Opener;
use tabia_io::atomic;
use tabia_io::input::path::{file_name, to_text};
use tabia_io::sanitize::Sanitized;
use tabia_notation::kind::{BookKind, Kind};
use tabia_notation::{Line, LineError};

/// Whether summaries and progress are left out.
static SILENT: AtomicBool = AtomicBool::new(false);

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Runs the program with its arguments.
#[must_use]
pub(crate) fn run() -> ExitCode {
    // First, because the answer is all that a shell may read.
    tab::answer(Cli::command);
    let tabia = || groups::grouped(Cli::command());
    let args = usage::typed();
    if let Some(problem) = meant::unquoted(&args) {
        message!("tabia: {problem}");
        return ExitCode::from(2);
    }
    let parsed = tabia().try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return usage::refuse(error, &args, &tabia()),
        // Help, version, or an error of the arguments.
        Err(error) => error.exit(),
    };
    SILENT.store(cli.silent, Ordering::Relaxed);
    match dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_closed_output(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(messages(), "tabia: {error:#}{}", usage::advice(&error));
            let tip = instead::of_line(&args, &tabia());
            if let Some(line) = tip.filter(|line| usage::is_accepted(line, &tabia())) {
                let _ = writeln!(messages(), "  tip: {line}");
            }
            ExitCode::from(progress::ended_by_signal().unwrap_or(2))
        }
    }
}

/// The line that the arguments describe; moves in the place of a position are moves.
fn line_of(fen: &[String], moves: Option<&str>) -> anyhow::Result<Line> {
    let fen = fen.join(" ");
    let error = match line_from(&fen, moves.unwrap_or_default()) {
        Ok(line) => return Ok(line),
        Err(error) => error,
    };
    // `tabia probe BOOK "e4 e5"`: moves in the place of a position, unless there are both.
    let all = [moves.unwrap_or_default(), &fen].join(" ");
    let all = all.trim();
    if matches!(error, LineError::Position(_))
        && !fen.trim().is_empty()
        && let Ok(line) = Line::read("", all)
    {
        anyhow::ensure!(
            moves.is_none(),
            "\"{fen}\" is a list of moves, not a position: write --moves \"{all}\""
        );
        return Ok(line);
    }
    Err(error.into())
}

/// Reads a position and moves from there, and reports how an incomplete position was
/// completed.
fn line_from(fen: &str, moves: &str) -> Result<Line, LineError> {
    let line = Line::read(fen, moves)?;
    if let Some(whole) = completed(fen, &line) {
        message!("tabia: {whole}");
    }
    Ok(line)
}

/// How an incomplete position was completed.
fn completed(fen: &str, line: &Line) -> Option<String> {
    let fen = fen.split(" moves").next().unwrap_or(fen);
    tabia_notation::is_incomplete(fen).then(|| {
        let whole = tabia_notation::fen(line.start());
        format!("this FEN lacks fields, and is taken as {whole}")
    })
}

/// Runs a command that prints, and flushes its output.
fn with_output<W: Write>(
    mut out: W,
    run: impl FnOnce(&mut W) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    let code = run(&mut out)?;
    out.flush()?;
    Ok(code)
}

fn dispatch(cli: Cli) -> anyhow::Result<u8> {
    match cli.command.unwrap_or(Command::Play(cli.play)) {
        Command::Play(args) => play::run(&args),
        Command::Check(args) => play::check(&args.play, args.options),
        Command::Info(args) => with_output(painted(), |out| info::run(&args, out)),
        Command::Probe(args) => with_output(painted(), |out| probe::run(&args, out)),
        Command::Build(args) => with_output(output(), |out| build::run(&args, out)),
        Command::Add(args) => with_output(output(), |out| add::run(&args, out)),
        Command::Games(args) => with_output(output(), |out| games::run(&args, out)),
        Command::Learn(args) => with_output(output(), |out| learn::run(&args, out)),
        Command::Index(args) => with_output(output(), |out| index::run(&args, out)),
        Command::Review(args) => with_output(output(), |out| review::run(&args, out)),
        Command::Suite(args) => with_output(output(), |out| suite::run(&args, out)),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Prove(args) => with_output(output(), |out| prove::run(&args, out)),
        Command::Grow(args) => grow::run(&args),
        Command::Audit(args) => with_output(output(), |out| audit::run(&args, out)),
        Command::Mark(args) => with_output(output(), |out| mark::run(&args, out)),
        Command::Merge(args) => merge::run(&args),
        Command::Repertoire(args) => with_output(output(), |out| repertoire::run(&args, out)),
        Command::Prune(args) => prune::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Verify(args) => with_output(output(), |out| verify::run(&args, out)),
        Command::Tree(args) => with_output(painted(), |out| tree::run(&args, out)),
        Command::Diff(args) => with_output(painted(), |out| diff::run(&args, out)),
        Command::Register(args) => with_output(painted(), |out| register::run(&args, out)),
        Command::Setup(args) => with_output(painted(), |out| setup::run(&args, out)),
        Command::Completions(args) => with_output(output(), |out| shell::completions(&args, out)),
        Command::Man(args) => with_output(output(), |out| shell::man(&args, Cli::command(), out)),
        Command::Explore(args) => with_output(output(), |out| explore::run(&args, out)),
        Command::CheckEngine(args) => with_output(output(), |out| check_engine::run(&args, out)),
        Command::Replay(args) => with_output(output(), |out| replay::run(&args, out)),
        #[cfg(feature = "builtin-engine")]
        Command::Engine => {
            crate::builtin::run(io::stdin().lock(), io::stdout())?;
            Ok(0)
        }
    }
}

/// Opens the book of a command, and prints its notices.
fn open_book(path: &Path, no_mmap: bool) -> anyhow::Result<Book> {
    let book = open_quietly(path, no_mmap)?;
    for notice in book.notices() {
        message!("tabia: {notice}");
    }
    Ok(book)
}

/// Opens the book of a command.
fn open_quietly(path: &Path, no_mmap: bool) -> anyhow::Result<Book> {
    refuse_index(path)?;
    let opener = Opener::here(!no_mmap);
    Ok(opener.open(&to_text(path))?)
}

/// Runs a command for each of several files; an error ends only what is done for its file.
/// The exit code is the highest.
fn for_each_file<W: Write>(
    paths: &[PathBuf],
    out: &mut W,
    run: impl Fn(&Path, &mut W) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    if let [path] = paths {
        return run(path, out);
    }
    let mut code = 0;
    for path in paths {
        code = code.max(match run(path, out) {
            Ok(code) => code,
            Err(error) if is_closed_output(&error) => return Err(error),
            Err(error) => {
                out.flush()?;
                let _ = writeln!(messages(), "tabia: {error:#}");
                2
            }
        });
    }
    Ok(code)
}

/// Fails for a games index, in commands that need a book.
fn refuse_index(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    anyhow::ensure!(
        !path.exists() || !info_index::is_index(path),
        "{name}: this is an index of games, not a book: `tabia explore {name}` shows its games, \
         `tabia build -o BOOK.ctg {name}` makes a book of them"
    );
    Ok(())
}

/// Before a book is changed or replaced: completes what was interrupted, and reports it.
/// The file may be of any kind, or not exist.
fn complete_interrupted(path: &Path) -> anyhow::Result<()> {
    for text in tabia_book::settle(path)? {
        message!("{text}");
    }
    if path.exists() && Pending::of_file(path)?.is_some() {
        let editor = BookEditor::open(path, &EditOptions::default())?;
        report_recovered(&editor);
    }
    Ok(())
}

/// Reports what was completed when a book was opened for changes.
fn report_recovered(editor: &BookEditor) {
    for text in editor.messages() {
        message!("{text}");
    }
}

/// Reports that the old files of a changed book are kept.
fn report_kept(book: &Path) {
    let kept = atomic::backup_of(book);
    let name = file_name(&kept);
    summary!("{}: the old book is kept as {name}", book.display());
}

/// The number of positions in a book's header, or of moves in a Polyglot book.
fn announced_size(book: &Book) -> u64 {
    match book {
        Book::Ctg(book) => book.header().positions.into(),
        Book::Bin(book) => book.len(),
        Book::Loaded(book) => book.positions(),
    }
}

/// Fails for books of other formats, in commands that need a ChessBase one.
fn only_ctg(path: &Path) -> anyhow::Result<()> {
    refuse_index(path)?;
    match Kind::of_file(path) {
        None | Some(Kind::Book(BookKind::Ctg)) => Ok(()),
        Some(Kind::Book(other)) => anyhow::bail!(
            "{}: {}; this needs a ChessBase book, `tabia convert` makes one from it",
            path.display(),
            other.with_article()
        ),
        Some(kind) => anyhow::bail!("{}: {}", path.display(), kind.no_book().unwrap_or_default()),
    }
}

/// Standard output, written in large chunks, with control characters escaped.
fn output() -> Sanitized<io::BufWriter<io::Stdout>> {
    Sanitized::new(io::BufWriter::new(io::stdout()))
}

/// Standard error, for messages, with control characters escaped.
fn messages() -> Sanitized<io::Stderr> {
    Sanitized::new(io::stderr())
}

/// Standard output for text with colours: these go only to a terminal, and not if
/// `NO_COLOR` is set.
fn painted() -> Sanitized<Box<dyn io::Write>> {
    let stdout = io::stdout();
    if anstream::AutoStream::choice(&stdout) == anstream::ColorChoice::Never {
        anstream::ColorChoice::Never.write_global();
        let buffer = io::BufWriter::with_capacity(64 << 10, stdout);
        return Sanitized::new(Box::new(buffer));
    }
    Sanitized::with_colours(Box::new(io::BufWriter::new(anstream::stdout())))
}

/// Prints one JSON object in one line.
fn print_json(object: &impl serde::Serialize, out: &mut impl Write) -> anyhow::Result<()> {
    Ok(writeln!(out, "{}", serde_json::to_string(object)?)?)
}

fn is_closed_output(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
