//! Prints every position of a game, with the move played in it:
//! `cargo run -p tabia-games --example games positions`

use std::sync::Arc;

use tabia_games::{Game, GameParts, GameSource as _, PgnSource};
use tabia_notation::{fen, san};

const PGN: &str = "[White \"Anderssen\"]\n[Black \"Kieseritzky\"]\n\n\
    1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 1-0\n";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = Box::new(PGN.as_bytes());
    let mut source = PgnSource::new("a text in memory", text, Arc::default());
    let mut game = Game::default();
    while let Some(mut batch) = source.next_batch()? {
        while batch.next_game(GameParts::default(), &mut game)? {
            for (position, mv) in game.positions.iter().zip(&game.moves) {
                println!("{:72} {}", fen(position), san(position, *mv));
            }
        }
    }
    Ok(())
}
