//! How results of games change a learn value: `cargo run -p tabia-choice --example learn_values`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_choice::learn::{PLAY_STRENGTH, learned};
use tabia_notation::Results;

fn main() {
    for (wins, draws, losses) in [(1, 0, 0), (10, 0, 0), (5, 100, 5), (0, 0, 1)] {
        let results = Results::new(wins, draws, losses);
        let value = learned(results, 0, PLAY_STRENGTH);
        println!("+{wins} ={draws} -{losses}: {value:+}");
    }
    // A value that a user has set stays.
    assert_eq!(learned(Results::new(0, 0, 99), 125, PLAY_STRENGTH), 125);
}
