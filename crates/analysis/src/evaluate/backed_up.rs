//! Values of positions, backed up from the lines of the book after them.

use shakmaty::Color;

use crate::graph::BookGraph;
use tabia_book::eval::{Evaluation, Value};
use tabia_book::evals::{EvalTable, epd};

/// The values of all positions of a book, backed up from the evaluations at its ends: as
/// EPD, a line for each position with a value, and the number of lines. The depth is left
/// unknown: the value is that of the whole subtree, not of one search.
#[must_use]
pub fn backed_up(graph: &BookGraph, table: &EvalTable, book: &str) -> (String, u64) {
    let values = graph.values(&graph.leaving(table));
    let mut text = String::new();
    let mut count = 0;
    for (node, value) in graph.nodes().zip(values) {
        let Some(value) = value else {
            continue;
        };
        // White is to move on every board here.
        let evaluation = Evaluation {
            source: format!("carried through {book}").into(),
            ..Evaluation::from(Value::cp_of_mover(Color::White, value))
        };
        epd::write(&graph.position(node), &evaluation, &mut text);
        count += 1;
    }
    (text, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::eval::known;
    use tabia_notation::Line;

    #[test]
    fn a_position_is_worth_what_follows_it_and_not_what_it_promised() {
        let mut graph = BookGraph::of_start().unwrap();
        graph.extend(&[(0, "e2e4".parse().unwrap())]).unwrap();
        let mut table = EvalTable::default();
        let mut know = |line: &str, value: i32, moves: &[(&str, i32)]| {
            let position = Line::read("", line).unwrap();
            table.add(position.last(), &known(value, moves));
        };
        know("", 30, &[("e2e4", 30), ("d2d4", 20)]);
        know("e4", -100, &[("c7c5", -100)]);
        let (text, count) = backed_up(&graph, &table, "small.ctg");
        assert_eq!(count, 2);
        let values: Vec<(bool, i32)> = text
            .lines()
            .map(|line| {
                let (position, found) = epd::read(line).unwrap();
                (
                    position == shakmaty::Chess::default(),
                    found.value.for_side(Color::White),
                )
            })
            .collect();
        // 1.e4 is bad for White, so 1.d4 remains; Black is better after 1.e4, on a board
        // where he has White.
        assert_eq!(values, [(true, 20), (false, 100)]);
    }
}
