//! Commands of the reader thread to a running search: stop, ponderhit, deadline.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::time::Budget;

/// No time limit.
const NEVER: u64 = u64::MAX;

/// Shared between the thread that reads commands and the one that searches;
/// one for each `go`.
pub(super) struct Control {
    started: Instant,
    stop: AtomicBool,
    finished: AtomicBool,
    /// No new iteration begins after this many milliseconds since `started`.
    soft_ms: AtomicU64,
    /// The search is aborted after this many milliseconds since `started`.
    hard_ms: AtomicU64,
    hold: Mutex<Hold>,
    changed: Condvar,
    budget: Option<Budget>,
}

/// Why a finished answer may not be sent yet.
#[derive(Clone, Copy)]
struct Hold {
    infinite: bool,
    ponder: bool,
}

impl Control {
    pub(super) fn new(budget: Option<Budget>, infinite: bool, ponder: bool) -> Self {
        let clock = budget.filter(|_| !infinite && !ponder);
        Self {
            started: Instant::now(),
            stop: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            soft_ms: AtomicU64::new(clock.map_or(NEVER, |b| b.soft_ms)),
            hard_ms: AtomicU64::new(clock.map_or(NEVER, |b| b.hard_ms)),
            hold: Mutex::new(Hold { infinite, ponder }),
            changed: Condvar::new(),
            budget: budget.filter(|_| !infinite),
        }
    }

    fn hold(&self) -> MutexGuard<'_, Hold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since the `go`.
    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(NEVER)
    }

    /// `stop`: end the search and answer.
    pub(super) fn stop(&self) {
        // With the lock: a waiter that has just checked would otherwise miss this.
        let _hold = self.hold();
        self.stop.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// `ponderhit`: starts the clock. Time spent pondering counts as thinking time, but
    /// the hard limit counts from now.
    pub(super) fn ponderhit(&self) {
        let mut hold = self.hold();
        if !hold.ponder {
            return;
        }
        hold.ponder = false;
        if let Some(budget) = self.budget {
            let now = self.elapsed_ms();
            let soft_from = if budget.fixed { now } else { 0 };
            self.soft_ms
                .store(soft_from.saturating_add(budget.soft_ms), Ordering::Release);
            self.hard_ms
                .store(now.saturating_add(budget.hard_ms), Ordering::Release);
        }
        self.changed.notify_all();
    }

    /// Whether the search has to be aborted.
    pub(super) fn must_end(&self) -> bool {
        self.stop.load(Ordering::Acquire) || {
            let hard = self.hard_ms.load(Ordering::Acquire);
            hard != NEVER && self.elapsed_ms() >= hard
        }
    }

    /// Whether no further iteration should begin.
    pub(super) fn should_end(&self) -> bool {
        let soft = self.soft_ms.load(Ordering::Acquire);
        self.must_end() || (soft != NEVER && self.elapsed_ms() >= soft)
    }

    /// Whether the clock runs, so that time should be saved.
    pub(super) fn on_the_clock(&self) -> bool {
        self.soft_ms.load(Ordering::Acquire) != NEVER
    }

    /// Blocks until the answer may be sent.
    pub(super) fn wait_for_release(&self) {
        let mut hold = self.hold();
        while (hold.infinite || hold.ponder) && !self.stop.load(Ordering::Acquire) {
            hold = self
                .changed
                .wait(hold)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }
}
