//! Evaluations of a book: code shared by the commands that use them.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use crate::cli::files;
use crate::cli::print::style::counted;
use crate::cli::print::{made, progress};
use shakmaty::Chess;
use tabia_analysis::evaluate;
use tabia_analysis::graph::BookGraph;
use tabia_book::Book;
use tabia_book::ctg::Salvage;
use tabia_book::evals::{self, EvalFile, EvalTable};
use tabia_build::BuildJob;
use tabia_engine::AnalystError;
use tabia_games::Sources;
use tabia_io::input::path::{file_name, has_extension};

/// The evaluations of a file; lines without one are reported.
pub(crate) fn read(path: &Path) -> anyhow::Result<EvalTable> {
    let known = evals::read(path)?;
    if let Some(bad) = &known.first_bad {
        let (path, count) = (path.display(), known.bad_lines);
        message!("{path}: {count} lines skipped; {bad}");
    }
    Ok(known.table)
}

/// The graph of a book, and what cannot be read of it, which is reported.
pub(crate) fn graph(book: &Book) -> anyhow::Result<(BookGraph, Salvage)> {
    let mut unread = book.missing_parts();
    let graph = progress::watched(|watch| {
        BookGraph::from_book(book, watch, &mut |damage| unread.bad_page(damage.clone()))
    })??;
    made::lines_left_out(book.path(), &unread);
    Ok((graph, unread))
}

/// The file of a book's evaluations: the given one, or the one next to the book.
pub(crate) fn path(named: Option<&Path>, book: &Path) -> PathBuf {
    named.map_or_else(|| evals::beside(book), Path::to_owned)
}

/// Prints the first position for which the engine gave no answer.
pub(crate) fn report_unanswered(first: Option<&(Chess, AnalystError)>) {
    if let Some((position, error)) = first {
        let fen = tabia_notation::fen(position);
        message!("tabia: no answer about {fen}: {error}");
    }
}

/// The format of `--report`.
pub(crate) enum Form {
    Html,
    Markdown,
    Json,
}

/// The format of a report, by the extension of its file.
pub(crate) fn form(path: &Path) -> anyhow::Result<Form> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    Ok(match extension.to_str() {
        Some("html" | "htm") => Form::Html,
        Some("md" | "txt") => Form::Markdown,
        Some("json") => Form::Json,
        _ => bail!("{}: a report is .html, .md or .json", path.display()),
    })
}

/// For `tabia build --evaluations`: fails if the games cannot be read twice, or their
/// evaluations cannot be added to the file next to the book.
pub(crate) fn check_sources(job: &BuildJob) -> anyhow::Result<()> {
    EvalFile::check(&evals::beside(&job.target))?;
    for source in &job.sources {
        let path = &source.path;
        let stays = path
            .metadata()
            .map_or(true, |file| file.is_file() || file.is_dir());
        ensure!(
            stays && path.as_os_str() != "-",
            "--evaluations reads the games twice, and {} can be read only once: write it to a \
             file first",
            path.display()
        );
        ensure!(
            !has_extension(path, "parquet"),
            "{}: records hold no evaluations: leave --evaluations out",
            path.display()
        );
        ensure!(
            !files::is_index(path),
            "{}: an index of games holds no evaluations: leave --evaluations out",
            path.display()
        );
    }
    Ok(())
}

/// Says that evaluations were read as centipawns, because PGN has no rule for them.
pub(crate) fn report_centipawns(name: &str, read: &evals::Imported) {
    if read.in_centipawns > 0 {
        message!(
            "{name}: {} are whole numbers with a depth, as ChessBase's programs write them: \
             they are taken as centipawns",
            counted(read.in_centipawns, "evaluation")
        );
    }
}

/// Adds the evaluations in the comments of a book's games to the file next to it; returns
/// the number of new ones.
pub(crate) fn of_games(job: &BuildJob) -> anyhow::Result<u64> {
    let book = files::open_book(&job.target, false)?;
    let path = evals::beside(&job.target);
    let file = EvalFile::open(&path)?;
    let mut table = evals::read(&path)?.table;
    let (mut hits, mut new) = (0, 0);
    for source in &job.sources {
        let sources = Sources::list([&source.path])?
            .with_password(job.password.as_deref())
            .with_encoding(job.encoding);
        let name = file_name(&source.path);
        let gathered = progress::watched(|watch| {
            let filter = &job.filter;
            evaluate::gather_games(&sources, filter, &name, &book, &mut table, &file, watch)
        })??;
        hits += gathered.read.hits;
        new += gathered.new;
        report_centipawns(&name, &gathered.read);
        if let Some(first) = &gathered.read.first_bad {
            let count = gathered.read.bad_lines;
            message!("{name}: {count} comments with evaluations skipped ({first})");
        }
    }
    summary!(
        "{}: {hits} evaluations of positions of the book, {new} of them new",
        path.display()
    );
    Ok(new)
}
