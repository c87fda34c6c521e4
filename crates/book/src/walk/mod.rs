//! A walk over positions, from a root along moves: used for comparing, converting and
//! finding lines.

mod positions;
pub mod tree;

pub use positions::{BookPosition, PositionMove, Positions};
pub(crate) use positions::{BookWalk, Bridges, position_of};

use std::collections::VecDeque;

use shakmaty::{Chess, Move, Position as _};

use crate::polyglot::PackedMove;
use tabia_io::parallel::{self, Panicked, in_order};
use tabia_notation as notation;

/// Which waiting position comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// First in, first out: positions near the root come first.
    Breadth,
    /// Depth first: line by line.
    Depth,
}

/// A walk from a root. The caller decides where it goes on and which positions are new,
/// and may attach a note of type `T` to each; the walk stores the order, and in eight
/// bytes for each position the move that led there.
pub(crate) struct Walk<T = ()> {
    root: Chess,
    order: Order,
    ahead: VecDeque<Reached<T>>,
    /// `None` if lines are not needed.
    steps: Option<Vec<Step>>,
}

/// A position of a walk.
pub(crate) struct Reached<T = ()> {
    pub(crate) position: Chess,
    /// Plies from the root.
    pub(crate) ply: u32,
    /// The caller's note.
    pub(crate) note: T,
    /// Number of the step that led here, if any.
    step: u32,
}

/// A move of a walk, and the step before it.
struct Step {
    before: u32,
    mv: PackedMove,
}

/// Before the first step.
const ROOT: u32 = u32::MAX;

/// Positions that one thread looks at in one batch, and batches for each thread before
/// the walk goes on from them.
const BATCH: usize = 512;
const BATCHES_PER_THREAD: usize = 4;

impl Walk {
    pub(crate) fn new(root: &Chess, order: Order) -> Walk {
        Walk::with_notes(root, (), order)
    }

    /// Enters those moves of a position that lead to new ones.
    pub(crate) fn enter_new(
        &mut self,
        here: &Reached,
        moves: impl DoubleEndedIterator<Item = Move>,
        mut is_new: impl FnMut(&Chess) -> bool,
    ) {
        let order = self.order;
        let mut enter = |mv: Move| {
            let position = notation::after(&here.position, mv);
            if is_new(&position) {
                self.enter(here, mv, position, ());
            }
        };
        match order {
            Order::Breadth => moves.for_each(enter),
            Order::Depth => moves.rev().for_each(&mut enter),
        }
    }
}

impl<T> Walk<T> {
    /// As [`Walk::new`], with a note for the root.
    pub(crate) fn with_notes(root: &Chess, note: T, order: Order) -> Walk<T> {
        Walk {
            root: root.clone(),
            order,
            ahead: VecDeque::from([Reached {
                position: root.clone(),
                ply: 0,
                note,
                step: ROOT,
            }]),
            steps: Some(Vec::new()),
        }
    }

    /// The same with less memory, if lines are not needed.
    #[cfg(feature = "json")]
    pub(crate) fn without_lines(self) -> Walk<T> {
        Walk {
            steps: None,
            ..self
        }
    }

    /// The next position; the caller adds the positions after it with [`Walk::enter_new`].
    pub(crate) fn next(&mut self) -> Option<Reached<T>> {
        match self.order {
            Order::Breadth => self.ahead.pop_front(),
            Order::Depth => self.ahead.pop_back(),
        }
    }

    /// Ends the walk: removes all waiting positions.
    pub(crate) fn end(&mut self) {
        self.ahead.clear();
    }

    /// Adds the position after a move.
    #[inline]
    pub(crate) fn enter(&mut self, here: &Reached<T>, mv: Move, position: Chess, note: T) {
        self.enter_line(here, &[mv], position, note);
    }

    /// Adds the position after several moves, without those in between.
    #[inline]
    pub(crate) fn enter_line(
        &mut self,
        here: &Reached<T>,
        moves: &[Move],
        position: Chess,
        note: T,
    ) {
        let mut step = here.step;
        for &mv in moves {
            step = match &mut self.steps {
                Some(steps) => {
                    steps.push(Step {
                        before: step,
                        mv: PackedMove::of(mv),
                    });
                    // With more positions than `u32` there is no line to the last ones.
                    u32::try_from(steps.len() - 1).unwrap_or(ROOT)
                }
                None => ROOT,
            };
        }
        self.ahead.push_back(Reached {
            position,
            ply: here.ply + moves.len() as u32,
            note,
            step,
        });
    }

    /// The steps from a position back to the root, by number: that of the first
    /// [`Walk::enter`] is 0.
    pub(crate) fn steps_back(&self, from: &Reached<T>) -> impl Iterator<Item = usize> {
        let steps = self.steps.as_deref().unwrap_or_default();
        let first = (from.step != ROOT).then_some(from.step as usize);
        std::iter::successors(first, |&at| {
            let before = steps.get(at)?.before;
            (before != ROOT).then_some(before as usize)
        })
    }

    /// The moves from the root to a position.
    pub(crate) fn line(&self, to: &Reached<T>) -> Vec<Move> {
        let steps = self.steps.as_deref().unwrap_or_default();
        let back = self.steps_back(to).filter_map(|at| steps.get(at));
        let packed: Vec<PackedMove> = back.map(|step| step.mv).collect();
        let mut position = self.root.clone();
        let mut moves = Vec::new();
        for mv in packed.iter().rev() {
            let legal = position.legal_moves();
            let Some(&mv) = mv.find(&legal).and_then(|n| legal.get(n)) else {
                break;
            };
            moves.push(mv);
            position.play_unchecked(mv);
        }
        moves
    }
}

impl<T: Send + Sync> Walk<T> {
    /// Walks to the end on all processors: `look` examines several positions at once;
    /// `take` runs in this thread, gets each position with the result of `look` in the
    /// order of the walk, and goes on from there. With [`Order::Breadth`] the order is
    /// that of a walk position by position.
    ///
    /// # Errors
    ///
    /// Those of `look` and `take`.
    pub(crate) fn spread<M: Send, E: From<Panicked> + Send>(
        &mut self,
        look: impl Fn(&[Reached<T>]) -> Result<M, E> + Sync,
        take: impl FnMut(&mut Walk<T>, &[Reached<T>], M) -> Result<(), E>,
    ) -> Result<(), E> {
        self.spread_in_chunks(look, take, |_, _| Ok(()))
    }

    /// As [`Walk::spread`]; `chunk_done` is called with every chunk of examined and taken
    /// positions, before the next chunk.
    ///
    /// # Errors
    ///
    /// Those of `look`, `take` and `chunk_done`.
    pub(crate) fn spread_in_chunks<M: Send, E: From<Panicked> + Send>(
        &mut self,
        look: impl Fn(&[Reached<T>]) -> Result<M, E> + Sync,
        mut take: impl FnMut(&mut Walk<T>, &[Reached<T>], M) -> Result<(), E>,
        mut chunk_done: impl FnMut(&Walk<T>, &[Reached<T>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let threads = parallel::threads();
        let most = threads * BATCHES_PER_THREAD * BATCH;
        while !self.ahead.is_empty() {
            let chunk: Vec<Reached<T>> = match self.order {
                Order::Breadth => self.ahead.drain(..most.min(self.ahead.len())).collect(),
                Order::Depth => {
                    let rest = self.ahead.len().saturating_sub(most);
                    self.ahead.drain(rest..).collect()
                }
            };
            let batches: Vec<&[Reached<T>]> = chunk.chunks(BATCH).collect();
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
        Ok(())
    }
}
