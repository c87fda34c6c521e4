//! The tree of a game's moves and variations.

use shakmaty::Move;

use crate::Recorder;

/// A node of the tree: the position after a move.
pub(super) type NodeId = u32;

/// The node before the first move.
pub(super) const ROOT: NodeId = 0;

/// Greatest number of moves; a larger tree means damage.
const LARGEST: usize = 1 << 20;

/// The moves of a game. The moves after a node are alternatives, in the order of the
/// file; the first is the main move.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<TreeNode>,
    /// Tasks that are still to be recorded; stored here to reuse the memory.
    agenda: Vec<Task>,
}

#[derive(Clone, Debug)]
struct TreeNode {
    /// The move; `None` for a null move.
    step: Option<Move>,
    /// Links to other nodes; [`ROOT`] if there is none.
    first_after: NodeId,
    last_after: NodeId,
    next_alternative: NodeId,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// The moves after a node.
    Line(NodeId),
    /// A variation that begins with the move to a node.
    Variation(NodeId),
    End,
}

impl TreeNode {
    fn new(step: Option<Move>) -> TreeNode {
        TreeNode {
            step,
            first_after: ROOT,
            last_after: ROOT,
            next_alternative: ROOT,
        }
    }
}

impl Default for Tree {
    fn default() -> Tree {
        Tree {
            nodes: vec![TreeNode::new(None)],
            agenda: Vec::new(),
        }
    }
}

impl Tree {
    /// Empties the tree. Its memory is reused unless it is large.
    pub(super) fn clear(&mut self) {
        self.nodes.truncate(1);
        self.nodes.shrink_to(1 << 14);
        if let Some(root) = self.nodes.first_mut() {
            *root = TreeNode::new(None);
        }
        self.agenda.clear();
        self.agenda.shrink_to(1 << 12);
    }

    /// Number of moves.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Adds a move after a node, as the last alternative, and returns the new
    /// node; `None` if there are too many.
    pub(super) fn add(&mut self, after: NodeId, step: Option<Move>) -> Option<NodeId> {
        if self.nodes.len() > LARGEST {
            return None;
        }
        let new = NodeId::try_from(self.nodes.len()).ok()?;
        self.nodes.push(TreeNode::new(step));
        let parent = self.node_mut(after)?;
        let last = std::mem::replace(&mut parent.last_after, new);
        if last == ROOT {
            parent.first_after = new;
        } else {
            self.node_mut(last)?.next_alternative = new;
        }
        Some(new)
    }

    fn node_mut(&mut self, place: NodeId) -> Option<&mut TreeNode> {
        self.nodes.get_mut(usize::try_from(place).ok()?)
    }

    fn node(&self, place: NodeId) -> Option<&TreeNode> {
        self.nodes.get(usize::try_from(place).ok()?)
    }

    /// Records the whole tree in the order of PGN. All moves must be legal.
    pub(super) fn record(&mut self, recorder: &mut Recorder<'_>) {
        let mut agenda = std::mem::take(&mut self.agenda);
        agenda.push(Task::Line(ROOT));
        while let Some(task) = agenda.pop() {
            if recorder.is_done() {
                break;
            }
            match task {
                Task::Line(after) => self.record_next(after, recorder, &mut agenda),
                Task::Variation(first) => {
                    recorder.begin_variation();
                    self.play(first, recorder);
                    agenda.push(Task::End);
                    agenda.push(Task::Line(first));
                }
                Task::End => recorder.end_variation(),
            }
        }
        agenda.clear();
        self.agenda = agenda;
    }

    /// Records the main move after a node, and schedules its alternatives and the
    /// moves after it.
    fn record_next(&self, after: NodeId, recorder: &mut Recorder<'_>, agenda: &mut Vec<Task>) {
        let Some(main) = self.node(after).map(|node| node.first_after) else {
            return;
        };
        if main == ROOT {
            return;
        }
        self.play(main, recorder);
        agenda.push(Task::Line(main));
        let first = agenda.len();
        let mut next = main;
        while let Some(node) = self.node(next).filter(|node| node.next_alternative != ROOT) {
            next = node.next_alternative;
            agenda.push(Task::Variation(next));
        }
        agenda.get_mut(first..).unwrap_or_default().reverse();
    }

    fn play(&self, place: NodeId, recorder: &mut Recorder<'_>) {
        match self.node(place).and_then(|node| node.step) {
            Some(m) => recorder.play(m),
            // The code that built the tree has checked that a null move is possible.
            None => {
                recorder.play_null();
            }
        }
    }
}
