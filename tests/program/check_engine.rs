//! `check-engine` against engines with one fault each.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::common::{TABIA, example};
use tabia_uci::process::EngineCommand;
use tabia_uci::process::check::{CheckReport, Outcome, Patience, check};

/// A limit that no sound engine here reaches, even on a slow machine.
const LONG: Duration = Duration::from_secs(120);

/// For engines without a fault that makes the test wait.
fn long_patience() -> Patience {
    Patience {
        start: LONG,
        ready: LONG,
        search: LONG,
        stop: LONG,
        quit: LONG,
        watch: Duration::from_millis(300),
    }
}

/// Long enough for a sound step on a busy machine; a hanging step uses all of it.
fn patience() -> Patience {
    let step = Duration::from_secs(5);
    Patience {
        ready: step,
        search: step,
        stop: step,
        quit: step,
        ..long_patience()
    }
}

fn check_odd(fault: &str, patience: &Patience) -> CheckReport {
    let command = EngineCommand {
        program: example("odd_engine"),
        args: vec![fault.into()],
        ..EngineCommand::default()
    };
    check(&command, patience, &mut |_| {})
}

/// Repeats the check until every step passes, because a busy machine may delay a step; a
/// step that is really too slow never passes.
fn passes(mut check: impl FnMut() -> CheckReport) -> CheckReport {
    let (mut passed, mut failed) = (BTreeSet::new(), BTreeMap::new());
    for _ in 0..12 {
        let report = check();
        for step in &report.steps {
            match step.outcome {
                Outcome::Passed => drop(passed.insert(step.name)),
                Outcome::Skipped => {}
                _ => drop(failed.insert(step.name, step.explanation.clone())),
            }
        }
        failed.retain(|name, _| !passed.contains(name));
        if failed.is_empty() {
            assert!(passed.len() > 25, "{passed:?}");
            return report;
        }
    }
    panic!("{failed:#?}");
}

#[test]
fn a_proper_engine_passes() {
    // Some limits are those of the clocks that it gets.
    let report = passes(|| check_odd("", &long_patience()));
    assert_eq!(report.name.as_deref(), Some("Odd"));
}

#[test]
fn the_built_in_engine_passes() {
    let command = EngineCommand {
        program: TABIA.into(),
        args: vec!["engine".into()],
        ..EngineCommand::default()
    };
    // The real limits: this is a real engine.
    passes(|| check(&command, &Patience::default(), &mut |_| {}));
}

#[test]
fn every_fault_is_found_in_the_right_step() {
    let failures = [
        (
            "answers-too-early",
            "searches until \"stop\"",
            "before \"stop\"",
        ),
        ("answers-too-early", "ponders until \"ponderhit\"", "before"),
        ("answers-twice", "searches to a depth", "nobody asked for"),
        ("babbles", "answers \"uci\"", "4 MiB"),
        ("bad-info", "searches to a depth", "score is neither"),
        (
            "bad-options",
            "declares its options properly",
            "default 5 is outside 10 to 20",
        ),
        (
            "bad-options",
            "declares its options properly",
            "declared twice",
        ),
        (
            "deaf-in-search",
            "answers \"isready\" during a search",
            "readyok",
        ),
        ("dies-at-start", "answers \"uci\"", "ended by itself"),
        ("dies-in-search", "searches for a time", "ended by itself"),
        (
            "dies-on-options",
            "ignores an unknown option",
            "ended by itself",
        ),
        ("endless-line", "answers \"uci\"", "64 KiB"),
        ("fails-on-quit", "ends on \"quit\"", "failure"),
        ("ignores-end-of-input", "ends with its input", "still runs"),
        ("ignores-quit", "ends on \"quit\"", "still runs"),
        ("ignores-stop", "searches until \"stop\"", "bestmove"),
        ("illegal-move", "searches to a depth", "e2e5 is not legal"),
        ("ready-twice", "answers \"isready\" once", "more than once"),
        ("shouts", "searches to a depth", "should be written"),
    ];
    let warnings = [
        ("blank-default", "declares its options properly", "<empty>"),
        (
            "ignores-end-of-input",
            "ends with its input during a search",
            "still runs",
        ),
        ("ignores-searchmoves", "obeys \"searchmoves\"", "it played"),
        ("silent", "searches to a depth", "score"),
        ("wrong-pv", "searches to a depth", "is not legal"),
    ];
    let mut rows = failures.map(|row| (row, Outcome::Failed)).to_vec();
    rows.extend(warnings.map(|row| (row, Outcome::Warning)));
    rows.sort_by_key(|((fault, ..), _)| *fault);
    // An answer that comes too early may itself be late.
    let patience = Patience {
        watch: Duration::from_secs(1),
        ..patience()
    };
    let patience = &patience;
    // All at the same time, because they mostly wait.
    std::thread::scope(|scope| {
        for same in rows.chunk_by(|(one, _), (next, _)| one.0 == next.0) {
            scope.spawn(move || {
                let wrong = (0..12).map(|_| differences(same, patience));
                let wrong: Vec<String> = wrong.take_while(|it| !it.is_empty()).collect();
                assert!(wrong.len() < 12, "{wrong:#?}");
            });
        }
    });
}

/// A fault of the example engine, the step that finds it, and a part of the explanation.
type Fault = (&'static str, &'static str, &'static str);

/// What a check of one fault reports other than expected; empty when all is as expected.
/// A busy machine may delay a step, so that the ones after it are not taken.
fn differences(rows: &[(Fault, Outcome)], patience: &Patience) -> String {
    let ((fault, ..), _) = rows[0];
    let report = check_odd(fault, patience);
    assert_eq!(report.passed(), report.count(Outcome::Failed) == 0);
    let as_expected = |((_, name, text), expected): &(Fault, Outcome)| {
        report.steps.iter().any(|step| {
            step.name == *name && step.outcome == *expected && step.explanation.contains(text)
        })
    };
    let different = rows.iter().filter(|row| !as_expected(row));
    let different: Vec<_> = different.collect();
    if different.is_empty() {
        return String::new();
    }
    format!("{different:?}: {:?}", report.steps)
}

#[test]
fn a_check_of_a_hanging_engine_has_bounded_time_and_memory() {
    let patience = Patience {
        start: Duration::from_secs(2),
        search: Duration::from_millis(300),
        ..patience()
    };
    for fault in ["hangs-at-start", "hangs-in-search", "floods"] {
        let start = Instant::now();
        let report = check_odd(fault, &patience);
        assert!(!report.passed(), "{fault}");
        assert!(start.elapsed() < 5 * LONG, "{fault}");
        for step in &report.steps {
            assert!(step.exchange.len() <= 40);
            assert!(step.exchange.iter().all(|line| line.chars().count() < 250));
        }
    }
}

#[test]
fn control_characters_of_an_engine_are_not_in_the_report() {
    let report = check_odd("babbles", &long_patience());
    let lines = report.steps.iter().flat_map(|step| &step.exchange);
    assert!(lines.clone().count() > 0);
    assert!(lines.clone().all(|line| !line.contains('\u{1b}')));
}
