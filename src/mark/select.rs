//! Marks for many moves at once.

use std::sync::atomic::AtomicBool;

use shakmaty::Color;

use super::filter::{Filter, Subject};
use crate::book::PositionRecord;
use crate::book::ctg::{
    CtgBook, EditError, EntrySet, MarkEdit, Pass, Salvage, Touch, Visit, VisitedEntry, VisitedMove,
};

/// Which moves of a book get which marks.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The marks.
    pub edit: MarkEdit,
    /// Only moves of this side, in lines from the start position.
    pub colour: Option<Color>,
    /// Only moves that meet this.
    pub filter: Option<Filter>,
}

/// Something that is chosen and changes.
pub struct Chosen<'a> {
    /// The position before the move, White to move in this picture; without a
    /// move, the position itself.
    pub visit: &'a Visit<'a>,
    /// The move; `None` where positions are marked by themselves.
    pub mv: Option<&'a VisitedMove>,
    /// The byte that changes.
    pub touch: Touch,
}

/// How much was looked at.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Positions (or moves, where these were looked at) that were chosen.
    pub chosen: u64,
    /// What could not be read.
    pub salvage: Salvage,
}

impl Selection {
    /// The least work that tells which moves are meant.
    fn pass(&self) -> Pass {
        let asks_of_moves = self.filter.as_ref().is_some_and(Filter::asks_of_moves);
        let asks_for_ply = self.filter.as_ref().is_some_and(Filter::asks_for_ply);
        // A sign is set by what stands after the move.
        let filtered_signs = self.filter.is_some() && self.edit.touches_moves();
        if self.colour.is_some() || asks_for_ply {
            Pass::FromStart
        } else if asks_of_moves || filtered_signs {
            Pass::Moves
        } else if self.edit.touches_moves() {
            Pass::Signs
        } else {
            Pass::Entries
        }
    }

    fn admits(&self, subject: &Subject) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.admits(subject))
    }
}

/// Goes over a book and names every byte that changes, once.
///
/// Without a colour and without a question that only a move can answer, every
/// position is looked at, also those that no stored move leads to; else every
/// stored move.
///
/// # Errors
///
/// The book cannot be read, `stop` is true, or `found` fails.
pub fn select(
    book: &CtgBook,
    selection: &Selection,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&Chosen<'_>) -> Result<(), EditError>,
) -> Result<Seen, EditError> {
    let mut seen = Seen::default();
    let mut marked = EntrySet::default();
    // The same entry may be visited with either side to move.
    let mut signs = std::collections::HashSet::new();
    let pass = selection.pass();
    let salvage = book.visit(pass, stop, |visit| {
        if matches!(pass, Pass::Entries | Pass::Signs) {
            return select_entry(selection, visit, &mut seen, found);
        }
        if let (Some(colour), Some(ply)) = (selection.colour, visit.ply)
            && (colour == Color::White) != (ply % 2 == 0)
        {
            return Ok(());
        }
        let games = |mv: &VisitedMove| mv.child.map_or(0, |child| child.record.stats.games);
        let all: f64 = visit.moves.iter().map(|mv| f64::from(games(mv))).sum();
        for mv in visit.moves {
            let Some(child) = &mv.child else { continue };
            let subject = Subject {
                annotation: Some(mv.annotation),
                share: (all > 0.0).then(|| 100.0 * f64::from(games(mv)) / all),
                ply: visit.ply.map(|ply| ply + 1),
                ..subject(&child.record)
            };
            if !selection.admits(&subject) {
                continue;
            }
            seen.chosen += 1;
            let mv = Some(mv);
            if marked.insert(child.place) {
                touch_position(selection, child, |touch| {
                    found(&Chosen { visit, mv, touch })
                })?;
            }
            if let Some(touch) = mv.and_then(|mv| mv.touch(&selection.edit))
                && (pass == Pass::Moves || signs.insert(touch.offset))
            {
                found(&Chosen { visit, mv, touch })?;
            }
        }
        Ok(())
    })?;
    seen.salvage = salvage;
    Ok(seen)
}

fn select_entry(
    selection: &Selection,
    visit: &Visit<'_>,
    seen: &mut Seen,
    found: &mut dyn FnMut(&Chosen<'_>) -> Result<(), EditError>,
) -> Result<(), EditError> {
    if !selection.admits(&subject(&visit.entry.record)) {
        return Ok(());
    }
    seen.chosen += 1;
    // In the order of the file: the moves of an entry, then its statistics.
    for mv in visit.moves {
        if let Some(touch) = mv.touch(&selection.edit) {
            let mv = Some(mv);
            found(&Chosen { visit, mv, touch })?;
        }
    }
    touch_position(selection, visit.entry, |touch| {
        let mv = None;
        found(&Chosen { visit, mv, touch })
    })
}

fn touch_position(
    selection: &Selection,
    entry: &VisitedEntry,
    found: impl FnMut(Touch) -> Result<(), EditError>,
) -> Result<(), EditError> {
    entry.touches(&selection.edit, found)
}

/// A position as the goal of a move.
fn subject(record: &PositionRecord) -> Subject {
    Subject {
        stats: record.stats.reversed(),
        factor: record.factor.saturating_neg().clamp(-125, 125),
        mark: record.mark(),
        commentary: record.commentary,
        ..Subject::default()
    }
}
