//! The commands in groups, as listed by `tabia --help`.

use std::fmt::Write as _;

use clap::Command;

use crate::cli::print::columns::Table;

/// The groups by purpose, and their commands, most used first.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Play", &["play", "check"]),
    ("Set up", &["setup", "register", "completions", "man"]),
    (
        "Look into a book",
        &["explore", "probe", "info", "tree", "diff"],
    ),
    (
        "Make a book",
        &["build", "add", "merge", "convert", "games", "index"],
    ),
    (
        "Keep it in order",
        &["mark", "learn", "prune", "compact", "verify"],
    ),
    (
        "Judge and extend it",
        &["evaluate", "audit", "grow", "repertoire", "review", "prove"],
    ),
    (
        "Test engines",
        &["suite", "check-engine", "replay", "engine"],
    ),
];

/// The command line parser whose help lists the commands in groups.
pub(crate) fn grouped(tabia: Command) -> Command {
    let mut list = String::new();
    for (title, names) in GROUPS {
        let _ = write!(list, "\n{title}:\n");
        let mut commands = Table::list(2, 12);
        for name in names {
            let Some(command) = tabia.find_subcommand(name) else {
                continue;
            };
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            commands.add(name, about);
        }
        let _ = write!(list, "{commands}");
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\n\
         `tabia COMMAND --help` explains a command.\n\nOptions of `play`:\n{{options}}{{after-help}}"
    );
    tabia.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_one_group_and_fits_a_line() {
        let tabia = crate::cli::command::Cli::command();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
        for command in tabia.get_subcommands() {
            let name = command.get_name();
            let times = grouped.iter().filter(|grouped| **grouped == name).count();
            assert_eq!(times, 1, "{name}");
            let about = command.get_about().unwrap().to_string();
            assert!(about.len() <= 66, "{name}: {about}");
        }
        let known = |name: &&&str| tabia.find_subcommand(**name).is_some();
        let count = grouped.iter().filter(known).count();
        // Without the built-in engine there is one command less.
        assert!(count + 1 >= grouped.len());
    }
}
