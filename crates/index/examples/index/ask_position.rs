//! Asks an index which moves were played in a position, how often and with which results:
//! `cargo run -p tabia-index --example index ask_position [FEN]`

use tabia_index::GameSelection;
use tabia_index::query::{Lists, Source, sums};
use tabia_index::shakmaty::Position as _;
use tabia_notation::{position, san};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_folder, index) = crate::common::index()?;
    let position = position(&std::env::args().nth(2).unwrap_or("startpos".into()))?;
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
