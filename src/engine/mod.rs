//! The real engine as a child process.

pub mod check;
mod spawn;

pub use spawn::{EngineCommand, EngineProcess, SpawnError, Spawned, is_on_path};
