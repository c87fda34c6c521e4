//! `tabia explore`: shows books in the browser.

use std::collections::HashSet;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use clap::Args;

use crate::cli::arguments::common;
use crate::cli::arguments::complete::{self, Of};
use crate::cli::arguments::configuration::{self, ConfigArgs, NO_FOLDER};
use crate::cli::arguments::engines;
use crate::cli::make::index;
use crate::cli::print::progress;
use tabia_adapter::config::Config;
use tabia_choice::book_set::Opener;
use tabia_choice::learn;
use tabia_choice::settings::STARTER;
use tabia_explorer::{
    Access, AllowedOrigin, EngineChoice, Explorer, FileOpener, Games, Limits, NoIndex, Notify,
    OpenError, Reports, Source, has_games, machine, serve,
};
use tabia_index::{GamesIndex, IndexJob};
use tabia_io::input::path::{file_name, from_home, to_text};
use tabia_io::progress::Progress;

/// Arguments of `explore`.
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    /// The books; the page shows the first, or two side by side [default: those of
    /// engines.toml, and their folders; else the starter book, read-only]. Games indexes (.tgx) are shown after the books, and
    /// answer requests to an opening explorer; PGN files and databases too: an index of them is made for
    /// this run
    #[arg(value_name = "BOOK|GAMES", add = complete::books_and_games())]
    pub(crate) book: Vec<PathBuf>,
    /// The page may open the books and games of this folder and those below
    /// it, down to the fifth; may be given several times, and adds to `folder` of
    /// the configuration
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
    /// Port of the page [default: 9002, or the next one that is free]
    #[arg(long, value_name = "N", help_heading = "The page")]
    pub(crate) port: Option<u16>,
    /// Nothing can be changed
    #[arg(long, help_heading = "The page")]
    pub(crate) read_only: bool,
    /// Prints the address and does not open a browser
    #[arg(long, help_heading = "The page")]
    pub(crate) no_open: bool,
    /// Address to listen at, so that other machines can show the books, read-only
    /// [default: 127.0.0.1, this machine alone]
    #[arg(long, value_name = "ADDR", help_heading = "The page")]
    pub(crate) listen: Option<IpAddr>,
    /// Pages of this site may read the answers of the opening explorer (/masters,
    /// /lichess, /player ...), as https://example.org; `any` for all sites; may be
    /// given several times
    #[allow(rustdoc::bare_urls)] // The help is plain text.
    #[arg(long, value_name = "URL", help_heading = "The page")]
    pub(crate) allow_origin: Vec<AllowedOrigin>,
    /// Sets a UCI option that decides between moves
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Choice), help_heading = "Moves and engine")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The engine that evaluates the position on the page, on request: a name from the
    /// configuration, or the path of a program [default: that
    /// of the configuration, else Stockfish, else the built-in one]
    #[arg(long, value_name = "NAME", add = complete::engines(), help_heading = "Moves and engine")]
    pub(crate) engine: Option<String>,
    /// Threads that this engine may use [default: as configured]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Moves and engine")]
    pub(crate) threads: Option<u16>,
    /// Reads books by system calls instead of mapping them into memory
    #[arg(long)]
    pub(crate) no_mmap: bool,
}

pub(crate) fn run(args: &ExploreArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let mut books = Vec::new();
    let config = configuration(args)?;
    let configured = match args.book.is_empty() {
        true => configured_books(config.as_ref()),
        false => Vec::new(),
    };
    // A file that is named twice is opened once, as by the page: its games count once.
    let mut known = HashSet::new();
    let all = args.book.iter().chain(&configured).cloned();
    let all = all.filter(|path| {
        let file = path.canonicalize();
        known.insert(file.unwrap_or_else(|_| path.clone()))
    });
    let (index_paths, paths): (Vec<PathBuf>, Vec<PathBuf>) = all.partition(|path| has_games(path));
    let opener = Opener {
        settles: !args.read_only,
        ..Opener::here(!args.no_mmap)
    };
    let options = common::options(&args.set, |_| true, "")?;
    let opening = FileOpener::new(opener, options.clone(), args.read_only, Reported);
    // The first Ctrl-C or SIGTERM stops the server after the current answers; then the
    // old books for undo, and the indexes of this run, are deleted.
    let stop = Arc::new(Notify::new());
    let raised = Arc::clone(&stop);
    progress::at_end(move || raised.notify_one())?;
    // Before the games are read: pages that open them as they are now get no second index.
    let sources: Vec<_> = index_paths.iter().map(|path| Source::now(path)).collect();
    let indexes = index_paths.iter();
    let indexes = indexes.map(|path| opening.games(path, &mut |_| {}));
    let indexes: Result<Vec<GamesIndex>, _> = indexes.collect();
    let indexes = indexes.map_err(|error| anyhow!(error))?;
    let games = Games::new(indexes, !args.no_mmap);
    let mut folders = folders(args, config.as_ref())?;
    folders.extend(folders_of(&configured));
    if folders.is_empty() {
        folders = usual_folders();
    }
    if args.book.is_empty() && configured.is_empty() {
        books.push(opening.book(STARTER, "Starter book".to_owned())?);
    }
    let mut unreadable = None;
    let mut names = names(&[paths.as_slice(), &index_paths].concat());
    let index_names = names.split_off(paths.len());
    for (path, name) in paths.iter().zip(names) {
        match opening.book(&to_text(path), name) {
            Ok(book) => books.push(book),
            // The other books can be shown anyway.
            Err(error) => {
                if let Some(before) = unreadable.replace(anyhow!(error)) {
                    message!("tabia: {before:#}");
                }
            }
        }
    }
    // After the books, so that these have the same numbers as without games.
    let indexed = games.books(index_names).into_iter().zip(sources);
    books.extend(indexed.map(|(book, source)| book.with_source(source)));
    if let Some(error) = unreadable {
        if books.is_empty() && configured.is_empty() {
            return Err(error);
        }
        message!("tabia: {error:#}");
        if books.is_empty() {
            books.push(opening.book(STARTER, "Starter book".to_owned())?);
        }
    }
    let ip = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let listener = listen(ip, args.port)?;
    let address = listener.local_addr()?;
    std::thread::spawn(tabia_notation::openings::warm_up);
    let access = Access::new(address, Access::random_token());
    let access = access.with_allowed_origins(args.allow_origin.clone());
    if access.is_open_to_any() {
        message!("tabia: pages of any site that you visit can read these books and games");
    }
    if !access.is_local() {
        message!("tabia: other machines can see these books; nothing can be changed");
    }
    if address.ip().is_unspecified() {
        for url in seen_from_elsewhere(address) {
            message!("tabia: from other machines: {url}");
        }
    }
    let engines = engines(args, config.as_ref())?;
    let explorer = Explorer::new(books, access, options, args.read_only)
        .with_games(games)
        .with_folders(folders, Box::new(opening))
        .with_engine(engines)
        .with_user_data(learn::user_data())
        .with_refusals(|line| message!("tabia: {line}"));
    let url = format!("http://{}/", shown(address));
    writeln!(out, "{url}")?;
    out.flush()?;
    if !args.no_open && open::that_detached(&url).is_err() {
        message!("tabia: no browser could be started: open {url} in one");
    }
    serve(listener, Arc::new(explorer), Limits::default(), stop)?;
    Ok(0)
}

/// The port that clients of an opening explorer try first.
const USUAL_PORT: u16 = 9002;

/// Number of ports that are tried from there on.
const PORTS_TRIED: u16 = 50;

/// Listens at the given port, or at the first free one from the usual one on, so that
/// bookmarks usually work.
fn listen(ip: IpAddr, port: Option<u16>) -> anyhow::Result<TcpListener> {
    let at = |port| {
        let wanted = SocketAddr::new(ip, port);
        TcpListener::bind(wanted).with_context(|| format!("cannot listen at {wanted}"))
    };
    if let Some(port) = port {
        return at(port);
    }
    let mut free = (USUAL_PORT..USUAL_PORT + PORTS_TRIED).filter_map(|port| at(port).ok());
    free.next().map_or_else(|| at(0), Ok)
}

/// The addresses by which other machines reach a server that listens on all of them: the
/// network address, if it is known, and the machine's name.
fn seen_from_elsewhere(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    // Nothing is sent: this only finds the route of a datagram. The address is from a
    // range that is reserved for documentation.
    let own = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.connect("192.0.2.1:9").map(|()| socket))
        .and_then(|socket| socket.local_addr());
    let ip = own.ok().map(|own| own.ip().to_string());
    let name = Some(machine()).filter(|name| !name.is_empty());
    let hosts = ip.into_iter().chain(name);
    hosts.map(|host| format!("http://{host}:{port}/")).collect()
}

/// The address for a browser on this machine.
fn shown(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port())
    } else {
        address
    }
}

/// The names of the books for users: file names, with folders if these are the same, or
/// else with their number in the list.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let file = file_name(path).into_owned();
        let twice = paths
            .iter()
            .filter(|other| other.file_name() == path.file_name());
        let full = path.canonicalize().unwrap_or_else(|_| path.clone());
        let folder = full.parent().and_then(Path::file_name);
        let mut name = match folder {
            Some(folder) if twice.count() > 1 => format!("{file} ({})", folder.to_string_lossy()),
            _ => file,
        };
        if names.contains(&name) {
            name = format!("{name} {}", names.len() + 1);
        }
        names.push(name);
    }
    names
}

/// Reports books and indexes on standard error.
struct Reported;

impl Reports for Reported {
    fn notice(&self, text: &str) {
        message!("tabia: {text}");
    }

    fn index(
        &self,
        job: &IndexJob,
        name: &str,
        also: &mut dyn FnMut(Progress),
    ) -> Result<(), OpenError> {
        let start = Instant::now();
        let made = progress::watched_also(also, |watch| job.run(watch));
        let made = made.map_err(|error| format!("{error:#}"))?;
        let summary = made.map_err(|error| NoIndex::new(name, error))?;
        index::report(name, false, &summary, start.elapsed());
        message!(
            "tabia: {name}: this index lasts as long as the program; `tabia index` makes one that stays"
        );
        Ok(())
    }
}

/// The configuration; `None` if it cannot be read and is not needed.
fn configuration(args: &ExploreArgs) -> anyhow::Result<Option<Config>> {
    match configuration::configuration(&args.config) {
        Ok(config) => Ok(Some(config)),
        // Books can be shown without it.
        Err(error) if args.engine.is_none() && args.config.config.is_none() => {
            message!("tabia: no engine: {error:#}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The books of the configuration, without the starter book if there are others.
fn configured_books(config: Option<&Config>) -> Vec<PathBuf> {
    let files = config.map(Config::book_files).unwrap_or_default();
    let files = files.into_iter().filter(|file| !file.starts_with('<'));
    files.map(PathBuf::from).collect()
}

/// The folders of these books; not the user's own one or a whole drive, which have all
/// kinds of files.
fn folders_of(books: &[PathBuf]) -> Vec<PathBuf> {
    let home = from_home(Path::new("~/"));
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in books.iter().filter_map(|book| book.parent()) {
        // On Windows, a path without its drive is not a prefix of the home folder.
        let whole = std::path::absolute(folder).unwrap_or_default();
        let is_private = home.starts_with(&whole) || whole.parent().is_none();
        if !is_private && !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_path_buf());
        }
    }
    folders
}

/// The folders that are offered if none was named: where users keep what they have made or
/// downloaded.
fn usual_folders() -> Vec<PathBuf> {
    let usual = [
        dirs::document_dir(),
        dirs::download_dir(),
        dirs::desktop_dir(),
    ];
    let mut usual: Vec<PathBuf> = usual.into_iter().flatten().collect();
    // Without a desktop, all of them may be the user's own folder.
    let home = from_home(Path::new("~/"));
    usual.retain(|folder| folder.is_dir() && *folder != home);
    usual.dedup();
    usual
}

/// The folders whose files pages may open. A missing folder of the configuration is not
/// an error: its medium may be absent.
fn folders(args: &ExploreArgs, config: Option<&Config>) -> anyhow::Result<Vec<PathBuf>> {
    for folder in &args.folder {
        std::fs::read_dir(folder).with_context(|| format!("--folder {}", folder.display()))?;
    }
    let configured = config.into_iter().flat_map(|config| &config.folders);
    let configured: Vec<&PathBuf> = configured.collect();
    for folder in configured.iter().filter(|folder| !folder.is_dir()) {
        message!("tabia: {}: {NO_FOLDER}", folder.display());
    }
    Ok(args.folder.iter().chain(configured).cloned().collect())
}

/// The engines, of which the first that starts evaluates: that of the command line, or
/// those of the configuration, the built-in one last.
fn engines(args: &ExploreArgs, config: Option<&Config>) -> anyhow::Result<Vec<EngineChoice>> {
    let Some(config) = config else {
        return Ok(Vec::new());
    };
    let (engines, commands) = engines::engines_named(config, args.engine.as_deref())?;
    let tried = match args.engine {
        None => commands.len(),
        Some(_) => engines.chain,
    };
    let all = engines.profiles.into_iter().zip(commands).take(tried);
    let choices = all.map(|(profile, command)| {
        let mut options = profile.options;
        if let Some(threads) = args.threads {
            options.retain(|(name, _)| !name.eq_ignore_ascii_case("threads"));
            options.push(("Threads".to_owned(), threads.to_string()));
        }
        let name = match engines::is_program_path(&profile.name) {
            true => Path::new(&profile.name)
                .file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
            false => profile.name,
        };
        let mut choice = EngineChoice::new(name, command);
        choice.options = options;
        choice.start_timeout = profile.start_timeout;
        choice
    });
    Ok(choices.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_books_those_of_the_configuration_are_shown() {
        let text = "[book]\nfile = [\"<starter>\", \"a.ctg\", \"/more/b.ctg\"]\n";
        let config = Config::parse(text, Path::new("/books/engines.toml")).unwrap();
        let books = configured_books(Some(&config));
        assert_eq!(books, ["/books/a.ctg", "/more/b.ctg"].map(PathBuf::from));
        assert_eq!(folders_of(&books), ["/books", "/more"].map(PathBuf::from));
        assert!(configured_books(Some(&Config::default())).is_empty());
        let own = from_home(Path::new("~/mine.ctg"));
        assert!(folders_of(&[own, "/c.ctg".into(), "d.ctg".into()]).is_empty());
    }

    #[test]
    fn books_of_the_same_name_are_shown_differently() {
        let paths = ["a/book.ctg", "b/book.ctg", "other.ctg", "b/book.ctg"];
        let named = names(&paths.map(PathBuf::from));
        assert_eq!(
            named,
            [
                "book.ctg (a)",
                "book.ctg (b)",
                "other.ctg",
                "book.ctg (b) 4"
            ]
        );
    }
}
