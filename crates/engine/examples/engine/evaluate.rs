//! Asks an engine for an evaluation:
//! `cargo run -p tabia-engine --example engine evaluate [ENGINE]`

use std::time::Duration;

use tabia_engine::{Analyst, Effort, Question};
use tabia_notation::Line;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let patience = Duration::from_secs(10);
    let mut analyst = Analyst::start(&crate::scripted::engine(), &[], patience)?;
    let line = Line::read("", "1. e4 c5")?;
    let question = Question::new(line.last()).afresh(true);
    let found = analyst.evaluate(question, Effort::Nodes(100_000), patience)?;
    println!(
        "{}: {:?} at depth {}",
        found.source, found.value, found.depth
    );
    Ok(())
}
