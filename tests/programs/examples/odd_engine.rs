//! `odd_engine [FAULT]`: the engine of [`test_programs::odd`] as a process.

use std::io::{BufRead, Write};

use test_programs::engine::send;
use test_programs::odd::{OddEngine, Then};

fn main() {
    let mut engine = OddEngine::new(&std::env::args().nth(1).unwrap_or_default());
    act(engine.start());
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        act(engine.command(&line, &mut |line| send(line)));
    }
    act(engine.end_of_input());
}

/// Returns if the engine reads on.
fn act(then: Then) {
    match then {
        Then::Reads => {}
        Then::Ends(code) => std::process::exit(code),
        Then::Hangs => loop {
            // Until it is killed.
            std::thread::park();
        },
        Then::Repeats(line) => loop {
            send(line);
        },
        Then::EndlessLine => {
            let chunk = [b'x'; 1 << 16];
            let mut out = std::io::stdout().lock();
            while out.write_all(&chunk).is_ok() {}
            std::process::exit(0);
        }
    }
}
