//! UCI engines as child processes that cannot outlive their parent: started, asked for
//! evaluations, and checked for what they do wrong.
//!
//! `cargo run -p tabia-engine --example engine NAME` runs an example: `say_uci`, `evaluate`,
//! `think`, `check`, `play`.

#![warn(missing_docs)]

mod analyst;
mod cancel;
pub mod check;
pub mod itself;
mod peer;
mod spawn;
mod thinking;

pub use analyst::{Analyst, AnalystError, Effort, Question};
pub use cancel::Cancellation;
pub use spawn::{EngineCommand, EngineProcess, SpawnError, Spawned, is_on_path, search_path};
pub use thinking::{SearchUpdate, Variation};

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
