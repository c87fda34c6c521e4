//! Chooses a repertoire from a book, and lists the replies for which it has no move:
//! `cargo run -p tabia-analysis --example repertoire_gaps`

#![allow(clippy::print_stdout)] // Figures for users.

use shakmaty::Color;
use tabia_analysis::Watch;
use tabia_analysis::repertoire::{Knowledge, Repertoire, RepertoireOptions, one_in};
use tabia_book::evals::EvalTable;
use tabia_book::{Book, OpenOptions};
use tabia_notation::Line;

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let book = Book::open(BOOK, &OpenOptions::default())?;
    // Without evaluations the results of the games decide.
    let evaluations = EvalTable::default();
    let mut options = RepertoireOptions::new(Color::White);
    options.line = Line::read("", "1. e4")?;
    options.one_in = 100.0;
    let knowledge = Knowledge::new(&book, &evaluations);
    let repertoire = Repertoire::solve(knowledge, &options, &mut Watch::default())?;

    let summary = repertoire.summary()?;
    let score = 100.0 * summary.expectation;
    println!(
        "{} moves to learn, expected score {score:.1} %",
        summary.positions
    );
    for gap in summary.gaps.iter().take(5) {
        println!("{}: {}", one_in(gap.probability), gap.line);
    }
    Ok(())
}
