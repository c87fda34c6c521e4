//! Every position of two books, once.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::{Aspect, Aspects, Difference, compare_at};
use crate::book::ctg::{
    BookEntry, CanonicalBoard, CtgBook, EntryReader, Error as FormatError, Key, RewriteError,
    Salvage, find_move_byte, read_entry,
};
use crate::book::polyglot;
use crate::book::walk::{Order, Reached, Walk};
use crate::book::{Book, BookPosition, Error, Format, Lookup, Probe as _, Wanted};
use crate::crew::Panicked;
use crate::watch::Watch;

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the walk begins.
    pub from: Chess,
    /// Plies from there; `None` is all the way.
    pub plies: Option<u32>,
    /// Also entries that the walk does not reach.
    pub unreached: bool,
    /// What counts as a difference.
    pub aspects: Aspects,
}

/// What was found, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Positions that at least one book holds.
    pub positions: u64,
    /// Positions about which the books differ.
    pub different: u64,
    /// Positions only A holds.
    pub only_in_a: u64,
    /// Positions only B holds.
    pub only_in_b: u64,
    /// Positions that are not compared, because what a book holds of them is
    /// damaged.
    pub unread: u64,
    /// Positions by aspect, in the order of [`Aspect::ALL`].
    pub by_aspect: [u64; Aspect::ALL.len()],
}

/// Compares two books and calls `found` with every difference, nearest to
/// the beginning first. What is damaged is left out and told.
///
/// # Errors
///
/// A book cannot be read; who watches wants an end; or what `found` returned.
pub fn compare<E: From<Error> + From<RewriteError> + From<Panicked> + Send>(
    a: &Book,
    b: &Book,
    plan: &Plan,
    watch: &mut Watch<'_>,
    mut found: impl FnMut(&Difference) -> Result<(), E>,
) -> Result<(Compared, Salvage), E> {
    let books = Books {
        a,
        b,
        aspects: plan.aspects.between(a.format(), b.format()),
        stats_of_moves: a.format() != Format::Ctg || b.format() != Format::Ctg,
        both: a.as_ctg().zip(b.as_ctg()),
    };
    let mut comparison = Comparison {
        books,
        seen: HashSet::default(),
        normal: HashSet::default(),
        compared: Compared::default(),
        lost: Lost::default(),
    };
    comparison.walk(plan, watch, &mut found)?;
    if plan.unreached {
        for book in [a, b].into_iter().filter_map(Book::as_ctg) {
            comparison.rest(book, watch, &mut found)?;
        }
    }
    Ok((comparison.compared, comparison.lost.salvage))
}

/// The books, for every thread.
#[derive(Clone, Copy)]
struct Books<'b> {
    a: &'b Book,
    b: &'b Book,
    aspects: Aspects,
    stats_of_moves: bool,
    /// Two ChessBase books: one entry stands for up to four positions in both.
    both: Option<(&'b CtgBook, &'b CtgBook)>,
}

/// What the books say about some positions.
#[derive(Default)]
struct Looked {
    positions: Vec<Found>,
    /// Positions after their moves, one position's after the other's.
    next: Vec<Next>,
}

/// What they say about one.
#[derive(Default)]
struct Found {
    /// At least one book holds it.
    held: bool,
    difference: Option<Box<Difference>>,
    /// What is damaged.
    faults: Vec<Error>,
    /// Moves that go on from it.
    moves: usize,
}

/// A position after a move.
struct Next {
    mv: Move,
    position: Chess,
    id: Id,
}

/// By which positions are told apart.
struct Id {
    seen: u64,
    /// In ChessBase's form, where `seen` is not.
    normal: Option<u64>,
}

struct Comparison<'b> {
    books: Books<'b>,
    /// Positions on the way or done.
    seen: HashSet<u64, FxBuildHasher>,
    /// Their keys in ChessBase's form where `seen` has others.
    normal: HashSet<u64, FxBuildHasher>,
    compared: Compared,
    lost: Lost,
}

/// What could not be read, each once.
#[derive(Default)]
struct Lost {
    salvage: Salvage,
    told: HashSet<String>,
}

impl Lost {
    fn take(&mut self, damage: Error) {
        if self.told.insert(damage.to_string()) {
            self.salvage.bad_page(damage);
        }
    }
}

/// Damage; anything else is an error.
fn damage(error: Error) -> Result<Error, Error> {
    match &error {
        fault if fault.is_damage() => Ok(error),
        _ => Err(error),
    }
}

impl Books<'_> {
    fn id(&self, position: &Chess) -> Id {
        let normal = canonical_key(position);
        match self.both {
            Some(_) => Id {
                seen: normal.unwrap_or_else(|| polyglot::key(position)),
                normal: None,
            },
            None => Id {
                seen: polyglot::key(position),
                normal: normal.filter(|_| self.a.as_ctg().or(self.b.as_ctg()).is_some()),
            },
        }
    }

    /// Looks at some positions and goes on from those of less than so many
    /// plies.
    fn look(&self, share: &[Reached], plies: Option<u32>) -> Result<Looked, Error> {
        let mut looked = Looked::default();
        let (mut in_a, mut in_b) = (Lookup::default(), Lookup::default());
        let mut entries = match self.both {
            Some((a, b)) => Some((a.entry_reader()?, b.entry_reader()?)),
            None => None,
        };
        let mut moves: Vec<Move> = Vec::new();
        for here in share {
            let position = &here.position;
            moves.clear();
            let same = entries.as_mut().is_some_and(|(a, b)| {
                let same = same_moves(position, a, b, &mut moves);
                same.is_some()
            });
            let mut found = match same {
                true => Found {
                    held: true,
                    ..Found::default()
                },
                false => self.look_at(position, &mut in_a, &mut in_b)?,
            };
            if !same && (found.held || here.ply == 0) {
                moves.clear();
                moves.extend(in_a.moves.iter().chain(&in_b.moves).map(|mv| mv.mv));
            }
            if plies.is_some_and(|plies| here.ply >= plies) {
                moves.clear();
            }
            found.moves = moves.len();
            looked.positions.push(found);
            looked.next.extend(moves.iter().map(|&mv| {
                let mut after = position.clone();
                after.play_unchecked(mv);
                Next {
                    mv,
                    id: self.id(&after),
                    position: after,
                }
            }));
        }
        Ok(looked)
    }

    fn look_at(
        &self,
        position: &Chess,
        in_a: &mut Lookup,
        in_b: &mut Lookup,
    ) -> Result<Found, Error> {
        let mut found = Found::default();
        for (book, lookup) in [(self.a, &mut *in_a), (self.b, &mut *in_b)] {
            let probed = match (book, self.both) {
                // Nobody compares what stands after the moves.
                (Book::Ctg(book), Some(_)) => {
                    let reader = book.entry_reader();
                    reader.and_then(|mut reader| reader.probe(position, lookup))
                }
                _ => book.probe(position, Wanted::Stored, lookup),
            };
            if let Err(error) = probed {
                found.faults.push(damage(error)?);
            }
        }
        found.held = in_a.here.is_some() || in_b.here.is_some();
        if found.faults.is_empty() {
            let difference = compare_at(position, (in_a, in_b), self.aspects, self.stats_of_moves);
            found.difference = difference.map(Box::new);
        }
        Ok(found)
    }

    /// Positions by the account of the greater book.
    fn expected(&self) -> Option<u64> {
        let said = [self.a, self.b].map(|book| book.as_ctg().map(|ctg| ctg.header().positions));
        said.into_iter().flatten().max().map(u64::from)
    }
}

/// The stored moves of a position about which two ChessBase books say the
/// same, byte for byte; `None` where a closer look is needed.
fn same_moves(
    position: &Chess,
    a: &mut EntryReader<'_>,
    b: &mut EntryReader<'_>,
    moves: &mut Vec<Move>,
) -> Option<()> {
    let board = CanonicalBoard::from_position(position)?;
    let (in_a, in_b) = (a.bytes_of(&board).ok()??, b.bytes_of(&board).ok()??);
    if in_a != in_b {
        return None;
    }
    let entry = read_entry(in_a).ok()?;
    let legal = position.legal_moves();
    let stored = entry.moves().filter_map(|(byte, _)| {
        let n = find_move_byte(byte, &board, &legal).ok()?;
        legal.get(n).copied()
    });
    moves.extend(stored);
    Some(())
}

impl Comparison<'_> {
    fn walk<E: From<Error> + From<RewriteError> + From<Panicked> + Send>(
        &mut self,
        plan: &Plan,
        watch: &mut Watch<'_>,
        found: &mut impl FnMut(&Difference) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        self.enter(&books.id(&plan.from));
        Walk::new(&plan.from, Order::Breadth).spread(
            |share| Ok(books.look(share, plan.plies)?),
            |walk, share, looked| {
                let mut next = looked.next.into_iter();
                for (here, mut position) in share.iter().zip(looked.positions) {
                    let done = self.compared.positions;
                    let watched = watch.position("comparing", done, books.expected());
                    watched.map_err(RewriteError::from)?;
                    if let Some(difference) = &mut position.difference {
                        difference.line = Some(walk.line(here));
                    }
                    let moves = position.moves;
                    self.count(position, found)?;
                    for next in next.by_ref().take(moves) {
                        if self.enter(&next.id) {
                            walk.enter(here, next.mv, next.position, ());
                        }
                    }
                }
                Ok(())
            },
        )
    }

    /// The entries of a ChessBase book that no walk came to.
    fn rest<E: From<Error> + From<RewriteError> + From<Panicked> + Send>(
        &mut self,
        book: &CtgBook,
        watch: &mut Watch<'_>,
        found: &mut impl FnMut(&Difference) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        let (mut in_a, mut in_b) = (Lookup::default(), Lookup::default());
        let mut one = |this: &mut Self, entry: BookEntry| -> Result<(), E> {
            let known = match books.both {
                Some(_) => &this.seen,
                None => &this.normal,
            };
            // Most were come to: their positions need not be made.
            if known.contains(&hash_of(&entry.key)) {
                return Ok(());
            }
            let Some(BookPosition { position, .. }) = BookPosition::of(&entry) else {
                return Ok(());
            };
            let new = match books.both {
                Some(_) => this.enter(&books.id(&position)),
                None => canonical_key(&position).is_none_or(|key| this.normal.insert(key)),
            };
            if new {
                let looked = books.look_at(&position, &mut in_a, &mut in_b)?;
                this.count(looked, found)?;
            }
            Ok(())
        };
        book.each_block(
            "comparing the rest",
            watch,
            |all: &mut Vec<Result<BookEntry, FormatError>>, entry| {
                all.extend(match entry {
                    Ok((place, entry)) => BookEntry::of(place, &entry).map(Ok),
                    Err(damage) => Some(Err(damage)),
                });
                Ok(())
            },
            Ok,
            |entries| {
                for entry in entries {
                    match entry {
                        Ok(entry) => one(self, entry)?,
                        Err(damage) => self.lost.take(damage),
                    }
                }
                Ok(())
            },
        )
    }

    /// Notes a position; false if it was known.
    fn enter(&mut self, id: &Id) -> bool {
        self.normal.extend(id.normal);
        self.seen.insert(id.seen)
    }

    fn count<E>(
        &mut self,
        position: Found,
        found: &mut impl FnMut(&Difference) -> Result<(), E>,
    ) -> Result<(), E> {
        if !position.faults.is_empty() {
            position
                .faults
                .into_iter()
                .for_each(|fault| self.lost.take(fault));
            self.compared.unread += 1;
            return Ok(());
        }
        self.compared.positions += u64::from(position.held);
        if let Some(difference) = position.difference {
            self.compared.count(&difference);
            found(&difference)?;
        }
        Ok(())
    }
}

impl Compared {
    fn count(&mut self, difference: &Difference) {
        self.different += 1;
        match difference.only_in {
            Some(super::Side::A) => self.only_in_a += 1,
            Some(super::Side::B) => self.only_in_b += 1,
            None => {}
        }
        for (count, aspect) in self.by_aspect.iter_mut().zip(Aspect::ALL) {
            *count += u64::from(difference.touches(aspect));
        }
    }
}

/// A number for the entry that a ChessBase book has for a position. Two in a
/// book of a million positions are the same once in a hundred million books.
fn canonical_key(position: &Chess) -> Option<u64> {
    Some(hash_of(&CanonicalBoard::from_position(position)?.key()))
}

fn hash_of(key: &Key) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(key.as_bytes())
}
