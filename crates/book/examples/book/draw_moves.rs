//! Draws moves from a book as the adapter does, until the book ends:
//! `cargo run -p tabia-book --example book draw_moves [SEED]`.

use shakmaty::{Chess, Position as _, san::SanPlus};
use tabia_book::policy::{Policy, Rules, chance, choose};
use tabia_book::{Book, OpenOptions};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(2).map_or(Ok(1), |seed| seed.parse())?;
    let book = Book::open(STARTER, &OpenOptions::default())?;
    // More variety than usual: 50 draws in proportion to the weights.
    let rules = Rules::default().policy(Policy::default().variety(70));

    let mut position = Chess::default();
    let mut before = Vec::new();
    loop {
        let found = choose(&book, &position, &before, &rules)?;
        // The same seed, game and position give the same move.
        let Some(drawn) = found.draw(&mut chance(seed, 0, &position, 0)) else {
            println!("\nthe book ends after {} moves", before.len());
            return Ok(());
        };
        print!("{} ", SanPlus::from_move(position.clone(), drawn.mv));
        before.push(position.clone());
        position.play_unchecked(drawn.mv);
    }
}
