//! Opening books, which happens outside the session and may take long.

use std::time::Duration;

use super::{Moment, Outlet, Request, Session};
use crate::book_set::BookSpec;

/// How long lines of the GUI wait for books that are being opened. A file on
/// a server that does not answer may block for ever.
const OPEN_LIMIT: Duration = Duration::from_secs(2);

/// The state of the open books.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// They are being opened.
    pub(super) opening: bool,
    /// Until when lines of the GUI wait for them.
    pub(super) until: Option<Duration>,
    /// The open books are those that the settings name. False at first, after a change of
    /// settings, and at a new game, because files may have changed.
    pub(super) fresh: bool,
    /// The messages when they were last opened.
    messages: Vec<String>,
}

impl Session {
    /// Requests the books if those that are open may be out of date; true if the current
    /// line has to wait for them.
    pub(super) fn open_books(&mut self, now: Duration, out: &mut dyn Outlet) -> bool {
        if std::mem::replace(&mut self.books.fresh, true) {
            return false;
        }
        self.books.opening = true;
        self.books.until = Some(now.saturating_add(OPEN_LIMIT));
        let books = self.wanted_books();
        out.request(Request::OpenBooks(books));
        true
    }

    pub(super) fn wanted_books(&self) -> Vec<BookSpec> {
        let configured = self.profile().map_or(&[][..], |profile| &profile.books);
        BookSpec::wanted(self.settings.options(), configured)
    }

    /// Handles the opened books.
    pub(super) fn on_books_opened(&mut self, messages: &[String], at: &mut Moment<'_>) {
        self.books.opening = false;
        self.books.until = None;
        self.chooser.forget_books();
        if self.books.messages != messages {
            self.books.messages = messages.to_vec();
            for message in messages {
                self.notice(message, at.out);
            }
        }
        self.go_on(at);
    }

    /// Continues without the books, because opening them takes too long.
    pub(super) fn on_books_late(&mut self, at: &mut Moment<'_>) {
        self.books.until = None;
        let text = format!(
            "the books are not open after {} s: without them until they are",
            OPEN_LIMIT.as_secs()
        );
        self.notice(&text, at.out);
        self.go_on(at);
    }
}
