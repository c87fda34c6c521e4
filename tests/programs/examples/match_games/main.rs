//! Plays a match between adapters with clocks, as a manager would, and counts
//! everything that would lose a game: `match_games ADAPTER [OPTION=NUMBER]...`.
//!
//! Both players are the program `ADAPTER` with the starter book and the small engine that
//! this program becomes as `match_games engine`. With `builtin=1` they use the built-in
//! engine; `engine=PROGRAM` replaces that of one player. With `direct=1` the small
//! engines play without adapters, to measure the effect of the machine on
//! clocks. The options and their defaults: `games=500 at-once=2 time=60000
//! increment=1000` (milliseconds; only an answer that never comes uses that up, even on a
//! busy machine), `nodes=0` (besides the clocks), `kill-every=5` (in each
//! fifth game an engine is killed at a random moment), `freeze-every=0` (is stopped for
//! up to a third of its clock), `ponder-every=4`, `seed=1`. Exit code 1 after any fault.
//! Every option is first set to its default, sorted by name, with a preset among
//! them; then come those given as `set:NAME=VALUE`. `arg:WORD` is an adapter's argument.

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

/// It reads /proc to find engines and to measure memory.
#[cfg(not(target_os = "linux"))]
fn main() {
    println!("matches are played on Linux only");
}
