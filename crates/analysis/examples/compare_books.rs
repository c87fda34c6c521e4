//! Two books play against each other: where do they leave their lines first?
//! `cargo run -p tabia-analysis --example compare_books`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_analysis::Watch;
use tabia_analysis::prove::{Side, figures, walk_pairs};
use tabia_book::eval::{Evaluation, Value};
use tabia_book::policy::Rules;
use tabia_book::{Book, OpenOptions};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let open = |path: &str| Book::open(format!("{REPOSITORY}/{path}"), &OpenOptions::default());
    let books = [open("books/tabia.ctg")?, open("tests/data/small.ctg")?];
    // With the default options; the seed decides which moves are drawn.
    let side = |book| Side::new(book, Rules::default(), 1);
    let sides = [side(&books[0]), side(&books[1])];
    let walks = walk_pairs(&sides, 50, &mut Watch::default())?;
    println!(
        "{} walks end in {} positions",
        2 * walks.pairs.len(),
        walks.exits.len()
    );

    // A program would search each exit; here every position is equal.
    let values = vec![Some(Evaluation::from(Value::Cp(0))); walks.exits.len()];
    let found = figures(&walks, &values).ok_or("no pair has a value")?;
    let [first, second] = found.leaves_first.map(|share| 100.0 * share);
    println!("the first book ends in {first:.0} % of them, the second in {second:.0} %");
    println!("a walk has {:.1} plies on average", found.plies);
    Ok(())
}
