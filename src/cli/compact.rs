//! `tabia compact`: a book written anew.

use std::io::Write;
use std::time::Instant;

use super::args::CompactArgs;
use super::progress;
use crate::book::ctg::{Rewritten, compact};

pub(super) fn run(args: &CompactArgs) -> anyhow::Result<u8> {
    super::convert::only_ctg(&args.book)?;
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let before = std::fs::metadata(&args.book).map_or(0, |data| data.len());
    let done =
        progress::watched(|watch| compact(&args.book, target, args.repack, args.memory, watch))??;
    let splits = match (done.splits_kept, args.repack) {
        (true, _) => "the splits of its pages kept",
        (false, true) => "packed anew",
        (false, false) => "packed anew, as the old index is of no use",
    };
    report(
        &format!("{}: {splits}, {before} bytes before", target.display()),
        &done,
        start,
    );
    Ok(0)
}

/// What was left out, and one line about the new book.
pub(super) fn report(what: &str, done: &Rewritten, start: Instant) {
    // Nothing can be done about a closed standard error.
    let mut stderr = super::messages();
    let salvage = &done.salvage;
    for message in &salvage.messages {
        let _ = writeln!(stderr, "{message}");
    }
    let mut extra = String::new();
    for (count, text) in [
        (salvage.bad_pages, "damaged pages not read to their end"),
        (salvage.bad_keys, "positions with impossible keys left out"),
        (salvage.repeated, "repeated positions left out"),
        (salvage.unreached_pages, "pages that no slot led to"),
    ] {
        if count > 0 {
            extra += &format!("; {count} {text}");
        }
    }
    let written = &done.written;
    let _ = writeln!(
        stderr,
        "{what}; {} games, {} positions, {} moves, {} bytes in {:.1} s{extra}",
        done.games,
        written.positions,
        written.moves,
        written.bytes,
        start.elapsed().as_secs_f64(),
    );
}
