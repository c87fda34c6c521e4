//! What is to become of what a book says about a move.

use super::{Annotation, Format, Mark};

/// What is to become of the marks of a move; `None` leaves one as it is.
///
/// The one form of a change to an entry, whoever asks for it and whatever the
/// format: [`Format::lacks`] says what a book has no place for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkEdit {
    /// The colour of the move. A ChessBase book has it in the position the
    /// move leads to, so every move into that position gets it; the other
    /// bits of the byte stay. In books with weights, to avoid a move is to
    /// give it none.
    pub recommendation: Option<Mark>,
    /// The sign beside the move: a NAG number below 32.
    pub annotation: Option<Annotation>,
    /// The learn value from the view of the player of the move, -125 to +125:
    /// positive speaks for it. It stands in the position the move leads to,
    /// with the other sign.
    pub factor: Option<i8>,
    /// The commentary of the position the move leads to: a NAG number as it is
    /// seen on the real board.
    pub commentary: Option<u8>,
    /// Polyglot's weight, 0 to 65535, or Arena's priority, 0 to 9; the move is
    /// never played with 0.
    pub weight: Option<u16>,
    /// Takes away the bits that no reader heeds: of the recommendation all but
    /// green and red (of both, red stays), of the annotation the upper three.
    pub clean: bool,
}

impl MarkEdit {
    /// Takes away colour, sign and learn value.
    #[must_use]
    pub fn clear() -> MarkEdit {
        MarkEdit {
            recommendation: Some(Mark::None),
            annotation: Some(Annotation(0)),
            factor: Some(0),
            ..MarkEdit::default()
        }
    }

    /// Whether it says anything about the move itself.
    #[must_use]
    pub const fn touches_moves(&self) -> bool {
        self.annotation.is_some() || self.clean
    }
}

/// What of a book's entry changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Of a position: its colours.
    Recommendation,
    /// Of a position: its learn value.
    Factor,
    /// Of a position: its commentary.
    Commentary,
    /// Of a stored move: its sign.
    Annotation,
    /// Of a stored move: Polyglot's weight or Arena's priority.
    Weight,
    /// Of a stored move: Polyglot's two learn counts.
    Learn,
}

impl Format {
    /// The greatest number that this format has beside a move, where it has one.
    #[must_use]
    pub const fn most_weight(self) -> Option<u16> {
        match self {
            Format::Ctg => None,
            Format::Bin => Some(u16::MAX),
            Format::Abk => Some(9),
        }
    }

    /// What of an edit a book of this format has no place for, in words;
    /// `None` if it can hold all of it.
    #[must_use]
    pub fn lacks(self, edit: &MarkEdit) -> Option<&'static str> {
        let Some(most) = self.most_weight() else {
            return edit.weight.map(|_| "weights");
        };
        let marks = !matches!(edit.recommendation, None | Some(Mark::Avoid));
        [
            (marks || edit.clean, "marks"),
            (edit.annotation.is_some(), "annotations"),
            (edit.factor.is_some(), "learn values"),
            (edit.commentary.is_some(), "commentaries"),
            (
                edit.weight.is_some_and(|weight| weight > most),
                "weights above 9",
            ),
        ]
        .into_iter()
        .find_map(|(asked, what)| asked.then_some(what))
    }

    /// What a book of this format has in place of what it [lacks](Format::lacks).
    #[must_use]
    pub const fn has_instead(self) -> &'static str {
        match self {
            Format::Ctg => "main, avoid and the learn value say how often a move is played",
            Format::Bin | Format::Abk => {
                "avoid and --weight can be set, and `tabia convert` makes a ChessBase book of it"
            }
        }
    }
}
