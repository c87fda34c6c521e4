//! The positions of a book that are walked: a ChessBase book by its graph, others by look-ups.

use std::ops::Range;

use shakmaty::{Chess, Color, Move, Position as _};

use crate::Error;
use crate::suite::other_wing;
use tabia_book::ctg::{BookGraph, CanonicalBoard, Contents, CtgBook, Target};
use tabia_book::eval::Value;
use tabia_book::evals::{EvalKey, EvalTable};
use tabia_book::polyglot::{self, PackedMove};
use tabia_book::tree::weight;
use tabia_book::{Annotation, Book, BookMove, Lookup, PositionRecord, Probe as _, Wanted};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// A position of the book that the walk visits.
#[derive(Clone, Debug)]
pub(super) enum Visited {
    /// An entry of the graph.
    Entry {
        number: u32,
        /// Whether wings are exchanged on the board of the entry.
        mirrored: bool,
        turn: Color,
    },
    /// A position, and what the book has about it where it is first reached: an Arena book may
    /// have other figures in another place.
    Position(Box<(Chess, PositionRecord)>),
}

/// A move of a position: few bytes, because there are as many as moves in the book.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepMove(u16);

impl StepMove {
    /// Packed moves have fifteen bits.
    const STORED: u16 = 1 << 15;

    /// The n-th of the stored moves of a position.
    pub(super) fn stored(n: usize) -> StepMove {
        StepMove(StepMove::STORED | n as u16)
    }

    pub(super) fn other(mv: Move) -> StepMove {
        StepMove(PackedMove::from_move(mv).0)
    }

    fn find(self, stored: &[BookMove], legal: &[Move]) -> Option<Move> {
        match self.0 & StepMove::STORED {
            0 => legal.get(PackedMove(self.0).find(legal)?).copied(),
            _ => Some(stored.get(usize::from(self.0 & !StepMove::STORED))?.mv),
        }
    }
}

/// Why a move may be chosen; the best reason of a position counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// The book does not have the position after it.
    None,
    InBook,
    /// It has games enough, and is not bad.
    Sound,
    /// It is green as well: the choice of the book's author.
    Main,
}

/// A move that the player or the opponent may play.
pub(super) struct KnownMove {
    pub(super) mv: StepMove,
    pub(super) annotation: Annotation,
    pub(super) is_never: bool,
    /// How often it is played.
    pub(super) weight: f64,
    /// The position after it, if the book has it.
    pub(super) after: Option<(Visited, PositionRecord)>,
    pub(super) worth: Worth,
}

impl Visited {
    /// Whether it has the same key.
    pub(super) fn is_same(&self, other: &Visited) -> bool {
        match (self, other) {
            (Visited::Entry { number: a, .. }, Visited::Entry { number: b, .. }) => a == b,
            (Visited::Position(a), Visited::Position(b)) => {
                EvalKey::from_position(&a.0) == EvalKey::from_position(&b.0)
            }
            (Visited::Entry { .. }, Visited::Position(_))
            | (Visited::Position(_), Visited::Entry { .. }) => false,
        }
    }

    /// Whether it is the same position.
    pub(super) fn is_equal(&self, other: &Visited) -> bool {
        let form = |place: &Visited| match place {
            Visited::Entry { mirrored, turn, .. } => (*mirrored, *turn, 0),
            Visited::Position(here) => (false, here.0.turn(), polyglot::key(&here.0)),
        };
        self.is_same(other) && form(self) == form(other)
    }
}

pub(super) struct Places<'a> {
    book: &'a Book,
    graph: Option<(&'a CtgBook, BookGraph)>,
    evaluations: &'a EvalTable,
    /// The values of the entries of the graph, with White to move; empty if none is known.
    values: Vec<Option<Value>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(
        book: &'a Book,
        evaluations: &'a EvalTable,
        watch: &mut Watch<'_>,
    ) -> Result<Places<'a>, Error> {
        let mut places = Places::by_look_ups(book, evaluations);
        if let Some(book) = book.as_ctg() {
            let contents = Contents {
                records: true,
                keys: !evaluations.is_empty(),
                ..Contents::default()
            };
            let (mut graph, salvage) = book.graph(contents, watch)?;
            // A look-up of a damaged position fails.
            if !salvage.is_loss() {
                let keys = graph.take_keys();
                let value = |key| evaluations.canonical(key).map(|known| known.value);
                places.values = keys.into_iter().map(value).collect();
                places.graph = Some((book, graph));
            }
        }
        Ok(places)
    }

    pub(super) fn by_look_ups(book: &'a Book, evaluations: &'a EvalTable) -> Places<'a> {
        Places {
            book,
            graph: None,
            evaluations,
            values: Vec::new(),
        }
    }

    /// After the walk only few records are needed.
    pub(super) fn forget_records(&mut self) {
        if let Some((_, graph)) = &mut self.graph {
            graph.forget_records();
        }
    }

    /// The place of a position, with what the book stores about it.
    pub(super) fn find(
        &self,
        position: &Chess,
    ) -> Result<Option<(Visited, PositionRecord)>, Error> {
        let mut found = Lookup::default();
        self.book.probe(position, Wanted::Stored, &mut found)?;
        let Some(record) = found.here else {
            return Ok(None);
        };
        let board = CanonicalBoard::from_position(position);
        let place = match (&self.graph, board) {
            (Some((book, graph)), Some(board)) => {
                graph.entry_of(book, &board)?.map(|number| Visited::Entry {
                    number,
                    mirrored: board.orientation().mirrored,
                    turn: position.turn(),
                })
            }
            (Some(_), None) => None,
            (None, _) => Some(Visited::Position(Box::new((position.clone(), record)))),
        };
        Ok(place.map(|place| (place, record)))
    }

    /// The position of a place, as it first occurs.
    pub(super) fn position(&self, place: &Visited) -> Result<Chess, Error> {
        let (number, mirrored, turn) = match place {
            Visited::Position(here) => return Ok(here.0.clone()),
            Visited::Entry {
                number,
                mirrored,
                turn,
            } => (*number, *mirrored, *turn),
        };
        let position = match &self.graph {
            Some((book, graph)) => graph.position(book, number)?,
            None => None,
        };
        let position = position.unwrap_or_default();
        let position = match mirrored {
            true => other_wing(&position).unwrap_or(position),
            false => position,
        };
        Ok(match turn {
            Color::White => position,
            Color::Black => notation::colours_exchanged(&position),
        })
    }

    /// What the book stores about a place.
    pub(super) fn record(&self, place: &Visited) -> Result<PositionRecord, Error> {
        if let Visited::Position(here) = place {
            return Ok(here.1);
        }
        let found = self.find(&self.position(place)?)?;
        Ok(found.map_or_else(PositionRecord::default, |(_, record)| record))
    }

    /// Moves of a position.
    pub(super) fn moves(
        &self,
        position: &Chess,
        steps: impl Iterator<Item = StepMove>,
    ) -> Result<Vec<Move>, Error> {
        let mut found = Lookup::default();
        self.book.probe(position, Wanted::Stored, &mut found)?;
        let legal = position.legal_moves();
        let moves = steps.filter_map(|step| step.find(&found.moves, &legal));
        Ok(moves.collect())
    }

    /// The value of a place.
    pub(super) fn evaluation(&self, place: &Visited) -> Option<Value> {
        match place {
            Visited::Position(_) if self.evaluations.is_empty() => None,
            Visited::Position(here) => Some(self.evaluations.get(&here.0)?.value),
            Visited::Entry { number, turn, .. } => {
                let value = self.values.get(*number as usize).copied().flatten()?;
                Some(match turn {
                    Color::White => value,
                    Color::Black => value.reversed(),
                })
            }
        }
    }

    /// The numbers of the stored moves of a place in the graph; none without one.
    pub(super) fn stored_range(&self, place: &Visited) -> Range<u32> {
        match place {
            Visited::Entry { number, .. } => self.stored_of_entry(*number),
            Visited::Position(_) => 0..0,
        }
    }

    /// What the book stores about a place, as long as the graph has it.
    pub(super) fn record_in_walk(&self, place: &Visited) -> PositionRecord {
        match (place, &self.graph) {
            (Visited::Position(here), _) => here.1,
            (Visited::Entry { number, .. }, Some((_, graph))) => graph.record(*number),
            (Visited::Entry { .. }, None) => PositionRecord::default(),
        }
    }

    /// The numbers of the stored moves of an entry.
    pub(super) fn stored_of_entry(&self, entry: u32) -> Range<u32> {
        let graph = self.graph.as_ref();
        graph.map_or(0..0, |(_, graph)| graph.stored_range(entry))
    }

    /// Loads what is stored about some places, together, so that the waits for the memory
    /// overlap.
    pub(super) fn ask_for<'p>(&self, places: impl Iterator<Item = &'p Visited>) {
        let entries = places.filter_map(|place| match place {
            Visited::Entry { number, .. } => Some(*number),
            Visited::Position(_) => None,
        });
        let graph = self.graph.as_ref();
        graph.inspect(|(_, graph)| graph.ask_for_entries(entries));
    }

    /// The entries after stored moves, by their [numbers](Places::stored_range); what is
    /// stored about these entries is loaded as by [`Places::ask_for`].
    pub(super) fn ask_for_moves(&self, stored: impl Iterator<Item = Range<u32>>) -> Vec<u32> {
        let Some((_, graph)) = &self.graph else {
            return Vec::new();
        };
        let targets = stored.flat_map(|stored| graph.stored_in(stored));
        let entries = targets.filter_map(|(_, _, target)| target.entry());
        let entries: Vec<u32> = entries.collect();
        graph.ask_for_entries(entries.iter().copied());
        entries
    }

    /// The stored moves of a place, in their order; `stored` are their
    /// [numbers](Places::stored_range).
    pub(super) fn known_moves(
        &self,
        place: &Visited,
        stored: Range<u32>,
        known: &mut Vec<KnownMove>,
    ) -> Result<(), Error> {
        known.clear();
        match place {
            Visited::Position(here) => {
                let position = &here.0;
                let mut found = Lookup::default();
                self.book.probe(position, Wanted::Stored, &mut found)?;
                let stored = (0..).zip(&found.moves);
                known.extend(stored.map(|(n, stored)| KnownMove::new(n, stored, position)));
            }
            Visited::Entry { mirrored, turn, .. } => {
                let Some((book, graph)) = &self.graph else {
                    return Ok(());
                };
                if book.only().is_some_and(|only| only != *turn) {
                    return Ok(());
                }
                for (_, annotation, target) in graph.stored_in(stored) {
                    let after = match target {
                        Target::Illegal | Target::Repeated => continue,
                        Target::Nowhere => None,
                        Target::Entry(to) => {
                            let place = Visited::Entry {
                                number: to.entry,
                                mirrored: to.mirrored != *mirrored,
                                turn: turn.other(),
                            };
                            Some((place, graph.record(to.entry)))
                        }
                    };
                    let games = after.as_ref().map_or(0, |(_, record)| record.stats.games);
                    known.push(KnownMove {
                        mv: StepMove::stored(known.len()),
                        annotation,
                        is_never: false,
                        weight: f64::from(games),
                        worth: after.as_ref().map_or(Worth::None, |_| Worth::InBook),
                        after,
                    });
                }
            }
        }
        Ok(())
    }
}

impl KnownMove {
    fn new(number: usize, stored: &BookMove, position: &Chess) -> KnownMove {
        let after = |record| {
            let position = notation::after(position, stored.mv);
            (Visited::Position(Box::new((position, record))), record)
        };
        KnownMove {
            mv: StepMove::stored(number),
            annotation: stored.annotation,
            is_never: stored.preference.is_never(),
            weight: weight(stored),
            worth: stored.after.map_or(Worth::None, |_| Worth::InBook),
            after: stored.after.map(after),
        }
    }
}
