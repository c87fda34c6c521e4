//! The reader of damaged databases, in tests and fuzz targets.

use std::path::Path;

use tabia_games::{Game, GameParts, open};

/// Reads a database with several sets of game parts; counts whole games, other
/// games, and remarks.
pub(crate) fn read_all(path: &Path) -> [u64; 3] {
    let [mut good, mut bad, mut remarks] = [0; 3];
    let short = GameParts::default().up_to(40);
    let sides = short.with_variations();
    for wanted in [short, sides, GameParts::EVERYTHING] {
        let Ok(mut source) = open(path) else {
            continue;
        };
        let mut game = Game::default();
        while let Ok(Some(mut batch)) = source.next_batch() {
            loop {
                match batch.next_game(wanted, &mut game) {
                    Ok(true) => {
                        assert_eq!(game.positions.len(), game.moves.len() + 1);
                        assert!(game.moves.len() <= wanted.plies);
                        let is_cut = u64::from(game.cut.is_some());
                        good += 1 - is_cut;
                        bad += is_cut;
                    }
                    Ok(false) => break,
                    Err(reason) => {
                        assert!(!batch.skip(reason).to_string().is_empty());
                        bad += 1;
                    }
                }
            }
        }
        remarks += source.remarks().len() as u64;
        assert!(good + bad < 100_000, "no end of games");
    }
    [good, bad, remarks]
}
