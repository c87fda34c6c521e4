//! Examples: `cargo run -p tabia-adapter --example adapter NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod configuration;
mod own_policy;
mod session_events;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("configuration") => configuration::main()?,
        Some("own_policy") => own_policy::main()?,
        Some("session_events") => session_events::main(),
        _ => return Err("which? configuration, own_policy or session_events".into()),
    }
    Ok(())
}
