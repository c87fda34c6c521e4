//! Look into a book.

pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod info;
pub(crate) mod probe;
pub(crate) mod tree;
