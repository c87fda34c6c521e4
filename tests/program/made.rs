//! What is made from the tables of options and of conditions on games in other files: rows of
//! `docs/options.md` and `docs/databases.md`, the class `Policy` and arguments of `build` in
//! `python/tabia/_native.pyi`, the options of `npm/tabia.d.ts`, and the help texts that the
//! page translates.
//!
//! `UPDATE=1 cargo test --test program made` writes it. expect-test and insta keep whole files;
//! what is made here stands between lines that people write, so only `check` would become shorter.

use std::fs;
use std::sync::{Mutex, PoisonError};

use tabia_book::options::OptionKind;
use tabia_book::policy::{Policy, PolicyOption};
use tabia_choice::settings::{OptionId, Options, Preset, Scope, Setting};
use tabia_games::{FilterOption, GameFilter, Takes, ValueKind};

use crate::common::{project, tabia};

/// Compares a file with what is made from it; `UPDATE` writes that.
fn check(file: &str, make: impl FnOnce(&str) -> String) {
    // Several tests write parts of the same file.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = project(file);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let made = make(&text);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let mut lines = text.lines().zip(made.lines());
    let (found, expected) = lines.find(|(line, made)| line != made).unwrap_or_default();
    assert!(
        text == made,
        "{file} is not as the tables say: run UPDATE=1 cargo test --test program made\n\
         it has  {found}\nnot     {expected}"
    );
}

/// Replaces the lines after the first that is `first`, up to an empty one.
fn with_lines(text: &str, first: &str, make: impl FnOnce(&[&str]) -> Vec<String>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| *line == first).unwrap() + 1;
    let rest = &lines[start..];
    let end = start + rest.iter().position(|line| line.is_empty()).unwrap();
    let made = make(&lines[start..end]);
    let after = lines[end..].iter().map(ToString::to_string);
    let before = lines[..start].iter().map(ToString::to_string);
    let all: Vec<String> = before.chain(made).chain(after).collect();
    all.join("\n") + "\n"
}

/// A row of the table of options: the options, and what it says about them.
struct Row {
    ids: Vec<OptionId>,
    meaning: String,
}

impl Row {
    fn read(row: &str) -> Row {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names = cells[1].split(", ").map(|name| name.trim_matches('`'));
        Row {
            // An option that no longer exists loses its row.
            ids: names.filter_map(OptionId::by_name).collect(),
            meaning: cells[3].to_owned(),
        }
    }

    fn text(&self) -> String {
        let list = |cell: fn(&OptionId) -> String| {
            let mut cells: Vec<String> = self.ids.iter().map(cell).collect();
            cells.retain(|cell| !cell.is_empty());
            cells.join(", ")
        };
        let names = list(|id| format!("`{}`", id.spec().name));
        let default = list(|id| match Options::default().get(*id).to_string() {
            none if none == "<empty>" => String::new(),
            word if word.starts_with('<') => format!("`{word}`"),
            value => value,
        });
        let blank = if default.is_empty() { "" } else { " " };
        format!("| {names} |{blank}{default} | {} |", self.meaning)
    }
}

/// The rows of all options. A new one has its help text, until somebody writes more.
fn option_rows(present: &[&str]) -> Vec<String> {
    let mut rows: Vec<Row> = present[1..].iter().map(|row| Row::read(row)).collect();
    rows.retain(|row| !row.ids.is_empty());
    let mut place = 0;
    for id in OptionId::ALL {
        match rows.iter().position(|row| row.ids.contains(id)) {
            Some(known) => place = known + 1,
            None => {
                let (ids, meaning) = (vec![*id], id.spec().help.to_owned());
                rows.insert(place, Row { ids, meaning });
                place += 1;
            }
        }
    }
    let rows = rows.iter().map(Row::text);
    [present[0].to_owned()].into_iter().chain(rows).collect()
}

/// What each preset sets.
fn preset_rows() -> Vec<String> {
    let columns = [Preset::Optimize, Preset::Normal, Preset::Handicap]
        .map(|preset| Options::default().with(&[Setting::Preset(preset)]));
    let row = |id: OptionId| {
        let values = columns
            .each_ref()
            .map(|options| options.get(id).to_string());
        format!("| `{}` | {} |", id.spec().name, values.join(" | "))
    };
    let rows = OptionId::of_presets().into_iter().map(row);
    ["|---|---|---|---|".to_owned()]
        .into_iter()
        .chain(rows)
        .collect()
}

#[test]
fn the_page_of_options_has_them_all() {
    check("docs/options.md", |page| {
        let presets = "| option | `Optimize` | `Normal` | `Handicap` |";
        let page = with_lines(page, presets, |_| preset_rows());
        with_lines(&page, "| option | default | meaning |", option_rows)
    });
    let page = fs::read_to_string(project("docs/options.md")).unwrap();
    let (_, refused) = page
        .split_once("because they count for all books: ")
        .unwrap();
    let (refused, _) = refused.split_once('.').unwrap();
    let mut refused: Vec<&str> = refused
        .split(',')
        .map(|key| key.trim().trim_matches('`'))
        .collect();
    let of_adapter = |id: &&OptionId| matches!(id.spec().scope, Scope::Adapter(_));
    let mut keys: Vec<&str> = OptionId::ALL
        .iter()
        .filter(of_adapter)
        .map(|id| id.spec().key)
        .collect();
    // The key of a book's own file.
    keys.retain(|key| *key != "file");
    keys.sort_unstable();
    refused.sort_unstable();
    assert_eq!(refused, keys, "docs/options.md, refused under [[books]]");
}

/// The type of an option in Python, and its default.
fn in_python(option: &PolicyOption) -> (String, String) {
    match &option.kind {
        OptionKind::Check(true) => ("bool".to_owned(), "True".to_owned()),
        OptionKind::Check(false) => ("bool".to_owned(), "False".to_owned()),
        OptionKind::Spin { value, .. } => ("int".to_owned(), value.to_string()),
        OptionKind::Combo { value, words } => (format!("Literal{words:?}"), format!("{value:?}")),
        OptionKind::Text | OptionKind::Path | OptionKind::Paths => {
            ("str".to_owned(), "...".to_owned())
        }
    }
}

#[test]
fn the_stub_of_the_python_package_has_the_options_of_a_policy() {
    let options = Policy::default().options();
    let each = |make: fn(&str, &str, &str) -> Vec<String>| {
        let options = options.iter().flat_map(move |option| {
            let (kind, default) = in_python(option);
            make(option.key, &kind, &default)
        });
        options.collect::<Vec<String>>()
    };
    let lines = |lines: &[&str]| -> Vec<String> { lines.iter().map(ToString::to_string).collect() };
    let made = [
        lines(&["class _PolicyOptions(TypedDict, total=False):"]),
        each(|key, kind, _| vec![format!("    {key}: {kind}")]),
        lines(&[
            "@final",
            "class Policy:",
            "    def __new__(",
            "        cls,",
            "        *,",
        ]),
        each(|key, kind, default| vec![format!("        {key}: {kind} = {default},")]),
        lines(&["    ) -> Policy: ..."]),
        each(|key, kind, _| {
            vec![
                "    @property".to_owned(),
                format!("    def {key}(self) -> {kind}: ..."),
            ]
        }),
        lines(&[
            "    def __eq__(self, other: object, /) -> bool: ...",
            "    def __ne__(self, other: object, /) -> bool: ...",
            "    def __hash__(self, /) -> int: ...",
        ]),
    ];
    check("python/tabia/_native.pyi", |stub| {
        let first = "# Made from the table of options: UPDATE=1 cargo test --test program made";
        with_lines(stub, first, |_| made.concat())
    });
}

/// The type of an option in TypeScript, and its values.
fn in_typescript(id: OptionId) -> (String, String) {
    match Options::default().kind(id) {
        OptionKind::Check(usual) => ("boolean".to_owned(), format!("usually {usual}")),
        OptionKind::Spin {
            value,
            least,
            greatest,
        } => (
            "number".to_owned(),
            format!("{least} to {greatest}, usually {value}"),
        ),
        OptionKind::Combo { value, words } => {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            (words.join(" | "), format!("usually {value:?}"))
        }
        OptionKind::Text | OptionKind::Path | OptionKind::Paths => {
            unreachable!("{} decides between moves", id.spec().name)
        }
    }
}

/// The name of an option in JavaScript: `minimumGames` of `minimum_games`.
fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (letter, rest) = part.split_at(1);
        name + &letter.to_uppercase() + rest
    })
}

#[test]
fn the_types_of_the_npm_package_have_the_options_of_a_choice() {
    let first = "export interface ChoiceOptions {".to_owned();
    let options = OptionId::deciding().into_iter().flat_map(|id| {
        let (kind, values) = in_typescript(id);
        let spec = id.spec();
        [
            format!("  /** {}: {values}. */", spec.help),
            format!("  {}?: {kind};", camel(spec.key)),
        ]
    });
    let made = std::iter::once(first)
        .chain(options)
        .chain(["}".to_owned()])
        .collect();
    check("npm/tabia.d.ts", |types| {
        let first = "// Made from the table of options: UPDATE=1 cargo test --test program made";
        with_lines(types, first, |_| made)
    });
}

/// A row of the table of conditions on games: the conditions, and the row as it is.
fn named(row: &str) -> Vec<&'static FilterOption> {
    let cell = row.split('|').nth(1).unwrap();
    let words = cell.split('`').filter_map(|code| code.strip_prefix("--"));
    let names = words.filter_map(|words| words.split(' ').next());
    let found = names.flat_map(|name| {
        let mut options = GameFilter::OPTIONS.iter();
        options.find(|option| option.name() == name)
    });
    found.collect()
}

/// The rows of all conditions. A new one has its help text, until somebody writes more.
fn condition_rows(present: &[&str]) -> Vec<String> {
    // The position that a game must reach is not of the table.
    let is_known = |row: &&&str| !named(row).is_empty() || row.contains("`--line ");
    let mut rows: Vec<String> = present[1..]
        .iter()
        .filter(is_known)
        .map(ToString::to_string)
        .collect();
    let mut place = 0;
    for option in GameFilter::OPTIONS {
        let is_of = |row: &String| named(row).iter().any(|one| one.key == option.key);
        if let Some(known) = rows.iter().position(is_of) {
            place = known + 1;
            continue;
        }
        let option_with_value = format!("--{} {}", option.name(), option.value_name);
        let (typed, help) = (option_with_value.trim_end(), option.help);
        rows.insert(place, format!("| `{typed}` | {help} |"));
        place += 1;
    }
    [present[0].to_owned()].into_iter().chain(rows).collect()
}

#[test]
fn the_page_of_databases_has_all_conditions_on_games() {
    check("docs/databases.md", |page| {
        with_lines(page, "| condition | meaning |", condition_rows)
    });
}

#[test]
fn the_stub_of_the_python_package_has_the_conditions_on_games() {
    let arguments = GameFilter::OPTIONS.iter().map(|option| {
        let value = match option.value {
            ValueKind::Number => "int".to_owned(),
            ValueKind::Month => "Union[int, str]".to_owned(),
            ValueKind::Words(words) => format!("Literal{words:?}"),
            ValueKind::Name | ValueKind::Text => "str".to_owned(),
        };
        let (kind, default) = match option.takes {
            Takes::Nothing => ("bool".to_owned(), "False"),
            Takes::One => (format!("Optional[{value}]"), "None"),
            Takes::List | Takes::Each => (format!("Sequence[{value}]"), "..."),
        };
        format!("    {}: {kind} = {default},", option.key)
    });
    check("python/tabia/_native.pyi", |stub| {
        let first =
            "    # Made from the table of conditions: UPDATE=1 cargo test --test program made";
        with_lines(stub, first, |_| arguments.collect())
    });
}

/// Options of `build` that its function in Python does not have.
const NOT_IN_PYTHON: [(&str, &str); 13] = [
    ("silent", "it prints nothing"),
    ("output", "an argument without a name"),
    ("help", "documentation"),
    ("json", "what is returned"),
    ("strict", "the numbers are returned"),
    ("also", "one book at a time"),
    ("records", "no book"),
    ("compression", "of records"),
    ("scale-counts", "for so many games that records are used"),
    ("provenance", "the caller knows it"),
    ("evaluations", "`tabia evaluate` makes them"),
    ("line", "games are chosen by positions in python-chess"),
    ("fen", "the same"),
];

/// The same for `convert`.
const NOT_CONVERTED_IN_PYTHON: [(&str, &str); 6] = [
    ("silent", "it prints nothing"),
    ("output", "an argument without a name"),
    ("help", "documentation"),
    ("set", "`policy`"),
    ("bare", "`comments`"),
    ("memory", "the usual amount is enough for books"),
];

/// The same for `mark`.
const NOT_MARKED_IN_PYTHON: [(&str, &str); 12] = [
    ("silent", "it prints nothing"),
    ("help", "documentation"),
    ("json", "what is returned"),
    ("list", "no changes are shown"),
    ("recommendation", "`mark`"),
    ("move", "the last of `moves`"),
    ("line", "a call for each of its moves"),
    ("each", "the same"),
    ("undo", "`undo_mark`"),
    ("pending", "for a book that was restored by hand"),
    ("wait", "the caller may try again"),
    ("force", "no file is replaced"),
];

#[test]
fn python_builds_with_the_options_of_the_command_line() {
    for (command, missing, own) in [
        // `--colour` stands for `only`, if no player is named.
        ("build", &NOT_IN_PYTHON[..], &["only"][..]),
        ("convert", &NOT_CONVERTED_IN_PYTHON, &["policy"]),
        // The conditions on games have one of that name.
        ("mark", &NOT_MARKED_IN_PYTHON, &["mark", "colour"]),
    ] {
        has_options_of_the_command_line(command, missing, own);
    }
}

fn has_options_of_the_command_line(command: &str, missing: &[(&str, &str)], own: &[&str]) {
    let stub = fs::read_to_string(project("python/tabia/_native.pyi")).unwrap();
    let (_, rest) = stub.split_once(&format!("\ndef {command}(")).unwrap();
    let (arguments, _) = rest.split_once(") ->").unwrap();
    let arguments = arguments
        .lines()
        .filter_map(|line| line.trim().split_once(':'));
    let mut arguments: Vec<&str> = arguments
        .map(|(name, _)| name)
        .filter(|name| !name.starts_with('#'))
        .collect();
    // Those of the function itself, and conditions on games, which are made from their table.
    arguments.retain(|name| !["sources", "source", "target", "book", "progress"].contains(name));
    let options = GameFilter::OPTIONS;
    arguments.retain(|name| !options.iter().any(|option| option.key == *name));
    let help = tabia(&format!("{command} --help")).printed();
    // Before the long name is a letter, or nothing.
    let long = help.lines().filter_map(|line| {
        let (before, rest) = line.split_at_checked(6)?;
        let is_option = before.trim().is_empty() || before.ends_with(", ");
        rest.strip_prefix("--").filter(|_| is_option)
    });
    let names = long.map(|rest| rest.split([' ', '=']).next().unwrap());
    let mut keys: Vec<String> = names
        .filter(|name| !missing.iter().any(|(known, _)| known == name))
        .filter(|name| !options.iter().any(|option| option.name() == *name))
        .map(|name| name.replace('-', "_"))
        .collect();
    keys.extend(own.iter().map(|name| (*name).to_owned()));
    keys.sort_unstable();
    arguments.sort_unstable();
    assert_eq!(arguments, keys, "{command}");
}

/// `tests/page/texts.test.js` lists those without translation.
#[test]
fn the_help_texts_of_the_page_are_listed_for_translation() {
    // The page shows the names without the word that they begin with.
    let texts = OptionId::deciding().into_iter().flat_map(|id| {
        let words: &[&str] = match Options::default().kind(id) {
            OptionKind::Combo { words, .. } => words,
            _ => &[],
        };
        let name = id.spec().name.trim_start_matches("Book ");
        [name]
            .into_iter()
            .chain([id.spec().help])
            .chain(words.iter().copied())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let made = texts.collect::<Vec<_>>().join("\n") + "\n";
    check("crates/explorer/locales/options.txt", |_| made);
}
