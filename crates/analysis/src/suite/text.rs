//! The text of a suite, and whether it is one.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, about};

/// The text of a file, decompressed.
pub(super) fn text_of(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    let text = tabia_games::unpacked(path).map_err(|error| about(path, error))?;
    Ok(text.plain)
}

/// Whether a file is a suite of positions.
pub(super) fn is_suite(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    let read = text_of(path)?.take(4096).read_to_end(&mut start);
    read.map_err(|error| about(path, error))?;
    Ok(is_epd(&start))
}

/// Whether a text is a suite of positions, not of games: its first line that is neither
/// blank nor a comment begins with the piece placement of a FEN.
pub(super) fn is_epd(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let word = first.and_then(|line| line.split_whitespace().next());
    word.is_some_and(|word| word.matches('/').count() == 7)
}
