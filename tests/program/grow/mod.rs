//! Books that lose or gain lines: `tabia prune`, `add`, `repertoire` and `grow`.

// A failed step fails the test.
#![allow(clippy::unwrap_used)]

mod add;
#[cfg(unix)]
mod growing;
mod prune;
mod repertoire;
