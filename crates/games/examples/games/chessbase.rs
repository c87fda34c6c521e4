//! Prints the first games of a ChessBase database as PGN, with their variations. Any other
//! format is read in the same way: `cargo run -p tabia-games --example games chessbase [FILE.cbh]`

use tabia_games::{Game, GameParts, open, write_pgn};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(2).unwrap_or(SOURCE.into());
    let mut source = open(path.as_ref())?;
    let (mut game, mut text) = (Game::default(), String::new());
    if let Some(mut batch) = source.next_batch()? {
        for _ in 0..3 {
            if batch.next_game(GameParts::EVERYTHING, &mut game)? {
                write_pgn(&game, &mut text);
            }
        }
    }
    print!("{text}");
    Ok(())
}
