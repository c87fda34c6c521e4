//! Every fault of an engine with every fault of a GUI at every moment of the
//! conversation: processes with real pipes, many cases at once.
//!
//! `cargo test --test faults [WORD]` runs the cases whose names contain the
//! word, for example `crashes/killed/thinking`. The expected results are in `case.rs`
//! and, generated from it, in `docs/behaviour.md`.

#![allow(clippy::print_stdout)] // The report is for people.

#[cfg(target_os = "linux")]
mod case;
#[cfg(target_os = "linux")]
mod flood;
#[cfg(target_os = "linux")]
mod gui;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod table;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    run::main()
}

/// The tests read /proc to see which processes run.
#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the fault cases run on Linux only");
}
