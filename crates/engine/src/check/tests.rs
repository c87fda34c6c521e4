//! The check against engines with one fault each, inside the test and with their own
//! time: it passes only while an engine is silent, so no verdict depends on a clock.

#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use test_programs::odd::{OddEngine, Then};

use super::*;
use crate::EngineProcess;
use crate::peer::{Channel, Event, Missing, Peer};

/// The time that a line takes.
const QUICK: Duration = Duration::from_micros(1);
const SLOW: Duration = Duration::from_millis(700);

struct Scripted {
    engine: OddEngine,
    now: Instant,
    pace: Duration,
    lines: VecDeque<String>,
    then: Then,
    is_input_closed: bool,
}

impl Scripted {
    fn new(fault: &str, pace: Duration) -> Scripted {
        let engine = OddEngine::new(fault);
        Scripted {
            now: Instant::now(),
            pace,
            lines: VecDeque::new(),
            then: engine.start(),
            is_input_closed: false,
            engine,
        }
    }

    fn status(&self) -> Option<ExitStatus> {
        match self.then {
            Then::Ends(code) => Some(ExitStatus::from_raw(code << 8)),
            _ => None,
        }
    }
}

impl Channel for Scripted {
    fn send(&mut self, bytes: Vec<u8>) {
        if self.then == Then::Reads && !self.is_input_closed {
            let text = String::from_utf8(bytes).unwrap();
            let lines = &mut self.lines;
            let mut send = |line: &str| lines.push_back(line.to_owned());
            self.then = self.engine.read(&text, &mut send);
        }
    }

    fn close_input(&mut self) {
        self.is_input_closed = true;
        if self.then == Then::Reads {
            self.then = self.engine.end_of_input();
        }
    }

    fn next(&mut self, limit: Duration) -> Result<Event, Missing> {
        let line = self.lines.pop_front().map(Event::Line);
        let event = line.or(match self.then {
            Then::Repeats(line) => Some(Event::Line(line.to_owned())),
            Then::EndlessLine => Some(Event::TooLong),
            _ => None,
        });
        self.now += event.as_ref().map_or(limit, |_| self.pace);
        event.ok_or(match self.then {
            Then::Ends(_) => Missing::Gone(self.status()),
            _ => Missing::Silent,
        })
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let status = self.status();
        self.now += status.map_or(limit, |_| Duration::ZERO);
        status
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn process(&self) -> Option<&Arc<EngineProcess>> {
        None
    }
}

fn check_odd(fault: &str, pace: Duration) -> CheckReport {
    let start = || Ok(Peer::over("odd".into(), Scripted::new(fault, pace)));
    walk(&start, &Patience::default(), &mut |_| {})
}

#[test]
fn a_proper_engine_passes() {
    for kind in ["", "several-lines"] {
        let report = check_odd(kind, QUICK);
        assert_eq!(report.name.as_deref(), Some("Odd"));
        let passed = report.count(Outcome::Passed);
        let skipped = report.count(Outcome::Skipped);
        assert_eq!(passed + skipped, report.steps.len(), "{:#?}", report.steps);
        assert!(passed > 25, "{passed}");
    }
}

#[test]
fn a_process_plays_and_its_remarks_are_told() {
    let engine = |answer: &str| {
        let script = format!(
            "while read -r line; do
                case $line in
                    uci) echo id name Shell; echo uciok ;;
                    isready) echo readyok ;;
                    go*) echo info string thinking; echo 'bestmove {answer}' ;;
                    quit) exit ;;
                esac
            done"
        );
        EngineCommand::new("/bin/sh").args(vec!["-c".into(), script.into()])
    };
    let long = Duration::from_secs(120);
    let patience = Patience::default().start(long).ready(long).search(long);
    let positions = ["startpos", "startpos moves e2e4 e7e5"];
    let played = play(&engine("d2d4"), &positions, &patience).unwrap();
    assert_eq!(played.len(), 2);
    for played in played {
        assert_eq!(
            (&*played.mv, &*played.remarks),
            ("d2d4", &["thinking".to_owned()][..])
        );
    }
    let error = play(&engine("(none)"), &positions, &patience).unwrap_err();
    assert!(error.to_string().contains("no move"), "{error}");
    let greeting = greet(&engine(""), long).unwrap();
    assert_eq!(greeting.name.as_deref(), Some("Shell"));
}

#[test]
fn every_fault_is_found_in_the_right_step() {
    use Outcome::{Failed, Warning};
    let rows = [
        (
            "answers-too-early",
            Failed,
            "searches until \"stop\"",
            "before \"stop\"",
        ),
        (
            "answers-too-early",
            Failed,
            "ponders until \"ponderhit\"",
            "before",
        ),
        (
            "answers-twice",
            Failed,
            "searches to a depth",
            "was not asked for",
        ),
        ("babbles", Failed, "answers \"uci\"", "4 MiB"),
        (
            "bad-info",
            Failed,
            "searches to a depth",
            "score is neither",
        ),
        (
            "bad-options",
            Failed,
            "declares its options properly",
            "default 5 is outside 10 to 20",
        ),
        (
            "bad-options",
            Failed,
            "declares its options properly",
            "declared twice",
        ),
        (
            "deaf-in-search",
            Failed,
            "answers \"isready\" during a search",
            "readyok",
        ),
        (
            "dies-at-start",
            Failed,
            "answers \"uci\"",
            "ended by itself",
        ),
        (
            "dies-in-search",
            Failed,
            "searches for a time",
            "ended by itself",
        ),
        (
            "dies-on-options",
            Failed,
            "ignores an unknown option",
            "ended by itself",
        ),
        ("endless-line", Failed, "answers \"uci\"", "64 KiB"),
        ("fails-on-quit", Failed, "ends on \"quit\"", "failure"),
        ("floods", Failed, "searches to a depth", "4 MiB"),
        ("hangs-at-start", Failed, "answers \"uci\"", "within 10 s"),
        (
            "hangs-in-search",
            Failed,
            "searches to a depth",
            "within 10 s",
        ),
        (
            "ignores-end-of-input",
            Failed,
            "ends with its input",
            "still runs",
        ),
        ("ignores-quit", Failed, "ends on \"quit\"", "still runs"),
        (
            "ignores-stop",
            Failed,
            "searches until \"stop\"",
            "bestmove",
        ),
        (
            "illegal-move",
            Failed,
            "searches to a depth",
            "e2e5 is not legal",
        ),
        (
            "ready-twice",
            Failed,
            "answers \"isready\" once",
            "more than once",
        ),
        ("shouts", Failed, "searches to a depth", "should be written"),
        (
            "blank-default",
            Warning,
            "declares its options properly",
            "<empty>",
        ),
        (
            "ignores-end-of-input",
            Warning,
            "ends with its input during a search",
            "still runs",
        ),
        (
            "ignores-searchmoves",
            Warning,
            "obeys \"searchmoves\"",
            "it played",
        ),
        (
            "loses-early-stop",
            Warning,
            "keeps a \"stop\" that comes with its \"go\"",
            "before its search has begun",
        ),
        (
            "loses-early-stop",
            Warning,
            "keeps a \"ponderhit\" that comes with its \"go\"",
            "no \"bestmove\" within 5 s",
        ),
        (
            "one-line",
            Failed,
            "shows several lines (MultiPV)",
            "did not show",
        ),
        (
            "same-lines",
            Failed,
            "shows several lines (MultiPV)",
            "the same move",
        ),
        ("chatty", Warning, "answers \"uci\"", "5 lines before"),
        ("chatty", Warning, "searches to a depth", "not UCI"),
        ("silent", Warning, "searches to a depth", "score"),
        ("wrong-pv", Warning, "searches to a depth", "is not legal"),
    ];
    for (fault, outcome, name, text) in rows {
        let report = check_odd(fault, QUICK);
        assert_eq!(report.passed(), report.count(Failed) == 0);
        let found = report.steps.iter().any(|step| {
            step.name == name && step.outcome == outcome && step.explanation.contains(text)
        });
        assert!(found, "{fault}: {:#?}", report.steps);
        for step in &report.steps {
            let mut told: Vec<&str> = step.explanation.split("; ").collect();
            let count = told.len();
            told.sort_unstable();
            told.dedup();
            assert_eq!(told.len(), count, "{fault}: {}", step.explanation);
            assert!(step.exchange.len() <= 40, "{fault}");
            assert!(step.exchange.iter().all(|line| line.chars().count() < 250));
            assert!(!step.exchange.iter().any(|line| line.contains('\u{1b}')));
        }
    }
}

#[test]
fn an_engine_that_is_late_loses_on_time() {
    let report = check_odd("", SLOW);
    let step = |name: &str| report.steps.iter().find(|step| step.name == name).unwrap();
    for (name, outcome, text) in [
        (
            "searches for a time",
            Outcome::Warning,
            "took 1400 ms instead of 100",
        ),
        (
            "plays on a clock",
            Outcome::Failed,
            "took 1400 ms with 1000 ms",
        ),
        (
            "plays on its own clock alone",
            Outcome::Failed,
            "with 500 ms",
        ),
        (
            "plays when no time is left",
            Outcome::Warning,
            "no time left",
        ),
        ("searches to a depth", Outcome::Passed, "after 1400 ms"),
    ] {
        let step = step(name);
        assert_eq!(step.outcome, outcome, "{step:?}");
        assert!(step.explanation.contains(text), "{step:?}");
    }
}
