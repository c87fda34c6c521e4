//! Unusual properties of databases, which are counted, not refused.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter for all threads, and what it counts: words that are true of one and of many,
/// since the number stands after them.
#[derive(Debug)]
pub(super) struct CountedRemark {
    count: AtomicU64,
    what: &'static str,
}

impl CountedRemark {
    pub(super) const fn new(what: &'static str) -> CountedRemark {
        let count = AtomicU64::new(0);
        CountedRemark { count, what }
    }

    pub(super) fn add(&self, more: impl Into<u64>) {
        let more = more.into();
        // Usually 0: then do not write to memory that all threads share.
        if more > 0 {
            self.count.fetch_add(more, Relaxed);
        }
    }

    /// Resets the count after games were only tried.
    pub(super) fn clear(&self) {
        self.count.store(0, Relaxed);
    }

    /// The message for the source with this name; `None` if the count is 0.
    pub(super) fn report(&self, name: &str) -> Option<String> {
        let count = self.count.load(Relaxed);
        (count > 0).then(|| format!("{name}: {}: {count}", self.what))
    }
}
