//! Floods: a million info lines for a GUI that reads slowly, and a flood of lines from
//! the GUI to an engine that does not read.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use test_programs::client::Client;
use test_programs::processes::are_stuck;

use super::gui::{LIMIT, peak_kib, wait_until};
use super::run::{MEMORY_LIMIT_KIB, engine};

const LINES: u64 = 1_000_000;

/// `stop` reaches the engine at once despite the flood; no line is lost, doubled or out
/// of order; there is one answer; memory does not grow.
pub(crate) fn check() {
    let folder = tempfile::tempdir().expect("a folder");
    let notes = folder.path().join("notes");
    let mut client = Client::start(
        Command::new(env!("CARGO_BIN_EXE_tabia"))
            .args(["--set", "OwnBook=false", "--"])
            .arg(engine())
            .args(["floods", "analysing"])
            .env("TABIA_CONFIG", "")
            .env("FAULTY_ENGINE_NOTES", &notes)
            .env("FAULTY_ENGINE_FLOOD", LINES.to_string()),
    );
    let send = |client: &mut Client, line: &[u8]| client.write(line).expect("it listens");
    let next = |client: &mut Client| client.next_line(Instant::now() + LIMIT);
    send(&mut client, b"uci\nposition startpos\ngo infinite\n");
    while next(&mut client).expect("another line") != "uciok" {}
    // All buffers between the engine and this test are full before the first line is read:
    // both processes wait for it.
    let read = || fs::read_to_string(&notes).unwrap_or_default();
    wait_until("the flood", || read().contains("fault"));
    let engine = children(&client.child);
    assert_eq!(engine.len(), 1, "{engine:?}");
    let all = [client.child.id(), engine[0]];
    // An engine that has not begun may sleep too.
    let pipe = client.stdout.as_ref().expect("its output").as_fd();
    let pipe = pipe.try_clone_to_owned().expect("its output");
    let is_full = || rustix::io::ioctl_fionread(&pipe).is_ok_and(|bytes| bytes > 1 << 15);
    assert!(are_stuck(&all, is_full, || false), "one of them has ended");
    send(&mut client, b"stop\n");
    wait_until("the stop at the engine", || read().contains("stop after"));
    let notes = read();
    let written = notes
        .lines()
        .find_map(|line| line.strip_prefix("stop after "));
    let written: u64 = written.and_then(|n| n.parse().ok()).expect("a number");
    assert!(
        (1..LINES / 2).contains(&written),
        "{written} lines were written before the stop"
    );
    let (mut seen, mut answers) = (0, 0);
    while seen < LINES || answers == 0 {
        let line = next(&mut client).expect("another line");
        if line.starts_with("bestmove") {
            answers += 1;
        } else if let Some((_, rest)) = line.split_once(" score cp 31 nodes ") {
            seen += 1;
            assert!(rest.starts_with(&format!("{seen} ")), "{line}");
            if seen % 1000 == 0 {
                // A slow reader: the engine and the adapter wait for it again and again.
                std::thread::sleep(Duration::from_micros(500));
            }
        }
    }
    assert_eq!(answers, 1);
    let peak = peak_kib(&client.child).expect("it runs");
    send(&mut client, b"quit\n");
    assert_eq!(next(&mut client), None);
    let status = client.wait(Instant::now() + LIMIT).expect("it ends");
    assert!(status.success());
    assert!(peak < MEMORY_LIMIT_KIB, "{peak} KiB of memory");
    println!(
        "flood of {LINES} lines: `stop` reached the engine after {written} of them; most memory {:.1} MiB",
        peak as f64 / 1024.0
    );
}

/// 200 MB of lines for an engine that does not read, and 84 MB of `position` lines for
/// one that never starts. The adapter stops reading the former and reads all of
/// the latter; it stores neither.
pub(crate) fn check_from_gui() {
    let command = b"d some command of the engine's own that nobody else knows\n";
    let (taken, peak) = bytes_taken("echo uciok; exec sleep 600", command, 200_000_000);
    println!("200 MB for an engine that does not read: {taken} bytes were taken in, {peak} KiB");
    assert!(taken < 16 << 20, "{taken} bytes were taken in");
    assert!(peak < MEMORY_LIMIT_KIB, "{peak} KiB of memory");
    let position = format!(
        "position startpos moves{}\n",
        " g1f3 g8f6 f3g1 f6g8".repeat(50)
    );
    let (taken, peak) = bytes_taken("exec sleep 600", position.as_bytes(), 84_000_000);
    println!(
        "84 MB of positions for an engine that starts: {taken} bytes were taken in, {peak} KiB"
    );
    assert!(taken >= 84_000_000, "{taken} bytes were taken in");
    assert!(peak < MEMORY_LIMIT_KIB, "{peak} KiB of memory");
}

/// Repeats `line` to an adapter whose engine is this shell script, which reads nothing, until
/// it takes no more: it sleeps while the pipe to it is full. Returns the number of bytes that
/// it has taken, and the peak memory in KiB.
fn bytes_taken(script: &str, line: &[u8], bytes: usize) -> (usize, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tabia"))
        .args(["--set", "OwnBook=false", "--", "/bin/sh", "-c", script])
        .env("TABIA_CONFIG", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the adapter");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(b"uci\n").expect("it listens");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    if script.contains("uciok") {
        // It waits for no answer of the engine any more.
        assert!(lines.any(|line| line.is_ok_and(|line| line == "uciok")));
    }
    // Until the engine runs, the adapter sleeps because it starts it.
    while !children(&child).iter().any(is_sleep) {
        // No event tells; how long this takes decides nothing.
        std::thread::sleep(Duration::from_millis(2));
    }
    // Stays open until the memory has been measured.
    let pipe = stdin.as_fd().try_clone_to_owned().expect("its input");
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let piece = line.repeat((1 << 16) / line.len());
    let writer = std::thread::spawn(move || {
        while count.load(Ordering::Relaxed) < bytes && stdin.write_all(&piece).is_ok() {
            count.fetch_add(piece.len(), Ordering::Relaxed);
        }
    });
    let is_full = || {
        let mut files = [PollFd::new(&pipe, PollFlags::OUT)];
        poll(&mut files, Some(&Timespec::default())) == Ok(0)
    };
    let is_all_taken = || taken.load(Ordering::Relaxed) >= bytes;
    are_stuck(&[child.id()], is_full, is_all_taken);
    let peak = peak_kib(&child).expect("it runs");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    writer.join().expect("the writer");
    (taken.load(Ordering::Relaxed), peak)
}

/// Whether a process is the program at the end of the scripts.
fn is_sleep(process: &u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name == "sleep\n")
}

/// The processes that a process has started.
fn children(child: &Child) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
    let list = list.expect("it runs");
    list.split_whitespace().flat_map(str::parse).collect()
}
