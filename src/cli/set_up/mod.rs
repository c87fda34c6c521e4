//! Set up: chess programs, shells and manual pages.

pub(crate) mod file_diff;
pub(crate) mod register;
pub(crate) mod setup;
pub(crate) mod shell;
