//! The program as its users know it: every command as a process, with real files
//! and engines. One program for all of these tests, as linking takes longer than
//! compiling. `cargo test --test program mark::` runs those of one command.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod audit;
mod build;
mod cbh;
mod check_engine;
mod cli;
mod common;
mod compare;
mod convert;
mod ctg_damage;
mod ctg_rewrite;
mod ctg_verify;
mod databases;
mod docs;
mod evaluate;
mod explore;
mod fuzz_corpus;
mod games;
mod grow;
mod learn;
mod mark;
mod messages;
mod pgn;
mod play;
mod probe;
mod probe_is_play;
mod prove;
mod replay;
mod shell;
mod suite;
mod terminal;
mod windows;
