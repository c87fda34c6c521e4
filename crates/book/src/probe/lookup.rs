//! The result of a look-up.

use shakmaty::{Color, Move};

use super::Stats;

/// What a book stores about one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PositionRecord {
    /// Results and ratings from the view of the side to move *in this
    /// position*.
    pub stats: Stats,
    /// Ten times the expected points of the side to move, unfinished games
    /// included (the word at offset 12 of a CTG entry); 0 in old books.
    pub points: u32,
    /// Raw recommendation byte: see [`PositionRecord::mark`].
    pub recommendation: u8,
    /// The learn value ("Fact"), -125 to +125 in use, as in the file: from the view of
    /// the side to move in this position.
    pub learn_value: i8,
    /// Position commentary, a NAG number as in the file: on the board where the side to
    /// move is White. See [`PositionRecord::commentary_for`].
    pub commentary: u8,
}

impl PositionRecord {
    /// The colour this position gives to every move that reaches it.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        Mark::from_byte(self.recommendation)
    }

    /// The commentary NAG on the real board, where `turn` is to move: the paired
    /// evaluations (14/15, 16/17, 18/19) are exchanged if Black is to move, the others
    /// are not (as in genuine books).
    #[must_use]
    pub const fn commentary_for(&self, turn: Color) -> u8 {
        PositionRecord::commentary_seen(self.commentary, turn)
    }

    /// Converts a NAG from the stored one to the one on the real board, where `turn` is
    /// to move, or back.
    #[must_use]
    pub const fn commentary_seen(nag: u8, turn: Color) -> u8 {
        match (turn, nag) {
            (Color::Black, nag @ (14 | 16 | 18)) => nag + 1,
            (Color::Black, nag @ (15 | 17 | 19)) => nag - 1,
            (_, nag) => nag,
        }
    }
}

tabia_notation::named! {
    /// Colour of a move in ChessBase's book window.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Mark {
        /// No colour: statistics decide.
        #[default]
        None = "none",
        /// Main move, green.
        Main = "main",
        /// Not for tournaments, red.
        Avoid = "avoid",
    }
}

impl Mark {
    /// Decodes a recommendation byte: bit 0x80 is the main move (green), bit 0x40 forbids
    /// it in tournaments (red). If a file has both, red wins.
    #[must_use]
    pub const fn from_byte(recommendation: u8) -> Mark {
        if recommendation & 0x40 != 0 {
            Mark::Avoid
        } else if recommendation & 0x80 != 0 {
            Mark::Main
        } else {
            Mark::None
        }
    }
}

/// The annotation of a move: the byte after it in a CTG entry.
///
/// The low five bits are a PGN NAG number; the upper three are flags of unknown meaning
/// (0xe0 in a hand-made genuine book) and are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotation(pub u8);

impl Annotation {
    /// `!`
    pub const GOOD: Annotation = Annotation(1);
    /// `?`
    pub const MISTAKE: Annotation = Annotation(2);
    /// `!!`
    pub const BRILLIANT: Annotation = Annotation(3);
    /// `??`
    pub const BLUNDER: Annotation = Annotation(4);
    /// `!?`
    pub const INTERESTING: Annotation = Annotation(5);
    /// `?!`
    pub const DUBIOUS: Annotation = Annotation(6);
    /// The only move.
    pub const ONLY_MOVE: Annotation = Annotation(8);

    /// Whether it is `?`, `??` or `?!`.
    #[must_use]
    pub const fn is_doubtful(self) -> bool {
        matches!(self.nag(), 2 | 4 | 6)
    }

    /// The NAG number, without the unknown flags.
    #[must_use]
    pub const fn nag(self) -> u8 {
        self.0 & 0x1f
    }

    /// Reads `!`, `?`, `!!`, `??`, `!?`, `?!`, `none` (or nothing), `□`, or a NAG
    /// number below 32 with or without `$`.
    #[must_use]
    pub fn from_symbol(text: &str) -> Option<Annotation> {
        let known = (0..32).map(Annotation).find(|sign| sign.symbol() == text);
        known.or_else(|| match text.to_ascii_lowercase().as_str() {
            "none" => Some(Annotation(0)),
            "only" => Some(Annotation::ONLY_MOVE),
            text => {
                let number = text.strip_prefix('$').unwrap_or(text);
                let number = number.parse().ok().filter(|number| *number < 32)?;
                Some(Annotation(number))
            }
        })
    }

    /// `"!"`, `"?"`, ..., `"□"` for the only move, `"$N"` for other NAGs, and an empty
    /// text for none.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        const OTHER: [&str; 32] = [
            "", "!", "?", "!!", "??", "!?", "?!", "$7", "□", "$9", "$10", "$11", "$12", "$13",
            "$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25",
            "$26", "$27", "$28", "$29", "$30", "$31",
        ];
        OTHER.get(usize::from(self.nag())).copied().unwrap_or("")
    }
}

/// How often to play a move, if the book stores it.
///
/// ChessBase books use their statistics instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// Not stored: statistics decide.
    #[default]
    Statistics,
    /// Polyglot's weight: the move is played in proportion to it; 0 is never.
    Weight(u32),
    /// Arena's priority, 0 to 9: 0 never, 5 is usual.
    Priority(u8),
}

impl Preference {
    /// Polyglot's weight, if it is one.
    #[must_use]
    pub const fn weight(self) -> Option<u32> {
        match self {
            Preference::Weight(weight) => Some(weight),
            Preference::Statistics | Preference::Priority(_) => None,
        }
    }

    /// Whether the book forbids the move: weight or priority 0.
    #[must_use]
    pub const fn is_never(self) -> bool {
        matches!(self, Preference::Weight(0) | Preference::Priority(0))
    }
}

/// A move of a position, with what the book stores about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move, legal in the probed position.
    pub mv: Move,
    /// Its annotation; [`Annotation::default`] for a transposition.
    pub annotation: Annotation,
    /// The position after the move, from the view of *its* side to move (the opponent);
    /// `None` if it is not in the book.
    pub after: Option<PositionRecord>,
    /// The move is not stored, but it leads to a position of the book.
    pub transposition: bool,
    /// The stored weight or priority.
    pub preference: Preference,
    /// Its evaluation, if evaluations were added to the book; no book format stores that.
    pub evaluation: Option<MoveEvaluation>,
}

/// The evaluation of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveEvaluation {
    /// Value after the move in centipawns for its player, at most ten pawns.
    pub value: i32,
    /// Difference in centipawns from the best known value of the position's moves, in the
    /// book or not.
    pub loss: u32,
    /// Depth of the search that it is from, in plies; 0 when unknown.
    pub depth: u16,
}

/// Numbers of games behind a move, as far as a book knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct MoveGames {
    /// Games in which it was played in this position.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub played: Option<u32>,
    /// Games that reach the position after it, by this move or by another order of moves.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub reached: Option<u32>,
}

impl MoveGames {
    /// Whether some games are known to reach the position after the move otherwise.
    #[must_use]
    pub fn differ(&self) -> bool {
        matches!((self.played, self.reached), (Some(played), Some(reached)) if played != reached)
    }
}

impl BookMove {
    /// A stored move without weight or priority.
    #[must_use]
    pub const fn stored(
        mv: Move,
        annotation: Annotation,
        after: Option<PositionRecord>,
    ) -> BookMove {
        BookMove {
            mv,
            annotation,
            after,
            transposition: false,
            preference: Preference::Statistics,
            evaluation: None,
        }
    }

    /// A move that is not stored.
    #[must_use]
    pub const fn transposition(mv: Move, after: PositionRecord) -> BookMove {
        BookMove {
            transposition: true,
            ..BookMove::stored(mv, Annotation(0), Some(after))
        }
    }

    /// Results and ratings from the view of the player of the move; all zero if the
    /// position after it is not in the book.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.after
            .map(|after| after.stats.reversed())
            .unwrap_or_default()
    }

    /// The mark of the position the move leads to.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.after.map(|after| after.mark()).unwrap_or_default()
    }

    /// The learn value from the view of the player of the move: positive favours it. -125
    /// to +125.
    ///
    /// Stored from the view of the other side, which is to move after it (in a genuine
    /// book the byte is positive if that side has won more, in 2,349 of 2,726 entries).
    #[must_use]
    pub fn learn_value(&self) -> i8 {
        self.after
            .map(|after| after.learn_value.saturating_neg().clamp(-125, 125))
            .unwrap_or_default()
    }
}

/// Everything a book knows about a position. Reusable as a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// The position's own record; `None` if it is not in the book.
    pub here: Option<PositionRecord>,
    /// The stored moves in stored order, then the transpositions.
    pub moves: Vec<BookMove>,
}

impl Lookup {
    /// Empties the buffer and keeps its memory.
    pub fn clear(&mut self) {
        self.here = None;
        self.moves.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_bits_and_red_wins() {
        let marks = [0x00, 0x14, 0x24, 0x80, 0x84, 0xa4, 0x40, 0x60, 0xc0]
            .map(|byte| Mark::from_byte(byte).as_str());
        assert_eq!(
            marks,
            [
                "none", "none", "none", "main", "main", "main", "avoid", "avoid", "avoid"
            ]
        );
    }

    #[test]
    fn paired_commentaries_turn_with_the_board() {
        let seen: Vec<u8> = [10, 13, 14, 15, 16, 17, 18, 19, 36, 132]
            .map(|nag| PositionRecord::commentary_seen(nag, Color::Black))
            .to_vec();
        assert_eq!(seen, [10, 13, 15, 14, 17, 16, 19, 18, 36, 132]);
        assert_eq!(PositionRecord::commentary_seen(14, Color::White), 14);
    }

    #[test]
    fn annotation_flags_are_not_part_of_the_symbol() {
        assert_eq!(Annotation(0xe0).symbol(), "");
        assert_eq!(Annotation(0xe1).symbol(), "!");
        assert_eq!(Annotation(0x08).symbol(), "□");
        assert_eq!(Annotation(0x16).symbol(), "$22");
    }
}
