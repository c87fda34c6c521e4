//! Learn values from the results of games: of collections ([`tally_games`], `tabia learn`),
//! and of play, which the adapter records in a *side file* beside the book
//! ([`Learned::add_side_file`]).
//!
//! What a learn value is, and how results change it, says [`tabia_choice::learn`].

mod apply;
mod games;

pub use apply::{LearnOptions, LearnReport};
pub use games::{Counted, LearnError, Learned, place_of, tally_games};
