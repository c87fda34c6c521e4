//! GNOME Chess's `engines.conf`, a GLib key file with one group for each engine. Lines of
//! other engines stay the same.
//!
//! ```text
//! [Tabia]
//! # Made by Tabia.
//! protocol=uci
//! binary=/opt/tabia/tabia
//! arg-easy-0=--book=/books/main.ctg
//! ```
//!
//! (Source of GNOME Chess: `ai-profile.vala`. Arguments are given for each of
//! the three difficulties.)

use std::ops::Range;

use anyhow::{Result, anyhow};

use super::json::{malformed, taken};
use super::{Registration, is_our_program};

/// The difficulties that a player can choose.
const DIFFICULTIES: [&str; 3] = ["easy", "normal", "hard"];

/// The strengths of the difficulties, as in the program's own entry for Stockfish: without
/// them all three play alike. An engine without `Skill Level` ignores it.
const STRENGTHS: [(&str, &str); 5] = [
    ("option-easy-0", "Skill Level 0"),
    ("option-normal-0", "Skill Level 5"),
    ("option-hard-0", "Skill Level 20"),
    ("uci-go-option-easy-0", "depth 1"),
    ("uci-go-option-normal-0", "depth 2"),
];

/// The first line of a group that is not the user's.
const MADE_BY: &str = "# Made by Tabia.";

/// Whether a key sets the strength of a difficulty.
fn is_strength(key: &str) -> bool {
    key.starts_with("option-") || key.starts_with("uci-go-option-")
}

/// A group: its lines in the text, from its header to its last key. Comments after that
/// belong to the next group.
struct Group<'t> {
    name: &'t str,
    lines: Range<usize>,
}

impl Group<'_> {
    /// The value of a key.
    fn value<'t>(&self, lines: &[&'t str], key: &str) -> Option<&'t str> {
        let mut own = lines.get(self.lines.clone())?.iter();
        own.find_map(|line| key_and_value(line).filter(|(own, _)| *own == key))
            .map(|(_, value)| value)
    }

    fn is_ours(&self, lines: &[&str], registration: &Registration) -> bool {
        let binary = self.value(lines, "binary").unwrap_or_default();
        binary == registration.command || is_our_program(binary)
    }
}

/// Key and value of a line; `None` for comments, blank lines and headers.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    match line.starts_with(['#', '[']) {
        true => None,
        false => line
            .split_once('=')
            .map(|(key, value)| (key.trim_end(), value.trim_start())),
    }
}

/// An engine of a program's file.
pub(super) struct Known {
    pub(super) name: String,
    pub(super) command: String,
    /// Whether it is a UCI engine without arguments.
    pub(super) is_bare: bool,
}

/// The lines of a text with their ends, and its groups.
fn read(text: &str) -> Result<(Vec<&str>, Vec<Group<'_>>)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let malformed = |what| malformed(number + 1, 1, what);
        let lines = number..number + 1;
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']');
            let name = name.ok_or_else(|| malformed("the name of a group has no end"))?;
            groups.push(Group { name, lines });
        } else if key_and_value(line).is_none() {
            return Err(malformed(
                "neither a group, a comment nor a key with its value",
            ));
        } else {
            let group = groups.last_mut();
            let group = group.ok_or_else(|| malformed("a key before the first group"))?;
            group.lines.end = lines.end;
        }
    }
    Ok((lines, groups))
}

/// The text with the adapter added or changed.
pub(super) fn edit(text: &str, registration: &Registration) -> Result<String> {
    let wanted = keys(registration)?;
    let (lines, groups) = read(text)?;
    let Some(group) = groups.iter().find(|group| group.name == registration.name) else {
        let between = match text {
            "" => "",
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let mut edited = format!("{text}{between}[{}]\n{MADE_BY}\n", registration.name);
        let strengths = STRENGTHS.map(|(key, value)| (key.to_owned(), value.to_owned()));
        for (key, value) in wanted.into_iter().chain(strengths) {
            edited += &format!("{key}={value}\n");
        }
        return Ok(edited);
    };
    if let Some(command) = group.value(&lines, "binary")
        && !group.is_ours(&lines, registration)
    {
        return Err(taken(&registration.name, command));
    }
    // Replaces existing keys; missing ones are added before the rest.
    let mut missing = wanted.clone();
    let mut own = Vec::new();
    for &line in lines.get(group.lines.clone()).unwrap_or_default() {
        match key_and_value(line) {
            Some((key, value)) => match wanted.iter().find(|(known, _)| known == key) {
                Some((_, new)) => {
                    missing.retain(|(known, _)| known != key);
                    own.push(match value == new {
                        true => line.to_owned(),
                        false => format!("{key}={new}\n"),
                    });
                }
                // An argument that is no longer used.
                None if key.starts_with("arg-") => {}
                None => own.push(line.to_owned()),
            },
            None => own.push(line.to_owned()),
        }
    }
    let mut keys = own.iter().filter_map(|line| key_and_value(line));
    // A strength that the user has set stays.
    if !keys.any(|(key, _)| is_strength(key)) {
        missing.extend(STRENGTHS.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
    let added = missing
        .iter()
        .map(|(key, value)| format!("{key}={value}\n"));
    if let Some(header) = own.first_mut()
        && !header.ends_with('\n')
    {
        header.push('\n');
    }
    own.splice(1..1, added);
    Ok(replaced(&lines, group.lines.clone(), &own.concat()))
}

/// The text without the adapter.
pub(super) fn remove(text: &str, registration: &Registration) -> Result<String> {
    let (lines, groups) = read(text)?;
    let mut named = groups
        .iter()
        .filter(|group| group.name == registration.name && group.is_ours(&lines, registration));
    let Some(group) = named.next() else {
        return Ok(text.to_owned());
    };
    let is_blank = |number: usize| lines.get(number).is_some_and(|line| line.trim().is_empty());
    // Also removes the blank line after the group, or before it if it is the last one.
    let Range { mut start, mut end } = group.lines.clone();
    if is_blank(end) {
        end += 1;
    } else if end == lines.len() && start > 0 && is_blank(start - 1) {
        start -= 1;
    }
    Ok(replaced(&lines, start..end, ""))
}

/// The text with the adapter as in `before`, if its group is still that of `after`.
/// Without a group in `before` it is removed.
pub(super) fn restore(
    text: &str,
    [before, after]: [&str; 2],
    registration: &Registration,
) -> Result<String> {
    let group = |text: &str| -> Result<Option<(Range<usize>, String)>> {
        let (lines, groups) = read(text)?;
        let mut named = groups
            .iter()
            .filter(|group| group.name == registration.name && group.is_ours(&lines, registration));
        let found = named.next().map(|group| group.lines.clone());
        Ok(found.map(|range| {
            let own = lines.get(range.clone()).unwrap_or_default().concat();
            (range, own)
        }))
    };
    let Some((_, old)) = group(before)? else {
        return remove(text, registration);
    };
    match (group(text)?, group(after)?) {
        (Some((range, now)), Some((_, written))) if now == written => {
            let (lines, _) = read(text)?;
            Ok(replaced(&lines, range, &old))
        }
        _ => Ok(text.to_owned()),
    }
}

/// The engines of a text; none if the program has not written it.
pub(super) fn engines(text: &str) -> Vec<Known> {
    let Ok((lines, groups)) = read(text) else {
        return Vec::new();
    };
    let engine = |group: &Group<'_>| {
        let is_uci = group.value(&lines, "protocol") == Some("uci");
        Some(Known {
            name: group.name.to_owned(),
            command: group.value(&lines, "binary")?.to_owned(),
            is_bare: is_uci && group.value(&lines, "arg-easy-0").is_none(),
        })
    };
    groups.iter().filter_map(engine).collect()
}

fn replaced(lines: &[&str], range: Range<usize>, group: &str) -> String {
    let before = lines.get(..range.start).unwrap_or_default();
    let after = lines.get(range.end..).unwrap_or_default();
    before.concat() + group + &after.concat()
}

/// The keys of Tabia's group.
fn keys(registration: &Registration) -> Result<Vec<(String, String)>> {
    let mut keys = vec![
        ("protocol".to_owned(), "uci".to_owned()),
        ("binary".to_owned(), registration.command.clone()),
    ];
    for difficulty in DIFFICULTIES {
        for (number, arg) in (0..).zip(registration.args_with_books()) {
            keys.push((format!("arg-{difficulty}-{number}"), arg));
        }
    }
    let unfit = |text: &str| {
        anyhow!("{text:?} cannot be stored in the file of this program; nothing was changed")
    };
    let fits = |text: &str| text.trim() == text && !text.contains(char::is_control);
    let name = &registration.name;
    if !fits(name) || name.contains(['[', ']']) {
        return Err(unfit(name));
    }
    match keys.iter().find(|(_, value)| !fits(value)) {
        Some((_, text)) => Err(unfit(text)),
        None => Ok(keys),
    }
}
