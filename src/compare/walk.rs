//! Every position of two books, once.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move, Position as _};

use super::{Aspect, Aspects, Difference, compare_at};
use crate::book::ctg::{
    BookEntry, CanonicalBoard, CtgBook, EntryReader, RewriteError, Salvage, fill_from,
};
use crate::book::polyglot;
use crate::book::walk::{Order, Reached, Walk};
use crate::book::{Book, BookPosition, Error, Format, Lookup, Probe as _, Wanted};
use crate::crew::{Panicked, in_order};
use crate::notation;
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

/// How stored moves lead to a position from where the walk began.
pub struct Way<'w> {
    walk: &'w Walk,
    /// Of all steps of the walk.
    sans: &'w [SanPlus],
    here: &'w Reached,
}

impl Way<'_> {
    /// The moves.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        self.walk.line(self.here)
    }

    /// The moves in algebraic notation, the last one first: no position needs
    /// to be made for them.
    pub fn sans_back(&self) -> impl Iterator<Item = SanPlus> {
        let steps = self.walk.steps_back(self.here);
        steps.filter_map(|at| self.sans.get(at).copied())
    }
}

/// Compares two books and calls `found` with what `make` makes, in whichever
/// thread, of every difference and the way to its position where stored moves
/// lead there; what is nearest to the beginning comes first. What is damaged is
/// left out and told.
///
/// # Errors
///
/// A book cannot be read; who watches wants an end; or what `found` returned.
pub fn compare<M: Send, E: From<Error> + From<RewriteError> + From<Panicked> + Send>(
    a: &Book,
    b: &Book,
    plan: &Plan,
    watch: &mut Watch<'_>,
    make: impl Fn(&Difference, Option<Way<'_>>) -> M + Sync,
    mut found: impl FnMut(M) -> Result<(), E>,
) -> Result<(Compared, Salvage), E> {
    if plan.unreached {
        expect_misses(a, b);
    }
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
    comparison.walk(plan, watch, &make, &mut found)?;
    if plan.unreached {
        for book in [a, b].into_iter().filter_map(Book::as_ctg) {
            comparison.rest(book, watch, &make, &mut found)?;
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

/// The smaller of two ChessBase books is asked for all that only the other has:
/// it had better know at once what it does not have.
fn expect_misses(a: &Book, b: &Book) {
    if let (Some(a), Some(b)) = (a.as_ctg(), b.as_ctg()) {
        let [in_a, in_b] = [a, b].map(|book| u64::from(book.header().positions));
        match in_a.cmp(&in_b) {
            Ordering::Less => a.expect(in_b - in_a),
            Ordering::Greater => b.expect(in_a - in_b),
            Ordering::Equal => {}
        }
    }
}

/// What the books say about some positions.
struct Looked {
    positions: Vec<Found>,
    /// Positions after their moves, one position's after the other's.
    next: Vec<Next>,
}

/// What they say about one.
struct Found {
    /// At least one book holds it.
    held: bool,
    difference: Option<Difference>,
    /// What is damaged.
    faults: Vec<Error>,
    /// Moves that go on from it.
    moves: usize,
}

/// A position after a move.
struct Next {
    mv: Move,
    san: SanPlus,
    position: Chess,
    id: Id,
}

/// By which positions are told apart.
struct Id {
    seen: u64,
    /// In ChessBase's form, where `seen` is not.
    normal: Option<u64>,
}

/// Differences that one thread makes something of in one go.
const MADE_AT_ONCE: usize = 128;

/// What one thread looks positions up with.
struct Probes<'b> {
    /// Of two ChessBase books.
    entries: Option<[EntryReader<'b>; 2]>,
    in_a: Lookup,
    in_b: Lookup,
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
        let mut looked = Looked {
            positions: Vec::with_capacity(share.len()),
            next: Vec::with_capacity(share.len()),
        };
        let mut probes = self.probes()?;
        for here in share {
            let position = &here.position;
            let mut found = self.look_at(position, &mut probes)?;
            let goes_on = plies.is_none_or(|plies| here.ply < plies);
            if goes_on && (found.held || here.ply == 0) {
                let before = looked.next.len();
                let (in_a, in_b) = (&probes.in_a.moves, &probes.in_b.moves);
                let only_in_b = in_b
                    .iter()
                    .filter(|mv| !in_a.iter().any(|other| other.mv == mv.mv));
                looked.next.extend(in_a.iter().chain(only_in_b).map(|mv| {
                    let mut after = position.clone();
                    after.play_unchecked(mv.mv);
                    Next {
                        mv: mv.mv,
                        san: notation::san_plus(position, mv.mv),
                        id: self.id(&after),
                        position: after,
                    }
                }));
                found.moves = looked.next.len() - before;
            }
            looked.positions.push(found);
        }
        Ok(looked)
    }

    fn probes(&self) -> Result<Probes<'_>, Error> {
        let entries = match self.both {
            Some((a, b)) => Some([a.entry_reader()?, b.entry_reader()?]),
            None => None,
        };
        Ok(Probes {
            entries,
            in_a: Lookup::default(),
            in_b: Lookup::default(),
        })
    }

    fn look_at(&self, position: &Chess, probes: &mut Probes<'_>) -> Result<Found, Error> {
        let Probes {
            entries,
            in_a,
            in_b,
        } = probes;
        let mut faults = Vec::new();
        let mut same = false;
        match entries {
            Some(readers) => same = look_into(readers, position, [in_a, in_b], &mut faults)?,
            None => {
                for (book, lookup) in [(self.a, &mut *in_a), (self.b, &mut *in_b)] {
                    if let Err(error) = book.probe(position, Wanted::Stored, lookup) {
                        faults.push(damage(error)?);
                    }
                }
            }
        }
        let mut found = Found {
            held: in_a.here.is_some() || in_b.here.is_some(),
            difference: None,
            faults,
            moves: 0,
        };
        if found.faults.is_empty() && !same {
            found.difference =
                compare_at(position, (in_a, in_b), self.aspects, self.stats_of_moves);
        }
        Ok(found)
    }

    /// Positions by the account of the greater book.
    fn expected(&self) -> Option<u64> {
        let said = [self.a, self.b].map(|book| book.as_ctg().map(|ctg| ctg.header().positions));
        said.into_iter().flatten().max().map(u64::from)
    }
}

/// What two ChessBase books store about a position; nobody compares what
/// stands after the moves. Whether that is the same, byte for byte: then only
/// the first is told.
fn look_into(
    [a, b]: &mut [EntryReader<'_>; 2],
    position: &Chess,
    [in_a, in_b]: [&mut Lookup; 2],
    faults: &mut Vec<Error>,
) -> Result<bool, Error> {
    in_a.clear();
    in_b.clear();
    let Some(board) = CanonicalBoard::from_position(position) else {
        return Ok(false);
    };
    let legal = position.legal_moves();
    let mut entry = |found: Result<_, Error>| match found {
        Ok(entry) => Ok(entry),
        Err(error) => damage(error).map(|damage| {
            faults.push(damage);
            None
        }),
    };
    let a = entry(a.entry_of(&board))?;
    let b = entry(b.entry_of(&board))?;
    let same = match (&a, &b) {
        (Some(a), Some(b)) => a.bytes() == b.bytes(),
        _ => false,
    };
    for (entry, found) in [(a, in_a), (b.filter(|_| !same), in_b)] {
        if let Some(entry) = entry {
            fill_from(&entry, &board, &legal, found);
        }
    }
    Ok(same)
}

impl Comparison<'_> {
    fn walk<M: Send, E: From<Error> + From<RewriteError> + From<Panicked> + Send>(
        &mut self,
        plan: &Plan,
        watch: &mut Watch<'_>,
        make: &(impl Fn(&Difference, Option<Way<'_>>) -> M + Sync),
        found: &mut impl FnMut(M) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        let expected = books.expected();
        self.enter(&books.id(&plan.from));
        // Lent to whoever takes and to whoever is done with a lot.
        let sans = RefCell::new(Vec::new());
        let differences: RefCell<Vec<(usize, Difference)>> = RefCell::default();
        // Of the positions of a lot.
        let at = Cell::new(0);
        Walk::new(&plan.from, Order::Breadth).spread_in_lots(
            |share| Ok(books.look(share, plan.plies)?),
            |walk, share, looked| {
                let (mut sans, mut differences) = (sans.borrow_mut(), differences.borrow_mut());
                let mut next = looked.next.into_iter();
                for (here, position) in share.iter().zip(looked.positions) {
                    let done = self.compared.positions;
                    let watched = watch.position("comparing", done, expected);
                    watched.map_err(RewriteError::from)?;
                    let moves = position.moves;
                    let difference = self.count(position);
                    differences.extend(difference.map(|difference| (at.get(), difference)));
                    at.set(at.get() + 1);
                    for next in next.by_ref().take(moves) {
                        if self.enter(&next.id) {
                            walk.enter(here, next.mv, next.position, ());
                            sans.push(next.san);
                        }
                    }
                }
                Ok(())
            },
            |walk, lot| {
                at.set(0);
                let (sans, mut differences) = (sans.borrow(), differences.borrow_mut());
                let sans = sans.as_slice();
                let lots: Vec<_> = differences.chunks(MADE_AT_ONCE).collect();
                let made = |n: u32| -> Vec<M> {
                    let some = lots.get(n as usize).copied().unwrap_or_default();
                    let some = some.iter().filter_map(|(at, difference)| {
                        let here = lot.get(*at)?;
                        Some(make(difference, Some(Way { walk, sans, here })))
                    });
                    some.collect()
                };
                in_order(
                    lots.len() as u32,
                    |n| Ok::<_, E>(made(n)),
                    |made| made.into_iter().try_for_each(&mut *found),
                )?;
                differences.clear();
                Ok(())
            },
        )
    }

    /// The entries of a ChessBase book that no walk came to.
    fn rest<M: Send, E: From<Error> + From<RewriteError> + From<Panicked> + Send>(
        &mut self,
        book: &CtgBook,
        watch: &mut Watch<'_>,
        make: &(impl Fn(&Difference, Option<Way<'_>>) -> M + Sync),
        found: &mut impl FnMut(M) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        let mut probes = books.probes()?;
        let known = match books.both {
            Some(_) => &mut self.seen,
            None => &mut self.normal,
        };
        let mut known = std::mem::take(known);
        let key_of = |position: &Chess| match books.both {
            Some(_) => Some(books.id(position).seen),
            None => canonical_key(position),
        };
        let mut more = HashSet::<u64, FxBuildHasher>::default();
        book.each_block(
            "comparing the rest",
            watch,
            |all: &mut Vec<Result<BookEntry, Error>>, entry| {
                let new = entry.map(|(place, entry)| {
                    // Most were come to: their positions need not be made.
                    let new = BookEntry::of(place, &entry);
                    new.filter(|entry| !known.contains(&entry.key.wide_hash()))
                });
                all.extend(new.transpose());
                Ok(())
            },
            Ok,
            |entries| {
                for entry in entries {
                    let entry = match entry {
                        Ok(entry) => entry,
                        Err(damage) => {
                            self.lost.take(damage);
                            continue;
                        }
                    };
                    let Some(BookPosition { position, .. }) = BookPosition::of(&entry) else {
                        continue;
                    };
                    let new = |key| !known.contains(&key) && more.insert(key);
                    if key_of(&position).is_none_or(new) {
                        let looked = books.look_at(&position, &mut probes)?;
                        if let Some(difference) = self.count(looked) {
                            found(make(&difference, None))?;
                        }
                    }
                }
                Ok::<_, E>(())
            },
        )?;
        known.extend(more);
        match books.both {
            Some(_) => self.seen = known,
            None => self.normal = known,
        }
        Ok(())
    }

    /// Notes a position; false if it was known.
    fn enter(&mut self, id: &Id) -> bool {
        self.normal.extend(id.normal);
        self.seen.insert(id.seen)
    }

    /// Counts what was found of a position; the difference, if there is one.
    fn count(&mut self, position: Found) -> Option<Difference> {
        if !position.faults.is_empty() {
            position
                .faults
                .into_iter()
                .for_each(|fault| self.lost.take(fault));
            self.compared.unread += 1;
            return None;
        }
        self.compared.positions += u64::from(position.held);
        let difference = position.difference?;
        self.compared.count(&difference);
        Some(difference)
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

/// A number for the entry that a ChessBase book has for a position.
fn canonical_key(position: &Chess) -> Option<u64> {
    Some(CanonicalBoard::from_position(position)?.key().wide_hash())
}
