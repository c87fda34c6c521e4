//! A million lines of infos, and a GUI that reads slowly.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::gui::wait_until;
use super::run::{MEMORY_LIMIT_KIB, engine};

const LINES: u64 = 1_000_000;

/// `stop` goes against the flood to the engine at once, no line of it is lost,
/// doubled or out of order, there is one answer, and nothing piles up.
pub(crate) fn check() {
    let folder = tempfile::tempdir().expect("a folder");
    let notes = folder.path().join("notes");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tabia"))
        .args(["--set", "OwnBook=false", "--"])
        .arg(engine())
        .args(["floods", "analysing"])
        .env("TABIA_CONFIG", "")
        .env("FAULTY_ENGINE_NOTES", &notes)
        .env("FAULTY_ENGINE_FLOOD", LINES.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the adapter");
    let mut stdin = child.stdin.take().expect("its input");
    let mut lines =
        BufReader::with_capacity(1 << 12, child.stdout.take().expect("its output")).lines();
    let mut next = || lines.next().and_then(Result::ok).expect("another line");
    stdin
        .write_all(b"uci\nposition startpos\ngo infinite\n")
        .expect("it listens");
    while next() != "uciok" {}
    // Everything between it and us fills up before the first line is read.
    let noted = || fs::read_to_string(&notes).unwrap_or_default();
    wait_until("the flood", || noted().contains("fault"));
    std::thread::sleep(Duration::from_millis(300));
    stdin.write_all(b"stop\n").expect("it listens");
    wait_until("the stop at the engine", || noted().contains("stop after"));
    let noted = noted();
    let written = noted
        .lines()
        .find_map(|line| line.strip_prefix("stop after "));
    let written: u64 = written.and_then(|n| n.parse().ok()).expect("a number");
    assert!(
        written < LINES / 2,
        "{written} lines were written before the stop"
    );
    let (mut seen, mut answers) = (0, 0);
    while seen < LINES || answers == 0 {
        let line = next();
        if line.starts_with("bestmove") {
            answers += 1;
        } else if let Some((_, rest)) = line.split_once(" score cp 31 nodes ") {
            seen += 1;
            assert!(rest.starts_with(&format!("{seen} ")), "{line}");
            if seen % 1000 == 0 {
                // A slow reader: the flood is always ahead of it.
                std::thread::sleep(Duration::from_micros(500));
            }
        }
    }
    assert_eq!(answers, 1);
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: u64 = peak
        .and_then(|peak| peak.split_whitespace().next()?.parse().ok())
        .expect("a number");
    stdin.write_all(b"quit\n").expect("it listens");
    assert_eq!(lines.map_while(Result::ok).count(), 0);
    assert!(child.wait().expect("it ends").success());
    assert!(peak < MEMORY_LIMIT_KIB, "{peak} KiB of memory");
    println!(
        "flood of {LINES} lines: `stop` reached the engine after {written} of them; most memory {:.1} MiB",
        peak as f64 / 1024.0
    );
}
