//! Look into a book.

pub(crate) mod diff;
pub(crate) mod diff_json;
pub(crate) mod diff_text;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod info;
pub(crate) mod info_index;
pub(crate) mod info_other;
pub(crate) mod probe;
pub(crate) mod tree;
