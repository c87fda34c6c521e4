//! Reads moves as people write them, in any notation and several languages:
//! `cargo run -p tabia-notation --example notation read_moves`

use tabia_notation::{after, read_move, san, uci};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut position = tabia_notation::position("startpos")?;
    for word in ["1.e4", "e7-e5", "Sf3", "Nb8c6!?", "Lb5", "a7a6"] {
        let mv = read_move(&position, word)?;
        println!("{word:8} {:4} {}", san(&position, mv), uci(mv));
        position = after(&position, mv);
    }
    Ok(())
}
