//! Judge a book, and extend it.

pub(crate) mod audit;
pub(crate) mod evaluate;
pub(crate) mod evaluations;
pub(crate) mod grow;
pub(crate) mod prove;
pub(crate) mod repertoire;
pub(crate) mod review;
