//! What to type instead of a command that has failed: words in another order, or without
//! their option.

use std::path::Path;

use clap::Command;

use super::meant::{self, quoted};
use tabia_book::Format;
use tabia_notation::kind::BookKind;

/// The commands of which the first word is a book, and the others are games.
const BOOK_FIRST: [&str; 2] = ["add", "learn"];

/// What a word after the command is, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Option,
    Book,
    Games,
    Folder,
    Colour,
    Moves,
    Other,
}

impl Word {
    fn of(text: &str) -> Word {
        let path = Path::new(text);
        if text.starts_with('-') {
            Word::Option
        } else if path.is_dir() {
            Word::Folder
        } else if BookKind::of_played(path).is_some() {
            Word::Book
        } else if tabia_games::is_game_file(path) {
            Word::Games
        } else if matches!(text.to_ascii_lowercase().as_str(), "white" | "black") {
            Word::Colour
        } else if text.split_whitespace().all(meant::is_in_line) {
            Word::Moves
        } else {
            Word::Other
        }
    }
}

/// The line that was probably meant by a line that has failed.
pub(super) fn of_line(args: &[String], tabia: &Command) -> Option<String> {
    let (name, rest) = args.split_first()?;
    if let Some(line) = one_hyphen(args, tabia) {
        return Some(line);
    }
    // `tabia --engine "gnuchess --uci"`.
    if let Some(at) = args.iter().position(|arg| arg == "--engine")
        && let Some(engine) = args.get(at + 1)
        && let Some((program, with)) = engine.split_once(' ')
        && tabia_engine::is_on_path(program)
    {
        let others = args.iter().take(at).chain(args.iter().skip(at + 2));
        return Some(format!("tabia {} -- {program} {with}", quoted(others)).replace("  ", " "));
    }
    let command = tabia.find_subcommand(name)?;
    let words: Vec<Word> = rest.iter().map(|word| Word::of(word)).collect();
    let at = |wanted: Word| words.iter().position(|word| *word == wanted);
    // A word with the option that it lacks, and the others.
    let with_option = |at: usize, option: &str| {
        let word = rest.get(at)?;
        let others = rest.iter().take(at).chain(rest.iter().skip(at + 1));
        let word = quoted([word]);
        Some(format!("tabia {name} {} {option} {word}", quoted(others)).replace("  ", " "))
    };
    let is_book_there = || {
        let book = at(Word::Book).and_then(|at| rest.get(at));
        book.is_none_or(|book| Path::new(book).exists())
    };
    match (name.as_str(), words.as_slice()) {
        ("add", [Word::Games | Word::Book, ..])
            if at(Word::Option).is_none() && at(Word::Games).is_some() && !is_book_there() =>
        {
            let book = at(Word::Book)?;
            let others = rest.iter().take(book).chain(rest.iter().skip(book + 1));
            let book = quoted(rest.get(book..=book)?);
            Some(format!("tabia build -o {book} {}", quoted(others)))
        }
        (name, [Word::Games, ..]) if BOOK_FIRST.contains(&name) && is_book_there() => {
            let book = at(Word::Book)?;
            let others = rest.iter().take(book).chain(rest.iter().skip(book + 1));
            let book = quoted(rest.get(book..=book)?);
            Some(format!("tabia {name} {book} {}", quoted(others)))
        }
        ("review", [Word::Book, Word::Games, ..]) => with_option(0, "--book"),
        ("check", [Word::Book, ..]) => with_option(0, "--book"),
        ("register", [Word::Other, Word::Book, ..]) => with_option(1, "--book"),
        ("evaluate", [Word::Book, Word::Games, ..]) => with_option(1, "--import"),
        ("evaluate", [Word::Book, Word::Other, ..]) => {
            let ends = rest.get(1).is_some_and(|word| meant::has_values(word));
            with_option(1, if ends { "--import" } else { "--engine" })
        }
        ("repertoire", [Word::Book, Word::Colour, ..]) => with_option(1, "--colour"),
        ("repertoire", [Word::Colour, Word::Book, ..]) => with_option(0, "--colour"),
        ("prune" | "grow", [Word::Book, Word::Book]) => {
            let more = if name == "prune" {
                " --min-games 5"
            } else {
                ""
            };
            let [book, new] = rest else { return None };
            let is_new = Path::new(book).exists() && !Path::new(new).exists();
            let line = || format!("tabia {name} -o {}{more} {}", quoted([new]), quoted([book]));
            is_new.then(line)
        }
        ("mark", [Word::Book, ..]) => {
            // Moves that are not the value of an option, and stand together.
            let is_move = |at: usize| {
                words.get(at) == Some(&Word::Moves) && words.get(at - 1) != Some(&Word::Option)
            };
            let start = (1..words.len()).find(|at| is_move(*at))?;
            let end = (start..words.len()).find(|at| words.get(*at) != Some(&Word::Moves));
            let (before, moves) = rest.split_at(start);
            let (moves, after) = moves.split_at(end.unwrap_or(words.len()) - start);
            let moves = moves.join(" ");
            let option = match moves.contains(' ') || moves.contains('.') {
                true => "--moves",
                false => "--move",
            };
            let words = [before, &[option.to_owned(), moves], after].concat();
            Some(format!("tabia mark {}", quoted(&words)))
        }
        ("info", [Word::Folder]) => {
            let folder = rest.first()?;
            let in_folder = std::fs::read_dir(folder).ok()?.flatten();
            let books = in_folder.filter(|entry| BookKind::of_played(&entry.path()).is_some());
            let mut books: Vec<String> = books
                .map(|book| book.path().to_string_lossy().into_owned())
                .collect();
            books.sort();
            (!books.is_empty()).then(|| format!("tabia info {}", quoted(&books)))
        }
        // A book without the end of its name.
        (_, [Word::Other, ..]) => {
            let typed = rest.first()?;
            let is_first = command.get_positionals().next()?.get_id() != "program";
            let formats = Format::ALL.iter().map(|format| format.as_str());
            let book = formats
                .chain(["tgx", "pgn"])
                .map(|end| format!("{typed}.{end}"))
                .find(|book| is_first && Path::new(book).is_file())?;
            let all = std::iter::once(&book).chain(rest.iter().skip(1));
            Some(format!("tabia {name} {}", quoted(all)))
        }
        _ => None,
    }
}

/// The line with two hyphens before a long option, or as Polyglot's options are meant.
fn one_hyphen(args: &[String], tabia: &Command) -> Option<String> {
    let (name, rest) = args.split_first()?;
    let has = |option: &str| rest.iter().any(|word| word == option);
    if name == "build" && (has("-pgn") || has("-bin")) {
        return meant::of_polyglot("make-book", rest);
    }
    let command = match name.starts_with('-') {
        true => tabia,
        false => tabia.find_subcommand(name)?,
    };
    let longs: Vec<&str> = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .collect();
    let mut is_changed = false;
    // Those of an engine come after it.
    let own = args.iter().position(|word| word == "--");
    let own = own.unwrap_or(args.len());
    let line: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(at, word)| {
            let bare = word.strip_prefix('-').filter(|bare| !bare.starts_with('-'));
            let option = bare.map(|bare| bare.split('=').next().unwrap_or(bare));
            match at < own
                && option.is_some_and(|option| option.len() > 1 && longs.contains(&option))
            {
                true => {
                    is_changed = true;
                    format!("-{word}")
                }
                false => word.clone(),
            }
        })
        .collect();
    is_changed.then(|| format!("tabia {}", quoted(&line)))
}
