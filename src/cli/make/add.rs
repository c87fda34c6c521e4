//! `tabia add`: adds games and lines to a book, which is replaced.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;

use super::build;
use crate::cli::arguments::common::DryRun;
use crate::cli::arguments::complete;
use crate::cli::arguments::counting::Counting;
use crate::cli::files;
use tabia_io::atomic::Previous;
use tabia_notation::{self as notation, Line};

/// Arguments of `add`.
#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// The book
    #[arg(add = complete::books())]
    book: PathBuf,
    /// Games, as for `tabia build`; or books
    #[arg(value_name = "SOURCE", add = complete::books_and_games(), required_unless_present_any = ["line", "priority"])]
    sources: Vec<PathBuf>,
    /// A line, as "1.e4 c5 2.c3!"; its moves have no games, its annotations are stored.
    /// May be given several times
    #[arg(long, visible_alias = "moves", value_name = "MOVES")]
    line: Vec<String>,
    #[command(flatten)]
    games: Counting,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia add book.ctg june.pgn\n  \
    tabia add book.ctg --min-elo 2200 --max-ply 30 games.pgn.zst\n  \
    tabia add book.ctg --line \"1.e4 c5 2.c3!\" --line \"1.d4 d5 2.Bg5 +=\"\n\n\
    The result is the same as `tabia build` of the games and then `tabia merge` with the old \
    book: games that are already in the book count again. Of two annotations of a move the \
    warning one stays.\n\n\
    The old book is replaced when the new one is complete, and kept as BOOK.bak: a crash at any \
    moment leaves the old or the new book (the next command completes its three files), and \
    programs that have the book open are not disturbed. A \
    damaged book is refused: run `tabia compact` first.\n\n\
    Exit codes: 0 done; 1 some games were skipped, with --strict; 2 nothing was changed.";

pub(crate) fn run(args: &AddArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    files::complete_interrupted(&args.book)?;
    files::only_ctg(&args.book)?;
    args.games.choice.product(&args.book)?;
    let mut lines = Vec::new();
    for text in &args.line {
        let line = Line::read("", text).with_context(|| format!("--line \"{text}\""))?;
        ensure!(
            line.plies() > 0 && line.moves().count() == line.plies(),
            "--line \"{text}\": expected moves, and no null moves"
        );
        lines.push((line, notation::annotations(text)));
    }
    let job = build::job(&args.games, &args.sources, &args.book, Previous::Keep);
    let mut books = vec![args.book.clone()];
    books.extend(build::books_among(&args.sources)?);
    build::add_to_books(&args.games, job, books, &lines, args.dry_run, out)
}
