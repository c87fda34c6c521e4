use shakmaty::Chess;

use super::*;
use tabia_book::eval::known;
use tabia_book::evals::EvalTable;
use tabia_book::{Book, OpenOptions};
use tabia_io::progress::Watch;

fn starter() -> BookGraph {
    let book = Book::open("../../tests/data/small.ctg", &OpenOptions::default()).unwrap();
    BookGraph::from_book(&book, &mut Watch::default(), &mut |error| panic!("{error}")).unwrap()
}

fn at(graph: &BookGraph, moves: &str) -> (Chess, NodeId) {
    let line = Line::read("", moves).unwrap();
    let position = line.last().clone();
    let node = graph.node(&position).unwrap();
    (position, node)
}

#[test]
fn holds_what_the_book_holds_and_lines_are_found_again() {
    let graph = starter();
    assert!(graph.in_book() > 1000 && graph.len() == graph.in_book());
    let reach = graph.probabilities_by(&Policy::default());
    let (position, node) = at(&graph, "e4 e5 Nf3 Nc6");
    let line = graph.line(&reach.path(node).unwrap());
    assert_eq!(line.last().board(), position.board());
    assert_eq!(reach.path(reach.order()[0]), Some(Vec::new()));
    assert!(graph.nodes().step_by(97).all(|node| {
        let path = reach.path(node);
        path.is_none_or(|path| graph.line(&path).plies() == path.len())
    }));
}

#[test]
fn probabilities_are_those_of_play_and_flow_without_loss() {
    let graph = starter();
    let policy = Policy::default();
    let reach = graph.probabilities_by(&policy);
    let (_, start) = at(&graph, "");
    let (_, after) = at(&graph, "e4");
    let mut weighing = Weighing::default();
    let played = weighing.weigh(&graph, start, &policy);
    let index = graph.moves(start).iter().position(|mv| mv.to == after);
    let share = played[index.unwrap()].probability;
    assert!(share > 0.1 && (reach.probability[after as usize] - share).abs() < 1e-12);
    // Every game reaches an end of the book, unless it goes in cycles.
    let ends: f64 = graph
        .nodes()
        .filter(|node| {
            let verdicts = weighing.weigh(&graph, *node, &policy);
            verdicts.iter().all(|v| v.probability <= 0.0)
        })
        .map(|node| reach.probability[node as usize])
        .sum();
    assert!(ends > 0.99 && ends < 1.0 + 1e-9, "{ends}");
}

#[test]
fn values_come_from_the_ends_with_either_side_to_move() {
    let graph = starter();
    let (start, node) = at(&graph, "");
    let (after_e4, black) = at(&graph, "e4");
    let mut table = EvalTable::default();
    // The best known move is in the book: the value of leaving is unknown.
    table.add(&start, &known(30, &[("e2e4", 30)]));
    assert!(graph.leaving_is_unknown(node, &table));
    let leaving = graph.leaving(&table);
    assert_eq!(leaving[node as usize], None);
    // But the value of the move is that of the position after it: from Black's view.
    assert_eq!(leaving[black as usize], Some(-30));
    assert_eq!(graph.values(&leaving)[node as usize], Some(30));
    // Its own evaluation is better, and here Black leaves the book.
    table.add(&after_e4, &known(10, &[("a7a5", 10)]));
    table.add(&start, &known(30, &[("e2e4", 30), ("f2f3", -5)]));
    let leaving = graph.leaving(&table);
    assert_eq!(leaving[black as usize], Some(-10));
    assert_eq!(leaving[node as usize], Some(-5));
    assert_eq!(graph.values(&leaving)[node as usize], Some(10));
    assert!(!graph.leaving_is_unknown(node, &table));
}
