//! `tabia compact`: rewrites a ChessBase or Polyglot book, or a games index.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::ensure;
use clap::Args;

use crate::cli::arguments::common::{DryRun, Rewriting};
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use tabia_book::bin::{self, MergeOrder};
use tabia_book::ctg::compact;
use tabia_games::tgx::TgxWriter;
use tabia_io::atomic::{self, Previous};
use tabia_io::input::path::has_extension;
use tabia_io::input::sibling::sibling;
use tabia_notation::kind::{BookKind, Kind};

/// Arguments of `compact`.
#[derive(Args, Debug)]
pub(crate) struct CompactArgs {
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

pub(crate) fn run(args: &CompactArgs) -> anyhow::Result<u8> {
    if files::is_index(&args.book) {
        return compact_index(args);
    }
    let target = args.output.as_ref().unwrap_or(&args.book);
    files::complete_interrupted(&args.book)?;
    files::complete_interrupted(target)?;
    if Kind::of_file(&args.book) == Some(Kind::Book(BookKind::Bin)) {
        return compact_polyglot(args);
    }
    files::only_ctg(&args.book)?;
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
    let code = made::report(&what, &done, start);
    args.dry_run.note();
    if !args.dry_run.dry_run && atomic::is_same_file(target, &args.book) {
        files::report_kept(target);
    }
    Ok(code)
}

/// Sorts a Polyglot book, and adds up moves that are in it twice.
fn compact_polyglot(args: &CompactArgs) -> anyhow::Result<u8> {
    ensure!(
        !args.repack,
        "--repack: a Polyglot book has no pages; without it, the book is sorted"
    );
    files::open_quietly(&args.book, false)?;
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let in_place = atomic::is_same_file(target, &args.book);
    ensure!(
        in_place || has_extension(target, "bin"),
        "{}: the new book is a Polyglot one too, so its name must end with .bin; `tabia convert` \
         makes other formats",
        target.display()
    );
    let mut options = args.rewriting.options();
    if in_place {
        options.old = Previous::Keep;
    }
    let before = std::fs::metadata(&args.book).map_or(0, |data| data.len());
    let dry = args.dry_run.place(target)?;
    let place = dry.as_ref().map_or(target, |(_, place)| place);
    let books = [args.book.clone()];
    let order = MergeOrder::FirstWins;
    let done = progress::watched(|watch| bin::merge(&books, place, order, &options, watch))??;
    for notice in &done.notices {
        message!("tabia: {notice}");
    }
    let what = format!("{}: {before} bytes before; sorted,", target.display());
    let extra = made::lost(&done.salvage);
    made::made(&what, made::numbers(&done.written), start.elapsed(), &extra);
    args.dry_run.note();
    if !args.dry_run.dry_run && in_place {
        files::report_kept(target);
    }
    Ok(u8::from(done.salvage.is_loss()))
}

/// Rewrites a games index.
fn compact_index(args: &CompactArgs) -> anyhow::Result<u8> {
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let old = args.rewriting.force.old();
    if !atomic::is_same_file(target, &args.book) {
        TgxWriter::check_name(target)?;
    }
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
    made::made(&what, numbers, start.elapsed(), "");
    args.dry_run.note();
    Ok(0)
}
