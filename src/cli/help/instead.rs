//! What to type instead of a command that has failed: words in another order, or without
//! their option.

use std::path::Path;

use clap::Command;

use super::meant::{self, quoted};
use tabia_book::Format;
use tabia_choice::settings::nearest;
use tabia_notation::kind::BookKind;

/// The commands of which the first word is a book, and the others are games.
const BOOK_FIRST: [&str; 2] = ["add", "learn"];

/// What a word after the command is, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Option,
    Book,
    Games,
    Folder,
    Colour,
    Moves,
    Other,
}

impl Word {
    pub(crate) fn of(text: &str) -> Word {
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
pub(crate) fn of_line(args: &[String], tabia: &Command) -> Option<String> {
    let (name, rest) = args.split_first()?;
    if let Some(line) = one_hyphen(args, tabia) {
        return Some(line);
    }
    let plain: Vec<String> = args
        .iter()
        .filter(|word| !is_filler(word))
        .cloned()
        .collect();
    if plain.len() < args.len() {
        let line = || format!("tabia {}", quoted(&plain));
        return Some(of_line(&plain, tabia).unwrap_or_else(line));
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
    if let Some(at) = args.iter().position(|arg| arg == "--engine")
        && let Some(engine) = args.get(at + 1)
        && !tabia_engine::is_on_path(engine)
        && tabia_engine::is_on_path(&engine.to_lowercase())
    {
        return Some(replaced(args, at + 1, &engine.to_lowercase()));
    }
    let Some(command) = tabia.find_subcommand(name) else {
        // `tabia --book games.pgn`, or without the end of the name.
        let book = args.iter().position(|arg| arg == "--book")?;
        let near = || {
            Some(replaced(
                args,
                book + 1,
                &near_file(args.get(book + 1)?, args)?,
            ))
        };
        return book_of_games(args.get(book + 1..book + 2)?).or_else(near);
    };
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
        ("add", [Word::Book, Word::Moves, ..]) => {
            let end = words.iter().skip(1).position(|word| *word != Word::Moves);
            let end = end.map_or(words.len(), |end| end + 1);
            let (moves, after) = rest.get(1..)?.split_at(end - 1);
            let book = quoted(rest.get(..1)?);
            let line = quoted([&moves.join(" ")]);
            Some(
                format!("tabia add {book} --line {line} {}", quoted(after))
                    .trim_end()
                    .to_owned(),
            )
        }
        ("build", _) if at(Word::Colour).is_some_and(|at| is_free(rest, at)) => {
            with_option(at(Word::Colour)?, "--colour")
        }
        ("merge", _) if at(Word::Games).is_some_and(|at| is_free(rest, at)) && has_output(rest) => {
            Some(format!("tabia build {}", quoted(rest)))
        }
        ("games", [Word::Book, ..]) if has_output(rest) => {
            let at = rest
                .iter()
                .position(|word| word == "-o" || word == "--output")?;
            let files = [rest.first()?, rest.get(at + 1)?];
            Some(format!("tabia convert {}", quoted(files)))
        }
        ("index", [Word::Games, Word::Games, ..])
            if !has_output(rest) && rest.first()?.ends_with(".tgx") && is_there(rest.first()?) =>
        {
            let (index, games) = rest.split_first()?;
            Some(format!(
                "tabia index -o {} --append {}",
                quoted([index]),
                quoted(games)
            ))
        }
        ("probe", [Word::Book, Word::Book]) => Some(format!("tabia diff {}", quoted(rest))),
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
        ("mark", [Word::Book, ..]) if rest.iter().any(|word| word == "undo") => {
            Some(format!("tabia mark {} --undo", quoted(rest.get(..1)?)))
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
            let books = books_of(rest.first()?);
            (!books.is_empty()).then(|| format!("tabia info {}", quoted(&books)))
        }
        ("convert", [Word::Book, ..]) => {
            let (book, new) = (rest.first()?, rest.last()?);
            if rest.len() == 2 && !is_there(book) && is_there(new) {
                return Some(format!("tabia convert {}", quoted([new, book])));
            }
            // Only the end of the new name, or a folder.
            let end = new.strip_prefix('.').unwrap_or(new);
            let stem = Path::new(book).file_stem()?.to_string_lossy().into_owned();
            let whole = match BookKind::from_name(end).is_some() || ["pgn", "csv"].contains(&end) {
                true => Path::new(book)
                    .with_extension(end)
                    .to_string_lossy()
                    .into_owned(),
                false if Path::new(new).is_dir() => format!("{new}/{stem}.bin"),
                false => return other_file(args, command),
            };
            (whole != *book).then(|| format!("tabia convert {}", quoted([book, &whole])))
        }
        (name, [first, ..]) if TAKE_BOOKS.contains(&name) => {
            // The book stands last.
            let book = rest.iter().enumerate().skip(1).find(|(at, word)| {
                is_free(rest, *at) && Word::of(word) == Word::Book && is_there(word)
            });
            let is_one = rest
                .iter()
                .filter(|word| Word::of(word) == Word::Book)
                .count()
                == 1;
            if let (true, Some((at, book))) = (is_one && *first != Word::Folder, book) {
                let others = rest.iter().take(at).chain(rest.iter().skip(at + 1));
                return Some(format!(
                    "tabia {name} {} {}",
                    quoted([book]),
                    quoted(others)
                ));
            }
            // Games, or a folder, in the place of a book.
            let games = |word: &String| {
                Word::of(word) == Word::Games && !word.ends_with(".tgx") && is_there(word)
            };
            if let Some(games) = rest
                .iter()
                .enumerate()
                .find(|(at, word)| is_book(rest, *at) && games(word))
            {
                return book_of_games(std::slice::from_ref(games.1));
            }
            if let Some(folder) = at(Word::Folder).filter(|at| is_free(rest, *at)) {
                let book = books_of(rest.get(folder)?).into_iter().next()?;
                return Some(replaced(args, folder + 1, &book));
            }
            other_file(args, command)
        }
        // They are exchanged, too.
        (name, [Word::Games, ..]) if BOOK_FIRST.contains(&name) => None,
        _ => unnamed_output(args, command).or_else(|| other_file(args, command)),
    }
}

/// The commands whose words are books.
const TAKE_BOOKS: [&str; 12] = [
    "probe",
    "info",
    "tree",
    "diff",
    "verify",
    "compact",
    "mark",
    "prune",
    "audit",
    "evaluate",
    "grow",
    "repertoire",
];

fn is_there(word: &str) -> bool {
    Path::new(word).exists()
}

/// Whether a word is not an option, nor its value.
fn is_free(rest: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| rest.get(before));
    !before.is_some_and(|before| before.starts_with('-') && !before.contains('='))
}

/// Whether a word is in the place of a book.
fn is_book(rest: &[String], at: usize) -> bool {
    const OPTIONS: [&str; 4] = ["--book", "--opponent", "--measure", "--replies"];
    let before = at.checked_sub(1).and_then(|before| rest.get(before));
    is_free(rest, at) || before.is_some_and(|before| OPTIONS.contains(&before.as_str()))
}

/// Whether a word stands between files only for people.
pub(crate) fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 10] = [
        "to", "into", "from", "with", "as", "for", "and", "in", "+", "->",
    ];
    FILLERS.contains(&word) && !is_there(word)
}

fn has_output(rest: &[String]) -> bool {
    rest.iter()
        .any(|word| word.starts_with("-o") || word.starts_with("--out"))
}

/// The books in a folder.
fn books_of(folder: &str) -> Vec<String> {
    let in_folder = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let books = in_folder.filter(|entry| BookKind::of_played(&entry.path()).is_some());
    let mut books: Vec<String> = books
        .map(|book| book.path().to_string_lossy().into_owned())
        .collect();
    books.sort();
    books
}

/// The line that makes a book of games.
fn book_of_games(games: &[String]) -> Option<String> {
    let first = games
        .first()
        .filter(|games| tabia_games::is_game_file(Path::new(games)))?;
    let name = Path::new(first).file_name()?.to_string_lossy().into_owned();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
    let book = [format!("{stem}.ctg"), "BOOK.ctg".to_owned()];
    let book = book.into_iter().find(|book| !is_there(book))?;
    is_there(first).then(|| format!("tabia build -o {} {}", quoted([&book]), quoted(games)))
}

/// The line with another word in a place.
fn replaced(args: &[String], at: usize, word: &str) -> String {
    let mut args = args.to_vec();
    if let Some(place) = args.get_mut(at) {
        word.clone_into(place);
    }
    format!("tabia {}", quoted(&args))
}

/// The line with the file that was meant by one that does not exist: with another end of its
/// name, or a name that differs by a letter or two.
fn other_file(args: &[String], command: &Command) -> Option<String> {
    if command.get_positionals().next()?.get_id() == "program" {
        return None;
    }
    let is_path = |word: &str| {
        let is_line = word.split_whitespace().all(meant::is_in_line);
        !word.starts_with('-') && !is_line && !is_there(word)
    };
    let new = |at: usize| {
        let before = args.get(at - 1).map(String::as_str);
        matches!(before, Some("-o" | "--output" | "--records"))
    };
    let missing = (1..args.len()).filter(|at| !new(*at));
    let mut missing = missing.filter(|at| args.get(*at).is_some_and(|word| is_path(word)));
    missing.find_map(|at| Some(replaced(args, at, &near_file(args.get(at)?, args)?)))
}

/// The file that was meant by a name that does not exist, and is not named elsewhere.
fn near_file(word: &str, args: &[String]) -> Option<String> {
    let path = Path::new(word);
    if path.exists() {
        return None;
    }
    let is_other = |file: &String| Path::new(file).is_file() && !args.contains(file);
    let formats = Format::ALL.iter().map(|format| format.as_str());
    let ends: Vec<&str> = formats.chain(["tgx", "pgn"]).collect();
    let longer = ends.iter().map(|end| format!("{word}.{end}"));
    let other = ends
        .iter()
        .map(|end| path.with_extension(end).to_string_lossy().into_owned());
    if let Some(file) = longer.chain(other).find(is_other) {
        return Some(file);
    }
    let folder = path.parent()?;
    let here = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(here).ok()?.flatten();
    let names: Vec<String> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let name = path.file_name()?.to_string_lossy().into_owned();
    let near = nearest(&name, names.iter().map(String::as_str))?;
    Some(folder.join(near).to_string_lossy().into_owned()).filter(is_other)
}

/// The line with the end of the name of the file to make.
fn unnamed_output(args: &[String], command: &Command) -> Option<String> {
    let at = args
        .iter()
        .position(|word| word == "-o" || word == "--output")?
        + 1;
    let typed = args.get(at)?;
    let (usual, _) = meant::output_of(command.get_name())?;
    let end = Path::new(usual).extension()?.to_string_lossy().into_owned();
    if Path::new(typed).is_dir() {
        let inside = format!("{}/{}", typed.trim_end_matches('/'), usual.to_lowercase());
        return (!is_there(&inside)).then(|| replaced(args, at, &inside));
    }
    let has_end = Path::new(typed).extension().is_some();
    (!has_end && typed != "-").then(|| replaced(args, at, &format!("{typed}.{end}")))
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
    // The options of an engine come after `--`.
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
