//! Arguments that several commands take, and what is read by them.

pub(crate) mod collection;
pub(crate) mod common;
pub(crate) mod complete;
pub(crate) mod configuration;
pub(crate) mod counting;
pub(crate) mod engine_args;
pub(crate) mod engines;
pub(crate) mod line;
pub(crate) mod tab;
