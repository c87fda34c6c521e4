//! Makes a ChessBase book out of PGN: `cargo run -p tabia-build --example book_of_games`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_build::{BuildJob, Source, run};
use tabia_io::progress::Watch;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let games = folder.path().join("games.pgn");
    std::fs::write(&games, "1. e4 e5 2. Nf3 Nc6 1-0\n\n1. d4 d5 1/2-1/2\n")?;
    let source = Source::new(games);
    let mut job = BuildJob::new(vec![source], folder.path().join("mine.ctg"));
    job.max_ply = 30;
    let summary = run(&job, &mut Watch::default())?;
    println!(
        "{} games, {} positions",
        summary.games, summary.written.positions
    );
    Ok(())
}
