//! Opening books, which happens outside the session and may take long.

use std::time::Duration;

/// How long lines of the GUI wait for books that are being opened. A file on
/// a server that does not answer may block for ever.
pub(super) const OPEN_LIMIT: Duration = Duration::from_secs(2);

/// The state of the open books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shelf {
    /// They may not be those that the settings name: at first, after a change of
    /// settings, and at a new game, because files may have changed. `opening`: others are
    /// being opened.
    Stale { opening: bool },
    /// They are being opened, and lines of the GUI wait until then.
    Awaited { until: Duration },
    /// They are being opened, and nobody waits any more.
    Late,
    /// They are those that the settings name.
    Open,
}

impl Shelf {
    /// The first books have still to be opened.
    pub(super) const EMPTY: Shelf = Shelf::Stale { opening: false };

    /// Books are being opened.
    pub(super) const fn is_opening(self) -> bool {
        matches!(
            self,
            Shelf::Stale { opening: true } | Shelf::Awaited { .. } | Shelf::Late
        )
    }

    /// Until when lines of the GUI wait.
    pub(super) const fn until(self) -> Option<Duration> {
        match self {
            Shelf::Awaited { until } => Some(until),
            Shelf::Stale { .. } | Shelf::Late | Shelf::Open => None,
        }
    }

    /// The books are needed: true if they have to be opened, which lines wait for.
    pub(super) fn need(&mut self, now: Duration) -> bool {
        let must_open = matches!(self, Shelf::Stale { .. });
        if must_open {
            let until = now.saturating_add(OPEN_LIMIT);
            *self = Shelf::Awaited { until };
        }
        must_open
    }

    /// The settings name other books, or files may have changed.
    pub(super) fn spoil(&mut self) {
        debug_assert!(self.until().is_none(), "a line was handled meanwhile");
        let opening = self.is_opening();
        *self = Shelf::Stale { opening };
    }

    /// The books are open: those that were requested last.
    pub(super) fn opened(&mut self) {
        *self = match self {
            Shelf::Stale { .. } => Shelf::EMPTY,
            Shelf::Awaited { .. } | Shelf::Late | Shelf::Open => Shelf::Open,
        };
    }

    /// Nobody waits for them any more.
    pub(super) fn give_up(&mut self) {
        debug_assert!(self.until().is_some(), "nobody waits");
        *self = Shelf::Late;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(7);
    const AWAITED: Shelf = Shelf::Awaited {
        until: Duration::from_secs(9),
    };
    const OPENING: Shelf = Shelf::Stale { opening: true };

    /// A row of the table in the module of the books.
    fn after(mut shelf: Shelf, event: impl FnOnce(&mut Shelf)) -> Shelf {
        event(&mut shelf);
        shelf
    }

    #[test]
    fn books_are_opened_when_they_are_needed_and_may_have_changed() {
        for (before, then, asks) in [
            (Shelf::EMPTY, AWAITED, true),
            (OPENING, AWAITED, true),
            (Shelf::Late, Shelf::Late, false),
            (Shelf::Open, Shelf::Open, false),
        ] {
            let mut shelf = before;
            assert_eq!(shelf.need(NOW), asks, "{before:?}");
            assert_eq!(shelf, then, "{before:?}");
        }
    }

    #[test]
    fn open_books_are_the_ones_that_were_asked_for_last() {
        for (before, then) in [
            (AWAITED, Shelf::Open),
            (Shelf::Late, Shelf::Open),
            (OPENING, Shelf::EMPTY),
        ] {
            assert_eq!(after(before, Shelf::opened), then, "{before:?}");
        }
    }

    #[test]
    fn after_a_change_they_are_opened_again() {
        for (before, then) in [
            (Shelf::Open, Shelf::EMPTY),
            (Shelf::Late, OPENING),
            (OPENING, OPENING),
            (Shelf::EMPTY, Shelf::EMPTY),
        ] {
            assert_eq!(after(before, Shelf::spoil), then, "{before:?}");
        }
        assert_eq!(after(AWAITED, Shelf::give_up), Shelf::Late);
    }
}
