//! Files that commands write: whatever stands in their way is named before any work, and
//! exit code 2 leaves all files as they were.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Folder, Ran, SMALL, assert_has};

const GAMES: &str = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
                     [Result \"0-1\"]\n\n1. d4 d5 2. c4 e6 0-1\n";
const EVALUATION: &str =
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce -31; acd 20; bm c5;\n";

/// A book, games and evaluations.
fn folder() -> Folder {
    let folder = Folder::with(SMALL);
    folder.put("games.pgn", GAMES);
    folder.put("known.evals", EVALUATION);
    folder
}

/// The files in a folder.
fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let names = folder.names().into_iter();
    let read = |name: String| {
        let bytes = fs::read(folder.join(&name)).unwrap_or_default();
        (name, bytes)
    };
    names.map(read).collect()
}

/// A command ends with one line about this file, and changes nothing.
#[track_caller]
fn refuses(folder: &Folder, command: &str, why: &str) {
    let before = contents(folder);
    let messages = folder.tabia(command).ends(2);
    let first = messages.lines().next().unwrap_or_default();
    assert!(
        first.starts_with(&format!("tabia: {why}")) && messages.lines().count() == 1,
        "{command}: {messages}"
    );
    let after = contents(folder);
    let names = |all: &BTreeMap<String, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&after), names(&before), "{command}");
    assert!(after == before, "{command}");
}

#[test]
fn evaluations_are_added_to_no_other_file() {
    let folder = folder();
    let other = "evaluations would be added to this file";
    let taken = "this command reads this file";
    let engine = "--engine builtin --nodes 20";
    folder.put("old.evals", GAMES);
    for (command, file, why) in [
        (
            "evaluate book.ctg --import known.evals -o book.ctg",
            "book.ctg",
            taken,
        ),
        (
            "evaluate book.ctg --import known.evals -o games.pgn",
            "games.pgn",
            other,
        ),
        (
            "evaluate book.ctg --import known.evals -o book.cto",
            "book.cto",
            other,
        ),
        (
            "evaluate book.ctg --import known.evals -o known.evals",
            "known.evals",
            taken,
        ),
        (
            "evaluate book.ctg --import known.evals -o new.evals --carried new.evals",
            "new.evals",
            taken,
        ),
        (
            &format!("prove book.ctg book.ctg {engine} --walks 2 --evaluations book.ctg"),
            "book.ctg",
            taken,
        ),
        (
            &format!("prove book.ctg book.ctg {engine} --walks 2 --evaluations games.pgn"),
            "games.pgn",
            other,
        ),
        (
            &format!("suite games.pgn -o s.epd --plies 2 {engine} --save-evals games.pgn"),
            "games.pgn",
            taken,
        ),
        (
            &format!("suite games.pgn -o s.epd --plies 2 {engine} --save-evals book.ctg"),
            "book.ctg",
            other,
        ),
        (
            "build -o old.ctg games.pgn --evaluations",
            "old.evals",
            other,
        ),
    ] {
        refuses(&folder, command, &format!("{file}: {why}"));
    }
    // A file of evaluations is continued, also after a crash.
    folder.put("cut.evals", &EVALUATION[..30]);
    for file in ["known.evals", "cut.evals"] {
        folder.put(
            "more.evals",
            EVALUATION.replace("-31; acd 20", "-40; acd 30"),
        );
        folder.tabia(&format!("evaluate book.ctg --import more.evals -o {file}"));
        assert_has(&folder.text(file), "ce -40;");
    }
}

#[test]
fn files_beside_a_suite_are_checked_before_it_is_written() {
    let folder = folder();
    folder.put("list.json", "[1]");
    folder.put("s.epd.zip", "an archive");
    let taken = "this command reads this file";
    for (options, why) in [
        (
            "--metadata list.json",
            "list.json: this is not a list of suites",
        ),
        (
            "--metadata no/list.json",
            "no/list.json: cannot be written: there is no folder no",
        ),
        (
            "--openbench no",
            "no/s.epd.json: cannot be written: there is no folder no",
        ),
        ("--zip", "s.epd.zip: already exists"),
        ("--metadata s.epd", &format!("s.epd: {taken}")),
        ("--metadata games.pgn", &format!("games.pgn: {taken}")),
        (
            "-f --zip --metadata s.epd.zip",
            &format!("s.epd.zip: {taken}"),
        ),
        (
            "--openbench . --metadata s.epd.json",
            &format!("s.epd.json: {taken}"),
        ),
        (
            "--engine builtin --nodes 20 --save-evals s.epd",
            &format!("s.epd: {taken}"),
        ),
    ] {
        let command = format!("suite games.pgn -o s.epd --plies 2 {options}");
        refuses(&folder, &command, why);
    }
}

#[test]
fn a_report_is_another_file_than_the_book_and_the_lines() {
    let folder = folder();
    folder.put("old.csv", "");
    let taken = "this command reads this file";
    for (report, why) in [
        ("lines.pgn", &*format!("lines.pgn: {taken}")),
        ("lines.pgn -f", &format!("lines.pgn: {taken}")),
        ("book.ctg -f", &format!("book.ctg: {taken}")),
        ("old.csv", "old.csv: already exists"),
    ] {
        let command = format!("convert book.ctg lines.pgn --lines --report {report}");
        refuses(&folder, &command, why);
    }
    for (command, file) in [
        (
            "review games.pgn book.ctg --colour white --report r.json --save-evals r.json",
            "r.json",
        ),
        (
            "review games.json book.ctg --colour white --report games.json -f",
            "games.json",
        ),
        (
            "audit book.ctg --evaluations known.json --report known.json -f",
            "known.json",
        ),
    ] {
        folder.put("games.json", GAMES);
        folder.put("known.json", EVALUATION);
        refuses(&folder, command, &format!("{file}: {taken}"));
    }
}

#[test]
fn no_file_has_the_name_of_another_format() {
    let folder = folder();
    folder.done("convert book.ctg poly.bin");
    folder.done("index -o index.tgx games.pgn");
    for name in ["x.ctg", "x.txt", "x.pgn", "x.jsonl", "x"] {
        let why = format!("{name}: the new book is a Polyglot one too");
        refuses(&folder, &format!("compact poly.bin -o {name}"), &why);
        refuses(&folder, &format!("compact poly.bin -o {name} -n"), &why);
    }
    refuses(&folder, "compact book.ctg -o x.bin -n", "");
    for name in [
        "x.ctg", "x.cto", "x.bin", "x.jsonl", "x.pgn", "x.pgn.gz", "x.si5", "x.evals",
    ] {
        let why = format!("{name}: an index of games has another format");
        refuses(&folder, &format!("index -o {name} games.pgn"), &why);
        refuses(&folder, &format!("compact index.tgx -o {name}"), &why);
    }
    // What has a wrong name already can be rewritten in its place.
    fs::copy(folder.join("poly.bin"), folder.join("odd.ctg")).unwrap();
    folder.done("compact odd.ctg");
    folder.done("compact poly.bin -o new.bin");
    folder.done("compact index.tgx -o new.tgx");
    folder.done("index -o index games.pgn");
}

#[test]
fn a_merged_book_is_reported_however_damaged_its_sources_are() {
    let folder = folder();
    let whole = fs::read(folder.join("book.ctg")).unwrap();
    folder.put("cut.ctg", &whole[..5000]);
    for target in ["all.jsonl", "all.ctg"] {
        let messages = folder
            .tabia(&format!("merge -o {target} book.ctg cut.ctg"))
            .ends(1);
        assert_has(&messages, &format!("{target}: "));
        assert!(folder.join(target).exists());
    }
}

/// Linux lets nobody, not even root, make a file there.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_in_which_nothing_can_be_written_is_enough_for_a_dry_run() {
    const READ_ONLY: &str = "/sys";
    if !Path::new(READ_ONLY).is_dir() {
        return;
    }
    let folder = folder();
    folder.done("convert book.ctg poly.bin");
    for command in [
        "prune book.ctg --max-ply 2 -n -o /sys/x.ctg",
        "compact book.ctg -n -o /sys/x.ctg",
        "compact poly.bin -n -o /sys/x.bin",
    ] {
        assert_has(&folder.done(command), "nothing was changed: --dry-run");
        let ran: Ran = folder.tabia(&command.replace("-n ", ""));
        ran.refused("/sys/x.");
    }
    let suite = "suite games.pgn -o /sys/s.epd --plies 2";
    refuses(&folder, suite, "/sys/s.epd: cannot be written: ");
}
