//! Reading files of any size: numbers out of bytes, and bytes out of files
//! that may be larger than memory.
//!
//! Books and databases use this; it knows of neither.

pub mod bytes;
pub mod file;
pub mod path;
pub mod reader;
pub mod sibling;
pub mod state;
pub mod window;
