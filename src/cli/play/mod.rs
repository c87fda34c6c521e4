//! Play: the adapter, and the test of its configuration.

pub(crate) mod adapter;
pub(crate) mod check_config;
