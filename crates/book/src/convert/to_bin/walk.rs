//! The lines of a book that is probed by keys: a walk from the start position.

use std::cmp::Reverse;

use super::{Counts, Line, Lines, weights};
use crate::convert::{Converted, Work};
use crate::policy;
use crate::polyglot::{self, PackedMove};
use crate::walk::Order;
use crate::{Book, Error};

pub(super) fn lines(
    work: &mut Work<'_, '_>,
    book: &Book,
    lines: &Lines,
    summary: &mut Converted,
) -> Result<Counts, Error> {
    let job = work.job;
    let (mut counts, mut verdicts) = (Counts::default(), Vec::new());
    let mut line = Line::default();
    let mut walk = book.walk(Order::Depth);
    while let Some(here) = walk.advance()? {
        let moves = &walk.found.moves;
        policy::weigh(moves, &job.policy, |_| None, &mut verdicts);
        (line.key, line.moves) = (polyglot::key(&here.position), Vec::new());
        for (entry, weight) in moves.iter().zip(weights(job, moves, &verdicts)) {
            let weight = weight.map(|weight| (Reverse(weight), PackedMove::from_move(entry.mv)));
            line.moves.extend(weight);
        }
        counts.count(moves.len(), line.moves.len());
        if !line.moves.is_empty() {
            line.sort_moves();
            lines.add(|sorter| sorter.push(&line))?;
        }
        work.step("walking", walk.met(), None)?;
    }
    summary.leave_out(walk.unreached(), walk.met());
    Ok(counts)
}
