//! The output of `tabia info` for a games index.

use std::io::Write;
use std::path::Path;

use crate::cli::print::columns::Table;
use crate::cli::print::style::counted;
use tabia_games::tgx::Segment;
use tabia_index::GamesIndex;
use tabia_io::sanitize::escape_control;

pub(crate) fn run(
    path: &Path,
    no_mmap: bool,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let index = GamesIndex::open(path, !no_mmap)?;
    let root = index.file().root();
    let sum = |number: fn(&Segment) -> u64| root.segments.iter().map(number).sum::<u64>();
    let positions = sum(|segment| segment.positions);
    let moves = sum(|segment| segment.moves);
    if json {
        let object = serde_json::json!({
            "format": "tgx",
            "games": index.file().games(),
            "positions": positions,
            "moves": moves,
            "bytes": index.file().len(),
            "max_ply": root.max_ply,
            "last_month": index.last_month().map(|month| month.to_string()),
            "segments": root.segments,
        });
        writeln!(out, "{object}")?;
        return Ok(0);
    }
    let name = escape_control(&index.file().path().display().to_string());
    writeln!(out, "{name}: games index")?;
    let mut list = Table::list(2, 13);
    list.add("games", index.file().games());
    let note = match root.segments.len() {
        0 | 1 => "",
        _ => ", those of several parts counted in each",
    };
    list.add("positions", format_args!("{positions}{note}"));
    list.add("moves", format_args!("{moves}{note}"));
    list.add("plies", format_args!("{} of each game", root.max_ply));
    list.add("size", format_args!("{} bytes", index.file().len()));
    if let Some(month) = index.last_month() {
        list.add("newest month", month);
    }
    for segment in &root.segments {
        let sources = escape_control(&segment.sources.join(" "));
        list.add(
            "part",
            format_args!("{} of {sources}", counted(segment.games, "game")),
        );
        if !segment.filter.is_empty() {
            list.add("", escape_control(&segment.filter));
        }
    }
    write!(out, "{list}")?;
    Ok(0)
}
