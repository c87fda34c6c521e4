//! Examples: `cargo run -p tabia-index --example index NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod ask_position;
mod build_index;
mod common;
mod list_games;
mod list_players;
mod repertoire;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("ask_position") => ask_position::main()?,
        Some("build_index") => build_index::main()?,
        Some("list_games") => list_games::main()?,
        Some("list_players") => list_players::main()?,
        Some("repertoire") => repertoire::main()?,
        _ => {
            return Err(
                "which? ask_position, build_index, list_games, list_players or repertoire".into(),
            );
        }
    }
    Ok(())
}
