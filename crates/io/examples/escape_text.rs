//! Makes text of unknown origin safe for a terminal: `cargo run -p tabia-io --example escape_text`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_io::sanitize::escape_control;

fn main() {
    for name in ["Smith, Jane", "\u{1b}[2Jgone", "two\nlines"] {
        println!("{}", escape_control(name));
    }
}
