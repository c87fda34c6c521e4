//! The values of options that are not given, of all commands in one table.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// One line for each option, made from the definition of the command line.
pub(crate) fn table(tabia: &Command) -> String {
    let mut table = String::new();
    for command in tabia.get_subcommands() {
        let arguments = command.get_arguments().filter(|arg| !arg.is_hide_set());
        for (option, value) in arguments.filter_map(|arg| Some((named(arg), default(arg)?))) {
            let option = format!("{} {option}", command.get_name());
            let _ = writeln!(table, "{option:<30} {value}");
        }
    }
    table
}

fn named(arg: &Arg) -> String {
    match arg.get_long() {
        Some(long) => format!("--{long}"),
        None => arg.get_id().to_string().to_uppercase(),
    }
}

/// The default of an option: that of the parser, or the one that its help gives because it
/// depends on other things.
fn default(arg: &Arg) -> Option<String> {
    let values = arg.get_default_values().iter();
    let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        return Some(values.join(","));
    }
    let help = arg.get_help()?.to_string();
    let (_, after) = help.split_once("[default: ")?;
    let text = after.split(']').next()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// Who looks for a default finds it, whether the parser or a sentence of the help has it.
    #[test]
    fn every_default_of_the_help_is_in_the_table() {
        let mut tabia = crate::cli::command::Cli::command();
        tabia.build();
        let table = table(&tabia);
        let mut count = 0;
        for command in tabia.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            // Lines are broken anywhere.
            count += help.matches("[default:").count();
        }
        assert_eq!(table.lines().count(), count, "{table}");
        assert!(table.contains("--max-ply"), "{table}");
    }
}
