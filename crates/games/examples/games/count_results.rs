//! Adds up the results of all games in several threads:
//! `cargo run -p tabia-games --example games count_results [FILE_OR_FOLDER]...`

use std::path::PathBuf;

use tabia_games::shakmaty::Color;
use tabia_games::{Error, Game, GameFilter, GameReader, GameResult, Sources, Starts, Watch};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths: Vec<PathBuf> = std::env::args().skip(2).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(SOURCE.into());
    }
    let add = |results: &mut [u64; 4], game: &Game| {
        results[match game.result {
            GameResult::Won(Color::White) => 0,
            GameResult::Draw => 1,
            GameResult::Won(Color::Black) => 2,
            GameResult::Unknown => 3,
        }] += 1;
        Ok::<(), Error>(())
    };
    let filter = GameFilter::default();
    let reader = GameReader::new(&filter).starts(Starts::Any);
    // Each thread has its own sum.
    let (tally, sums) = reader.add_up(&Sources::list(&paths)?, add, &mut Watch::default())?;
    let count = |index: usize| sums.iter().map(|sum| sum[index]).sum::<u64>();
    println!("{} games, {} skipped", tally.read, tally.skipped);
    println!(
        "1-0: {}, 1/2-1/2: {}, 0-1: {}",
        count(0),
        count(1),
        count(2)
    );
    Ok(())
}
