//! What to type instead of a command that has failed: words in another order, or without
//! their option.

use std::path::Path;

use clap::Command;

use super::meant::{self, quoted};
use tabia_book::Format;
use tabia_choice::settings::nearest;
use tabia_notation::kind::BookKind;

/// Commands that take a book first, and then games.
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
    if let Some(line) = one_hyphen(args, tabia) {
        return Some(line);
    }
    let mut plain = args.to_vec();
    plain.retain(|word| !is_filler(word));
    if plain.len() < args.len() {
        return of_line(&plain, tabia).or_else(|| Some(line(&[&quoted(&plain)])));
    }
    if let Some(line) = other_engine(args) {
        return Some(line);
    }
    let (name, rest) = args.split_first()?;
    let Some(command) = tabia.find_subcommand(name) else {
        return other_book(args);
    };
    let words = rest.iter().map(|word| Word::of(word)).collect();
    Typed {
        args,
        rest,
        words,
        command,
    }
    .meant()
}

/// `tabia` and these parts of a line, of which some may be empty.
fn line(parts: &[&str]) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.fold("tabia".to_owned(), |line, part| line + " " + part)
}

/// `--engine` with the options of the engine (`"gnuchess --uci"`), or in capital letters.
fn other_engine(args: &[String]) -> Option<String> {
    let at = args.iter().position(|arg| arg == "--engine")? + 1;
    let engine = args.get(at)?;
    if let Some((program, with)) = engine.split_once(' ')
        && tabia_engine::is_on_path(program)
    {
        let others = [args.get(..at - 1)?, args.get(at + 1..)?].concat();
        return Some(line(&[&quoted(&others), "--", program, with]));
    }
    let small = engine.to_lowercase();
    let is_small = !tabia_engine::is_on_path(engine) && tabia_engine::is_on_path(&small);
    is_small.then(|| replaced(args, at, &small))
}

/// `tabia --book games.pgn`, or without the end of the name.
fn other_book(args: &[String]) -> Option<String> {
    let at = args.iter().position(|arg| arg == "--book")? + 1;
    let book = args.get(at..=at)?;
    let near = || Some(replaced(args, at, &near_file(book.first()?, args)?));
    book_of_games(book).or_else(near)
}

/// A line with a command.
struct Typed<'a> {
    args: &'a [String],
    /// The words after the command, and what each is.
    rest: &'a [String],
    words: Vec<Word>,
    command: &'a Command,
}

impl Typed<'_> {
    fn at(&self, wanted: Word) -> Option<usize> {
        self.words.iter().position(|word| *word == wanted)
    }

    fn has(&self, wanted: Word) -> bool {
        self.at(wanted).is_some()
    }

    /// Whether there is such a word that is not the value of an option.
    fn has_free(&self, wanted: Word) -> bool {
        self.at(wanted).is_some_and(|at| is_free(self.rest, at))
    }

    /// The command.
    fn name(&self) -> &str {
        self.command.get_name()
    }

    /// A word, and the others after the command.
    fn apart(&self, at: usize) -> Option<(String, String)> {
        let word = quoted([self.rest.get(at)?]);
        let others = self
            .rest
            .iter()
            .take(at)
            .chain(self.rest.iter().skip(at + 1));
        Some((word, quoted(others)))
    }

    /// A word with the option that it lacks, after the others.
    fn with_option(&self, at: usize, option: &str) -> Option<String> {
        let (word, others) = self.apart(at)?;
        Some(line(&[self.name(), &others, option, &word]))
    }

    /// A word before the others.
    fn first(&self, command: &str, at: usize) -> Option<String> {
        let (word, others) = self.apart(at)?;
        Some(line(&[command, &word, &others]))
    }

    fn is_book_there(&self) -> bool {
        let book = self.at(Word::Book).and_then(|at| self.rest.get(at));
        book.is_none_or(|book| is_there(book))
    }

    fn meant(&self) -> Option<String> {
        let (name, rest) = (self.name(), self.rest);
        match (name, self.words.as_slice()) {
            ("add", [Word::Games | Word::Book, ..])
                if !self.has(Word::Option) && self.has(Word::Games) && !self.is_book_there() =>
            {
                self.first("build -o", self.at(Word::Book)?)
            }
            (name, [Word::Games, ..]) if BOOK_FIRST.contains(&name) && self.is_book_there() => {
                self.first(name, self.at(Word::Book)?)
            }
            ("add", [Word::Book, Word::Moves, ..]) => self.added_line(),
            ("build", _) if self.has_free(Word::Colour) => {
                self.with_option(self.at(Word::Colour)?, "--colour")
            }
            ("merge", _) if self.has_free(Word::Games) && has_output(rest) => {
                Some(line(&["build", &quoted(rest)]))
            }
            ("games", [Word::Book, ..]) if has_output(rest) => {
                let is_output = |word: &String| word == "-o" || word == "--output";
                let output = rest.iter().position(is_output)? + 1;
                let files = [rest.first()?, rest.get(output)?];
                Some(line(&["convert", &quoted(files)]))
            }
            ("index", [Word::Games, Word::Games, ..])
                if !has_output(rest)
                    && rest.first()?.ends_with(".tgx")
                    && is_there(rest.first()?) =>
            {
                let (index, games) = rest.split_first()?;
                Some(line(&[
                    "index -o",
                    &quoted([index]),
                    "--append",
                    &quoted(games),
                ]))
            }
            ("probe", [Word::Book, Word::Book]) => Some(line(&["diff", &quoted(rest)])),
            ("review", [Word::Book, Word::Games, ..]) | ("check", [Word::Book, ..]) => {
                self.with_option(0, "--book")
            }
            ("register", [Word::Other, Word::Book, ..]) => self.with_option(1, "--book"),
            ("evaluate", [Word::Book, Word::Games, ..]) => self.with_option(1, "--import"),
            ("evaluate", [Word::Book, Word::Other, ..]) => {
                let has_values = rest.get(1).is_some_and(|word| meant::has_values(word));
                self.with_option(1, if has_values { "--import" } else { "--engine" })
            }
            ("repertoire", [Word::Book, Word::Colour, ..] | [Word::Colour, Word::Book, ..]) => {
                self.with_option(self.at(Word::Colour)?, "--colour")
            }
            ("prune" | "grow", [Word::Book, Word::Book]) => {
                let [book, new] = rest else { return None };
                let most = if name == "prune" { "--min-games 5" } else { "" };
                let is_new = is_there(book) && !is_there(new);
                is_new.then(|| line(&[name, "-o", &quoted([new]), most, &quoted([book])]))
            }
            ("mark", [Word::Book, ..]) if rest.iter().any(|word| word == "undo") => {
                Some(line(&["mark", &quoted(rest.first()), "--undo"]))
            }
            ("mark", [Word::Book, ..]) => self.marked_moves(),
            ("info", [Word::Folder]) => {
                let books = books_of(rest.first()?);
                (!books.is_empty()).then(|| line(&["info", &quoted(&books)]))
            }
            ("convert", [Word::Book, ..]) => self.converted(),
            (name, [first, ..]) if TAKE_BOOKS.contains(&name) => self.book_elsewhere(*first),
            // They are exchanged, too.
            (name, [Word::Games, ..]) if BOOK_FIRST.contains(&name) => None,
            _ => unnamed_output(self.args, self.command)
                .or_else(|| other_file(self.args, self.command)),
        }
    }

    /// `add BOOK e4 e5`
    fn added_line(&self) -> Option<String> {
        let (book, rest) = self.rest.split_first()?;
        let kinds = self.words.iter().skip(1);
        let end = kinds.take_while(|word| **word == Word::Moves).count();
        let (moves, after) = rest.split_at(end);
        let moves = quoted([&moves.join(" ")]);
        Some(line(&[
            "add",
            &quoted([book]),
            "--line",
            &moves,
            &quoted(after),
        ]))
    }

    /// `mark BOOK e4 e5 --good`: the first moves that are not the value of an option, and stand
    /// together.
    fn marked_moves(&self) -> Option<String> {
        let is_move = |at: &usize| {
            self.words.get(*at) == Some(&Word::Moves)
                && self.words.get(at - 1) != Some(&Word::Option)
        };
        let start = (1..self.words.len()).find(is_move)?;
        let kinds = self.words.iter().skip(start);
        let count = kinds.take_while(|word| **word == Word::Moves).count();
        let (before, moves) = self.rest.split_at(start);
        let (moves, after) = moves.split_at(count);
        let moves = moves.join(" ");
        let option = match moves.contains(' ') || moves.contains('.') {
            true => "--moves",
            false => "--move",
        };
        Some(line(&[
            "mark",
            &quoted(before),
            option,
            &quoted([&moves]),
            &quoted(after),
        ]))
    }

    /// `convert` with exchanged names, the end alone of the new one, or a folder.
    fn converted(&self) -> Option<String> {
        let (book, new) = (self.rest.first()?, self.rest.last()?);
        if self.rest.len() == 2 && !is_there(book) && is_there(new) {
            return Some(line(&["convert", &quoted([new, book])]));
        }
        let end = new.strip_prefix('.').unwrap_or(new);
        let whole = if BookKind::from_name(end).is_some() || ["pgn", "csv"].contains(&end) {
            let whole = Path::new(book).with_extension(end);
            whole.to_string_lossy().into_owned()
        } else if Path::new(new).is_dir() {
            let stem = Path::new(book).file_stem()?.to_string_lossy().into_owned();
            format!("{new}/{stem}.bin")
        } else {
            return other_file(self.args, self.command);
        };
        (whole != *book).then(|| line(&["convert", &quoted([book, &whole])]))
    }

    /// A command that takes books: the only one stands last, or games or a folder are in its
    /// place.
    fn book_elsewhere(&self, first: Word) -> Option<String> {
        let rest = self.rest;
        let is_one = self
            .words
            .iter()
            .filter(|word| **word == Word::Book)
            .count()
            == 1;
        let last = self.at(Word::Book).filter(|at| {
            *at > 0 && is_free(rest, *at) && rest.get(*at).is_some_and(|word| is_there(word))
        });
        if let (true, Some(at)) = (is_one && first != Word::Folder, last) {
            return self.first(self.name(), at);
        }
        let is_games = |(at, word): &(usize, &String)| {
            let is_games = Word::of(word) == Word::Games && !word.ends_with(".tgx");
            is_book(rest, *at) && is_games && is_there(word)
        };
        if let Some((_, games)) = rest.iter().enumerate().find(is_games) {
            return book_of_games(std::slice::from_ref(games));
        }
        if let Some(folder) = self.at(Word::Folder).filter(|at| is_free(rest, *at)) {
            let book = books_of(rest.get(folder)?).into_iter().next()?;
            return Some(replaced(self.args, folder + 1, &book));
        }
        other_file(self.args, self.command)
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
