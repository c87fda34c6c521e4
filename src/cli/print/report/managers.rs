//! Command lines for playing a suite, one for each match manager.

use std::path::Path;

use tabia_io::input::path::file_name;
use tabia_io::sanitize::shell_word;

/// The command lines, each after the manager's name. `plies` is the longest line of a
/// suite of games.
pub(crate) fn lines(
    suite: &Path,
    is_pgn: bool,
    plies: u32,
    seed: u64,
) -> Vec<(&'static str, String)> {
    let file = shell_word(&suite.display().to_string());
    let format = if is_pgn { "pgn" } else { "epd" };
    let plies = match is_pgn {
        true => format!(" plies={plies}"),
        false => String::new(),
    };
    let openings = format!("-openings file={file} format={format} order=random{plies}");
    vec![
        (
            "fastchess",
            format!("fastchess {openings} -srand {seed} -games 2 -repeat ..."),
        ),
        (
            "cutechess-cli",
            format!("cutechess-cli {openings} -srand {seed} -games 2 -repeat ..."),
        ),
        (
            "fishtest",
            format!(
                "the archive (--zip) and its entry (--metadata books.json) in the repository \
                 of books; book {}",
                file_name(suite)
            ),
        ),
        (
            "OpenBench",
            format!(
                "the archive (--zip) on the web and Books/{}.json (--openbench DIR --source-url \
                 URL)",
                file_name(suite)
            ),
        ),
    ]
}
