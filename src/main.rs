//! The `tabia` program.

fn main() {}
