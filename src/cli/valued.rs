//! What commands about the evaluations of a book begin with.

use std::path::Path;

use anyhow::bail;

use super::progress;
use crate::book::Book;
use crate::evals::{self, EvalTable};
use crate::graph::{BookGraph, GraphOptions};

/// The evaluations of a file; lines that hold none are told.
pub(super) fn evaluations(path: &Path) -> anyhow::Result<EvalTable> {
    let known = evals::read(path)?;
    if let Some(bad) = &known.first_bad {
        let (path, count) = (path.display(), known.bad_lines);
        say!("{path}: {count} lines passed over; {bad}");
    }
    Ok(known.table)
}

/// The graph of a book; what is damaged of it is told.
pub(super) fn graph(book: &Book) -> anyhow::Result<BookGraph> {
    Ok(progress::watched(|watch| {
        let mut damaged = |error: &crate::book::Error| say!("tabia: {error}");
        BookGraph::of(book, GraphOptions::default(), watch, &mut damaged)
    })??)
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
