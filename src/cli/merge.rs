//! `tabia merge`: several books added up.

use std::time::Instant;

use super::args::MergeArgs;
use super::compact::report;
use super::progress;
use crate::book::ctg::merge;
use crate::place;

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<u8> {
    let options = args.rewriting.options();
    place::check(&args.output, &["cto", "ctb"], options.old)?;
    for book in &args.books {
        super::only_ctg(book)?;
    }
    let start = Instant::now();
    let done = progress::watched(|watch| merge(&args.output, &args.books, &options, watch))??;
    let what = format!("{}: {} books", args.output.display(), args.books.len());
    Ok(report(&what, &done, start))
}
