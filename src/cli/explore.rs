//! `tabia explore`: books in the browser.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use clap::Args;
use tokio::sync::Notify;

use crate::book::Book;
use crate::book_set::Opener;
use crate::explore::{Access, CtgMarker, Editor, ExploredBook, Explorer, Limits, Reopen, serve};
use crate::settings::{OptionId, STARTER, Settings};

/// Arguments of `explore`.
#[derive(Args, Debug)]
pub(super) struct ExploreArgs {
    /// The books; the page shows the first, or two side by side [default: the
    /// starter book, read-only]
    pub(super) book: Vec<PathBuf>,
    /// Port of the page [default: any free one]
    #[arg(long, value_name = "N")]
    pub(super) port: Option<u16>,
    /// Nothing can be changed
    #[arg(long)]
    pub(super) read_only: bool,
    /// Prints the address and does not open a browser
    #[arg(long)]
    pub(super) no_open: bool,
    /// Address to listen at, so that other machines can look at the books,
    /// read-only [default: 127.0.0.1, this machine alone]
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<IpAddr>,
    /// Sets a UCI option that decides between moves
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// Reads books by system calls instead of mapping them into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
}

pub(super) fn run(args: &ExploreArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let mut books = Vec::new();
    if args.book.is_empty() {
        books.push(open(STARTER, args)?);
    }
    for path in &args.book {
        books.push(open(&crate::input::path::to_text(path), args)?);
    }
    let ip = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let wanted = SocketAddr::new(ip, args.port.unwrap_or(0));
    let listener =
        TcpListener::bind(wanted).with_context(|| format!("cannot listen at {wanted}"))?;
    let address = listener.local_addr()?;
    let stop = stop_at_ctrl_c()?;
    #[cfg(feature = "openings")]
    std::thread::spawn(crate::openings::warm_up);
    let access = Access::new(address, Access::random_token());
    if !access.is_local() {
        let mut stderr = super::messages();
        let _ = writeln!(
            stderr,
            "tabia: other machines can see these books; nothing can be changed"
        );
    }
    let explorer = Explorer::new(books, access, settings(&args.set)?, args.read_only);
    let url = format!("http://{}/", shown(address));
    writeln!(out, "{url}")?;
    out.flush()?;
    if !args.no_open && open::that_detached(&url).is_err() {
        let mut stderr = super::messages();
        let _ = writeln!(
            stderr,
            "tabia: no browser could be started: open {url} in one"
        );
    }
    serve(listener, Arc::new(explorer), Limits::default(), stop)?;
    Ok(0)
}

/// The address that a browser of this machine can ask.
fn shown(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port())
    } else {
        address
    }
}

fn open(path: &str, args: &ExploreArgs) -> anyhow::Result<ExploredBook> {
    let opener = Opener {
        folders: Vec::new(),
        mmap: !args.no_mmap,
    };
    let first = opener.open(path)?;
    let mut notices = first.notices().to_vec();
    for notice in &notices {
        let _ = writeln!(super::messages(), "tabia: {notice}");
    }
    let name = match path {
        STARTER => "Starter book".to_owned(),
        path => std::path::Path::new(path)
            .file_name()
            .map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into()),
    };
    // Only ChessBase books have marks; the one within the program has no file.
    let editor = match &first {
        Book::Ctg(book) if path != STARTER && !args.read_only => {
            Some(Box::new(CtgMarker::new(book.path().to_owned())) as Box<dyn Editor>)
        }
        _ => None,
    };
    let again = path.to_owned();
    let named = settings(&args.set)?.text(OptionId::Evaluations).to_owned();
    let (first, _) = opener.evaluated(Arc::new(first), path, &named, &mut notices);
    let reopen: Reopen = Box::new(move || match opener.open(&again) {
        Ok(book) => Ok(opener
            .evaluated(Arc::new(book), &again, &named, &mut Vec::new())
            .0),
        Err(error) => Err(error.to_string()),
    });
    Ok(ExploredBook::new(name, notices, first, reopen, editor))
}

fn settings(sets: &[String]) -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    for set in sets {
        let (name, value) = set
            .split_once('=')
            .with_context(|| format!("--set \"{set}\" has no \"=\": write NAME=VALUE"))?;
        let id = OptionId::by_name(name.trim())
            .with_context(|| format!("there is no option \"{name}\""))?;
        settings.set(id, value)?;
    }
    Ok(settings)
}

/// The first Ctrl-C ends the server when the answers under way are done, the
/// second at once.
fn stop_at_ctrl_c() -> anyhow::Result<Arc<Notify>> {
    let stop = Arc::new(Notify::new());
    let raised = Arc::clone(&stop);
    let twice = AtomicBool::new(false);
    let interrupt = move || {
        if twice.swap(true, Ordering::Relaxed) {
            std::process::exit(2);
        }
        raised.notify_one();
    };
    ctrlc::set_handler(interrupt).context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
