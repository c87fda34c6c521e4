//! Games of random moves for tests.

use shakmaty::{Chess, Position as _};

/// So many games, the same ones for a seed: all positions of each, from the start to the
/// end of the game or that number of plies.
pub(crate) fn games(seed: u64, count: usize, plies: usize) -> impl Iterator<Item = Vec<Chess>> {
    let mut state = seed;
    let mut game = move || {
        let mut game = vec![Chess::default()];
        for ply in 0..plies {
            let legal = game[ply].legal_moves();
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let Some(&mv) = legal.get((state >> 33) as usize % legal.len().max(1)) else {
                break;
            };
            game.push(tabia_notation::after(&game[ply], mv));
        }
        game
    };
    (0..count).map(move |_| game())
}
