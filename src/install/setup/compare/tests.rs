use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::*;

fn without(before: Option<&str>, after: &str, now: &str) -> Result<Option<String>, usize> {
    match by_line(before, after, now) {
        Comparison::Separate { without, .. } => Ok(without),
        Comparison::Entangled { line, .. } => Err(line),
    }
}

const WRITTEN: &str = "\
# Made by setup.

default = [\"a\", \"builtin\"]

[engine.a]
command = \"/a\"

# Books.
[[books]]
file = \"one\"
[[books]]
file = \"two\"
";

/// What stays of [`WRITTEN`] after changes: a text, or the line that holds all back.
#[test]
fn lines_of_the_user_stay() {
    let book = "[[books]]\nfile = \"mine\"\n";
    for (old, new, expected) in [
        ("", "", Ok("")),
        (
            "# Books.\n",
            "# Books.\n[[books]]\nfile = \"mine\"\n",
            Ok(book),
        ),
        (
            "[[books]]\nfile = \"two\"\n",
            "[[books]]\nfile = \"mine\"\n[[books]]\nfile = \"two\"\n",
            Ok(book),
        ),
        (
            "file = \"two\"\n",
            "file = \"two\"\n[[books]]\nfile = \"mine\"\n",
            Ok(book),
        ),
        (
            "file = \"two\"\n",
            "file = \"two\"\n\n[[books]]\nfile = \"mine\"",
            Ok("\n[[books]]\nfile = \"mine\""),
        ),
        (
            "\n[engine.a]",
            "name = \"x\"\n\n[engine.a]",
            Ok("name = \"x\"\n"),
        ),
        ("command", "# mine\ncommand", Err(6)),
        ("\n# Books.", "# mine\n\n# Books.", Ok("# mine\n")),
        // Deleted by both.
        ("[[books]]\nfile = \"one\"\n", "", Ok("")),
        ("# Made by setup.\n\n", "\n", Ok("")),
        // Changed lines, and lines in setup's tables and below them.
        ("[\"a\", ", "[", Err(3)),
        ("\"two\"", "\"three\"", Err(12)),
        ("file = \"one\"\n", "file = \"one\"\nvariety = 0\n", Err(11)),
        ("\n# Books.", "args = []\n\n# Books.", Err(7)),
        (
            "\n# Books.",
            "[engine.a.options]\nHash = 1\n\n# Books.",
            Err(7),
        ),
        (
            "\n# Books.",
            "[engine.ab]\ncommand = \"b\"\n\n# Books.",
            Ok("[engine.ab]\ncommand = \"b\"\n"),
        ),
    ] {
        let now = WRITTEN.replacen(old, new, 1);
        let expected = expected.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        assert_eq!(without(None, WRITTEN, &now), expected, "{now}");
        // An editor may change all line ends.
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let expected = expected.map(|text| text.as_deref().map(crlf));
        assert_eq!(without(None, WRITTEN, &crlf(&now)), expected, "{now}");
        let cut = now.trim_end();
        assert_eq!(
            without(None, WRITTEN, cut).is_ok(),
            expected.is_ok(),
            "{cut}"
        );
    }
    // Of a file with nothing of setup's all stays.
    let own = "default = \"b\"\n";
    assert_eq!(without(None, WRITTEN, own), Ok(Some(own.to_owned())));
}

#[test]
fn each_line_has_its_origin() {
    let now = WRITTEN
        .replace("file = \"one\"\n", "")
        .replace("two", "three")
        + "# end";
    let text: String = by_line(Some("# Books.\n"), WRITTEN, &now)
        .lines()
        .into_iter()
        .map(|(origin, line)| format!("{origin:?} {line}"))
        .skip(6)
        .collect();
    assert_eq!(
        text,
        "Other \nOther # Books.\nSetup [[books]]\nSetupRemoved file = \"one\"\nSetup [[books]]\n\
         SetupRemoved file = \"two\"\nSince file = \"three\"\nSince # end"
    );
}

#[test]
fn lines_that_setup_replaced_come_back() {
    let (before, after) = ("a = 1\nb = 1\nc = 1", "a = 1\nb = 2\nc = 1\nd = 2\n");
    let undone = |now| without(Some(before), after, now).map(Option::unwrap);
    assert_eq!(undone(after), Ok(before.to_owned()));
    assert_eq!(
        undone("a = 3\nb = 2\nc = 1\nd = 2\n"),
        Ok("a = 3\nb = 1\nc = 1".to_owned())
    );
    assert_eq!(
        undone("a = 1\nb = 2\nc = 1\nd = 2\ne = 3\n"),
        Ok("a = 1\nb = 1\nc = 1\ne = 3\n".to_owned())
    );
    assert_eq!(
        undone("x = 1\r\nb = 2\r\nc = 1\r\nd = 2\r\n"),
        Ok("x = 1\r\nb = 1\nc = 1\r\n".to_owned())
    );
    for now in ["a = 1\nb = 3\nc = 1\nd = 2\n", "a = 1\nc = 1\nd = 2\n"] {
        assert_eq!(undone(now), Err(2), "{now}");
    }
    // Setup deleted a line where the user adds one.
    let result = without(Some("a\nb\nc\n"), "a\nc\n", "a\nx\nc\n");
    assert_eq!(result, Err(2));
    assert_eq!(
        without(Some("a\nb\nc\n"), "a\nc\n", "c\n"),
        Ok(Some("b\nc\n".to_owned()))
    );
}

/// A table or a group of keys; those of the same number are alike but for a name.
fn block(kind: u8, number: usize) -> String {
    match kind {
        0 => format!("[[books]]\nfile = \"{number}\"\n"),
        1 => format!("\n[engine.e{number}]\ncommand = \"/x\"\n"),
        2 => format!("# Note {number}.\n\n[x{number}]\ndepth = 12\n# End {number}.\n"),
        _ => format!("\n[[books]]\nfile = [\"{number}\"]\nvariety = 0\n\n"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrote {
    User,
    Setup,
    UserSince,
    Deleted,
}

/// Blocks of all kinds in a random order, each with who wrote it.
fn blocks() -> impl Strategy<Value = Vec<(Wrote, String)>> {
    let wrote = select(vec![
        Wrote::User,
        Wrote::Setup,
        Wrote::UserSince,
        Wrote::Deleted,
    ]);
    vec((wrote, 0..4_u8), 0..12).prop_map(|blocks| {
        let numbered = blocks.into_iter().enumerate();
        numbered
            .map(|(number, (wrote, kind))| (wrote, block(kind, number)))
            .collect()
    })
}

fn text_of(blocks: &[(Wrote, String)], wrote: &[Wrote], crlf: bool, cut: bool) -> String {
    let chosen = blocks.iter().filter(|(who, _)| wrote.contains(who));
    let text: String = chosen.map(|(_, text)| text.as_str()).collect();
    let text = match cut {
        true => text.trim_end_matches('\n').to_owned(),
        false => text,
    };
    match crlf {
        true => text.replace('\n', "\r\n"),
        false => text,
    }
}

proptest! {
    /// What the user adds and deletes is the same with and without setup's tables.
    #[test]
    fn taking_setup_back_is_as_if_it_had_not_run(blocks in blocks(), crlf: bool) {
        use Wrote::{Deleted, Setup, User, UserSince};
        let text = |wrote: &[Wrote]| text_of(&blocks, wrote, crlf, false);
        let (before, after) = (text(&[User, Deleted]), text(&[User, Setup, Deleted]));
        let (now, expected) = (text(&[User, Setup, UserSince]), text(&[User, UserSince]));
        let found = without(Some(&before), &after, &now).map(Option::unwrap);
        // Which blank lines are setup's cannot be told.
        let lines = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        prop_assert_eq!(found.map(|text| lines(&text)), Ok(lines(&expected)));
    }

    #[test]
    fn without_changes_the_text_is_the_old_one(blocks in blocks(), crlf: bool, cuts: [bool; 2]) {
        use Wrote::{Setup, User, UserSince};
        let before = text_of(&blocks, &[User, UserSince], crlf, cuts[0]);
        let after = text_of(&blocks, &[User, Setup], false, cuts[1]);
        prop_assert_eq!(without(Some(&before), &after, &after), Ok(Some(before)));
    }

    /// Whatever a user does, either all that was added is in the result, in order, or the
    /// line that holds it back is one that was changed.
    #[test]
    fn no_line_of_the_user_is_lost(
        blocks in blocks(),
        edits in vec((any::<Index>(), 0..3_u8), 0..6),
        cut: bool,
    ) {
        use Wrote::{Setup, User};
        let before = text_of(&blocks, &[User], false, cut);
        let after = text_of(&blocks, &[User, Setup], false, false);
        let mut lines: Vec<String> = after.lines().map(str::to_owned).collect();
        for (number, (place, edit)) in edits.into_iter().enumerate() {
            let at = place.index(lines.len() + 1);
            match edit {
                0 => lines.insert(at, format!("mine = {number}")),
                1 if at < lines.len() => lines[at] += "# mine",
                _ if at < lines.len() => drop(lines.remove(at)),
                _ => {}
            }
        }
        let now = lines.join("\n");
        match by_line(Some(&before), &after, &now) {
            Comparison::Separate { without, lines: marked } => {
                let text = without.unwrap();
                let mut left = text.lines();
                for own in lines.iter().filter(|line| line.contains("mine")) {
                    prop_assert!(left.any(|line| line == own), "{own:?} is not in\n{text}");
                }
                let there = marked.iter().filter(|(origin, _)| *origin != Origin::SetupRemoved);
                prop_assert_eq!(there.map(|(_, line)| *line).collect::<String>(), now);
            }
            Comparison::Entangled { line, .. } => {
                prop_assert!((1..=lines.len().max(1)).contains(&line), "{line} of\n{now}");
            }
        }
    }
}

const COMMAND: &str = "/opt/tabia/tabia";
const PROGRAMS: [EditedFor; 6] = [
    EditedFor::CuteChess,
    EditedFor::Banksia,
    EditedFor::PyChess,
    EditedFor::Nibbler,
    EditedFor::EnCroissant,
    EditedFor::GnomeChess,
];

fn registration(args: &[&str]) -> Registration {
    Registration {
        name: "Tabia".to_owned(),
        command: COMMAND.to_owned(),
        folder: "/opt/tabia".to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        books: (!args.is_empty()).then(|| "/books/main.ctg".to_owned()),
        ..Registration::default()
    }
}

/// A list with these engines.
fn list(program: EditedFor, names: &[&str]) -> String {
    let engine = |name: &&str| match program {
        EditedFor::Banksia => json!({"app": {"name": name, "command": name}}),
        EditedFor::EnCroissant => json!({"type": "local", "name": name, "path": name}),
        _ => json!({"name": name, "command": name}),
    };
    match program {
        EditedFor::GnomeChess => {
            let group = |name: &&str| format!("[{name}]\nprotocol=uci\nbinary={name}\n");
            names.iter().map(group).collect::<Vec<_>>().join("\n")
        }
        EditedFor::Nibbler => {
            let engines = names
                .iter()
                .map(|&name| (name.to_owned(), json!({"args": []})));
            Value::Object(engines.collect()).to_string()
        }
        _ => Value::Array(names.iter().map(engine).collect()).to_string(),
    }
}

/// The text as a chess program writes it again: with other white space and in another
/// order, with one more engine.
fn rewritten(program: EditedFor, text: &str) -> String {
    if program == EditedFor::GnomeChess {
        return format!("# mine\n{}\n{text}", list(program, &["new"]));
    }
    let more: Value = serde_json::from_str(&list(program, &["new"])).unwrap();
    let value = match (serde_json::from_str(text).unwrap(), more) {
        (Value::Array(engines), Value::Array(more)) => {
            Value::Array(more.into_iter().chain(engines.into_iter().rev()).collect())
        }
        (Value::Object(engines), Value::Object(more)) => {
            Value::Object(more.into_iter().chain(engines).collect())
        }
        other => panic!("{other:?}"),
    };
    serde_json::to_string_pretty(&value)
        .unwrap()
        .replace("  ", "\t")
}

fn written(program: EditedFor, before: Option<&str>, args: &[&str]) -> WrittenFile {
    let text = before.unwrap_or_default();
    WrittenFile {
        path: "/x".to_owned(),
        program: Some(ProgramFile::Engines(program)),
        before: before.map(str::to_owned),
        after: program.edit(text, &registration(args)).unwrap(),
    }
}

fn undone(file: &WrittenFile, now: &str) -> Option<String> {
    match file.compare(COMMAND, now).unwrap() {
        Comparison::Separate { without, .. } => without,
        Comparison::Entangled { line, .. } => panic!("{line}"),
    }
}

#[test]
fn of_a_list_that_its_program_has_rewritten_only_tabia_is_taken() {
    for program in PROGRAMS {
        for before in [None, Some(list(program, &["a", "b"]))] {
            let before = before.as_deref();
            let file = written(program, before, &[]);
            assert_eq!(undone(&file, &file.after).as_deref(), before, "{program:?}");
            let now = rewritten(program, &file.after);
            let left = undone(&file, &now).unwrap();
            assert!(!left.to_lowercase().contains("tabia"), "{left}");
            let expected = rewritten(
                program,
                before.unwrap_or(&program.remove(&file.after, &registration(&[])).unwrap()),
            );
            match program {
                EditedFor::GnomeChess => assert_eq!(left.trim_end(), expected.trim_end()),
                _ => {
                    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                    assert_eq!(value(&left), value(&expected), "{program:?}");
                }
            }
            // Exactly the lines that stay are not setup's.
            let lines = file.compare(COMMAND, &now).unwrap().lines();
            let setups = lines.iter().filter(|(origin, _)| *origin == Origin::Setup);
            let setups: String = setups.map(|(_, line)| *line).collect();
            assert!(setups.contains(COMMAND), "{program:?}: {setups}");
            assert!(!setups.contains("new"), "{program:?}: {setups}");
        }
    }
}

/// `register` has entered Tabia with arguments, and setup has taken them away.
#[test]
fn an_entry_that_was_there_before_setup_comes_back() {
    for program in PROGRAMS {
        let before = program
            .edit(&list(program, &["a"]), &registration(&["--engine=mine"]))
            .unwrap();
        let file = written(program, Some(&before), &[]);
        if file.after == before {
            assert!(!program.takes_arguments(), "{program:?}");
            continue;
        }
        assert_eq!(undone(&file, &file.after).unwrap(), before, "{program:?}");
        let left = undone(&file, &rewritten(program, &file.after)).unwrap();
        assert!(left.contains("--engine=mine"), "{program:?}: {left}");
        assert!(left.contains("new"), "{program:?}: {left}");
    }
    // PyChess has added fields to the entry, and the user has changed one.
    let before = EditedFor::PyChess
        .edit("[]", &registration(&["--x"]))
        .unwrap();
    let file = written(EditedFor::PyChess, Some(&before), &[]);
    let now = file
        .after
        .replace("\"level\": 20", "\"level\": 3,\n \"md5\": \"0\"");
    let left: Value = serde_json::from_str(&undone(&file, &now).unwrap()).unwrap();
    assert_eq!(left[0]["args"], json!(["--x", "--book=/books/main.ctg"]));
    assert_eq!(
        (&left[0]["level"], &left[0]["md5"]),
        (&json!(3), &json!("0"))
    );
    // The user has deleted it in the program.
    assert_eq!(undone(&file, "[]").unwrap(), "[]");
    assert!(file.compare(COMMAND, "[").is_err());
}
