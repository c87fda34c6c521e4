//! Analyses of opening books with engines and results.

pub mod audit;
pub mod coverage;
pub mod departures;
mod error;
pub mod evaluate;
pub mod graph;
pub mod grow;
pub mod html;
pub mod prove;
pub mod prune;
pub mod repertoire;
pub mod suite;

pub use error::Error;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
