//! Marks for many moves at once.

use shakmaty::{Color, Position as _};

use super::filter::{Filter, Subject};
use super::tell::Noted;
use crate::ctg::{
    CanonicalBoard, CtgBook, EditError, EntrySet, Error, Pass, Touch, Visit, VisitedEntry,
    VisitedMove,
};
use crate::{Field, MarkEdit, PositionRecord};
use tabia_io::progress::Watch;

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
    /// The position before the move, White to move on this board; without a
    /// move, the position itself.
    pub visit: &'a Visit<'a>,
    /// The move; `None` where positions are marked by themselves.
    pub mv: Option<&'a VisitedMove>,
    /// The byte that changes.
    pub touch: Touch,
}

impl Chosen<'_> {
    /// The byte by its place in the book, for [`super::tell`].
    #[must_use]
    pub fn noted(&self) -> Noted {
        let sign = self.touch.field == Field::Annotation;
        let (mut key, mut after) = (self.visit.entry.key, None);
        match self.mv {
            Some(mv) if sign => {
                after = self.visit.position().and_then(|mut position| {
                    position.play_unchecked(mv.mv);
                    Some(CanonicalBoard::from_position(&position)?.key())
                });
            }
            Some(mv) => key = mv.after.map_or(key, |after| after.key),
            None => {}
        }
        Noted {
            key,
            after,
            field: self.touch.field,
            old: self.touch.old,
            new: self.touch.new,
            note: String::new(),
        }
    }
}

impl Selection {
    /// The least work that tells which moves are meant.
    fn pass(&self) -> Pass {
        let asks_of_moves = self.filter.as_ref().is_some_and(Filter::asks_of_moves);
        let from_start = |filter: &Filter| filter.asks_for_ply() || filter.asks_for_side();
        let from_start = self.filter.as_ref().is_some_and(from_start);
        // A sign is set by what stands after the move.
        let filtered_signs = self.filter.is_some() && self.edit.touches_moves();
        if self.colour.is_some() || from_start {
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

/// Goes over a book and names every byte that changes, once; gives how many
/// positions (or moves, where these were looked at) were chosen. `lost` hears
/// of pages that cannot be read.
///
/// Without a colour and without a question that only a move can answer, every
/// position is looked at, also those that no stored move leads to; else every
/// stored move.
///
/// # Errors
///
/// The book cannot be read, who watches wants an end, or `found` fails.
pub fn select(
    book: &CtgBook,
    selection: &Selection,
    watch: &mut Watch<'_>,
    lost: &mut dyn FnMut(Error),
    found: &mut dyn FnMut(&Chosen<'_>) -> Result<(), EditError>,
) -> Result<u64, EditError> {
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
            return touched(selection, visit, found);
        }
        if let (Some(colour), Some(ply)) = (selection.colour, visit.ply)
            && (colour == Color::White) != (ply % 2 == 0)
        {
            return Ok(());
        }
        for (mv, subject) in subjects(visit) {
            let Some(after) = &mv.after else { continue };
            if !selection.admits(&subject) {
                continue;
            }
            seen += 1;
            let mv = Some(mv);
            if marked.insert(after.place) {
                after.touches(&selection.edit, |touch| found(&Chosen { visit, mv, touch }))?;
            }
            if let Some(touch) = mv.and_then(|mv| mv.touch(&selection.edit))
                && (pass == Pass::Moves || signs.insert(touch.offset))
            {
                found(&Chosen { visit, mv, touch })?;
            }
        }
        Ok(())
    })?;
    Ok(seen)
}

/// The moves of a visit as filters see them.
pub fn subjects<'a>(
    visit: &'a Visit<'_>,
) -> impl Iterator<Item = (&'a VisitedMove, Subject)> + use<'a> {
    let games = |mv: &VisitedMove| mv.after.map_or(0, |after| after.record.stats.games);
    let all: f64 = visit.moves.iter().map(|mv| f64::from(games(mv))).sum();
    // After an even ply Black is to move.
    let turn = match visit.ply {
        Some(ply) if ply % 2 == 0 => Color::Black,
        _ => Color::White,
    };
    visit.moves.iter().map(move |mv| {
        let record = mv
            .after
            .map_or_else(PositionRecord::default, |after| after.record);
        let subject = Subject {
            annotation: Some(mv.annotation),
            share: (all > 0.0).then(|| 100.0 * f64::from(games(mv)) / all),
            ply: visit.ply.map(|ply| ply + 1),
            commentary: record.commentary_for(turn),
            ..subject(&record)
        };
        (mv, subject)
    })
}

/// What changes of an entry that is chosen.
fn touched(
    selection: &Selection,
    visit: &Visit<'_>,
    found: &mut dyn FnMut(&Chosen<'_>) -> Result<(), EditError>,
) -> Result<(), EditError> {
    // In the order of the file: the moves of an entry, then its statistics.
    for mv in visit.moves {
        if let Some(touch) = mv.touch(&selection.edit) {
            let mv = Some(mv);
            found(&Chosen { visit, mv, touch })?;
        }
    }
    let mv = None;
    let touched = |touch| found(&Chosen { visit, mv, touch });
    visit.entry.touches(&selection.edit, touched)
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
