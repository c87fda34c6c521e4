//! Makes start positions for matches between engines out of a book:
//! `cargo run -p tabia-analysis --example opening_suite`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_analysis::Watch;
use tabia_analysis::suite::{self, Cut, SuiteJob};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("six.epd");
    let mut job = SuiteJob::new(vec![BOOK.into()], target.clone());
    job.cut = Cut::At(6);
    job.count = Some(50);
    job.board.quiet = true;
    let made = suite::make(&job, &mut Watch::default())?;

    let suite = std::fs::read_to_string(&target)?;
    suite.lines().take(3).for_each(|line| println!("{line}"));
    println!("{} positions", made.figures.positions);
    for row in made.funnel.rows() {
        println!(
            "{}: {} left out, {} left",
            row.step.as_str(),
            row.lost,
            row.left
        );
    }
    // What would make a match manager stumble.
    let faults = suite::check(&target, None, &mut Watch::default())?.faults;
    println!("{} faults", faults.len());
    Ok(())
}
