//! A walk along the lines of a book.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::tree::shares;
use super::{Order, Walk, WalkNode};
use crate::{Book, BookMove, Error, Lookup, Probe, Wanted, polyglot};
use tabia_notation as notation;

/// A walk along the lines of a book through all positions that they reach, each once and
/// as it occurs in games, with a line to it: see [`Book::walk`].
///
/// It goes along the stored moves ([`Wanted::Lines`]). A Polyglot book has keys and no
/// boards, and if it is for one side only, no moves of the other side. So if the stored
/// moves do not reach all of its keys, more walks follow, which also continue by moves that
/// the book does not store: first by each single one that leads to a missing position,
/// then by two and by three in a row, as far as some five million trials allow. Only positions that
/// were not reached before are returned again.
pub struct BookWalk<'b> {
    book: &'b Book,
    order: Order,
    pub(crate) walk: Walk,
    seen: HashSet<u64, FxBuildHasher>,
    /// Length of the longest line of moves, not stored, by which the walk continues.
    beyond: usize,
    /// Keys that were not reached; `None` on the first walk.
    missing: Option<HashSet<u64, FxBuildHasher>>,
    tried: u64,
    /// Keys in the book that were returned.
    reached: u64,
    /// The moves, not stored, that lead on from a position, by its key.
    bridges: Option<Bridges>,
    /// Positions before the last move of lines of several moves that are not stored, since
    /// the last call of [`BookWalk::advance`].
    pub(crate) between: Vec<Chess>,
    /// What the book stores about the last position.
    pub(crate) found: Lookup,
}

/// Moves that a book does not store but that lead to positions of the book which its
/// stored moves do not reach, by the key of the position before them.
pub(crate) type Bridges = HashMap<u64, Vec<Move>, FxBuildHasher>;

/// Most moves, not stored, in a row by which a walk goes on.
const MOST_BEYOND: usize = 3;

/// Positions that may be tried after two and three moves that are not stored: about a
/// second.
const MOST_TRIED: u64 = 5_000_000;

/// A position of a game that a [`BookWalk`] came to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WalkedPosition {
    /// The position.
    pub position: Chess,
    /// The moves to it from the first position of the walk.
    pub line: Vec<Move>,
    /// How often this line is played, 0 to 1: the product of the shares of its moves in
    /// the games (or weights) of their positions. Other lines to the position do not
    /// count.
    pub share: f64,
    /// What the book stores about it. In a position that a book for one side has no moves
    /// for, the moves along which its lines continue.
    pub lookup: Lookup,
}

impl Book {
    /// Walks from the start position along the lines of the book.
    ///
    /// Unlike [`Book::positions`], this gives real positions: a ChessBase book, whose
    /// entries are for several positions, returns those that its lines reach, with either
    /// side to move. It takes some 150 bytes for each position.
    ///
    /// ```
    /// # use tabia_book::{Book, OpenOptions, walk::Order};
    /// let book = Book::open("tests/data/ctg/simple.ctg", &OpenOptions::default())?;
    /// for visited in book.walk(Order::Likeliest).take(10) {
    ///     let visited = visited?;
    ///     println!("{:?}: {} moves", visited.line, visited.lookup.moves.len());
    /// }
    /// # Ok::<(), tabia_book::Error>(())
    /// ```
    #[must_use]
    pub fn walk(&self, order: Order) -> BookWalk<'_> {
        BookWalk::new(self, &Chess::default(), order)
    }

    /// Walks along the lines of the book from a given position, by stored moves only.
    #[must_use]
    pub fn walk_from(&self, root: &Chess, order: Order) -> BookWalk<'_> {
        BookWalk {
            beyond: MOST_BEYOND,
            ..BookWalk::new(self, root, order)
        }
    }
}

/// Ends after an error.
impl Iterator for BookWalk<'_> {
    type Item = Result<WalkedPosition, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(here) => here.map(|here| {
                Ok(WalkedPosition {
                    line: self.walk.line(&here),
                    share: here.share,
                    lookup: std::mem::take(&mut self.found),
                    position: here.position,
                })
            }),
            Err(error) => {
                self.walk.end();
                self.beyond = MOST_BEYOND;
                Some(Err(error))
            }
        }
    }
}

impl<'b> BookWalk<'b> {
    fn new(book: &'b Book, start: &Chess, order: Order) -> BookWalk<'b> {
        BookWalk {
            book,
            order,
            seen: HashSet::from_iter([polyglot::key(start)]),
            walk: Walk::new(start, order),
            beyond: 0,
            missing: None,
            tried: 0,
            reached: 0,
            bridges: None,
            between: Vec::new(),
            found: Lookup::default(),
        }
    }

    /// A walk after one along the stored moves, which has come to the keys `seen`.
    #[cfg(feature = "json")] // For conversions.
    pub(crate) fn beyond(book: &'b Book, seen: HashSet<u64, FxBuildHasher>) -> BookWalk<'b> {
        let mut walk = book.walk(Order::Depth);
        walk.seen = seen;
        walk.walk.end();
        walk
    }

    /// The bridges of a book, empty if its moves reach all of its positions; the number of
    /// positions that are not reached by these either, and that of the others.
    pub(crate) fn bridges(book: &Book) -> Result<(Bridges, u64, u64), Error> {
        let mut walk = book.walk(Order::Breadth);
        walk.bridges = Some(Bridges::default());
        while walk.advance()?.is_some() {}
        let (unreached, reached) = (walk.unreached(), walk.reached);
        Ok((walk.bridges.unwrap_or_default(), unreached, reached))
    }

    /// The number of positions visited.
    pub(crate) fn met(&self) -> u64 {
        self.reached
    }

    /// The number of positions that were not reached; known at the end of the walk.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        self.missing.as_ref().map_or(0, |keys| keys.len() as u64)
    }

    /// The next position that is in the book.
    pub(crate) fn advance(&mut self) -> Result<Option<WalkNode>, Error> {
        self.between.clear();
        loop {
            while let Some(here) = self.walk.next() {
                if self.look(&here)? {
                    self.reached += 1;
                    return Ok(Some(here));
                }
            }
            if !self.start_again()? {
                return Ok(None);
            }
        }
    }

    /// Goes on from a position. Whether it is in the book and comes for the first time.
    fn look(&mut self, here: &WalkNode) -> Result<bool, Error> {
        let found = &mut self.found;
        let wanted = match self.book {
            // These moves are tried later, if there is need.
            Book::Bin(_) | Book::Loaded(_) => Wanted::Stored,
            Book::Ctg(_) => Wanted::Lines,
        };
        self.book.probe(&here.position, wanted, found)?;
        if found.here.is_some() {
            let mut enter = |(known, part): (&BookMove, f64)| {
                let after = notation::after(&here.position, known.mv);
                if self.seen.insert(polyglot::key(&after)) {
                    let share = here.share * part;
                    self.walk.enter_with_share(here, known.mv, share, after, ());
                }
            };
            let moves = found.moves.iter().zip(shares(&found.moves));
            match self.order {
                // The last one entered is the next.
                Order::Depth => moves.rev().for_each(&mut enter),
                Order::Breadth | Order::Likeliest => moves.for_each(enter),
            }
        }
        let Some(missing) = &mut self.missing else {
            return Ok(found.here.is_some());
        };
        let key = polyglot::key(&here.position);
        let is_new = missing.remove(&key);
        if !missing.is_empty() {
            let mut trial = Trial {
                missing,
                seen: &mut self.seen,
                tried: &mut self.tried,
                line: Vec::new(),
                found: Vec::new(),
            };
            trial.try_all(&here.position, key, self.beyond);
            for (line, position) in trial.found {
                let mut before = here.position.clone();
                for (n, &mv) in line.iter().enumerate() {
                    if let Some(bridges) = &mut self.bridges {
                        let moves = bridges.entry(polyglot::key(&before)).or_default();
                        if !moves.contains(&mv) {
                            moves.push(mv);
                        }
                    }
                    if n > 0 {
                        self.between.push(before.clone());
                    }
                    before.play_unchecked(mv);
                }
                self.walk.enter_line(here, &line, 0.0, position, ());
            }
        }
        Ok(is_new)
    }

    /// Starts the next walk, by longer lines of moves that are not stored; false if there
    /// is no need.
    fn start_again(&mut self) -> Result<bool, Error> {
        let Book::Bin(book) = self.book else {
            return Ok(false);
        };
        if self.beyond == MOST_BEYOND {
            return Ok(false);
        }
        if self.missing.is_none() {
            let mut missing = HashSet::default();
            book.for_each(|key, _| {
                if !self.seen.contains(&key) {
                    missing.insert(key);
                }
            })?;
            self.missing = Some(missing);
        }
        let is_done = self.missing.as_ref().is_none_or(HashSet::is_empty);
        if is_done || self.tried >= MOST_TRIED {
            return Ok(false);
        }
        self.beyond += 1;
        let order = match self.beyond {
            1 => self.order,
            // The number of trials is limited: those near the start are the most useful.
            _ => Order::Breadth,
        };
        let start = Chess::default();
        self.seen.clear();
        self.seen.insert(polyglot::key(&start));
        self.walk = Walk::new(&start, order);
        Ok(true)
    }
}

/// A search for missing positions by moves that a book does not store.
struct Trial<'w> {
    missing: &'w HashSet<u64, FxBuildHasher>,
    seen: &'w mut HashSet<u64, FxBuildHasher>,
    tried: &'w mut u64,
    line: Vec<Move>,
    /// Lines to missing positions.
    found: Vec<(Vec<Move>, Chess)>,
}

impl Trial<'_> {
    /// Tries all lines of at most `plies` moves.
    fn try_all(&mut self, position: &Chess, key: u64, plies: usize) {
        let legal = position.legal_moves();
        *self.tried += match self.line.len() {
            // The number of these grows with the book only.
            0 => 0,
            _ => legal.len() as u64,
        };
        for mv in legal {
            let after = notation::after(position, mv);
            let key = polyglot::key_after(key, position, mv, &after);
            self.line.push(mv);
            if self.missing.contains(&key) {
                if self.seen.insert(key) {
                    self.found.push((self.line.clone(), after));
                }
            } else if plies > 1 && *self.tried < MOST_TRIED && !self.seen.contains(&key) {
                self.try_all(&after, key, plies - 1);
            }
            self.line.pop();
        }
    }
}
