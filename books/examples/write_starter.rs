//! Writes the starter book as files, which ChessBase programs can open too:
//! `cargo run -p tabia-starter --example write_starter [FOLDER]`; without a folder into a
//! temporary one, and only to show it.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| temporary.path().to_owned());
    for (name, bytes) in [
        ("tabia.ctg", tabia_starter::CTG),
        ("tabia.cto", tabia_starter::CTO),
        ("tabia.ctb", tabia_starter::CTB),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, bytes)?;
        println!("{}: {} bytes", path.display(), bytes.len());
    }
    Ok(())
}
