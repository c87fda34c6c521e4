//! Analyses of opening books with engines and results.

pub mod audit;
pub mod coverage;
pub mod departures;
mod each_game;
mod error;
pub mod evaluate;
mod funnel;
pub mod graph;
pub mod grow;
mod pairs;
pub mod prove;
pub mod prune;
pub mod repertoire;
pub mod review;
pub mod studies;
pub mod suite;
mod tally;
pub mod worklist;

pub use error::Error;
pub use pairs::{Pairs, Strength};
pub use tabia_io::atomic::Previous;
pub use tabia_io::progress::{Progress, Watch};
pub use tally::Tally;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
