//! Instead of reading and writing, where the feature `parquet` is off.

use std::path::Path;

use super::super::node::Node;
use super::super::{BuildError, Written};
use super::{Inputs, RecordsError};
use std::sync::Arc;
use tabia_io::atomic::Old;
use tabia_io::progress::Watch;
use tabia_io::sort::{Runs, Sorted};

/// Returns the error that nothing can be read.
pub(in super::super) fn read(
    inputs: &Inputs<'_>,
    _runs: &Arc<Runs<Node>>,
    _watch: &mut Watch<'_>,
) -> Result<u64, BuildError> {
    let _ = (inputs.threads, inputs.sort_bytes);
    Err(no_feature(inputs.paths.first().map(|path| &**path)).into())
}

/// What could be written.
pub(in super::super) enum Table {}

impl Table {
    /// Returns the error that nothing can be written.
    pub(in super::super) fn create(path: &Path, _old: Old) -> Result<Table, RecordsError> {
        Err(no_feature(Some(path)))
    }

    pub(in super::super) fn write(
        self,
        _sorted: &Sorted<Node>,
        _games: u64,
        _watch: &mut Watch<'_>,
    ) -> Result<Written, BuildError> {
        match self {}
    }
}

fn no_feature(path: Option<&Path>) -> RecordsError {
    let path = path.unwrap_or(Path::new("")).to_owned();
    RecordsError::NoFeature { path }
}
