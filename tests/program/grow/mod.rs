//! Books that lose lines and gain some: `tabia prune`, `add`, `repertoire` and
//! `grow`.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod add;
#[cfg(unix)]
mod growing;
mod prune;
mod repertoire;
