//! `tabia mark` and the editor behind it: only the wished bytes change, a kill
//! at any moment leaves a sound book, two writers do not meet, and a running
//! adapter goes on.

#![allow(clippy::unwrap_used)] // A test that stops says where.

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use proptest::prelude::*;
use shakmaty::{Chess, Position};
use tabia::book::ctg::{
    CtgBook, EditError, EditOptions, Editor, EntryChange, Key, OpenOptions, verify,
};
use tabia::book::{Annotation, Book, Field, Lookup, Mark, MarkEdit, Preference, Probe, Wanted};
use tabia::watch::Watch;

use common::adapter::Adapter;

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

fn copy(name: &str, folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = folder.join("book.ctg");
    for extension in ["ctg", "cto", "ctb"] {
        fs::copy(
            root.join(name).with_extension(extension),
            to.with_extension(extension),
        )
        .unwrap();
    }
    to
}

/// The main lines of the starter book, to be changed.
fn starter(folder: &Path) -> PathBuf {
    copy("tests/data/small.ctg", folder)
}

fn mark(book: &Path, args: &[&str]) -> Output {
    Command::new(TABIA)
        .arg("mark")
        .arg(book)
        .args(args)
        .output()
        .unwrap()
}

fn ok(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    said
}

fn problems(book: &Path) -> Vec<String> {
    let mut found = Vec::new();
    verify(
        book,
        true,
        &mut Watch::default(),
        &mut |problem: tabia::book::ctg::Problem| found.push(problem.text),
    )
    .unwrap();
    found
}

fn differing(a: &[u8], b: &[u8]) -> Vec<(usize, u8, u8)> {
    assert_eq!(a.len(), b.len());
    (0..)
        .zip(a.iter().zip(b))
        .filter(|(_, (a, b))| a != b)
        .map(|(n, (a, b))| (n, *a, *b))
        .collect()
}

fn found(book: &Path, position: &Chess) -> Lookup {
    let book = CtgBook::open(book, &OpenOptions::default()).unwrap();
    let mut found = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut found)
        .unwrap();
    found
}

#[test]
fn a_genuine_book_differs_in_the_wished_bytes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let book = copy("tests/data/ctg/simple.ctg", folder.path());
    let before = fs::read(&book).unwrap();
    // The entry after 1.e4 stands at byte 4 of page 0: 22 bytes of key, one of
    // moves, 33 of statistics. The start position's at byte 60.
    let after_e4 = 4096 + 4 + 22 + 1;
    ok(&mark(
        &book,
        &["--move", "e4", "--mark", "main", "--factor", "20", "!?"],
    ));
    let expected = vec![
        (after_e4 + 30, 0, 0x80),
        (after_e4 + 31, 0, 236),
        (4096 + 60 + 22 + 2, 0xe0, 0xe5),
    ];
    assert_eq!(differing(&before, &fs::read(&book).unwrap()), expected);
    assert!(problems(&book).is_empty());
    let lookup = found(&book, &Chess::default());
    let e4 = &lookup.moves[0];
    assert_eq!(
        (e4.mark(), e4.factor(), e4.annotation.symbol()),
        (Mark::Main, 20, "!?")
    );

    ok(&mark(&book, &["--all", "--clear"]));
    assert_eq!(fs::read(&book).unwrap(), before);
    ok(&mark(&book, &["--clean", "--all"]));
    let cleaned = fs::read(&book).unwrap();
    assert!(
        differing(&before, &cleaned)
            .iter()
            .all(|(_, old, new)| (*old, *new) == (0xe0, 0))
    );
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn a_dry_run_touches_nothing_and_says_what_would_change() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let before = fs::read(&book).unwrap();
    let modified = fs::metadata(&book).unwrap().modified().unwrap();
    for args in [
        &["--line", "1.e4 c5", "main", "--dry-run"][..],
        &["--all", "main", "--dry-run"],
        &["--colour", "white", "?!", "-n"],
    ] {
        let output = mark(&book, args);
        assert!(ok(&output).contains("would change"));
        assert!(!output.stdout.is_empty());
    }
    assert_eq!(fs::read(&book).unwrap(), before);
    assert_eq!(fs::metadata(&book).unwrap().modified().unwrap(), modified);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn lines_colours_and_filters_choose_as_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    ok(&mark(
        &book,
        &["--line", "1.e4 c5 2.Nf3", "--colour", "white", "main"],
    ));
    let start = found(&book, &Chess::default());
    let green = |lookup: &Lookup| -> Vec<String> {
        let moves = lookup.moves.iter().filter(|mv| mv.mark() == Mark::Main);
        moves.map(|mv| mv.mv.to_string()).collect()
    };
    assert_eq!(green(&start), ["e2-e4"]);
    let mut after = Chess::default();
    after.play_unchecked(common::uci(&after, "e2e4"));
    assert_eq!(green(&found(&book, &after)), [""; 0]);
    after.play_unchecked(common::uci(&after, "c7c5"));
    assert_eq!(green(&found(&book, &after)), ["Ng1-f3"]);

    // Every move of one side, by the counts of the program itself.
    ok(&mark(&book, &["--clear"]));
    ok(&mark(
        &book,
        &["--colour", "black", "--where", "games>=1000", "avoid"],
    ));
    assert!(
        found(&book, &Chess::default())
            .moves
            .iter()
            .all(|mv| mv.mark() == Mark::None)
    );
    let mut after = Chess::default();
    after.play_unchecked(common::uci(&after, "e2e4"));
    for mv in &found(&book, &after).moves {
        assert_eq!(
            mv.mark() == Mark::Avoid,
            mv.stats().games >= 1000,
            "{}",
            mv.mv
        );
    }
    assert!(problems(&book).is_empty());

    // What filters say of positions agrees with a count by hand.
    ok(&mark(&book, &["--clear"]));
    ok(&mark(&book, &["--where", "games<10 and score<40", "main"]));
    let opened = CtgBook::open(&book, &OpenOptions::default()).unwrap();
    for entry in opened.entries() {
        let record = entry.unwrap().record;
        let stats = record.stats.reversed();
        let meant = stats.games < 10 && stats.score().unwrap_or(0.5) < 0.4 - 1e-12;
        assert_eq!(record.mark() == Mark::Main, meant, "{stats:?}");
    }
}

fn printed(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_dry_run_shows_lines_as_players_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let before = fs::read(&book).unwrap();
    // Moves of Black, whose positions the book has with the colours exchanged.
    let wish = [
        "--colour",
        "black",
        "--where",
        "ply<=6 and share>=30",
        "main",
        "-n",
    ];
    let output = mark(&book, &wish);
    let said = ok(&output);
    let shown = printed(&output);
    assert_eq!(shown.len(), 21, "{shown:#?}");
    assert!(
        shown[20].ends_with(" more (--list shows all)"),
        "{shown:#?}"
    );
    let all = printed(&mark(&book, &[&wish[..], &["--list"]].concat()));
    let more = format!("... and {} more", all.len() - 20);
    assert!(shown[20].starts_with(&more), "{}", shown[20]);
    let count = format!("{} marks would change", all.len());
    assert!(said.contains(&count), "{said}");
    let mut seen = std::collections::HashSet::new();
    for line in &all {
        // "1.d4 d5 2.c4: e6  none -> main"
        let (moves, change) = line.split_once("  ").unwrap();
        assert!(
            ["none -> main", "avoid -> main"].contains(&change),
            "{line}"
        );
        let (before, last) = moves.split_once(": ").unwrap();
        let mut played = tabia::notation::Line::read("", before).unwrap();
        assert!(played.last().turn().is_black(), "{line}");
        let position = played.last().clone();
        played.extend(last).unwrap();
        let (_, mv) = played.moves().next_back().unwrap();
        let lookup = found(&book, &position);
        assert!(lookup.moves.iter().any(|known| known.mv == mv), "{line}");
        assert!(seen.insert(line), "{line}");
    }
    // As JSON, the same and a summary.
    let json = printed(&mark(&book, &[&wish[..], &["--list", "--json"]].concat()));
    assert_eq!(json.len(), all.len() + 1);
    let first: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    assert_eq!(first["field"], "mark");
    assert_eq!(first["new"], "main");
    let last: serde_json::Value = serde_json::from_str(json.last().unwrap()).unwrap();
    assert_eq!(last["summary"]["changes"], all.len());
    assert_eq!(fs::read(&book).unwrap(), before);
}

#[test]
fn commentaries_are_those_of_the_real_board() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    // The symbols that it has are not this test's.
    ok(&mark(&book, &["--all", "--commentary", "none"]));
    // After 1.e4 Black is to move: what is stored is the mirrored number.
    for line in ["1.e4", "1.e4 e5"] {
        let output = mark(&book, &["--moves", line, "--commentary", "+="]);
        ok(&output);
        let shown = printed(&output).concat();
        assert!(shown.ends_with("commentary none -> +="), "{shown}");
    }
    let mut after = Chess::default();
    for (mv, stored) in [("e2e4", 15), ("e7e5", 14)] {
        after.play_unchecked(common::uci(&after, mv));
        let here = found(&book, &after).here.unwrap();
        assert_eq!(here.commentary, stored, "{mv}");
    }
    let both = ["1.e4  none -> main", "1.e4: e5  none -> main"];
    for (filter, chosen) in [
        ("commentary=+=", &both[..]),
        ("commentary=14", &both),
        ("commentary=\"=+\"", &[]),
    ] {
        let all = mark(&book, &["--where", filter, "main", "-n"]);
        ok(&all);
        assert_eq!(printed(&all), chosen, "{filter}");
        let line = ["--line", "1.e4 e5", "--where", filter, "main", "-n"];
        let named = mark(&book, &line);
        ok(&named);
        assert_eq!(printed(&named), chosen, "{filter}");
    }
}

#[test]
fn who_watches_hears_of_the_work_and_may_end_it() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use tabia::mark::{Job, Selection, Target};
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let before = fs::read(&book).unwrap();
    let mut editor = Editor::open(&book, &EditOptions::default()).unwrap().into();
    for colour in [None, Some(shakmaty::Color::White)] {
        let job = Job {
            target: Target::Book,
            selection: Selection {
                edit: MarkEdit::clear(),
                colour,
                filter: None,
            },
            dry_run: false,
            strict: false,
            told: 0,
        };
        let stop = AtomicBool::new(false);
        let mut heard = 0;
        let mut tell = |_| {
            heard += 1;
            // At once: nothing of the book has been looked at yet.
            stop.store(true, Ordering::Relaxed);
        };
        let mut watch = Watch::new(&mut tell, &stop);
        let ended = tabia::mark::mark(&mut editor, &job, &mut watch, &mut |_| {}, &mut |_| Ok(()));
        let ended = ended.unwrap_err().to_string();
        assert!(ended.contains("interrupted"), "{ended}");
        assert_eq!(heard, 1);
    }
    assert_eq!(fs::read(&book).unwrap(), before);
}

/// What can be read is marked, what cannot is named.
#[test]
fn a_damaged_page_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let mut bytes = fs::read(&book).unwrap();
    bytes[4096 * 3..][..4096].fill(0xa5);
    fs::write(&book, bytes).unwrap();
    let output = mark(&book, &["--all", "--factor", "7"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("page 2"), "{said}");
    assert!(
        said.contains("1 damaged page not read to its end"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let before = fs::read(&book).unwrap();
    for (args, code, part) in [
        (
            &["--line", "1.e4 a5 2.a3 h5", "main"][..],
            1,
            "out of the book",
        ),
        (
            &["--line", "1.e4 e4", "main"],
            2,
            "move 2 (e4) is not legal",
        ),
        (&["--move", "e5", "main"], 2, "move 1 (e5) is not legal"),
        (&["--where", "games<", "main"], 2, "column 7"),
        (&["--all"], 2, "nothing to do"),
        (&["main"], 2, "say which moves"),
        (&["--move", "e4", "purple"], 2, "no mark"),
        (
            &["--move", "e4", "main", "avoid"],
            2,
            "another mark of this kind",
        ),
        (
            &["--move", "e4", "--mark", "main", "avoid"],
            2,
            "another mark of this kind",
        ),
        (&["--move", "e4", "!", "?"], 2, "another mark of this kind"),
        (&["--move", "e4", "--factor", "126"], 2, "126"),
        (&["--fen", "8/8 w", "main"], 2, "--fen"),
        (
            &["--fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "main"],
            1,
            "not in the book",
        ),
    ] {
        let output = mark(&book, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
    assert_eq!(fs::read(&book).unwrap(), before);
    let polyglot = folder.path().join("book.bin");
    fs::write(&polyglot, [0; 160]).unwrap();
    let output = mark(&polyglot, &["--all", "main"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("has no marks: avoid and --weight can be set, and `tabia convert`"),
        "{said}"
    );
    let none = mark(&folder.path().join("none.ctg"), &["--all", "main"]);
    assert_eq!(none.status.code(), Some(2));

    let mut permissions = fs::metadata(&book).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&book, permissions).unwrap();
    let output = mark(&book, &["--move", "e4", "main"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("read-only"));
}

/// An Arena book: 1.e4 e5 2.Nf3, and 1.Nf3 e5 2.e4 which comes to the same.
fn arena(path: &Path) {
    let mut bytes = vec![0; 900 * 28];
    bytes[..4].copy_from_slice(b"\x03ABK");
    bytes[8] = 28;
    for (from, to, games, reply, next) in [
        (12, 28, 30_i32, 901, 903),
        (52, 36, 30, 902, -1),
        (6, 21, 30, -1, -1),
        (6, 21, 4, 904, -1),
        (52, 36, 4, 905, -1),
        (12, 28, 4, -1, -1),
    ] {
        bytes.extend([from, to, 0, 5]);
        let numbers = [games, games / 2, games / 4, 0, reply, next];
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    fs::write(path, bytes).unwrap();
}

fn preference(book: &Path, before: &str, mv: &str) -> Preference {
    let line = tabia::notation::Line::read("", before).unwrap();
    let mut found = Lookup::default();
    let book = Book::open(book, &OpenOptions::default()).unwrap();
    book.probe(line.last(), Wanted::Stored, &mut found).unwrap();
    let wanted = common::uci(line.last(), mv);
    let mut moves = found.moves.iter();
    moves.find(|known| known.mv == wanted).unwrap().preference
}

/// Polyglot and Arena books have a number for every move, and nothing else.
#[test]
fn weights_and_priorities_are_set_in_place_and_what_has_no_place_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let [bin, abk] = ["book.bin", "book.abk"].map(|name| folder.path().join(name));
    let mut convert = Command::new(TABIA);
    convert.arg("convert").arg(starter(folder.path())).arg(&bin);
    ok(&convert.output().unwrap());
    arena(&abk);

    let before = fs::read(&bin).unwrap();
    let output = mark(&bin, &["--line", "1.e4 e5", "--weight", "513", "--json"]);
    assert!(ok(&output).contains("2 chosen, 2 marks changed"));
    let told: serde_json::Value =
        serde_json::from_slice(output.stdout.split(|b| *b == b'\n').next().unwrap()).unwrap();
    assert_eq!(
        (&told["field"], &told["new"]),
        (&"weight".into(), &513.into())
    );
    for (before, mv) in [("", "e2e4"), ("e4", "e7e5")] {
        assert_eq!(preference(&bin, before, mv), Preference::Weight(513));
    }
    // Two bytes of two entries, and nothing else.
    let touched = differing(&before, &fs::read(&bin).unwrap());
    assert!(touched.iter().all(|(at, ..)| matches!(at % 16, 10 | 11)));
    assert!(touched.len() <= 4, "{touched:?}");

    let said = ok(&mark(
        &bin,
        &["--where", "weight=513 and ply=1", "avoid", "--dry-run"],
    ));
    assert!(said.contains("1 chosen, 1 mark would change"), "{said}");
    ok(&mark(&bin, &["--where", "weight=513 and ply=1", "avoid"]));
    assert_eq!(preference(&bin, "", "e2e4"), Preference::Weight(0));

    // A position that hangs in the tree twice has its numbers twice.
    let said = ok(&mark(
        &abk,
        &["--moves", "e2e4 e7e5 g1f3", "--priority", "9"],
    ));
    assert!(said.contains("1 chosen, 1 mark changed"), "{said}");
    assert_eq!(preference(&abk, "e4 e5", "g1f3"), Preference::Priority(9));
    ok(&mark(
        &abk,
        &["--where", "games<10", "--colour", "white", "avoid"],
    ));
    assert_eq!(preference(&abk, "", "g1f3"), Preference::Priority(0));
    assert_eq!(preference(&abk, "", "e2e4"), Preference::Priority(5));

    for (book, args, part) in [
        (&bin, &["--move", "e4", "main"][..], "which has no marks"),
        (&bin, &["--move", "e4", "!"], "which has no annotations"),
        (
            &bin,
            &["--move", "e4", "--factor", "3"],
            "which has no learn values",
        ),
        (
            &bin,
            &["--move", "e4", "--commentary", "="],
            "which has no commentaries",
        ),
        (&bin, &["--where", "games<2", "avoid"], "which has no games"),
        (
            &abk,
            &["--move", "e4", "--weight", "10"],
            "which has no weights above 9",
        ),
        (
            &abk,
            &[
                "--fen",
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
                "avoid",
            ],
            "--move",
        ),
        (
            &bin.with_extension("ctg"),
            &["--move", "e4", "--weight", "1"],
            "which has no weights",
        ),
    ] {
        let kept = fs::read(book).unwrap();
        let output = mark(book, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
        assert_eq!(fs::read(book).unwrap(), kept);
    }
    let output = mark(&bin, &["--move", "a3", "avoid"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("leads out of the book"), "{said}");
}

#[test]
fn a_locked_book_is_waited_for_and_then_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let editor = Editor::open(&book, &EditOptions::default()).unwrap();
    let output = mark(&book, &["--move", "e4", "main", "--wait", "0"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("is changing this book"), "{said}");
    #[cfg(target_os = "linux")]
    assert!(said.contains(&std::process::id().to_string()), "{said}");
    // Who waits gets it.
    let waiting = Command::new(TABIA)
        .args([
            "mark",
            book.to_str().unwrap(),
            "--move",
            "e4",
            "main",
            "--wait",
            "60",
        ])
        .spawn()
        .unwrap();
    drop(editor);
    assert!(waiting.wait_with_output().unwrap().status.success());
    assert_eq!(found(&book, &Chess::default()).moves[0].mark(), Mark::Main);
}

#[test]
fn two_writers_at_once_both_have_their_way() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let writers = ["white", "black"].map(|colour| {
        let mut command = Command::new(TABIA);
        command
            .arg("mark")
            .arg(&book)
            .args(["--colour", colour, "main", "--wait", "300"]);
        command.stderr(Stdio::null()).spawn().unwrap()
    });
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    assert!(problems(&book).is_empty());
    let opened = CtgBook::open(&book, &OpenOptions::default()).unwrap();
    let info = opened.info().unwrap();
    assert!(info.main_marks > 500, "{info:?}");
    // As one after the other.
    let other = tempfile::tempdir().unwrap();
    let alone = starter(other.path());
    for colour in ["white", "black"] {
        ok(&mark(&alone, &["--colour", colour, "main"]));
    }
    assert_eq!(fs::read(&book).unwrap(), fs::read(&alone).unwrap());
}

#[test]
fn killed_at_random_moments_the_book_is_sound_and_entries_are_old_or_new() {
    let folder = tempfile::tempdir().unwrap();
    let (random, _) = common::random_book(250, 20);
    let book = random.write(folder.path(), "book");
    // Two bytes of each position change together.
    let wishes = [
        ["--mark=main", "--factor=40"],
        ["--mark=avoid", "--factor=-40"],
    ];
    let start = std::time::Instant::now();
    ok(&mark(&book, &[&["--all"][..], &wishes[1]].concat()));
    let whole = start.elapsed().as_micros() as u64;
    // One that has to wait for us is killed in time, and has changed nothing.
    let editor = Editor::open(&book, &EditOptions::default()).unwrap();
    let before = fs::read(&book).unwrap();
    let mut command = Command::new(TABIA);
    command.arg("mark").arg(&book).args(["--all", "--wait=600"]);
    let mut child = command.args(wishes[0]).spawn().unwrap();
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(fs::read(&book).unwrap(), before);
    drop(editor);
    let journal = folder.path().join(".book.ctg.edit");
    let (mut cut_short, mut half_done) = (0, 0);
    for round in 0..28_u64 {
        let mut command = Command::new(TABIA);
        command
            .arg("mark")
            .arg(&book)
            .arg("--all")
            .args(wishes[round as usize % 2]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        if round % 4 == 0 {
            std::thread::sleep(Duration::from_micros(whole * round / 28));
        } else {
            // Once the journal is there, writing is not far.
            while !journal.exists() && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_micros(round * 397 % 12_000));
        }
        child.kill().unwrap();
        cut_short += u32::from(!child.wait().unwrap().success());
        let opened = CtgBook::open(&book, &OpenOptions { mmap: false }).unwrap();
        let (mut green, mut red) = (0, 0);
        for entry in opened.entries() {
            let record = entry.unwrap().record;
            match (record.mark(), record.factor) {
                (Mark::Main, -40) => green += 1,
                (Mark::Avoid, 40) => red += 1,
                state => panic!("half an entry: {state:?}"),
            }
        }
        half_done += u32::from(green > 0 && red > 0);
        if round == 13 {
            assert!(problems(&book).is_empty());
        }
    }
    eprintln!("{cut_short} cut short, {half_done} of them in the middle of writing");
    // Whatever was left is completed, and then all is as last wished.
    ok(&mark(&book, &["--all", "main", "--factor", "1"]));
    assert!(problems(&book).is_empty());
    let info = CtgBook::open(&book, &OpenOptions::default())
        .unwrap()
        .info()
        .unwrap();
    assert_eq!(info.main_marks, info.positions);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_running_adapter_sees_marks_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // One that is mapped, and one that is held in memory.
    for name in ["books/tabia.ctg", "tests/data/ctg/simple.ctg"] {
        let book = copy(name, folder.path());
        // The time of modification has to tell old from new.
        let old = std::time::SystemTime::now() - Duration::from_secs(5);
        File::options()
            .write(true)
            .open(&book)
            .unwrap()
            .set_modified(old)
            .unwrap();
        let mut adapter = Adapter::start(&book, &["Book Info=none", "Book Transpositions=false"]);
        for (mv, best) in [("e4", "bestmove e2e4"), ("d4", "bestmove d2d4")] {
            ok(&mark(&book, &["--fen", "startpos", "--move", "e4", "none"]));
            ok(&mark(&book, &["--move", mv, "main"]));
            assert_eq!(adapter.best("position startpos"), best, "{name}");
            ok(&mark(&book, &["--move", mv, "none"]));
        }
        adapter.quit();
    }
}

/// A book in which a transposition is not stored as a move, and the page of
/// the position before it has no room for one.
fn crowded(folder: &Path) -> (PathBuf, Chess, shakmaty::Move) {
    let (book, all) = common::random_book(60, 24);
    let path = book.write(folder, "crowded");
    let opened = CtgBook::open(&path, &OpenOptions::default()).unwrap();
    let mut lookup = Lookup::default();
    for position in &all {
        opened
            .probe(position, Wanted::Transpositions, &mut lookup)
            .unwrap();
        let unstored = lookup.moves.iter().find(|mv| {
            let board = tabia::book::ctg::CanonicalBoard::from_position(position).unwrap();
            mv.transposition && tabia::book::ctg::encode_move_byte(&board, mv.mv).is_some()
        });
        if let Some(mv) = unstored {
            return (path, position.clone(), mv.mv);
        }
    }
    panic!("no transposition in the book");
}

#[test]
fn a_sign_for_a_transposition_stores_the_move() {
    let folder = tempfile::tempdir().unwrap();
    let (path, position, mv) = crowded(folder.path());
    let before = CtgBook::open(&path, &OpenOptions::default()).unwrap();
    let count = before.info().unwrap();
    let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
    let edit = MarkEdit {
        annotation: Some(Annotation::GOOD),
        recommendation: Some(Mark::Main),
        ..MarkEdit::default()
    };
    let plan = editor.plan(&position, mv, &edit).unwrap();
    assert!(plan.iter().any(EntryChange::moves_entries));
    let undo = editor.apply(&plan).unwrap();
    let lookup = found(&path, &position);
    let stored = lookup.moves.iter().find(|known| known.mv == mv).unwrap();
    assert!(!stored.transposition);
    assert_eq!(
        (stored.annotation, stored.mark()),
        (Annotation::GOOD, Mark::Main)
    );
    assert!(problems(&path).is_empty(), "{:?}", problems(&path));
    // The open book goes on with the old state.
    let mut old = Lookup::default();
    before
        .probe(&position, Wanted::Transpositions, &mut old)
        .unwrap();
    assert!(
        old.moves
            .iter()
            .any(|known| known.mv == mv && known.transposition)
    );

    editor.apply(&undo).unwrap();
    let lookup = found(&path, &position);
    assert!(
        lookup
            .moves
            .iter()
            .any(|known| known.mv == mv && known.transposition)
    );
    let after = CtgBook::open(&path, &OpenOptions::default())
        .unwrap()
        .info()
        .unwrap();
    assert_eq!(
        (after.positions, after.moves, after.main_marks),
        (count.positions, count.moves, 0)
    );
    assert_eq!(lookup, old);
}

/// Moves are stored into entries until pages overflow many times over.
#[test]
fn entries_that_outgrow_their_pages_split_them() {
    let folder = tempfile::tempdir().unwrap();
    let (book, _) = common::random_book(60, 24);
    let path = book.write(folder.path(), "growing");
    let before = CtgBook::open(&path, &OpenOptions::default())
        .unwrap()
        .info()
        .unwrap();
    let opened = CtgBook::open(&path, &OpenOptions::default()).unwrap();
    let mut changes = Vec::new();
    for entry in opened.entries() {
        let entry = entry.unwrap();
        // Bytes that mean something, whatever they mean here.
        let fresh = (0..=255_u8).filter(|byte| tabia::book::ctg::decode_move_byte(*byte).is_some());
        for mv in fresh
            .filter(|byte| entry.moves.iter().all(|(known, _)| known != byte))
            .take(40)
        {
            changes.push(EntryChange::AddMove {
                key: entry.key,
                mv,
                annotation: 1,
                at: 0,
            });
        }
    }
    drop(opened);
    let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
    let undo = editor.apply(&changes).unwrap();
    let grown = CtgBook::open(&path, &OpenOptions::default()).unwrap();
    let info = grown.info().unwrap();
    assert_eq!(info.positions, before.positions);
    assert_eq!(info.moves, before.moves + changes.len() as u64);
    assert!(info.pages > before.pages, "{} {}", info.pages, before.pages);
    assert!(grown.notices().is_empty(), "{:?}", grown.notices());
    // Everything is found where readers look for it.
    for (key, (_, record)) in &book.entries {
        assert_eq!(grown.entry_of(key).unwrap().unwrap().record, *record);
    }
    editor.apply(&undo).unwrap();
    let info = CtgBook::open(&path, &OpenOptions::default())
        .unwrap()
        .info()
        .unwrap();
    assert_eq!(
        (info.positions, info.moves),
        (before.positions, before.moves)
    );
}

fn any_change(keys: Vec<(Key, Vec<u8>)>) -> impl Strategy<Value = EntryChange> {
    (0..keys.len(), 0..5_u8, any::<u8>(), any::<u8>()).prop_map(move |(n, kind, byte, at)| {
        let (key, moves) = keys[n].clone();
        match (kind, moves.get(usize::from(at) % moves.len().max(1))) {
            (3, Some(&mv)) => EntryChange::Annotation { key, mv, byte },
            (4, Some(&mv)) if byte < 12 => EntryChange::RemoveMove { key, mv },
            (kind, _) => {
                let marks = [Field::Recommendation, Field::Factor, Field::Commentary];
                let field = marks[usize::from(kind) % 3];
                EntryChange::Mark { key, field, byte }
            }
        }
    })
}

fn keys_of(book: &Path) -> Vec<(Key, Vec<u8>)> {
    let opened = CtgBook::open(book, &OpenOptions::default()).unwrap();
    let entries = opened.entries().map(Result::unwrap);
    entries
        .map(|e| (e.key, e.moves.iter().map(|(byte, _)| *byte).collect()))
        .collect()
}

#[test]
fn changes_and_their_undoing_leave_every_byte_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (book, _) = common::random_book(30, 16);
    let path = book.write(folder.path(), "undo");
    let original = fs::read(&path).unwrap();
    let keys = keys_of(&path);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    let strategy = proptest::collection::vec(any_change(keys), 1..40);
    runner
        .run(&strategy, |changes| {
            let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
            let moves_entries = changes.iter().any(EntryChange::moves_entries);
            match editor.apply(&changes) {
                Ok(undo) => {
                    if !moves_entries {
                        let now = fs::read(&path).unwrap();
                        prop_assert!(differing(&original, &now).len() <= changes.len());
                    }
                    editor.apply(&undo).unwrap();
                }
                // A move is taken out twice, or gone when it is to be marked.
                Err(EditError::NoSuchMove { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            if !moves_entries {
                prop_assert!(fs::read(&path).unwrap() == original);
            } else {
                // Stale bytes go when a book is written anew; it starts again.
                let opened = CtgBook::open(&path, &OpenOptions::default()).unwrap();
                for (key, (_, record)) in &book.entries {
                    prop_assert_eq!(opened.entry_of(key).unwrap().unwrap().record, *record);
                }
                book.write(folder.path(), "undo");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_journal_of_another_book_is_not_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let book = copy("tests/data/ctg/simple.ctg", folder.path());
    let before = fs::read(&book).unwrap();
    for junk in [&b""[..], b"tabiaed1", &[0xff; 500]] {
        fs::write(folder.path().join(".book.ctg.edit"), junk).unwrap();
        let editor = Editor::open(&book, &EditOptions::default()).unwrap();
        assert!(!editor.completed_a_change());
        assert_eq!(fs::read(&book).unwrap(), before);
        assert!(!folder.path().join(".book.ctg.edit").exists());
    }
}
