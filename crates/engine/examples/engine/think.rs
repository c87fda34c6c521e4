//! Shows a search while it runs, and ends it:
//! `cargo run -p tabia-engine --example engine think [ENGINE]`

use std::ops::ControlFlow;
use std::time::Duration;

use shakmaty::Chess;
use tabia_engine::{Analyst, Question};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let patience = Duration::from_secs(10);
    let mut analyst = Analyst::start(&crate::scripted::engine(), &[], patience)?;
    let start = Chess::default();
    let question = Question::new(&start);
    // Until the engine has a variation.
    let last = analyst.think(question, patience, |update| match update.lines.first() {
        Some(Some(_)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })?;
    println!("{} nodes: {:?}", last.nodes, last.lines);
    Ok(())
}
