//! The session between GUI, engine and books.
//!
//! [`Session::step`] is the whole adapter as a pure state machine: an event goes in,
//! lines and requests come out. There is no process, file, thread or clock here; the time
//! is part of the event, the books are a parameter, and actions outside (start an engine,
//! open books, set an alarm, end) are returned as a [`Request`].
//!
//! # What answers a `go`
//!
//! The book, if all of this is true: `OwnBook` is on; the game could be read and all its
//! moves are legal; the `go` is neither `infinite` (a bare `go` counts as that) nor
//! `mate`, `perft` or with an unknown word; the engine is not set to analyse
//! (`UCI_AnalyseMode`, `MultiPV` above 1); the move is among `searchmoves` if there are
//! any; and a book has a move that the policy allows; with `Book Clock Only` a clock is
//! needed too. Any other `go` is passed to the engine unchanged, but for the moves that
//! `Book Forbid` keeps from it by `searchmoves`, and for castling in the notation that is
//! not in force (see `game`).
//!
//! # One fact, one state
//!
//! What the GUI waits for is one value, the `Turn`:
//!
//! * *idle*: no answer;
//! * *held*: an answer that may not be sent yet, perhaps with a look of the engine under way (a
//!   check of the book move, or warming up);
//! * *searching*: the search for the answer, which is unsent (no engine is up), behind a search
//!   that has to end, or begun.
//!
//! The link to the engine is the other one: *down*, *starting*, *up*, and *up with a search to
//! end*. It knows nothing of answers. Lines that have to wait for the engine stand where they
//! wait: in the link for its start or the end of a search, in the search for its beginning.
//! Lines of the GUI that cannot be interpreted yet stand in a queue before all that.
//!
//! So a `go` waits behind an ending search exactly if the turn says so, and whoever loses,
//! replaces or answers a search changes one value.
//!
//! # Parts
//!
//! | part | owns |
//! |---|---|
//! | `game` | the position, its moves and repetitions; what is known of the game |
//! | `turn` | what the GUI waits for, and the search for it |
//! | `verify` | the check of a book move |
//! | `engine` | the link to the engine, its options, `isready`s, restarts, and what is left of a lost one |
//! | `books` | settings in force, opening books, seed, played lines, the choice of a move |
//! | `observers` | the record of the game, and the notes from which books learn |
//! | `queue`, `backlog` | lines of the GUI, and lines for the engine, that wait |
//! | `out` | what is sent, and how far the session is with the GUI |
//!
//! Each part has the table of its states in its module. It gets an event, changes its state
//! and writes to an `Out`: nothing is carried out later. All may read the game; the turn
//! uses the engine, and the other parts do not know each other. `step` passes events on: it is
//! the only module that knows what one part has to do with another.
//!
//! # Engines that are lost
//!
//! An engine that dies is started again, and one that has used up its clock is killed and
//! counts as dead ([`Session::deadline`]). If restarting fails, the program ends with
//! exit code 2, unless the built-in engine may replace the lost one. If no engine of
//! engines.toml starts at all, the built-in engine plays where the books have no move.
//!
//! The output depends only on the events, their times, the books and the seed, so that a
//! recorded session can be replayed.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod backlog;
mod books;
mod engine;
mod event;
mod game;
mod observers;
mod out;
mod queue;
mod step;
mod turn;
mod verify;

use std::sync::Arc;
use std::time::Duration;

pub use crate::record::{GameRecord, RecordKind};
pub use engine::ANALYSE_MODE;
pub use event::{Engines, Event, IfNoneStarts, Output, Profile, Request, START_TIMEOUT, Side};
pub use observers::Note;

use out::{Contact, Out};
use step::{Moment, Parts};
use tabia_book::policy::ChooseMove;
use tabia_choice::book_set::BookSet;
use tabia_choice::settings::Settings;

/// The option by which the GUI has set the engine to analyse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Analysis {
    /// `MultiPV` is above 1.
    MultiPv,
    /// `UCI_AnalyseMode`
    Mode,
}

/// The adapter's state: see the [module](self).
#[derive(Debug)]
pub struct Session {
    contact: Contact,
    parts: Parts,
}

impl Session {
    /// A session that has not started. `entropy` seeds the choice of moves while `Book
    /// Seed` is 0.
    #[must_use]
    pub fn new(engines: Engines, entropy: u64) -> Session {
        Session {
            contact: Contact::default(),
            parts: Parts::new(engines, entropy),
        }
    }

    /// Lets a policy of your own decide between the moves of the books: within the options
    /// (`Book Depth`, `searchmoves` and so on), and for the moves of Tabia only, not for the
    /// replies that it expects (`Book Ponder`).
    #[must_use]
    pub fn with_policy(mut self, policy: impl ChooseMove + Send + Sync + 'static) -> Session {
        self.parts.books.choose_by(Arc::new(policy));
        self
    }

    /// Starts the session: requests the first engine.
    pub fn start(&mut self, out: &mut dyn Output) {
        self.parts.start(&mut Out::new(out, &mut self.contact));
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.parts.books.settings()
    }

    /// The reason why the session has ended, if the end is not ordinary.
    #[must_use]
    pub fn end_reason(&self) -> Option<&str> {
        self.contact.end_reason()
    }

    /// Number of bytes of waiting lines: if it is too large, no more should be read.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.parts.backlog()
    }

    /// Looks the present position up before the `go`, including the reply to the move
    /// that would be drawn. Call this when all lines have been sent and nothing waits.
    /// Sends nothing, and does not change what will be sent.
    pub fn look_ahead(&mut self, book_set: &BookSet) {
        self.parts.look_ahead(book_set);
    }

    /// Handles an event. `now` is the time since any fixed moment; it never decreases.
    pub fn step(
        &mut self,
        now: Duration,
        event: Event<'_>,
        book_set: &BookSet,
        out: &mut dyn Output,
    ) {
        if !self.contact.has_ended() {
            let out = Out::new(out, &mut self.contact);
            let at = &mut Moment { now, book_set, out };
            self.parts.step(event, at);
        }
    }

    /// When something must be done unless an awaited event comes first; `None` if nothing
    /// is awaited. Same clock as the `now` of [`Session::step`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        match self.contact.is_leaving() {
            // Everything else ends with the alarm that is set.
            true => self.parts.stop_due(),
            false => self.parts.deadline(),
        }
    }
}

#[cfg(test)]
mod tests;
