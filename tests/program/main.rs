//! Tests of the program as users run it: every command as a process, with real files and
//! engines. All are in one test program, because linking takes longer than compiling.
//! `cargo test --test program mark::` runs those of one command.

// A failed step fails the test.
#![allow(clippy::unwrap_used)]

mod audit;
mod build;
mod check_engine;
mod circles;
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
mod formats;
mod fuzz_corpus;
mod games;
mod grow;
mod learn;
mod made;
mod mark;
mod messages;
mod one_side;
mod outputs;
mod pgn;
mod play;
mod probe;
mod probe_is_play;
mod prove;
mod replay;
mod setup;
mod shell;
mod structure;
mod suite;
mod terminal;
mod windows;
