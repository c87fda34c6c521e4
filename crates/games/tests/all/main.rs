//! Tests with damaged databases.

// In tests, a failed step is a failed test.
#![allow(clippy::unwrap_used)]

mod archives;
mod damage;
mod export;
mod reader;
