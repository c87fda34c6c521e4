//! Starts an engine, says `uci` and shows its answer:
//! `cargo run -p tabia-engine --example engine say_uci [ENGINE]`

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = crate::scripted::engine().spawn()?;
    engine.stdin.write_all(b"uci\nquit\n")?;
    for line in BufReader::new(engine.stdout).lines() {
        println!("{}", line?);
    }
    // It is killed with all its children when `engine.process` is dropped.
    let status = engine.process.wait(Duration::from_secs(5));
    println!("{status:?}");
    Ok(())
}
