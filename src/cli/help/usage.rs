//! Errors of the arguments, and suggestions.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::instead;
use super::meant::{self, quoted};
use super::repair;
use crate::cli::print::output;
use tabia_build::BuildError;
use tabia_choice::settings::nearest;
use tabia_io::atomic::WriteFileError;
use tabia_notation::Line;
use tabia_notation::kind::BookKind;

/// The arguments as typed, without the program's name.
pub(crate) fn typed(words: &[OsString]) -> Vec<String> {
    let args = words.iter().skip(1);
    args.map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// Prints an error of the command line, and a suggestion.
pub(crate) fn refuse(mut error: clap::Error, args: &[String], tabia: &Command) -> ExitCode {
    let takes = |tip| accepted(tip, tabia);
    let tip = instead::of_line(args, tabia)
        .and_then(takes)
        .or_else(|| misplaced(&error, args, tabia).and_then(takes))
        .or_else(|| incomplete(&error, args, tabia).and_then(takes));
    let repaired = match tip {
        None => repair::of_line(args, tabia).and_then(takes),
        Some(_) => None,
    };
    match meant::command(&error, args, tabia) {
        Some(instead) => error = instead,
        None => meant::option(&mut error, args, tabia),
    }
    if repaired.is_some() {
        error.remove(ContextKind::SuggestedArg);
    }
    // The parser proposes `pychess` for `chessbase`.
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (typed, like) = (
        text(ContextKind::InvalidValue),
        text(ContextKind::SuggestedValue),
    );
    if nearest(typed, [like]).is_none() && !like.starts_with(typed) {
        error.remove(ContextKind::SuggestedValue);
    }
    let tip = tip.or(repaired).or_else(|| elsewhere(&error, args));
    // File names among the arguments may come from others.
    let is_odd = std::env::args_os().any(|arg| is_odd(&arg));
    let text = match is_odd {
        true => error.render().to_string(),
        false => error.render().ansi().to_string(),
    };
    let mut text = in_plain_words(&text, args);
    if let Some(tip) = tip {
        let end = text.find("For more information").unwrap_or(text.len());
        text.insert_str(end, &format!("  tip: {tip}\n\n"));
    }
    let _ = match is_odd {
        true => write!(output::messages(), "{text}"),
        false => write!(anstream::stderr(), "{text}"),
    };
    ExitCode::from(2)
}

/// What to add to an error of a command: the option that replaces an existing file.
pub(crate) fn advice(error: &anyhow::Error) -> String {
    let name = |cause| existing_file(cause).and_then(Path::file_name);
    match error.chain().find_map(name) {
        // An engine would count a backup as well.
        Some(name) if tabia_build::is_records(Path::new(name)) => {
            "; --force replaces it".to_owned()
        }
        Some(name) => format!(
            "; --force replaces it and keeps the old one as {}.bak",
            name.display()
        ),
        None => String::new(),
    }
}

/// The file that an error of a library is about if it exists already. A chain of errors does
/// not have it, because the errors of libraries are transparent.
fn existing_file<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Path> {
    use tabia_analysis::Error as AnalysisError;
    use tabia_book::Error as BookError;
    use tabia_games::Error as GamesError;
    use tabia_index::Error as IndexError;
    if let Some(error) = error.downcast_ref() {
        match error {
            AnalysisError::Book(error) => existing_file(error),
            AnalysisError::Games(error) => existing_file(error),
            AnalysisError::Index(error) => existing_file(error),
            AnalysisError::Build(error) => existing_file(error),
            _ => None,
        }
    } else if let Some(error) = error.downcast_ref() {
        match error {
            BuildError::Write(error) => existing_file(error),
            _ => None,
        }
    } else if let Some(IndexError::Games(error)) = error.downcast_ref() {
        existing_file(error)
    } else if let Some(GamesError::Write(error)) = error.downcast_ref() {
        error.existing_file()
    } else if let Some(BookError::Exists { path, .. }) = error.downcast_ref() {
        Some(path)
    } else if let Some(WriteFileError::Exists { path }) = error.downcast_ref() {
        Some(path)
    } else {
        None
    }
}

/// Whether an argument contains control characters.
fn is_odd(arg: &OsStr) -> bool {
    let text = arg.to_string_lossy();
    tabia_io::sanitize::escape_control(&text) != text
}

/// A message about a number in plain words, instead of the text of Rust's parsers.
fn in_plain_words(text: &str, args: &[String]) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("invalid digit found in string", "expected a whole number"),
        (
            "cannot parse integer from empty string",
            "expected a whole number",
        ),
        (
            "number would be zero for non-zero type",
            "expected a whole number from 1 on",
        ),
        (
            "number too large to fit in target type",
            "the number is too large",
        ),
        (
            "number too small to fit in target type",
            "the number is too small",
        ),
        ("invalid float literal", "expected a number"),
    ];
    let mut text = text.to_owned();
    for (rust, plain) in WORDS {
        text = text.replace(rust, plain);
    }
    // "70000 is not in 0..=65535"
    if let Some((before, range)) = text.split_once(" is not in ")
        && let Some((low, rest)) = range.split_once("..=")
    {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (high, rest) = rest.split_at(digits);
        let start = before.rfind(' ').map_or(0, |blank| blank + 1);
        let before = before.get(..start).unwrap_or_default();
        text = format!("{before}expected a number from {low} to {high}{rest}");
    }
    // The parser takes a negative number after an option for an option.
    let negative = args.windows(2).find_map(|pair| match pair {
        [option, number] if option.starts_with("--") && is_negative(number) => {
            Some((option, number))
        }
        _ => None,
    });
    match negative {
        Some((option, number)) if text.contains("unexpected argument") => {
            format!("error: {option} {number}: expected a number that is not negative\n")
        }
        _ => text,
    }
}

fn is_negative(word: &str) -> bool {
    let number = word.strip_prefix('-');
    number.is_some_and(|digits| digits.parse::<u64>().is_ok())
}

/// The command in the arguments, its name, as `suite check`, and what was typed after it.
fn command_of<'a>(
    args: &'a [String],
    tabia: &'a Command,
) -> Option<(&'a Command, String, &'a [String])> {
    let (name, rest) = args.split_first()?;
    let command = tabia.find_subcommand(name)?;
    Some(match rest.split_first() {
        Some((inner, _)) if command.find_subcommand(inner).is_some() => {
            let (command, inner, rest) = command_of(rest, command)?;
            (command, format!("{name} {inner}"), rest)
        }
        _ => (command, name.clone(), rest),
    })
}

/// What to do without the program or command that was named.
fn elsewhere(error: &clap::Error, args: &[String]) -> Option<String> {
    match (error.kind(), args) {
        (ErrorKind::InvalidValue, [register, ..]) if register == "register" => {
            let program = std::env::current_exe().ok()?;
            Some(format!(
                "in any other program (Fritz, ChessBase, HIARCS, ...) enter this as a UCI engine: {}",
                program.display()
            ))
        }
        (ErrorKind::InvalidSubcommand, [help, ..]) if help == "help" => {
            Some("tabia --help".to_owned())
        }
        _ => None,
    }
}

/// A complete command if a part is missing: with the typed arguments as far as possible,
/// else the first example of its help.
fn incomplete(error: &clap::Error, args: &[String], tabia: &Command) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument
        && error.kind() != ErrorKind::TooFewValues
        && error.kind() != ErrorKind::WrongNumberOfValues
    {
        return None;
    }
    let (command, name, rest) = command_of(args, tabia)?;
    // A mistyped command of a command looks like an argument.
    if let Some((word, after)) = rest.split_first()
        && !Path::new(word).exists()
        && let Some(meant) = nearest(word, command.get_subcommands().map(Command::get_name))
    {
        let line = format!("tabia {name} {meant} {}", quoted(after));
        return Some(line.trim_end().to_owned());
    }
    if let Some(line) = with_lacking_option(error, args, command) {
        return Some(line);
    }
    let example = || Some(format!("for example: {}", example(command, &name)?));
    let line = match completed(&name, rest) {
        Some(line) => line,
        None => return example(),
    };
    match is_accepted(&line, tabia) {
        true => Some(line),
        false => example(),
    }
}

/// The line with an option that it lacks, and a value of it.
fn with_lacking_option(error: &clap::Error, args: &[String], command: &Command) -> Option<String> {
    let Some(ContextValue::Strings(lacking)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let [lacking] = lacking.as_slice() else {
        return None;
    };
    let long = lacking.strip_prefix("--")?.split([' ', '=']).next()?;
    // What is written has its own rule.
    let mut arguments = command.get_arguments();
    let option = arguments.find(|arg| arg.get_long() == Some(long) && long != "output")?;
    let value = match option.get_possible_values().first() {
        Some(value) => value.get_name().to_owned(),
        None => option.get_value_names()?.first()?.to_string(),
    };
    Some(format!("tabia {} --{long} {value}", quoted(args)))
}

/// A tip, if it is not a line that would be refused, too; what such a line lacks is added.
fn accepted(tip: String, tabia: &Command) -> Option<String> {
    if !tip.starts_with("tabia ") || is_accepted(&tip, tabia) {
        return Some(tip);
    }
    let args = shlex::split(&tip)?;
    let args = args.get(1..)?;
    let (_, name, rest) = command_of(args, tabia)?;
    completed(&name, rest).filter(|line| is_accepted(line, tabia))
}

/// Whether the parser takes a line.
pub(crate) fn is_accepted(line: &str, tabia: &Command) -> bool {
    let parsed = shlex::split(line).map(|words| tabia.clone().try_get_matches_from(words));
    match parsed {
        Some(Ok(_)) => true,
        Some(Err(error)) => !error.use_stderr(),
        None => false,
    }
}

/// The line with what it lacks, from the words after the command.
fn completed(name: &str, rest: &[String]) -> Option<String> {
    let ends = |word: &str, end: &str| {
        let path = Path::new(word).extension();
        path.is_some_and(|extension| extension.eq_ignore_ascii_case(end))
    };
    let is_option = |word: &String| word.starts_with('-');
    let only_files = !rest.is_empty() && !rest.iter().any(is_option);
    if let ("convert", [input]) = (name, rest) {
        let end = if ends(input, "ctg") { "bin" } else { "ctg" };
        let target = Path::new(input).with_extension(end);
        let target = target.to_string_lossy().into_owned();
        return only_files.then(|| format!("tabia convert {}", quoted([input, &target])));
    }
    let (out, output_ends) = meant::output_of(name)?;
    if ["build", "games", "index"].contains(&name) && has_output(rest) && is_piped() {
        return Some(format!("tabia {name} {} -", quoted(rest)));
    }
    if rest.is_empty() || has_output(rest) {
        return None;
    }
    // A new name without its end stands last.
    if let (true, [others @ .., last]) = (only_files, rest)
        && !others.is_empty()
        && Path::new(last).extension().is_none()
        && !Path::new(last).exists()
        && others.iter().all(|word| Path::new(word).exists())
        && let [end, ..] = output_ends
    {
        let target = format!("{last}.{end}");
        return Some(format!(
            "tabia {name} -o {} {}",
            quoted([&target]),
            quoted(others)
        ));
    }
    // The file to make stands last, or first: the one that does not exist.
    let is_output = |at: &usize| {
        let is_value = at.checked_sub(1).and_then(|at| rest.get(at));
        let is_value = is_value.is_some_and(|word| is_option(word) && !word.contains('='));
        rest.get(*at).is_some_and(|word| {
            let fits = output_ends.iter().any(|end| ends(word, end));
            let is_new = !Path::new(word).exists();
            !is_value && !is_option(word) && fits && is_new
        })
    };
    let places = [rest.len() - 1, 0];
    let place = places.iter().find(|at| {
        let mut others = rest.iter().enumerate().filter(|(other, _)| other != *at);
        // Where nothing exists, it cannot be told which is to be made; `build` makes books.
        let mut are_there = || others.all(|(_, word)| is_option(word) || Path::new(word).exists());
        rest.len() > 1 && is_output(at) && (name == "build" || !only_files || are_there())
    });
    let target = place.and_then(|at| rest.get(*at));
    let others = rest.iter().enumerate();
    let others = others.filter(|(at, _)| Some(at) != place);
    let others: Vec<&String> = others.map(|(_, word)| word).collect();
    if let ("build", true, None) = (name, only_files, place)
        && let Some(at) = rest.iter().position(|word| ends(word, "ctg"))
        && let Some(book) = rest.get(at).filter(|book| Path::new(book).exists())
        && rest.len() > 1
    {
        let games = rest.iter().filter(|word| *word != book);
        return Some(format!("tabia add {} {}", quoted([book]), quoted(games)));
    }
    let target = target.map_or_else(|| free(out), |target| quoted([target]));
    let more = match (name, others.len()) {
        // It removes nothing without a condition.
        ("prune", 1) => "--min-games 5 ",
        _ => "",
    };
    let other_book = match (name, others.as_slice()) {
        ("merge", [_]) => " OTHER.ctg",
        _ => "",
    };
    Some(format!(
        "tabia {name} -o {target} {more}{}{other_book}",
        quoted(others)
    ))
}

/// Whether another program writes to standard input.
fn is_piped() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        std::fs::metadata("/dev/stdin").is_ok_and(|input| input.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    false
}

/// A name for a file to make, or another one if there is such a file. Some systems do not tell
/// capitals apart, and the files beside a book have small letters.
fn free(name: &str) -> String {
    let end = Path::new(name).extension().unwrap_or_default();
    let names = ["NEW", "OUT"].map(|stem| format!("{stem}.{}", end.display()));
    let is_free = |name: &String| {
        let exists = |name: &str| Path::new(name).exists();
        !exists(name) && !exists(&name.to_lowercase())
    };
    let mut names = std::iter::once(name.to_owned()).chain(names);
    names.find(is_free).unwrap_or_else(|| name.to_owned())
}

/// Whether the words name the file to make.
fn has_output(rest: &[String]) -> bool {
    let is_it = |word: &String| {
        word.starts_with("-o") || word.starts_with("--output") || word.starts_with("--out=")
    };
    rest.iter().any(is_it)
}

/// The first example of a command's help.
fn example(command: &Command, name: &str) -> Option<String> {
    let text = command.get_after_help()?.to_string();
    let begin = format!("tabia {name} ");
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| line.starts_with(&begin))
        .map(str::to_owned)
}

/// The probably intended command for a word in its place.
fn misplaced(error: &clap::Error, args: &[String], tabia: &Command) -> Option<String> {
    let word = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
        .into_iter()
        .find_map(|kind| error.get(kind))?;
    let ContextValue::String(word) = word else {
        return None;
    };
    let typed = match args {
        [play, rest @ ..] if play == "play" => rest,
        args => args,
    };
    if word.starts_with('-') {
        return None;
    }
    let (first, rest) = typed.split_first()?;
    if first != word {
        return first
            .starts_with('-')
            .then(|| meant::command_first(args, tabia))?;
    }
    let path = Path::new(word);
    let extension = path
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    let book = match extension.as_deref() {
        Some("cto" | "ctb") => Some(path.with_extension("ctg")),
        _ => BookKind::of_played(path).map(|_| path.to_path_buf()),
    };
    if let Some(book) = book.as_deref().map(Path::display) {
        return Some(format!(
            "to play from a book: tabia --book {book}; to look into it: tabia probe {book}"
        ));
    }
    Some(match extension.as_deref() {
        end if tabia_games::is_game_file(path) || matches!(end, Some("gz" | "zst" | "bz2")) => {
            format!("to make a book of games: tabia build -o BOOK.ctg {word}")
        }
        Some("toml") => format!("a configuration: tabia --config {word}"),
        _ => {
            if ["/?", "?", "/h", "/help"].contains(&word.as_str()) {
                "tabia --help".to_owned()
            } else if let Some(line) = meant::of_word(word, rest, tabia) {
                line
            } else if tabia_engine::is_on_path(word) || path.is_file() {
                format!("to play with an engine: tabia --engine {word}, or tabia -- {word} ARGS")
            } else if Line::read("", word).is_ok_and(|line| line.plies() > 0) {
                format!("to look a move up: tabia probe BOOK --moves \"{word}\"")
            } else {
                return None;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parser_errors_about_numbers_are_in_plain_words() {
        let plain_words = |text: &str| in_plain_words(text, &[]);
        for (rust, plain) in [
            (
                "error: invalid value 'x' for '--max-ply <N>': invalid digit found in string\n",
                "error: invalid value 'x' for '--max-ply <N>': expected a whole number\n",
            ),
            (
                "error: invalid value '7' for '--n <N>': 7 is not in 0..=5\n\nFor more",
                "error: invalid value '7' for '--n <N>': expected a number from 0 to 5\n\nFor more",
            ),
            (
                "error: invalid value '200' for '--learn-value <N>': 200 is not in -125..=125\n",
                "error: invalid value '200' for '--learn-value <N>': expected a number from -125 to 125\n",
            ),
        ] {
            assert_eq!(plain_words(rust), plain);
        }
    }
}
