//! Names the opening after each move of a line:
//! `cargo run -p tabia-notation --example notation name_openings`

use tabia_notation::{Line, after, openings, san};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let line = Line::read("", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6")?;
    for (position, mv) in line.moves() {
        if let Some(opening) = openings::find(&after(position, mv)) {
            println!("{:6} {} {}", san(position, mv), opening.eco, opening.name);
        }
    }
    Ok(())
}
