//! Marking whole Polyglot and Arena books, whose marks are numbers of moves.

use std::collections::HashMap;
use std::io;

use shakmaty::{Move, Position as _};

use super::error::MarkError;
use super::filter::Filter;
use super::named::filter_admits;
use super::select::Selection;
use super::shown::{ListedChanges, ShownChange};
use crate::walk::{Order, PositionNumber, Walk, WalkNode};
use crate::{Book, BookEditor, Error, Lookup, MarkChange, MarkPlace};
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line};

/// Fails if a filter tests games, and the book has none.
pub(super) fn check(book: &Book, filter: Option<&Filter>) -> Result<(), Error> {
    match !book.has_results() && filter.is_some_and(Filter::tests_games) {
        false => Ok(()),
        true => Err(Error::Format {
            path: book.path().into(),
            format: book.format(),
            what: "games to choose by (a filter can test weight and ply)",
        }),
    }
}

/// As [`super::select()`], for the moves that lines from the start position reach.
pub(super) fn select(
    editor: &BookEditor,
    selection: &Selection,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(&MarkChange) -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut chosen = 0;
    each_move(editor.book(), watch, |_, here, mv, moves| {
        let after = notation::after(&here.position, mv);
        let is_side = selection.colour.is_none_or(|c| c == here.position.turn());
        let known = moves.moves.iter().find(|known| known.mv == mv);
        let admits = |filter| known.is_some_and(|mv| filter_admits(filter, mv, moves, &after));
        if is_side && selection.filter.as_ref().is_none_or(admits) {
            chosen += 1;
            let plan = editor.plan(&here.position, mv, &selection.edit)?;
            plan.iter().try_for_each(&mut *found)?;
        }
        Ok::<_, Error>(true)
    })?;
    Ok(chosen)
}

/// As [`super::show()`].
pub(super) fn show(
    book: &Book,
    listed: ListedChanges,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(&ShownChange) -> io::Result<()>,
) -> Result<(), MarkError> {
    let by_place = listed.into_iter().map(|listed| (listed.0.place, listed));
    let mut wanted: HashMap<MarkPlace, (MarkChange, String)> = by_place.collect();
    if wanted.is_empty() {
        return Ok(());
    }
    each_move(book, watch, |walk, here, mv, _| {
        let entries = book.keyed_entries(&here.position, mv);
        for entry in entries? {
            if let Some((change, note)) = wanted.remove(&MarkPlace::Entry(entry.offset)) {
                let mut line = Line::default();
                let moves = walk.line(here).into_iter().chain([mv]);
                moves.for_each(|mv| line.push(mv));
                found(&ShownChange::new(line, &change, note))?;
            }
        }
        Ok(!wanted.is_empty())
    })
}

/// Visits each move that lines from the start position reach once, with its position,
/// until `show` returns false.
fn each_move<E: From<Error>>(
    book: &Book,
    watch: &mut Watch<'_>,
    mut show: impl FnMut(
        &Walk<PositionNumber>,
        &WalkNode<PositionNumber>,
        Move,
        &Lookup,
    ) -> Result<bool, E>,
) -> Result<(), E> {
    let mut lines = book.walk(Order::Breadth);
    while let Some(here) = lines.advance()? {
        let watched = watch.position("looking", lines.met(), None);
        watched.map_err(Error::from)?;
        for known in &lines.found.moves {
            if !show(&lines.walk, &here, known.mv, &lines.found)? {
                return Ok(());
            }
        }
    }
    Ok(())
}
