//! Asks an index which moves were played in a position, how often and with which results:
//! `cargo run -p tabia-index --example ask_position [FEN]`
#![allow(clippy::print_stdout)]

use tabia_index::query::{Lists, Source, sums};
use tabia_index::shakmaty::Position as _;
use tabia_index::{GameSelection, GamesIndex, IndexJob, Watch};
use tabia_notation::{position, san};

const GAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("games.tgx");
    IndexJob::new([GAMES], &path).run(&mut Watch::default())?;

    let index = GamesIndex::open(&path, true)?;
    let position = position(&std::env::args().nth(1).unwrap_or("startpos".into()))?;
    let all = GameSelection::default();
    let answer = sums([Source::Index(&index)], &position, &all, Lists::default())?;
    for made in &answer.moves {
        let results = made.counts.results(position.turn());
        println!(
            "{:6} {:3} games {results}",
            san(&position, made.mv),
            made.counts.games()
        );
    }
    Ok(())
}
