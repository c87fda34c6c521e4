//! The `tabia` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tabia::cli::run()
}
