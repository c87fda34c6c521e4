//! Counts the games of a player with White that were won, reading only what the filter
//! admits: `cargo run -p tabia-games --example games filter_by_player [NAME]`

use tabia_games::shakmaty::Color;
use tabia_games::{Error, Game, GameFilter, GameReader, GameResult, Sources, Watch};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut filter = GameFilter::default();
    filter.player = Some(std::env::args().nth(2).unwrap_or("capablanca".into()));
    filter.colour = Some(Color::White);
    filter.result = Some(GameResult::Won(Color::White));
    let add = |games: &mut u64, _: &Game| {
        *games += 1;
        Ok::<(), Error>(())
    };
    let sources = Sources::list([&SOURCE.into()])?;
    let reader = GameReader::new(&filter);
    let (tally, sums) = reader.add_up(&sources, add, &mut Watch::default())?;
    println!("{} of {} games", sums.iter().sum::<u64>(), tally.read);
    println!("left out: {}", tally.rejected);
    Ok(())
}
