//! Converts any book to games with variations.
//!
//! The tree from the start position is read depth first, the most probable move first. If
//! a position can be reached in several ways, it continues in the most important one; a
//! comment in the others refers to it ([`tree`]). Large trees are cut into games that
//! share their first moves ([`cut`]).

mod cut;
mod tree;
mod write;

use super::{Converted, Work};
use crate::ctg::CtgBook;
use crate::{Book, Error};
use shakmaty::Color;
use tabia_io::atomic::NewFile;
use tabia_io::input::path::file_name;

/// What comments say of each move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comments {
    /// Nothing.
    None,
    /// Games and score.
    Short,
    /// Games, score, results, values, marks and probability.
    #[default]
    Full,
}

tabia_io::options! {
    /// Limits for the games.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PgnOptions {
        /// Plies of a line, at most 500.
        plies: u32 = 40,
        /// Moves with fewer games are left out, except in a book without games.
        min_games: u32 = 1,
        /// Highest number of moves in one game, including variations.
        game_moves: u32 = 2000,
        /// What comments say.
        comments: Comments = Comments::Full,
    }
}

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Converted, Error> {
    let mut output = NewFile::create(&work.job.target, work.job.old)?;
    let mut summary = Converted::default();
    let tree = tree::PgnTree::read(work, book, &mut summary)?;
    let games = cut::games(&tree, work.job.pgn.game_moves.max(1));
    let places = cut::places(&tree, &games);
    let writer = write::GameWriter {
        tree: &tree,
        games: &games,
        places: &places,
        book: file_name(&work.job.source).into_owned(),
        comments: work.job.pgn.comments,
        is_black: book.as_ctg().and_then(CtgBook::only) == Some(Color::Black),
    };
    let mut text = String::new();
    let mut done = 0;
    for number in 0..games.len() {
        text.clear();
        writer.game(number, &mut text);
        output.write_bytes(text.as_bytes())?;
        done += 1;
        work.step("writing", done, Some(games.len() as u64))?;
    }
    summary.positions = tree.expanded;
    summary.moves = tree.nodes.len() as u64 - 1;
    summary.games = games.len() as u64;
    summary.note(tree.rare, "moves left out with too few games");
    summary.note(
        tree.unreached,
        "positions of the book not reached (longer lines, rare moves, or none from the start position)",
    );
    summary.leave_out(tree.without_line, tree.with_line);
    summary.not_empty(work.job)?;
    summary.note(tree.transpositions, "transpositions cut");
    summary.note(tree.cut, "lines cut at the greatest length");
    summary.bytes = output.commit()?.bytes;
    Ok(summary)
}
