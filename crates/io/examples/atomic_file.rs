//! Writes a file that exists completely or not at all: `cargo run -p tabia-io --example atomic_file`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_io::atomic::{NewFile, Previous};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("numbers.txt");
    let mut file = NewFile::create(&path, Previous::Refuse)?;
    file.write_bytes(b"1 2 3\n")?;
    println!("before: {}", path.exists());
    file.commit()?;
    println!("after: {}", std::fs::read_to_string(&path)?);
    Ok(())
}
