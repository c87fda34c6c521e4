//! Examples: `cargo run -p tabia-uci --example uci NAME`.

#![allow(clippy::print_stdout)] // Figures for users.

mod check_option;
mod declare_option;
mod gui_line;
mod info_lines;
mod split_stream;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("check_option") => check_option::main(),
        Some("declare_option") => declare_option::main(),
        Some("gui_line") => gui_line::main(),
        Some("info_lines") => info_lines::main(),
        Some("split_stream") => split_stream::main()?,
        _ => {
            return Err(
                "which? check_option, declare_option, gui_line, info_lines or split_stream".into(),
            );
        }
    }
    Ok(())
}
