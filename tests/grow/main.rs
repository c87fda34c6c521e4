//! Books that lose lines and gain some: `tabia prune`, `add`, `repertoire` and
//! `grow`.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod add;
#[path = "../common/mod.rs"]
mod common;
#[cfg(unix)]
mod grow;
mod prune;
mod repertoire;
