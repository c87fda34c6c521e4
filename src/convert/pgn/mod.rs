//! Any book as games with variations.
//!
//! The tree from the start position is read depth first, the likeliest move
//! first, so that a position that can be reached in several ways goes on in
//! the most important one; elsewhere a comment says where ([`tree`]). Large
//! trees are cut into games that share their first moves ([`cut`]).

mod cut;
mod tree;
mod write;

use super::output::Output;
use super::{Error, Summary, Work};
use crate::book::Book;

/// How much of a book becomes games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgnOptions {
    /// Plies of a line, 500 at the most.
    pub plies: u32,
    /// Moves of fewer games are left out; those of a book without games are
    /// not.
    pub min_games: u32,
    /// Moves of one game, variations included.
    pub game_moves: u32,
    /// Whether numbers and marks stand in comments.
    pub comments: bool,
}

impl Default for PgnOptions {
    fn default() -> PgnOptions {
        PgnOptions {
            plies: 40,
            min_games: 1,
            game_moves: 2000,
            comments: true,
        }
    }
}

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Summary, Error> {
    let mut output = Output::create(&work.job.target)?;
    let tree = tree::Tree::read(work, book)?;
    let games = cut::games(&tree, work.job.pgn.game_moves.max(1));
    let places = cut::places(&tree, &games);
    let name = work.job.source.file_name().unwrap_or_default();
    let writer = write::Writer {
        tree: &tree,
        games: &games,
        places: &places,
        book: name.to_string_lossy().into_owned(),
        comments: work.job.pgn.comments,
    };
    let mut text = String::new();
    let mut done = 0;
    for number in 0..games.len() {
        text.clear();
        writer.game(number, &mut text);
        output.put(text.as_bytes())?;
        done += 1;
        work.step("writing", done, Some(games.len() as u64))?;
    }
    let mut summary = Summary {
        positions: tree.expanded,
        moves: tree.nodes.len() as u64 - 1,
        games: games.len() as u64,
        ..Summary::default()
    };
    if games.is_empty() {
        summary
            .notes
            .push("the book has no moves in the start position".to_owned());
    }
    summary.note(tree.transpositions, "transpositions cut");
    summary.note(tree.cut, "lines cut at --plies");
    summary.bytes = output.finish()?;
    Ok(summary)
}
