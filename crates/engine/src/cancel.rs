//! Cancellation of an engine for which another thread waits.

use std::sync::{Arc, Mutex, Weak};

use super::EngineProcess;

/// A handle to kill the engine of another thread. [`cancel`](Cancellation::cancel)
/// kills the current engine, and each engine that is registered later.
#[derive(Debug, Default)]
pub struct Cancellation(Mutex<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    cancelled: bool,
    engine: Weak<EngineProcess>,
}

impl Cancellation {
    /// Kills the engine. A thread that waits for it is notified that it ended.
    pub fn cancel(&self) {
        let mut held = tabia_io::parallel::lock(&self.0);
        held.cancelled = true;
        if let Some(engine) = held.engine.upgrade() {
            engine.kill();
        }
    }

    pub(super) fn hold(&self, engine: &Arc<EngineProcess>) {
        let mut held = tabia_io::parallel::lock(&self.0);
        held.engine = Arc::downgrade(engine);
        if held.cancelled {
            engine.kill();
        }
    }
}
