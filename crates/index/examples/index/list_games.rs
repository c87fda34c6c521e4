//! Lists the newest games of a position, and prints the first of them as PGN:
//! `cargo run -p tabia-index --example index list_games`

use tabia_index::GameSelection;
use tabia_index::query::{Lists, Order, Source, sums};
use tabia_notation::Line;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_folder, index) = crate::common::index()?;
    let line = Line::read("", "1. d4 d5")?;
    let mut lists = Lists::default();
    (lists.listed, lists.order) = (5, Order::Newest);
    let all = GameSelection::default();
    let answer = sums([Source::Index(&index)], line.last(), &all, lists)?;
    for named in &answer.listed {
        if let Some(game) = index.game(named.game.game.into())? {
            let (names, date) = (&game.head.names, game.head.facts.date.to_pgn());
            println!("{date} {} - {}", names.white, names.black);
        }
    }
    let first = answer.listed.first().ok_or("no game has this position")?;
    print!("{}", index.pgn(first.game.game.into())?.unwrap_or_default());
    Ok(())
}
