//! A way to end an engine that another thread waits for.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::EngineProcess;

/// Holds engines whose thread may be waiting for them: once it is
/// [`cut`](Leash::cut), the engine that it holds is killed, and so is each
/// that it is given afterwards.
#[derive(Debug, Default)]
pub struct Leash(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    cut: bool,
    engine: Weak<EngineProcess>,
}

impl Leash {
    /// Kills the engine. A thread that waits for it is notified that it has ended.
    pub fn cut(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.cut = true;
        if let Some(engine) = held.engine.upgrade() {
            engine.kill();
        }
    }

    pub(super) fn hold(&self, engine: &Arc<EngineProcess>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.engine = Arc::downgrade(engine);
        if held.cut {
            engine.kill();
        }
    }
}
