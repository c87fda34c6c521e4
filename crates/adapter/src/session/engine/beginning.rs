//! The beginning of a search for the GUI.
//!
//! Engines search in a thread of their own. A `stop` or `ponderhit` that comes before this
//! thread has begun is lost in some, and Ethereal 12.00 reads nothing more after a `stop`
//! that it has lost: so `stop` in one write with its `go` was in 20 of 20 trials, and one
//! that came 10 ms later in 1 of 20, on a busy machine; after the first line about the search
//! none was. So both wait for that line, or for a time in which every engine has begun. On a
//! busy machine that time is longer than a program should wait each time for an engine that
//! prints nothing: one that has shown that it prints gets more.

use std::time::Duration;

use super::super::out::Out;
use super::PAUSE;
use super::backlog::Backlog;
use tabia_uci::line;

/// How long an engine may take to begin if its line is worth waiting for. With 14 programs on
/// two processors Debian's Ethereal took longer than [`PAUSE`].
const PATIENT: Duration = Duration::from_millis(500);

/// What has been heard of a process about the beginning of its searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It has not shown yet that it prints a line when it begins.
    Nothing,
    /// The same, and it has not answered a search either. It has taken the place of one that
    /// was lost: if that has lost a `stop`, this one must not.
    NothingAfterLoss,
    /// It prints a line when it begins.
    Line,
}

impl Heard {
    /// How long a search may take to begin.
    const fn limit(self) -> Duration {
        match self {
            Heard::Nothing => PAUSE,
            Heard::NothingAfterLoss | Heard::Line => PATIENT,
        }
    }

    /// The first line of a search has come so long after its `go`.
    pub(super) fn after_line(self, time: Duration) -> Heard {
        if time <= PATIENT { Heard::Line } else { self }
    }

    /// It has answered a search.
    pub(super) const fn after_answer(self) -> Heard {
        match self {
            Heard::Nothing | Heard::NothingAfterLoss => Heard::Nothing,
            Heard::Line => Heard::Line,
        }
    }
}

/// Whether an engine has begun to search.
#[derive(Debug)]
pub(super) enum Beginning {
    /// Nothing has shown it yet: these lines wait for that, until this time at most.
    Awaited { until: Duration, held: Backlog },
    /// It has, or has had time enough.
    Over,
}

impl Beginning {
    /// The `go` is sent now, and these lines after it.
    pub(super) fn new(now: Duration, heard: Heard, held: Backlog) -> Beginning {
        Beginning::Awaited {
            until: now.saturating_add(heard.limit()),
            held,
        }
    }

    /// The lines that wait.
    pub(super) const fn held(&self) -> Option<&Backlog> {
        match self {
            Beginning::Awaited { held, .. } if !held.is_empty() => Some(held),
            Beginning::Awaited { .. } | Beginning::Over => None,
        }
    }

    /// The lines after which another one has to wait too.
    pub(super) const fn held_mut(&mut self) -> Option<&mut Backlog> {
        match self {
            Beginning::Awaited { held, .. } if !held.is_empty() => Some(held),
            Beginning::Awaited { .. } | Beginning::Over => None,
        }
    }

    /// When waiting lines have to be sent.
    pub(super) fn due(&self) -> Option<Duration> {
        match self {
            Beginning::Awaited { until, held } if !held.is_empty() => Some(*until),
            Beginning::Awaited { .. } | Beginning::Over => None,
        }
    }

    /// A `stop` or `ponderhit`: now, or when the search has begun.
    pub(super) fn tell(&mut self, now: Duration, word: &'static [u8], out: &mut Out<'_>) {
        match self {
            Beginning::Awaited { until, held } if now < *until || !held.is_empty() => {
                held.put_for_search(word);
            }
            Beginning::Awaited { .. } | Beginning::Over => out.engine(word),
        }
    }

    /// The search has begun, or has had time enough: the lines that have waited.
    pub(super) fn end(&mut self) -> Backlog {
        match std::mem::replace(self, Beginning::Over) {
            Beginning::Awaited { held, .. } => held,
            Beginning::Over => Backlog::default(),
        }
    }
}

/// Whether an `info` line shows that the engine searches: `info string` may come from the
/// thread that reads (Stockfish names its network there).
pub(super) fn shows_search(info: &[u8]) -> bool {
    line::words(info)
        .nth(1)
        .is_some_and(|word| word != b"string")
}
