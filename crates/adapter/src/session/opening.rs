//! Opening books, which happens outside and may take its time.

use std::time::Duration;

use super::{Moment, Outlet, Request, Session};
use crate::book_set::BookSpec;

/// How long lines of the GUI wait for books that are being opened. A file on
/// a server that does not answer may block for ever.
const OPEN_LIMIT: Duration = Duration::from_secs(2);

/// What is known of the books outside.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// They are being opened.
    pub(super) opening: bool,
    /// Until when everything waits for that.
    pub(super) until: Option<Duration>,
    /// Those that are open are those that the settings name, as far as we
    /// know. Not so at first, when the settings change, and when a new game
    /// begins, for the files may have changed.
    pub(super) fresh: bool,
    /// The messages from when they were last opened.
    messages: Vec<String>,
}

impl Session {
    /// Has the books opened if those that are open may not be those wanted;
    /// true when the line at hand has to wait for that.
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

    fn wanted_books(&self) -> Vec<BookSpec> {
        let configured = self.profile().map_or(&[][..], |profile| &profile.books);
        BookSpec::wanted(&self.settings, configured)
    }

    /// The books are open as far as they can be.
    pub(super) fn on_books_opened(&mut self, messages: &[String], at: &mut Moment<'_>) {
        self.books.opening = false;
        self.books.until = None;
        self.chooser.settings_changed();
        self.chooser.forget_position();
        if self.books.messages != messages {
            self.books.messages = messages.to_vec();
            for message in messages {
                self.notice(message, at.out);
            }
        }
        self.go_on(at);
    }

    /// The books take too long: the game goes on without them.
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
