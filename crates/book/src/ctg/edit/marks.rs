//! Marks in chess terms, as changes of bytes.

use shakmaty::{Chess, Color, Move, Position as _};

use super::{EditError, Editor, EntryChange};
use crate::{
    Mark, MarkEdit, PositionRecord,
    ctg::{CanonicalBoard, encode_move_byte, moves},
};
use tabia_notation as notation;

impl MarkEdit {
    /// The recommendation byte that `old` becomes.
    pub(in crate::ctg) const fn recommendation_byte(&self, old: u8) -> u8 {
        let byte = match self.recommendation {
            Some(Mark::Main) => old & !0x40 | 0x80,
            Some(Mark::Avoid) => old & !0x80 | 0x40,
            Some(Mark::None) => old & !0xc0,
            None => old,
        };
        match (self.clean, byte & 0x40) {
            (false, _) => byte,
            (true, 0) => byte & 0x80,
            (true, _) => 0x40,
        }
    }

    /// The stored learn value that `old` becomes.
    const fn stored_factor(&self, old: i8) -> i8 {
        match self.factor {
            // Within a byte either way.
            Some(factor) => factor.saturating_neg(),
            None => old,
        }
    }

    /// The annotation byte that `old` becomes.
    #[must_use]
    pub const fn annotation_byte(&self, old: u8) -> u8 {
        let byte = match self.annotation {
            Some(annotation) => old & 0xe0 | annotation.nag(),
            None => old,
        };
        if self.clean { byte & 0x1f } else { byte }
    }

    /// The record that `old` becomes, of a position in which `turn` is to move.
    #[must_use]
    pub const fn record(&self, old: &PositionRecord, turn: Color) -> PositionRecord {
        PositionRecord {
            recommendation: self.recommendation_byte(old.recommendation),
            factor: self.stored_factor(old.factor),
            commentary: match self.commentary {
                // Turning the board round once more is turning it back.
                Some(commentary) => PositionRecord::commentary_seen(commentary, turn),
                None => old.commentary,
            },
            ..*old
        }
    }
}

impl Editor {
    /// The changes that give a move its marks; none if it has them.
    ///
    /// A move that nobody stored has its marks all the same, in the position
    /// it leads to. Only an annotation needs the move itself: then it is
    /// stored ([`EntryChange::AddMove`]).
    ///
    /// # Errors
    ///
    /// The position after the move, or for an annotation the one before it, is
    /// not in the book; or the format has no byte for the move.
    pub fn plan(
        &self,
        position: &Chess,
        mv: Move,
        edit: &MarkEdit,
    ) -> Result<Vec<EntryChange>, EditError> {
        let after = notation::after(position, mv);
        // What leads out of the book is no move of it.
        let mut changes = self.plan_position(&after, edit)?;
        if edit.touches_moves() {
            changes.extend(self.plan_annotation(position, mv, edit)?);
        }
        Ok(changes)
    }

    /// The same for a position, whatever moves lead to it; an annotation in
    /// `edit` is passed over.
    ///
    /// # Errors
    ///
    /// The position is not in the book.
    pub fn plan_position(
        &self,
        position: &Chess,
        edit: &MarkEdit,
    ) -> Result<Vec<EntryChange>, EditError> {
        let key = self.key_of(position)?;
        let mut reading = self.book.reading()?;
        let Some(place) = reading.find(&key, |_| ())? else {
            return Ok(Vec::new());
        };
        let old = reading.entry(place)?.record();
        let new = edit.record(&old, position.turn()).marks();
        let changed = new.into_iter().zip(old.marks());
        let changed = changed.filter(|(new, old)| new != old);
        let changes = changed.map(|((field, byte), _)| EntryChange::Mark { key, field, byte });
        Ok(changes.collect())
    }

    fn plan_annotation(
        &self,
        position: &Chess,
        mv: Move,
        edit: &MarkEdit,
    ) -> Result<Option<EntryChange>, EditError> {
        let wanted = edit.annotation.is_some_and(|sign| sign.nag() != 0);
        let key = match self.key_of(position) {
            Ok(key) => key,
            // There is nothing to take away either.
            Err(EditError::NotInBook { .. }) if !wanted => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut reading = self.book.reading()?;
        let (Some(board), Some(place)) = (
            CanonicalBoard::from_position(position),
            reading.find(&key, |_| ())?,
        ) else {
            return Ok(None);
        };
        let legal = position.legal_moves();
        for (byte, annotation) in reading.entry(place)?.moves() {
            let is_it = moves::find(byte, &board, &legal).is_ok_and(|n| legal.get(n) == Some(&mv));
            if is_it {
                let new = edit.annotation_byte(annotation.0);
                return Ok((new != annotation.0).then_some(EntryChange::Annotation {
                    key,
                    mv: byte,
                    byte: new,
                }));
            }
        }
        if !wanted {
            return Ok(None);
        }
        let byte = encode_move_byte(&board, mv).ok_or_else(|| EditError::Unstorable {
            path: self.path.clone(),
            reason: "the format has no byte for it",
        })?;
        Ok(Some(EntryChange::AddMove {
            key,
            mv: byte,
            annotation: edit.annotation_byte(0),
            at: u8::MAX,
        }))
    }

    /// The key under which the book holds a position.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn key_of(&self, position: &Chess) -> Result<super::Key, EditError> {
        if let Some(key) = self.book.key_of(position)? {
            return Ok(key);
        }
        match CanonicalBoard::from_position(position) {
            Some(board) => Err(EditError::NotInBook {
                path: self.path.clone(),
                key: board.key(),
            }),
            None => Err(EditError::Unstorable {
                path: self.path.clone(),
                reason: "the format cannot hold castling rights of Chess960",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Annotation;

    #[test]
    fn a_colour_leaves_the_other_bits_alone() {
        let with = |mark| MarkEdit {
            recommendation: Some(mark),
            ..MarkEdit::default()
        };
        for old in 0..=255_u8 {
            let main = with(Mark::Main).recommendation_byte(old);
            assert_eq!((main & 0xc0, main & 0x3f), (0x80, old & 0x3f));
            let avoid = with(Mark::Avoid).recommendation_byte(old);
            assert_eq!((avoid & 0xc0, avoid & 0x3f), (0x40, old & 0x3f));
            let none = with(Mark::None).recommendation_byte(old);
            assert_eq!(none, old & 0x3f);
            assert_eq!(MarkEdit::default().recommendation_byte(old), old);
            let clean = MarkEdit {
                clean: true,
                ..MarkEdit::default()
            };
            assert_eq!(Mark::of(clean.recommendation_byte(old)), Mark::of(old));
            assert!([0, 0x40, 0x80].contains(&clean.recommendation_byte(old)));
            assert_eq!(clean.annotation_byte(old), old & 0x1f);
        }
    }

    #[test]
    fn an_annotation_leaves_the_upper_bits_alone() {
        let edit = MarkEdit {
            annotation: Some(Annotation::DUBIOUS),
            ..MarkEdit::default()
        };
        assert_eq!(edit.annotation_byte(0xe1), 0xe6);
        assert_eq!(MarkEdit::clear().annotation_byte(0xe1), 0xe0);
    }

    #[test]
    fn a_learn_value_changes_sign_on_its_way_into_the_book() {
        let edit = MarkEdit {
            factor: Some(125),
            ..MarkEdit::default()
        };
        assert_eq!(edit.stored_factor(3), -125);
    }
}
