//! Rewrites an index as one segment.

use std::path::Path;

use crate::Error;
use crate::parts::{Joined, merged_segment};
use crate::{IDS, PLAYERS, POSITIONS};
use tabia_games::tgx::{GAMES, Segment, TableWriter, TgxFile, TgxWriter, lock};
use tabia_io::atomic::{self, Previous};
use tabia_io::progress::Watch;

/// The result of compacting an index.
#[derive(Clone, Debug, Default)]
pub struct Compacted {
    /// The only segment of the new index.
    pub part: Segment,
    /// Number of segments before.
    pub parts: usize,
    /// Bytes before and after.
    pub bytes: [u64; 2],
}

/// Rewrites an index as one segment, without data that no query needs. `target` may be
/// the index itself; after an error it is unchanged.
///
/// # Errors
///
/// The index cannot be read or is damaged, another program is adding to it, or the new
/// one cannot be written.
pub fn compact(
    path: &Path,
    target: &Path,
    old: Previous,
    watch: &mut Watch<'_>,
) -> Result<Compacted, Error> {
    let (mut old, mut held) = (old, None);
    if atomic::is_same_file(path, target) {
        // Otherwise games that another program adds meanwhile would be lost.
        held = Some(lock(path)?);
        if old == Previous::Refuse {
            old = Previous::Replace;
        }
    }
    let file = TgxFile::open(path, false)?;
    let parts = &file.root().segments;
    let mut writer = TgxWriter::create(target, old, file.root().max_ply)?;
    let mut games = TableWriter::default();
    let mut buffer = Vec::new();
    for (_, directory) in file.tables(GAMES) {
        for block in 0..directory.len() {
            watch.go_on()?;
            let bytes = file.block(directory, block, &mut buffer);
            let key = directory.first_key(block).unwrap_or(0);
            games.block(key, bytes?, &mut writer)?;
        }
    }
    writer.end_table(GAMES, games)?;
    let mut part = merged_segment(parts);
    for name in [POSITIONS, PLAYERS, IDS] {
        let joined = Joined::new(name, Some(&file), parts.len())?;
        let done = joined.finish(name, &mut writer, watch)?;
        if name == POSITIONS {
            part.positions = done.entries;
            part.moves -= done.shared_moves;
        }
    }
    let bytes = [file.len(), writer.finish(part.clone())?];
    drop(held);
    Ok(Compacted {
        parts: parts.len(),
        bytes,
        part,
    })
}
