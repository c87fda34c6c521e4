//! What commands about the evaluations of a book begin with.

use std::path::{Path, PathBuf};

use anyhow::bail;
use shakmaty::Chess;

use super::progress;
use tabia_analysis::graph::BookGraph;
use tabia_book::Book;
use tabia_book::evals::{self, EvalTable};
use tabia_uci::process::AnalystError;

/// The evaluations of a file; lines without one are reported.
pub(super) fn evaluations(path: &Path) -> anyhow::Result<EvalTable> {
    let known = evals::read(path)?;
    if let Some(bad) = &known.first_bad {
        let (path, count) = (path.display(), known.bad_lines);
        say!("{path}: {count} lines passed over; {bad}");
    }
    Ok(known.table)
}

/// The graph of a book; damaged parts are reported.
pub(super) fn graph(book: &Book) -> anyhow::Result<BookGraph> {
    Ok(progress::watched(|watch| {
        let mut damaged = |error: &tabia_book::Error| say!("tabia: {error}");
        BookGraph::of(book, watch, &mut damaged)
    })??)
}

/// The file of a book's evaluations: the one that is named, or that beside it.
pub(super) fn path(named: Option<&Path>, book: &Path) -> PathBuf {
    named.map_or_else(|| evals::beside(book), Path::to_owned)
}

/// Prints the first position for which the engine gave no answer.
pub(super) fn say_unanswered(first: Option<&(Chess, AnalystError)>) {
    if let Some((position, error)) = first {
        let fen = tabia_notation::fen(position);
        say!("tabia: no answer about {fen}: {error}");
    }
}

/// What `--report` writes.
pub(super) enum Form {
    Html,
    Markdown,
    Json,
}

/// The form of a report, by the name of its file.
pub(super) fn form(path: &Path) -> anyhow::Result<Form> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    Ok(match extension.to_str() {
        Some("html" | "htm") => Form::Html,
        Some("md" | "txt") => Form::Markdown,
        Some("json") => Form::Json,
        _ => bail!("{}: a report is .html, .md or .json", path.display()),
    })
}
