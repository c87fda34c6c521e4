//! Counts games into a table that any SQL engine can add up, and makes a book of the
//! table: `cargo run -p tabia-build --example records`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_build::{BuildJob, Product, Source, run};
use tabia_io::progress::Watch;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("may.pgn"), "1. e4 c5 2. Nf3 1-0\n\n1. e4 e5 0-1\n")?;
    let source = |name: &str| Source::new(at(name));
    let mut count = BuildJob::new(vec![source("may.pgn")], at("may.parquet"));
    count.product = Product::Records;
    let counted = run(&count, &mut Watch::default())?;
    println!("{} bytes of records", counted.written.bytes);

    // The same bytes as a book of the games.
    let book = BuildJob::new(vec![source("may.parquet")], at("may.ctg"));
    println!("{} games", run(&book, &mut Watch::default())?.games);
    Ok(())
}
