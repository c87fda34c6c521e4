//! Changes of what a book stores about a move.

use shakmaty::Color;

use crate::ctg::Key;
use crate::traits::{Marks, Number};
use crate::{Annotation, Format, Mark, PositionRecord};

/// New marks for a move; `None` leaves a mark unchanged.
///
/// All callers and formats use this one form of a change: [`Format::lacks`] names what a
/// book cannot store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkEdit {
    /// The colour of the move. A ChessBase book stores it in the position after the move,
    /// so every move into that position gets it; the other bits of the byte stay. In
    /// books with weights, avoiding a move sets its weight to 0.
    pub recommendation: Option<Mark>,
    /// The annotation of the move: a NAG number below 32.
    pub annotation: Option<Annotation>,
    /// The learn value from the view of the player of the move, -125 to +125: positive
    /// favours it. It is stored in the position after the move, with the sign reversed.
    pub learn_value: Option<i8>,
    /// The commentary of the position after the move: a NAG number on the real board.
    pub commentary: Option<u8>,
    /// Polyglot's weight, 0 to 65535, or Arena's priority, 0 to 9; with 0 the move is
    /// never played.
    pub weight: Option<u16>,
    /// Clears the bits that no reader uses: of the recommendation all but green and red
    /// (of both, red stays), of the annotation the upper three.
    pub clean: bool,
}

impl MarkEdit {
    /// An edit that removes colour, annotation and learn value.
    #[must_use]
    pub fn clear() -> MarkEdit {
        MarkEdit {
            recommendation: Some(Mark::None),
            annotation: Some(Annotation(0)),
            learn_value: Some(0),
            ..MarkEdit::default()
        }
    }

    /// Whether it speaks against the move: such a mark is for one move, not for those that
    /// lead to it.
    #[must_use]
    pub fn blames(&self) -> bool {
        self.recommendation == Some(Mark::Avoid)
            || self.annotation.is_some_and(Annotation::is_doubtful)
            || self.learn_value.is_some_and(i8::is_negative)
            || self.weight == Some(0)
    }

    /// Whether it changes the move itself, not only the position after it.
    #[must_use]
    pub(crate) const fn touches_moves(&self) -> bool {
        self.annotation.is_some() || self.clean
    }
}

tabia_notation::named! {
    /// A field of a book's entry that can change.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Field {
        /// The colours of a position.
        Recommendation = "mark",
        /// The learn value of a position.
        LearnValue = "learn_value" | "factor",
        /// The commentary of a position.
        Commentary = "commentary",
        /// The annotation of a stored move.
        Annotation = "annotation",
        /// Polyglot's weight or Arena's priority of a stored move.
        Weight = "weight",
        /// Polyglot's two learn counts of a stored move.
        LearnCounts = "learn",
    }
}

/// Where a book stores a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkPlace {
    /// In a ChessBase book: a position, by its key.
    Position(Key),
    /// In a ChessBase book: a move of a position.
    Move {
        /// The position the move is played in.
        key: Key,
        /// The move byte.
        byte: u8,
        /// For an added move: its index among the stored moves; an index beyond the last
        /// means after the last.
        at: u8,
    },
    /// In a Polyglot or Arena book: an entry, by its offset in the file.
    Entry(u64),
}

impl MarkPlace {
    /// The position whose entry in a ChessBase book this is part of.
    #[must_use]
    pub const fn key(&self) -> Option<&Key> {
        match self {
            MarkPlace::Position(key) | MarkPlace::Move { key, .. } => Some(key),
            MarkPlace::Entry(_) => None,
        }
    }
}

/// One change, with numbers as stored in the file (a learn value from the view of the
/// side to move in the position). [`MarkEdit`] is the same in terms of chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkChange {
    /// Where the value is stored.
    pub place: MarkPlace,
    /// The changed field.
    pub field: Field,
    /// The number before. `None`: the move is not stored and will be.
    pub old: Option<u32>,
    /// The number after. `None`: the move will be removed; the position after
    /// it stays.
    pub new: Option<u32>,
}

impl MarkChange {
    /// The change that undoes this one.
    #[must_use]
    pub const fn reversed(self) -> MarkChange {
        MarkChange {
            old: self.new,
            new: self.old,
            ..self
        }
    }

    /// Whether the change makes the entry longer or shorter.
    #[must_use]
    pub const fn moves_entries(&self) -> bool {
        self.old.is_none() || self.new.is_none()
    }
}

impl MarkEdit {
    /// The new recommendation byte, given the old one.
    pub(crate) const fn recommendation_byte(&self, old: u8) -> u8 {
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

    /// The new stored learn value, given the old one.
    const fn stored_learn_value(&self, old: i8) -> i8 {
        match self.learn_value {
            // -128 has no opposite in a byte.
            Some(learn_value) => learn_value.saturating_neg(),
            None => old,
        }
    }

    /// The new annotation byte, given the old one.
    #[must_use]
    pub const fn annotation_byte(&self, old: u8) -> u8 {
        let byte = match self.annotation {
            Some(annotation) => old & 0xe0 | annotation.nag(),
            None => old,
        };
        if self.clean { byte & 0x1f } else { byte }
    }

    /// The new record, given the old one, of a position in which `turn` is to move.
    #[must_use]
    pub const fn record(&self, old: &PositionRecord, turn: Color) -> PositionRecord {
        PositionRecord {
            recommendation: self.recommendation_byte(old.recommendation),
            learn_value: self.stored_learn_value(old.learn_value),
            commentary: match self.commentary {
                // Exchanging the colours is its own inverse.
                Some(commentary) => PositionRecord::commentary_seen(commentary, turn),
                None => old.commentary,
            },
            ..*old
        }
    }
}

impl PositionRecord {
    /// The changeable bytes as stored, in their order.
    #[must_use]
    pub const fn marks(&self) -> [(Field, u8); 3] {
        [
            (Field::Recommendation, self.recommendation),
            (Field::LearnValue, self.learn_value.cast_unsigned()),
            (Field::Commentary, self.commentary),
        ]
    }

    /// The changes that set the marks of the position `key` to those of `new`.
    pub(crate) fn changes(
        &self,
        new: &PositionRecord,
        key: Key,
    ) -> impl Iterator<Item = MarkChange> + use<> {
        let marks = self.marks().into_iter().zip(new.marks());
        let changed = marks.filter(|(old, new)| old != new);
        changed.map(move |((field, old), (_, new))| MarkChange {
            place: MarkPlace::Position(key),
            field,
            old: Some(old.into()),
            new: Some(new.into()),
        })
    }

    /// Sets a mark; a field that is not a mark of a position is ignored.
    pub(crate) const fn set_mark(&mut self, field: Field, byte: u8) {
        match field {
            Field::Recommendation => self.recommendation = byte,
            Field::LearnValue => self.learn_value = byte.cast_signed(),
            Field::Commentary => self.commentary = byte,
            Field::Annotation | Field::Weight | Field::LearnCounts => {}
        }
    }
}

impl Format {
    /// Where what was learned from games is stored, if it can be.
    #[must_use]
    pub const fn learn_field(self) -> Option<Field> {
        match &self.traits().marks {
            Marks::All => Some(Field::LearnValue),
            Marks::Numbers(numbers) if numbers.learn.is_some() => Some(Field::LearnCounts),
            Marks::Numbers(_) | Marks::None => None,
        }
    }

    /// The number of an entry that holds a field.
    pub(crate) const fn number(self, field: Field) -> Option<Number> {
        match (&self.traits().marks, field) {
            (Marks::Numbers(numbers), Field::Weight) => Some(numbers.weight),
            (Marks::Numbers(numbers), Field::LearnCounts) => numbers.learn,
            (
                Marks::Numbers(_),
                Field::Recommendation | Field::LearnValue | Field::Commentary | Field::Annotation,
            )
            | (Marks::All | Marks::None, _) => None,
        }
    }

    /// The marks of an edit that a book of this format cannot store, in words; `None` if
    /// it can store all.
    #[must_use]
    pub fn lacks(self, edit: &MarkEdit) -> Option<&'static str> {
        let numbers = match &self.traits().marks {
            Marks::All => return edit.weight.map(|_| "weights"),
            Marks::None => return Some("marks that can be changed"),
            Marks::Numbers(numbers) => numbers,
        };
        let marks = !matches!(edit.recommendation, None | Some(Mark::Avoid));
        let (most, greater) = numbers.most_weight;
        [
            (marks || edit.clean, "marks"),
            (edit.annotation.is_some(), "annotations"),
            (edit.learn_value.is_some(), "learn values"),
            (edit.commentary.is_some(), "commentaries"),
            (edit.weight.is_some_and(|weight| weight > most), greater),
        ]
        .into_iter()
        .find_map(|(asked, what)| asked.then_some(what))
    }

    /// What a book of this format offers instead of what it [lacks](Format::lacks).
    #[must_use]
    pub(crate) const fn has_instead(self) -> &'static str {
        match self.traits().marks {
            Marks::All => "main, avoid and the learn value say how often a move is played",
            Marks::None => "convert it to a ChessBase book to change it",
            Marks::Numbers(_) => {
                "avoid and a weight can be set; convert it to a ChessBase book for the rest"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(
                Mark::from_byte(clean.recommendation_byte(old)),
                Mark::from_byte(old)
            );
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
            learn_value: Some(125),
            ..MarkEdit::default()
        };
        assert_eq!(edit.stored_learn_value(3), -125);
    }
}
