//! What people see: subcommands and their output.

pub mod check_engine;
