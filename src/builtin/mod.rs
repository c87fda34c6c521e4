//! The built-in engine: an ordinary UCI engine, for users without another one and for
//! trials.
//!
//! Evaluation and search are those of [littlewing](https://vinc.cc/software/littlewing)
//! (about 2050 Elo, one thread); the UCI part is Tabia's:
//!
//! ```text
//! run (reads lines) --jobs--> worker thread (owns tables, searches, answers)
//!       |                            ^
//!       +------ Control: stop, ponderhit, deadline
//! ```
//!
//! shakmaty checks positions and moves before littlewing gets them, and a panic in
//! littlewing only ends a search, not the game.

mod control;
mod output;
mod perft;
mod position;
mod score;
mod search;
mod session;
mod time;
mod worker;

pub(crate) use session::run;

#[cfg(test)]
mod tests;
