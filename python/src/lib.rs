//! The compiled part of the Python package: opens books by the crate `tabia`, converts
//! boards and moves. The public part is in `tabia/`.

mod bin;
mod board;
mod book;
mod entry;
mod error;
mod found;
mod policy;
mod work;

use pyo3::prelude::*;

/// The compiled part of the package `tabia`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::book::NativeBook;
    #[pymodule_export]
    use super::entry::Entry;
    #[pymodule_export]
    use super::policy::Policy;
    #[pymodule_export]
    use super::work::{build, convert};
}
