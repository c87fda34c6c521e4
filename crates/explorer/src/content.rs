//! What a book contains: one version of it, with what was computed from it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use shakmaty::{Chess, Move};

use super::message::Message;
use tabia_book::policy::{LineMemory, WeighedMoves, choose_knowing};
use tabia_book::{Error, Probe, Stats};
use tabia_choice::settings::Options;
use tabia_notation::Line;

/// An open book.
pub type Open = Arc<dyn Probe + Send + Sync>;

/// Why a book cannot be opened: one sentence that names the file.
pub type OpenError = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no index of some games.
#[derive(Debug, thiserror::Error)]
#[error("{name}: no index: {reason}")]
pub struct NoIndex {
    name: String,
    pub(super) reason: OpenError,
}

impl NoIndex {
    /// The games have this name, for messages.
    #[must_use]
    pub fn new(name: &str, reason: impl Into<OpenError>) -> NoIndex {
        NoIndex {
            name: name.to_owned(),
            reason: reason.into(),
        }
    }
}

/// A version of a book, with cached data about it.
pub(super) type Content = (Open, Arc<BookCache>);

/// Cached data about one version of a book.
#[derive(Default)]
pub(super) struct BookCache {
    /// A message about it for the page.
    pub(super) notice: Option<Message>,
    pub(super) lines: LineMemory,
    pub(super) likeliest: Mutex<Likeliest>,
}

/// The likeliest moves of positions, by move number and options.
type Likeliest = HashMap<(Chess, u32, u64), Option<(Move, Stats)>>;

/// Looks the last position of a line up, as the adapter would in a game with this line.
pub(super) fn look_up(
    (book, cache): &Content,
    line: &Line,
    settings: &Options,
) -> Result<WeighedMoves, Error> {
    let (position, before) = (line.last(), line.before());
    choose_knowing(
        book.as_ref(),
        &cache.lines,
        position,
        before,
        &settings.rules(),
    )
}
