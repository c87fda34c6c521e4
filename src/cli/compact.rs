//! `tabia compact`: rewrites a ChessBase or Polyglot book, or a games index.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;

use super::args::{DryRun, Rewriting};
use super::complete;
use super::progress;
use super::style::counted;
use tabia_book::bin::{self, MergeOrder};
use tabia_book::ctg::{CtgBook, OpenOptions, Rewritten, Salvage, Written, compact};
use tabia_io::atomic::{self, Previous};
use tabia_io::input::sibling::sibling;
use tabia_notation::kind::{BookKind, Kind};

/// Arguments of `compact`.
#[derive(Args, Debug)]
pub(super) struct CompactArgs {
    /// The book (.ctg or .bin), or a games index (.tgx)
    #[arg(add = complete::books_and_indexes())]
    book: PathBuf,
    /// The new one [default: in place of the old one]
    #[arg(short, long, value_name = "OUT.ctg")]
    output: Option<PathBuf>,
    /// Joins pages whose positions fit into one page, and writes an index that every
    /// reader can read
    #[arg(long)]
    repack: bool,
    #[command(flatten)]
    rewriting: Rewriting,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(super) fn run(args: &CompactArgs) -> anyhow::Result<u8> {
    if super::info_index::is_index(&args.book) {
        return compact_index(args);
    }
    let target = args.output.as_ref().unwrap_or(&args.book);
    super::complete_interrupted(&args.book)?;
    super::complete_interrupted(target)?;
    if Kind::of_file(&args.book) == Some(Kind::Book(BookKind::Bin)) {
        return compact_polyglot(args);
    }
    super::only_ctg(&args.book)?;
    let start = Instant::now();
    let files = ["cto", "ctb"].map(|extension| sibling(&args.book, extension));
    let files = files.iter().flatten().chain([&args.book]);
    let before: u64 = files
        .map(|file| std::fs::metadata(file).map_or(0, |data| data.len()))
        .sum();
    let options = args.rewriting.options().repack(args.repack);
    let dry = args.dry_run.place(target)?;
    let place = dry.as_ref().map_or(target, |(_, place)| place);
    let done = progress::watched(|watch| compact(&args.book, place, &options, watch))??;
    let index = match done.splits_kept {
        true => "",
        false => ", index made anew",
    };
    let what = format!(
        "{}: {before} bytes in all its files before{index}",
        target.display()
    );
    let code = report(&what, &done, start);
    args.dry_run.note();
    if !args.dry_run.dry_run && atomic::is_same_file(target, &args.book) {
        super::report_kept(target);
    }
    Ok(code)
}

/// Reports for which side a merged book plays, if that is not clear from its sources.
pub(super) fn report_side(done: &Rewritten, books: &[PathBuf]) -> anyhow::Result<()> {
    if let Some(side) = done.only {
        message!("the book plays for {side} only; it has no moves of the other side");
        return Ok(());
    }
    for book in books {
        // A book that was replaced has the side of the new one.
        if let Some(side) = CtgBook::open(book, &OpenOptions::default())?.only() {
            message!(
                "{}: plays for {side} only; the new book plays for both sides",
                book.display()
            );
        }
    }
    Ok(())
}

/// Sorts a Polyglot book, and adds up moves that are in it twice.
fn compact_polyglot(args: &CompactArgs) -> anyhow::Result<u8> {
    ensure!(
        !args.repack,
        "--repack: a Polyglot book has no pages; without it, the book is sorted"
    );
    super::open_quietly(&args.book, false)?;
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let in_place = atomic::is_same_file(target, &args.book);
    let old = match in_place {
        true => Previous::Keep,
        false => args.rewriting.force.old(),
    };
    let before = std::fs::metadata(&args.book).map_or(0, |data| data.len());
    let dry = args.dry_run.place(target)?;
    let place = dry.as_ref().map_or(target, |(_, place)| place);
    let books = [args.book.clone()];
    let order = MergeOrder::FirstWins;
    let (written, notices) =
        progress::watched(|watch| bin::merge(&books, place, order, old, watch))??;
    for notice in notices {
        message!("tabia: {notice}");
    }
    let what = format!("{}: {before} bytes before; sorted,", target.display());
    made(&what, numbers(&written), start.elapsed(), "");
    args.dry_run.note();
    if !args.dry_run.dry_run && in_place {
        super::report_kept(target);
    }
    Ok(0)
}

/// Rewrites a games index.
fn compact_index(args: &CompactArgs) -> anyhow::Result<u8> {
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let old = args.rewriting.force.old();
    let dry = args.dry_run.place(target)?;
    let place = dry.as_ref().map_or(target, |(_, place)| place);
    let index = progress::watched(|watch| tabia_index::compact(&args.book, place, old, watch))??;
    let [before, now] = index.bytes;
    let part = &index.part;
    let what = format!(
        "{}: {before} bytes in {} before; {},",
        target.display(),
        counted(index.parts as u64, "part"),
        counted(part.games, "game")
    );
    let numbers = [part.positions, part.moves, now];
    made(&what, numbers, start.elapsed(), "");
    args.dry_run.note();
    Ok(0)
}

/// Prints what was left out, and one line about the new book; returns the exit code.
pub(super) fn report(what: &str, done: &Rewritten, start: Instant) -> u8 {
    let extra = lost(&done.salvage);
    let what = format!("{what}; {},", counted(done.games.into(), "game"));
    made(&what, numbers(&done.written), start.elapsed(), &extra);
    u8::from(done.salvage.is_loss())
}

/// Positions, moves and bytes of a new book.
pub(super) fn numbers(written: &Written) -> [u64; 3] {
    [written.positions, written.moves, written.bytes]
}

/// Prints the line about a new file with so many positions, moves and bytes.
pub(super) fn made(what: &str, [positions, moves, bytes]: [u64; 3], time: Duration, extra: &str) {
    summary!(
        "{what} {}, {}, {} in {:.1} s{extra}",
        counted(positions, "position"),
        counted(moves, "move"),
        counted(bytes, "byte"),
        time.as_secs_f64(),
    );
}

/// Prints the unreadable parts of a book; returns text for a summary.
pub(super) fn lost(salvage: &Salvage) -> String {
    for message in &salvage.messages {
        message!("tabia: {message}");
    }
    let notes = salvage.notes();
    notes.iter().map(|note| format!("; {note}")).collect()
}
