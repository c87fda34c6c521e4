//! `tabia merge`: several books added up.

use std::time::Instant;

use super::args::MergeArgs;
use super::compact::report;
use super::progress;
use crate::book::ctg::merge;

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<u8> {
    for book in &args.books {
        super::convert::only_ctg(book)?;
    }
    let start = Instant::now();
    let done = progress::watched(|watch| merge(&args.output, &args.books, args.memory, watch))??;
    let what = format!("{}: {} books", args.output.display(), args.books.len());
    report(&what, &done, start);
    Ok(0)
}
