//! Lists the players of an index, those with most games first:
//! `cargo run -p tabia-index --example list_players`
#![allow(clippy::print_stdout)]

use tabia_index::{GamesIndex, IndexJob, Watch, players};

const GAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("games.tgx");
    IndexJob::new([GAMES], &path).run(&mut Watch::default())?;

    let index = GamesIndex::open(&path, true)?;
    for (name, games) in players(&index, u64::MAX)?.iter().take(10) {
        println!("{games:4} {name}");
    }
    Ok(())
}
