//! Converts any book to a table: one row for each move.
//!
//! | column | content |
//! |---|---|
//! | `fen` | the position; in a ChessBase book the canonical one, White to move |
//! | `uci`, `san` | the move |
//! | `games`, `wins`, `draws`, `losses` | of the move, from the view of its player |
//! | `score` | points over games with a result, 0 to 1; empty without any |
//! | `average_elo`, `performance` | empty without rated games |
//! | `mark` | main, avoid or none |
//! | `annotation` | NAG number of the move, 0 for none |
//! | `commentary` | NAG number of the position after it, 0 for none |
//! | `learn_value` | from the view of the player of the move: positive favours it |
//! | `weight` | stored in a Polyglot book; empty elsewhere |
//! | `priority` | stored in an Arena book; empty elsewhere |
//! | `transposition` | 1 if the move is not stored, but leads into the book |
//! | `probability` | that the adapter plays it, 0 to 1 |
//!
//! Rows are not written by the crate `csv`: it looks in every value for what needs quotation
//! marks, and took four times as long.

use std::collections::HashSet;
use std::io::Write as _;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Position as _};

use super::{ConvertJob, Converted, UNREACHED, Work, source::Source, wanted};
use crate::ctg::{Contents, Moves};
use crate::policy::{self, Weighed};
use crate::view::MoveView;
use crate::walk::{Order, Walk};
use crate::{Book, Error, Lookup, Wanted, polyglot, position_of};
use tabia_notation as notation;

const HEADER: &str = "fen,uci,san,games,wins,draws,losses,score,average_elo,performance,mark,\
                      annotation,commentary,learn_value,weight,priority,transposition,probability\n";

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Converted, Error> {
    let mut output = work.output()?;
    output.write_bytes(HEADER.as_bytes())?;
    let mut summary = Converted::default();
    let job = work.job;
    let wanted = wanted(job);
    let mut all = Rows::default();
    match book.as_ctg() {
        // The entries of a book for one side do not tell which of them are for that side.
        Some(ctg) if ctg.only().is_none() => {
            let contents = Contents {
                records: true,
                transpositions: wanted == Wanted::Transpositions,
                ..Contents::default()
            };
            let (graph, salvage) = ctg.graph(contents, &mut work.watch.part(0, 500))?;
            summary.lose(job, salvage)?;
            let moves = match wanted {
                Wanted::Transpositions => Moves::All,
                Wanted::Stored | Wanted::Lines => Moves::Stored,
            };
            ctg.each_block_of(
                &graph,
                "writing",
                &mut work.watch.part(500, 1000),
                |_| true,
                |block| {
                    let (mut found, mut to) = (Lookup::default(), Vec::new());
                    let mut rows = Rows::default();
                    for (number, entry) in block.entries(&graph) {
                        let here = entry.key().and_then(|key| position_of(&key));
                        let Some((board, position)) = here else {
                            rows.impossible += 1;
                            continue;
                        };
                        graph.probe(number, &position, moves, &mut found, &mut to);
                        let stored = found.moves.iter().filter(|entry| !entry.transposition);
                        rows.illegal += (entry.moves().len() - stored.count()) as u64;
                        // The key does not show whether the capture is legal.
                        let board = Some(board).filter(|board| board.en_passant().is_none());
                        let fen = || board.and_then(|board| board.fen());
                        rows.add(job, &position, &found, fen);
                    }
                    Ok(rows)
                },
                |rows: Rows| {
                    output.write_bytes(&rows.text)?;
                    all.count(&rows);
                    Ok::<_, Error>(())
                },
            )?;
        }
        Some(ctg) => {
            let mut source = Source::new(work, book, Wanted::Lines, &mut summary)?;
            let start = Chess::default();
            let mut seen = HashSet::<u64, FxBuildHasher>::from_iter([polyglot::key(&start)]);
            let mut walk = Walk::with_notes(&start, source.start(), Order::Depth).without_lines();
            let (mut found, mut to) = (Lookup::default(), Vec::new());
            while let Some(here) = walk.next() {
                source.probe(
                    here.note,
                    &here.position,
                    Wanted::Lines,
                    &mut found,
                    &mut to,
                )?;
                for (known, to) in found.moves.iter().zip(&to).rev() {
                    let after = notation::after(&here.position, known.mv);
                    if seen.insert(polyglot::key(&after)) {
                        walk.enter(&here, known.mv, after, *to);
                    }
                }
                if found.here.is_none() {
                    continue;
                }
                if ctg.is_for_opponent_of(here.position.turn()) {
                    found.moves.clear();
                }
                let mut rows = Rows::default();
                rows.add(job, &here.position, &found, || None);
                output.write_bytes(&rows.text)?;
                all.count(&rows);
                work.step("writing", all.positions, None)?;
            }
            summary.note(source.unreached().unwrap_or(0), UNREACHED);
        }
        None => {
            let mut walk = book.walk(Order::Depth);
            while let Some(here) = walk.advance()? {
                let mut rows = Rows::default();
                rows.add(job, &here.position, &walk.found, || None);
                output.write_bytes(&rows.text)?;
                all.count(&rows);
                work.step("writing", all.positions, None)?;
            }
            summary.leave_out(walk.unreached(), all.positions);
        }
    }
    summary.positions = all.positions;
    summary.moves = all.moves;
    summary.note(all.impossible, "positions left out that cannot arise");
    summary.note(all.illegal, "moves left out as illegal");
    summary.not_empty(job)?;
    summary.bytes = output.commit()?;
    Ok(summary)
}

/// The rows of some positions.
#[derive(Default)]
struct Rows {
    text: Vec<u8>,
    positions: u64,
    moves: u64,
    /// Entries whose key is not a legal position.
    impossible: u64,
    /// Stored moves that are illegal, unknown, or stored twice.
    illegal: u64,
    verdicts: Vec<Weighed>,
}

impl Rows {
    fn count(&mut self, other: &Rows) {
        self.positions += other.positions;
        self.moves += other.moves;
        self.impossible += other.impossible;
        self.illegal += other.illegal;
    }

    /// Adds the rows of a position, whose FEN may be given.
    fn add(
        &mut self,
        job: &ConvertJob,
        position: &Chess,
        found: &Lookup,
        fen: impl FnOnce() -> Option<String>,
    ) {
        self.positions += 1;
        policy::weigh(&found.moves, &job.policy, |_| None, &mut self.verdicts);
        if found.moves.is_empty() {
            return;
        }
        let fen = fen().unwrap_or_else(|| notation::fen(position));
        for (mv, verdict) in found.moves.iter().zip(&self.verdicts) {
            let seen = MoveView::new(position, mv, verdict);
            let row = &mut Row(&mut self.text);
            row.text(&fen);
            row.next().text(&seen.uci);
            row.next().text(&seen.san);
            row.next().number(seen.games);
            for number in seen.results.parts() {
                row.next().number(number);
            }
            row.next().decimal(seen.score, 4);
            row.next().decimal(seen.average_elo, 1);
            row.next().decimal(seen.performance, 1);
            row.next().text(seen.mark.as_str());
            row.next().number(seen.annotation_nag);
            row.next().number(seen.commentary);
            row.next().number(seen.learn_value);
            row.next();
            if let Some(weight) = seen.stored_weight {
                row.number(weight);
            }
            row.next();
            if let Some(priority) = seen.priority {
                row.number(priority);
            }
            row.next().number(u8::from(seen.transposition));
            row.next().decimal(Some(seen.probability), 6);
            row.0.push(b'\n');
            self.moves += 1;
        }
    }
}

/// A row that is being written. No value in it needs quotation marks.
struct Row<'t>(&'t mut Vec<u8>);

impl Row<'_> {
    /// Begins the next column.
    fn next(&mut self) -> &mut Self {
        self.0.push(b',');
        self
    }

    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.text(itoa::Buffer::new().format(number));
    }

    /// Writes a number with `digits` decimals, or nothing for `None`: the same as
    /// `{:.digits$}`, whose exact arithmetic takes longer than the rest of a row.
    fn decimal(&mut self, number: Option<f64>, digits: u32) {
        let Some(number) = number else {
            return;
        };
        let unit = 10_u64.pow(digits);
        let scaled = number * unit as f64;
        let near_a_tie = (scaled.fract() - 0.5).abs() < 1e-3;
        if !(0.0..1e9).contains(&scaled) || number.is_sign_negative() || near_a_tie {
            // Writing to memory does not fail.
            let _ = write!(self.0, "{number:.width$}", width = digits as usize);
            return;
        }
        let scaled = scaled.round() as u64;
        self.number(scaled / unit);
        // The 1 before the digits preserves leading zeros.
        let point = self.0.len();
        self.number(unit + scaled % unit);
        if let Some(one) = self.0.get_mut(point) {
            *one = b'.';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_the_standard_library() {
        let mut state = 1_u64;
        let edges = [
            0.0,
            -0.0,
            1.0,
            0.5,
            0.25,
            0.00005,
            1e-9,
            2500.05,
            1e12,
            f64::NAN,
            -1.5,
        ];
        let random = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let (a, b) = ((state >> 40) as f64, (state >> 20 & 0xfff) as f64);
            a % 3000.0 / (b + 1.0)
        });
        for number in edges.into_iter().chain(random.take(100_000)) {
            for digits in [1, 4, 6] {
                let mut text = Vec::new();
                Row(&mut text).decimal(Some(number), digits);
                let expected = format!("{number:.width$}", width = digits as usize);
                assert_eq!(String::from_utf8(text).unwrap(), expected);
            }
        }
    }
}
