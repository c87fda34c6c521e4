//! Checks whether an engine keeps to the protocol:
//! `cargo run -p tabia-engine --example check [ENGINE]`

#![allow(clippy::print_stdout)] // Figures for users.

mod scripted;

use tabia_engine::check::{Outcome, Patience, check};

fn main() {
    let report = check(&scripted::engine(), &Patience::default(), &mut |step| {
        println!("{:?}: {}", step.outcome, step.name);
        if !step.explanation.is_empty() {
            println!("    {}", step.explanation);
        }
    });
    let failed = report.count(Outcome::Failed);
    println!("{} steps, {failed} failed", report.steps.len());
}
