//! Which moves of a book go.
//!
//! The conditions are as far as they can be those of [`crate::build`] and
//! [`crate::mark`]. A move that meets any of them goes, and then whatever can
//! be reached no more: see [`ctg::prune`].

use std::path::Path;

use shakmaty::Color;

use crate::book::ctg::{
    self, CanonicalBoard, EditError, Fate, Key, Pruned, RewriteOptions, Visit, VisitedMove,
};
use crate::book::{Book, Lookup, OpenOptions, Probe as _, Wanted};
#[cfg(feature = "evaluations")]
use crate::evals::EvalKey;
use crate::mark::{Filter, Subject, subjects};
use crate::notation::{self, Line};
use crate::watch::Watch;

/// Which moves go. A move goes if one of these says so.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Those that meet this.
    pub filter: Option<Filter>,
    /// The last move of each.
    pub lines: Vec<Line>,
    /// Those beyond so many plies from the start position.
    pub max_ply: Option<u32>,
    /// Those of fewer games.
    pub min_games: Option<u32>,
    /// Those that lose too much, by the positions before and after them.
    #[cfg(feature = "evaluations")]
    pub losing: Option<std::collections::HashSet<(EvalKey, EvalKey), rustc_hash::FxBuildHasher>>,
    /// Those of the other side, which the lines still go on with.
    pub only: Option<Color>,
}

/// A book that was not pruned. No file was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PruneError {
    /// A line is not in the book.
    #[error("{0} is not in the book; nothing was written")]
    NotInBook(String),
    /// There is no line.
    #[error(
        "the book does not hold the start position, which pruning begins from; nothing was written"
    )]
    NoStart,
    /// The book cannot be read, or the new one not be written.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] crate::book::Error),
}

/// Writes a book without the moves that meet a condition.
///
/// # Errors
///
/// A line is not in the book, or as for [`ctg::prune`].
pub fn prune(
    source: &Path,
    target: &Path,
    conditions: &Conditions,
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
) -> Result<Pruned, PruneError> {
    let book = Book::open(source, &OpenOptions { mmap: false })?;
    if !book.contains(&shakmaty::Chess::default())? {
        return Err(PruneError::NoStart);
    }
    let goals = conditions
        .lines
        .iter()
        .map(|line| Goal::of(line, &book))
        .collect::<Result<Vec<_>, _>>()?;
    drop(book);
    let mut judge = |visit: &Visit<'_>, fates: &mut Vec<Fate>| {
        fates.extend(subjects(visit).map(|(mv, subject)| {
            let of_a_line = || goals.iter().any(|goal| goal.is(visit, mv));
            if conditions.admit(&subject) || conditions.loses(visit, mv) || of_a_line() {
                Fate::Out
            } else if conditions.unlist(visit) {
                Fate::Unlisted
            } else {
                Fate::Kept
            }
        }));
    };
    Ok(ctg::prune(source, target, options, watch, &mut judge)?)
}

impl Conditions {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "evaluations")]
        if self.losing.is_some() {
            return false;
        }
        self.filter.is_none()
            && self.lines.is_empty()
            && self.max_ply.is_none()
            && self.min_games.is_none()
            && self.only.is_none()
    }

    #[cfg(feature = "evaluations")]
    fn loses(&self, visit: &Visit<'_>, mv: &VisitedMove) -> bool {
        let (Some(losing), Some(after)) = (&self.losing, mv.after) else {
            return false;
        };
        let key = |key: &Key| EvalKey::of_board(key);
        losing.contains(&(key(&visit.entry.key), key(&after.key)))
    }

    #[cfg(not(feature = "evaluations"))]
    fn loses(&self, _: &Visit<'_>, _: &VisitedMove) -> bool {
        false
    }

    fn admit(&self, subject: &Subject) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| filter.admits(subject))
            || self.max_ply.is_some_and(|most| subject.ply > Some(most))
            || self
                .min_games
                .is_some_and(|least| subject.stats.games < least)
    }

    fn unlist(&self, visit: &Visit<'_>) -> bool {
        // After an even number of plies White is to move.
        let white = visit.ply.is_none_or(|ply| ply % 2 == 0);
        self.only.is_some_and(|only| only.is_white() != white)
    }
}

/// A move by the positions before and after it.
struct Goal {
    before: Key,
    after: Key,
}

impl Goal {
    fn of(line: &Line, book: &Book) -> Result<Goal, PruneError> {
        let mut found = Lookup::default();
        for (position, mv) in line.moves() {
            book.probe(position, Wanted::Stored, &mut found)?;
            if found.moves.iter().all(|known| known.mv != mv) {
                let name = notation::number(position) + &notation::san(position, mv);
                return Err(PruneError::NotInBook(name));
            }
        }
        let last = line.moves().next_back();
        let key = |position| CanonicalBoard::from_position(position).map(|board| board.key());
        let goal = last.and_then(|(before, _)| {
            Some(Goal {
                before: key(before)?,
                after: key(line.last())?,
            })
        });
        goal.ok_or_else(|| PruneError::NotInBook("a line without moves".to_owned()))
    }

    fn is(&self, visit: &Visit<'_>, mv: &VisitedMove) -> bool {
        visit.entry.key == self.before && mv.after.is_some_and(|child| child.key == self.after)
    }
}
