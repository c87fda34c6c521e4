//! The real engine as a child process.

mod analyst;
pub mod check;
mod leash;
mod peer;
mod spawn;
mod thinking;

pub use analyst::{Analyst, AnalystError, Effort, Question};
pub use leash::Leash;
pub use spawn::{EngineCommand, EngineProcess, SpawnError, Spawned, is_on_path, search_path};
pub use thinking::{Thought, Variation};
