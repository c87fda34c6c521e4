//! The books of the command line, each kept open and taken anew when its file
//! has changed.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use shakmaty::{Chess, Color, Move};

use super::edit::{BookMarker, Desk};
use crate::book::{Error, Probe, Stats};
use crate::consult::{Consulted, consult_knowing};
use crate::notation::Line;
use crate::policy::LineMemory;
use crate::settings::Settings;

/// A book that is open.
pub type Open = Arc<dyn Probe + Send + Sync>;

/// Opens the book (again). The error is one sentence that names the file.
pub type Reopen = Box<dyn Fn() -> Result<Open, String> + Send + Sync>;

/// What has been found out about one content of a book.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) lines: LineMemory,
    pub(super) likeliest: Mutex<Likeliest>,
}

/// The likeliest moves of positions, by the number of the move and the
/// options.
type Likeliest = HashMap<(Chess, u32, u64), Option<(Move, Stats)>>;

/// A book that can be looked at.
pub struct ExploredBook {
    name: String,
    notices: Vec<String>,
    open: RwLock<(Open, Arc<Notes>)>,
    reopen: Reopen,
    desk: Option<Desk>,
    /// How often it has been opened anew.
    renewals: AtomicU64,
}

impl fmt::Debug for ExploredBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExploredBook")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl ExploredBook {
    /// Of a book that is `open` now and can be opened again. `name` is shown
    /// to people; `notices` say what is odd about it; without an `editor` it
    /// cannot be changed.
    #[must_use]
    pub fn new(
        name: String,
        notices: Vec<String>,
        open: Open,
        reopen: Reopen,
        editor: Option<Box<dyn BookMarker>>,
    ) -> ExploredBook {
        ExploredBook {
            name,
            notices,
            open: RwLock::new((open, Arc::default())),
            reopen,
            desk: editor.map(Desk::new),
            renewals: AtomicU64::new(0),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn notices(&self) -> &[String] {
        &self.notices
    }

    pub(super) fn desk(&self) -> Option<&Desk> {
        self.desk.as_ref()
    }

    /// The book as it is on disk now. A file that cannot be opened any more,
    /// or not yet, leaves the one that is open.
    pub(super) fn current(&self) -> Open {
        self.noted().0
    }

    /// The same with what has been found out about it.
    pub(super) fn noted(&self) -> (Open, Arc<Notes>) {
        let known = || {
            let known = self.open.read().unwrap_or_else(PoisonError::into_inner);
            (Arc::clone(&known.0), Arc::clone(&known.1))
        };
        let (open, notes) = known();
        if open.is_current() || self.renew().is_err() {
            return (open, notes);
        }
        known()
    }

    /// Which content of the file answers now: another one after each change.
    pub(super) fn generation(&self) -> u64 {
        let _ = self.current();
        self.renewals.load(Ordering::Acquire)
    }

    /// Opens the book anew.
    pub(super) fn renew(&self) -> Result<Open, String> {
        let open = (self.reopen)()?;
        *self.open.write().unwrap_or_else(PoisonError::into_inner) =
            (Arc::clone(&open), Arc::default());
        self.renewals.fetch_add(1, Ordering::Release);
        Ok(open)
    }
}

/// Wins of White and of Black, from those of the side `own`.
pub(super) const fn by_colour(stats: &Stats, own: Color) -> (u32, u32) {
    coloured(own, stats.wins, stats.losses)
}

pub(super) const fn coloured(own: Color, wins: u32, losses: u32) -> (u32, u32) {
    match own {
        Color::White => (wins, losses),
        Color::Black => (losses, wins),
    }
}

/// Asks a book about the last position of a line, as the adapter would in a
/// game of this line.
pub(super) fn look_up(
    (book, notes): &(Open, Arc<Notes>),
    walked: &Line,
    settings: &Settings,
) -> Result<Consulted, Error> {
    let (position, before) = (walked.last(), walked.before());
    consult_knowing(book.as_ref(), &notes.lines, position, before, settings)
}
