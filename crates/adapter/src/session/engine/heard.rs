//! What has been heard of an engine about the beginning of its searches.

use std::time::Duration;

use super::PAUSE;

/// How long an engine may take to begin if its line is worth waiting for. With 14 programs on
/// two processors Debian's Ethereal took longer than [`PAUSE`].
const PATIENT: Duration = Duration::from_millis(500);

/// Whether the searches of an engine show when they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The engine has not shown yet that it prints a line when a search begins.
    Nothing,
    /// As `Nothing`, and the engine has not answered a search either. It has taken the place of
    /// an engine that was lost, perhaps because that one lost a `stop`: so its `stop` waits.
    NothingAfterLoss,
    /// The engine prints a line when a search begins.
    Line,
}

impl Heard {
    /// How long a search may take to begin.
    pub(super) const fn limit(self) -> Duration {
        match self {
            Heard::Nothing => PAUSE,
            Heard::NothingAfterLoss | Heard::Line => PATIENT,
        }
    }

    /// The first line of a search has come so long after its `go`.
    pub(super) fn after_line(self, time: Duration) -> Heard {
        if time <= PATIENT { Heard::Line } else { self }
    }

    /// The engine has answered a search.
    pub(super) const fn after_answer(self) -> Heard {
        match self {
            Heard::Nothing | Heard::NothingAfterLoss => Heard::Nothing,
            Heard::Line => Heard::Line,
        }
    }
}
