//! The command line: a folder for each heading of `tabia --help`, a file for each
//! command; the library crates do the work.
//!
//! Results go to standard output, messages to standard error. The exit codes are 0 for
//! success, 1 for a negative answer and 2 for wrong usage, configuration or files; if the
//! reader closes the output, the program ends with 0; work that Ctrl-C ended, with 130.

/// Writes a line to standard error, with control characters escaped. Errors are ignored,
/// because they could not be reported.
macro_rules! message {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!($crate::cli::print::output::messages(), $($text)*);
    }};
}

/// A [`message!`] about work that went well, which `--silent` leaves out. What was skipped,
/// lost or guessed is always reported.
macro_rules! summary {
    ($($text:tt)*) => {
        if !$crate::cli::print::output::is_silent() {
            message!($($text)*);
        }
    };
}

mod arguments;
mod command;
mod files;
mod games_book;
mod help;
mod judge;
mod keep;
mod look;
mod make;
mod play;
mod print;
mod set_up;
mod test_engines;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use arguments::tab;
use command::{Cli, Command};
use help::{groups, instead, meant, usage};
use judge::{audit, evaluate, grow, prove, repertoire, review};
use keep::{compact, learn, mark, prune, verify};
use look::{diff, explore, info, probe, tree};
use make::{add, build, convert, games, index, merge};
use play::adapter;
use print::output::{is_closed_output, messages, output, painted, with_output};
use print::progress;
use set_up::{register, setup, shell};
use test_engines::{check_engine, replay, suite};

/// Runs the program with its arguments.
#[must_use]
pub(crate) fn run() -> ExitCode {
    // First, because the answer is all that a shell may read.
    tab::answer(Cli::command);
    let tabia = || groups::grouped(Cli::command());
    let (words, instead_of_option) = suite::with_commands(std::env::args_os().collect());
    let args = usage::typed(&words);
    if let Some(problem) = meant::unquoted(&args) {
        message!("tabia: {problem}");
        return ExitCode::from(2);
    }
    let parsed = tabia().try_get_matches_from(words);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return usage::refuse(error, &args, &tabia()),
        // Help, version, or an error of the arguments.
        Err(error) => error.exit(),
    };
    print::output::silence(cli.silent);
    if let Some(hint) = instead_of_option {
        summary!("{hint}");
    }
    match dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_closed_output(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(messages(), "tabia: {error:#}{}", usage::advice(&error));
            let tip = instead::of_line(&args, &tabia());
            if let Some(line) = tip.filter(|line| usage::is_accepted(line, &tabia())) {
                let _ = writeln!(messages(), "  tip: {line}");
            }
            ExitCode::from(progress::ended_by_signal().unwrap_or(2))
        }
    }
}

fn dispatch(cli: Cli) -> anyhow::Result<u8> {
    match cli.command.unwrap_or(Command::Play(cli.play)) {
        Command::Play(args) => adapter::run(&args),
        Command::Check(args) => adapter::check(&args.play, args.options),
        Command::Info(args) => with_output(painted(), |out| info::run(&args, out)),
        Command::Probe(args) => with_output(painted(), |out| probe::run(&args, out)),
        Command::Build(args) => with_output(output(), |out| build::run(&args, out)),
        Command::Add(args) => with_output(output(), |out| add::run(&args, out)),
        Command::Games(args) => with_output(output(), |out| games::run(&args, out)),
        Command::Learn(args) => with_output(output(), |out| learn::run(&args, out)),
        Command::Index(args) => with_output(output(), |out| index::run(&args, out)),
        Command::Review(args) => with_output(output(), |out| review::run(&args, out)),
        Command::Suite(args) => with_output(output(), |out| suite::run(&args, out)),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Prove(args) => with_output(output(), |out| prove::run(&args, out)),
        Command::Grow(args) => grow::run(&args),
        Command::Audit(args) => with_output(output(), |out| audit::run(&args, out)),
        Command::Mark(args) => with_output(output(), |out| mark::run(&args, out)),
        Command::Merge(args) => merge::run(&args),
        Command::Repertoire(args) => with_output(output(), |out| repertoire::run(&args, out)),
        Command::Prune(args) => prune::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Verify(args) => with_output(output(), |out| verify::run(&args, out)),
        Command::Tree(args) => with_output(painted(), |out| tree::run(&args, out)),
        Command::Diff(args) => with_output(painted(), |out| diff::run(&args, out)),
        Command::Register(args) => with_output(painted(), |out| register::run(&args, out)),
        Command::Setup(args) => with_output(painted(), |out| setup::run(&args, out)),
        Command::Completions(args) => with_output(output(), |out| shell::completions(&args, out)),
        Command::Man(args) => with_output(output(), |out| shell::man(&args, Cli::command(), out)),
        Command::Explore(args) => with_output(output(), |out| explore::run(&args, out)),
        Command::CheckEngine(args) => with_output(output(), |out| check_engine::run(&args, out)),
        Command::Replay(args) => with_output(output(), |out| replay::run(&args, out)),
        #[cfg(feature = "builtin-engine")]
        Command::Engine => {
            crate::builtin::run(std::io::stdin().lock(), std::io::stdout())?;
            Ok(0)
        }
    }
}
