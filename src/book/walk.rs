//! Positions one after the other, from a root along moves.

use std::collections::VecDeque;

use shakmaty::{Chess, Move, Position as _};

use super::polyglot::PackedMove;

/// Which of the positions ahead comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The one that was met first: what is near to the root comes first.
    Breadth,
    /// The first after the one before it: line by line.
    Depth,
}

/// A walk from a root. Who walks says where it goes on and which positions are
/// new; the walk has the order, and remembers in eight bytes how it came to
/// each.
pub(crate) struct Walk {
    root: Chess,
    order: Order,
    ahead: VecDeque<Reached>,
    steps: Vec<Step>,
}

/// A position of a walk.
pub(crate) struct Reached {
    pub(crate) position: Chess,
    /// Plies from the root.
    pub(crate) ply: u32,
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

impl Walk {
    pub(crate) fn new(root: &Chess, order: Order) -> Walk {
        Walk {
            root: root.clone(),
            order,
            ahead: VecDeque::from([Reached {
                position: root.clone(),
                ply: 0,
                step: ROOT,
            }]),
            steps: Vec::new(),
        }
    }

    /// The next position; who has looked at it says with [`Walk::go_on`] what
    /// comes after it.
    pub(crate) fn next(&mut self) -> Option<Reached> {
        match self.order {
            Order::Breadth => self.ahead.pop_front(),
            Order::Depth => self.ahead.pop_back(),
        }
    }

    /// Nothing comes any more.
    pub(crate) fn end(&mut self) {
        self.ahead.clear();
    }

    /// Goes on with those moves of a position that lead to new ones.
    pub(crate) fn go_on(
        &mut self,
        here: &Reached,
        moves: impl DoubleEndedIterator<Item = Move>,
        mut is_new: impl FnMut(&Chess) -> bool,
    ) {
        let mut enter = |mv: Move| {
            let mut position = here.position.clone();
            position.play_unchecked(mv);
            if !is_new(&position) {
                return;
            }
            // A book of more positions has no line to the last of them.
            let step = u32::try_from(self.steps.len()).unwrap_or(ROOT);
            self.steps.push(Step {
                before: here.step,
                mv: PackedMove::of(mv),
            });
            self.ahead.push_back(Reached {
                position,
                ply: here.ply + 1,
                step,
            });
        };
        match self.order {
            Order::Breadth => moves.for_each(enter),
            Order::Depth => moves.rev().for_each(&mut enter),
        }
    }

    /// The moves that led from the root to a position.
    pub(crate) fn line(&self, to: &Reached) -> Vec<Move> {
        let mut packed = Vec::new();
        let mut at = to.step;
        while let Some(step) = self.steps.get(at as usize) {
            packed.push(step.mv);
            at = step.before;
        }
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
