//! Shows what one player plays with White, and with which results:
//! `cargo run -p tabia-index --example index repertoire`

use std::sync::Arc;

use tabia_index::query::{Lists, Source, sums};
use tabia_index::shakmaty::{Chess, Color};
use tabia_index::{GameSelection, Player};
use tabia_notation::san;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_folder, index) = crate::common::index()?;
    // The words of a name may be in any order and case.
    let names = ["capablanca, jose raul".to_owned()];
    let player = [Arc::new(Player::read(&index, &names, Color::White)?)];
    println!("{} games", player[0].games());
    let (start, all) = (Chess::default(), GameSelection::default());
    let answer = sums([Source::Players(&player)], &start, &all, Lists::default())?;
    for made in &answer.moves {
        println!(
            "{:4} {}",
            san(&start, made.mv),
            made.counts.results(Color::White)
        );
    }
    Ok(())
}
