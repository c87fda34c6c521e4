//! Finds the moves of a book that lose most, by evaluations from a file:
//! `cargo run -p tabia-analysis --example audit_book`

#![allow(clippy::print_stdout)] // Findings for users.

use tabia_analysis::Watch;
use tabia_analysis::audit::{AuditOptions, Examined};
use tabia_analysis::evaluate::gather;
use tabia_analysis::graph::BookGraph;
use tabia_book::evals::{EvalFile, EvalTable};
use tabia_book::policy::Policy;
use tabia_book::{Book, OpenOptions};

const BOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut watch = Watch::default();
    let book = Book::open(format!("{BOOKS}/tabia.ctg"), &OpenOptions::default())?;
    let graph = BookGraph::from_book(&book, &mut watch, &mut |_| {})?;

    // Evaluations in any known format; only those of positions of the book are taken.
    let folder = tempfile::tempdir()?;
    let file = EvalFile::open(&folder.path().join("tabia.evals"))?;
    let mut table = EvalTable::default();
    let source = format!("{BOOKS}/evaluations.epd.zst");
    let gathered = gather(source.as_ref(), &graph, &mut table, &file, &mut watch)?;
    println!("{} evaluations", gathered.new);

    let examined = Examined::new(&graph, &table, Policy::default(), None);
    let mut options = AuditOptions::default();
    options.max_loss = 20;
    let audit = examined.audit(&options);
    println!("{} moves lose more than 20 centipawns", audit.losing_count);
    for found in audit.losing.iter().take(3) {
        let better = found.better.as_deref().unwrap_or("another move");
        println!("{}: {better} is {} better", found.played.line, found.loss);
    }
    Ok(())
}
