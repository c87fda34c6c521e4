//! Plays a match as a manager would, and counts everything that would lose a game:
//! `match_games ADAPTER [OPTION=VALUE]...`, or `match_games first=COMMAND second=COMMAND ...`.
//!
//! Both players are the program `ADAPTER` with the starter book and the small engine that
//! this program becomes as `match_games engine`. With `builtin=1` they use the built-in
//! engine; `engine=PROGRAM` replaces that of the second player. With `direct=1` the small
//! engines play without adapters, to measure the effect of the machine on clocks.
//! `first=` and `second=` are other players, commands as a shell reads them.
//!
//! | option | default | |
//! |---|---|---|
//! | `games` | 500 | colours are exchanged after each |
//! | `at-once` | 2 | |
//! | `time`, `increment` | 60000, 1000 | milliseconds, which only an answer that never comes uses up, even on a busy machine; `time=0` for no clocks |
//! | `nodes` | 0 | nodes a move, besides the clocks |
//! | `kill-every` | 5 | in each fifth game an engine is killed at a random moment; 0 without adapters |
//! | `freeze-every` | 0 | is stopped for up to a third of its clock |
//! | `ponder-every` | 4 | 0 without adapters |
//! | `seed` | 1 | the first pair's `Book Seed`, if a player has that option, and its opening |
//! | `openings` | | a file with a position a line, FEN or EPD |
//! | `pgn` | | a file for the games, with values as managers write them: for `tabia review` and `tabia suite match` |
//!
//! Every option of an adapter is first set to its default, sorted by name, with a preset
//! among them; then come those given as `set:NAME=VALUE`, for all players. `arg:WORD` is an
//! adapter's argument. A game is over by the rules of chess, or drawn after 400 plies; a
//! move that exceeds the clock loses it. Exit code 1 after any fault.

#![allow(clippy::print_stdout)] // The report is for people.

#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod game;
#[cfg(target_os = "linux")]
mod player;
#[cfg(target_os = "linux")]
mod referee;

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
