//! The adapter as a process: the built binary, real pipes, engines with
//! faults, broken books. What needs no process is in `session.rs`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

mod common;

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

/// Far more than anything takes here; only a hang reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// Cargo puts examples beside the binary.
fn odd_engine() -> PathBuf {
    let name = format!("odd_engine{}", std::env::consts::EXE_SUFFIX);
    let path = Path::new(TABIA).with_file_name("examples").join(name);
    // With its drive, under Windows.
    let path = std::path::absolute(path).unwrap();
    assert!(
        path.exists(),
        "run `cargo build --examples` first: {path:?}"
    );
    path
}

/// The adapter, seen from the GUI.
struct Adapter {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Adapter {
    fn start(args: &[&str]) -> Adapter {
        Adapter::run(Command::new(TABIA).args(args))
    }

    /// With the odd engine and one of its faults.
    fn around(fault: &str, args: &[&str]) -> Adapter {
        let engine = odd_engine();
        let tail = ["--", engine.to_str().unwrap(), fault];
        Adapter::start(&[args, &tail].concat())
    }

    fn run(command: &mut Command) -> Adapter {
        let mut child = command
            // Nobody's own configuration gets in the way.
            .env("TABIA_CONFIG", "")
            .env("XDG_CONFIG_HOME", "/nowhere")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (to_lines, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let Ok(line) = line else { return };
                let line = String::from_utf8_lossy(&line).into_owned();
                if to_lines.send(line).is_err() {
                    return;
                }
            }
        });
        Adapter {
            stdin: child.stdin.take(),
            child,
            lines,
            heard: Vec::new(),
        }
    }

    fn say(&mut self, lines: &str) {
        self.say_bytes(format!("{lines}\n").as_bytes());
    }

    fn say_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next line that begins with `start`.
    fn expect(&mut self, start: &str) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.heard.push(line.clone());
                    if line.starts_with(start) {
                        return line;
                    }
                }
                Err(_) => panic!("no \"{start}\" after {:#?}", self.heard),
            }
        }
    }

    fn ready(&mut self) {
        self.say("isready");
        self.expect("readyok");
    }

    /// How often lines that begin with `start` have been heard.
    fn count(&self, start: &str) -> usize {
        self.heard
            .iter()
            .filter(|line| line.starts_with(start))
            .count()
    }

    fn heard(&self, part: &str) -> bool {
        self.heard.iter().any(|line| line.contains(part))
    }

    /// Reads to the end of the output and takes the exit status.
    fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + LIMIT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.heard.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {:#?}", self.heard),
            }
        }
        self.child.wait().unwrap()
    }

    fn quit(&mut self) -> ExitStatus {
        self.say("quit");
        self.end()
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_book_move(adapter: &Adapter) -> bool {
    adapter.heard("info string book starter:")
}

#[test]
fn with_nothing_at_all_it_is_an_engine_with_a_book() {
    let mut adapter = Adapter::start(&["--engine", "builtin"]);
    adapter.say("uci");
    adapter.expect("id name Little Wing");
    adapter.expect("option name OwnBook type check default true");
    adapter.expect("option name Hash");
    adapter.expect("uciok");
    adapter.ready();
    adapter.say("position startpos\ngo movetime 100");
    adapter.expect("bestmove");
    assert!(is_book_move(&adapter));
    adapter.say("position startpos moves a2a3 a7a6 h2h3\ngo movetime 20");
    let answer = adapter.expect("bestmove");
    assert_ne!(answer, "bestmove 0000");
    assert_eq!(adapter.count("info string book"), 1);
    assert!(adapter.quit().success());
}

#[test]
fn everything_in_one_write_is_answered_before_the_end() {
    let mut adapter = Adapter::around("", &[]);
    adapter.say("uci\nisready\nposition startpos\ngo movetime 9\nposition startpos moves a2a3\ngo movetime 9\nisready\nquit");
    assert!(adapter.end().success());
    assert_eq!(adapter.count("uciok"), 1);
    assert_eq!(adapter.count("readyok"), 2);
    assert_eq!(adapter.count("bestmove"), 2);
}

#[test]
fn bytes_come_one_by_one_with_carriage_returns_and_tabs() {
    let mut adapter = Adapter::around("", &[]);
    for byte in b"uci\r\n \tisready \r\nposition\tstartpos  moves   e2e4\r\ngo movetime  5\r\n" {
        adapter.say_bytes(&[*byte]);
    }
    let answer = adapter.expect("bestmove");
    assert!(!answer.ends_with('\r'));
    assert!(is_book_move(&adapter));
}

#[test]
fn the_end_of_input_ends_everything() {
    for lines in [
        "",
        "uci",
        "uci\nisready\nposition startpos moves a2a3\ngo infinite",
    ] {
        let mut adapter = Adapter::around("", &[]);
        adapter.say(lines);
        adapter.stdin = None;
        assert!(adapter.end().success(), "{lines}");
    }
}

#[test]
fn a_listener_that_goes_away_is_a_quiet_end() {
    let mut child = Command::new(TABIA)
        .args(["--", odd_engine().to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(b"uci\nisready\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn engines_that_cannot_be_used_are_named_and_the_game_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("engines.toml");
    let odd = odd_engine();
    let odd = odd.to_str().unwrap().replace('\\', "\\\\");
    for (engine, message) in [
        ("command = \"/nowhere/fish\"".to_owned(), "/nowhere/fish"),
        (
            format!("command = \"{odd}\"\nargs = [\"dies-at-start\"]"),
            "exit code 3",
        ),
        (
            format!("command = \"{odd}\"\nargs = [\"hangs-at-start\"]"),
            "has not answered",
        ),
        (
            format!("command = \"{odd}\"\nargs = [\"babbles\"]"),
            "has not answered",
        ),
        (
            format!("command = \"{odd}\"\nargs = [\"endless-line\"]"),
            "has not answered",
        ),
    ] {
        let text = format!("default = [\"x\"]\n[engine.x]\n{engine}\nstart_timeout_ms = 300\n");
        fs::write(&config, text).unwrap();
        let mut adapter = Adapter::start(&["--config", config.to_str().unwrap()]);
        adapter.say("uci");
        adapter.expect("uciok");
        adapter.ready();
        adapter.say("position startpos\ngo movetime 10");
        adapter.expect("bestmove");
        assert!(is_book_move(&adapter), "{engine}");
        adapter.say("position startpos moves a2a3 a7a6 h2h3\ngo movetime 10");
        assert_ne!(adapter.expect("bestmove"), "bestmove 0000");
        assert!(adapter.heard(message), "{engine}: {:#?}", adapter.heard);
        assert!(adapter.quit().success());
    }
}

#[test]
fn an_engine_that_dies_in_a_search_is_replaced_and_answers() {
    let mut adapter = Adapter::around("dies-in-search", &["--set", "OwnBook=false"]);
    adapter.say("uci");
    adapter.expect("uciok");
    for _ in 0..5 {
        adapter.say("position startpos moves e2e4\ngo wtime 1000 btime 1000");
        adapter.expect("bestmove");
    }
    assert!(adapter.heard("exit code 9"));
    assert!(adapter.quit().success());
}

#[test]
fn without_restart_a_lost_engine_ends_the_adapter_at_once() {
    let mut adapter = Adapter::around(
        "dies-in-search",
        &["--set", "OwnBook=false", "--set", "Engine Restart=off"],
    );
    adapter.say("position startpos\ngo movetime 1");
    adapter.expect("bestmove");
    adapter.say("go movetime 1");
    assert_eq!(adapter.end().code(), Some(2));
    assert!(adapter.heard("exit code 9"));
}

#[test]
fn an_engine_that_ignores_quit_is_killed_in_time() {
    for fault in ["ignores-quit", "ignores-end-of-input"] {
        let mut adapter = Adapter::around(fault, &[]);
        adapter.say("uci");
        adapter.expect("uciok");
        assert!(adapter.quit().success(), "{fault}");
    }
}

#[test]
fn a_flood_of_infos_does_not_hold_up_stop_or_quit() {
    // The engine never looks at its input again: only force ends it.
    let mut adapter = Adapter::around("floods", &["--set", "OwnBook=false"]);
    adapter.say("uci");
    adapter.expect("uciok");
    adapter.say("go movetime 10");
    adapter.expect("info depth 1");
    adapter.say("isready\nstop\nquit");
    assert!(adapter.end().success());
}

#[test]
fn books_that_cannot_be_used_are_named_and_the_engine_plays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("empty.ctg"), b"").unwrap();
    fs::write(path("random.ctg"), [0xa5; 9000]).unwrap();
    fs::write(path("short.ctg"), &starter("ctg")[..5000]).unwrap();
    fs::create_dir(path("folder.ctg")).unwrap();
    for (book, message) in [
        ("missing.ctg", "cannot read"),
        ("folder.ctg", "not a regular file"),
        ("empty.ctg", "empty"),
        ("random.ctg", "not a CTG book"),
        ("short.ctg", "short.ctg"),
    ] {
        let mut adapter = Adapter::around("", &["--book", &path(book)]);
        adapter.say("uci");
        adapter.expect("uciok");
        adapter.ready();
        adapter.say("position startpos\ngo movetime 10");
        adapter.expect("bestmove");
        assert!(adapter.heard(message), "{book}: {:#?}", adapter.heard);
        // The GUI can put it right.
        adapter.say("setoption name Book File value <starter>\ngo movetime 10");
        adapter.expect("bestmove");
        assert!(is_book_move(&adapter), "{book}");
    }
}

fn starter(extension: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/tabia");
    fs::read(path.with_extension(extension)).unwrap()
}

#[test]
fn a_book_without_its_index_is_read_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alone.ctg");
    fs::write(&path, starter("ctg")).unwrap();
    let mut adapter = Adapter::around("", &["--book", path.to_str().unwrap()]);
    adapter.ready();
    adapter.say("position startpos\ngo movetime 10");
    adapter.expect("bestmove");
    assert!(
        adapter.heard("index alone.cto is missing"),
        "{:#?}",
        adapter.heard
    );
    assert!(adapter.heard("info string book alone.ctg:"));
}

#[cfg(unix)]
#[test]
fn a_path_in_latin_1_is_found_as_such() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"B\xfccher.ctg"[..], "Bücher2.ctg".as_bytes()] {
        let path = folder.path().join(std::ffi::OsStr::from_bytes(name));
        for extension in ["ctg", "cto", "ctb"] {
            fs::write(path.with_extension(extension), starter(extension)).unwrap();
        }
        let mut adapter = Adapter::around("", &[]);
        adapter.say_bytes(b"setoption name Book File value ");
        let sent = name.iter().copied().filter(|byte| *byte != 0xc3);
        // Cute Chess sends Latin-1 whatever the disk has.
        let sent: Vec<u8> = sent
            .map(|byte| if byte == 0xbc { 0xfc } else { byte })
            .collect();
        adapter.say_bytes(folder.path().as_os_str().as_bytes());
        adapter.say_bytes(b"/");
        adapter.say_bytes(&sent);
        adapter.say_bytes(b"\n");
        adapter.say("position startpos\ngo movetime 10");
        adapter.expect("bestmove");
        assert!(adapter.heard("cher"), "{:#?}", adapter.heard);
        assert!(adapter.heard("n 1457") || adapter.count("info string book") == 1);
    }
}

#[cfg(unix)]
#[test]
fn a_book_cut_while_it_is_open_kills_nobody() {
    let folder = tempfile::tempdir().unwrap();
    // Large enough to be mapped.
    let (book, _) = common::random_book(900, 70);
    let path = book.write(folder.path(), "large");
    assert!(fs::metadata(&path).unwrap().len() > tabia::input::file::IN_MEMORY_LIMIT);
    let mut adapter = Adapter::around("", &["--book", path.to_str().unwrap()]);
    adapter.ready();
    adapter.say("position startpos\ngo movetime 10");
    adapter.expect("bestmove");
    assert!(adapter.heard("info string book large.ctg:"));
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(4096).unwrap();
    for _ in 0..3 {
        adapter.say("position startpos\ngo movetime 10");
        adapter.expect("bestmove");
    }
    assert!(
        adapter.heard("shorter while it was open"),
        "{:#?}",
        adapter.heard
    );
    assert!(adapter.quit().success());
}

// Windows replaces no book that is in use: see windows.rs.
#[cfg(unix)]
#[test]
fn a_book_that_was_replaced_is_taken_up_at_the_next_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.ctg");
    let put = |name: &str, target: &Path| {
        for extension in ["ctg", "cto", "ctb"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            let beside = target.with_extension(format!("{extension}.new"));
            fs::copy(from.with_extension(extension), &beside).unwrap();
            fs::rename(&beside, target.with_extension(extension)).unwrap();
        }
    };
    put("books/tabia", &path);
    let mut adapter = Adapter::around("", &["--book", path.to_str().unwrap()]);
    adapter.say("ucinewgame\nisready\nposition startpos\ngo movetime 10");
    assert!(adapter.expect("info string book").contains("c2c4"));
    put("tests/data/ctg/simple", &path);
    adapter.say("ucinewgame\nisready\nposition startpos\ngo movetime 10");
    let line = adapter.expect("info string book");
    assert!(
        line.contains("e2e4 50%") && !line.contains("c2c4"),
        "{line}"
    );
}

#[test]
fn a_game_of_twenty_thousand_plies_goes_on() {
    let mut adapter = Adapter::start(&["--engine", "builtin"]);
    let mut line = "position startpos moves".to_owned();
    for _ in 0..5000 {
        line.push_str(" g1f3 g8f6 f3g1 f6g8");
    }
    adapter.say("uci\nisready");
    adapter.expect("readyok");
    adapter.say(&line);
    adapter.say("go movetime 10");
    assert_ne!(adapter.expect("bestmove"), "bestmove 0000");
}

#[test]
fn the_same_seed_plays_the_same_games() {
    let game = |seed: &str| {
        let seed = format!("Book Seed={seed}");
        let mut adapter = Adapter::around("", &["--set", &seed, "--set", "Book Info=none"]);
        let mut answers = Vec::new();
        adapter.say("position startpos");
        for _ in 0..60 {
            adapter.say("go movetime 1");
            answers.push(adapter.expect("bestmove"));
        }
        answers
    };
    let first = game("11");
    assert_eq!(first, game("11"));
    assert_ne!(first, game("12"));
}

#[cfg(target_os = "linux")]
#[test]
fn no_engine_outlives_an_adapter_that_is_killed() {
    let mut adapter = Adapter::around("ignores-end-of-input", &["--set", "OwnBook=false"]);
    adapter.say("uci");
    adapter.expect("uciok");
    let children = format!("/proc/{pid}/task/{pid}/children", pid = adapter.child.id());
    let engine = fs::read_to_string(children).unwrap();
    let engine = engine.trim();
    assert!(!engine.is_empty(), "the engine runs");
    adapter.child.kill().unwrap();
    let stat = format!("/proc/{engine}/stat");
    let until = Instant::now() + LIMIT;
    // A zombie that nobody has reaped yet counts as gone.
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z")) {
        assert!(Instant::now() < until, "engine {engine} still runs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(unix)]
#[test]
fn what_is_owed_is_said_before_a_slow_engine_ends() {
    // It ends, and says so, once somebody has heard its answer.
    let script = "\"$0\"; until [ -e \"$1/heard\" ]; do sleep 0.02; done; : > \"$1/ended\"";
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display().to_string();
    let engine = odd_engine().display().to_string();
    let mut adapter = Adapter::start(&[
        "--set",
        "OwnBook=false",
        "--",
        "/bin/sh",
        "-c",
        script,
        &engine,
        &at,
    ]);
    adapter.say("uci");
    adapter.expect("uciok");
    adapter.ready();
    adapter.say("go infinite\nquit");
    adapter.expect("bestmove");
    fs::write(folder.path().join("heard"), "").unwrap();
    assert!(adapter.end().success());
    let ended = folder.path().join("ended").exists();
    assert!(ended, "held back till the engine was gone");
}

#[cfg(unix)]
#[test]
fn signals_end_what_the_engine_has_started_too() {
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    for signal in [Signal::TERM, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        let script = format!(
            "sleep 600 >/dev/null & echo $! >'{}'; exec '{}'",
            note.display(),
            odd_engine().display()
        );
        let mut adapter = Adapter::start(&["--", "/bin/sh", "-c", &script]);
        adapter.say("uci");
        adapter.expect("uciok");
        let grandchild: i32 = fs::read_to_string(&note).unwrap().trim().parse().unwrap();
        let grandchild = Pid::from_raw(grandchild).unwrap();
        assert!(test_kill_process(grandchild).is_ok());
        let own = Pid::from_raw(i32::try_from(adapter.child.id()).unwrap()).unwrap();
        kill_process(own, signal).unwrap();
        assert!(adapter.end().success());
        let until = Instant::now() + LIMIT;
        let stat = format!("/proc/{}/stat", grandchild.as_raw_nonzero());
        while test_kill_process(grandchild).is_ok()
            && !fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z"))
        {
            assert!(Instant::now() < until, "{grandchild:?} still runs");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_is_no_end_and_one_in_use_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/game.log");
    let mut adapter = Adapter::around("", &["--log", missing.to_str().unwrap()]);
    adapter.say("uci");
    adapter.expect("info string log ");
    adapter.ready();
    assert!(adapter.quit().success());

    let wanted = folder.path().join("game.log");
    let args = ["--log", wanted.to_str().unwrap()];
    let mut first = Adapter::around("", &args);
    first.say("uci");
    first.expect("uciok");
    let mut second = Adapter::around("", &args);
    second.say("uci");
    let said = second.expect("info string log ");
    assert!(said.ends_with("game.2.log"), "{said}");
    first.say("go movetime 1");
    first.expect("bestmove");
    assert!(second.quit().success());
    assert!(first.quit().success());
    for name in ["game.log", "game.2.log"] {
        let log = folder.path().join(name);
        let replayed = Command::new(TABIA)
            .arg("replay")
            .arg(&log)
            .output()
            .unwrap();
        assert!(replayed.status.success(), "{name}: {replayed:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn out_of_descriptors_each_go_is_answered() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let mut adapter = Adapter::around("", &["--set", "Book Info=none"]);
    adapter.say("uci");
    adapter.expect("uciok");
    let process = adapter.child.id();
    let is_open = |number: &u64| fs::exists(format!("/proc/{process}/fd/{number}")).unwrap();
    let first_free = (0..).find(|number| !is_open(number));
    let none_left = Rlimit {
        current: first_free,
        maximum: first_free,
    };
    let pid = Pid::from_raw(i32::try_from(process).unwrap());
    prlimit(pid, Resource::Nofile, none_left).unwrap();
    adapter.say("position startpos\ngo movetime 10");
    adapter.expect("bestmove");
    adapter.ready();
    assert!(adapter.quit().success());
}
