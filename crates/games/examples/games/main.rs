//! Examples: `cargo run -p tabia-games --example games NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod all_games;
mod chessbase;
mod count_results;
mod filter_by_player;
mod positions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("all_games") => all_games::main()?,
        Some("chessbase") => chessbase::main()?,
        Some("count_results") => count_results::main()?,
        Some("filter_by_player") => filter_by_player::main()?,
        Some("positions") => positions::main()?,
        _ => {
            return Err(
                "which? all_games, chessbase, count_results, filter_by_player or positions".into(),
            );
        }
    }
    Ok(())
}
