//! Many sorted runs into one sequence of nodes, each position once.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

use super::node::Node;
use super::runs::RunReader;

/// A run with the node that it offers.
struct Front<'r> {
    node: Node,
    reader: RunReader<'r>,
}

impl Ord for Front<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.node.compare(&other.node)
    }
}

impl PartialOrd for Front<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Front<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Front<'_> {}

/// Hands every position of the runs to `sink`, in order, added up.
pub(super) fn merge<E: From<io::Error>>(
    readers: Vec<RunReader<'_>>,
    sink: &mut dyn FnMut(&Node) -> Result<(), E>,
) -> Result<(), E> {
    let mut heap = BinaryHeap::with_capacity(readers.len());
    let empty = Node::new(super::node::Place {
        order: 0,
        key: [0; 31],
    });
    for mut reader in readers {
        let mut node = empty.clone();
        if reader.next(&mut node)? {
            // On the heap by pointer: a node is large to move.
            heap.push(Reverse(Box::new(Front { node, reader })));
        }
    }
    let mut sum = empty.clone();
    let mut any = false;
    while let Some(mut top) = heap.peek_mut() {
        let front = &mut *top.0;
        if any && sum.place == front.node.place {
            sum.add(&front.node);
        } else {
            if any {
                sink(&sum)?;
            }
            // The old sum's buffer goes to the reader.
            std::mem::swap(&mut sum, &mut front.node);
            any = true;
        }
        if !front.reader.next(&mut front.node)? {
            PeekMut::pop(top);
        }
    }
    if any {
        sink(&sum)?;
    }
    Ok(())
}
