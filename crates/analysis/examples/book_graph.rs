//! Where the games of a book lead: the likeliest positions after eight plies, and the
//! values of their lines: `cargo run -p tabia-analysis --example book_graph`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_analysis::Watch;
use tabia_analysis::evaluate::likeliest_first;
use tabia_analysis::graph::BookGraph;
use tabia_book::policy::Policy;
use tabia_book::{Book, OpenOptions};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let book = Book::open(BOOK, &OpenOptions::default())?;
    let graph = BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {})?;
    println!("{} positions", graph.in_book());

    // Both sides play as the adapter would with the default options.
    let probabilities = graph.probabilities_by(&Policy::default());
    let lines = likeliest_first(&graph, &probabilities)
        .into_iter()
        .filter_map(|node| Some((node, probabilities.path(node)?)))
        .filter(|(_, path)| path.len() == 8);
    for (node, path) in lines.take(5) {
        let share = 100.0 * probabilities.probability[node as usize];
        println!("{share:.1} %: {}", graph.line(&path));
    }
    Ok(())
}
