//! The index that the examples ask.

use tabia_index::{GamesIndex, IndexJob, Watch};

const GAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);

/// Makes an index of a database, in a folder that is removed when the first value is dropped.
pub(crate) fn index() -> Result<(tempfile::TempDir, GamesIndex), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("games.tgx");
    IndexJob::new([GAMES], &path).run(&mut Watch::default())?;
    let index = GamesIndex::open(&path, true)?;
    Ok((folder, index))
}
