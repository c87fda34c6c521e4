//! Builds an index of a database, and adds more games to it:
//! `cargo run -p tabia-index --example index build_index`

use tabia_index::{IndexJob, Watch};

const GAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("games.tgx");
    let mut job = IndexJob::new([GAMES], &path);
    job.max_ply = Some(30);
    let made = job.run(&mut Watch::default())?;
    println!("{} games, {} positions", made.games, made.part.positions);

    let mut more = IndexJob::new([GAMES.replace("Capa", "fob")], &path);
    more.append = true;
    let made = more.run(&mut Watch::default())?;
    println!("{} games added, now {}", made.added, made.games);
    Ok(())
}
