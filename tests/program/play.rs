//! The adapter as a process: the built binary, real pipes, engines with faults, damaged
//! books. Tests without a process are in `session.rs`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

#[cfg(target_os = "linux")]
use test_programs::processes::ends;

use crate::common::adapter::Adapter;
use crate::common::{Folder, Ran, SIMPLE, STARTER, TABIA, command, copy, example, files};

fn is_book_move(adapter: &Adapter) -> bool {
    adapter.has_received("info string book starter:")
}

#[test]
fn without_arguments_the_built_in_engine_plays_from_the_starter_book() {
    let mut adapter = Adapter::start(&["--engine", "builtin"]);
    adapter.send("uci");
    adapter.expect("id name Little Wing");
    adapter.expect("option name OwnBook type check default true");
    adapter.expect("option name Hash");
    adapter.expect("uciok");
    adapter.ready();
    adapter.send("position startpos\ngo movetime 100");
    adapter.expect("bestmove");
    assert!(is_book_move(&adapter));
    adapter.send("position startpos moves a2a3 a7a6 h2h3\ngo movetime 20");
    let answer = adapter.expect("bestmove");
    assert_ne!(answer, "bestmove 0000");
    assert_eq!(adapter.count("info string book"), 1);
    assert!(adapter.quit().success());
}

/// What `quit` in the same write waits for is tested with the session's own time.
#[test]
fn commands_in_one_write_are_all_answered() {
    let mut adapter = Adapter::around("", &[]);
    adapter.send("uci\nisready\nposition startpos\ngo movetime 9\nposition startpos moves a2a3\ngo movetime 9\nisready");
    for answer in ["uciok", "readyok", "bestmove", "bestmove", "readyok"] {
        adapter.expect(answer);
    }
    assert!(adapter.quit().success());
    assert_eq!(adapter.count("bestmove"), 2);
}

#[test]
fn bytes_come_one_by_one_with_carriage_returns_and_tabs() {
    let mut adapter = Adapter::around("", &[]);
    for byte in b"uci\r\n \tisready \r\nposition\tstartpos  moves   e2e4\r\ngo movetime  5\r\n" {
        adapter.send_bytes(&[*byte]);
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
        adapter.send(lines);
        adapter.client.stdin = None;
        assert!(adapter.end().success(), "{lines}");
    }
}

#[test]
fn a_gui_that_closes_its_input_ends_the_adapter_without_an_error() {
    let engine = example("odd_engine");
    let mut command = command(&["--".as_ref(), engine.as_os_str()]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(b"uci\nisready\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn engines_that_cannot_be_used_are_named_and_the_game_goes_on() {
    let folder = Folder::new();
    let odd = example("odd_engine");
    let odd = odd.to_str().unwrap().replace('\\', "\\\\");
    let odd = |fault: &str| format!("command = \"{odd}\"\nargs = [\"{fault}\"]");
    for (engine, message) in [
        ("command = \"/nowhere/fish\"".to_owned(), "/nowhere/fish"),
        (odd("dies-at-start"), "exit code 3"),
        (odd("hangs-at-start"), "has not answered"),
        (odd("babbles"), "has not answered"),
        (odd("endless-line"), "has not answered"),
    ] {
        // Only an engine that never answers must be given up quickly.
        let limit = if message == "has not answered" {
            300
        } else {
            60_000
        };
        let text = format!("default = [\"x\"]\n[engine.x]\n{engine}\nstart_timeout_ms = {limit}\n");
        folder.put("engines.toml", text);
        let mut adapter = Adapter::run(&mut folder.command("--config engines.toml"));
        adapter.handshake();
        adapter.ready();
        adapter.best("position startpos");
        assert!(is_book_move(&adapter), "{engine}");
        assert!(!adapter.has_received("built-in engine"), "{engine}");
        adapter.best("position startpos moves a2a3 a7a6 h2h3");
        adapter.assert_received("the built-in engine's move, in place of x");
        adapter.assert_received(message);
        assert!(adapter.quit().success());
    }
}

#[test]
fn what_the_command_line_names_must_be_there() {
    let folder = Folder::new();
    folder.put("random.ctg", [0xa5; 9000]);
    let text = "default = [\"builtin\"]\n[engine.x]\ncommand = \"/nowhere/fish\"\n";
    folder.put("engines.toml", text);
    for (typed, reason) in [
        ("--engine /nowhere/fish", "/nowhere/fish"),
        ("--engine no-such-engine", "no-such-engine"),
        ("--config engines.toml --engine x", "/nowhere/fish"),
        ("-- /nowhere/fish", "/nowhere/fish"),
        ("-- /bin/false", "exit code 1"),
        ("--engine builtin --book missing.ctg", "missing.ctg"),
        ("--engine builtin --book random.ctg", "not a CTG book"),
        (
            "--engine builtin --book <starter> --book missing.ctg",
            "missing.ctg",
        ),
        ("--engine /nowhere/fish --book missing.ctg", "missing.ctg"),
    ] {
        if cfg!(windows) && typed.contains("/bin/") {
            continue;
        }
        // Whether it is asked anything or not.
        let ran = folder.tabia(typed);
        let messages = ran.refused(reason);
        assert_eq!(messages.lines().count(), 1, "{messages}");
        let mut adapter = Adapter::run(&mut folder.command(typed));
        adapter.send("uci");
        assert_eq!(adapter.end().code(), Some(2), "{typed}");
        assert_eq!(adapter.count("uciok"), 0, "{typed}");
    }
    for name in ["Book File", "Book White File", "book black file"] {
        let set = format!("{name}=<starter>;missing.ctg");
        let ran = folder.tabia(&["--engine", "builtin", "--set", &set]);
        ran.refused("missing.ctg");
    }
}

/// The number of processes of this program that have inherited this variable.
#[cfg(target_os = "linux")]
fn started(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_ours = |process: &fs::DirEntry| {
        let environ = fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environ).contains(mark)
    };
    processes.filter(is_ours).count()
}

#[cfg(target_os = "linux")]
#[test]
fn tabia_is_not_its_own_engine() {
    const REASON: &str = "Tabia cannot be its own engine";
    let folder = Folder::new();
    std::os::unix::fs::symlink(TABIA, folder.join("link")).unwrap();
    let itself = TABIA.replace(' ', "\\ ");
    // A separate process writes the scripts: see probe.rs.
    let script = |name: &str, text: &str| {
        let write = "printf '#!/bin/sh\n%s\n' \"$1\" >\"$0\"; chmod +x \"$0\"";
        let mut sh = std::process::Command::new("sh");
        sh.args(["-c", write, name, text]).current_dir(&folder);
        Ran::of(&mut sh).ok();
    };
    let wrapper = folder.join("wrapper").display().to_string();
    script("wrapper", &format!("exec {itself} --engine {wrapper}"));
    script("around", &format!("{itself} \"$@\""));
    for (name, command) in [("own", "./link"), ("wrapped", "./wrapper")] {
        let text = format!("default = [\"x\", \"builtin\"]\n[engine.x]\ncommand = \"{command}\"\n");
        folder.put(&format!("{name}.toml"), text);
    }
    let mark = format!("TABIA_TEST={}", folder.display());
    let (variable, value) = mark.split_once('=').unwrap();
    for typed in [
        "-- ./link",
        "--engine ./link",
        "--engine ./wrapper",
        "-- ./around",
        "-- ./around play",
        "--config own.toml",
        "check -- ./link",
        "check --config own.toml",
        "check-engine -- ./link",
        "check-engine ./link",
        "evaluate book.ctg --engine ./link --nodes 10",
        "evaluate book.ctg --engine ./wrapper --nodes 10",
        "prove book.ctg book.ctg --walks 3 --nodes 10 --engine ./link",
        "grow book.ctg -o out.ctg --engine ./link",
        "explore book.ctg --port 0 --engine ./link",
    ] {
        copy(STARTER, &folder.join("book.ctg"));
        let mut command = folder.command(typed);
        let ran = Ran::of(command.env(variable, value));
        let messages = ran.refused(REASON);
        assert_eq!(messages.matches(REASON).count(), 1, "{typed}: {messages}");
        assert_eq!(started(&mark), 0, "{typed}");
    }
    // A wrapped one is known by what it says.
    let mut command = folder.command("--config wrapped.toml");
    let mut adapter = Adapter::run(command.env(variable, value));
    adapter.send("uci");
    assert_eq!(adapter.end().code(), Some(2));
    adapter.assert_received(REASON);
    let ran = folder.tabia("check -- ./wrapper");
    ran.ends(2);
    assert!(ran.out().contains(REASON), "{}", ran.out());
    // The built-in engine is another matter.
    folder.tabia(&["check", "--", TABIA, "engine"]).ok();
}

#[test]
fn if_an_engine_cannot_start_the_next_one_plays_with_one_notice() {
    let folder = Folder::new();
    let notices = |described: &str| {
        let config = format!("default = [\"no-such-engine\", \"builtin\"]\n{described}");
        let config = folder.put("engines.toml", &config).into_os_string();
        let mut adapter = Adapter::start(&["--config".as_ref(), &*config]);
        adapter.handshake();
        adapter.assert_received("id name Little Wing");
        adapter.ready();
        adapter.send("position startpos moves a2a3 a7a6 h2h3\ngo movetime 20");
        assert_ne!(adapter.expect("bestmove"), "bestmove 0000");
        assert!(adapter.quit().success());
        let names_engine = |line: &&String| line.contains("no-such-engine");
        adapter
            .received
            .iter()
            .filter(names_engine)
            .cloned()
            .collect::<Vec<_>>()
    };
    let with = notices("[engine.no-such-engine]\n");
    assert_eq!(with.len(), 1, "{with:?}");
    assert_eq!(with, notices(""));
}

#[test]
fn an_engine_that_dies_in_a_search_is_replaced_and_answers() {
    let mut adapter = Adapter::around("dies-in-search", &["--set", "OwnBook=false"]);
    adapter.handshake();
    for _ in 0..5 {
        adapter.send("position startpos moves e2e4\ngo wtime 1000 btime 1000");
        adapter.expect("bestmove");
    }
    adapter.assert_received("exit code 9");
    assert!(adapter.quit().success());
}

#[test]
fn without_restart_a_lost_engine_ends_the_adapter_at_once() {
    let sets = ["--set", "OwnBook=false", "--set", "Engine Restart=off"];
    let mut adapter = Adapter::around("dies-in-search", &sets);
    adapter.send("position startpos\ngo movetime 1");
    adapter.expect("bestmove");
    adapter.send("go movetime 1");
    assert_eq!(adapter.end().code(), Some(2));
    adapter.assert_received("exit code 9");
}

#[test]
fn an_engine_that_ignores_quit_is_killed_in_time() {
    for fault in ["ignores-quit", "ignores-end-of-input"] {
        let mut adapter = Adapter::around(fault, &[]);
        adapter.handshake();
        assert!(adapter.quit().success(), "{fault}");
    }
}

#[test]
fn many_info_lines_do_not_delay_stop_or_quit() {
    // The engine never reads its input again: only killing it ends it.
    let mut adapter = Adapter::around("floods", &["--set", "OwnBook=false"]);
    adapter.handshake();
    adapter.send("go movetime 10");
    adapter.expect("info depth 1");
    adapter.send("isready\nstop\nquit");
    assert!(adapter.end().success());
}

#[test]
fn books_that_cannot_be_used_are_named_and_the_engine_plays() {
    let folder = Folder::new();
    folder.put("empty.ctg", b"");
    folder.put("random.ctg", [0xa5; 9000]);
    folder.put("short.ctg", &files(STARTER)[0][..5000]);
    fs::create_dir(folder.join("folder.ctg")).unwrap();
    for (book, message) in [
        ("missing.ctg", "cannot read"),
        ("folder.ctg", "not a regular file"),
        ("empty.ctg", "empty"),
        ("random.ctg", "not a CTG book"),
        ("short.ctg", "short.ctg"),
    ] {
        let config = format!("[book]\nfile = [\"{book}\"]\n");
        let config = folder.put("engines.toml", config);
        let mut adapter = Adapter::around("", &["--config", config.to_str().unwrap()]);
        adapter.handshake();
        adapter.ready();
        for _ in 0..2 {
            adapter.best("position startpos");
            adapter.new_game();
        }
        adapter.assert_received(message);
        let notices = adapter.received.iter();
        let notices = notices.filter(|line| line.contains("without it"));
        assert_eq!(notices.count(), 1, "{:?}", adapter.received);
        // The GUI can correct it.
        adapter.send("setoption name Book File value <starter>\nposition startpos\ngo movetime 10");
        adapter.expect("bestmove");
        assert!(is_book_move(&adapter), "{book}");
    }
}

#[test]
fn a_book_without_its_index_is_read_with_a_message() {
    let folder = Folder::new();
    let path = folder.put("alone.ctg", &files(STARTER)[0]);
    let mut adapter = Adapter::around("", &["--book", path.to_str().unwrap()]);
    adapter.ready();
    adapter.best("position startpos");
    adapter.assert_received("index alone.cto is missing");
    adapter.assert_received("info string book alone.ctg:");
    folder.tabia("probe alone.ctg").ends_with(0, "alone.cto");
}

#[cfg(unix)]
#[test]
fn a_path_in_latin_1_is_found() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    for name in [&b"B\xfccher.ctg"[..], "Bücher2.ctg".as_bytes()] {
        let path = folder.join(std::ffi::OsStr::from_bytes(name));
        copy(STARTER, &path);
        let mut adapter = Adapter::around("", &[]);
        adapter.send_bytes(b"setoption name Book File value ");
        let sent = name.iter().copied().filter(|byte| *byte != 0xc3);
        // Cute Chess sends Latin-1 with any encoding of the file system.
        let sent: Vec<u8> = sent
            .map(|byte| if byte == 0xbc { 0xfc } else { byte })
            .collect();
        adapter.send_bytes(folder.as_os_str().as_bytes());
        adapter.send_bytes(b"/");
        adapter.send_bytes(&sent);
        adapter.send_bytes(b"\n");
        adapter.best("position startpos");
        adapter.assert_received("cher");
        assert!(adapter.has_received("n 1457") || adapter.count("info string book") == 1);
    }
}

#[cfg(unix)]
#[test]
fn a_book_truncated_while_it_is_open_crashes_no_program() {
    let folder = Folder::new();
    // Large enough to be mapped.
    let (book, _) = crate::common::random_book(900, 70);
    let path = book.write(&folder, "large");
    assert!(fs::metadata(&path).unwrap().len() > tabia_io::input::file::IN_MEMORY_LIMIT);
    let mut adapter = Adapter::around("", &["--book", path.to_str().unwrap()]);
    adapter.ready();
    adapter.best("position startpos");
    adapter.assert_received("info string book large.ctg:");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(4096).unwrap();
    for _ in 0..3 {
        adapter.best("position startpos");
    }
    adapter.assert_received("shorter while it was open");
    assert!(adapter.quit().success());
}

// Windows does not replace a book that is in use: see windows.rs.
#[cfg(unix)]
#[test]
fn a_replaced_book_is_used_from_the_next_game_on() {
    let folder = Folder::new();
    let path = folder.join("book.ctg");
    let put = |book: &str| {
        let beside = folder.join("beside.ctg");
        copy(book, &beside);
        for part in ["ctg", "cto", "ctb"] {
            fs::rename(beside.with_extension(part), path.with_extension(part)).unwrap();
        }
    };
    put(STARTER);
    let mut adapter = Adapter::around("", &["--book", path.to_str().unwrap()]);
    adapter.send("ucinewgame\nisready\nposition startpos\ngo movetime 10");
    assert!(adapter.expect("info string book").contains("c2c4"));
    put(SIMPLE);
    adapter.send("ucinewgame\nisready\nposition startpos\ngo movetime 10");
    let line = adapter.expect("info string book");
    assert!(
        line.contains("e2e4 50%") && !line.contains("c2c4"),
        "{line}"
    );
}

#[test]
fn a_game_of_twenty_thousand_plies_is_played_on() {
    let mut adapter = Adapter::start(&["--engine", "builtin"]);
    let mut line = "position startpos moves".to_owned();
    for _ in 0..5000 {
        line.push_str(" g1f3 g8f6 f3g1 f6g8");
    }
    adapter.send("uci\nisready");
    adapter.expect("readyok");
    adapter.send(&line);
    adapter.send("go movetime 10");
    assert_ne!(adapter.expect("bestmove"), "bestmove 0000");
}

#[test]
fn the_same_seed_plays_the_same_games() {
    let game = |seed: &str| {
        let seed = format!("Book Seed={seed}");
        let mut adapter = Adapter::around("", &["--set", &seed, "--set", "Book Info=none"]);
        let mut answers = Vec::new();
        adapter.send("position startpos");
        for _ in 0..60 {
            adapter.send("go movetime 1");
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
    adapter.handshake();
    let children = format!(
        "/proc/{pid}/task/{pid}/children",
        pid = adapter.client.child.id()
    );
    let engine = fs::read_to_string(children).unwrap();
    let engine = engine.trim();
    assert!(!engine.is_empty(), "the engine runs");
    adapter.client.child.kill().unwrap();
    assert!(ends(engine.parse().unwrap()), "engine {engine} still runs");
}

#[cfg(target_os = "linux")]
#[test]
fn signals_also_end_child_processes_of_the_engine() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::TERM, Signal::INT] {
        let folder = Folder::new();
        let note = folder.join("pid");
        let script = format!(
            "sleep 600 >/dev/null & echo $! >'{}'; exec '{}'",
            note.display(),
            example("odd_engine").display()
        );
        let mut adapter = Adapter::start(&["--", "/bin/sh", "-c", &script]);
        adapter.handshake();
        let grandchild: u32 = fs::read_to_string(&note).unwrap().trim().parse().unwrap();
        assert!(Path::new(&format!("/proc/{grandchild}")).exists());
        let own = Pid::from_raw(i32::try_from(adapter.client.child.id()).unwrap()).unwrap();
        kill_process(own, signal).unwrap();
        assert!(adapter.end().success());
        assert!(ends(grandchild), "{grandchild} still runs");
    }
}

/// Match managers and GUIs start engines whose standard error nobody reads.
#[cfg(target_os = "linux")]
#[test]
fn unread_messages_do_not_stop_the_game() {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (_reader, mut stderr) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&stderr).unwrap();
    fcntl_setfl(&stderr, flags | OFlags::NONBLOCK).unwrap();
    while stderr.write(&[b'.'; 1 << 12]).is_ok() {}
    fcntl_setfl(&stderr, flags).unwrap();
    let mut command = command("--engine builtin");
    let mut client = test_programs::client::Client::start(command.stderr(stderr));
    let long = "x".repeat(1 << 17);
    let lines = format!("uci\nsetoption name Book File value {long}.ctg\nisready\n");
    client.write(lines.as_bytes()).unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let ready = client.find_line(until, |line| line == "readyok", |_| {});
    assert!(ready.is_some());
    client.write(b"quit\n").unwrap();
    assert!(client.wait(until).unwrap().success());
}

/// As `gnuchess` without an argument, and many others.
#[cfg(unix)]
#[test]
fn an_engine_of_xboard_is_named_at_once() {
    let folder = Folder::new();
    let script = "while read -r line; do
        case $line in quit) exit ;; *) echo \"White (1) : Invalid move: $line\" ;; esac
    done";
    fs::write(folder.join("engine.sh"), script).unwrap();
    // The game begins long before its time to start is over.
    let script = folder.join("engine.sh");
    let text = format!(
        "default = [\"x\"]\n[engine.x]\ncommand = \"/bin/sh\"\nargs = ['{}']\n\
         start_timeout_ms = 600000\n",
        script.display()
    );
    fs::write(folder.join("engines.toml"), text).unwrap();
    let mut command = folder.command("--config engines.toml");
    let mut adapter = Adapter::run(&mut command);
    adapter.send("uci");
    adapter.expect("uciok");
    adapter.assert_received("it speaks the protocol of XBoard");
    assert!(adapter.best("position startpos moves a2a3 a7a6").len() > 12);
    assert!(adapter.quit().success());
}

#[test]
fn a_log_that_cannot_be_written_does_not_end_the_game() {
    let folder = Folder::new();
    let missing = folder.join("no/such/folder/game.log");
    let mut adapter = Adapter::around("", &["--log", missing.to_str().unwrap()]);
    adapter.send("uci");
    adapter.expect("info string log ");
    adapter.ready();
    assert!(adapter.quit().success());

    let wanted = folder.join("game.log");
    let args = ["--log", wanted.to_str().unwrap()];
    let mut first = Adapter::around("", &args);
    first.send("uci");
    first.expect("uciok");
    let mut second = Adapter::around("", &args);
    second.send("uci");
    let line = second.expect("info string log ");
    assert!(line.ends_with("game.2.log"), "{line}");
    first.send("go movetime 1");
    first.expect("bestmove");
    assert!(second.quit().success());
    assert!(first.quit().success());
    for name in ["game.log", "game.2.log"] {
        folder.done(&["replay", name]);
    }
}

#[test]
fn files_of_a_match_are_tried_before_the_first_game() {
    let folder = Folder::new();
    copy(STARTER, &folder.join("book.ctg"));
    let foreign = "time,event,colour\n";
    folder.put("foreign.csv", foreign);
    folder.put("notes.txt", "7\n8\n");
    folder.put("notes.txt.taken", foreign);
    folder.put("book.ctg.cover", "# tabia cover 0\n");
    let common = "--engine builtin --book book.ctg";
    for (arguments, reason) in [
        (
            "--games foreign.csv",
            "foreign.csv: line 1: this is another file",
        ),
        ("--games no/such/folder.csv", "(os error "),
        (
            "--set 'Book Seed File=notes.txt'",
            "notes.txt.taken: line 1: ",
        ),
        ("--set 'Book Seed File=missing.txt'", "no file missing.txt"),
        ("--set 'Book Cover=lines'", "book.ctg.cover: line 1: "),
    ] {
        let mut command = folder.command(&format!("{common} {arguments}"));
        let ran = Ran::with_input(
            &mut command,
            b"uci\nposition startpos\ngo movetime 1\nquit\n",
        );
        // On both channels, and the game goes on.
        assert!(ran.ok().contains(reason), "{arguments}: {}", ran.err());
        let (before, after) = ran
            .out()
            .split_once("uciok\n")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        assert!(!before.contains(reason), "{before}");
        let info = after.lines().next().unwrap();
        assert!(
            info.starts_with("info string ") && info.contains(reason),
            "{after}"
        );
        assert!(after.contains("bestmove"), "{after}");
        let checked = folder.tabia(&format!("check {common} {arguments}"));
        checked.ends(2);
        assert!(checked.out().contains(reason), "{}", checked.out());
    }
    for (name, text) in [
        ("foreign.csv", foreign),
        ("notes.txt.taken", foreign),
        ("book.ctg.cover", "# tabia cover 0\n"),
    ] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
    }
    // A new file is begun at once.
    let ran = folder.tabia(&format!("{common} --games new.csv"));
    assert_eq!(ran.ok(), "");
    let text = fs::read_to_string(folder.join("new.csv")).unwrap();
    assert!(
        text.starts_with("time,event,colour,") && text.lines().count() == 1,
        "{text}"
    );
}

#[test]
fn a_seed_file_of_powershell_is_read_and_a_bad_line_named_once() {
    let folder = Folder::new();
    let text = "\u{feff}1\r\ntwo\r\n3\r\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.put("seeds.txt", bytes);
    let mut command = folder.command("--engine builtin --set 'Book Seed File=seeds.txt'");
    let mut adapter = Adapter::run(&mut command);
    adapter.handshake();
    for _ in 0..3 {
        adapter.best("position startpos");
        adapter.new_game();
    }
    assert_eq!(adapter.count("info string seeds.txt: line 2 skipped: "), 1);
    adapter.assert_received("all 2 seeds are taken");
    assert_eq!(
        fs::read_to_string(folder.join("seeds.txt.taken")).unwrap(),
        "2\n"
    );
}

#[test]
fn a_path_with_a_semicolon_is_quoted() {
    let folder = Folder::new();
    copy(STARTER, &folder.join("a;b.ctg"));
    copy(SIMPLE, &folder.join("simple.ctg"));
    let config = "[book]\nfile = [\"a;b.ctg\", \"simple.ctg\"]\n";
    folder.put("engines.toml", config);
    for arguments in [
        "--book 'a;b.ctg' --book simple.ctg",
        "--set 'Book File=\"a;b.ctg\";simple.ctg'",
        "--config engines.toml",
    ] {
        let mut command =
            folder.command(&format!("{arguments} -- {}", shown(&example("odd_engine"))));
        let mut adapter = Adapter::run(&mut command);
        adapter.handshake();
        adapter.best("position startpos");
        adapter.assert_received("info string book a;b.ctg:");
        assert!(!adapter.has_received("without it"), "{arguments}");
    }
}

/// A path as a word for a shell.
fn shown(path: &std::path::Path) -> String {
    format!("'{}'", path.display())
}

#[cfg(target_os = "linux")]
#[test]
fn each_go_is_answered_without_free_file_descriptors() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let mut adapter = Adapter::around("", &["--set", "Book Info=none"]);
    adapter.handshake();
    let process = adapter.client.child.id();
    let is_open = |number: &u64| fs::exists(format!("/proc/{process}/fd/{number}")).unwrap();
    let first_free = (0..).find(|number| !is_open(number));
    let none_left = Rlimit {
        current: first_free,
        maximum: first_free,
    };
    let pid = Pid::from_raw(i32::try_from(process).unwrap());
    prlimit(pid, Resource::Nofile, none_left).unwrap();
    adapter.best("position startpos");
    adapter.ready();
    assert!(adapter.quit().success());
}
