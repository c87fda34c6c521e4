//! The help, and answers to lines that were not understood.

pub(crate) mod defaults;
pub(crate) mod groups;
pub(crate) mod instead;
pub(crate) mod meant;
pub(crate) mod repair;
pub(crate) mod usage;
pub(crate) mod welcome;
