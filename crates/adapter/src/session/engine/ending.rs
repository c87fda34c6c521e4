//! The end of a search that nobody waits for.
//!
//! | stage | event | afterwards | written |
//! |---|---|---|---|
//! | stopping | its time | stopping | `stop` |
//! | stopping | `bestmove` | fenced | `isready` |
//! | stopping, doubtful | an answer that cannot be meant | doubtful | - |
//! | doubtful | its time | fenced | `stop`, `isready` |
//! | fenced | `readyok` | over | - |
//!
//! All output before the `readyok`, also a second `bestmove`, belongs to the ended search.

use std::time::Duration;

use super::PAUSE;
use crate::session::out::Out;

/// Shortest time until a `stop` is repeated; it grows each time.
const REPEAT: Duration = Duration::from_millis(200);

/// The end of a search.
#[derive(Debug)]
pub(super) struct Ending {
    /// When the `go` of the search was sent.
    went: Duration,
    /// Since when the search has to end.
    since: Duration,
    stage: Stage,
}

/// How far the end of a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The next `stop` is sent at this time; one has been `sent` already, or not.
    Stopping { next: Duration, sent: bool },
    /// The search may have ended: after the `stop` of this time it counts as ended.
    Doubtful { next: Duration },
    /// The search has ended; the engine has still to send `readyok`.
    Fenced,
}

/// When a search whose `go` was sent then may be stopped.
fn first_stop(now: Duration, went: Duration) -> Duration {
    went.saturating_add(PAUSE).max(now)
}

impl Ending {
    /// A search has to end.
    pub(super) fn new(now: Duration, went: Duration) -> Ending {
        Ending {
            went,
            since: now,
            stage: Stage::Stopping {
                next: first_stop(now, went),
                sent: false,
            },
        }
    }

    /// The answer cannot be meant for this search: the engine may still search.
    pub(super) fn doubt(&mut self, now: Duration) {
        if self.stage != Stage::Fenced {
            let next = first_stop(now, self.went);
            self.stage = Stage::Doubtful { next };
        }
    }

    /// When the next `stop` is due.
    pub(super) const fn stop_due(&self) -> Option<Duration> {
        match self.stage {
            Stage::Stopping { next, .. } | Stage::Doubtful { next } => Some(next),
            Stage::Fenced => None,
        }
    }

    /// Sends the `stop` that is due; true if the search counts as ended then.
    pub(super) fn due_stop(&mut self, now: Duration, out: &mut Out<'_>) -> bool {
        if self.stop_due().is_none_or(|due| due > now) {
            return false;
        }
        out.engine(b"stop");
        if let Stage::Stopping { next, sent } = &mut self.stage {
            let pause = now.saturating_sub(self.since).max(REPEAT);
            *next = now.saturating_add(pause);
            *sent = true;
        }
        matches!(self.stage, Stage::Doubtful { .. })
    }

    /// Handles `bestmove`; true if the search has ended. A second one is of the same search.
    pub(super) const fn is_answered(&self) -> bool {
        matches!(self.stage, Stage::Stopping { .. })
    }

    /// `isready` is sent: what comes before its answer is hidden.
    pub(super) const fn fence(&mut self) {
        self.stage = Stage::Fenced;
    }

    pub(super) const fn is_fenced(&self) -> bool {
        matches!(self.stage, Stage::Fenced)
    }

    /// How late the first `stop` is.
    pub(super) fn first_stop_late(&self, now: Duration) -> Option<Duration> {
        match self.stage {
            Stage::Stopping { next, sent: false } | Stage::Doubtful { next } => {
                now.checked_sub(next)
            }
            Stage::Stopping { sent: true, .. } | Stage::Fenced => None,
        }
    }

    /// Since when the search has to end.
    pub(super) const fn since(&self) -> Duration {
        self.since
    }

    /// Adds a time in which the engine's output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        self.since = self.since.saturating_add(time);
    }
}
