//! Writes the grown book.

use std::path::Path;

use shakmaty::uci::UciMove;

use crate::Error;
use crate::graph::{BookGraph, NodeId};
use tabia_book::ctg::{CtgBook, OpenOptions, RewriteOptions, Rewritten, merge};
use tabia_build as build;
use tabia_io::atomic::TempFolder;
use tabia_io::progress::Watch;
use tabia_notation::Line;

/// Writes `book` with more moves, each in a position of `graph`; they have no games.
///
/// # Errors
///
/// The book cannot be read or written. No new file remains then.
pub fn write_grown(
    book: &Path,
    target: &Path,
    graph: &BookGraph,
    moves: &[(NodeId, UciMove)],
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
) -> Result<Rewritten, Error> {
    let lines: Vec<(Line, Vec<(usize, u8)>)> = moves
        .iter()
        .filter_map(|&(node, mv)| {
            let position = graph.position(node);
            let mv = mv.to_move(&position).ok()?;
            let mut line = Line::from_start(position);
            line.push(mv);
            Some((line, Vec::new()))
        })
        .collect();
    let beside = TempFolder::beside(target)?;
    let added = beside.path().join("grown.ctg");
    build::write_lines(&lines, &added, None)?;
    let options = options.only(CtgBook::open(book, &OpenOptions::default().mmap(false))?.only());
    Ok(merge(target, &[book.to_owned(), added], &options, watch)?)
}
