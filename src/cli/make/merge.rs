//! `tabia merge`: adds several books up.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;

use super::convert::report;
use crate::cli::arguments::common::Rewriting;
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::made;
use crate::cli::print::progress;
use tabia_book::bin::{self, MergeOrder};
use tabia_book::convert::{self, ConvertJob, SameFormat};
use tabia_book::ctg::{self, RewriteOptions};
use tabia_io::atomic::{self, TempFolder};
use tabia_io::input::path::has_extension;

/// Arguments of `merge`.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// The book to make: .ctg, with .cto and .ctb beside it, .bin, or any other that
    /// convert writes
    #[arg(short, long, value_name = "OUT.ctg|OUT.bin|...")]
    output: PathBuf,
    /// For Polyglot books: the moves of a position keep the order of the first book
    /// that has it, as `polyglot merge-book` leaves them; else the heaviest is first
    #[arg(long)]
    first_wins: bool,
    /// The books to add up, of any formats
    #[arg(value_name = "BOOK", required = true, add = complete::books(), num_args = 2..)]
    books: Vec<PathBuf>,
    #[command(flatten)]
    rewriting: Rewriting,
}

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<u8> {
    let options = args.rewriting.options();
    files::complete_interrupted(&args.output)?;
    for book in &args.books {
        files::complete_interrupted(book)?;
    }
    if has_extension(&args.output, "bin") {
        return merge_polyglot(args, options);
    }
    ensure!(
        !args.first_wins,
        "--first-wins is for Polyglot books (.bin)"
    );
    let start = Instant::now();
    if !has_extension(&args.output, "ctg") {
        return merge_and_convert(args, options);
    }
    atomic::check(&args.output, &["cto", "ctb"], options.old)?;
    let same = of_one_format(args)?;
    let mut done =
        progress::watched(|watch| ctg::merge(&args.output, &same.books, &options, watch))??;
    done.salvage.add(same.salvage);
    let what = format!("{}: {} books", args.output.display(), args.books.len());
    let code = made::report(&what, &done, start);
    made::report_side(&done, &args.output, &same.books, &args.books);
    Ok(code.max(u8::from(same.is_mostly_unreached)))
}

/// The books, converted if need be to that of the formats ChessBase and Polyglot in which
/// they are added up; prints what that changes.
fn of_one_format(args: &MergeArgs) -> anyhow::Result<SameFormat> {
    let strict = args.rewriting.strict;
    let same =
        progress::watched(|watch| SameFormat::new(&args.books, &args.output, strict, watch))??;
    for note in &same.notes {
        message!("tabia: {note}");
    }
    Ok(same)
}

/// Adds books up as a ChessBase book, and converts that.
fn merge_and_convert(args: &MergeArgs, options: RewriteOptions) -> anyhow::Result<u8> {
    let target = &args.output;
    let start = Instant::now();
    convert::check_target(target, options.old)?;
    let same = of_one_format(args)?;
    let beside = TempFolder::beside(target).with_context(|| target.display().to_string())?;
    let merged = beside.path().join("merged.ctg");
    let old = options.old;
    let sum = progress::watched(|watch| ctg::merge(&merged, &same.books, &options, watch))??;
    let job = ConvertJob::new(merged, target.clone()).old(old);
    let mut done = progress::watched(|watch| convert::run(&job, watch))??;
    done.salvage.add(sum.salvage);
    done.salvage.add(same.salvage);
    let code = report(target, &done, start);
    Ok(code.max(u8::from(same.is_mostly_unreached)))
}

/// Merges Polyglot books.
fn merge_polyglot(args: &MergeArgs, options: RewriteOptions) -> anyhow::Result<u8> {
    let order = match args.first_wins {
        true => MergeOrder::FirstWins,
        false => MergeOrder::Heaviest,
    };
    let start = Instant::now();
    let same = of_one_format(args)?;
    let mut done =
        progress::watched(|watch| bin::merge(&same.books, &args.output, order, &options, watch))??;
    for notice in &done.notices {
        message!("tabia: {notice}");
    }
    done.salvage.add(same.salvage);
    let what = format!("{}: {} books;", args.output.display(), args.books.len());
    let extra = made::lost(&done.salvage);
    made::made(&what, made::numbers(&done.written), start.elapsed(), &extra);
    Ok(u8::from(done.salvage.is_loss() || same.is_mostly_unreached))
}
