//! The compiled part of the Python package: opens books by the crate `tabia`, converts
//! boards and moves. The public part is in `tabia/`.

mod bin;
mod board;
mod book;
mod entry;
mod error;
mod found;
mod policy;
mod positions;
mod work;

use pyo3::prelude::*;

/// The compiled part of the package `tabia`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::book::NativeBook;
    #[pymodule_export]
    use super::entry::{Entry, restored_entry};
    #[pymodule_export]
    use super::policy::Policy;
    #[pymodule_export]
    use super::work::{build, convert, game_endings, mark, undo_mark, verify};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
