//! The lines of a book that is probed by keys: a walk from the start position.

use std::cmp::Reverse;
use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move};

use super::{Counts, Line, Lines, weights};
use crate::convert::{Converted, Work, wanted};
use crate::policy;
use crate::polyglot::{self, PackedMove};
use crate::walk::{Order, Walk};
use crate::{Book, BookWalk, Error, Lookup, Probe as _};
use tabia_notation as notation;

/// The results for some positions.
#[derive(Default)]
struct LookedUp {
    lines: Vec<Line>,
    counts: Counts,
    /// Positions that are in the book.
    held: u64,
    /// Moves into positions of the book: the number of the position before, the move, the
    /// position after and its key.
    next: Vec<(u32, Move, Chess, u64)>,
}

pub(super) fn lines(
    work: &mut Work<'_, '_>,
    book: &Book,
    lines: &Lines,
    summary: &mut Converted,
) -> Result<Counts, Error> {
    let job = work.job;
    let wanted = wanted(job);
    let look_up = |positions: &mut dyn Iterator<Item = (&Chess, u64)>| {
        let mut all = LookedUp::default();
        let mut found = Lookup::default();
        let mut verdicts = Vec::new();
        for (at, (position, key)) in (0..).zip(positions) {
            book.probe(position, wanted, &mut found)?;
            if found.here.is_none() {
                continue;
            }
            all.held += 1;
            policy::weigh(&found.moves, &job.policy, |_| None, &mut verdicts);
            let mut line = Line {
                key,
                moves: Vec::new(),
            };
            for (entry, weight) in found
                .moves
                .iter()
                .zip(weights(job, &found.moves, &verdicts))
            {
                let weight =
                    weight.map(|weight| (Reverse(weight), PackedMove::from_move(entry.mv)));
                line.moves.extend(weight);
            }
            all.counts.count(found.moves.len(), line.moves.len());
            if !line.moves.is_empty() {
                line.sort_moves();
                all.lines.push(line);
            }
            for known in found.moves.iter().filter(|entry| entry.after.is_some()) {
                let after = notation::after(position, known.mv);
                let key = polyglot::key(&after);
                all.next.push((at, known.mv, after, key));
            }
        }
        Ok::<_, Error>(all)
    };
    let start = Chess::default();
    let first = polyglot::key(&start);
    let mut seen: HashSet<u64, FxBuildHasher> = HashSet::from_iter([first]);
    let (mut counts, mut held, mut done) = (Counts::default(), 0, 0);
    Walk::with_notes(&start, first, Order::Depth)
        .without_lines()
        .spread(
            |share| look_up(&mut share.iter().map(|at| (&at.position, at.note))),
            |walk, share, found| {
                counts.add(&found.counts);
                held += found.held;
                lines.add(|sorter| found.lines.iter().try_for_each(|line| sorter.push(line)))?;
                done += share.len() as u64;
                work.steps("walking", done, None)?;
                for (at, mv, position, key) in found.next {
                    if seen.insert(key)
                        && let Some(here) = share.get(at as usize)
                    {
                        walk.enter(here, mv, position, key);
                    }
                }
                Ok(())
            },
        )?;
    let mut rest = BookWalk::beyond(book, seen);
    while let Some(here) = rest.advance()? {
        let position = &here.position;
        let found = look_up(&mut [(position, polyglot::key(position))].into_iter())?;
        counts.add(&found.counts);
        lines.add(|sorter| found.lines.iter().try_for_each(|line| sorter.push(line)))?;
        held += 1;
        work.step("walking", done + rest.met(), None)?;
    }
    summary.leave_out(rest.unreached(), held);
    Ok(counts)
}
