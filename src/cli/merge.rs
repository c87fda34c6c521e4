//! `tabia merge`: several books added up.

use std::time::Instant;

use super::args::MergeArgs;
use super::compact::report;
use super::progress;
use crate::book::ctg::merge;
use crate::place;

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<u8> {
    place::check(&args.output, &["cto", "ctb"], args.force.old())?;
    for book in &args.books {
        super::convert::only_ctg(book)?;
    }
    let start = Instant::now();
    let done = progress::watched(|watch| {
        merge(
            &args.output,
            args.force.old(),
            &args.books,
            args.memory,
            watch,
        )
    })??;
    let what = format!("{}: {} books", args.output.display(), args.books.len());
    report(&what, &done, start);
    Ok(0)
}
