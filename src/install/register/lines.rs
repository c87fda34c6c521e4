//! The lines to type for programs whose files cannot be edited.

use super::Registration;
use clap::ValueEnum;
use tabia_io::sanitize::shell_word as shell;

/// A program for which lines are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintedFor {
    /// cutechess-cli, for matches on the command line
    #[value(name = "cutechess-cli")]
    CuteChessCli,
    /// fastchess, for matches on the command line
    #[value(name = "fastchess", alias = "fast-chess")]
    Fastchess,
    /// lichess-bot
    #[value(name = "lichess-bot", alias = "lichessbot")]
    LichessBot,
    /// Arena
    #[value(name = "arena")]
    Arena,
    /// Scid and Scid vs. PC
    #[value(name = "scid", alias = "scidvspc")]
    Scid,
    /// XBoard and WinBoard, by way of Polyglot
    #[value(name = "xboard", alias = "winboard")]
    XBoard,
}

impl PrintedFor {
    /// The name in the program's own spelling.
    #[must_use]
    pub(crate) const fn title(self) -> &'static str {
        match self {
            PrintedFor::CuteChessCli => "cutechess-cli",
            PrintedFor::Fastchess => "fastchess",
            PrintedFor::LichessBot => "lichess-bot",
            PrintedFor::Arena => "Arena",
            PrintedFor::Scid => "Scid",
            PrintedFor::XBoard => "XBoard",
        }
    }

    /// The lines for a program, each with its line end. Words are quoted for a POSIX shell if
    /// a shell reads them.
    #[must_use]
    pub(crate) fn lines(self, registration: &Registration) -> String {
        match self {
            PrintedFor::CuteChessCli => cutechess_cli(registration),
            PrintedFor::Fastchess => fastchess(registration),
            PrintedFor::LichessBot => lichess_bot(registration),
            PrintedFor::Arena => arena(registration),
            PrintedFor::Scid => scid(registration),
            PrintedFor::XBoard => xboard(registration),
        }
    }
}

/// A word for a program that splits text at blanks and supports double quotes.
fn quoted(word: &str) -> String {
    if word.contains([' ', '\t', '"']) {
        format!("\"{}\"", word.replace('"', "\\\""))
    } else {
        word.to_owned()
    }
}

fn joined(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// One `arg=` for each argument; options as `option.NAME=VALUE` (tested with the source
/// of its parser).
fn cutechess_cli(registration: &Registration) -> String {
    let args = registration.args.iter();
    engine(registration, args.map(|arg| format!("arg={arg}")))
}

/// All arguments in one `args=`, split at blanks.
fn fastchess(registration: &Registration) -> String {
    let args = Some(&registration.args).filter(|args| !args.is_empty());
    engine(
        registration,
        args.map(|args| format!("args={}", joined(args))),
    )
}

fn engine(registration: &Registration, args: impl IntoIterator<Item = String>) -> String {
    let mut words = vec![
        format!("name={}", registration.name),
        format!("cmd={}", registration.command),
    ];
    words.extend(args);
    words.push(format!("dir={}", registration.folder));
    words.push("proto=uci".to_owned());
    let books = registration.books.iter();
    words.extend(books.map(|books| format!("option.Book File={books}")));
    let words: Vec<String> = words.iter().map(|word| shell(word)).collect();
    format!("-engine {}\n", words.join(" "))
}

/// The `engine:` part of `config.yml`. A JSON string is also a YAML string. Arguments
/// must have the form `--key=value`.
fn lichess_bot(registration: &Registration) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (dir, name) = split_path(&registration.command);
    let mut lines = vec![
        "engine:".to_owned(),
        format!("  dir: {}", text(dir)),
        format!("  name: {}", text(name)),
        format!("  working_dir: {}", text(&registration.folder)),
        "  protocol: \"uci\"".to_owned(),
        "  ponder: true".to_owned(),
        "  polyglot:".to_owned(),
        "    enabled: false        # else its own book answers first".to_owned(),
    ];
    if !registration.args.is_empty() {
        lines.push("  engine_options:".to_owned());
        for arg in &registration.args {
            let (key, value) = arg.split_once('=').unwrap_or((arg, ""));
            let key = key.trim_start_matches('-');
            lines.push(format!("    {key}: {}", text(value)));
        }
    }
    if let Some(books) = &registration.books {
        lines.push("  uci_options:".to_owned());
        lines.push(format!("    Book File: {}", text(books)));
    }
    lines.join("\n") + "\n"
}

/// Folder and file name of a path of this system.
fn split_path(path: &str) -> (&str, &str) {
    let slash = path.rfind(std::path::is_separator);
    match slash.and_then(|at| Some((path.get(..at)?, path.get(at + 1..)?))) {
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
        None => (".", path),
    }
}

fn arena(registration: &Registration) -> String {
    let mut text = format!(
        "Engines -> Manage -> Details -> New:\n  \
         Command line:  {}\n  \
         {}\
         Name:          {}\n  \
         Type:          UCI\n\
         Details -> Books: neither a main book nor an engine book of Arena's\n",
        registration.command,
        parameters("Parameters:    ", &registration.args),
        registration.name,
    );
    if let Some(books) = &registration.books {
        text.push_str(&format!("Engines -> Configure: Book File = {books}\n"));
    }
    text
}

fn scid(registration: &Registration) -> String {
    format!(
        "Tools -> Analysis Engine... -> New...:\n  \
         Name:        {}\n  \
         Command:     {}\n  \
         {}\
         Directory:   {}\n  \
         UCI:         on\n\
         Play -> Serious game plays against it; untick \"Use book\" there, which is Scid's own\n",
        registration.name,
        registration.command,
        parameters("Parameters:  ", &registration.args_with_books()),
        registration.folder,
    )
}

/// The row with the parameters; empty if there are none.
fn parameters(title: &str, args: &[String]) -> String {
    match args {
        [] => String::new(),
        args => format!("{title}{}\n  ", joined(args)),
    }
}

/// XBoard passes the command to Polyglot between double quotes, and Polyglot parses it
/// like a shell. So words with blanks get single quotes.
fn xboard(registration: &Registration) -> String {
    let mut words = vec![shell(&registration.command)];
    words.extend(registration.args_with_books().iter().map(|arg| shell(arg)));
    let command = words.join(" ");
    let command = match command.contains(['"', '$', '`', '\\', '!']) {
        true => shell(&command),
        false => format!("\"{command}\""),
    };
    format!(
        "xboard -fUCI -fcp {command} -fd {}\n",
        shell(&registration.folder)
    )
}
