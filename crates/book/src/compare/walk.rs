//! Visits every position of two books once.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use shakmaty::{Chess, Move};

use super::lookups::{Books, Id, Note, PositionLookup, Seen};
use super::{Aspect, Aspects, Difference};
use crate::ctg::{BookEntry, CtgBook, Pair, Salvage, Tree};
use crate::polyglot::indexed::Indexed;
use crate::walk::{Order, Walk, WalkNode};
use crate::{Book, BookPosition, BookWalk, Bridges, Error};
use tabia_io::parallel::{Panicked, in_order};
use tabia_io::progress::Watch;

tabia_io::options! {
    /// The options of a comparison.
    #[derive(Clone, Debug)]
    pub struct Plan {
        /// The aspects to compare.
        aspects: Aspects,
        ;
        /// Where the walk begins.
        from: Chess = Chess::default(),
        /// Plies from there; `None` for no limit.
        plies: Option<u32> = None,
        /// Whether to compare entries that the walk does not reach.
        unreached: bool = true,
    }
}

/// The numbers of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// Positions that are in at least one book.
    pub positions: u64,
    /// Positions in which the books differ.
    pub different: u64,
    /// Positions only in A.
    pub only_in_a: u64,
    /// Positions only in B.
    pub only_in_b: u64,
    /// Positions that are not compared because they are damaged in a book.
    pub unread: u64,
    /// Positions of Polyglot books that are not compared because no line was found to them.
    pub without_line: u64,
    /// Different positions by aspect, in the order of [`Aspect::ALL`].
    pub by_aspect: [u64; Aspect::ALL.len()],
}

/// The stored moves from the start of the walk to a position.
pub struct Way<'w> {
    walk: &'w Walk<Note>,
    here: &'w WalkNode<Note>,
}

impl Way<'_> {
    /// The moves.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        self.walk.line(self.here)
    }

    /// The moves as [`tabia_notation::Line`] writes them; no position is made for them.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.here.note.line
    }
}

/// Compares two books. `make` gets every difference, in any thread, with the way to its
/// position if stored moves lead there; `found` gets its results, positions near the
/// start first. Damaged positions are left out and reported.
///
/// # Errors
///
/// A book cannot be read, the work is cancelled, or `found` fails.
pub fn compare<M: Send, E: From<Error> + From<Panicked> + Send>(
    a: &Book,
    b: &Book,
    plan: &Plan,
    watch: &mut Watch<'_>,
    make: impl Fn(&Difference, Option<Way<'_>>) -> M + Sync,
    mut found: impl FnMut(M) -> Result<(), E>,
) -> Result<(Compared, Salvage), E> {
    let mut bridges = Bridges::default();
    let mut without_line = 0;
    if plan.unreached {
        for book in [a, b]
            .into_iter()
            .filter(|book| matches!(book, Book::Bin(_)))
        {
            let (of_book, unreached, _) = BookWalk::bridges(book, watch)?;
            without_line += unreached;
            for (key, moves) in of_book {
                bridges.entry(key).or_default().extend(moves);
            }
        }
    }
    let pair = match a.as_ctg().zip(b.as_ctg()) {
        Some((a, b)) => Pair::new([a, b], &plan.from, &mut watch.part(0, 600))?,
        None => None,
    };
    let watch = &mut match pair {
        Some(_) => watch.part(600, 1000),
        None => watch.part(0, 1000),
    };
    let tree = pair.as_ref().map(|pair| pair.tree(plan.plies));
    let pair = pair.as_ref().zip(tree.as_ref());
    let indexed = [Indexed::read(a)?, Indexed::read(b)?];
    let books = Books::new(a, b, &indexed, &bridges, plan.aspects, pair);
    if plan.unreached && pair.is_none() {
        books.expect_misses();
    }
    let mut comparison = Comparison {
        books,
        seen: Seen::default(),
        compared: Compared {
            without_line,
            ..Compared::default()
        },
        lost: Lost::default(),
    };
    for book in [a, b] {
        comparison.lost.salvage.add(book.missing_parts());
    }
    comparison.walk(plan, watch, &make, &mut found)?;
    if let Some((pair, tree)) = pair {
        let reached = tree.reached.iter().filter(|reached| **reached);
        comparison.compared.positions = reached.count() as u64;
        if plan.unreached {
            comparison.rest_of_pair(pair, tree, watch, &make, &mut found)?;
        }
    } else if plan.unreached {
        let ctg = [a, b].map(Book::as_ctg);
        for (number, book) in ctg.into_iter().enumerate() {
            if let Some(book) = book {
                comparison.rest(book, number, watch, &make, &mut found)?;
            }
        }
    }
    Ok((comparison.compared, comparison.lost.salvage))
}

/// Differences that one thread passes to `make` in one batch. With 128, and a quarter of
/// [`crate::walk`]'s batches, threads that wake each other took an eighth of `diff`.
const MADE_AT_ONCE: usize = 512;

struct Comparison<'b> {
    books: Books<'b>,
    seen: Seen,
    compared: Compared,
    lost: Lost,
}

/// Damage, each reported once.
#[derive(Default)]
struct Lost {
    salvage: Salvage,
    reported: HashSet<String>,
}

impl Lost {
    fn take(&mut self, damage: Error) {
        if self.reported.insert(damage.to_string()) {
            self.salvage.bad_page(damage);
        }
    }
}

impl Comparison<'_> {
    fn walk<M: Send, E: From<Error> + From<Panicked> + Send>(
        &mut self,
        plan: &Plan,
        watch: &mut Watch<'_>,
        make: &(impl Fn(&Difference, Option<Way<'_>>) -> M + Sync),
        found: &mut impl FnMut(M) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        let expected = books.expected();
        let root = match books.pair {
            Some(_) => Some(Id::Node(0)),
            None => books.id(&plan.from, &mut books.probes()?)?,
        };
        let root = root.unwrap_or_else(|| books.key_of(&plan.from));
        self.seen.enter(&root);
        let root = Note {
            id: root,
            line: Box::default(),
        };
        // Shared by the two closures that follow.
        let differences: RefCell<Vec<(usize, Difference)>> = RefCell::default();
        // The index of a position in its chunk.
        let at = Cell::new(0);
        Walk::with_notes(&plan.from, root, Order::Breadth).spread_in_chunks(
            |share| Ok(books.look(share, plan.plies)?),
            |walk, share, looked| {
                let mut differences = differences.borrow_mut();
                let mut next = looked.next.into_iter();
                for (here, position) in share.iter().zip(looked.positions) {
                    let done = self.compared.positions;
                    let watched = watch.position("comparing", done, expected);
                    watched.map_err(Error::from)?;
                    let moves = position.moves;
                    let difference = self.count(position);
                    differences.extend(difference.map(|difference| (at.get(), difference)));
                    at.set(at.get() + 1);
                    for next in next.by_ref().take(moves) {
                        if self.seen.enter(&next.id) {
                            let note = here.note.after(&here.position, &next);
                            walk.enter(here, next.mv, next.position, note);
                        }
                    }
                }
                Ok(())
            },
            |walk, chunk| {
                at.set(0);
                let mut differences = differences.borrow_mut();
                let chunks: Vec<_> = differences.chunks(MADE_AT_ONCE).collect();
                let made = |n: u32| -> Vec<M> {
                    let some = chunks.get(n as usize).copied().unwrap_or_default();
                    let some = some.iter().filter_map(|(at, difference)| {
                        let here = chunk.get(*at)?;
                        Some(make(difference, Some(Way { walk, here })))
                    });
                    some.collect()
                };
                in_order(
                    chunks.len() as u32,
                    |n| Ok::<_, E>(made(n)),
                    |made| made.into_iter().try_for_each(&mut *found),
                )?;
                differences.clear();
                Ok(())
            },
        )
    }

    /// Compares the entries of a ChessBase book, the first or the second of both, that
    /// the walk did not reach.
    fn rest<M: Send, E: From<Error> + From<Panicked> + Send>(
        &mut self,
        book: &CtgBook,
        number: usize,
        watch: &mut Watch<'_>,
        make: &(impl Fn(&Difference, Option<Way<'_>>) -> M + Sync),
        found: &mut impl FnMut(M) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        let mut probes = books.probes()?;
        // The set does not change while threads read it.
        let known = std::mem::take(&mut self.seen);
        book.each_block(
            "comparing the rest",
            watch,
            |all: &mut Vec<Result<BookEntry, Error>>, entry| {
                // Most were reached, so their positions need not be made.
                let new =
                    entry.map(
                        |(place, entry)| match known.has_visited(number, place, &entry) {
                            true => None,
                            false => BookEntry::from_entry(place, &entry),
                        },
                    );
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
                    let Some(BookPosition { position, .. }) = BookPosition::from_entry(&entry)
                    else {
                        continue;
                    };
                    let Some(id) = books.id(&position, &mut probes)? else {
                        continue;
                    };
                    if !known.has_entry(&id) && self.seen.enter_entry(&id) {
                        let looked = books.look_at(&position, &id, &mut probes)?;
                        if let Some(difference) = self.count(looked) {
                            found(make(&difference, None))?;
                        }
                    }
                }
                Ok::<_, E>(())
            },
        )?;
        self.seen.add(known);
        Ok(())
    }

    /// Compares the positions of a pair that the walk did not reach.
    fn rest_of_pair<M: Send, E: From<Error> + From<Panicked> + Send>(
        &mut self,
        pair: &Pair,
        tree: &Tree,
        watch: &mut Watch<'_>,
        make: &(impl Fn(&Difference, Option<Way<'_>>) -> M + Sync),
        found: &mut impl FnMut(M) -> Result<(), E>,
    ) -> Result<(), E> {
        let books = self.books;
        let rest = (0..pair.len()).zip(&tree.reached);
        let rest: Vec<u32> = rest
            .filter(|(_, reached)| !**reached)
            .map(|(n, _)| n)
            .collect();
        let shares: Vec<&[u32]> = rest.chunks(MADE_AT_ONCE).collect();
        let (mut done, all) = (0, Some(rest.len() as u64));
        in_order(
            shares.len() as u32,
            |n| {
                let mut probes = books.probes()?;
                let share = shares.get(n as usize).copied().unwrap_or_default();
                let looked = share.iter().map(|&number| {
                    let position = pair.position(number);
                    let looked = books.look_in_pair(pair, number, &position, &mut probes);
                    let made = looked.difference.as_ref().map(|found| make(found, None));
                    (looked, made)
                });
                Ok(looked.collect::<Vec<_>>())
            },
            |looked| {
                for (looked, made) in looked {
                    let watched = watch.position("comparing the rest", done, all);
                    watched.map_err(Error::from)?;
                    done += 1;
                    self.count(looked);
                    made.map_or(Ok(()), &mut *found)?;
                }
                Ok(())
            },
        )
    }

    /// Counts a position; returns the difference, if there is one.
    fn count(&mut self, position: PositionLookup) -> Option<Difference> {
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
            *count += u64::from(difference.touches(*aspect));
        }
    }
}
