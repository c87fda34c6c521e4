//! `tabia mark`: only the requested bytes change, a kill at any moment leaves a sound
//! book, only one program can change a book at a time, and a running adapter continues.

#![allow(clippy::unwrap_used)] // A test that fails here shows the line.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use shakmaty::{Chess, Position};
use tabia_book::ctg::{BookInfo, CtgBook, OpenOptions};
use tabia_book::{BookEditor, EditOptions, Lookup, Mark, Preference};
use tabia_notation::Line;

use crate::common::adapter::Adapter;
use crate::common::{
    Folder, Ran, SIMPLE, SMALL, STARTER, after, assert_has, assert_sound, copy, lookup, open,
};

/// Marks moves of a book of a folder.
fn mark(folder: &Folder, rest: &str) -> Ran {
    folder.tabia(&format!("mark {rest}"))
}

fn info(book: &Path) -> BookInfo {
    open(book).info().unwrap()
}

fn edit(book: &Path) -> BookEditor {
    BookEditor::open(book, &EditOptions::default()).unwrap()
}

fn differing(a: &[u8], b: &[u8]) -> Vec<(usize, u8, u8)> {
    assert_eq!(a.len(), b.len());
    (0..)
        .zip(a.iter().zip(b))
        .filter(|(_, (a, b))| a != b)
        .map(|(n, (a, b))| (n, *a, *b))
        .collect()
}

#[test]
fn a_mark_changes_only_the_requested_bytes_of_a_genuine_book() {
    let folder = Folder::with(SIMPLE);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    // The entry after 1.e4 is at byte 4 of page 0: 22 bytes of key, one of moves, 33 of
    // statistics. That of the start position is at byte 60.
    let after_e4 = 4096 + 4 + 22 + 1;
    mark(
        &folder,
        "book.ctg --move e4 --mark main --learn-value 20 '!?'",
    )
    .ok();
    let expected = vec![
        (after_e4 + 30, 0, 0x80),
        (after_e4 + 31, 0, 236),
        (4096 + 60 + 22 + 2, 0xe0, 0xe5),
    ];
    assert_eq!(differing(&before, &fs::read(&book).unwrap()), expected);
    assert_sound(&book);
    let lookup = lookup(&book, &Chess::default());
    let e4 = &lookup.moves[0];
    assert_eq!((e4.mark(), e4.learn_value()), (Mark::Main, 20));
    assert_eq!(e4.annotation.symbol(), "!?");

    mark(&folder, "book.ctg --all --clear").ok();
    assert_eq!(fs::read(&book).unwrap(), before);
    mark(&folder, "book.ctg --clean --all").ok();
    let cleaned = differing(&before, &fs::read(&book).unwrap());
    assert!(
        cleaned
            .iter()
            .all(|(_, old, new)| (*old, *new) == (0xe0, 0))
    );
    assert_eq!(folder.names(), WITH_BACKUP);
}

/// The files of a book that was marked as a whole.
const WITH_BACKUP: [&str; 7] = [
    ".book.ctg.undo",
    "book.ctb",
    "book.ctb.bak",
    "book.ctg",
    "book.ctg.bak",
    "book.cto",
    "book.cto.bak",
];

#[test]
fn a_change_of_the_whole_book_keeps_the_old_one() {
    let games = "[Event \"x\"]\n[Result \"1-0\"]\n\n1.e4 e5 2.Qh5 Nc6 1-0\n";
    for (change, is_whole) in [
        ("mark book.ctg --all --clear", true),
        ("mark book.ctg --where games>0 main", true),
        ("mark book.ctg --colour white main", true),
        ("add book.ctg games.pgn", true),
        ("add book.ctg --line 1.a4", true),
        ("learn book.ctg games.pgn", true),
        ("compact book.ctg", true),
        // Of these the command itself can take back what it did.
        ("mark book.ctg --move e4 --learn-value 7", false),
        ("mark book.ctg --all main --dry-run", false),
        ("learn book.ctg games.pgn --dry-run", false),
        // Nothing changes.
        ("mark book.ctg --where games<0 main", false),
    ] {
        let folder = Folder::with(SMALL);
        folder.put("games.pgn", games);
        folder.done("mark book.ctg --move d4 --learn-value 33");
        let old =
            ["book.ctg", "book.cto", "book.ctb"].map(|name| fs::read(folder.join(name)).unwrap());
        let messages = folder.tabia(change).ok();
        let kept = ["book.ctg", "book.cto", "book.ctb"]
            .map(|name| fs::read(folder.join(format!("{name}.bak"))).ok());
        if is_whole {
            assert!(kept == old.map(Some), "{change}: {:?}", folder.names());
            assert_has(&messages, "book.ctg.bak");
        } else {
            assert!(
                kept.iter().all(Option::is_none),
                "{change}: {:?}",
                folder.names()
            );
        }
        assert_sound(folder.join("book.ctg"));
    }
}

#[test]
fn a_whole_book_is_cleared_only_with_all() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    folder.done("mark book.ctg --move e4 main");
    let before = fs::read(&book).unwrap();
    for options in [
        "--clear",
        "--clean",
        "--clear --clean",
        "--clear --json",
        "--clear --learn-value 3",
    ] {
        mark(&folder, &format!("book.ctg {options}")).refused("--all for the whole book");
        assert_eq!(fs::read(&book).unwrap(), before, "{options}");
    }
    mark(&folder, "book.ctg --move e4 --clear").ok();
    folder.done("mark book.ctg --move e4 main");
    mark(&folder, "book.ctg --all --clear").ok();
    assert_eq!(info(&book).main_marks, 0);
    assert_eq!(fs::read(folder.join("book.ctg.bak")).unwrap(), before);
}

#[test]
fn nothing_is_pending_beside_a_sound_book() {
    let folder = Folder::with(SMALL);
    let before = fs::read(folder.join("book.ctg")).unwrap();
    for resolve in ["apply", "drop"] {
        let messages = mark(&folder, &format!("book.ctg --pending {resolve}")).ok();
        assert_has(&messages, "no change was interrupted");
    }
    mark(&folder, "book.ctg --pending drop --all main").refused("cannot be used with");
    assert_eq!(fs::read(folder.join("book.ctg")).unwrap(), before);
    // A journal that was not complete when its program was killed.
    folder.put(".book.ctg.edit", b"tabiaed2 and then");
    let messages = mark(&folder, "book.ctg --move e4 --learn-value 3").ok();
    assert_has(&messages, "was interrupted before the book was touched");
    assert!(!folder.join(".book.ctg.edit").exists());
}

#[test]
fn a_dry_run_prints_changes_and_writes_nothing() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    let modified = fs::metadata(&book).unwrap().modified().unwrap();
    for options in [
        "--line '1.e4 c5' main --dry-run",
        "--all main --dry-run",
        "--colour white ?! -n",
    ] {
        let dry = mark(&folder, &format!("book.ctg {options}"));
        dry.ends_with(0, "would change");
        assert!(!dry.out().is_empty());
    }
    assert_eq!(fs::read(&book).unwrap(), before);
    assert_eq!(fs::metadata(&book).unwrap().modified().unwrap(), modified);
    assert_eq!(folder.names().len(), 3);
}

#[test]
fn line_colour_and_where_choose_the_right_moves() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    mark(
        &folder,
        "book.ctg --line '1.e4 c5 2.Nf3' --colour white main",
    )
    .ok();
    let start = lookup(&book, &Chess::default());
    let green = |lookup: &Lookup| -> Vec<String> {
        let moves = lookup
            .moves
            .iter()
            .filter(|entry| entry.mark() == Mark::Main);
        moves.map(|entry| entry.mv.to_string()).collect()
    };
    assert_eq!(green(&start), ["e2-e4"]);
    assert_eq!(green(&lookup(&book, &after("e4"))), [""; 0]);
    assert_eq!(green(&lookup(&book, &after("e4 c5"))), ["Ng1-f3"]);

    // Every move of one side, by the program's own counts.
    mark(&folder, "book.ctg --all --clear").ok();
    mark(
        &folder,
        "book.ctg --colour black --where 'games>=1000' avoid",
    )
    .ok();
    let start = lookup(&book, &Chess::default());
    assert!(start.moves.iter().all(|entry| entry.mark() == Mark::None));
    for entry in &lookup(&book, &after("e4")).moves {
        let meant = entry.stats().games >= 1000;
        assert_eq!(entry.mark() == Mark::Avoid, meant, "{}", entry.mv);
    }
    assert_sound(&book);

    // The results of filters of positions agree with a separate count.
    mark(&folder, "book.ctg --all --clear").ok();
    mark(&folder, "book.ctg --where 'games<10 and score<40' main").ok();
    let opened = open(&book);
    for entry in opened.entries() {
        let record = entry.unwrap().record;
        let stats = record.stats.reversed();
        let meant = stats.games < 10 && stats.score().unwrap_or(0.5) < 0.4 - 1e-12;
        assert_eq!(record.mark() == Mark::Main, meant, "{stats:?}");
    }
}

#[test]
fn a_dry_run_shows_lines_as_players_read_them() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    // Moves of Black, whose positions the book stores with colours exchanged.
    let arguments = "book.ctg --colour black --where 'ply<=6 and share>=30' main -n";
    let lines = |options: &str| -> Vec<String> {
        let shown = mark(&folder, &format!("{arguments} {options}")).printed();
        shown.lines().map(str::to_owned).collect()
    };
    let shown = lines("");
    assert_eq!(shown.len(), 21, "{shown:#?}");
    let all = lines("--list");
    let more = format!("... and {} more (--list shows all)", all.len() - 20);
    assert_eq!(shown[20], more);
    let count = format!("{} marks would change", all.len());
    mark(&folder, arguments).ends_with(0, &count);
    let mut seen = HashSet::new();
    for line in &all {
        // "1.d4 d5 2.c4: e6  none -> main"
        let (moves, change) = line.split_once("  ").unwrap();
        assert!(
            ["none -> main", "avoid -> main"].contains(&change),
            "{line}"
        );
        let (before, last) = moves.split_once(": ").unwrap();
        let mut played = Line::read("", before).unwrap();
        assert!(played.last().turn().is_black(), "{line}");
        let position = played.last().clone();
        played.extend(last).unwrap();
        let (_, mv) = played.moves().next_back().unwrap();
        let lookup = lookup(&book, &position);
        assert!(lookup.moves.iter().any(|known| known.mv == mv), "{line}");
        assert!(seen.insert(line), "{line}");
    }
    // JSON has the same, and a summary.
    let json = lines("--list --json");
    let json: Vec<Value> = json
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(json.len(), all.len() + 1);
    assert_eq!(
        json!([json[0]["field"], json[0]["new"]]),
        json!(["mark", "main"])
    );
    assert_eq!(json[all.len()]["summary"]["changes"], all.len());
    assert_eq!(fs::read(&book).unwrap(), before);
}

#[test]
fn commentaries_are_those_of_the_real_board() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    // Removes the symbols that it has already.
    mark(&folder, "book.ctg --all --commentary none").ok();
    // After 1.e4 Black is to move: the stored number is the mirrored one.
    for line in ["1.e4", "1.e4 e5"] {
        let shown = mark(
            &folder,
            &format!("book.ctg --moves '{line}' --commentary +="),
        )
        .printed();
        assert!(shown.ends_with("commentary none -> +=\n"), "{shown}");
    }
    for (line, stored) in [("e4", 15), ("e4 e5", 14)] {
        let here = lookup(&book, &after(line)).here.unwrap();
        assert_eq!(here.commentary, stored, "{line}");
    }
    let both = "1.e4  none -> main\n1.e4: e5  none -> main\n";
    for (filter, chosen) in [
        ("commentary=+=", both),
        ("commentary=14", both),
        ("commentary=\"=+\"", ""),
    ] {
        for line in ["", "--line '1.e4 e5'"] {
            let marked = mark(
                &folder,
                &format!("book.ctg {line} --where '{filter}' main -n"),
            );
            assert_eq!(marked.printed(), chosen, "{filter}");
        }
    }
}

/// The readable part is marked, the unreadable part reported.
#[test]
fn a_damaged_page_is_named() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let mut bytes = fs::read(&book).unwrap();
    bytes[4096 * 3..][..4096].fill(0xa5);
    fs::write(&book, bytes).unwrap();
    let messages = mark(&folder, "book.ctg --all --learn-value 7").ends_with(1, "page 2");
    assert_has(&messages, "1 damaged page not read to its end");
}

#[test]
fn mark_with_invalid_input_changes_nothing() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    for (options, code, part) in [
        ("--line '1.e4 a5 2.a3 h5' main", 1, "out of the book"),
        ("--line '1.e4 e4' main", 2, "move 2 (e4) is not legal"),
        ("--move e5 main", 2, "move 1 (e5) is not legal"),
        ("--where 'games<' main", 2, "column 7"),
        ("--all", 2, "nothing to do"),
        ("main", 2, "name the moves"),
        ("--move e4 purple", 2, "not a mark"),
        ("--move e4 main avoid", 2, "another mark of this kind"),
        (
            "--move e4 --mark main avoid",
            2,
            "another mark of this kind",
        ),
        ("--move e4 ! ?", 2, "another mark of this kind"),
        ("--move e4 --learn-value 126", 2, "126"),
        ("--fen '8/8 w' main", 2, "--fen"),
        (
            "--fen '4k3/8/8/8/8/8/8/4K3 w - - 0 1' main",
            1,
            "not in the book",
        ),
    ] {
        let marked = mark(&folder, &format!("book.ctg {options}"));
        marked.ends_with(code, part);
    }
    assert_eq!(fs::read(&book).unwrap(), before);
    folder.put("book.bin", [0; 160]);
    let what_can = "has no marks: avoid and a weight can be set; convert it";
    mark(&folder, "book.bin --all main").refused(what_can);
    mark(&folder, "none.ctg --all main").ends(2);

    let mut permissions = fs::metadata(&book).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&book, permissions).unwrap();
    mark(&folder, "book.ctg --move e4 main").refused("read-only");
    for dry in ["--move e4 main", "--all main", "--colour white '?!'"] {
        mark(&folder, &format!("book.ctg {dry} -n")).ends_with(0, "would change");
    }
    assert_eq!(fs::read(&book).unwrap(), before);
}

/// An Arena book: 1.e4 e5 2.Nf3, and 1.Nf3 e5 2.e4 which transposes to it.
fn arena() -> Vec<u8> {
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
    bytes
}

fn preference(book: &Path, before: &str, mv: &str) -> Preference {
    let position = after(before);
    let found = lookup(book, &position);
    let wanted = crate::common::uci(&position, mv);
    let mut moves = found.moves.iter();
    moves.find(|known| known.mv == wanted).unwrap().preference
}

/// Polyglot and Arena books have only a number for each move.
#[test]
fn weights_and_priorities_are_set_and_unsupported_marks_are_refused() {
    let folder = Folder::with(SMALL);
    folder.done("convert book.ctg book.bin");
    let (bin, abk) = (folder.join("book.bin"), folder.put("book.abk", arena()));

    let before = fs::read(&bin).unwrap();
    let marked = mark(&folder, "book.bin --line '1.e4 e5' --weight 513 --json");
    marked.ends_with(0, "2 chosen, 2 marks changed");
    let change: Value = serde_json::from_str(marked.out().lines().next().unwrap()).unwrap();
    assert_eq!(
        json!([change["field"], change["new"]]),
        json!(["weight", 513])
    );
    for (before, mv) in [("", "e2e4"), ("e4", "e7e5")] {
        assert_eq!(preference(&bin, before, mv), Preference::Weight(513));
    }
    // Two bytes of two entries, and nothing else.
    let touched = differing(&before, &fs::read(&bin).unwrap());
    assert!(touched.iter().all(|(at, ..)| matches!(at % 16, 10 | 11)));
    assert!(touched.len() <= 4, "{touched:?}");

    mark(
        &folder,
        "book.bin --where 'weight=513 and ply=1' avoid --dry-run",
    )
    .ends_with(0, "1 chosen, 1 mark would change");
    mark(&folder, "book.bin --where 'weight=513 and ply=1' avoid").ok();
    assert_eq!(preference(&bin, "", "e2e4"), Preference::Weight(0));

    // A position that occurs twice in the tree has two sets of numbers.
    mark(&folder, "book.abk --moves 'e2e4 e7e5 g1f3' --priority 9")
        .ends_with(0, "1 chosen, 1 mark changed");
    assert_eq!(preference(&abk, "e4 e5", "g1f3"), Preference::Priority(9));
    mark(&folder, "book.abk --where 'games<10' --colour white avoid").ok();
    assert_eq!(preference(&abk, "", "g1f3"), Preference::Priority(0));
    assert_eq!(preference(&abk, "", "e2e4"), Preference::Priority(5));

    let fen = "--fen 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1' avoid";
    for (book, options, part) in [
        ("book.bin", "--move e4 main", "which has no marks"),
        ("book.bin", "--move e4 !", "which has no annotations"),
        (
            "book.bin",
            "--move e4 --learn-value 3",
            "which has no learn values",
        ),
        (
            "book.bin",
            "--move e4 --commentary =",
            "which has no commentaries",
        ),
        ("book.bin", "--where 'games<2' avoid", "which has no games"),
        (
            "book.abk",
            "--move e4 --weight 10",
            "which has no weights above 9",
        ),
        ("book.abk", "--move e4 main", "an Arena opening book, which"),
        ("book.abk", fen, "only of moves"),
        ("book.ctg", "--move e4 --weight 1", "which has no weights"),
    ] {
        let kept = fs::read(folder.join(book)).unwrap();
        mark(&folder, &format!("{book} {options}")).refused(part);
        assert_eq!(fs::read(folder.join(book)).unwrap(), kept);
    }
    mark(&folder, "book.bin --move a3 avoid").ends_with(1, "leads out of the book");
}

#[test]
fn mark_waits_for_a_locked_book_and_then_fails() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let editor = edit(&book);
    let messages =
        mark(&folder, "book.ctg --move e4 main --wait 0").refused("is changing this book");
    #[cfg(target_os = "linux")]
    assert_has(&messages, &std::process::id().to_string());
    // A waiting program gets the lock.
    let mut waiting = folder.command("mark book.ctg --move e4 main --wait 60");
    let waiting = waiting.spawn().unwrap();
    drop(editor);
    assert!(waiting.wait_with_output().unwrap().status.success());
    assert_eq!(lookup(&book, &Chess::default()).moves[0].mark(), Mark::Main);
}

#[test]
fn changes_by_two_programs_at_once_are_both_made() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let writers = ["white", "black"].map(|colour| {
        let arguments = format!("mark book.ctg --colour {colour} main --wait 300");
        folder
            .command(&arguments)
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    });
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    assert_sound(&book);
    let info = info(&book);
    assert!(info.main_marks > 500, "{info:?}");
    // The same as one change after the other.
    let alone = Folder::with(SMALL);
    for colour in ["white", "black"] {
        mark(&alone, &format!("book.ctg --colour {colour} main")).ok();
    }
    assert_eq!(
        fs::read(&book).unwrap(),
        fs::read(alone.join("book.ctg")).unwrap()
    );
}

#[test]
fn after_kills_of_mark_the_book_is_sound_and_entries_are_old_or_new() {
    let folder = Folder::new();
    let (random, _) = crate::common::random_book(250, 20);
    let book = random.write(&folder, "book");
    // Two bytes of each position change together.
    let jobs = [
        "--mark=main --learn-value=40",
        "--mark=avoid --learn-value=-40",
    ];
    let marking = |options: &str, arguments: &str| {
        let mut command = folder.command(&format!("mark book.ctg --all {options} {arguments}"));
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let start = std::time::Instant::now();
    mark(&folder, &format!("book.ctg --all {}", jobs[1])).ok();
    let whole = start.elapsed().as_micros() as u64;
    // A process that waits for the lock is killed, and has changed nothing.
    let editor = edit(&book);
    let before = fs::read(&book).unwrap();
    let mut child = marking("--wait=600", jobs[0]);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(fs::read(&book).unwrap(), before);
    drop(editor);
    let journal = folder.join(".book.ctg.edit");
    let (mut cut_short, mut half_done) = (0, 0);
    for round in 0..28_u64 {
        let mut child = marking("", jobs[round as usize % 2]);
        if round % 4 == 0 {
            // A kill at any moment leaves a sound book: the pause only chooses the moment.
            std::thread::sleep(Duration::from_micros(whole * round / 28));
        } else {
            // The journal is written shortly before the book.
            while !journal.exists() && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            // It too only chooses the moment.
            std::thread::sleep(Duration::from_micros(round * 397 % 12_000));
        }
        child.kill().unwrap();
        cut_short += u32::from(!child.wait().unwrap().success());
        let opened = CtgBook::open(&book, &OpenOptions::default().mmap(false)).unwrap();
        let (mut green, mut red) = (0, 0);
        for entry in opened.entries() {
            let record = entry.unwrap().record;
            match (record.mark(), record.learn_value) {
                (Mark::Main, -40) => green += 1,
                (Mark::Avoid, 40) => red += 1,
                state => panic!("half an entry: {state:?}"),
            }
        }
        half_done += u32::from(green > 0 && red > 0);
        if round == 13 {
            assert_sound(&book);
        }
    }
    eprintln!("{cut_short} cut short, {half_done} of them in the middle of writing");
    // An interrupted change is completed, then the last request is carried out.
    mark(&folder, "book.ctg --all main --learn-value 1").ok();
    assert_sound(&book);
    let info = info(&book);
    assert_eq!(info.main_marks, info.positions);
    assert_eq!(folder.names(), WITH_BACKUP);
}

/// The temporary files and folders in a folder.
fn temporary(folder: &Folder) -> Vec<String> {
    let names = folder.names().into_iter();
    names.filter(|name| name.starts_with('.')).collect()
}

/// Starts `tabia add`, and waits until it has temporary files or has ended.
fn adding(folder: &Folder) -> std::process::Child {
    let mut command = folder.command("add book.ctg --line '1.a4 a5 2.h4'");
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    while temporary(folder).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child
}

/// A folder with a book to which adding a line takes a while.
fn folder_of_a_larger_book() -> Folder {
    let folder = Folder::new();
    crate::common::random_book(250, 20).0.write(&folder, "book");
    folder
}

#[test]
fn temporary_files_of_killed_writers_are_removed_by_the_next_one() {
    let folder = folder_of_a_larger_book();
    let mut left = HashSet::new();
    for _ in 0..40 {
        let mut child = adding(&folder);
        child.kill().unwrap();
        child.wait().unwrap();
        left.extend(temporary(&folder));
        // Each `add` removes the leftovers of the one before it.
        let folders = temporary(&folder).into_iter();
        let folders = folders.filter(|name| folder.join(name).is_dir()).count();
        assert!(folders <= 1, "{:?}", temporary(&folder));
        if left.len() > 6 && !temporary(&folder).is_empty() {
            break;
        }
    }
    assert!(!temporary(&folder).is_empty(), "nothing was killed in time");
    // A program that changes bytes in place does so, too.
    mark(&folder, "book.ctg --all main").ok();
    assert_eq!(folder.names(), WITH_BACKUP);
    assert_sound(folder.join("book.ctg"));
}

/// A process that is writing, but stopped for now.
#[cfg(unix)]
#[test]
fn temporary_files_of_a_running_writer_are_not_removed() {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
    let folder = folder_of_a_larger_book();
    let signal = |child: &std::process::Child, signal| {
        kill_process(Pid::from_child(child), signal).unwrap();
    };
    // A process that ends before it is stopped tests nothing: try again.
    let (mut child, seen) = (0..40)
        .find_map(|_| {
            let mut child = adding(&folder);
            signal(&child, Signal::STOP);
            // It ends its system call first, which may make a file.
            let stops = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            waitid(WaitId::Pid(Pid::from_child(&child)), stops).unwrap();
            let seen = temporary(&folder);
            // A file that is not locked yet is made again if it is removed.
            let is_owned = |name: &String| {
                let path = folder.join(name);
                path.is_dir() || File::open(path).unwrap().try_lock().is_err()
            };
            if !seen.is_empty() && seen.iter().all(is_owned) {
                return Some((child, seen));
            }
            signal(&child, Signal::CONT);
            child.wait().unwrap();
            None
        })
        .expect("no writer was halted in time");
    folder.done("convert book.ctg other.csv");
    fs::write(folder.join(".other.csv.dead.tmp"), "").unwrap();
    folder.done("convert book.ctg other.csv --force");
    assert_eq!(temporary(&folder), seen);
    signal(&child, Signal::CONT);
    assert!(child.wait().unwrap().success());
    assert_eq!(temporary(&folder), [""; 0]);
}

#[test]
fn a_running_adapter_sees_marks_at_once() {
    let folder = Folder::new();
    let book = folder.join("book.ctg");
    // One book that is mapped, and one that is in memory.
    for name in [STARTER, SIMPLE] {
        copy(name, &book);
        // The times of modification of old and new must differ.
        let old = std::time::SystemTime::now() - Duration::from_secs(5);
        let file = File::options().write(true).open(&book).unwrap();
        file.set_modified(old).unwrap();
        let mut adapter = Adapter::of_book(&book, &["Book Info=none", "Book Transpositions=false"]);
        for (mv, best) in [("e4", "bestmove e2e4"), ("d4", "bestmove d2d4")] {
            mark(&folder, "book.ctg --fen startpos --move e4 none").ok();
            mark(&folder, &format!("book.ctg --move {mv} main")).ok();
            assert_eq!(adapter.best("position startpos"), best, "{name}");
            mark(&folder, &format!("book.ctg --move {mv} none")).ok();
        }
        assert!(adapter.quit().success());
    }
}

/// `mark --line "1.e4 e5 2.f4" avoid` would forbid 1.e4 in every game.
#[test]
fn a_mark_that_blames_is_not_for_each_move_of_a_line() {
    let folder = Folder::with(STARTER);
    let line = "book.ctg -n --line '1.e4 e5 2.Nf3'";
    for blame in ["avoid", "'?'", "'??'", "'?!'", "--learn-value -5"] {
        let text = mark(&folder, &format!("{line} {blame}"))
            .refused("names 3 moves, and this mark would forbid or blame each of them");
        assert_has(&text, "--moves \"1.e4 e5 2.Nf3\" marks the last one alone");
        for rest in ["--each", "--colour black"] {
            mark(&folder, &format!("{line} {blame} {rest}")).ok();
        }
        let last = mark(
            &folder,
            &format!("book.ctg -n --moves '1.e4 e5 2.Nf3' {blame}"),
        );
        assert_has(&last.ok(), "1 chosen");
    }
    for praise in ["main", "'!'", "--learn-value 5", "--clear"] {
        mark(&folder, &format!("{line} {praise}")).ok();
    }
}

/// The bytes are those before the mark, in books of all formats that have marks; a book that
/// was changed since is left alone.
#[test]
fn the_last_mark_is_undone() {
    let folder = Folder::with(STARTER);
    folder.done("convert book.ctg book.bin");
    folder.done("convert book.ctg book.abk");
    let read = |book: &str| fs::read(folder.join(book)).unwrap();
    let undo = |book: &str| mark(&folder, &format!("{book} --undo"));
    for (book, rest, writes_again) in [
        ("book.ctg", "--line '1.e4 c5' main", false),
        (
            "book.ctg",
            "--move e4 --learn-value -3 !? --commentary 14",
            false,
        ),
        ("book.ctg", "--all avoid", false),
        ("book.ctg", "--colour black --clear --clean", false),
        // The move is not stored: the book is written again.
        ("book.ctg", "--moves '1.c4 c5 2.e4' ?!", true),
        ("book.bin", "--move e4 avoid", false),
        ("book.bin", "--all --weight 7", false),
        ("book.abk", "--move e4 --priority 3", false),
    ] {
        let before = read(book);
        mark(&folder, &format!("{book} {rest}")).ok();
        let marked = read(book);
        assert_ne!(before, marked, "{rest}");
        let shown = mark(&folder, &format!("{book} --undo --dry-run"));
        assert_has(&shown.err(), "would be as before");
        assert_eq!(read(book), marked, "{rest}");
        undo(book).ok();
        if !writes_again {
            assert!(read(book) == before, "{rest}");
        } else {
            fs::write(folder.join("old.ctg"), &before).unwrap();
            folder.done("compact old.ctg");
            folder.tabia("diff book.ctg old.ctg").ok();
        }
        let again = undo(book);
        again.ends(2);
        assert_has(&again.err(), "there is no mark to undo");
    }
    // A mark that changes nothing leaves the one before.
    mark(&folder, "book.bin --move e4 --weight 1").ok();
    mark(&folder, "book.bin --move e4 --weight 1").ok();
    undo("book.bin").ok();
    mark(&folder, "book.ctg --move e4 main").ok();
    folder.done("compact book.ctg");
    let compacted = read("book.ctg");
    let refused = undo("book.ctg");
    refused.ends(2);
    assert_has(
        &refused.err(),
        "was changed since its last mark; nothing was undone",
    );
    assert!(read("book.ctg") == compacted);
    undo("book.ctg --move e4").ends(2);
}
