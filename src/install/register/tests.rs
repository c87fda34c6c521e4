use serde_json::json;

use super::*;

fn file(default: &str) -> UciOptionConfig {
    UciOptionConfig::String {
        name: "Book File".to_owned(),
        default: Some(default.to_owned()),
    }
}

fn variety(default: i64) -> UciOptionConfig {
    UciOptionConfig::Spin {
        name: "Book Variety".to_owned(),
        default: Some(default),
        min: Some(0),
        max: Some(100),
    }
}

fn sample() -> Registration {
    Registration {
        name: "Tabia".to_owned(),
        command: "/opt/tabia/tabia".to_owned(),
        folder: "/opt/tabia".to_owned(),
        args: vec!["--engine=/opt/stock fish/sf".to_owned()],
        books: Some("/books/main.ctg".to_owned()),
        earlier_books: None,
        options: vec![
            file("<starter>"),
            variety(50),
            UciOptionConfig::Combo {
                name: "Book Info".to_owned(),
                default: Some("full".to_owned()),
                var: vec!["none".to_owned(), "full".to_owned()],
            },
        ],
    }
}

#[test]
fn cute_chess_restores_defaults_without_losing_the_book() {
    let edited = EditedFor::CuteChess.edit("", &sample()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&edited).unwrap();
    let options = json[0]["options"].as_array().unwrap();
    assert_eq!(options.len(), 3);
    assert_eq!(options[0]["value"], "/books/main.ctg");
    for option in options {
        assert_eq!(option["value"], option["default"], "{option}");
    }
    assert_eq!(options[1]["max"], 100);
    assert_eq!(options[2]["choices"][1], "full");
}

const ALL: [EditedFor; 4] = [
    EditedFor::CuteChess,
    EditedFor::Banksia,
    EditedFor::PyChess,
    EditedFor::Nibbler,
];

#[test]
fn registering_twice_changes_nothing_more() {
    for program in ALL {
        for start in ["", " \n", "[]", "{}"] {
            if start == "{}" && program != EditedFor::Nibbler
                || start == "[]" && program == EditedFor::Nibbler
            {
                continue;
            }
            let once = program.edit(start, &sample()).unwrap();
            serde_json::from_str::<serde_json::Value>(&once).unwrap();
            assert_eq!(program.edit(&once, &sample()).unwrap(), once);
        }
    }
}

#[test]
fn entries_of_other_engines_stay_byte_for_byte() {
    let text = "[\n {\"b\" : 1.50e1,  \"name\":\"Crafty\",\t\"command\":\"/x\"}\n ,\n\n \
                { \"command\": \"/opt/tabia/tabia\", \"name\" : \"Tabia\", \"note\" : \"m\\u00fcde\" } ]  \n";
    for program in [EditedFor::CuteChess, EditedFor::PyChess] {
        let edited = program.edit(text, &sample()).unwrap();
        for part in [
            "{\"b\" : 1.50e1,  \"name\":\"Crafty\",\t\"command\":\"/x\"}\n ,\n\n {",
            "\"note\" : \"m\\u00fcde\"",
            "]  \n",
        ] {
            assert!(edited.contains(part), "{program:?}: {part}\n{edited}");
        }
        assert_eq!(edited.matches("\"Tabia\"").count(), 1, "{edited}");
    }
}

#[test]
fn a_name_of_another_engine_is_refused() {
    let text = r#"[{"name":"Tabia","command":"/usr/bin/crafty","protocol":"xboard"}]"#;
    let error = EditedFor::PyChess.edit(text, &sample()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the name \"Tabia\" belongs to another engine (/usr/bin/crafty): choose one with --name"
    );
}

#[test]
fn invalid_json_and_unexpected_values_are_refused() {
    for (program, text, message) in [
        (EditedFor::PyChess, "[\n {\"name\": }]", "line 2, column 11"),
        (EditedFor::PyChess, "[1,]", "line 1, column"),
        (EditedFor::PyChess, "[] // note", "line 1, column 4"),
        (EditedFor::CuteChess, "{}", "the whole is not an array"),
        (EditedFor::Nibbler, "[]", "the whole is not an object"),
        (EditedFor::Banksia, "[{}]", "\"app\" is not an object"),
        (EditedFor::CuteChess, "[3]", "an element is not an object"),
        (
            EditedFor::CuteChess,
            r#"[{"name":"Tabia","options":7}]"#,
            "\"options\" is not an array",
        ),
    ] {
        let error = program.edit(text, &sample()).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
        assert!(error.contains("nothing was changed"), "{error}");
    }
}

#[test]
fn pychess_checks_the_engine_again_only_after_a_change() {
    let known = EditedFor::PyChess.edit("", &sample()).unwrap();
    let known = known.replace("\"recheck\": true", "\"recheck\": false");
    assert_eq!(EditedFor::PyChess.edit(&known, &sample()).unwrap(), known);
    let other = Registration {
        args: vec![],
        ..sample()
    };
    let edited = EditedFor::PyChess.edit(&known, &other).unwrap();
    assert!(edited.contains("\"recheck\": true"), "{edited}");
    assert!(!edited.contains("stock fish"), "{edited}");
}

#[test]
fn options_that_the_user_has_set_stay() {
    let text = r#"[{"name":"Tabia","command":"/old/tabia","options":[
        {"name":"Hash","type":"spin","value":64},
        {"name":"book file","type":"text","value":"/old.ctg","default":""}]}]"#;
    let edited = EditedFor::CuteChess.edit(text, &sample()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&edited).unwrap();
    assert_eq!(json[0]["options"][0]["value"], 64);
    assert_eq!(json[0]["options"][1]["value"], "/books/main.ctg");
    assert_eq!(json[0]["options"][1]["default"], "/books/main.ctg");
    assert_eq!(json[0]["options"].as_array().unwrap().len(), 4);
    assert_eq!(json[0]["command"], "/opt/tabia/tabia");
    let silent = Registration {
        books: None,
        ..sample()
    };
    assert_eq!(EditedFor::CuteChess.edit(&edited, &silent).unwrap(), edited);
}

#[test]
fn nibbler_has_the_program_as_key() {
    let text = "{\n\t\"/usr/bin/lc0\": {\n\t\t\"args\": []\n\t}\n}";
    let edited = EditedFor::Nibbler.edit(text, &sample()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&edited).unwrap();
    let ours = &json["/opt/tabia/tabia"];
    assert_eq!(ours["args"][0], "--engine=/opt/stock fish/sf");
    assert_eq!(ours["options"]["Book File"], "/books/main.ctg");
    assert!(edited.starts_with("{\n\t\"/usr/bin/lc0\": {\n\t\t\"args\": []\n\t},\n\t\"/opt"));
    // Else Nibbler would ask for three lines, and no book would play.
    assert_eq!(ours["options"]["MultiPV"], 1);
    let bare = r#"{"/opt/tabia/tabia": {"args": []}}"#;
    assert_eq!(ours["search_nodes_special"], 10_000_000);
    for (before, lines) in [
        (bare, 1),
        // As Nibbler writes it for an engine that is new to it.
        (r#"{"/opt/tabia/tabia": {"options": {"MultiPV": 3}}}"#, 1),
        (r#"{"/opt/tabia/tabia": {"options": {"MultiPV": 4}}}"#, 4),
    ] {
        let edited = EditedFor::Nibbler.edit(before, &sample()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&edited).unwrap();
        assert_eq!(json["/opt/tabia/tabia"]["options"]["MultiPV"], lines);
    }
}

#[test]
fn lines_are_quoted_for_the_shell_or_program_that_reads_them() {
    let text = |program: PrintedFor| program.lines(&sample());
    assert_eq!(
        text(PrintedFor::CuteChessCli),
        "-engine name=Tabia cmd=/opt/tabia/tabia 'arg=--engine=/opt/stock fish/sf' \
         dir=/opt/tabia proto=uci 'option.Book File=/books/main.ctg'\n"
    );
    assert_eq!(
        text(PrintedFor::Fastchess),
        "-engine name=Tabia cmd=/opt/tabia/tabia 'args=\"--engine=/opt/stock fish/sf\"' \
         dir=/opt/tabia proto=uci 'option.Book File=/books/main.ctg'\n"
    );
    assert_eq!(
        text(PrintedFor::XBoard),
        "xboard -fUCI -fcp \"/opt/tabia/tabia '--engine=/opt/stock fish/sf' \
         --book=/books/main.ctg\" -fd /opt/tabia\n"
    );
    let bot = text(PrintedFor::LichessBot);
    for line in [
        "  dir: \"/opt/tabia\"",
        "  name: \"tabia\"",
        "    engine: \"/opt/stock fish/sf\"",
        "    Book File: \"/books/main.ctg\"",
    ] {
        assert!(bot.lines().any(|shown| shown == line), "{line}\n{bot}");
    }
    assert!(text(PrintedFor::Arena).contains("\"--engine=/opt/stock fish/sf\""));
    assert!(text(PrintedFor::Scid).contains("--book=/books/main.ctg\n"));
}

#[test]
fn remove_restores_the_text_before_edit() {
    let programs = [
        (
            EditedFor::CuteChess,
            "[\n    {\n        \"command\": \"/x/crafty\",\n        \"name\": \"Crafty\",\n        \"protocol\": \"uci\"\n    }\n]\n",
        ),
        (
            EditedFor::Banksia,
            "[\n  {\n    \"app\" : {\n      \"name\": \"Crafty\",\n      \"protocol\": \"uci\",\n      \"command\": \"/x/crafty\"\n    }\n  }\n]\n",
        ),
        (
            EditedFor::PyChess,
            "[\n {\n  \"args\": [],\n  \"command\": \"/x/crafty\",\n  \"name\": \"Crafty\",\n  \"protocol\": \"uci\"\n }\n]",
        ),
        (
            EditedFor::Nibbler,
            "{\n\t\"/x/crafty\": {\n\t\t\"args\": []\n\t}\n}",
        ),
    ];
    for (program, before) in programs {
        assert_eq!(program.engines(before), ["/x/crafty"], "{program:?}");
        let with = program.edit(before, &sample()).unwrap();
        assert_ne!(with, before);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let without = program.remove(&with, &sample()).unwrap();
        assert_eq!(value(&without), value(before), "{program:?}");
        // A file without Tabia is not changed at all.
        assert_eq!(program.remove(before, &sample()).unwrap(), before);
    }
    let other = r#"[{"name": "Tabia", "command": "/x/crafty", "protocol": "uci"}]"#;
    let left = EditedFor::PyChess.remove(other, &sample()).unwrap();
    assert_eq!(left, other);
    assert!(EditedFor::PyChess.remove("[", &sample()).is_err());
    // An engine with arguments is not bare; a text is not a list.
    for text in [
        r#"[{"command": "/x/a", "protocol": "uci", "args": ["b"]}]"#,
        "",
        "[",
        "7",
    ] {
        assert_eq!(EditedFor::PyChess.engines(text), [""; 0]);
    }
}

const GNOME: &str = "# GNOME Chess will detect any engines listed here\n\n[Crafty]\nprotocol=cecp\n\
    binary=crafty\noption-easy-0=easy\n\n[Boo's Chess]\nprotocol = uci\nbinary = /x/boo\n";

#[test]
fn the_group_in_the_file_of_gnome_chess_is_added_and_removed() {
    let program = EditedFor::GnomeChess;
    let bare = Registration {
        args: Vec::new(),
        books: None,
        ..sample()
    };
    let edited = program.edit(GNOME, &bare).unwrap();
    let strengths = "option-easy-0=Skill Level 0\noption-normal-0=Skill Level 5\n\
                     option-hard-0=Skill Level 20\nuci-go-option-easy-0=depth 1\n\
                     uci-go-option-normal-0=depth 2\n";
    let ours =
        format!("\n[Tabia]\n# Made by Tabia.\nprotocol=uci\nbinary=/opt/tabia/tabia\n{strengths}");
    assert_eq!(edited, format!("{GNOME}{ours}"));
    assert_eq!(program.edit(&edited, &bare).unwrap(), edited);
    assert_eq!(program.engines(&edited), ["/x/boo", "/opt/tabia/tabia"]);
    assert_eq!(program.ours(&edited), ["Tabia"]);
    assert_eq!(program.remove(&edited, &bare).unwrap(), GNOME);
    assert_eq!(program.remove(GNOME, &bare).unwrap(), GNOME);
    // Between other engines, with a key of the user, and arguments that change.
    let text =
        format!("[Tabia]\n# mine\nbinary=/old/tabia\ndelay-before-move=0\narg-hard-1=x\n\n{GNOME}");
    let edited = program.edit(&text, &sample()).unwrap();
    let args = ["easy", "normal", "hard"].map(|level| {
        format!("arg-{level}-0=--engine=/opt/stock fish/sf\narg-{level}-1=--book=/books/main.ctg\n")
    });
    let [easy, normal, _] = &args;
    let expected = format!(
        "[Tabia]\nprotocol=uci\n{easy}{normal}arg-hard-0=--engine=/opt/stock fish/sf\n{strengths}# mine\n\
         binary=/opt/tabia/tabia\ndelay-before-move=0\narg-hard-1=--book=/books/main.ctg\n\n{GNOME}"
    );
    assert_eq!(edited, expected);
    assert_eq!(program.edit(&edited, &sample()).unwrap(), edited);
    assert_eq!(program.remove(&edited, &sample()).unwrap(), GNOME);
    let fewer = program.edit(&edited, &bare).unwrap();
    assert!(!fewer.contains("arg-"), "{fewer}");
    // Strengths that the user has chosen stay.
    let chosen = "[Tabia]\nprotocol=uci\nbinary=/opt/tabia/tabia\noption-easy-0=Skill Level 3\n";
    assert_eq!(program.edit(chosen, &bare).unwrap(), chosen);
    // An empty file.
    assert_eq!(program.edit("", &bare).unwrap(), ours[1..]);
}

#[test]
fn an_invalid_key_file_or_value_is_refused() {
    let refused = |text: &str, registration: &Registration| {
        let error = EditedFor::GnomeChess.edit(text, registration);
        error.unwrap_err().to_string()
    };
    for (text, message) in [
        ("binary=x\n", "line 1, column 1: a key before"),
        ("[A]\n\nrubbish\n", "line 3, column 1: neither"),
        ("[A\n", "line 1, column 1: the name of a group"),
    ] {
        assert!(refused(text, &sample()).contains(message), "{text}");
        assert!(EditedFor::GnomeChess.remove(text, &sample()).is_err());
        assert_eq!(EditedFor::GnomeChess.engines(text), [""; 0]);
    }
    for name in ["a]b", "a\nb", " a"] {
        let named = Registration {
            name: name.to_owned(),
            ..sample()
        };
        assert!(
            refused(GNOME, &named).contains("cannot be stored in"),
            "{name}"
        );
    }
    let taken = Registration {
        name: "Crafty".to_owned(),
        ..sample()
    };
    assert!(refused(GNOME, &taken).contains("belongs to another engine (crafty)"));
}

/// Unchanged values follow the defaults: otherwise a program would set the old ones at
/// every start.
#[test]
fn changed_defaults_are_updated_in_the_program_file() {
    let before = Registration {
        books: None,
        ..sample()
    };
    let mut after = before.clone();
    after.options[0] = file("<configured>");
    let edited = EditedFor::CuteChess.edit("", &before).unwrap();
    let edited = edited.replace("\"value\": 50", "\"value\": 70");
    after.options[1] = variety(60);
    let edited = EditedFor::CuteChess.edit(&edited, &after).unwrap();
    let json: serde_json::Value = serde_json::from_str(&edited).unwrap();
    let options = &json[0]["options"];
    assert_eq!(options[0]["value"], "<configured>");
    assert_eq!(options[0]["default"], "<configured>");
    assert_eq!(options[1]["value"], 70);
    assert_eq!(EditedFor::CuteChess.edit(&edited, &after).unwrap(), edited);
}

#[test]
fn a_row_without_a_value_is_not_printed() {
    for program in [PrintedFor::Arena, PrintedFor::Scid] {
        let with = program.lines(&sample());
        assert!(with.contains("  Parameters: "), "{with}");
        let bare = Registration {
            args: Vec::new(),
            books: None,
            ..sample()
        };
        let without = program.lines(&bare);
        assert!(!without.contains("Parameters"), "{without}");
        assert_eq!(
            without.lines().count() + 1,
            with.lines()
                .filter(|line| !line.contains("Book File"))
                .count()
        );
    }
}

#[test]
fn the_entry_of_en_croissant_is_added_changed_and_removed() {
    let program = EditedFor::EnCroissant;
    let registration = Registration {
        args: Vec::new(),
        ..sample()
    };
    let others =
        r#"[{"type": "local", "name": "A", "path": "/x/a"}, {"type": "lichess", "name": "L"}]"#;
    let edited = program.edit(others, &registration).unwrap();
    let value: serde_json::Value = serde_json::from_str(&edited).unwrap();
    let ours = &value[2];
    assert_eq!(
        (&ours["type"], &ours["name"]),
        (&json!("local"), &json!("Tabia"))
    );
    assert_eq!(ours["path"], registration.command);
    assert_eq!(
        ours["settings"],
        json!([{"name": "Book File", "value": "/books/main.ctg"}])
    );
    let id = ours["id"].as_str().unwrap();
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
    assert_eq!(id.as_bytes()[14], b'4', "{id}");
    assert_eq!(program.edit(&edited, &registration).unwrap(), edited);
    assert_eq!(program.engines(&edited), ["/x/a", &registration.command]);
    assert_eq!(program.ours(&edited), ["Tabia"]);
    // What the user has set stays.
    let set = edited.replace("\"loaded\": true", "\"loaded\": false");
    assert_ne!(set, edited);
    let other = Registration {
        books: Some("/books/new.ctg".to_owned()),
        ..registration.clone()
    };
    let changed = program.edit(&set, &other).unwrap();
    assert!(changed.contains("new.ctg") && changed.contains("\"loaded\": false"));
    let without: serde_json::Value =
        serde_json::from_str(&program.remove(&changed, &other).unwrap()).unwrap();
    assert_eq!(
        without,
        serde_json::from_str::<serde_json::Value>(others).unwrap()
    );
    // Another engine of this name.
    let taken = r#"[{"type": "local", "name": "Tabia", "path": "/x/other"}]"#;
    assert!(program.edit(taken, &registration).is_err());
}

/// En Croissant writes `null` for an engine whose settings were never opened.
#[test]
fn an_entry_without_a_list_of_settings_is_updated() {
    let registration = Registration {
        books: None,
        ..sample()
    };
    let new = EditedFor::EnCroissant.edit("[]", &registration).unwrap();
    for settings in ["null", "[]"] {
        let old = new.replacen("\"settings\": []", &format!("\"settings\": {settings}"), 1);
        assert!(old.contains(settings), "{old}");
        EditedFor::EnCroissant.edit(&old, &registration).unwrap();
    }
}
