//! `tabia check-engine`: the report for users.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Args;

use crate::cli::arguments::complete;
use crate::cli::arguments::configuration::{ConfigArgs, configuration};
use crate::cli::arguments::engines::{command_of, engine_command, engine_named};
use crate::cli::print::style::wrapped;
use tabia_engine::EngineCommand;
use tabia_engine::check::{CheckStep, Outcome, Patience};

/// Columns of a usual terminal.
const WIDTH: usize = 80;
/// Number of lines of the exchange that are shown for a failure.
const SHOWN_LINES: usize = 12;
const INDENT: &str = "      ";

/// Arguments of `check-engine`.
#[derive(Args, Debug)]
pub(crate) struct CheckEngineArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// A name from the configuration, or the path of a program
    #[arg(add = complete::engines(), conflicts_with = "command")]
    name: Option<String>,
    /// The engine's command with its arguments
    #[arg(last = true, value_name = "COMMAND", add = complete::commands())]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &CheckEngineArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let command = match args.command.split_first() {
        // The adapter is an engine too: with an engine of its own it can be checked.
        Some((program, rest)) if !rest.is_empty() => command_of(program, rest),
        Some((program, rest)) => engine_command(program, rest)?,
        None => engine_named(&configuration(&args.config)?, args.name.as_deref())?,
    };
    let command = command.may_be_tabia(true);
    Ok(u8::from(!check(&command, out)?))
}

/// Checks an engine and writes each step when it is done. Returns whether no step failed;
/// warnings do not count.
///
/// # Errors
///
/// `out` cannot be written to. An engine that cannot be started is a failed
/// step, not an error.
fn check(command: &EngineCommand, out: &mut dyn Write) -> anyhow::Result<bool> {
    let mut written = Ok(());
    let report = tabia_engine::check::check(command, &Patience::default(), &mut |step| {
        if written.is_ok() {
            written = write_step(step, out);
        }
    });
    written?;
    let name = report
        .name
        .clone()
        .unwrap_or_else(|| command.program.display().to_string());
    let passed = report.count(Outcome::Passed);
    let mut summary = format!("{name}: {passed} steps ok");
    for (outcome, what) in [
        (Outcome::Warning, "with a warning"),
        (Outcome::Failed, "failed"),
        (Outcome::Skipped, "skipped"),
    ] {
        match report.count(outcome) {
            0 => {}
            n => summary.push_str(&format!(", {n} {what}")),
        }
    }
    writeln!(out)?;
    write_wrapped(out, "", &summary)?;
    out.flush()?;
    Ok(report.passed())
}

fn write_step(step: &CheckStep, out: &mut dyn Write) -> io::Result<()> {
    let mark = match step.outcome {
        Outcome::Passed => "ok",
        Outcome::Warning => "WARN",
        Outcome::Failed => "FAIL",
        Outcome::Skipped => "-",
    };
    let head = format!("{mark:<6}{}", step.name);
    let note = &step.explanation;
    if note.is_empty() {
        writeln!(out, "{head}")?;
    } else if head.chars().count() + note.chars().count() + 2 <= WIDTH {
        writeln!(out, "{head}: {note}")?;
    } else {
        writeln!(out, "{head}:")?;
        write_wrapped(out, INDENT, note)?;
    }
    if step.outcome == Outcome::Failed && !step.exchange.is_empty() {
        writeln!(out, "{INDENT}the last lines (>> sent, << received):")?;
        let first = step.exchange.len().saturating_sub(SHOWN_LINES);
        for line in &step.exchange[first..] {
            let room = WIDTH - INDENT.len() - 2;
            let mut text: String = line.chars().take(room).collect();
            if text.len() < line.len() {
                text = text.chars().take(room - 3).collect::<String>() + "...";
            }
            writeln!(out, "{INDENT}  {text}")?;
        }
    }
    // Show it at once: some steps take seconds.
    out.flush()
}

fn write_wrapped(out: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
    let mut rows = wrapped(text, WIDTH - indent.len()).into_iter();
    rows.try_for_each(|row| writeln!(out, "{indent}{row}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let step = CheckStep {
            name: "plays on a clock",
            outcome: Outcome::Failed,
            explanation: "it did something that takes many words to say ".repeat(5),
            exchange: vec![format!("<< info {}", "pv e2e4 ".repeat(40)); 30],
        };
        let mut out = Vec::new();
        write_step(&step, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("FAIL  plays on a clock:\n"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        assert!(text.lines().count() < 25, "{text}");
    }

    #[test]
    fn an_engine_that_does_not_exist_fails_the_first_step() {
        let command = EngineCommand::new("/nowhere/fish");
        let mut out = Vec::new();
        assert!(!check(&command, &mut out).unwrap());
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("cannot be started"), "{text}");
        assert!(text.ends_with("skipped\n"), "{text}");
    }
}
