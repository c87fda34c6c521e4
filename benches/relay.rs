//! The cost of the whole adapter, at the GUI's end of the pipe: the release binary with a
//! tiny engine (this program run with `engine`), compared in one run with the engine
//! alone and, if installed, with polyglot in UCI mode.
//!
//! `cargo bench --bench relay`. Medians; rounds are interleaved, because the choice of
//! processor changes the figures more than anything else. For repeatable ones, use only
//! one processor: `taskset -c 1 cargo bench --bench relay`.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // Figures for users.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const INFO: &str = "info depth 20 seldepth 30 multipv 1 score cp 31 nodes 1000000 nps 900000 \
                    hashfull 100 tbhits 0 time 1100 pv e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6";
const FLOOD: usize = 1_000_000;

fn main() {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("engine") {
        return engine();
    }
    let this = std::env::current_exe().unwrap();
    let this = this.to_str().unwrap();
    let tabia = env!("CARGO_BIN_EXE_tabia");
    let direct: &[&str] = &[this, "engine"];
    let through: &[&str] = &[tabia, "--", this, "engine"];
    let command = format!("{this} engine");
    let polyglot: &[&str] = &["/usr/games/polyglot", "-noini", "-ec", &command];
    let mut rivals = vec![("engine alone", direct), ("through tabia", through)];
    if Path::new(polyglot[0]).exists() {
        rivals.push(("through polyglot", polyglot));
    }

    println!("start to uciok, ms");
    compare(&rivals, 15, |command, _| {
        let begin = Instant::now();
        let mut peer = Peer::start(command);
        peer.send("uci\n");
        peer.wait_for("uciok");
        begin.elapsed().as_secs_f64() * 1e3
    });

    println!("isready to readyok, µs");
    let mut peers: Vec<Peer> = rivals
        .iter()
        .map(|(_, command)| Peer::ready(command))
        .collect();
    compare(&rivals, 11, |_, index| {
        median(2000, || {
            peers[index].send("isready\n");
            peers[index].wait_for("readyok");
        })
    });

    println!("go to bestmove, µs");
    let mut peer = Peer::ready(through);
    for (name, set, go) in [
        ("in book, all infos", "full", "go wtime 60000 btime 60000"),
        (
            "in book, the bare move",
            "none",
            "go wtime 60000 btime 60000",
        ),
    ] {
        peer.send(&format!(
            "setoption name Book Info value {set}\nposition startpos\n"
        ));
        let time = median(5000, || {
            peer.send(go);
            peer.send("\n");
            peer.wait_for("bestmove");
        });
        println!("  {name:<24}{time:>10.1}");
    }

    println!("{FLOOD} info lines, µs a line");
    peer.send("position startpos moves a2a3\n");
    for round in 1..=5 {
        let begin = Instant::now();
        peer.send("go infinite\nstop\n");
        let lines = peer.wait_for("bestmove");
        assert!(lines >= FLOOD, "{lines} lines came through");
        let time = begin.elapsed().as_secs_f64() * 1e6 / FLOOD as f64;
        println!("  round {round:<18}{time:>10.3}");
    }
    println!("stop against the flood, to the engine, with a GUI that reads slowly, ms");
    let mut times: Vec<f64> = (0..9).map(|_| stop_against_flood(&mut peer)).collect();
    let middle = middle(&mut times);
    println!(
        "  median {middle:.2}, slowest of {} {:.2}",
        times.len(),
        times[times.len() - 1]
    );
    println!(
        "memory of its own after that, KiB: {}",
        private_kib(&peer.child)
    );
}

/// Milliseconds until a `stop` reaches the engine, which sends lines without end until
/// then; all buffers are full, because we read 4 KiB a millisecond.
fn stop_against_flood(peer: &mut Peer) -> f64 {
    peer.send("go mate 9\n");
    let mut piece = [0; 4096];
    for _ in 0..300 {
        // A GUI that reads slowly.
        std::thread::sleep(Duration::from_millis(1));
        let count = peer.stdout.read(&mut piece).unwrap();
        peer.unread.extend_from_slice(&piece[..count]);
    }
    let sent_at = nanoseconds();
    peer.send("stop\n");
    peer.wait_for("info string stopped at");
    let line = std::mem::take(&mut peer.last);
    let received_at: u128 = line.rsplit(' ').next().unwrap().parse().unwrap();
    peer.wait_for("bestmove");
    received_at.saturating_sub(sent_at) as f64 / 1e6
}

fn nanoseconds() -> u128 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

/// Sends lines until `stop`.
fn flood(over: &AtomicBool) {
    let piece = format!("{INFO}\n").repeat(50);
    while !over.load(Ordering::Relaxed) {
        io::stdout().lock().write_all(piece.as_bytes()).unwrap();
    }
}

/// A tiny engine: answers at once; `go infinite` makes many infos, `go mate` infos until
/// `stop`.
fn engine() {
    let over = Arc::new(AtomicBool::new(true));
    let mut flooding = None;
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        if line == "go mate 9" {
            over.store(false, Ordering::Relaxed);
            let over = Arc::clone(&over);
            flooding = Some(std::thread::spawn(move || flood(&over)));
            continue;
        }
        if let Some(flooding) = flooding.take() {
            let now = nanoseconds();
            over.store(true, Ordering::Relaxed);
            flooding.join().unwrap();
            println!("info string stopped at {now}");
        }
        let mut out = io::stdout().lock();
        match line.as_str() {
            "uci" => out.write_all(b"id name Tiny\nuciok\n").unwrap(),
            "isready" => out.write_all(b"readyok\n").unwrap(),
            "quit" => return,
            "go infinite" => {
                let piece = format!("{INFO}\n").repeat(500);
                for _ in 0..FLOOD / 500 {
                    out.write_all(piece.as_bytes()).unwrap();
                }
            }
            "stop" => out.write_all(b"bestmove a7a6\n").unwrap(),
            _ if line.starts_with("go") => out.write_all(b"bestmove a7a6\n").unwrap(),
            _ => {}
        }
        out.flush().unwrap();
    }
}

/// A UCI process.
struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    unread: Vec<u8>,
    buffer: Vec<u8>,
    /// The line that ended the last wait.
    last: String,
}

impl Peer {
    fn start(command: &[&str]) -> Peer {
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Peer {
            stdin: child.stdin.take().unwrap(),
            stdout: child.stdout.take().unwrap(),
            child,
            unread: Vec::new(),
            buffer: vec![0; 1 << 16],
            last: String::new(),
        }
    }

    fn ready(command: &[&str]) -> Peer {
        let mut peer = Peer::start(command);
        peer.send("uci\n");
        peer.wait_for("uciok");
        peer.send("isready\n");
        peer.wait_for("readyok");
        peer
    }

    fn send(&mut self, text: &str) {
        self.stdin.write_all(text.as_bytes()).unwrap();
    }

    /// Reads up to the line that begins with `word`; returns the number of lines.
    fn wait_for(&mut self, word: &str) -> usize {
        let mut lines = 0;
        loop {
            let mut rest = 0;
            while let Some(length) = self.unread[rest..].iter().position(|byte| *byte == b'\n') {
                let line = &self.unread[rest..rest + length];
                rest += length + 1;
                lines += 1;
                if line.starts_with(word.as_bytes()) {
                    self.last.clear();
                    self.last.push_str(&String::from_utf8_lossy(line));
                    self.unread.drain(..rest);
                    return lines;
                }
            }
            self.unread.drain(..rest);
            let count = self.stdout.read(&mut self.buffer).unwrap();
            assert!(count > 0, "it ended before {word}");
            self.unread.extend_from_slice(&self.buffer[..count]);
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends, whatever it has not written yet.
        let _ = self.stdin.write_all(b"quit\n");
        let _ = self.child.wait();
    }
}

/// Median time of `runs` runs, in microseconds.
fn median(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    middle(&mut times)
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Runs rounds in turn and prints, for each program, the median and the best of its
/// rounds, and the difference to the first program.
fn compare(
    rivals: &[(&str, &[&str])],
    rounds: usize,
    mut round: impl FnMut(&[&str], usize) -> f64,
) {
    let mut times = vec![Vec::new(); rivals.len()];
    for _ in 0..rounds {
        for (index, (_, command)) in rivals.iter().enumerate() {
            times[index].push(round(command, index));
        }
    }
    let first = (middle(&mut times[0]), times[0][0]);
    for (index, (name, _)) in rivals.iter().enumerate() {
        let time = middle(&mut times[index]);
        let least = times[index][0];
        println!(
            "  {name:<24}{time:>8.1}  added {:>6.1}   best round{least:>8.1}  added {:>6.1}",
            time - first.0,
            least - first.1
        );
    }
}

/// Private memory of the process (Linux; 0 elsewhere).
fn private_kib(child: &Child) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", child.id()));
    text.unwrap_or_default()
        .lines()
        .filter(|line| line.starts_with("Private_"))
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum()
}
