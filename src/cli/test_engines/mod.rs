//! Test engines: suites, protocols, recorded conversations.

pub(crate) mod check_engine;
pub(crate) mod replay;
pub(crate) mod suite;
