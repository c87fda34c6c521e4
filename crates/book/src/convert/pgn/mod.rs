//! Converts any book to games with variations.
//!
//! The tree from the start position is read depth first, the most probable move first. If
//! a position can be reached in several ways, it continues in the most important one; a
//! comment in the others refers to it ([`tree`]; a ChessBase book is read by numbers, see
//! [`near`]). Large trees are cut into games that share their first moves ([`cut`]). Or some of
//! the moves are chosen, and each line becomes a game ([`lines`]).

mod cut;
mod lines;
mod near;
mod refused;
mod tree;
mod write;

use super::{Converted, Work};
use crate::ctg::CtgBook;
use crate::{Book, Error};
use shakmaty::Color;
use tabia_io::atomic::NewFile;
use tabia_io::input::path::file_name;

/// The usual [`PgnOptions::min_games`] with [`PgnOptions::lines`]: the score of fewer games says
/// too little.
pub const LINE_GAMES: u32 = 10;

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
        /// Writes a game for each line, without variations and comments, of moves that have
        /// enough games and may be as good as the best: the upper end of the 95 % interval
        /// of their score (Wilson) is not below the lower end of that of the best move.
        lines: bool = false,
    }
}

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Converted, Error> {
    let job = work.job;
    if job.pgn.lines && !book.has_results() {
        let text = "has no results of games, by which lines are chosen";
        return Err(Error::refused(&job.source, text));
    }
    let mut output = work.output()?;
    let report = job.report.as_ref();
    let report = report
        .map(|path| NewFile::create(path, job.old))
        .transpose()?;
    let mut summary = Converted::default();
    let tree = tree::PgnTree::read(work, book, &mut summary)?;
    let games = match job.pgn.lines {
        true => refused::games(&tree),
        false => cut::games(&tree, job.pgn.game_moves.max(1)),
    };
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
    refused::note(&tree, &mut summary);
    summary.note(tree.rare, "moves left out with too few games");
    summary.note(
        tree.unreached,
        "positions of the book not reached (longer lines, rare moves, or none from the start position)",
    );
    summary.leave_out(tree.without_line, tree.with_line);
    summary.not_empty(work.job)?;
    summary.note(tree.transpositions, "transpositions cut");
    summary.note(tree.cut, "lines cut at the greatest length");
    if let Some(mut report) = report {
        let mut text = String::new();
        refused::report(&tree, &mut text);
        report.write_bytes(text.as_bytes())?;
        report.commit()?;
    }
    summary.bytes = output.commit()?;
    Ok(summary)
}
