//! Reads a line with comments, a variation and annotations; prints the moves in UCI notation
//! and the annotations as NAGs: `cargo run -p tabia-notation --example notation annotated_line`

use tabia_notation::{Line, annotations};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "1. e4 e5 2. Nf3 {the usual move} (2. f4!?) Nc6 3. Bb5! a6 4. Bxc6?! dxc6";
    let line = Line::read("", text)?;
    println!("position startpos moves {}", line.uci_words().join(" "));
    for (index, nag) in annotations(text) {
        println!("ply {}: ${nag}", index + 1);
    }
    Ok(())
}
