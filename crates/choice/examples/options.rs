//! Prints the options with their values, and what a chosen preset changes:
//! `cargo run -p tabia-choice --example options [PRESET]`.

#![allow(clippy::print_stdout)]

use tabia_choice::settings::{OptionId, Settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = Settings::default();
    for id in OptionId::ALL {
        println!("{}: {}", id.spec().name, settings.options().get(*id));
    }
    let preset = std::env::args().nth(1).unwrap_or("Optimize".to_owned());
    settings.choose(OptionId::Preset, &preset)?;
    if let Some(values) = settings.options().in_force() {
        println!("{values}");
    }
    // A wrong value is refused with the right ones.
    if let Err(error) = settings.choose(OptionId::Variety, "200") {
        println!("{error}");
    }
    Ok(())
}
