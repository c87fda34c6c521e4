//! Reading files of any size: numbers out of bytes, and bytes out of files
//! that may be larger than memory.
//!
//! The ground floor: books and databases stand on it, it knows of neither.

pub mod bytes;
pub mod file;
pub mod kind;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub mod path;
pub mod reader;
pub mod sibling;
pub mod state;
pub mod window;
