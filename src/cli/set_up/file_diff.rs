//! Shows the change of a file to the user.

use std::io::{self, Write};
use std::path::Path;

use crate::cli::print::style::{FAINT, GREEN, HEADING, PLACE, Painted, RED};
use crate::install::{Lines, Origin};
use tabia_io::sanitize::escape_control;

/// Writes the difference between two texts of a file like `diff -u`; `None` is a missing
/// file.
pub(crate) fn write(
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
    let changed = |line: &diff::Result<_>| !matches!(line, diff::Result::Both(..));
    let shown = with_context(&lines, changed);
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

/// Writes who wrote the lines of a file, in its margin.
pub(crate) fn write_origins(
    path: &Path,
    lines: &Lines<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let path = escape_control(&path.display().to_string());
    if lines.iter().all(|(origin, _)| *origin == Origin::Setup) {
        return writeln!(out, "{path}: all of it");
    }
    writeln!(out, "{path}:")?;
    let shown = with_context(lines, |(origin, _)| *origin != Origin::Other);
    for piece in shown.chunk_by(|one, next| one + 1 == *next) {
        if piece[0] > 0 {
            writeln!(out, "  ...")?;
        }
        for (origin, line) in piece.iter().map(|&at| lines[at]) {
            let (style, margin) = match origin {
                Origin::Setup => (PLACE, "setup"),
                Origin::SetupRemoved => (FAINT, "gone"),
                Origin::Since => (GREEN, "yours"),
                Origin::Other => (FAINT, ""),
            };
            let line = line.trim_end_matches(['\r', '\n']);
            writeln!(
                out,
                "{}",
                format!("  {:5}  {line}", Painted(style, margin)).trim_end()
            )?;
        }
    }
    if shown.last().is_some_and(|last| last + 1 < lines.len()) {
        writeln!(out, "  ...")?;
    }
    Ok(())
}

/// The places of lines to show: three around each changed one.
fn with_context<T>(lines: &[T], is_changed: impl Fn(&T) -> bool) -> Vec<usize> {
    (0..lines.len())
        .filter(|&at| {
            let around = &lines[at.saturating_sub(3)..lines.len().min(at + 4)];
            around.iter().any(&is_changed)
        })
        .collect()
}
