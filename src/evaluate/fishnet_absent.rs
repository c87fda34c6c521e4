//! Instead of reading tables, where the feature `parquet` is off.

use std::path::Path;

use super::gathered::GatherError;
use super::said::Said;
use crate::evals::Imported;
use crate::graph::BookGraph;
use crate::watch::Watch;

/// How such files begin.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// Says that nothing can be read.
pub(super) fn read(
    path: &Path,
    _graph: &BookGraph,
    _watch: &mut Watch<'_>,
) -> Result<(Imported, Said), GatherError> {
    Err(GatherError::Table {
        path: path.to_owned(),
        text: "this tabia cannot: build it with `cargo build --release --features parquet`"
            .to_owned(),
    })
}
