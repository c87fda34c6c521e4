//! Make a book, from games or from books.

pub(crate) mod add;
pub(crate) mod also;
pub(crate) mod build;
pub(crate) mod convert;
pub(crate) mod games;
pub(crate) mod index;
pub(crate) mod merge;
pub(crate) mod provenance;
