//! Compares a file that setup has written with what it is now: which lines are setup's, and
//! what the file would be without them.
//!
//! `engines.toml` is edited by people, so it is compared line by line. The lists of chess
//! programs are rewritten by these programs, with other line breaks and another order: there
//! the entry of the adapter is setup's, and the rest is not.

use std::ops::Range;

use serde_json::Value;

use super::record::{ProgramFile, WrittenFile};
use crate::install::register::{EditedFor, Registration, with_own_book};

/// Where a line of a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Setup has written it.
    Setup,
    /// Setup has written it, and it is no longer in the file.
    SetupRemoved,
    /// Added or changed after setup.
    Since,
    /// In the file before setup, or in a list that a chess program writes.
    Other,
}

/// The lines of a file in order, with their line ends.
pub(crate) type Lines<'t> = Vec<(Origin, &'t str)>;

/// Setup's part of a file and the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparison<'t> {
    /// What setup wrote can be taken away.
    Separate {
        /// All lines.
        lines: Lines<'t>,
        /// The text without what setup wrote; `None` for no file.
        without: Option<String>,
    },
    /// What setup wrote was changed since, or something depends on it.
    Entangled {
        /// All lines.
        lines: Lines<'t>,
        /// The number of the first such line of the present text, from 1.
        line: usize,
    },
}

impl<'t> Comparison<'t> {
    /// All lines.
    #[must_use]
    pub(crate) fn lines(self) -> Lines<'t> {
        match self {
            Comparison::Separate { lines, .. } | Comparison::Entangled { lines, .. } => lines,
        }
    }
}

impl WrittenFile {
    /// Compares a written file with its present text. `command` is our program as it was
    /// registered.
    ///
    /// # Errors
    ///
    /// The text is not what the chess program writes.
    pub(crate) fn compare<'t>(
        &'t self,
        command: &str,
        now: &'t str,
    ) -> Result<Comparison<'t>, String> {
        self.compare_as(super::NAME, command, now)
    }

    /// [`WrittenFile::compare`] for an engine of another name.
    pub(super) fn compare_as<'t>(
        &'t self,
        name: &str,
        command: &str,
        now: &'t str,
    ) -> Result<Comparison<'t>, String> {
        let before = self.before.as_deref();
        match self.program {
            None => Ok(by_line(before, &self.after, now)),
            Some(ProgramFile::Engines(program)) => {
                by_entry(program, [name, command], before, &self.after, now)
                    .map_err(|error| error.to_string())
            }
            Some(ProgramFile::PyChessSettings) => {
                let without = match now == self.after {
                    true => self.before.clone(),
                    false => with_own_book(now, before),
                };
                Ok(separate(now, without))
            }
        }
    }
}

fn by_entry<'t>(
    program: EditedFor,
    [name, command]: [&str; 2],
    before: Option<&str>,
    after: &str,
    now: &'t str,
) -> anyhow::Result<Comparison<'t>> {
    let ours = Registration {
        name: name.to_owned(),
        command: command.to_owned(),
        ..Registration::default()
    };
    // A new file may begin with the list of the system.
    let copied = program.remove(after, &ours)?;
    let old = before.unwrap_or(&copied);
    let rest = match now == after {
        true => old.to_owned(),
        false => program.restore(now, [old, after], &ours)?,
    };
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    let same =
        |one: &str, other: &str| one == other || value(one).is_some() && value(one) == value(other);
    let without = match before {
        Some(before) if same(before, &rest) => Some(before.to_owned()),
        None if rest.trim().is_empty() || same(&copied, &rest) => None,
        _ => Some(rest.clone()),
    };
    Ok(match without {
        Some(_) => Comparison::Separate {
            lines: marked(now, &rest),
            without,
        },
        None => separate(now, None),
    })
}

/// The comparison of a text with what it would be without setup's change.
fn separate(now: &str, without: Option<String>) -> Comparison<'_> {
    Comparison::Separate {
        lines: marked(now, without.as_deref().unwrap_or_default()),
        without,
    }
}

/// All lines of a text; lines that `kept` lacks are setup's.
fn marked<'t>(now: &'t str, kept: &str) -> Lines<'t> {
    let [old, new] = [now, kept].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let steps = diff::slice(&old, &new);
    let origins = steps.iter().filter_map(|step| match step {
        diff::Result::Left(_) => Some(Origin::Setup),
        diff::Result::Both(..) => Some(Origin::Other),
        diff::Result::Right(_) => None,
    });
    origins.zip(now.split_inclusive('\n')).collect()
}

/// Places where two texts differ: units of the text after setup, and units of the other one.
#[derive(Debug)]
struct Hunk {
    after: Range<usize>,
    other: Range<usize>,
}

/// The comparison of a TOML file, as a three-way merge that takes back the step from `before`
/// to `after`. Unlike the usual merge it may delete lines next to lines that were added
/// since: setup wrote most or all lines of the file.
fn by_line<'t>(before: Option<&'t str>, after: &'t str, now: &'t str) -> Comparison<'t> {
    let texts = [before.unwrap_or_default(), after, now];
    let [before_units, after_units, now_units] = texts.map(units);
    let [before_keys, after_keys, now_keys] =
        [&before_units, &after_units, &now_units].map(|units| keys(units));
    let setups = hunks(&after_keys, &before_keys);
    let since = hunks(&after_keys, &now_keys);

    let is_setups = |unit: usize| setups.iter().any(|hunk| hunk.after.contains(&unit));
    // The units of the present text, and the lines to show.
    let mut marked: Vec<(Origin, &str)> = Vec::new();
    let mut lines: Lines<'t> = Vec::new();
    let mut without = String::new();
    let mut keep = |text: &str| {
        if !without.is_empty() && !without.ends_with('\n') {
            without.push_str(if now.contains("\r\n") { "\r\n" } else { "\n" });
        }
        without.push_str(text);
    };
    let (mut in_before, mut in_now) = (0, 0);
    for unit in 0..=after_units.len() {
        if let Some(hunk) = since.iter().find(|hunk| hunk.after.start == unit) {
            let removed = hunk.after.clone().filter(|&unit| is_setups(unit));
            let removed: Vec<&str> = removed.map(|unit| after_units[unit]).collect();
            let added = &now_units[hunk.other.clone()];
            lines.extend(changed_lines(&removed, added));
            for added in added {
                marked.push((Origin::Since, added));
                keep(added);
            }
            in_now = hunk.other.end;
        }
        if let Some(hunk) = setups.iter().find(|hunk| hunk.after.start == unit) {
            for text in &before_units[hunk.other.clone()] {
                keep(text);
            }
            in_before = hunk.other.end;
        }
        let Some(text) = after_units.get(unit) else {
            break;
        };
        let is_gone = since.iter().any(|hunk| hunk.after.contains(&unit));
        if !is_gone {
            let here = now_units[in_now];
            let origin = match is_setups(unit) {
                true => Origin::Setup,
                false => Origin::Other,
            };
            marked.push((origin, here));
            lines.extend(here.split_inclusive('\n').map(|line| (origin, line)));
            if origin == Origin::Other {
                // Only line ends and blank lines can differ.
                let is_same = here == *text;
                keep(if is_same {
                    before_units[in_before]
                } else {
                    here
                });
            }
        }
        in_before += usize::from(!is_setups(unit));
        in_now += usize::from(!is_gone);
    }

    let changed = since
        .iter()
        .filter(|since| setups.iter().any(|setups| clash(setups, since)))
        .map(|hunk| {
            let lines = |units: &[&'t str]| -> Vec<&'t str> {
                units.iter().flat_map(|unit| unit.lines()).collect()
            };
            let old = lines(&after_units[hunk.after.clone()]);
            let new = lines(&now_units[hunk.other.clone()]);
            let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let line = lines(&now_units[..hunk.other.start]).len() + same + 1;
            // The last lines may be deleted.
            line.min(now.lines().count().max(1))
        })
        .min();
    let line = changed.into_iter().chain(dependent(&marked)).min();

    // A file of which nothing is left of setup's is the user's.
    let is_all_gone = setups.iter().any(|hunk| !hunk.after.is_empty())
        && !marked.iter().any(|(origin, _)| *origin == Origin::Setup);
    match line {
        Some(line) if now != after && !is_all_gone => Comparison::Entangled { lines, line },
        _ => {
            let without = match is_all_gone {
                true => now.to_owned(),
                false => without,
            };
            let is_needed = before.is_some() || !without.trim().is_empty();
            Comparison::Separate {
                lines,
                without: is_needed.then_some(without),
            }
        }
    }
}

/// The lines of units that were replaced: some are still setup's.
fn changed_lines<'t>(removed: &[&'t str], added: &[&'t str]) -> Lines<'t> {
    let lines = |units: &[&'t str]| -> Vec<&'t str> {
        let lines = units.iter().flat_map(|unit| unit.split_inclusive('\n'));
        lines.collect()
    };
    let [old, new] = [lines(removed), lines(added)];
    let keys = |lines: &[&'t str]| -> Vec<&'t str> {
        lines
            .iter()
            .map(|line| line.trim_end_matches(['\r', '\n']))
            .collect()
    };
    let (old_keys, new_keys) = (keys(&old), keys(&new));
    let (mut old_lines, mut new_lines) = (old.iter(), new.iter());
    let steps = diff::slice(&old_keys, &new_keys).into_iter();
    let line = |step| {
        let (origin, line) = match step {
            diff::Result::Left(_) => (Origin::SetupRemoved, old_lines.next()),
            diff::Result::Both(..) => {
                old_lines.next();
                (Origin::Setup, new_lines.next())
            }
            diff::Result::Right(_) => (Origin::Since, new_lines.next()),
        };
        line.map(|line| (origin, *line))
    };
    steps.filter_map(line).collect()
}

/// The parts of a text that are compared. The header of a table and the lines that follow are
/// one part: both are often alike in several tables (`[[books]]`), and would be matched with
/// another table's. Blank lines belong to the next part, at the end to the last one.
fn units(text: &str) -> Vec<&str> {
    let mut units = Vec::new();
    let (mut start, mut end) = (0, 0);
    let (mut is_blank, mut in_table) = (true, false);
    for line in text.split_inclusive('\n') {
        in_table &= !is_header(line) && !says_nothing(line);
        if !is_blank && !in_table {
            units.push(&text[start..end]);
            (start, is_blank) = (end, true);
        }
        is_blank &= line.trim().is_empty();
        in_table |= is_header(line);
        end += line.len();
    }
    if is_blank && let Some(last) = units.pop() {
        start -= last.len();
    }
    if start < end {
        units.push(&text[start..]);
    }
    units
}

/// The lines of each unit but blank ones, without their ends, which editors change.
fn keys<'t>(units: &[&'t str]) -> Vec<Vec<&'t str>> {
    let lines = |unit: &&'t str| {
        unit.lines()
            .filter(|line| !line.trim().is_empty())
            .collect()
    };
    units.iter().map(lines).collect()
}

fn hunks(after: &[Vec<&str>], other: &[Vec<&str>]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut a, mut o) = (0, 0);
    let mut open = false;
    for step in diff::slice(after, other) {
        if let diff::Result::Both(..) = step {
            (a, o, open) = (a + 1, o + 1, false);
            continue;
        }
        if !open {
            hunks.push(Hunk {
                after: a..a,
                other: o..o,
            });
            open = true;
        }
        match step {
            diff::Result::Left(_) => a += 1,
            _ => o += 1,
        }
        if let Some(hunk) = hunks.last_mut() {
            (hunk.after.end, hunk.other.end) = (a, o);
        }
    }
    hunks
}

/// Whether a change since cannot be separated from one of setup's. Lines may be deleted by
/// both, and added next to lines that setup added.
fn clash(setups: &Hunk, since: &Hunk) -> bool {
    let (one, two) = (&setups.after, &since.after);
    if one.start.max(two.start) < one.end.min(two.end) {
        return !(setups.other.is_empty() && since.other.is_empty());
    }
    // Where setup took lines away, it is unknown which come first.
    let touches = match one.is_empty() {
        true => two.start <= one.start && one.start <= two.end,
        false => two.is_empty() && one.start < two.start && two.start < one.end,
    };
    touches && !setups.other.is_empty() && !since.other.is_empty()
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

/// Whether a line is blank or a comment.
fn says_nothing(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

/// The name of the table that a unit begins.
fn table(unit: &str) -> Option<&str> {
    let name = unit.trim_start().strip_prefix('[')?;
    let name = name.trim_start_matches('[');
    name.split([']', '\n']).next().map(str::trim)
}

/// The number of the first line that would be in another table, or in one without its
/// parent, if setup's lines were taken away.
fn dependent(units: &[(Origin, &str)]) -> Option<usize> {
    let tables = |is_setups: bool| {
        units
            .iter()
            .filter(move |(origin, _)| (*origin == Origin::Setup) == is_setups)
            .filter_map(|(_, unit)| table(unit))
    };
    let kept: Vec<&str> = tables(false).collect();
    let taken: Vec<&str> = tables(true).filter(|name| !kept.contains(name)).collect();
    let is_below = |name: &str| {
        let rest = |parent: &&str| name.strip_prefix(*parent)?.chars().next();
        taken.iter().filter_map(rest).any(|next| next == '.')
    };
    let mut line = 1;
    let mut in_taken = false;
    for (origin, unit) in units {
        let is_setups = *origin == Origin::Setup;
        let stays = match table(unit) {
            Some(name) => {
                in_taken = is_setups;
                is_setups || !is_below(name)
            }
            None => is_setups || says_nothing(unit) || !in_taken,
        };
        if !stays {
            return Some(line);
        }
        line += unit.lines().count();
    }
    None
}

#[cfg(test)]
mod tests;
