//! Walks over positions along moves, from a root: in breadth, line by line, or the most
//! played lines first.
//!
//! [`Walk`] is the order alone: a loop takes the next position, looks at it in any way,
//! and enters those after it. [`BookWalk`] is such a loop over the moves of a book.

mod book;
mod keyed;
mod links;
mod positions;
pub mod tree;

pub(crate) use book::Bridges;
pub use book::{BookWalk, WalkedPosition};
pub(crate) use links::PositionNumber;
pub use links::ReachedCount;
pub use positions::{BookPosition, PositionMove, Positions};

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use shakmaty::{Chess, Move, Position as _};

use crate::polyglot::PackedMove;
use tabia_io::parallel::{self, Panicked, in_order};

/// Which waiting position comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// First in, first out: positions near the root come first.
    Breadth,
    /// Depth first: line by line.
    Depth,
    /// The position with the greatest [share](WalkNode::share) first, of equal ones the
    /// one entered first.
    Likeliest,
}

/// A walk from a root. The caller decides where it goes on and which positions are new,
/// and may attach a note of type `T` to each; the walk stores the order, and in eight
/// bytes for each position the move that led there.
///
/// ```
/// use shakmaty::{Chess, Position as _};
/// use tabia_book::walk::{Order, Walk};
///
/// // The positions after at most two moves.
/// let mut walk = Walk::new(&Chess::default(), Order::Breadth);
/// let mut positions = 0;
/// while let Some(here) = walk.next() {
///     positions += 1;
///     for mv in here.position.legal_moves() {
///         if here.ply < 2 {
///             let after = here.position.clone().play(mv)?;
///             walk.enter(&here, mv, after, ());
///         }
///     }
/// }
/// assert_eq!(positions, 1 + 20 + 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Walk<T = ()> {
    root: Chess,
    waiting: Waiting<T>,
    /// Positions entered, the root included.
    entered: u64,
    /// `None` if lines are not needed.
    moves: Option<Vec<LineMove>>,
}

/// The positions that were not visited yet.
enum Waiting<T> {
    /// The oldest one comes next.
    Queue(VecDeque<WalkNode<T>>),
    /// The newest one comes next.
    Stack(Vec<WalkNode<T>>),
    Ranked(BinaryHeap<Ranked<T>>),
}

/// A position of a walk.
pub struct WalkNode<T = ()> {
    /// The position.
    pub position: Chess,
    /// Plies from the root.
    pub ply: u32,
    /// How often the line to it is played, as given to [`Walk::enter_with_share`]; that of
    /// the root is 1, and [`Walk::enter`] leaves it as it is.
    pub share: f64,
    /// The caller's note.
    pub note: T,
    /// Number of the move that led here, if any.
    last_move: u32,
}

/// A position by its share; the number orders equal ones.
struct Ranked<T>(Reverse<u64>, WalkNode<T>);

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_share = self.1.share.total_cmp(&other.1.share);
        by_share.then_with(|| self.0.cmp(&other.0))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Ranked<T> {}

/// A move of a walk, and the one before it.
struct LineMove {
    before: u32,
    packed: PackedMove,
}

/// Before the first move.
const ROOT: u32 = u32::MAX;

/// Positions that one thread looks at in one batch, and batches for each thread before
/// the walk continues from them.
const BATCH: usize = 512;
const BATCHES_PER_THREAD: usize = 16;

impl Walk {
    /// A walk whose next position is the root.
    #[must_use]
    pub fn new(root: &Chess, order: Order) -> Walk {
        Walk::with_notes(root, (), order)
    }
}

impl<T> Walk<T> {
    /// As [`Walk::new`], with a note for the root.
    #[must_use]
    pub fn with_notes(root: &Chess, note: T, order: Order) -> Walk<T> {
        let mut walk = Walk {
            root: root.clone(),
            waiting: match order {
                Order::Breadth => Waiting::Queue(VecDeque::new()),
                Order::Depth => Waiting::Stack(Vec::new()),
                Order::Likeliest => Waiting::Ranked(BinaryHeap::new()),
            },
            entered: 0,
            moves: Some(Vec::new()),
        };
        walk.push(WalkNode {
            position: root.clone(),
            ply: 0,
            share: 1.0,
            note,
            last_move: ROOT,
        });
        walk
    }

    /// The walk with less memory, if lines are not needed: [`Walk::line`] is then empty.
    #[must_use]
    pub fn without_lines(self) -> Walk<T> {
        Walk {
            moves: None,
            ..self
        }
    }

    /// Ends the walk: removes all waiting positions.
    pub fn end(&mut self) {
        match &mut self.waiting {
            Waiting::Queue(waiting) => waiting.clear(),
            Waiting::Stack(waiting) => waiting.clear(),
            Waiting::Ranked(waiting) => waiting.clear(),
        }
    }

    /// The number of positions entered, the root included.
    #[must_use]
    pub const fn entered(&self) -> u64 {
        self.entered
    }

    /// Adds the position after a move.
    #[inline]
    pub fn enter(&mut self, here: &WalkNode<T>, mv: Move, position: Chess, note: T) {
        self.enter_with_share(here, mv, here.share, position, note);
    }

    /// As [`Walk::enter`], with the share of the line to the position, which is its rank
    /// in [`Order::Likeliest`].
    #[inline]
    pub fn enter_with_share(
        &mut self,
        here: &WalkNode<T>,
        mv: Move,
        share: f64,
        position: Chess,
        note: T,
    ) {
        self.enter_line(here, &[mv], share, position, note);
    }

    /// Adds the position after several moves, without those in between.
    #[inline]
    pub(crate) fn enter_line(
        &mut self,
        here: &WalkNode<T>,
        line: &[Move],
        share: f64,
        position: Chess,
        note: T,
    ) {
        let mut last_move = here.last_move;
        for &mv in line {
            last_move = match &mut self.moves {
                Some(moves) => {
                    moves.push(LineMove {
                        before: last_move,
                        packed: PackedMove::from_move(mv),
                    });
                    // With more positions than `u32` there is no line to the last ones.
                    u32::try_from(moves.len() - 1).unwrap_or(ROOT)
                }
                None => ROOT,
            };
        }
        self.push(WalkNode {
            position,
            ply: here.ply + line.len() as u32,
            share,
            note,
            last_move,
        });
    }

    #[inline]
    fn push(&mut self, node: WalkNode<T>) {
        match &mut self.waiting {
            Waiting::Queue(waiting) => waiting.push_back(node),
            Waiting::Stack(waiting) => waiting.push(node),
            Waiting::Ranked(waiting) => waiting.push(Ranked(Reverse(self.entered), node)),
        }
        self.entered += 1;
    }

    /// The moves from a position back to the root, by number: that of the first
    /// [`Walk::enter`] is 0.
    fn moves_back(&self, from: &WalkNode<T>) -> impl Iterator<Item = usize> {
        let moves = self.moves.as_deref().unwrap_or_default();
        let first = (from.last_move != ROOT).then_some(from.last_move as usize);
        std::iter::successors(first, |&at| {
            let before = moves.get(at)?.before;
            (before != ROOT).then_some(before as usize)
        })
    }

    /// The moves from the root to a position.
    #[must_use]
    pub fn line(&self, to: &WalkNode<T>) -> Vec<Move> {
        let moves = self.moves.as_deref().unwrap_or_default();
        let back = self.moves_back(to).filter_map(|at| moves.get(at));
        let packed: Vec<PackedMove> = back.map(|mv| mv.packed).collect();
        let mut position = self.root.clone();
        let mut line = Vec::new();
        for mv in packed.iter().rev() {
            let legal = position.legal_moves();
            let Some(&mv) = mv.find(&legal).and_then(|n| legal.get(n)) else {
                break;
            };
            line.push(mv);
            position.play_unchecked(mv);
        }
        line
    }

    /// The next positions, at most `most`, in an order for working on them at once.
    fn chunk(&mut self, most: usize) -> Vec<WalkNode<T>> {
        match &mut self.waiting {
            Waiting::Queue(waiting) => waiting.drain(..most.min(waiting.len())).collect(),
            Waiting::Stack(waiting) => waiting.split_off(waiting.len().saturating_sub(most)),
            Waiting::Ranked(_) => self.take(most).collect(),
        }
    }
}

/// The caller adds the positions after each one with [`Walk::enter`].
impl<T> Iterator for Walk<T> {
    type Item = WalkNode<T>;

    fn next(&mut self) -> Option<WalkNode<T>> {
        match &mut self.waiting {
            Waiting::Queue(waiting) => waiting.pop_front(),
            Waiting::Stack(waiting) => waiting.pop(),
            Waiting::Ranked(waiting) => waiting.pop().map(|Ranked(_, node)| node),
        }
    }
}

impl<T: Send + Sync> Walk<T> {
    /// Walks to the end on all processors: `look` examines several positions at once;
    /// `take` runs in this thread, gets each position with the result of `look` in the
    /// order of the walk, and continues from there. With [`Order::Breadth`] the order is
    /// that of a walk position by position.
    ///
    /// # Errors
    ///
    /// The errors of `look` and `take`.
    pub(crate) fn spread<M: Send, E: From<Panicked> + Send>(
        &mut self,
        look: impl Fn(&[WalkNode<T>]) -> Result<M, E> + Sync,
        take: impl FnMut(&mut Walk<T>, &[WalkNode<T>], M) -> Result<(), E>,
    ) -> Result<(), E> {
        self.spread_in_chunks(look, take, |_, _| Ok(()))
    }

    /// As [`Walk::spread`]; `chunk_done` is called with every chunk of examined and taken
    /// positions, before the next chunk.
    ///
    /// # Errors
    ///
    /// The errors of `look`, `take` and `chunk_done`.
    pub(crate) fn spread_in_chunks<M: Send, E: From<Panicked> + Send>(
        &mut self,
        look: impl Fn(&[WalkNode<T>]) -> Result<M, E> + Sync,
        mut take: impl FnMut(&mut Walk<T>, &[WalkNode<T>], M) -> Result<(), E>,
        mut chunk_done: impl FnMut(&Walk<T>, &[WalkNode<T>]) -> Result<(), E>,
    ) -> Result<(), E> {
        // For all processors in place of the workers, large machines needed memory for nothing.
        let most = parallel::workers() * BATCHES_PER_THREAD * BATCH;
        loop {
            let chunk = self.chunk(most);
            if chunk.is_empty() {
                return Ok(());
            }
            let batches: Vec<&[WalkNode<T>]> = chunk.chunks(BATCH).collect();
            let batch = |n| batches.get(n as usize).copied().unwrap_or_default();
            let mut taken = 0;
            in_order(
                batches.len() as u32,
                |n| look(batch(n)),
                |made| {
                    take(self, batch(taken), made)?;
                    taken += 1;
                    Ok(())
                },
            )?;
            chunk_done(self, &chunk)?;
        }
    }
}
