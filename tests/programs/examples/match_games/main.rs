//! Plays a match between adapters with clocks, as a manager would, and counts
//! whatever would cost a game: `match_games ADAPTER [OPTION=NUMBER]...`.
//!
//! Both players are the program `ADAPTER` around the small engine that this
//! program is itself when it is run as `match_games engine` (around the
//! built-in one with `builtin=1`, and that of one player is `engine=PROGRAM`), on the
//! starter book; with `direct=1` the small engine alone plays, to see what the machine
//! does to clocks. The options and their defaults: `games=500 at-once=2 time=200
//! increment=10` (milliseconds), `nodes=0` (besides the clocks), `kill-every=5` (in each
//! fifth game an engine is killed at a random moment), `freeze-every=0` (is stopped for
//! up to a third of its clock), `ponder-every=4`, `seed=1`. Exit code 1 if anything was
//! wrong. Every option is set to its default first, sorted by name, with a preset among
//! them; then those given as `set:NAME=VALUE`. `arg:WORD` is an argument of the adapters.
//!
//! A move that takes longer than the clock has is a loss on time, unless the
//! machine itself stood still for it: that is measured and told apart.

#![allow(clippy::print_stdout)] // The report is for people.

#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod game;
#[cfg(target_os = "linux")]
mod player;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args == ["engine"] {
        engine::run();
        return std::process::ExitCode::SUCCESS;
    }
    game::run_match(&args)
}

/// Whom to kill and what is left behind is asked of /proc.
#[cfg(not(target_os = "linux"))]
fn main() {
    println!("matches are played on Linux only");
}
