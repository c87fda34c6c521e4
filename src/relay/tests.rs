//! The loop with books that open badly; what needs the whole program is in
//! `tests/play.rs` and `tests/faults`.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Write as _};

use super::*;
use crate::session::{Engines, Profile};

/// Says `lines` to an adapter without an engine whose books are opened so, and
/// hears what it says up to the line that begins with `last`.
fn hear(lines: &str, last: &str, open_books: OpenBooks) -> Vec<String> {
    let (input, mut gui_in) = io::pipe().unwrap();
    let (gui_out, output) = io::pipe().unwrap();
    let rim = Rim {
        input: into_file(std::os::fd::OwnedFd::from(input)),
        output: into_file(std::os::fd::OwnedFd::from(output)),
        commands: Vec::new(),
        open_books,
        transcript: None,
        remarks: Vec::new(),
    };
    let engines = Engines {
        profiles: vec![Profile::default()],
        ..Engines::default()
    };
    let adapter = thread::spawn(move || run(Session::new(engines, 1), rim).unwrap());
    gui_in.write_all(lines.as_bytes()).unwrap();
    let mut heard = Vec::new();
    for line in BufReader::new(gui_out).lines().map_while(Result::ok) {
        let is_last = line.starts_with(last);
        heard.push(line);
        if is_last {
            break;
        }
    }
    drop(gui_in);
    assert_eq!(adapter.join().unwrap().code, 0);
    heard
}

const GO: &str = "uci\nposition startpos\ngo movetime 10\n";

#[test]
fn books_that_never_open_keep_nobody_waiting() {
    let begun = Instant::now();
    let heard = hear(
        GO,
        "bestmove",
        Arc::new(|_, _| {
            thread::sleep(Duration::from_secs(3600));
            (BookSet::default(), Vec::new())
        }),
    );
    assert!(heard.last().unwrap().starts_with("bestmove"), "{heard:#?}");
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

#[test]
fn who_opens_books_and_fails_is_heard_of() {
    let heard = hear(
        GO,
        "bestmove",
        Arc::new(|_, _| panic!("a book like no other")),
    );
    assert!(
        heard.iter().any(|line| line.contains("cannot be opened")),
        "{heard:#?}"
    );
    // Nobody waits for what has failed.
    assert!(
        !heard.iter().any(|line| line.contains("are not open after")),
        "{heard:#?}"
    );
}
