//! Lets an engine play one move in each of two positions:
//! `cargo run -p tabia-engine --example engine play [ENGINE]`

use tabia_engine::check::{Patience, play};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let positions = ["startpos moves e2e4", "fen 8/8/8/8/r7/1k6/8/K7 w - - 0 1"];
    let played = play(&crate::scripted::engine(), &positions, &Patience::default())?;
    for (position, played) in positions.iter().zip(played) {
        println!("{position}: {}", played.mv);
    }
    Ok(())
}
