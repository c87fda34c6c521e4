//! Where the moves of a book that is probed by keys lead, found for many positions at once.
//!
//! Such a book has no positions: these come from a walk, and each step waits for the memory
//! some four times (place, entries, and for each move two for the number of the key after it).
//! So a thread takes each of these steps for all positions of its batch before the next one,
//! and all threads work on one ply. What is found stays in arrays:
//!
//! ```text
//! position  0      1      2      3 ...    as [`KeyedWalk`](super::keyed::KeyedWalk) numbers them
//! starts    4      -      0      9 ...    where its moves begin; -: not looked at
//!
//! to        17     3      end    9 ...    the position after the move
//! mv        e2e4   d2d4          g1f3
//! ```
//!
//! Takes four bytes for each position, and eight for each move and each position with moves.

use shakmaty::{ByColor, Chess, Color, Move, Position};

use crate::polyglot::indexed::Indexed;
use crate::polyglot::keyed::Keyed as _;
use crate::polyglot::{KeyAhead, PackedMove};
use crate::{Error, ctg::Sieve, eval::Predecessors};

/// The number of a position.
pub(crate) type PositionNumber = u32;

/// A move to another position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) to: PositionNumber,
    pub(super) mv: PackedMove,
}

impl Link {
    /// After the last move of a position.
    const END: Link = Link {
        to: PositionNumber::MAX,
        mv: PackedMove(0),
    };

    pub(super) fn new(mv: Move, to: PositionNumber) -> Link {
        let mv = PackedMove::from_move(mv);
        Link { to, mv }
    }
}

/// The moves of positions: see the [module](self).
#[derive(Debug, Default)]
pub(super) struct Links {
    starts: Vec<u32>,
    links: Vec<Link>,
}

/// No moves are known.
const UNKNOWN: u32 = u32::MAX;

impl Links {
    /// Begins the moves of a position, which [`Links::push`] adds and [`Links::end`] ends.
    pub(super) fn begin(&mut self, number: PositionNumber) {
        let most = self.starts.len().max(number as usize + 1);
        self.starts.resize(most, UNKNOWN);
        if let Some(start) = self.starts.get_mut(number as usize) {
            *start = self.links.len() as u32;
        }
    }

    pub(super) fn push(&mut self, link: Link) {
        self.links.push(link);
    }

    pub(super) fn end(&mut self) {
        self.links.push(Link::END);
    }

    /// Adds a position with its moves.
    pub(super) fn add(&mut self, number: PositionNumber, moves: impl Iterator<Item = Link>) {
        self.begin(number);
        self.links.extend(moves);
        self.end();
    }

    /// For the first `count` numbers, whether the position is one of `targets`, or moves lead
    /// from it to one.
    pub(super) fn lead_to(&self, mut targets: Vec<PositionNumber>, count: usize) -> Vec<bool> {
        let from = (0..)
            .zip(&self.starts)
            .filter(|(_, start)| **start != UNKNOWN);
        let moves = from.flat_map(|(from, _)| {
            let links = self.of(from).unwrap_or_default().iter();
            links.map(move |link| (from, link.to))
        });
        let before = Predecessors::new(count, moves.filter(|(_, to)| (*to as usize) < count));
        let mut lead = vec![false; count];
        while let Some(number) = targets.pop() {
            let known = lead.get_mut(number as usize);
            if known.is_some_and(|known| !std::mem::replace(known, true)) {
                targets.extend(before.of(number));
            }
        }
        lead
    }

    /// The moves of a position; `None` if it was not looked at.
    pub(super) fn of(&self, number: PositionNumber) -> Option<&[Link]> {
        let start = *self.starts.get(number as usize)?;
        let links = self.links.get(start as usize..)?;
        let end = links.iter().position(|link| link.to == Link::END.to)?;
        links.get(..end)
    }

    /// Adds the moves of positions that have none here yet.
    pub(super) fn append(&mut self, more: Links) {
        let before = self.links.len() as u32;
        let most = self.starts.len().max(more.starts.len());
        self.starts.resize(most, UNKNOWN);
        for (start, more) in self.starts.iter_mut().zip(more.starts) {
            if more != UNKNOWN {
                *start = before + more;
            }
        }
        self.links.extend(more.links);
    }
}

/// What a move leads to.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    /// A position of the book.
    Inside(PositionNumber),
    /// Another one, by its key.
    Outside(u64),
}

/// The positions of a book that lines from the start position reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReachedCount {
    /// Positions.
    pub positions: u64,
    /// Their legal stored moves.
    pub moves: u64,
    /// Moves that are never played: of weight or priority 0.
    pub never_played: u64,
    /// Positions with a move, by the side to move.
    pub with_moves: ByColor<u64>,
}

impl ReachedCount {
    /// Counts a position; `never_played` says of each of its moves whether it is never played.
    pub(super) fn count(&mut self, turn: Color, never_played: impl Iterator<Item = bool>) {
        let before = self.moves;
        self.positions += 1;
        for is_never in never_played {
            self.moves += 1;
            self.never_played += u64::from(is_never);
        }
        *self.with_moves.get_mut(turn) += u64::from(self.moves > before);
    }

    pub(super) fn add(&mut self, other: &ReachedCount) {
        self.positions += other.positions;
        self.moves += other.moves;
        self.never_played += other.never_played;
        for color in Color::ALL {
            *self.with_moves.get_mut(color) += other.with_moves.get(color);
        }
    }
}

/// The moves of some positions.
#[derive(Default)]
pub(super) struct Looked {
    moves: Vec<(Move, To)>,
    /// For each position the number of its moves.
    counts: Vec<usize>,
    /// Of the positions of the book.
    pub(super) reached: ReachedCount,
}

impl Looked {
    /// For each position its moves.
    pub(super) fn each(&self) -> impl Iterator<Item = &[(Move, To)]> {
        let mut rest = &*self.moves;
        self.counts.iter().map(move |count| {
            let (moves, after) = rest.split_at_checked(*count).unwrap_or_default();
            rest = after;
            moves
        })
    }
}

/// The stored moves of some positions of the book, by their numbers; the first of two equal
/// ones. Others have none.
pub(super) fn stored<'p>(
    book: &Indexed<'_>,
    share: impl Iterator<Item = (PositionNumber, &'p Chess)> + Clone,
) -> Result<Looked, Error> {
    let view = book.view()?;
    let view = view.as_ref();
    let place = |number: PositionNumber| book.place(number as usize);
    let bytes = share.clone().filter_map(|(number, _)| place(number));
    let bytes = bytes.map(|place| book.touch(view, place));
    std::hint::black_box(bytes.fold(0, |all, byte| all ^ byte));
    let mut looked = Looked::default();
    // Each move with the key after it, and whether it is never played.
    let mut found: Vec<(Move, u64, bool)> = Vec::new();
    for (number, position) in share {
        let first = found.len();
        let key = book.keys().get(number as usize);
        if let Some((&key, place)) = key.zip(place(number)) {
            let ahead = KeyAhead::new(key, position);
            book.each_at(view, place, key, &mut |entry| {
                let Some(mv) = legal(entry.mv, position) else {
                    return;
                };
                let is_never = entry.preference.is_never();
                let known = found.get_mut(first..).unwrap_or_default();
                match known.iter_mut().find(|(known, ..)| *known == mv) {
                    Some((_, _, known)) => *known &= is_never,
                    None => found.push((mv, ahead.after(mv), is_never)),
                }
            })?;
            let never = found.iter().skip(first).map(|(_, _, is_never)| *is_never);
            looked.reached.count(position.turn(), never);
        }
        looked.counts.push(found.len() - first);
    }
    book.ask_for(found.iter().map(|(_, key, _)| *key));
    let moves = found.into_iter();
    looked
        .moves
        .extend(moves.map(|(mv, key, _)| (mv, to(book, key))));
    Ok(looked)
}

/// The position of the book with this key, or none.
pub(super) fn to(book: &Indexed<'_>, key: u64) -> To {
    match book.number(key) {
        Some(number) => To::Inside(number as PositionNumber),
        None => To::Outside(key),
    }
}

/// The legal moves of some positions, given with their keys, to positions of the book that are
/// `wanted`; the sieve has the keys of the wanted ones.
pub(super) fn to_missing<'p>(
    book: &Indexed<'_>,
    share: impl Iterator<Item = (u64, &'p Chess)>,
    sieve: &Sieve,
    wanted: impl Fn(PositionNumber) -> bool,
) -> Looked {
    let mut looked = Looked::default();
    let mut keys = Vec::new();
    for (key, position) in share {
        let ahead = KeyAhead::new(key, position);
        keys.clear();
        keys.extend(
            position
                .legal_moves()
                .into_iter()
                .map(|mv| (mv, ahead.after(mv))),
        );
        sieve.ask_for(keys.iter().map(|(_, key)| *key));
        let first = looked.moves.len();
        let likely = keys.iter().filter(|(_, key)| sieve.may_have(*key));
        looked
            .moves
            .extend(likely.filter_map(|&(mv, key)| match to(book, key) {
                To::Inside(number) if wanted(number) => Some((mv, To::Inside(number))),
                To::Inside(_) | To::Outside(_) => None,
            }));
        looked.counts.push(looked.moves.len() - first);
    }
    looked
}

/// The legal move that an entry stores. Most are found without a list of all legal moves.
fn legal(packed: PackedMove, position: &Chess) -> Option<Move> {
    let mv = packed.in_position(position);
    mv.filter(|mv| position.is_legal(*mv)).or_else(|| {
        let legal = position.legal_moves();
        legal.get(packed.find(&legal)?).copied()
    })
}
