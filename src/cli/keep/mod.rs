//! Keep a book in order.

pub(crate) mod compact;
pub(crate) mod learn;
pub(crate) mod mark;
pub(crate) mod mark_changes;
pub(crate) mod prune;
pub(crate) mod verify;
