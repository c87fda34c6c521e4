//! Databases that are damaged.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod archives;
mod damage;
