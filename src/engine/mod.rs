//! The real engine as a child process.

mod spawn;

pub use spawn::{EngineCommand, EngineProcess, SpawnError, Spawned};
