//! A way to end an engine that another thread waits for.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::EngineProcess;

/// Holds an engine whose thread may be waiting for it. After a call of
/// [`cancel`](Cancellation::cancel) the engine that it holds is killed, and so is each
/// that it is given afterwards.
#[derive(Debug, Default)]
pub struct Cancellation(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    cancelled: bool,
    engine: Weak<EngineProcess>,
}

impl Cancellation {
    /// Kills the engine. A thread that waits for it is notified that it has ended.
    pub fn cancel(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.cancelled = true;
        if let Some(engine) = held.engine.upgrade() {
            engine.kill();
        }
    }

    pub(super) fn hold(&self, engine: &Arc<EngineProcess>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.engine = Arc::downgrade(engine);
        if held.cancelled {
            engine.kill();
        }
    }
}
