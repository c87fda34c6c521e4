//! Starts an engine, says `uci` and shows its answer:
//! `cargo run -p tabia-engine --example say_uci [ENGINE]`

#![allow(clippy::print_stdout)] // Figures for users.

mod scripted;

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = scripted::engine().spawn()?;
    engine.stdin.write_all(b"uci\nquit\n")?;
    for line in BufReader::new(engine.stdout).lines() {
        println!("{}", line?);
    }
    // It is killed with all its children when `engine.process` is dropped.
    let status = engine.process.wait(Duration::from_secs(5));
    println!("{status:?}");
    Ok(())
}
