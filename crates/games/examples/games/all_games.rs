//! Reads all games of a PGN file: players, results and numbers of moves.
//! `cargo run -p tabia-games --example games all_games [FILE.pgn]`

use tabia_games::{Game, GameParts, open};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sample.pgn");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(2).unwrap_or(SOURCE.into());
    let mut source = open(path.as_ref())?;
    let mut game = Game::default();
    while let Some(mut batch) = source.next_batch()? {
        loop {
            match batch.next_game(GameParts::default(), &mut game) {
                Ok(false) => break,
                Ok(true) => println!(
                    "{} - {}: {} in {} plies",
                    game.names.white,
                    game.names.black,
                    game.result.to_pgn(),
                    game.moves.len()
                ),
                Err(reason) => println!("{}", batch.skip(reason)),
            }
        }
    }
    Ok(())
}
