//! Games that are there twice.
//!
//! Two games are the same if they start alike, have the same moves to the last
//! one, the same result, and players whose family names (what stands before
//! the first comma or blank, in any case) are the same. Years, events and
//! ratings are not asked: collections spell them differently. Which of two
//! counts must not depend on threads, so the lots are looked at in the order
//! of the sources.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::{Condvar, Mutex, PoisonError};

use rustc_hash::FxBuildHasher;
use shakmaty::Position;

use crate::games::Game;

/// The games seen so far.
#[derive(Default)]
pub(super) struct Duplicates {
    state: Mutex<State>,
    turned: Condvar,
}

#[derive(Default)]
struct State {
    /// The lot whose turn it is.
    turn: u64,
    seen: HashSet<u128, FxBuildHasher>,
}

impl Duplicates {
    /// For each game of a lot, whether it is the first of its kind. Waits until
    /// all lots of lower numbers have been asked about.
    pub(super) fn first(&self, lot: u64, games: &[Game]) -> Vec<bool> {
        let names: Vec<u128> = games.iter().map(fingerprint).collect();
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self
            .turned
            .wait_while(state, |state| state.turn != lot)
            .unwrap_or_else(PoisonError::into_inner);
        let first = names.into_iter().map(|name| state.seen.insert(name));
        let first = first.collect();
        state.turn += 1;
        self.turned.notify_all();
        first
    }
}

/// 128 bits that two different games share with a chance of 1 in 10^20, even
/// among billions.
fn fingerprint(game: &Game) -> u128 {
    let half = |seed: u64| {
        // Not the fast hash of the tables: its bits are too much alike.
        let mut hasher = std::hash::DefaultHasher::new();
        seed.hash(&mut hasher);
        game.result.hash(&mut hasher);
        for name in [&game.names.white, &game.names.black] {
            let family = name.split([',', ' ']).find(|part| !part.is_empty());
            family.unwrap_or("").to_lowercase().hash(&mut hasher);
        }
        game.moves.hash(&mut hasher);
        if let Some(start) = game.positions.first().filter(|_| game.set_up) {
            (start.board(), start.turn()).hash(&mut hasher);
        }
        hasher.finish()
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}
