//! `tabia compact` and `tabia merge`.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::AtomicBool,
};

use common::{TestBook, random_book};
use proptest::prelude::*;
use tabia::book::{
    Probe,
    ctg::{
        BookWriter, CanonicalBoard, CtgBook, Key, OpenOptions, RewriteError, RewriteOptions,
        Rewritten, WriteOptions, compact, encode_entry, merge, sum_entries,
    },
};
use tabia::place::Old;
use tabia::watch::Watch;

const MEMORY: u64 = 1 << 30;

fn open(path: &Path) -> CtgBook {
    CtgBook::open(path, &OpenOptions::default()).unwrap()
}

fn compacted(source: &Path, target: &Path, repack: bool) -> Rewritten {
    compact(
        source,
        target,
        &RewriteOptions {
            old: Old::Replace,
            repack,
            memory: MEMORY,
            strict: false,
        },
        &mut Watch::default(),
    )
    .unwrap()
}

fn merged(target: &Path, sources: &[PathBuf], memory: u64) -> Result<Rewritten, RewriteError> {
    merge(
        target,
        sources,
        &RewriteOptions {
            old: Old::Replace,
            repack: false,
            memory,
            strict: false,
        },
        &mut Watch::default(),
    )
}

fn files(path: &Path) -> [Vec<u8>; 3] {
    ["ctg", "cto", "ctb"].map(|extension| fs::read(path.with_extension(extension)).unwrap())
}

/// Every entry of a book, as bytes by key.
fn contents(path: &Path) -> BTreeMap<Key, Vec<u8>> {
    let book = open(path);
    assert_eq!(book.notices(), [""; 0]);
    book.entries()
        .map(|entry| {
            let entry = entry.unwrap();
            let mut bytes = Vec::new();
            encode_entry(&entry.key, &entry.moves, &entry.record, &mut bytes);
            (entry.key, bytes)
        })
        .collect()
}

fn expected(book: &TestBook) -> BTreeMap<Key, Vec<u8>> {
    let entries = book.entries.iter().map(|(key, (moves, record))| {
        let mut bytes = Vec::new();
        encode_entry(key, moves, record, &mut bytes);
        (*key, bytes)
    });
    entries.collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // The lock of a book is a file of its own there, and stays.
        .filter(|name| cfg!(unix) || !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}

fn tabia(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabia"))
        .args(args)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_genuine_book_compacted_is_the_genuine_book() {
    let source = Path::new("tests/data/ctg/simple.ctg");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("simple.ctg");
    let done = compacted(source, &target, false);
    assert!(done.splits_kept);
    assert!(files(&target) == files(source));
    // In place of itself, too.
    compacted(&target, &target, false);
    assert!(files(&target) == files(source));
    let done = compacted(source, &target, true);
    assert_eq!((done.splits_kept, done.written.pages), (false, 2));
    assert_eq!(contents(&target), contents(source));
}

#[test]
fn compacting_keeps_splits_and_drops_what_is_stale() {
    let folder = tempfile::tempdir().unwrap();
    let (mut book, positions) = random_book(20, 60);
    (book.page_limit, book.games) = (900, 77);
    let path = book.write(folder.path(), "book");
    let [_, cto, ctb] = files(&path);
    let done = compacted(&path, &path, false);
    assert!(done.splits_kept && !done.salvage.is_loss());
    assert_eq!(done.games, 77);
    assert_eq!(contents(&path), expected(&book));
    let [_, new_cto, new_ctb] = files(&path);
    assert!(new_ctb == ctb);
    // The same slots are live; only more follow.
    let live = |cto: &[u8]| -> Vec<usize> {
        let slots = cto[16..].chunks(4).enumerate();
        slots
            .filter(|(_, slot)| *slot != [0xff; 4])
            .map(|(n, _)| n)
            .collect()
    };
    assert_eq!(live(&new_cto), live(&cto));
    assert!(new_cto.len() > cto.len());
    let again = folder.path().join("again.ctg");
    compacted(&path, &again, false);
    assert!(files(&again) == files(&path));

    let done = compacted(&path, &again, true);
    assert!(!done.splits_kept);
    assert!(files(&again)[0].len() < files(&path)[0].len() / 2);
    assert_eq!(contents(&again), expected(&book));
    let again = open(&again);
    assert!(positions.iter().all(|p| again.contains(p).unwrap()));
}

#[test]
fn compacting_makes_a_lost_or_damaged_index_anew() {
    let folder = tempfile::tempdir().unwrap();
    for shuffled in [false, true] {
        let (mut book, _) = random_book(20, 60);
        book.shuffled = shuffled;
        for damage in 0..4 {
            let path = book.write(folder.path(), "book");
            let cto = path.with_extension("cto");
            match damage {
                0 => fs::remove_file(&cto).unwrap(),
                1 => fs::write(&cto, "no index").unwrap(),
                2 => fs::copy("tests/data/ctg/simple.cto", &cto)
                    .map(drop)
                    .unwrap(),
                _ => fs::remove_file(path.with_extension("ctb")).unwrap(),
            }
            // The least memory, so that overlapping pages are sorted on disk.
            compact(
                &path,
                &path,
                &RewriteOptions {
                    old: Old::Refuse,
                    repack: false,
                    memory: 0,
                    strict: false,
                },
                &mut Watch::default(),
            )
            .unwrap();
            assert_eq!(contents(&path), expected(&book));
            assert_eq!(names(folder.path()), ["book.ctb", "book.ctg", "book.cto"]);
        }
    }
}

#[test]
fn compacting_saves_what_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut book, _) = random_book(20, 60);
    book.page_limit = 900;
    let path = book.write(folder.path(), "book");
    let mut bytes = fs::read(&path).unwrap();
    let keys = |path: &Path| contents(path).len();
    let all = keys(&path);
    // A page of noise, one cut in its middle, one whose first key is none.
    bytes[4096 * 4..][..4096].fill(0xa5);
    let first_length = usize::from(bytes[4096 * 7 + 4] & 31);
    bytes[4096 * 7 + 4 + first_length] = 0;
    bytes[4096 * 9 + 5..][..12].fill(0);
    fs::write(&path, &bytes).unwrap();
    let saved = folder.path().join("saved.ctg");
    let output = tabia(&[
        "compact",
        path.to_str().unwrap(),
        "-o",
        saved.to_str().unwrap(),
    ]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("2 damaged pages not read to their end"),
        "{text}"
    );
    assert!(
        text.contains("1 position with an impossible key left out"),
        "{text}"
    );
    assert!(text.contains("page 3 (file byte 16384)"), "{text}");
    let left = keys(&saved);
    assert!(left < all - 2 && left > all / 2);
    assert_eq!(open(&saved).info().unwrap().problems, [""; 0]);
    // Nothing readable at all: the old book stays.
    bytes[4096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let output = tabia(&["compact", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("42405 bytes used"));
    assert!(fs::read(&path).unwrap() == bytes);
}

#[test]
fn what_no_slot_leads_to_gives_way_but_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (mut book, _) = random_book(20, 60);
    book.page_limit = 900;
    let path = book.write(folder.path(), "book");
    // A page at the end that repeats one with other numbers.
    let mut bytes = fs::read(&path).unwrap();
    let mut stale = bytes[4096..8192].to_vec();
    let key = usize::from(stale[4] & 31);
    let block = usize::from(stale[4 + key]);
    stale[4 + key + block + 2] ^= 0x55;
    bytes.extend(stale);
    let pages = u32::from_be_bytes(bytes[16..20].try_into().unwrap()) + 1;
    bytes[16..20].copy_from_slice(&pages.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    let target = folder.path().join("new.ctg");
    let done = compacted(&path, &target, false);
    assert_eq!(done.salvage.unreached_pages, 1);
    assert!(done.salvage.repeated > 1);
    assert_eq!(contents(&target), expected(&book));
    // A slot that was lost: its page is found all the same.
    let mut cto = fs::read(path.with_extension("cto")).unwrap();
    let slot = cto[16..]
        .chunks(4)
        .rposition(|slot| slot != [0xff; 4])
        .unwrap();
    cto[16 + 4 * slot..][..4].fill(0xff);
    fs::write(path.with_extension("cto"), &cto).unwrap();
    let done = compacted(&path, &target, false);
    assert_eq!((done.salvage.unreached_pages, done.splits_kept), (2, true));
    assert_eq!(contents(&target), expected(&book));
}

#[test]
fn an_index_that_only_seems_to_fit_costs_no_position() {
    // A few pages, and an index that leads to the right one of them by chance.
    for games in 1..20 {
        let (mut book, _) = random_book(games, 2);
        (book.page_limit, book.shuffled) = (1198, true);
        let folder = tempfile::tempdir().unwrap();
        let path = book.write(folder.path(), "book");
        compacted(&path, &path, false);
        assert_eq!(contents(&path), expected(&book));
    }
}

#[test]
fn of_a_repeated_position_the_first_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (book, _) = random_book(1, 3);
    let path = book.write(folder.path(), "book");
    let mut bytes = fs::read(&path).unwrap();
    let used = usize::from(u16::from_be_bytes([bytes[4098], bytes[4099]]));
    let key = usize::from(bytes[4100] & 31);
    let length = key + usize::from(bytes[4100 + key]) + 33;
    let mut twin = bytes[4100..4100 + length].to_vec();
    twin[length - 1] ^= 1;
    bytes[4096 + used..][..length].copy_from_slice(&twin);
    bytes[4097] += 1;
    bytes[4098..4100].copy_from_slice(&((used + length) as u16).to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    let target = folder.path().join("new.ctg");
    let done = compacted(&path, &target, true);
    assert_eq!(done.salvage.repeated, 1);
    assert!(done.salvage.messages[0].contains("stands elsewhere too"));
    assert_eq!(contents(&target), expected(&book));
}

/// Some books that share many positions.
fn family(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for n in 0..4_u32 {
        let (mut book, _) = random_book(4 + 6 * u64::from(n), 40);
        book.games = 10 + n;
        book.shuffled = n == 2;
        book.page_limit = 600;
        for (m, (moves, record)) in book.entries.values_mut().enumerate() {
            record.stats.games += n * 7;
            record.factor = (m as u32 * 31 + n * 17) as i8;
            record.commentary = (m as u32 % 20 * n) as u8;
            let turn = n as usize % 3 % moves.len().max(1);
            moves.rotate_left(turn);
        }
        paths.push(book.write(folder, &format!("book{n}")));
    }
    // The shuffled one does without the index.
    fs::remove_file(paths[2].with_extension("cto")).unwrap();
    paths
}

#[test]
fn merging_is_the_same_in_any_order_and_grouping() {
    let folder = tempfile::tempdir().unwrap();
    let books = family(folder.path());
    let at = |name: &str| folder.path().join(name).with_extension("ctg");
    let done = merged(&at("all"), &books, MEMORY).unwrap();
    assert_eq!(done.games, 46);
    let all = files(&at("all"));
    let found = contents(&at("all"));
    assert_eq!(found.len() as u64, done.written.positions);

    let mut each: BTreeMap<Key, Vec<Vec<u8>>> = BTreeMap::new();
    for path in &books {
        let book = open(path);
        for entry in book.entries().map(Result::unwrap) {
            let mut bytes = Vec::new();
            encode_entry(&entry.key, &entry.moves, &entry.record, &mut bytes);
            each.entry(entry.key).or_default().push(bytes);
        }
    }
    assert!(each.values().any(|entries| entries.len() == 4));
    for (key, entries) in &each {
        let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
        let mut sum = Vec::new();
        sum_entries(&entries, &mut sum).unwrap();
        assert_eq!(found[key], sum);
    }

    for turn in 0..books.len() {
        let mut turned = books.clone();
        turned.rotate_left(turn);
        merged(&at("turned"), &turned, 0).unwrap();
        assert!(files(&at("turned")) == all);
        turned.reverse();
        merged(&at("turned"), &turned, MEMORY).unwrap();
        assert!(files(&at("turned")) == all);
        merged(&at("left"), &turned[..2], MEMORY).unwrap();
        merged(&at("right"), &turned[2..], MEMORY).unwrap();
        merged(&at("both"), &[at("left"), at("right")], MEMORY).unwrap();
        assert!(files(&at("both")) == all);
        merged(&at("rest"), &turned[1..], MEMORY).unwrap();
        merged(&at("both"), &[at("rest"), turned[0].clone()], MEMORY).unwrap();
        assert!(files(&at("both")) == all);
    }
}

#[test]
fn wrong_wishes_are_refused_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let books = family(folder.path());
    let before = names(folder.path());
    let bytes = fs::read(&books[0]).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let refused = |args: &[&str], expected: &str| {
        let output = tabia(args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        // Said once, not once more by its cause.
        assert!(text.matches("No such file").count() <= 1, "{text}");
        assert!(output.stdout.is_empty());
        assert_eq!(names(folder.path()), before);
    };
    let [a, b] = [text(&books[0]), text(&books[1])];
    let out = text(&folder.path().join("out.ctg"));
    let none = text(&folder.path().join("none.ctg"));
    let elsewhere = text(&folder.path().join("no").join("out.ctg"));
    refused(&["merge", "-o", &a, &b, &a], "is there already");
    refused(&["compact", &a, "-o", &b], "is there already");
    let roundabout = text(&folder.path().join(".").join("BOOK0.CTG"));
    // Where letters count, the book is another one with this one's index.
    let in_the_way = if cfg!(windows) {
        "BOOK0.CTG: is there already"
    } else {
        "book0.cto: is there already"
    };
    refused(&["merge", "-o", &roundabout, &a, &b], in_the_way);
    refused(
        &["merge", "-o", &out, &a, &none],
        "none.ctg: cannot read the book",
    );
    refused(&["merge", "-o", &elsewhere, &a, &b], "there is no folder");
    refused(
        &["merge", "-o", &a.replace("book0.ctg", "new.xyz"), &a, &b],
        "must end with .ctg",
    );
    refused(&["compact", &none], "cannot read the book");
    refused(&["compact", &a, "-o", &elsewhere], "there is no folder");
    let no_book = folder.path().join("book0.ctb");
    refused(
        &["merge", "-o", &out, &a, &text(&no_book)],
        "this is the index of a book",
    );
    assert!(fs::read(&books[0]).unwrap() == bytes);
    // Stopped before the end.
    let stop = AtomicBool::new(true);
    let stopped = merge(
        Path::new(&out),
        &books,
        &RewriteOptions {
            old: Old::Refuse,
            repack: false,
            memory: MEMORY,
            strict: false,
        },
        &mut Watch::stopped_by(&stop),
    )
    .unwrap_err();
    assert!(matches!(stopped, RewriteError::Stopped(_)));
    let stopped = compact(
        &books[0],
        &books[0],
        &RewriteOptions {
            old: Old::Refuse,
            repack: true,
            memory: MEMORY,
            strict: false,
        },
        &mut Watch::stopped_by(&stop),
    )
    .unwrap_err();
    assert!(matches!(stopped, RewriteError::Stopped(_)));
    assert_eq!(names(folder.path()), before);
    assert!(fs::read(&books[0]).unwrap() == bytes);
}

#[test]
fn the_command_line_tells_what_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let books = family(folder.path());
    let out = folder.path().join("out.ctg");
    let mut args = vec!["merge", "-o", out.to_str().unwrap()];
    args.extend(books.iter().map(|path| path.to_str().unwrap()));
    let output = tabia(&args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("4 books; 46 games, "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    // All three files are compared with all three.
    let parts = ["ctg", "cto", "ctb"].map(|part| out.with_extension(part));
    let bytes: u64 = parts
        .iter()
        .map(|part| fs::metadata(part).unwrap().len())
        .sum();
    let output = tabia(&["compact", out.to_str().unwrap()]);
    let text = stderr(&output);
    let before = format!("{bytes} bytes in all its files before; ");
    assert!(text.contains(&before), "{text}");
    assert!(
        text.contains(&format!(" moves, {bytes} bytes in ")),
        "{text}"
    );
    let output = tabia(&["compact", "--repack", out.to_str().unwrap()]);
    assert!(stderr(&output).contains("index made anew"));
}

#[test]
fn an_old_book_is_refused_or_kept_with_all_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let books = family(folder.path());
    let [a, b] = [0, 1].map(|n| books[n].to_str().unwrap().to_owned());
    let parts = |suffix: &str| {
        ["ctg", "cto", "ctb"].map(|part| {
            let name = format!("{}{suffix}", books[0].with_extension(part).display());
            fs::read(name).ok()
        })
    };
    let old = parts("");
    // The old form, which would destroy the first book.
    let output = tabia(&["merge", &a, &b]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--output"), "{}", stderr(&output));
    let output = tabia(&["merge", "-o", &a, &b]);
    assert_eq!(output.status.code(), Some(2), "one book is no sum");
    let output = tabia(&["merge", "-o", &a, &a, &b]);
    let text = stderr(&output);
    assert!(text.contains("is there already"), "{text}");
    assert!(text.contains("book0.ctg.bak"), "{text}");
    assert_eq!(parts(""), old);
    // A source may be the target when that is said.
    let output = tabia(&["merge", "-f", "-o", &a, &a, &b]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(parts(".bak"), old);
    assert_ne!(parts("")[0], old[0]);
    let sum = contents(&books[0]).len();
    assert!(sum >= contents(&books[1]).len());
    // No second backup, and the first is the last book.
    let second = parts("");
    let output = tabia(&["compact", &b, "--force", "-o", &a]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(parts(".bak"), second);
}

/// Writes two books in turn over each other until it is killed; where
/// `TABIA_TEST_WRITES` says so, that many and no more.
#[test]
#[ignore = "only run as the child of the next test"]
fn a_writer_that_is_killed() {
    let Some(folder) = std::env::var_os("TABIA_TEST_FOLDER") else {
        return;
    };
    // Made by the parent, which has the time.
    let books = ["1", "2"].map(|state| {
        let mut bytes = fs::read(Path::new(&folder).join(state)).unwrap();
        let mut entries = Vec::new();
        while let Some(first) = bytes.first() {
            let key = usize::from(first & 31);
            let rest = bytes.split_off(key + usize::from(bytes[key]) + 33);
            entries.push(std::mem::replace(&mut bytes, rest));
        }
        entries
    });
    let ready = || fs::write(Path::new(&folder).join("ready"), "").unwrap();
    let path = Path::new(&folder).join("books").join("book.ctg");
    if let Ok(writes) = std::env::var("TABIA_TEST_WRITES") {
        let writes = writes.parse().unwrap();
        let turns = books.iter().cycle().take(writes);
        turns.for_each(|book| write_over(&path, book));
        ready();
        loop {
            std::thread::park();
        }
    }
    ready();
    loop {
        books.iter().for_each(|book| write_over(&path, book));
    }
}

/// Two states of a book that differ in few pages only: then an index of the
/// other state is hardest to notice.
fn book_of(state: u32) -> TestBook {
    let (mut book, _) = random_book(30, 40);
    if state == 2 {
        let extra = random_book(33, 40).0;
        book.entries.extend(extra.entries);
    }
    for (_, record) in book.entries.values_mut() {
        record.stats.games = state;
    }
    book
}

fn sorted(book: &TestBook) -> Vec<Vec<u8>> {
    let mut entries: Vec<(Key, Vec<u8>)> = expected(book).into_iter().collect();
    entries.sort_by_key(|(key, _)| (key.hash().reverse_bits(), *key));
    entries.into_iter().map(|(_, bytes)| bytes).collect()
}

const OVER: WriteOptions = WriteOptions {
    split_root: true,
    keep_splits: None,
    old: Old::Replace,
};

fn write_over(path: &Path, entries: &[Vec<u8>]) {
    let mut writer = BookWriter::create(path, OVER).unwrap();
    for entry in entries {
        writer.push(entry).unwrap();
    }
    writer.finish(1).unwrap();
}

#[cfg(unix)]
#[test]
fn a_kill_at_any_moment_leaves_the_old_book_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let books = folder.path().join("books");
    fs::create_dir(&books).unwrap();
    let path = books.join("book.ctg");
    let (_, positions) = random_book(33, 40);
    let states = [book_of(1), book_of(2)];
    write_over(&path, &sorted(&states[0]));
    for (state, name) in states.iter().zip(["1", "2"]) {
        fs::write(folder.path().join(name), sorted(state).concat()).unwrap();
    }
    let mut seen = [0, 0];
    let mut without_index = 0;
    let mut random = common::choices(11);
    for round in 0..40 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", "a_writer_that_is_killed"])
            .env("TABIA_TEST_FOLDER", folder.path())
            .stdout(std::process::Stdio::null());
        // The first three are killed where it is known what they have written.
        if round < 3 {
            command.env("TABIA_TEST_WRITES", round.to_string());
        }
        let mut child = command.spawn().unwrap();
        while !ready.exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        fs::remove_file(&ready).unwrap();
        if round >= 3 {
            let micros = u64::from(random.next().unwrap());
            std::thread::sleep(std::time::Duration::from_micros(micros * 4));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let book = open(&path);
        without_index += usize::from(!book.notices().is_empty());
        let first = book.entries().next().unwrap().unwrap();
        let state = first.record.stats.games as usize - 1;
        seen[state] += 1;
        if let Some(known) = [0, 0, 1].get(round) {
            assert_eq!(state, *known, "{round} books were written");
        }
        let expected = &states[state];
        assert_eq!(book.entries().count(), expected.entries.len());
        for position in &positions {
            let key = CanonicalBoard::from_position(position).unwrap().key();
            let there = expected.entries.contains_key(&key);
            assert_eq!(book.contains(position).unwrap(), there);
        }
    }
    eprintln!("{seen:?} of each, {without_index} without index");
    // The next writer cleans up after all of them.
    write_over(&path, &sorted(&states[0]));
    assert_eq!(names(&books), ["book.ctb", "book.ctg", "book.cto"]);
}

// Windows does not let an open file be replaced at all times.
#[cfg(unix)]
#[test]
fn a_reader_sees_one_book_while_another_is_put_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.ctg");
    let states = [book_of(1), book_of(2)];
    let entries = states.each_ref().map(sorted);
    let (_, positions) = random_book(33, 40);
    write_over(&path, &entries[0]);
    let done = AtomicBool::new(false);
    let mut opened = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..30 {
                write_over(&path, &entries[n % 2]);
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let book = open(&path);
            opened += 1;
            let first = book.entries().next().unwrap().unwrap();
            let expected = &states[first.record.stats.games as usize - 1];
            for position in positions.iter().step_by(11) {
                let key = CanonicalBoard::from_position(position).unwrap().key();
                let there = expected.entries.contains_key(&key);
                assert_eq!(book.contains(position).unwrap(), there);
            }
        }
    });
    assert!(opened > 30, "{opened}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn compacting_changes_no_entry(games in 1..20_u64, plies in 0..60_usize, limit in 300..4097_usize, shuffled: bool, repack: bool, memory in 0..200_000_u64) {
        let (mut book, _) = random_book(games, plies);
        book.page_limit = limit;
        book.shuffled = shuffled;
        let folder = tempfile::tempdir().unwrap();
        let path = book.write(folder.path(), "book");
        let stop = AtomicBool::new(false);
        let done = compact(&path, &path, &RewriteOptions { old: Old::Refuse, repack, memory, strict: false }, &mut Watch::stopped_by(&stop)).unwrap();
        prop_assert_eq!(done.salvage.repeated, 0);
        prop_assert!(!done.salvage.is_loss());
        prop_assert_eq!(contents(&path), expected(&book));
        let before = files(&path);
        compact(&path, &path, &RewriteOptions { old: Old::Refuse, repack, memory, strict: false }, &mut Watch::stopped_by(&stop)).unwrap();
        prop_assert!(files(&path) == before);
    }
}
