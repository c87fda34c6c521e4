//! Replaces `read` and `write` in a build without the feature `parquet`.

use std::path::Path;
use std::sync::Arc;

use super::super::node::Node;
use super::super::{BuildError, Written};
use super::{Inputs, RecordsError};
use tabia_io::atomic::NewFile;
use tabia_io::progress::Watch;
use tabia_io::sort::{Runs, Sorted};

/// Returns the error that this program cannot read records.
pub(in super::super) fn read(
    inputs: &Inputs<'_>,
    _runs: &Arc<Runs<Node>>,
    _watch: &mut Watch<'_>,
) -> Result<u64, BuildError> {
    let _ = (inputs.threads, inputs.sort_bytes);
    let first = inputs.paths.first().map(|path| &**path);
    Err(RecordsError::no_feature(first.unwrap_or(Path::new(""))).into())
}

/// Returns the error that this program cannot write records.
pub(in super::super) fn write(
    file: &NewFile,
    _sorted: &Sorted<Node>,
    _games: u64,
    _watch: &mut Watch<'_>,
) -> Result<Written, BuildError> {
    Err(RecordsError::no_feature(file.path()).into())
}
