//! Chooses the moves to remove from a book.
//!
//! The conditions are the same as those of [`tabia_build`] and [`tabia_book::mark`] where
//! possible. A move that meets any of them is removed, and then everything that can no
//! longer be reached: see [`ctg::prune`]. Afterwards an adapter with the usual [`Policy`]
//! plays none of these moves in any position of the book.

use std::path::Path;

use shakmaty::Color;

use crate::Error;

use tabia_book::ctg::{
    self, CanonicalBoard, CtgBook, Fate, Key, PruneRules, Pruned, Rare, RewriteOptions, Visit,
    VisitedMove,
};
use tabia_book::evals::EvalKey;
use tabia_book::mark::{Filter, Subject, subjects};
use tabia_book::policy::{self, Policy};
use tabia_book::{Annotation, Book, BookMove, Lookup, OpenOptions, PositionRecord, Probe, Wanted};
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line};

/// The conditions. A move is removed if it meets one of them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Conditions {
    /// Moves that meet this filter.
    pub filter: Option<Filter>,
    /// The last move of each line.
    pub lines: Vec<Line>,
    /// Moves more than this many plies from the start position.
    pub max_ply: Option<u32>,
    /// Positions of fewer games, whether lines reach them or not, and the moves into them.
    pub min_games: Option<u32>,
    /// Moves that lose too much, by the positions before and after them, with their
    /// annotations.
    pub losing: Option<
        std::collections::HashMap<(EvalKey, EvalKey), Annotation, rustc_hash::FxBuildHasher>,
    >,
    /// Moves of the other side, along which the lines still go on. The new book plays for
    /// this side only.
    pub only: Option<Color>,
    /// Whether a removed move is never listed, even if other moves lead to the position
    /// after it, and then is a transposition. Otherwise it stays with a warning
    /// annotation.
    pub unlisted: bool,
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
) -> Result<Pruned, Error> {
    let book = Book::open(source, &OpenOptions::default().mmap(false))?;
    let goals = conditions.goals(&book)?;
    let side = book.as_ctg().and_then(CtgBook::only);
    if let (Some(side), Some(only)) = (side, conditions.only)
        && side != only
    {
        let text =
            format!("the book is for {side} only: no move would be left; nothing was written");
        return Err(Error::NotInBook(text));
    }
    drop(book);
    let options = &options.only(conditions.only.or(options.only));
    let mut fates = |visit: &Visit<'_>, fates: &mut Vec<Fate>| {
        conditions.decide(&goals, visit, fates);
    };
    let warning = |visit: &Visit<'_>, entry: &VisitedMove| match entry.annotation.is_doubtful() {
        true => entry.annotation,
        false => conditions
            .loses(visit, entry)
            .unwrap_or(Annotation::DUBIOUS),
    };
    let is_played = |moves: &[BookMove], played: &mut Vec<bool>| {
        let mut verdicts = Vec::new();
        policy::weigh(moves, &Policy::default(), |_| None, &mut verdicts);
        played.extend(verdicts.iter().map(|verdict| verdict.probability > 0.0));
    };
    let is_rare = |record: &PositionRecord| conditions.is_rare(record);
    let rare = Rare::new(&is_rare, conditions.max_ply);
    let rare = conditions.min_games.is_some().then_some(&rare);
    let rules = PruneRules::new(&mut fates, &warning, &is_played).rare(rare);
    Ok(ctg::prune(source, target, options, watch, rules)?)
}

/// The number of positions that [`prune`] would remove from a book. Nothing is written.
///
/// # Errors
///
/// As for [`prune`].
pub fn count(book: &CtgBook, conditions: &Conditions, watch: &mut Watch<'_>) -> Result<u64, Error> {
    let goals = conditions.goals(book)?;
    let mut decide = |visit: &Visit<'_>, fates: &mut Vec<Fate>| {
        conditions.decide(&goals, visit, fates);
    };
    let is_rare = |record: &PositionRecord| conditions.is_rare(record);
    let rare = Rare::new(&is_rare, conditions.max_ply);
    let rare = conditions.min_games.is_some().then_some(&rare);
    let warning = |_: &Visit<'_>, _: &VisitedMove| Annotation::DUBIOUS;
    let is_played = |_: &[BookMove], _: &mut Vec<bool>| ();
    let mut rules = PruneRules::new(&mut decide, &warning, &is_played).rare(rare);
    Ok(ctg::count_pruned(book, watch, &mut rules)?)
}

impl Conditions {
    /// Whether there are no conditions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filter.is_none()
            && self.losing.is_none()
            && self.lines.is_empty()
            && self.max_ply.is_none()
            && self.min_games.is_none()
            && self.only.is_none()
    }

    /// The last moves of the lines; an error if the book does not have one.
    fn goals(&self, book: &impl Probe) -> Result<Vec<Goal>, Error> {
        if !book.contains(&shakmaty::Chess::default())? {
            let text = "the start position, from which pruning begins, is not in the book; \
                        nothing was written";
            return Err(Error::NotInBook(text.to_owned()));
        }
        self.lines
            .iter()
            .map(|line| Goal::new(line, book))
            .collect()
    }

    /// Decides on each move of a position.
    fn decide(&self, goals: &[Goal], visit: &Visit<'_>, fates: &mut Vec<Fate>) {
        let is_other = self.unlist(visit);
        fates.extend(subjects(visit).map(|(mv, subject)| {
            let of_a_line = || goals.iter().any(|goal| goal.is(visit, mv));
            let is_out = self.admit(&subject) || self.loses(visit, mv).is_some() || of_a_line();
            match (is_out, is_other) {
                (true, false) if !self.unlisted => Fate::Out,
                (true, _) => Fate::Gone,
                _ if self
                    .min_games
                    .is_some_and(|least| subject.stats.games < least) =>
                {
                    Fate::Rare
                }
                (false, true) => Fate::Unlisted,
                (false, false) => Fate::Kept,
            }
        }));
    }

    /// The annotation of a move that loses too much.
    fn loses(&self, visit: &Visit<'_>, entry: &VisitedMove) -> Option<Annotation> {
        let key = |key: &Key| EvalKey::from_board_key(key);
        let pair = (key(&visit.entry.key), key(&entry.after?.key));
        self.losing.as_ref()?.get(&pair).copied()
    }

    fn admit(&self, subject: &Subject) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| filter.admits(subject))
            || self.max_ply.is_some_and(|most| subject.ply > Some(most))
    }

    fn is_rare(&self, record: &PositionRecord) -> bool {
        let least = self.min_games;
        least.is_some_and(|least| record.stats.games < least)
    }

    fn unlist(&self, visit: &Visit<'_>) -> bool {
        // After an even number of plies White is to move.
        let white = visit.ply.is_none_or(|ply| ply % 2 == 0);
        self.only.is_some_and(|only| only.is_white() != white)
    }
}

/// The first move of a line that a book does not store, or not as it is `wanted`.
pub(crate) fn not_stored(
    book: &impl Probe,
    line: &Line,
    wanted: impl Fn(&BookMove) -> bool,
) -> Result<Option<String>, Error> {
    let mut found = Lookup::default();
    for (position, mv) in line.moves() {
        book.probe(position, Wanted::Stored, &mut found)?;
        let mut stored = found.moves.iter();
        if !stored.any(|known| known.mv == mv && wanted(known)) {
            let name = notation::number(position) + &notation::san(position, mv);
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// A move, by the positions before and after it.
struct Goal {
    before: Key,
    after: Key,
}

impl Goal {
    fn new(line: &Line, book: &impl Probe) -> Result<Goal, Error> {
        let missing =
            |what| Error::NotInBook(format!("{what} is not in the book; nothing was written"));
        if let Some(name) = not_stored(book, line, |_| true)? {
            return Err(missing(name));
        }
        let last = line.moves().next_back();
        let key = |position| CanonicalBoard::from_position(position).map(|board| board.key());
        let goal = last.and_then(|(before, _)| {
            Some(Goal {
                before: key(before)?,
                after: key(line.last())?,
            })
        });
        goal.ok_or_else(|| missing("a line without moves".to_owned()))
    }

    fn is(&self, visit: &Visit<'_>, entry: &VisitedMove) -> bool {
        visit.entry.key == self.before && entry.after.is_some_and(|child| child.key == self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_build::{BuildJob, Source};

    #[test]
    fn a_book_for_one_side_can_be_pruned_for_that_side() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(
            path("games.pgn"),
            "[Event \"?\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n",
        )
        .unwrap();
        let sources = vec![Source::new(path("games.pgn"))];
        let job = BuildJob::new(sources, path("white.ctg")).only(Some(Color::White));
        tabia_build::run(&job, &mut Watch::default()).unwrap();
        for only in Color::ALL {
            let conditions = Conditions {
                max_ply: Some(2),
                only: Some(only),
                ..Conditions::default()
            };
            let target = path(&format!("pruned-{only}.ctg"));
            let options = RewriteOptions::default();
            let watch = &mut Watch::default();
            let pruned = prune(&path("white.ctg"), &target, &conditions, &options, watch);
            assert_eq!(pruned.is_ok(), only == Color::White, "{pruned:?}");
        }
    }
}
