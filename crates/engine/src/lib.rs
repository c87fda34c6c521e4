//! UCI engines as child processes that cannot outlive their parent: started, asked for
//! evaluations, and checked for what they do wrong.

#![warn(missing_docs)]

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
