//! What is odd about a database, and counted rather than refused.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How often something was met, in all threads, and the text of the message after the
/// number.
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
        // Nearly always nothing: not worth a write to memory that all threads share.
        if more > 0 {
            self.count.fetch_add(more, Relaxed);
        }
    }

    /// Sets the count back, after games were only tried.
    pub(super) fn clear(&self) {
        self.count.store(0, Relaxed);
    }

    /// The message about the source of this name; `None` if it was never met.
    pub(super) fn report(&self, name: &str) -> Option<String> {
        let count = self.count.load(Relaxed);
        (count > 0).then(|| format!("{name}: {count} {}", self.what))
    }
}
