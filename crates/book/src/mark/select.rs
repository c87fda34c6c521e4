//! Marking many moves at once.

use shakmaty::Color;

use super::filter::{Filter, Subject};
use crate::ctg::{CtgBook, EntrySet, Pass, Visit, VisitedEntry, VisitedMove};
use crate::{Error, MarkChange, MarkEdit, PositionRecord};
use tabia_io::progress::Watch;

/// Which moves of a book get which marks.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// The marks.
    pub edit: MarkEdit,
    /// Only moves of this side, in lines from the start position.
    pub colour: Option<Color>,
    /// Only moves that meet this condition.
    pub filter: Option<Filter>,
}

tabia_io::setters!(Selection {
    edit: MarkEdit,
    colour: Option<Color>,
    filter: Option<Filter>,
});

impl Selection {
    /// The fastest pass that finds the selected moves.
    fn pass(&self) -> Pass {
        let tests_moves = self.filter.as_ref().is_some_and(Filter::tests_moves);
        let from_start = |filter: &Filter| filter.tests_ply() || filter.depends_on_side();
        let from_start = self.filter.as_ref().is_some_and(from_start);
        // With a filter, annotations also need the position after the move.
        let filtered_signs = self.filter.is_some() && self.edit.touches_moves();
        if self.colour.is_some() || from_start {
            Pass::FromStart {
                plies: self.filter.as_ref().and_then(Filter::most_plies),
            }
        } else if tests_moves || filtered_signs {
            Pass::Moves
        } else if self.edit.touches_moves() {
            Pass::Signs
        } else {
            Pass::Entries
        }
    }

    /// Whether marks of a whole book would have another meaning with Black to move: an
    /// advantage belongs to one side, and an entry is for both.
    #[must_use]
    pub fn is_one_sided(&self) -> bool {
        let MarkEdit { commentary, .. } = self.edit;
        commentary.is_some_and(|nag| (14..=19).contains(&nag))
    }

    fn admits(&self, subject: &Subject) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.admits(subject))
    }
}

/// Goes over a book and calls `found` with every change, once, and its offset in the
/// file; returns the number of chosen positions (or moves, if moves were visited). `lost`
/// is called with pages that cannot be read.
///
/// Without a colour and a condition that only a move can answer, every position is
/// visited, even if no stored move leads to it; otherwise every stored move.
///
/// # Errors
///
/// The book cannot be read, the work is cancelled, or `found` fails.
pub fn select(
    book: &CtgBook,
    selection: &Selection,
    watch: &mut Watch<'_>,
    lost: &mut dyn FnMut(Error),
    found: &mut dyn FnMut(&MarkChange, u64) -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut seen = 0;
    let mut marked = EntrySet::default();
    // The same entry may be visited with either side to move.
    let mut signs = std::collections::HashSet::new();
    let pass = selection.pass();
    let by_entry = matches!(pass, Pass::Entries | Pass::Signs);
    let wanted = |entry: &VisitedEntry| !by_entry || selection.admits(&subject(&entry.record));
    book.visit_some(pass, wanted, watch, lost, |visit| {
        if by_entry {
            seen += 1;
            // In the order of the file: the moves of an entry, then its statistics.
            let key = visit.entry.key;
            let moves = visit.moves.iter();
            let moves = moves.filter_map(|mv| mv.change(key, &selection.edit));
            return moves
                .chain(visit.entry.changes(&selection.edit))
                .try_for_each(|(change, at)| found(&change, at));
        }
        if let (Some(colour), Some(ply)) = (selection.colour, visit.ply)
            && (colour == Color::White) != (ply % 2 == 0)
        {
            return Ok(());
        }
        for (entry, subject) in subjects(visit) {
            let Some(after) = &entry.after else { continue };
            if !selection.admits(&subject) {
                continue;
            }
            seen += 1;
            if marked.insert(after.place) {
                for (change, at) in after.changes(&selection.edit) {
                    found(&change, at)?;
                }
            }
            if let Some((change, at)) = entry.change(visit.entry.key, &selection.edit)
                && (pass == Pass::Moves || signs.insert(at))
            {
                found(&change, at)?;
            }
        }
        Ok(())
    })?;
    Ok(seen)
}

/// The moves of a visit in the form that filters test.
pub fn subjects<'a>(
    visit: &'a Visit<'_>,
) -> impl Iterator<Item = (&'a VisitedMove, Subject)> + use<'a> {
    let games = |entry: &VisitedMove| entry.after.map_or(0, |after| after.record.stats.games);
    let all: f64 = visit
        .moves
        .iter()
        .map(|entry| f64::from(games(entry)))
        .sum();
    // After an even ply Black is to move.
    let turn = match visit.ply {
        Some(ply) if ply % 2 == 0 => Color::Black,
        _ => Color::White,
    };
    visit.moves.iter().map(move |entry| {
        let record = entry
            .after
            .map_or_else(PositionRecord::default, |after| after.record);
        let subject = Subject {
            annotation: Some(entry.annotation),
            share: (all > 0.0).then(|| 100.0 * f64::from(games(entry)) / all),
            ply: visit.ply.map(|ply| ply + 1),
            commentary: record.commentary_for(turn),
            ..subject(&record)
        };
        (entry, subject)
    })
}

/// A position in the form that filters test, as the target of a move.
fn subject(record: &PositionRecord) -> Subject {
    Subject {
        stats: record.stats.reversed(),
        learn_value: record.learn_value.saturating_neg().clamp(-125, 125),
        mark: record.mark(),
        commentary: record.commentary,
        ..Subject::default()
    }
}
