//! Examples: `cargo run -p tabia-notation --example notation NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod annotated_line;
mod name_openings;
mod read_moves;
mod read_positions;
mod zobrist_keys;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("annotated_line") => annotated_line::main()?,
        Some("name_openings") => name_openings::main()?,
        Some("read_moves") => read_moves::main()?,
        Some("read_positions") => read_positions::main(),
        Some("zobrist_keys") => zobrist_keys::main()?,
        _ => {
            return Err(
                "which? annotated_line, name_openings, read_moves, read_positions or zobrist_keys"
                    .into(),
            );
        }
    }
    Ok(())
}
