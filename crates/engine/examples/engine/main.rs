//! Examples: `cargo run -p tabia-engine --example engine NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod check;
mod evaluate;
mod play;
mod say_uci;
mod scripted;
mod think;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("check") => check::main(),
        Some("evaluate") => evaluate::main()?,
        Some("play") => play::main()?,
        Some("say_uci") => say_uci::main()?,
        Some("think") => think::main()?,
        Some("engine") => scripted::play()?,
        _ => return Err("which? check, evaluate, play, say_uci or think".into()),
    }
    Ok(())
}
