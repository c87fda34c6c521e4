//! What was probably meant by words that the command line does not have.

use std::fmt::Write as _;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use tabia_choice::settings::nearest;
use tabia_notation::is_move;

/// Commands of other programs, or words for the same thing, and Tabia's.
const OTHER_WORDS: [(&str, &[&str]); 17] = [
    (
        "explore",
        &[
            "open", "show", "view", "browse", "gui", "serve", "web", "train", "edit",
        ],
    ),
    ("probe", &["lookup", "query", "search", "find", "moves"]),
    ("build", &["create", "make", "new", "import"]),
    ("audit", &["analyse", "analyze", "judge"]),
    ("games --dedupe", &["dedupe", "deduplicate"]),
    ("mark --undo", &["undo", "revert"]),
    ("games", &["extract"]),
    ("convert", &["export", "transform"]),
    ("add", &["append", "insert", "update"]),
    ("merge", &["join", "combine", "sum", "union"]),
    ("prune", &["remove", "delete", "trim", "cut", "filter"]),
    ("setup", &["install", "configure", "init"]),
    ("setup --remove", &["uninstall", "unregister"]),
    ("compact", &["repair", "fix", "clean", "optimize"]),
    ("diff", &["compare"]),
    ("info", &["stats", "list", "about", "header"]),
    ("check", &["config", "doctor", "status"]),
];

/// A message and what to type instead, if the words before any option are not a command, or
/// options stand before it.
pub(crate) fn command(error: &Error, args: &[String], tabia: &Command) -> Option<Error> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let first = args.first()?;
    if word.starts_with('-') && word != first
        || first.starts_with('-') && tabia.find_subcommand(word).is_none()
        || !first.starts_with('-') && (word != first || tabia.find_subcommand(first).is_some())
    {
        return None;
    }
    let text = match first.starts_with('-') {
        false => format!("there is no command \"{word}\""),
        true if word == first => return None,
        true => format!("the command comes first, and its options after it: {word}"),
    };
    Some(tabia.clone().error(ErrorKind::UnknownArgument, text))
}

/// The command with the options that were typed before it.
pub(crate) fn command_first(args: &[String], tabia: &Command) -> Option<String> {
    let is_command = |word: &String| tabia.find_subcommand(word).is_some();
    let at = args.iter().position(is_command).filter(|at| *at > 0)?;
    let (before, rest) = args.split_at(at);
    let (name, after) = rest.split_first()?;
    let command = tabia.find_subcommand(name)?;
    let long = |word: &String| {
        let name = word.strip_prefix("--")?;
        Some(name.split('=').next().unwrap_or(name).to_owned())
    };
    let knows = |name: String| {
        command
            .get_arguments()
            .any(|arg| arg.get_long() == Some(&name))
    };
    let all_known = before.iter().filter_map(long).all(knows);
    Some(match all_known {
        true => format!("tabia {name} {}", quoted(before.iter().chain(after))),
        false => format!("`tabia {name} --help` has the options of {name}"),
    })
}

/// What to type instead of an unknown command.
pub(crate) fn of_word(word: &str, rest: &[String], tabia: &Command) -> Option<String> {
    let name = word.to_lowercase();
    if let Some(line) = of_polyglot(&name, rest) {
        return Some(line);
    }
    let is_games = |word: &String| tabia_games::is_game_file(Path::new(word));
    match name.as_str() {
        "filter" if rest.iter().any(is_games) => {
            return Some(format!("tabia games {} -o OUT.pgn", quoted(rest)));
        }
        "import" if rest.iter().any(|word| has_values(word)) => {
            let (values, books): (Vec<_>, Vec<_>) = rest.iter().partition(|word| has_values(word));
            let book = if books.is_empty() {
                "BOOK".to_owned()
            } else {
                quoted(books)
            };
            return Some(format!("tabia evaluate {book} --import {}", quoted(values)));
        }
        _ => {}
    }
    let same = OTHER_WORDS
        .iter()
        .find(|(_, words)| words.contains(&&*name));
    if let Some((command, _)) = same {
        let only_files = rest.iter().all(|word| !word.starts_with('-'));
        let rest = quoted(rest.iter().filter(|_| only_files));
        return Some(format!("tabia {command} {rest}").trim_end().to_owned());
    }
    let names = tabia.get_subcommands().map(Command::get_name);
    nearest(&name, names).map(|meant| format!("did you mean 'tabia {meant}'?"))
}

/// Whether a file has evaluations, by its name.
pub(crate) fn has_values(word: &str) -> bool {
    let ends = [".epd", ".csv", ".json", ".jsonl"];
    ends.iter().any(|end| word.ends_with(end))
}

/// Tabia's line for a command of Polyglot.
pub(crate) fn of_polyglot(name: &str, rest: &[String]) -> Option<String> {
    let value = |option: &str| {
        let at = rest.iter().position(|word| word == option)?;
        rest.get(at + 1).cloned()
    };
    let file = |option: &str, usual: &str| value(option).unwrap_or_else(|| usual.to_owned());
    let has = |option: &str| rest.iter().any(|word| word == option);
    match name {
        "make-book" => {
            let mut line = format!("tabia build -o {}", quoted([&file("-bin", "book.bin")]));
            for (theirs, ours, usual) in [
                ("-max-ply", "--max-ply", Some("1024")),
                ("-min-game", "--min-games", Some("3")),
                ("-min-score", "--min-score", None),
            ] {
                if let Some(number) = value(theirs).or(usual.map(str::to_owned)) {
                    let _ = write!(line, " {ours} {number}");
                }
            }
            for (theirs, ours) in [
                ("-only-white", "--colour white"),
                ("-only-black", "--colour black"),
                ("-uniform", "--uniform"),
            ] {
                if has(theirs) {
                    let _ = write!(line, " {ours}");
                }
            }
            Some(format!("{line} {}", quoted([&file("-pgn", "games.pgn")])))
        }
        "merge-book" => {
            let books = [file("-in1", "a.bin"), file("-in2", "b.bin")];
            let out = quoted([&file("-out", "out.bin")]);
            Some(format!(
                "tabia merge --first-wins -o {out} {}",
                quoted(&books)
            ))
        }
        "dump-book" | "info-book" => {
            let command = if name == "dump-book" { "tree" } else { "info" };
            Some(format!(
                "tabia {command} {}",
                quoted([&file("-bin", "book.bin")])
            ))
        }
        _ => None,
    }
}

/// Replaces what the parser proposes for an unknown option: it takes `--speeds` for
/// `--plies`.
pub(crate) fn option(error: &mut Error, args: &[String], tabia: &Command) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    if error.kind() != ErrorKind::UnknownArgument || !word.starts_with('-') {
        return;
    }
    let mut tabia = tabia.clone();
    tabia.build();
    let name = args
        .first()
        .filter(|name| tabia.find_subcommand(name).is_some());
    let command = match name.and_then(|name| tabia.find_subcommand_mut(name)) {
        Some(command) => command,
        None => &mut tabia,
    };
    let word = word.trim_start_matches('-').to_owned();
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    let longs: Vec<&str> = longs.collect();
    let begin = |long: &&&str| word.len() > 2 && long.starts_with(&word);
    let mut beginning = longs.iter().filter(begin);
    // The beginning of one option alone, then what differs by a letter or two.
    let begun = match (beginning.next(), beginning.next()) {
        (Some(one), None) => Some(*one),
        _ => None,
    };
    let meant = begun.or_else(|| nearest(&word, longs));
    let meant = meant.map(|name| format!("--{name}"));
    let usage = ContextValue::StyledStr(command.render_usage());
    // "To pass it as a value, use --" is never what was meant.
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Usage, usage);
    if let Some(meant) = meant {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(meant));
    }
}

/// The ends of the files that a command makes, and what one is called in a tip.
pub(crate) fn output_of(command: &str) -> Option<(&'static str, &'static [&'static str])> {
    Some(match command {
        "build" => ("BOOK.ctg", &["ctg", "bin", "abk", "jsonl", "csv"]),
        "merge" => ("BOOK.ctg", &["ctg", "bin", "abk", "jsonl", "pgn", "csv"]),
        "games" => ("GAMES.pgn", &["pgn"]),
        "index" => ("GAMES.tgx", &["tgx"]),
        "suite" => ("SUITE.epd", &["epd", "pgn"]),
        "prune" | "grow" => ("NEW.ctg", &["ctg"]),
        _ => return None,
    })
}

/// A line or a position whose words were typed without quotes after its option.
pub(crate) fn unquoted(args: &[String]) -> Option<String> {
    let typed = args.iter().position(|arg| arg == "--");
    let args = args.get(..typed.unwrap_or(args.len()))?;
    args.iter().enumerate().find_map(|(at, arg)| {
        let after = args.get(at + 1..)?;
        let (option, first, rest) = match arg.split_once('=') {
            Some((option, first)) => (option, first, after),
            None => {
                let (first, rest) = after.split_first()?;
                (arg.as_str(), first.as_str(), rest)
            }
        };
        let count = match option {
            "--line" | "--moves" if is_in_line(first) => {
                rest.iter().take_while(|word| is_in_line(word)).count()
            }
            "--fen" if !first.contains(' ') && first.matches('/').count() == 7 => rest
                .iter()
                .take(5)
                .take_while(|word| is_field(word))
                .count(),
            _ => 0,
        };
        let more: String = rest
            .iter()
            .take(count)
            .map(|word| format!(" {word}"))
            .collect();
        (count > 0).then(|| format!("{option} needs quotes: {option} \"{first}{more}\""))
    })
}

/// Whether a word is a move or its number, and not a file.
pub(crate) fn is_in_line(word: &str) -> bool {
    let is_number = || word.ends_with('.') && word.starts_with(|c: char| c.is_ascii_digit());
    (is_move(word) || is_number()) && !Path::new(word).exists()
}

/// Whether a word may be a field of a FEN after the board.
fn is_field(word: &str) -> bool {
    let all = |letters: &str| word.chars().all(|letter| letters.contains(letter));
    matches!(word, "w" | "b" | "-") || all("KQkq") || all("0123456789") || {
        let mut letters = word.chars();
        letters
            .next()
            .is_some_and(|file| ('a'..='h').contains(&file))
            && matches!(letters.as_str(), "3" | "6")
    }
}

/// Words as a shell takes them.
pub(crate) fn quoted<'w>(words: impl IntoIterator<Item = &'w String>) -> String {
    let words = words.into_iter().map(|word| {
        shlex::try_quote(word).map_or_else(|_| word.clone(), |quoted| quoted.into_owned())
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_proposed() {
        let names = ["speeds", "max-ply", "probe", "grow", "add"];
        for (word, meant) in [
            ("plies", None),
            ("speds", Some("speeds")),
            ("prob", Some("probe")),
            ("go", None),
            ("sf", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), meant, "{word}");
        }
    }

    #[test]
    fn moves_and_fields_without_quotes_are_found() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (typed, wanted) in [
            (
                "probe b --moves e4 c5",
                "--moves needs quotes: --moves \"e4 c5\"",
            ),
            (
                "mark b --line=1. e4 c5 main",
                "--line needs quotes: --line \"1. e4 c5\"",
            ),
            (
                "diff a b --fen 8/8/8/8/8/8/8/Kk6 w - - 0 1 --json",
                "--fen needs quotes: --fen \"8/8/8/8/8/8/8/Kk6 w - - 0 1\"",
            ),
        ] {
            assert_eq!(unquoted(&words(typed)).as_deref(), Some(wanted));
        }
        for typed in [
            "mark b --line 1.e4 main",
            "repertoire --moves 2 e4",
            "probe b --moves e4 -- c5",
            "add b --line 1.e4 more.pgn",
        ] {
            assert_eq!(unquoted(&words(typed)), None, "{typed}");
        }
    }
}
