//! A walk along the lines of a book.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::keyed::KeyedWalk;
use super::links::{PositionNumber, ReachedCount};
use super::tree::shares;
use super::{Order, Walk, WalkNode};
use crate::{Book, Error, Lookup, Probe, Wanted, polyglot};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// A walk along the lines of a book through all positions that they reach, each once and
/// as it occurs in games, with a line to it: see [`Book::walk`].
///
/// It goes along the stored moves ([`Wanted::Lines`]). A Polyglot book has keys and no
/// boards, and if it is for one side only, as an Arena book may be, no moves of the other. So if the stored
/// moves do not reach all of its keys, more walks follow, which also continue by moves that
/// the book does not store: first by each single one that leads to a missing position,
/// then by two and by three in a row, within some twenty million trials. Each walk also uses
/// the moves that earlier walks found. Only positions that were not reached before are
/// returned.
pub struct BookWalk<'b> {
    book: &'b Book,
    /// `None` before the first step.
    source: Option<Source<'b>>,
    start: Chess,
    order: Order,
    pub(crate) walk: Walk<PositionNumber>,
    /// Length of the longest line of moves, not stored, by which the walk continues.
    beyond: usize,
    /// Keys in the book that were returned.
    reached: u64,
    /// The moves, not stored, that lead on from a position, by its key.
    pub(super) bridges: Option<Bridges>,
    /// Positions before the last move of lines of several moves that are not stored, since
    /// the last call of [`BookWalk::advance`].
    pub(crate) between: Vec<Chess>,
    /// What the book stores about the last position.
    pub(crate) found: Lookup,
}

/// How positions are looked up.
enum Source<'b> {
    /// In a ChessBase book; with the keys of positions that were entered.
    Ctg(HashSet<u64, FxBuildHasher>),
    Keyed(Box<KeyedWalk<'b>>),
}

/// Moves that a book does not store but that lead to positions of the book which its
/// stored moves do not reach, by the key of the position before them.
pub(crate) type Bridges = HashMap<u64, Vec<Move>, FxBuildHasher>;

/// Most moves, not stored, in a row by which a walk goes on.
const MOST_BEYOND: usize = 3;

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
    /// What the book stores about the position. Where a book for one side has no moves of its
    /// own, the moves along which its lines continue.
    pub lookup: Lookup,
}

impl Book {
    /// Walks from the start position along the lines of the book.
    ///
    /// Unlike [`Book::positions`], this gives real positions: a ChessBase book, whose
    /// entries are for several positions, returns those that its lines reach, with either
    /// side to move. It takes some 150 bytes for each position.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tabia_book::{Book, OpenOptions, walk::Order};
    /// let book = Book::open("tests/data/ctg/simple.ctg", &OpenOptions::default())?;
    /// let mut lines = Vec::new();
    /// for visited in book.walk(Order::Likeliest) {
    ///     let visited = visited?;
    ///     let line: Vec<_> = visited.line.iter().map(ToString::to_string).collect();
    ///     let percent = 100.0 * visited.share;
    ///     lines.push(format!("{percent} % {line:?}: {} moves", visited.lookup.moves.len()));
    /// }
    /// assert_eq!(lines[0], "100 % []: 2 moves");
    /// assert_eq!(lines[2], r#"50 % ["d2-d4"]: 1 moves"#);
    /// assert_eq!(lines[3], r#"50 % ["d2-d4", "d7-d5"]: 0 moves"#);
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
            source: None,
            start: start.clone(),
            order,
            walk: Walk::with_notes(start, 0, order),
            beyond: 0,
            reached: 0,
            bridges: None,
            between: Vec::new(),
            found: Lookup::default(),
        }
    }

    /// Looks at all positions of the walk, on all processors, unless the book is a ChessBase
    /// book. Of a Polyglot book it takes eight bytes for each move.
    ///
    /// Returns the counts, if longer lines of moves that are not stored reach no more.
    pub(crate) fn read_ahead(
        &mut self,
        watch: &mut Watch<'_>,
    ) -> Result<Option<ReachedCount>, Error> {
        self.open()?;
        let beyond = self.goes_beyond();
        let mut counted = None;
        if let Some(Source::Keyed(known)) = &mut self.source {
            let reached = known.read_ahead(&self.start, beyond, watch)?;
            counted = Some(reached).filter(|_| !beyond || reached.positions == known.count());
        }
        self.begin(self.order);
        Ok(counted)
    }

    /// The bridges of a book, none if its moves reach all of its positions; the number of
    /// positions that even the bridges do not reach, and of those reached.
    pub(crate) fn bridges(
        book: &Book,
        watch: &mut Watch<'_>,
    ) -> Result<(Bridges, u64, u64), Error> {
        let mut walk = book.walk(Order::Breadth);
        let mut bridges = Bridges::default();
        if let Some(reached) = walk.read_ahead(watch)?
            && let Some(Source::Keyed(known)) = &walk.source
        {
            for &(key, mv) in known.entered() {
                add_bridge(&mut bridges, key, mv);
            }
            return Ok((bridges, 0, reached.positions));
        }
        walk.bridges = Some(bridges);
        while walk.step(false)?.is_some() {}
        let (unreached, reached) = (walk.unreached(), walk.reached);
        Ok((walk.bridges.unwrap_or_default(), unreached, reached))
    }

    /// Whether walks by moves that are not stored may follow the first one.
    fn goes_beyond(&self) -> bool {
        match self.book {
            Book::Bin(_) => self.beyond < MOST_BEYOND,
            Book::Loaded(book) => book.is_for_one_side() && self.beyond < MOST_BEYOND,
            Book::Ctg(_) => false,
        }
    }

    /// The number of positions visited.
    pub(crate) fn met(&self) -> u64 {
        self.reached
    }

    /// The number of positions that were not reached; known at the end of the walk.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        match &self.source {
            Some(Source::Keyed(known)) => known.left().unwrap_or(0),
            Some(Source::Ctg(_)) | None => 0,
        }
    }

    /// The next position that is in the book.
    pub(crate) fn advance(&mut self) -> Result<Option<WalkNode<PositionNumber>>, Error> {
        self.step(true)
    }

    /// As [`BookWalk::advance`]; without asking, what is stored about the position is unknown.
    fn step(&mut self, asks: bool) -> Result<Option<WalkNode<PositionNumber>>, Error> {
        self.between.clear();
        if self.source.is_none() {
            self.open()?;
            self.begin(self.order);
        }
        loop {
            while let Some(here) = self.walk.next() {
                if self.look(&here, asks)? {
                    self.reached += 1;
                    return Ok(Some(here));
                }
            }
            if !self.start_again()? {
                return Ok(None);
            }
        }
    }

    fn open(&mut self) -> Result<(), Error> {
        // After an error it stays so, and the walk has ended.
        self.source = Some(Source::Ctg(HashSet::default()));
        if let Some(mut keyed) = KeyedWalk::new(self.book)? {
            if self.goes_beyond() {
                keyed.keep();
            }
            self.source = Some(Source::Keyed(Box::new(keyed)));
        }
        Ok(())
    }

    /// Begins a walk.
    fn begin(&mut self, order: Order) {
        let number = match &mut self.source {
            Some(Source::Keyed(known)) => known.begin(&self.start),
            Some(Source::Ctg(seen)) => {
                seen.insert(polyglot::key(&self.start));
                0
            }
            None => 0,
        };
        self.walk = Walk::with_notes(&self.start, number, order);
    }

    /// Goes on from a position. Whether it is in the book and comes for the first time.
    fn look(&mut self, here: &WalkNode<PositionNumber>, asks: bool) -> Result<bool, Error> {
        let (order, found, walk) = (self.order, &mut self.found, &mut self.walk);
        match &mut self.source {
            Some(Source::Keyed(known)) => {
                // The order of the likeliest depends on the shares of all positions.
                let is_ranked = order == Order::Likeliest;
                let is_asked = is_ranked || asks && known.is_new(here.note);
                known.look(here.note, &here.position, is_asked, found)?;
                let parts = shares(&found.moves);
                let entered = known.enter_stored(here.note);
                in_order_of(order, entered.into_iter(), |(n, link)| {
                    let Some(mv) = link.mv.in_position(&here.position) else {
                        return;
                    };
                    let after = notation::after(&here.position, mv);
                    let share = here.share * parts.get(n).copied().unwrap_or(1.0);
                    walk.enter_with_share(here, mv, share, after, link.to);
                });
                Ok(self.go_beyond(here))
            }
            Some(Source::Ctg(seen)) => {
                self.book.probe(&here.position, Wanted::Lines, found)?;
                let moves = found.moves.iter().zip(shares(&found.moves));
                in_order_of(order, moves, |(known, part)| {
                    let after = notation::after(&here.position, known.mv);
                    if seen.insert(polyglot::key(&after)) {
                        walk.enter_with_share(here, known.mv, here.share * part, after, 0);
                    }
                });
                Ok(found.here.is_some())
            }
            None => Ok(false),
        }
    }

    /// Goes on by moves that are not stored. Whether the position is in the book and comes for
    /// the first time.
    fn go_beyond(&mut self, here: &WalkNode<PositionNumber>) -> bool {
        let Some(Source::Keyed(known)) = &mut self.source else {
            return false;
        };
        let is_new = known.take(here.note);
        match known.left() {
            None => return is_new,
            Some(0) => {
                // There is nothing more to find.
                self.walk.end();
                return is_new;
            }
            Some(_) => {}
        }
        for bridge in known.bridges(here.note, &here.position, self.beyond) {
            let mut before = here.position.clone();
            for (n, &mv) in bridge.line.iter().enumerate() {
                if let Some(bridges) = &mut self.bridges {
                    add_bridge(bridges, polyglot::key(&before), mv);
                }
                if n > 0 && bridge.is_new {
                    self.between.push(before.clone());
                }
                before.play_unchecked(mv);
            }
            self.walk
                .enter_line(here, &bridge.line, 0.0, bridge.position, bridge.to);
        }
        is_new
    }

    /// Starts the next walk, by longer lines of moves that are not stored; false if there
    /// is no need.
    fn start_again(&mut self) -> Result<bool, Error> {
        let goes_beyond = self.goes_beyond();
        let Some(Source::Keyed(known)) = &mut self.source else {
            return Ok(false);
        };
        if !goes_beyond {
            return Ok(false);
        }
        known.find_missing();
        if known.left() == Some(0) || !known.may_try() {
            return Ok(false);
        }
        known.find_bridges(&self.start)?;
        self.beyond += 1;
        // Longer lines may begin anywhere.
        known.go_to_all(self.beyond > 1);
        self.begin(match self.beyond {
            1 => self.order,
            // The number of trials is limited: those near the start are the most useful.
            _ => Order::Breadth,
        });
        Ok(true)
    }
}

fn add_bridge(bridges: &mut Bridges, key: u64, mv: Move) {
    let moves = bridges.entry(key).or_default();
    if !moves.contains(&mv) {
        moves.push(mv);
    }
}

/// Enters positions so that the walk comes to them in their order.
fn in_order_of<T>(order: Order, moves: impl DoubleEndedIterator<Item = T>, enter: impl FnMut(T)) {
    match order {
        // The last one entered is the next.
        Order::Depth => moves.rev().for_each(enter),
        Order::Breadth | Order::Likeliest => moves.for_each(enter),
    }
}
