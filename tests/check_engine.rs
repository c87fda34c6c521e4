//! `check-engine` against engines with one fault each.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabia::engine::EngineCommand;
use tabia::engine::check::{Outcome, Patience, Report, check};

/// Cargo puts examples beside the binary.
fn odd_engine() -> PathBuf {
    let name = format!("odd_engine{}", std::env::consts::EXE_SUFFIX);
    let path = Path::new(env!("CARGO_BIN_EXE_tabia"))
        .with_file_name("examples")
        .join(name);
    assert!(
        path.exists(),
        "run `cargo build --examples` first: {path:?}"
    );
    path
}

/// For what no engine here fails to do, however slow the machine.
const LONG: Duration = Duration::from_secs(120);

/// For engines without a fault that is waited for.
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

/// Long enough for a sound step on a busy machine; a fault takes all of it.
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

fn check_odd(fault: &str, patience: &Patience) -> Report {
    let command = EngineCommand {
        program: odd_engine(),
        args: vec![fault.into()],
        ..EngineCommand::default()
    };
    check(&command, patience, &mut |_| {})
}

fn outcome(report: &Report, step: &str) -> (Outcome, String) {
    let step = report
        .steps
        .iter()
        .find(|s| s.name == step)
        .unwrap_or_else(|| panic!("no step {step}"));
    (step.outcome, step.explanation.clone())
}

fn assert_all_passed(report: &Report) {
    for step in &report.steps {
        assert!(
            matches!(step.outcome, Outcome::Passed | Outcome::Skipped),
            "{step:#?}"
        );
    }
}

#[test]
fn a_proper_engine_passes() {
    let report = check_odd("", &long_patience());
    assert_all_passed(&report);
    assert_eq!(report.name.as_deref(), Some("Odd"));
}

#[test]
fn the_built_in_engine_passes() {
    let command = EngineCommand {
        program: env!("CARGO_BIN_EXE_tabia").into(),
        args: vec!["engine".into()],
        ..EngineCommand::default()
    };
    // The real limits: this is an engine that thinks.
    let report = check(&command, &Patience::default(), &mut |_| {});
    assert_all_passed(&report);
    assert!(report.count(Outcome::Passed) > 25);
}

#[test]
fn every_fault_is_found_where_it_is() {
    use Outcome::{Failed, Warning};
    const GREETING: &str = "answers \"uci\"";
    const DEPTH: &str = "searches to a depth";
    let rows = [
        ("dies-at-start", GREETING, Failed, "ended by itself"),
        ("babbles", GREETING, Failed, "4 MiB"),
        ("endless-line", GREETING, Failed, "64 KiB"),
        (
            "bad-options",
            "declares its options properly",
            Failed,
            "default 5 is outside 10 to 20",
        ),
        (
            "bad-options",
            "declares its options properly",
            Failed,
            "declared twice",
        ),
        (
            "blank-default",
            "declares its options properly",
            Warning,
            "<empty>",
        ),
        (
            "ready-twice",
            "answers \"isready\" once",
            Failed,
            "more than once",
        ),
        (
            "dies-on-options",
            "ignores an unknown option",
            Failed,
            "ended by itself",
        ),
        (
            "dies-in-search",
            "searches for a time",
            Failed,
            "ended by itself",
        ),
        ("bad-info", DEPTH, Failed, "score is neither"),
        ("silent", DEPTH, Warning, "score"),
        ("wrong-pv", DEPTH, Warning, "is not legal"),
        ("illegal-move", DEPTH, Failed, "e2e5 is not legal"),
        ("shouts", DEPTH, Failed, "should be written"),
        ("answers-twice", DEPTH, Failed, "nobody asked for"),
        (
            "ignores-searchmoves",
            "obeys \"searchmoves\"",
            Warning,
            "it played",
        ),
        (
            "answers-too-early",
            "searches until \"stop\"",
            Failed,
            "before \"stop\"",
        ),
        (
            "answers-too-early",
            "ponders until \"ponderhit\"",
            Failed,
            "before",
        ),
        (
            "deaf-in-search",
            "answers \"isready\" during a search",
            Failed,
            "readyok",
        ),
        (
            "ignores-stop",
            "searches until \"stop\"",
            Failed,
            "bestmove",
        ),
        ("ignores-quit", "ends on \"quit\"", Failed, "still runs"),
        ("fails-on-quit", "ends on \"quit\"", Failed, "failure"),
        (
            "ignores-end-of-input",
            "ends with its input",
            Failed,
            "still runs",
        ),
        (
            "ignores-end-of-input",
            "ends with its input during a search",
            Warning,
            "still runs",
        ),
    ];
    // All at once: what they cost is the waiting.
    std::thread::scope(|scope| {
        for same in rows.chunk_by(|one, next| one.0 == next.0) {
            scope.spawn(move || {
                let fault = same[0].0;
                let report = check_odd(fault, &patience());
                assert_eq!(report.passed(), report.count(Failed) == 0);
                for &(_, step, expected, text) in same {
                    let (outcome, explanation) = outcome(&report, step);
                    assert_eq!(outcome, expected, "{fault}: {step}: {explanation}");
                    assert!(explanation.contains(text), "{fault}: {explanation}");
                }
            });
        }
    });
}

#[test]
fn an_engine_that_hangs_costs_bounded_time_and_memory() {
    let patience = Patience {
        start: Duration::from_secs(2),
        search: Duration::from_millis(300),
        ..patience()
    };
    for fault in ["hangs-at-start", "hangs-in-search", "floods"] {
        let start = Instant::now();
        let report = check_odd(fault, &patience);
        assert!(!report.passed(), "{fault}");
        assert!(start.elapsed() < Duration::from_secs(60), "{fault}");
        for step in &report.steps {
            assert!(step.exchange.len() <= 40);
            assert!(step.exchange.iter().all(|line| line.chars().count() < 250));
        }
    }
}

#[test]
fn nothing_of_an_engines_control_characters_reaches_the_report() {
    let report = check_odd("babbles", &long_patience());
    let lines = report.steps.iter().flat_map(|step| &step.exchange);
    assert!(lines.clone().count() > 0);
    assert!(lines.clone().all(|line| !line.contains('\u{1b}')));
}
