//! What positions are worth by all that follows them in the book.

use shakmaty::Color;

use crate::eval::{Evaluation, Value};
use crate::evals::{EvalTable, epd};
use crate::graph::BookGraph;

/// The values that evaluations give to every position of a book when they are
/// carried from its ends: EPD, a line for each position that has one, how many
/// there are beside it. The depth is given as unknown: a position says what
/// its whole subtree does, not what one search found.
#[must_use]
pub fn carried(graph: &BookGraph, table: &EvalTable, book: &str) -> (String, u64) {
    let values = graph.values(&graph.leaving(table));
    let mut text = String::new();
    let mut count = 0;
    for (node, value) in graph.nodes().zip(values) {
        let Some(value) = value else {
            continue;
        };
        let evaluation = Evaluation {
            // White is to move on every board here.
            value: Value::cp_of_mover(Color::White, value),
            depth: 0,
            nodes: 0,
            source: format!("carried through {book}").into(),
            moves: Vec::new(),
        };
        epd::write(&graph.position(node), &evaluation, &mut text);
        count += 1;
    }
    (text, count)
}
