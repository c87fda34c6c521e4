//! Every position of two books, once.

use crate::watch::{Stopped, Watch};
use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move};

use super::{Aspect, Aspects, Difference, compare_at};
use crate::book::polyglot;
use crate::book::walk::{Order, Walk};
use crate::book::{
    Book, Error, Format, Lookup, Probe, Wanted,
    ctg::{CanonicalBoard, Salvage},
};

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
pub fn compare<E: From<Error> + From<Stopped>>(
    a: &Book,
    b: &Book,
    plan: &Plan,
    watch: &mut Watch<'_>,
    mut found: impl FnMut(&Difference) -> Result<(), E>,
) -> Result<(Compared, Salvage), E> {
    let mut comparison = Comparison {
        a,
        b,
        aspects: plan.aspects.between(a.format(), b.format()),
        stats_of_moves: a.format() != Format::Ctg || b.format() != Format::Ctg,
        folded: a.format() == Format::Ctg && b.format() == Format::Ctg,
        seen: HashSet::default(),
        normal: HashSet::default(),
        in_a: Lookup::default(),
        in_b: Lookup::default(),
        compared: Compared::default(),
        lost: Lost::default(),
    };
    comparison.walk(plan, watch, &mut found)?;
    if plan.unreached {
        comparison.rest(a, watch, &mut found)?;
        comparison.rest(b, watch, &mut found)?;
    }
    Ok((comparison.compared, comparison.lost.salvage))
}

struct Comparison<'b> {
    a: &'b Book,
    b: &'b Book,
    aspects: Aspects,
    stats_of_moves: bool,
    /// One entry stands for up to four positions in both books.
    folded: bool,
    /// Positions on the way or done.
    seen: HashSet<u64, FxBuildHasher>,
    /// Their keys in ChessBase's form where `seen` has others.
    normal: HashSet<u64, FxBuildHasher>,
    in_a: Lookup,
    in_b: Lookup,
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
    /// Takes note of damage; anything else is an error.
    fn take(&mut self, error: Error) -> Result<(), Error> {
        match error {
            Error::Ctg(fault) if fault.is_damage() => {
                if self.told.insert(fault.to_string()) {
                    self.salvage.bad_page(fault);
                }
                Ok(())
            }
            error => Err(error),
        }
    }
}

impl Comparison<'_> {
    fn walk<E: From<Error> + From<Stopped>>(
        &mut self,
        plan: &Plan,
        watch: &mut Watch<'_>,
        found: &mut impl FnMut(&Difference) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut walk = Walk::new(&plan.from, Order::Breadth);
        self.enter(&plan.from);
        while let Some(here) = walk.next() {
            watch.position("comparing", self.compared.positions, self.expected())?;
            let difference = self.look(&here.position)?;
            if self.in_a.here.is_none() && self.in_b.here.is_none() && here.ply > 0 {
                continue;
            }
            if let Some(mut difference) = difference {
                difference.line = Some(walk.line(&here));
                found(&difference)?;
            }
            if plan.plies.is_some_and(|plies| here.ply >= plies) {
                continue;
            }
            let stored = self.in_a.moves.iter().chain(&self.in_b.moves);
            let stored: Vec<Move> = stored.map(|mv| mv.mv).collect();
            walk.go_on(&here, stored.into_iter(), |next| self.enter(next));
        }
        Ok(())
    }

    /// The entries of a ChessBase book that no walk came to.
    fn rest<E: From<Error> + From<Stopped>>(
        &mut self,
        book: &Book,
        watch: &mut Watch<'_>,
        found: &mut impl FnMut(&Difference) -> Result<(), E>,
    ) -> Result<(), E> {
        if book.format() != Format::Ctg {
            return Ok(());
        }
        for entry in book.positions() {
            let position = match entry {
                Ok(entry) => entry.position,
                Err(error) => {
                    self.lost.take(error)?;
                    continue;
                }
            };
            watch.position("comparing", self.compared.positions, self.expected())?;
            let new = match self.folded {
                true => self.enter(&position),
                false => canonical_key(&position).is_none_or(|key| self.normal.insert(key)),
            };
            if new && let Some(difference) = self.look(&position)? {
                found(&difference)?;
            }
        }
        Ok(())
    }

    /// Notes a position; false if it was known.
    fn enter(&mut self, position: &Chess) -> bool {
        if self.folded {
            let key = canonical_key(position).unwrap_or_else(|| polyglot::key(position));
            return self.seen.insert(key);
        }
        if [self.a, self.b].iter().any(|book| book.as_ctg().is_some()) {
            self.normal.extend(canonical_key(position));
        }
        self.seen.insert(polyglot::key(position))
    }

    /// Positions by the account of the greater book.
    fn expected(&self) -> Option<u64> {
        let said = [self.a, self.b].map(|book| book.as_ctg().map(|ctg| ctg.header().positions));
        said.into_iter().flatten().max().map(u64::from)
    }

    fn look(&mut self, position: &Chess) -> Result<Option<Difference>, Error> {
        let mut is_whole = true;
        for (book, found) in [(self.a, &mut self.in_a), (self.b, &mut self.in_b)] {
            if let Err(error) = book.probe(position, Wanted::Stored, found) {
                self.lost.take(error)?;
                is_whole = false;
            }
        }
        if !is_whole {
            self.compared.unread += 1;
            return Ok(None);
        }
        if self.in_a.here.is_some() || self.in_b.here.is_some() {
            self.compared.positions += 1;
        }
        let lookups = (&self.in_a, &self.in_b);
        let difference = compare_at(position, lookups, self.aspects, self.stats_of_moves);
        if let Some(difference) = &difference {
            self.compared.count(difference);
        }
        Ok(difference)
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
    let key = CanonicalBoard::from_position(position)?.key();
    Some(BuildHasherDefault::<DefaultHasher>::default().hash_one(key.as_bytes()))
}
