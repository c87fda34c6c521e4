//! Opening books, which happens outside the session and may take long.

use std::time::Duration;

/// How long lines of the GUI wait for books that are being opened. A file on
/// a server that does not answer may block for ever.
pub(super) const OPEN_LIMIT: Duration = Duration::from_secs(2);

/// The state of the open books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenState {
    /// The open books may not be the ones that the settings name: at first, after a change
    /// of settings, and at a new game, because files may have changed. `opening`: books are
    /// being opened.
    Stale { opening: bool },
    /// The books are being opened, and lines of the GUI wait until then.
    Awaited { until: Duration },
    /// The books are being opened, and nobody waits any more.
    Late,
    /// The open books are the ones that the settings name.
    Open,
}

impl OpenState {
    /// The first books have still to be opened.
    pub(super) const EMPTY: OpenState = OpenState::Stale { opening: false };

    /// Books are being opened.
    pub(super) const fn is_opening(self) -> bool {
        matches!(
            self,
            OpenState::Stale { opening: true } | OpenState::Awaited { .. } | OpenState::Late
        )
    }

    /// Until when lines of the GUI wait.
    pub(super) const fn until(self) -> Option<Duration> {
        match self {
            OpenState::Awaited { until } => Some(until),
            OpenState::Stale { .. } | OpenState::Late | OpenState::Open => None,
        }
    }

    /// The books are needed: true if they have to be opened, which lines wait for.
    pub(super) fn need(&mut self, now: Duration) -> bool {
        let must_open = matches!(self, OpenState::Stale { .. });
        if must_open {
            let until = now.saturating_add(OPEN_LIMIT);
            *self = OpenState::Awaited { until };
        }
        must_open
    }

    /// The settings name other books, or files may have changed.
    pub(super) fn spoil(&mut self) {
        debug_assert!(self.until().is_none(), "a line was handled meanwhile");
        let opening = self.is_opening();
        *self = OpenState::Stale { opening };
    }

    /// The books that were requested last are open.
    pub(super) fn opened(&mut self) {
        *self = match self {
            OpenState::Stale { .. } => OpenState::EMPTY,
            OpenState::Awaited { .. } | OpenState::Late | OpenState::Open => OpenState::Open,
        };
    }

    /// Nobody waits for them any more.
    pub(super) fn give_up(&mut self) {
        debug_assert!(self.until().is_some(), "nobody waits");
        *self = OpenState::Late;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(7);
    const AWAITED: OpenState = OpenState::Awaited {
        until: Duration::from_secs(9),
    };
    const OPENING: OpenState = OpenState::Stale { opening: true };

    /// A row of the table in the module of the books.
    fn after(mut open_state: OpenState, event: impl FnOnce(&mut OpenState)) -> OpenState {
        event(&mut open_state);
        open_state
    }

    #[test]
    fn books_are_opened_when_they_are_needed_and_may_have_changed() {
        for (before, then, asks) in [
            (OpenState::EMPTY, AWAITED, true),
            (OPENING, AWAITED, true),
            (OpenState::Late, OpenState::Late, false),
            (OpenState::Open, OpenState::Open, false),
        ] {
            let mut open_state = before;
            assert_eq!(open_state.need(NOW), asks, "{before:?}");
            assert_eq!(open_state, then, "{before:?}");
        }
    }

    #[test]
    fn open_books_are_the_ones_that_were_asked_for_last() {
        for (before, then) in [
            (AWAITED, OpenState::Open),
            (OpenState::Late, OpenState::Open),
            (OPENING, OpenState::EMPTY),
        ] {
            assert_eq!(after(before, OpenState::opened), then, "{before:?}");
        }
    }

    #[test]
    fn after_a_change_they_are_opened_again() {
        for (before, then) in [
            (OpenState::Open, OpenState::EMPTY),
            (OpenState::Late, OPENING),
            (OPENING, OPENING),
            (OpenState::EMPTY, OpenState::EMPTY),
        ] {
            assert_eq!(after(before, OpenState::spoil), then, "{before:?}");
        }
        assert_eq!(after(AWAITED, OpenState::give_up), OpenState::Late);
    }
}
