//! A line that the parser refuses, changed word by word until it takes it.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use super::instead::{Word, is_filler};
use super::meant::{self, quoted};
use tabia_choice::settings::{OptionId, nearest};
use tabia_notation::kind::BookKind;

/// Words that are refused in one line, at most.
const MOST_WORDS: usize = 3;

/// Options as others call them.
const OTHER_OPTIONS: [(&str, &[&str]); 19] = [
    ("line", &["game", "variation", "opening", "position", "pos"]),
    ("moves", &["opening", "position", "pos"]),
    ("min-elo", &["elo", "rating", "min-rating", "minrating"]),
    ("since", &["year", "from", "after", "date"]),
    ("until", &["before"]),
    ("learn-value", &["value", "weight"]),
    ("remove", &["uninstall", "undo", "delete"]),
    ("output", &["to", "save", "target", "destination", "dest"]),
    ("threads", &["cores", "cpus", "jobs"]),
    ("memory", &["ram", "mem"]),
    ("force", &["overwrite", "replace", "yes"]),
    ("silent", &["quiet"]),
    ("nodes", &["limit"]),
    ("colour", &["for", "player-colour"]),
    ("max-ply", &["plys", "ply", "halfmoves", "length"]),
    ("confirm", &["engine"]),
    ("movetime", &["time"]),
    ("options", &["all"]),
    ("dedupe", &["unique", "no-duplicates", "deduplicate"]),
];

/// The line that the parser takes, or that only lacks something.
pub(crate) fn of_line(args: &[String], tabia: &Command) -> Option<String> {
    let first = args.first()?;
    let command = match first.starts_with('-') {
        true => tabia,
        false => tabia.find_subcommand(first)?,
    };
    let mended = mended(args, command, tabia, MOST_WORDS)?;
    (mended != args).then(|| format!("tabia {}", quoted(&mended)))
}

fn mended(args: &[String], command: &Command, tabia: &Command, left: usize) -> Option<Vec<String>> {
    let words = std::iter::once("tabia").chain(args.iter().map(String::as_str));
    let error = match tabia.clone().try_get_matches_from(words) {
        Ok(_) => return Some(args.to_vec()),
        Err(error) => error,
    };
    let is_enough = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::DisplayVersion,
    ];
    if is_enough.contains(&error.kind()) {
        return Some(args.to_vec());
    }
    let (ErrorKind::UnknownArgument, true) = (error.kind(), left > 0) else {
        return None;
    };
    let refused = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let refused = refused.into_iter().find_map(|kind| error.get(kind))?;
    let ContextValue::String(word) = refused else {
        return None;
    };
    let is_it = |arg: &String| match word.strip_prefix('-') {
        Some(_) => arg.split('=').next() == Some(word) || arg.starts_with(word) && word.len() == 2,
        None => arg == word,
    };
    let at = args.iter().position(is_it)?;
    let instead = match word.starts_with('-') {
        true => options(args, at, command, tabia),
        false => arguments(args.get(at)?),
    };
    let by_another = instead.into_iter().find_map(|instead| {
        let (before, rest) = args.split_at(at);
        let after = rest.get(instead.words..).unwrap_or_default();
        let changed = [before, &instead.by, after].concat();
        mended(&changed, command, tabia, left - 1)
    });
    by_another.or_else(|| {
        let others: Vec<String> = args
            .iter()
            .filter(|word| !is_filler(word))
            .cloned()
            .collect();
        match others.len() < args.len() {
            true => mended(&others, command, tabia, left - 1),
            false => None,
        }
    })
}

/// A replacement for some words.
struct Instead {
    words: usize,
    by: Vec<String>,
}

fn instead(words: usize, by: &[&str]) -> Instead {
    let by = by.iter().map(|word| (*word).to_owned()).collect();
    Instead { words, by }
}

/// What an unknown option may mean.
fn options(args: &[String], at: usize, command: &Command, tabia: &Command) -> Vec<Instead> {
    let Some(typed) = args.get(at) else {
        return Vec::new();
    };
    let longs = |arg: &Arg| -> Vec<String> {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        let all = arg.get_long().into_iter().chain(aliases);
        all.map(str::to_owned).collect()
    };
    let known: Vec<String> = command.get_arguments().flat_map(longs).collect();
    let has = |name: &str| known.iter().any(|known| known == name);
    let next = args.get(at + 1).map_or("", String::as_str);
    let mut found = Vec::new();
    let Some(name) = typed.strip_prefix("--") else {
        // One letter: the options that begin with it.
        let letter = typed.trim_start_matches('-');
        if letter == "v" && at == 0 {
            found.push(instead(1, &["--version"]));
        }
        let letter = letter.to_lowercase();
        if letter.len() == 1 {
            let mut these: Vec<&String> = known
                .iter()
                .filter(|long| long.starts_with(&letter))
                .collect();
            these.sort();
            found.extend(these.iter().map(|long| instead(1, &[&format!("--{long}")])));
        }
        if Path::new(next).exists() {
            found.push(instead(2, &[next]));
        }
        return found;
    };
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (name, None),
    };
    let small = name.to_lowercase().replace('_', "-");
    let name = small.as_str();
    let with = |option: &str| match value {
        Some(value) => instead(1, &[&format!("--{option}={value}")]),
        None => instead(1, &[&format!("--{option}")]),
    };
    if at == 0 && tabia.find_subcommand(name).is_some() {
        found.push(instead(1, &[name]));
    }
    if ["white", "black"].contains(&name) && has("colour") {
        found.push(instead(1, &["--colour", name]));
    }
    if ["position", "pos"].contains(&name) && next.contains('/') && has("fen") {
        found.push(with("fen"));
    }
    if typed.strip_prefix("--") != Some(name) && has(name) {
        found.push(with(name));
    }
    let same = OTHER_OPTIONS
        .iter()
        .filter(|(_, others)| others.contains(&name));
    found.extend(
        same.filter(|(ours, _)| has(ours))
            .map(|(ours, _)| with(ours)),
    );
    // `convert --to bin main.ctg`.
    let mut books = args
        .iter()
        .map(Path::new)
        .filter(|path| BookKind::of_played(path).is_some());
    if ["to", "format", "as", "type"].contains(&name)
        && BookKind::from_name(next).is_some()
        && let Some(book) = books.next()
    {
        let target = book.with_extension(next).to_string_lossy().into_owned();
        found.insert(0, instead(2, &["-o", &target]));
    }
    // A typing error is the parser's to report.
    if nearest(name, known.iter().map(String::as_str)).is_some() {
        return found;
    }
    // An option of the adapter as one of the command.
    if let Some(id) = OptionId::by_key(name).filter(|_| has("set")) {
        let (words, value) = match value {
            Some(value) => (1, value),
            None => (2, next),
        };
        found.push(instead(
            words,
            &["--set", &format!("{}={value}", id.spec().name)],
        ));
    }
    // The file stands without an option.
    if value.is_none() && Path::new(next).exists() {
        found.push(instead(2, &[next]));
    }
    let longs = command.get_arguments().filter_map(Arg::get_long);
    let mut begun = longs.filter(|long| name.len() > 2 && long.starts_with(name));
    if let (Some(long), None) = (begun.next(), begun.next()) {
        found.push(with(long));
    }
    found
}

/// What a word too many may mean.
fn arguments(word: &str) -> Vec<Instead> {
    let path = Path::new(word);
    if is_filler(word) {
        return vec![instead(1, &[])];
    }
    let mut options = Vec::new();
    let is_new = !path.exists() && path.extension().is_some();
    match Word::of(word) {
        Word::Book | Word::Games if is_new => options.extend(["-o", "--book"]),
        Word::Book => options.push("--book"),
        Word::Colour => options.push("--colour"),
        Word::Folder => options.push("--folder"),
        Word::Moves => options.extend(["--line", "--moves"]),
        Word::Games | Word::Option => {}
        Word::Other => {}
    }
    if meant::has_values(word) {
        options.push("--import");
    }
    if tabia_engine::is_on_path(word) {
        options.push("--engine");
    }
    let mut found: Vec<Instead> = options
        .into_iter()
        .map(|option| instead(1, &[option, word]))
        .collect();
    // `setup` looks for books in folders.
    if let (Word::Book, Some(folder)) = (Word::of(word), path.parent())
        && path.exists()
    {
        let folder = match folder.to_string_lossy().into_owned() {
            here if here.is_empty() => ".".to_owned(),
            folder => folder,
        };
        found.push(instead(1, &["--folder", &folder]));
    }
    found
}
