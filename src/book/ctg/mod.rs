//! (being written)

/// (being written)
#[derive(Debug, thiserror::Error)]
#[error("book error")]
pub struct Error;
