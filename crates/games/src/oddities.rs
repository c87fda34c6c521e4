//! What is odd about a database, and counted rather than refused.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How often something was met, in whatever thread, and what is said of it
/// behind the number.
#[derive(Debug)]
pub(super) struct Oddity {
    count: AtomicU64,
    what: &'static str,
}

impl Oddity {
    pub(super) const fn new(what: &'static str) -> Oddity {
        let count = AtomicU64::new(0);
        Oddity { count, what }
    }

    pub(super) fn add(&self, more: impl Into<u64>) {
        let more = more.into();
        // Nearly always nothing: not worth the threads' quarrel over a number.
        if more > 0 {
            self.count.fetch_add(more, Relaxed);
        }
    }

    /// Forgets what a trial has met.
    pub(super) fn clear(&self) {
        self.count.store(0, Relaxed);
    }

    /// In words about the source of this name; `None` if it was never met.
    pub(super) fn said(&self, name: &str) -> Option<String> {
        let count = self.count.load(Relaxed);
        (count > 0).then(|| format!("{name}: {count} {}", self.what))
    }
}
