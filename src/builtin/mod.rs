//! The built-in engine: an ordinary UCI engine, for those who have no other
//! and for trying things out.
//!
//! Chess knowledge and search are those of [littlewing](https://vinc.cc/software/littlewing)
//! (about 2050 Elo, one thread); everything a GUI sees is ours:
//!
//! ```text
//! run (reads lines) --jobs--> worker thread (owns tables, searches, answers)
//!       |                            ^
//!       +------ Control: stop, ponderhit, deadline
//! ```
//!
//! Positions and moves are checked with shakmaty before littlewing sees them,
//! and a panic inside it costs a search, not the game.

mod control;
mod output;
mod position;
mod score;
mod search;
mod session;
mod time;
mod worker;

pub(crate) use session::run;

#[cfg(test)]
mod tests;
