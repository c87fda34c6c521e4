//! Examples: `cargo run -p tabia-book --example book NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod all_positions;
mod convert;
mod draw_moves;
mod look_up;
mod marks;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("all_positions") => all_positions::main()?,
        Some("convert") => convert::main()?,
        Some("draw_moves") => draw_moves::main()?,
        Some("look_up") => look_up::main()?,
        Some("marks") => marks::main()?,
        _ => return Err("which? all_positions, convert, draw_moves, look_up or marks".into()),
    }
    Ok(())
}
