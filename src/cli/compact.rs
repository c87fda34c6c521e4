//! `tabia compact`: a book, or a games index, written anew.

use std::time::Instant;

use super::args::CompactArgs;
use super::progress;
#[cfg(feature = "index")]
use super::style::counted;
use crate::book::ctg::{RewriteOptions, Rewritten, Salvage, compact};
use crate::input::sibling::sibling;

pub(super) fn run(args: &CompactArgs) -> anyhow::Result<u8> {
    #[cfg(feature = "index")]
    if super::info_index::is_index(&args.book) {
        return compact_index(args);
    }
    super::only_ctg(&args.book)?;
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let files = ["cto", "ctb"].map(|extension| sibling(&args.book, extension));
    let files = files.iter().flatten().chain([&args.book]);
    let before: u64 = files
        .map(|file| std::fs::metadata(file).map_or(0, |data| data.len()))
        .sum();
    let done = progress::watched(|watch| {
        let options = RewriteOptions {
            old: args.force.old(),
            repack: args.repack,
            memory: args.memory,
            strict: args.strict,
        };
        compact(&args.book, target, &options, watch)
    })??;
    let index = match done.splits_kept {
        true => "",
        false => ", index made anew",
    };
    let what = format!(
        "{}: {before} bytes in all its files before{index}",
        target.display()
    );
    Ok(report(&what, &done, start))
}

/// The same for a games index.
#[cfg(feature = "index")]
fn compact_index(args: &CompactArgs) -> anyhow::Result<u8> {
    let target = args.output.as_ref().unwrap_or(&args.book);
    let start = Instant::now();
    let old = args.force.old();
    let made = progress::watched(|watch| crate::index::compact(&args.book, target, old, watch))??;
    let [before, now] = made.bytes;
    say!(
        "{}: {before} bytes in {} before; {} games, {} positions, {} moves, {now} bytes in {:.1} s",
        target.display(),
        counted(made.parts as u64, "part"),
        made.part.games,
        made.part.positions,
        made.part.moves,
        start.elapsed().as_secs_f64(),
    );
    Ok(0)
}

/// What was left out, and one line about the new book; gives the exit code.
pub(super) fn report(what: &str, done: &Rewritten, start: Instant) -> u8 {
    let extra = lost(&done.salvage);
    let written = &done.written;
    say!(
        "{what}; {} games, {} positions, {} moves, {} bytes in {:.1} s{extra}",
        done.games,
        written.positions,
        written.moves,
        written.bytes,
        start.elapsed().as_secs_f64(),
    );
    u8::from(done.salvage.is_loss())
}

/// Names what could not be read of a book; gives its part of a summary.
pub(super) fn lost(salvage: &Salvage) -> String {
    for message in &salvage.messages {
        say!("tabia: {message}");
    }
    let notes = salvage.notes();
    notes.iter().map(|note| format!("; {note}")).collect()
}
