//! Weights and priorities of Polyglot and Arena books, which stand with the move
//! itself.

use std::collections::{HashMap, HashSet};
use std::io;

use shakmaty::{Chess, Move, Position as _};

use super::named::{admits, filter_admits, leads_out};
use super::{MarkError, MarkJob, MarkTarget, Marked, Told};
use crate::ctg::{EditError, RewriteError};
use crate::walk::{Order, Reached, Walk};
use crate::{Book, Format, KeyedChange, KeyedEditor, Lookup, Probe as _, Wanted, polyglot};
use tabia_io::progress::Watch;
use tabia_notation as notation;
use tabia_notation::Line;

/// As [`super::mark`].
pub(super) fn mark(
    editor: &mut KeyedEditor,
    job: &MarkJob,
    watch: &mut Watch<'_>,
    told: &mut dyn FnMut(&Told) -> io::Result<()>,
) -> Result<Marked, MarkError> {
    let path = || editor.book().path().to_owned();
    let selection = &job.selection;
    let filter = selection.filter.as_ref();
    if editor.book().format() == Format::Bin && filter.is_some_and(super::Filter::asks_for_games) {
        return Err(MarkError::Format {
            path: path(),
            format: Format::Bin,
            what: "games to choose by (--where can ask for weight and ply)",
        });
    }
    let mut done = Marked::default();
    let mut planned: Vec<KeyedChange> = Vec::new();
    match &job.target {
        MarkTarget::Position(_) => {
            return Err(MarkError::Format {
                path: path(),
                format: editor.book().format(),
                what: "weights of positions (name a move with --move)",
            });
        }
        MarkTarget::Moves(lines) => {
            let mut named: Vec<(&Line, KeyedChange)> = Vec::new();
            for line in lines {
                let Some((position, mv)) = line.moves().next_back() else {
                    continue;
                };
                if !admits(selection, editor.book(), line.last(), position, mv)? {
                    continue;
                }
                done.chosen += 1;
                let plan = editor.plan(position, mv, &selection.edit)?;
                let plan = plan.ok_or_else(|| MarkError::NotInBook {
                    path: path(),
                    what: leads_out(position, mv),
                })?;
                for change in plan {
                    // A line may pass through a position twice.
                    if !planned.contains(&change) {
                        planned.push(change);
                        named.push((line, change));
                    }
                }
            }
            done.changes = planned.len() as u64;
            if !job.dry_run {
                editor.apply(&planned)?;
            }
            for (line, change) in named {
                told(&told_of(line.clone(), &change, String::new()))?;
            }
        }
        MarkTarget::Book => {
            each_move(editor.book(), watch, |_, here, mv, found| {
                let after = notation::after(&here.position, mv);
                let is_side = selection.colour.is_none_or(|c| c == here.position.turn());
                let known = found.moves.iter().find(|known| known.mv == mv);
                let admits =
                    |filter| known.is_some_and(|mv| filter_admits(filter, mv, found, &after));
                if is_side && filter.is_none_or(admits) {
                    done.chosen += 1;
                    let plan = editor.plan(&here.position, mv, &selection.edit)?;
                    planned.extend(plan.unwrap_or_default());
                }
                Ok::<_, MarkError>(true)
            })?;
            done.changes = planned.len() as u64;
            if job.dry_run {
                planned.truncate(job.told);
                let changes = planned.into_iter().map(|change| (change, String::new()));
                tell_keyed(editor.book(), changes.collect(), watch, &mut |one| {
                    Ok(told(one)?)
                })?;
            } else {
                done.applied = Some(editor.apply(&planned)?);
            }
        }
    }
    Ok(done)
}

/// Finds the moves of the book that changes stand beside, shortest lines
/// first, and calls `found` with each, and what else is to be said of it.
///
/// # Errors
///
/// The book cannot be read, who watches wants an end, or `found` fails.
pub fn tell_keyed(
    book: &Book,
    changes: Vec<(KeyedChange, String)>,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(&Told) -> Result<(), MarkError>,
) -> Result<(), MarkError> {
    let by_place = changes
        .into_iter()
        .map(|(change, note)| (change.offset, (change, note)));
    let mut wanted: HashMap<u64, (KeyedChange, String)> = by_place.collect();
    if wanted.is_empty() {
        return Ok(());
    }
    each_move(book, watch, |walk, here, mv, _| {
        for entry in book
            .keyed_entries(&here.position, mv)
            .map_err(EditError::from)?
        {
            if let Some((change, note)) = wanted.remove(&entry.offset) {
                let mut line = Line::default();
                let moves = walk.line(here).into_iter().chain([mv]);
                moves.for_each(|mv| line.push(mv));
                found(&told_of(line, &change, note))?;
            }
        }
        Ok(!wanted.is_empty())
    })
}

/// Shows the moves of a book that lines from the start position come to, each
/// once with the position it is played in; until `show` wants no more.
fn each_move(
    book: &Book,
    watch: &mut Watch<'_>,
    mut show: impl FnMut(&Walk, &Reached, Move, &Lookup) -> Result<bool, MarkError>,
) -> Result<(), MarkError> {
    let start = Chess::default();
    let mut seen = HashSet::from([polyglot::key(&start)]);
    let mut walk = Walk::new(&start, Order::Breadth);
    let mut found = Lookup::default();
    while let Some(here) = walk.next() {
        let told = watch.position("looking", seen.len() as u64, None);
        told.map_err(|stopped| EditError::from(RewriteError::from(stopped)))?;
        book.probe(&here.position, Wanted::Stored, &mut found)?;
        for known in &found.moves {
            if !show(&walk, &here, known.mv, &found)? {
                return Ok(());
            }
        }
        walk.go_on(&here, found.moves.iter().map(|known| known.mv), |next| {
            seen.insert(polyglot::key(next))
        });
    }
    Ok(())
}

fn told_of(line: Line, change: &KeyedChange, note: String) -> Told {
    Told {
        is_reached: *line.start() == Chess::default(),
        line,
        field: change.field,
        old: change.old,
        new: change.new,
        is_stored: false,
        note,
    }
}
