//! Shows that two orders of moves lead to the same position and so to the same Zobrist key:
//! `cargo run -p tabia-notation --example notation zobrist_keys`

use tabia_notation::Line;
use tabia_notation::shakmaty::zobrist::Zobrist64;
use tabia_notation::shakmaty::{EnPassantMode, Position as _};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    for moves in ["1. d4 Nf6 2. c4 e6 3. Nf3", "1. Nf3 e6 2. c4 Nf6 3. d4"] {
        let line = Line::read("", moves)?;
        let key: Zobrist64 = line.last().zobrist_hash(EnPassantMode::Legal);
        println!("{:016x} {line}", key.0);
    }
    Ok(())
}
