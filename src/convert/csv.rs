//! Any book as a table: one row a move.
//!
//! | column | content |
//! |---|---|
//! | `fen` | the position; of a ChessBase book the normalised one, White to move |
//! | `uci`, `san` | the move |
//! | `games`, `wins`, `draws`, `losses` | of the move, seen from its player |
//! | `score` | points over games with a result, 0 to 1; empty without any |
//! | `average_elo`, `performance` | empty without rated games |
//! | `mark` | main, avoid or none |
//! | `annotation` | NAG number of the move, 0 for none |
//! | `commentary` | NAG number of the position after it, 0 for none |
//! | `factor` | seen from the player of the move: positive speaks for it |
//! | `weight` | what a Polyglot book stores; empty elsewhere |
//! | `priority` | what an Arena book stores; empty elsewhere |
//! | `transposition` | 1 where nobody stored the move, but it leads into the book |
//! | `probability` | with which the adapter would play it, 0 to 1 |

use std::fmt::Write as _;

use shakmaty::Position as _;

use super::output::Output;
use super::{Error, Prober, Summary, Work, expected};
use crate::book::{Book, Lookup, Preference};
use crate::notation;
use crate::policy;

const HEADER: &str = "fen,uci,san,games,wins,draws,losses,score,average_elo,performance,mark,\
                      annotation,commentary,factor,weight,priority,transposition,probability\n";

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Summary, Error> {
    let mut output = Output::create(&work.job.target)?;
    output.put(HEADER.as_bytes())?;
    let total = expected(book);
    let mut summary = Summary::default();
    let mut found = Lookup::default();
    let mut verdicts = Vec::new();
    let mut rows = String::new();
    let prober = Prober::new(work.job, book)?;
    for held in book.positions() {
        let position = held?.position;
        prober.probe(&position, &mut found)?;
        policy::weigh(&found.moves, &work.job.policy, |_| None, &mut verdicts);
        let fen = notation::fen(&position);
        rows.clear();
        for (mv, verdict) in found.moves.iter().zip(&verdicts) {
            let stats = mv.stats();
            let number = |number: Option<f64>, digits: usize| {
                number.map_or_else(String::new, |number| format!("{number:.digits$}"))
            };
            let (weight, priority) = match mv.preference {
                Preference::Weight(weight) => (weight.to_string(), String::new()),
                Preference::Priority(priority) => (String::new(), priority.to_string()),
                Preference::Statistics => (String::new(), String::new()),
            };
            let commentary = mv
                .child
                .map_or(0, |child| child.commentary_for(position.turn().other()));
            let mut line = || {
                writeln!(
                    rows,
                    "{fen},{},{},{},{},{},{},{},{},{},{},{},{},{},{weight},{priority},{},{:.6}",
                    notation::uci(mv.mv),
                    notation::san(&position, mv.mv),
                    stats.games,
                    stats.wins,
                    stats.draws,
                    stats.losses,
                    number(stats.score(), 4),
                    number(stats.average_elo(), 1),
                    number(stats.performance(), 1),
                    mv.mark().as_str(),
                    mv.annotation.nag(),
                    commentary,
                    mv.factor(),
                    u8::from(mv.transposition),
                    verdict.probability,
                )
            };
            // Writing to a string does not fail.
            let _ = line();
            summary.moves += 1;
        }
        output.put(rows.as_bytes())?;
        summary.positions += 1;
        work.step("writing", summary.positions, total)?;
    }
    summary.bytes = output.finish()?;
    Ok(summary)
}
