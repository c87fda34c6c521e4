//! Makes a book of lines without games, with a mark:
//! `cargo run -p tabia-build --example repertoire_lines`

#![allow(clippy::print_stdout)] // Figures for users.

use shakmaty::Color;
use tabia_build::write_lines;
use tabia_notation::Line;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("white.ctg");
    let spanish = Line::read("", "1. e4 e5 2. Nf3 Nc6 3. Bb5")?;
    let open = Line::read("", "1. e4 c5 2. Nf3 d6 3. d4")?;
    // NAG 1 is "!"; 4 is the index of 3. Bb5.
    let lines = [(spanish, vec![(4, 1)]), (open, vec![])];
    let written = write_lines(&lines, &target, Some(Color::White))?;
    println!("{} positions", written.positions);
    Ok(())
}
