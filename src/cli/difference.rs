//! Shows the change of a file to the user.

use std::io::{self, Write};
use std::path::Path;

use super::style::{GREEN, HEADING, PLACE, Painted, RED};
use tabia_io::sanitize::escape_control;

/// Writes the difference between two texts of a file like `diff -u`; `None` is a missing
/// file.
pub(super) fn write(
    path: &Path,
    old: Option<&str>,
    new: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    // A name may contain control characters, and this goes to a terminal with colours.
    let shown = escape_control(&path.display().to_string());
    for (sign, text) in [("---", old), ("+++", new)] {
        let name = if text.is_some() { &shown } else { "/dev/null" };
        writeln!(out, "{}", Painted(HEADING, format!("{sign} {name}")))?;
    }
    let [old_lines, new_lines] =
        [old, new].map(|text| text.unwrap_or_default().lines().collect::<Vec<_>>());
    let lines = diff::slice(&old_lines, &new_lines);
    let changed = |at: usize| !matches!(lines[at], diff::Result::Both(..));
    // Three lines around each change; overlapping changes are one hunk.
    let shown: Vec<usize> = (0..lines.len())
        .filter(|&at| (at.saturating_sub(3)..lines.len().min(at + 4)).any(changed))
        .collect();
    for piece in shown.chunk_by(|one, next| one + 1 == *next) {
        let before = |at: usize, old: bool| {
            let counts = |line: &&diff::Result<&&str>| match line {
                diff::Result::Left(_) => old,
                diff::Result::Both(..) => true,
                diff::Result::Right(_) => !old,
            };
            lines[..at].iter().filter(counts).count()
        };
        let (from, to) = (piece[0], piece[piece.len() - 1] + 1);
        let range = |old| {
            let (start, end) = (before(from, old), before(to, old));
            match end - start {
                1 => end.to_string(),
                // An empty range follows the line before it.
                0 => format!("{start},0"),
                lines => format!("{},{lines}", start + 1),
            }
        };
        let place = format!("@@ -{} +{} @@", range(true), range(false));
        writeln!(out, "{}", Painted(PLACE, place))?;
        for line in &lines[from..to] {
            match line {
                diff::Result::Both(line, _) => writeln!(out, " {line}")?,
                diff::Result::Left(line) => {
                    writeln!(out, "{}", Painted(RED, format!("-{line}")))?;
                }
                diff::Result::Right(line) => {
                    writeln!(out, "{}", Painted(GREEN, format!("+{line}")))?;
                }
            }
        }
    }
    Ok(())
}
