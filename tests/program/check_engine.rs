//! `check-engine` with a real process; its verdicts have tests beside the code.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use crate::common::TABIA;
use tabia_engine::EngineCommand;
use tabia_engine::check::{Outcome, Patience, check};

#[test]
fn the_built_in_engine_passes() {
    let command = EngineCommand::new(TABIA).args(vec!["engine".into()]);
    // A limit that no sound engine reaches, even on a slow machine.
    let long = Duration::from_secs(120);
    let patience = Patience::default()
        .start(long)
        .ready(long)
        .search(long)
        .stop(long)
        .quit(long);
    let report = check(&command, &patience, &mut |_| {});
    // On a busy machine it may use more than a clock has: that proves nothing.
    let is_sound = |outcome, text: &str| match outcome {
        Outcome::Passed | Outcome::Skipped => true,
        Outcome::Warning | Outcome::Failed => text.starts_with("took "),
    };
    for step in &report.steps {
        assert!(is_sound(step.outcome, &step.explanation), "{step:#?}");
    }
    assert!(report.count(Outcome::Passed) > 20, "{:#?}", report.steps);
}
