//! Checks whether an engine keeps to the protocol:
//! `cargo run -p tabia-engine --example engine check [ENGINE]`

use tabia_engine::check::{Outcome, Patience, check};

pub(crate) fn main() {
    let report = check(
        &crate::scripted::engine(),
        &Patience::default(),
        &mut |step| {
            println!("{:?}: {}", step.outcome, step.name);
            if !step.explanation.is_empty() {
                println!("    {}", step.explanation);
            }
        },
    );
    let failed = report.count(Outcome::Failed);
    println!("{} steps, {failed} failed", report.steps.len());
}
