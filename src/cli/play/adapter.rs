//! `tabia play`: the adapter between a GUI and an engine.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chrono::SecondsFormat;
use rand::RngExt;

use super::check_config::{self, files_in_the_way};
use crate::cli::arguments::common::PlayArgs;
use crate::cli::arguments::configuration::{configuration, program};
use crate::cli::arguments::engines;
use crate::cli::help::welcome;
use crate::cli::print::output::{self, output};
use crate::cli::set_up::setup;
use tabia_adapter::config::Config;
use tabia_adapter::relay::{self, Environment, Files, SideFileError, Warnings};
use tabia_adapter::session::{Engines, GameRecord, Profile, Session};
use tabia_adapter::transcript::{self, LogHeader, Transcript};
use tabia_choice::book_set::{BookSet, BookSpec, Opener};
use tabia_choice::seeds::TakenSeed;
use tabia_choice::settings::BookFiles;
use tabia_engine::{EngineCommand, itself};
use tabia_io::sanitize::{Bounded, escape_control};
use tabia_io::{append_line, begin_lines, check_header};

/// Greatest size in bytes of a `--log` file, so that an engine with endless output does
/// not fill the disk.
const LOG_LIMIT: u64 = 4 << 30;

/// How long the books of the command line may take to open before the game begins.
const OPEN_LIMIT: Duration = Duration::from_secs(2);

/// How long to wait for another adapter that writes to the file of `--games`.
const RECORD_WAIT: Duration = Duration::from_millis(100);

/// Runs the adapter until the GUI or the engine ends it; returns the exit code.
pub(crate) fn run(args: &PlayArgs) -> anyhow::Result<u8> {
    if args.check_config {
        return check(args, false);
    }
    if itself::is_engine_of_tabia() {
        // The other Tabia reads this line, and shows it to the user.
        writeln!(io::stdout(), "{}", itself::REFUSAL)?;
        return Ok(2);
    }
    let config = configuration(&args.config)?;
    let (mut engines, commands) = engines::engines(args, &config)?;
    engines.record_games = args.games.is_some();
    let opener = opener(args, &config);
    let mut remarks = try_books(args, &opener)?;
    start_log();
    let typed = match welcome::is_due(args, &config) {
        true => Some(welcome::ask(&plays(&engines))?),
        false => {
            greet(&engines);
            None
        }
    };
    if typed.as_deref().and_then(welcome::is_yes) == Some(true) {
        return output::with_output(output::painted(), |out| {
            setup::run(&setup::SetupArgs::default(), out)
        });
    }
    let seed = rand::rng().random();
    let transcript = args.log.as_ref().and_then(|path| {
        let begun = transcript(path, seed, &engines, &commands, &opener, &mut remarks);
        // Play even if the log cannot be written.
        begun
            .map_err(|error| remarks.push(format!("{error:#}: this game is not logged")))
            .ok()
    });
    let record = match args.games.as_deref().map(begin_record).transpose() {
        Ok(path) => path,
        Err(error) => {
            remarks.push(format!("{error:#}: games are not recorded"));
            None
        }
    };
    if let Some(profile) = engines.profiles.first() {
        remarks.extend(files_in_the_way(profile, &opener));
    }
    for remark in &remarks {
        warn(remark);
    }
    let (mut input, output) = relay::standard_streams().context("standard input and output")?;
    if let Some(line) = typed.filter(|line| welcome::is_yes(line).is_none()) {
        input = welcome::with_line(line, input).context("standard input")?;
    }
    let files = PlayFiles { opener, record };
    let mut environment = Environment::new((input, output), commands, files);
    environment.transcript = transcript;
    environment.remarks = remarks;
    let session = Session::new(engines, seed);
    let ended = relay::run(session, environment).context("standard input and output")?;
    if let Some(reason) = &ended.reason {
        warn(reason);
    }
    Ok(ended.code)
}

/// `tabia check`: tests what [`run`] would use; returns the exit code.
pub(crate) fn check(args: &PlayArgs, all_options: bool) -> anyhow::Result<u8> {
    let config = configuration(&args.config)?;
    let (engines, commands) = engines::engines(args, &config)?;
    let opener = opener(args, &config);
    let troubles = [
        args.games.as_deref().map(try_record),
        args.log.as_deref().map(try_log),
    ];
    let troubles = troubles.into_iter().flatten().filter_map(Result::err);
    let troubles: Vec<String> = troubles.map(|error| format!("{error:#}")).collect();
    let out = &mut output();
    let tested = (&engines, &*commands);
    let works = check_config::print(&config, tested, &opener, &troubles, all_options, out)?;
    Ok(if works { 0 } else { 2 })
}

/// Tests whether a game could use the file of `--games`, which is not made.
fn try_record(path: &Path) -> anyhow::Result<()> {
    let tried = || match path.exists() {
        true => check_header(
            &mut File::options().read(true).append(true).open(path)?,
            &record_header(),
        ),
        false => try_folder(path),
    };
    tried().with_context(|| path.display().to_string())
}

/// Tests whether a game could write the file of `--log`, which is not changed.
fn try_log(path: &Path) -> anyhow::Result<()> {
    let tried = match path.exists() {
        true => transcript::check_log(path),
        false => try_folder(path),
    };
    tried.with_context(|| format!("log {}", path.display()))
}

/// Tests whether a file can be made where this one would be.
fn try_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map(drop)
}

fn opener(args: &PlayArgs, config: &Config) -> Opener {
    Opener {
        folders: book_folders(config),
        mmap: !args.no_mmap,
        settles: true,
    }
}

/// Fails if a book that the command line names cannot be opened; returns which interrupted
/// changes of these books were completed or taken back.
///
/// Not if this takes long, as on a server that does not answer: then the game begins
/// without it.
fn try_books(args: &PlayArgs, opener: &Opener) -> anyhow::Result<Vec<String>> {
    let named = engines::named_books(args)?;
    if named.is_empty() {
        return Ok(Vec::new());
    }
    // What is settled here is not looked for a second time.
    let (settler, opener) = (
        opener.clone(),
        Opener {
            settles: false,
            ..opener.clone()
        },
    );
    let (to_result, result) = mpsc::channel();
    thread::spawn(move || {
        let opened = named.iter().map(|path| {
            let settled = settler.settle(path);
            opener.open(path).map(|_| settled)
        });
        let _ = to_result.send(opened.collect::<Result<Vec<_>, _>>());
    });
    let opened = result.recv_timeout(OPEN_LIMIT).unwrap_or(Ok(Vec::new()));
    let settled = opened.map_err(|error| anyhow::anyhow!("book {error}"))?;
    Ok(settled.concat())
}

/// The first line of the file of `--games`.
fn record_header() -> String {
    format!("{}\n", GameRecord::HEADER)
}

/// Begins the file of `--games`; returns its whole path.
fn begin_record(path: &Path) -> anyhow::Result<PathBuf> {
    // A match manager may start several adapters in different folders.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    begin_lines(&path, &record_header(), RECORD_WAIT)
        .with_context(|| path.display().to_string())?;
    Ok(path)
}

/// The files of a game: books and what is beside them, and the file of `--games`.
struct PlayFiles {
    opener: Opener,
    record: Option<PathBuf>,
}

impl Files for PlayFiles {
    fn open_books(&self, books: &[BookSpec], present: &BookSet) -> (BookSet, Vec<String>) {
        self.opener.book_set(books, present)
    }

    fn take_seed(&self, path: &str) -> Result<TakenSeed, SideFileError> {
        Ok(self.opener.take_seed(path)?)
    }

    fn cover_file(&self, book: &str) -> Option<PathBuf> {
        self.opener.cover_file(book)
    }

    fn record(&self, record: &GameRecord) -> Result<(), SideFileError> {
        let Some(path) = &self.record else {
            return Ok(());
        };
        let now = chrono::Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let line = format!("{now},{}", record.line());
        append_line(path, &record_header(), &line, RECORD_WAIT).map_err(|error| {
            let path = path.clone();
            SideFileError::Record { path, error }
        })
    }
}

/// Creates the file of `--log`, or adds another session to it.
fn transcript(
    path: &Path,
    seed: u64,
    engines: &Engines,
    commands: &[EngineCommand],
    opener: &Opener,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Transcript> {
    let name = || format!("log {}", path.display());
    let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
    let text = |path: &PathBuf| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        path.to_string_lossy().into_owned()
    };
    // The current folder is searched last; it is a different one in a replay.
    let here = PathBuf::from(".");
    let folders: Vec<String> = opener.folders.iter().chain([&here]).map(text).collect();
    let begun = chrono::Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    let mut header = LogHeader::new(engines, seed);
    header.version = env!("CARGO_PKG_VERSION");
    header.begun = &begun;
    header.commands = &commands;
    header.folders = &folders;
    header.mmap = opener.mmap;
    let (file, taken) = transcript::create(path).with_context(name)?;
    if taken != *path {
        let (path, taken) = (path.display(), taken.display());
        remarks.push(format!(
            "log {path} is in use by another adapter: this one writes {taken}"
        ));
    }
    let left = LOG_LIMIT.saturating_sub(file.metadata().with_context(name)?.len());
    let file = BufWriter::new(Bounded::new(file, left));
    let opener = opener.clone();
    let identify = Box::new(move |path: &str| opener.identity(path));
    Transcript::begin(Box::new(file), &header, identify).with_context(name)
}

/// Where books with relative paths are searched: next to the configuration, next to the
/// program; last the current folder, because a GUI may start Tabia anywhere.
fn book_folders(config: &Config) -> Vec<PathBuf> {
    [config.path.clone(), program()]
        .into_iter()
        .flatten()
        .filter_map(|path| path.parent().map(PathBuf::from))
        .collect()
}

/// Sends warnings to standard error, as set by `RUST_LOG`.
///
/// Lines have no level names, and numbers of errors another name: PyChess takes the word
/// "error" on standard error for a crash.
fn start_log() {
    let begun = Instant::now();
    env_logger::Builder::from_default_env()
        .format(move |buffer, record| {
            let ms = begun.elapsed().as_secs_f64() * 1000.0;
            let text = record.args().to_string().replace("(os error ", "(code ");
            writeln!(buffer, "{ms:10.3} {}", escape_control(&text))
        })
        .target(env_logger::Target::Pipe(Box::new(Warnings)))
        .init();
}

/// Writes a message about the game to standard error, as far as anybody reads it.
fn warn(text: &str) {
    let line = format!("tabia: {}\n", escape_control(text));
    let _ = Warnings.write_all(line.as_bytes());
}

/// Explains the program to a user at a terminal.
fn greet(engines: &Engines) {
    if !io::stdin().is_terminal() {
        return;
    }
    summary!(
        "Tabia {}: a UCI engine made of {}. Type \"uci\", or run tabia --help.",
        env!("CARGO_PKG_VERSION"),
        plays(engines),
    );
}

/// The engines and the book as a short text.
fn plays(engines: &Engines) -> String {
    let names: Vec<&str> = engines
        .profiles
        .iter()
        .take(engines.chain)
        .map(|profile| profile.name.as_str())
        .collect();
    let book = engines.profiles.first().map(book_text).unwrap_or_default();
    format!("{} and the book {book}", names.join(" or "))
}

fn book_text(profile: &Profile) -> String {
    match &profile.settings.options().file {
        BookFiles::Configured => profile
            .books
            .iter()
            .map(|book| book.path.as_str())
            .collect::<Vec<_>>()
            .join("; "),
        listed @ BookFiles::Listed(_) => listed.to_string(),
    }
}
