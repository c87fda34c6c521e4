//! Positions one after the other, from a root along moves: the one walk that
//! comparing, converting and looking for lines take.

use std::collections::VecDeque;

use shakmaty::{Chess, Move, Position as _};

use super::polyglot::PackedMove;
use tabia_io::parallel::{self, Panicked, in_order};
use tabia_notation as notation;

/// Which of the positions ahead comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The one that was met first: what is near to the root comes first.
    Breadth,
    /// The first after the one before it: line by line.
    Depth,
}

/// A walk from a root. Who walks says where it goes on and which positions are
/// new, and may put a note of type `T` to each; the walk has the order, and
/// remembers in eight bytes how it came to each.
pub(crate) struct Walk<T = ()> {
    root: Chess,
    order: Order,
    ahead: VecDeque<Reached<T>>,
    /// `None` where lines are not needed.
    steps: Option<Vec<Step>>,
}

/// A position of a walk.
pub(crate) struct Reached<T = ()> {
    pub(crate) position: Chess,
    /// Plies from the root.
    pub(crate) ply: u32,
    /// What is known of it.
    pub(crate) note: T,
    /// Number of the step that led here, if one did.
    step: u32,
}

/// A move of a walk, and the step before it.
struct Step {
    before: u32,
    mv: PackedMove,
}

/// Before the first step.
const ROOT: u32 = u32::MAX;

/// Positions that one thread looks at in one go, and how many such shares each
/// thread has before the walk goes on from them.
const SHARE: usize = 512;
const SHARES_EACH: usize = 4;

impl Walk {
    pub(crate) fn new(root: &Chess, order: Order) -> Walk {
        Walk::with_notes(root, (), order)
    }

    /// Goes on with those moves of a position that lead to new ones.
    pub(crate) fn go_on(
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
    /// As [`Walk::new`], with what is known of the root.
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

    /// The same in less memory, where lines are not needed.
    #[cfg(feature = "json")]
    pub(crate) fn without_lines(self) -> Walk<T> {
        Walk {
            steps: None,
            ..self
        }
    }

    /// The next position; who has looked at it says with [`Walk::go_on`] what
    /// comes after it.
    pub(crate) fn next(&mut self) -> Option<Reached<T>> {
        match self.order {
            Order::Breadth => self.ahead.pop_front(),
            Order::Depth => self.ahead.pop_back(),
        }
    }

    /// Nothing comes any more.
    pub(crate) fn end(&mut self) {
        self.ahead.clear();
    }

    /// Goes on from a position to the one after a move.
    #[inline]
    pub(crate) fn enter(&mut self, here: &Reached<T>, mv: Move, position: Chess, note: T) {
        let step = match &mut self.steps {
            Some(steps) => {
                steps.push(Step {
                    before: here.step,
                    mv: PackedMove::of(mv),
                });
                // A book of more positions has no line to the last of them.
                u32::try_from(steps.len() - 1).unwrap_or(ROOT)
            }
            None => ROOT,
        };
        self.ahead.push_back(Reached {
            position,
            ply: here.ply + 1,
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

    /// The moves that led from the root to a position.
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
    /// Walks to the end, on all processors: `look` is asked about some
    /// positions at once, and `take`, in this thread, gets them and what was
    /// made of them, in the order of the walk, and goes on from there. With
    /// [`Order::Breadth`] that is the order of a walk position by position.
    ///
    /// # Errors
    ///
    /// What `look` and `take` say.
    pub(crate) fn spread<M: Send, E: From<Panicked> + Send>(
        &mut self,
        look: impl Fn(&[Reached<T>]) -> Result<M, E> + Sync,
        take: impl FnMut(&mut Walk<T>, &[Reached<T>], M) -> Result<(), E>,
    ) -> Result<(), E> {
        self.spread_in_chunks(look, take, |_, _| Ok(()))
    }

    /// As [`Walk::spread`]; `chunk_done` is called with every chunk of positions that were
    /// looked at and taken together, before the next are.
    ///
    /// # Errors
    ///
    /// What `look`, `take` and `chunk_done` say.
    pub(crate) fn spread_in_chunks<M: Send, E: From<Panicked> + Send>(
        &mut self,
        look: impl Fn(&[Reached<T>]) -> Result<M, E> + Sync,
        mut take: impl FnMut(&mut Walk<T>, &[Reached<T>], M) -> Result<(), E>,
        mut chunk_done: impl FnMut(&Walk<T>, &[Reached<T>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let threads = parallel::threads();
        let most = threads * SHARES_EACH * SHARE;
        while !self.ahead.is_empty() {
            let batch: Vec<Reached<T>> = match self.order {
                Order::Breadth => self.ahead.drain(..most.min(self.ahead.len())).collect(),
                Order::Depth => {
                    let rest = self.ahead.len().saturating_sub(most);
                    self.ahead.drain(rest..).collect()
                }
            };
            let shares: Vec<&[Reached<T>]> = batch.chunks(SHARE).collect();
            let share = |n| shares.get(n as usize).copied().unwrap_or_default();
            let mut taken = 0;
            in_order(
                shares.len() as u32,
                |n| look(share(n)),
                |made| {
                    take(self, share(taken), made)?;
                    taken += 1;
                    Ok(())
                },
            )?;
            chunk_done(self, &batch)?;
        }
        Ok(())
    }
}
