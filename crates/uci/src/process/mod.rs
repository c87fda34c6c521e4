//! Engines as child processes.

mod analyst;
mod cancel;
pub mod check;
pub mod itself;
mod peer;
mod spawn;
mod thinking;

pub use analyst::{Analyst, AnalystError, Effort, Question};
pub use cancel::Cancellation;
pub use spawn::{EngineCommand, EngineProcess, SpawnError, Spawned, is_on_path, search_path};
pub use thinking::{SearchUpdate, Variation};
