//! One position in two books.

use shakmaty::{Chess, Move};

use crate::{Annotation, Format, Lookup, PositionRecord, Preference, Stats};

tabia_notation::named! {
    /// One of the two books.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Side {
        /// The first.
        A = "A",
        /// The second.
        B = "B",
    }
}

tabia_notation::named! {
    /// The aspects in which books can differ.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Aspect {
        /// Whether a position is stored.
        Positions = "positions",
        /// Which moves are stored.
        Moves = "moves",
        /// Games, results, ratings; in Polyglot and Arena books also weight and priority.
        Stats = "stats",
        /// The colours of moves.
        Marks = "marks",
        /// `!`, `?` and other annotations of a move.
        Annotations = "annotations",
        /// Learn values.
        LearnValues = "learn-values" | "factors",
        /// Commentaries on positions.
        Commentaries = "commentaries",
    }
}

/// A set of aspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aspects(u8);

impl Aspects {
    /// The set of a list; an empty list means all aspects.
    #[must_use]
    pub fn from_list(list: &[Aspect]) -> Aspects {
        let list = if list.is_empty() { Aspect::ALL } else { list };
        Aspects(
            list.iter()
                .fold(0, |bits, aspect| bits | 1 << *aspect as u8),
        )
    }

    /// Whether the set contains an aspect.
    #[must_use]
    pub const fn has(self, aspect: Aspect) -> bool {
        self.0 & (1 << aspect as u8) != 0
    }

    /// Removes the aspects that two formats cannot share: a Polyglot book has no games
    /// and marks, an Arena book no ratings.
    #[must_use]
    pub fn between(self, a: Format, b: Format) -> Aspects {
        let shared: &[Aspect] = match a == b {
            true if a.stores_positions() => Aspect::ALL,
            true => &[Aspect::Positions, Aspect::Moves, Aspect::Stats],
            false => &[Aspect::Positions, Aspect::Moves],
        };
        Aspects(self.0 & Aspects::from_list(shared).0)
    }
}

/// The differences of two books in a position: a pair is the value in A and the value in
/// B, `None` if they are equal or not compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The position.
    pub position: Chess,
    /// The only book with the position; then the fields below are empty.
    pub only_in: Option<Side>,
    /// The record in that book, or in A.
    pub record: PositionRecord,
    /// The number of stored moves in that book, or in A.
    pub stored_moves: usize,
    /// Results and ratings, from the view of the side to move.
    pub stats: Option<(Stats, Stats)>,
    /// Ten times the expected points, if only they differ.
    pub points: Option<(u32, u32)>,
    /// Recommendation bytes: see [`PositionRecord::mark`].
    pub recommendation: Option<(u8, u8)>,
    /// Learn values as stored: from the view of the side to move.
    pub learn_value: Option<(i8, i8)>,
    /// Commentaries as stored.
    pub commentary: Option<(u8, u8)>,
    /// Moves that differ.
    pub moves: Vec<MoveDifference>,
}

/// The differences of two books in a move.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MoveDifference {
    /// The move.
    pub mv: Move,
    /// The only book that stores it.
    pub only_in: Option<Side>,
    /// Annotation bytes.
    pub annotation: Option<(Annotation, Annotation)>,
    /// Weights or priorities.
    pub preference: Option<(Preference, Preference)>,
    /// Games and results from the view of the player, if the book stores them with the
    /// move.
    pub stats: Option<(Stats, Stats)>,
}

impl Difference {
    /// A position that only one book has.
    pub(crate) fn only_in(
        side: Side,
        position: &Chess,
        record: PositionRecord,
        stored_moves: usize,
    ) -> Difference {
        Difference {
            position: position.clone(),
            only_in: Some(side),
            record,
            stored_moves,
            ..Difference::default()
        }
    }

    /// Whether the books differ here in an aspect.
    #[must_use]
    pub fn touches(&self, aspect: Aspect) -> bool {
        match aspect {
            Aspect::Positions => self.only_in.is_some(),
            Aspect::Moves => self.moves.iter().any(|mv| mv.only_in.is_some()),
            Aspect::Stats => {
                self.stats.is_some()
                    || self.points.is_some()
                    || self
                        .moves
                        .iter()
                        .any(|entry| entry.preference.is_some() || entry.stats.is_some())
            }
            Aspect::Marks => self.recommendation.is_some(),
            Aspect::Annotations => self.moves.iter().any(|entry| entry.annotation.is_some()),
            Aspect::LearnValues => self.learn_value.is_some(),
            Aspect::Commentaries => self.commentary.is_some(),
        }
    }
}

/// Compares the look-ups of two books for a position; `None` if they are equal in every
/// aspect, or neither has it.
#[must_use]
pub(crate) fn compare_at(
    position: &Chess,
    (a, b): (&Lookup, &Lookup),
    aspects: Aspects,
    stats_of_moves: bool,
) -> Option<Difference> {
    let (here_a, here_b) = match (a.here, b.here) {
        (Some(here_a), Some(here_b)) => (here_a, here_b),
        (None, None) => return None,
        (Some(record), None) => {
            let only = Difference::only_in(Side::A, position, record, a.moves.len());
            return aspects.has(Aspect::Positions).then_some(only);
        }
        (None, Some(record)) => {
            let only = Difference::only_in(Side::B, position, record, b.moves.len());
            return aspects.has(Aspect::Positions).then_some(only);
        }
    };
    let mut difference = Difference {
        position: position.clone(),
        record: here_a,
        stored_moves: a.moves.len(),
        ..Difference::default()
    };
    if aspects.has(Aspect::Stats) && !stats_of_moves {
        difference.stats = pair(here_a.stats, here_b.stats);
        if difference.stats.is_none() {
            difference.points = pair(here_a.points, here_b.points);
        }
    }
    if aspects.has(Aspect::Marks) {
        difference.recommendation = pair(here_a.recommendation, here_b.recommendation);
    }
    if aspects.has(Aspect::LearnValues) {
        difference.learn_value = pair(here_a.learn_value, here_b.learn_value);
    }
    if aspects.has(Aspect::Commentaries) {
        difference.commentary = pair(here_a.commentary, here_b.commentary);
    }
    difference.moves = moves(a, b, aspects, stats_of_moves);
    let differ = Aspect::ALL.iter().any(|aspect| difference.touches(*aspect));
    differ.then_some(difference)
}

fn moves(a: &Lookup, b: &Lookup, aspects: Aspects, stats: bool) -> Vec<MoveDifference> {
    let mut differences = Vec::new();
    let alone = |mv: Move, side: Side| MoveDifference {
        mv,
        only_in: Some(side),
        annotation: None,
        preference: None,
        stats: None,
    };
    for entry in &a.moves {
        let Some(other) = b.moves.iter().find(|other| other.mv == entry.mv) else {
            if aspects.has(Aspect::Moves) {
                differences.push(alone(entry.mv, Side::A));
            }
            continue;
        };
        let annotations = aspects.has(Aspect::Annotations);
        let numbers = aspects.has(Aspect::Stats);
        let difference = MoveDifference {
            mv: entry.mv,
            only_in: None,
            annotation: pair(entry.annotation, other.annotation).filter(|_| annotations),
            preference: pair(entry.preference, other.preference).filter(|_| numbers),
            stats: pair(entry.stats(), other.stats()).filter(|_| numbers && stats),
        };
        if difference.annotation.is_some()
            || difference.preference.is_some()
            || difference.stats.is_some()
        {
            differences.push(difference);
        }
    }
    if aspects.has(Aspect::Moves) {
        let known = |mv: Move| a.moves.iter().any(|other| other.mv == mv);
        let more = b.moves.iter().filter(|entry| !known(entry.mv));
        differences.extend(more.map(|entry| alone(entry.mv, Side::B)));
    }
    differences
}

fn pair<T: PartialEq>(a: T, b: T) -> Option<(T, T)> {
    (a != b).then_some((a, b))
}
