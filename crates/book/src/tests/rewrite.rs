//! Compacting and merging books.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
};

use super::common::{
    Folder, SIMPLE, TestBook, contents, family, files, in_order, names, open, project, random_book,
};
use proptest::prelude::*;
use tabia_book::{
    Error, PositionRecord, Probe,
    ctg::{
        BookWriter, CanonicalBoard, Key, RewriteOptions, Rewritten, WriteOptions, compact,
        encode_entry, merge, sum_entries,
    },
};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;

const MEMORY: u64 = 1 << 30;

/// Options that replace an existing book.
fn options(repack: bool, memory: u64) -> RewriteOptions {
    RewriteOptions::default()
        .old(Previous::Replace)
        .repack(repack)
        .memory(memory)
}

fn compacted(source: &Path, target: &Path, repack: bool) -> Rewritten {
    let options = options(repack, MEMORY);
    compact(source, target, &options, &mut Watch::default()).unwrap()
}

fn merged(target: &Path, sources: &[PathBuf], memory: u64) -> Result<Rewritten, Error> {
    merge(
        target,
        sources,
        &options(false, memory),
        &mut Watch::default(),
    )
}

#[test]
fn the_genuine_book_compacted_is_the_genuine_book() {
    let source = &project(SIMPLE);
    let folder = Folder::new();
    let target = folder.join("simple.ctg");
    let done = compacted(source, &target, false);
    assert!(done.splits_kept);
    assert!(files(&target) == files(source));
    // Also in place.
    compacted(&target, &target, false);
    assert!(files(&target) == files(source));
    let done = compacted(source, &target, true);
    assert_eq!((done.splits_kept, done.written.pages), (false, 2));
    assert_eq!(contents(&target), contents(source));
}

#[test]
fn compacting_keeps_splits_and_drops_what_is_stale() {
    let folder = Folder::new();
    let (mut book, positions) = random_book(20, 60);
    (book.page_limit, book.games) = (900, 77);
    let path = book.write(&folder, "book");
    let [_, cto, ctb] = files(&path);
    let done = compacted(&path, &path, false);
    assert!(done.splits_kept && !done.salvage.is_loss());
    assert_eq!(done.games, 77);
    assert_eq!(contents(&path), book.contents());
    let [_, new_cto, new_ctb] = files(&path);
    assert!(new_ctb == ctb);
    // The same slots are live; the new file only has more slots.
    let live = |cto: &[u8]| -> Vec<usize> {
        let slots = cto[16..].chunks(4).enumerate();
        slots
            .filter(|(_, slot)| *slot != [0xff; 4])
            .map(|(n, _)| n)
            .collect()
    };
    assert_eq!(live(&new_cto), live(&cto));
    assert!(new_cto.len() > cto.len());
    let again = folder.join("again.ctg");
    compacted(&path, &again, false);
    assert!(files(&again) == files(&path));

    let done = compacted(&path, &again, true);
    assert!(!done.splits_kept);
    assert!(files(&again)[0].len() < files(&path)[0].len() / 2);
    assert_eq!(contents(&again), book.contents());
    let again = open(&again);
    assert!(positions.iter().all(|p| again.contains(p).unwrap()));
}

#[test]
fn compacting_makes_a_lost_or_damaged_index_anew() {
    let folder = Folder::new();
    for shuffled in [false, true] {
        let (mut book, _) = random_book(20, 60);
        book.shuffled = shuffled;
        for damage in 0..4 {
            let path = book.write(&folder, "book");
            let cto = path.with_extension("cto");
            match damage {
                0 => fs::remove_file(&cto).unwrap(),
                1 => fs::write(&cto, "no index").unwrap(),
                2 => fs::copy(project(SIMPLE).with_extension("cto"), &cto)
                    .map(drop)
                    .unwrap(),
                _ => fs::remove_file(path.with_extension("ctb")).unwrap(),
            }
            // The least memory, so that overlapping pages are sorted on disk.
            let rewrite = options(false, 0).old(Previous::Refuse);
            compact(&path, &path, &rewrite, &mut Watch::default()).unwrap();
            assert_eq!(contents(&path), book.contents());
            // The old files are kept, those that were there.
            let names = folder.names().into_iter();
            let (kept, names): (Vec<_>, Vec<_>) = names.partition(|name| name.ends_with(".bak"));
            assert_eq!(names, ["book.ctb", "book.ctg", "book.cto"]);
            assert!(kept.contains(&"book.ctg.bak".to_owned()), "{kept:?}");
        }
    }
}

#[test]
fn what_no_slot_leads_to_gives_way_but_is_not_lost() {
    let folder = Folder::new();
    let (mut book, _) = random_book(20, 60);
    book.page_limit = 900;
    let path = book.write(&folder, "book");
    // A page at the end that repeats another one with different numbers.
    let mut bytes = fs::read(&path).unwrap();
    let mut stale = bytes[4096..8192].to_vec();
    let key = usize::from(stale[4] & 31);
    let block = usize::from(stale[4 + key]);
    stale[4 + key + block + 2] ^= 0x55;
    bytes.extend(stale);
    let pages = u32::from_be_bytes(bytes[16..20].try_into().unwrap()) + 1;
    bytes[16..20].copy_from_slice(&pages.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    let target = folder.join("new.ctg");
    let done = compacted(&path, &target, false);
    assert_eq!(done.salvage.unreached_pages, 1);
    assert!(done.salvage.repeated > 1);
    assert_eq!(contents(&target), book.contents());
    // A slot is lost: its page is found all the same.
    let mut cto = fs::read(path.with_extension("cto")).unwrap();
    let slot = cto[16..]
        .chunks(4)
        .rposition(|slot| slot != [0xff; 4])
        .unwrap();
    cto[16 + 4 * slot..][..4].fill(0xff);
    fs::write(path.with_extension("cto"), &cto).unwrap();
    let done = compacted(&path, &target, false);
    assert_eq!((done.salvage.unreached_pages, done.splits_kept), (2, true));
    assert_eq!(contents(&target), book.contents());
}

#[test]
fn an_index_that_only_seems_to_fit_costs_no_position() {
    // A few pages, and an index that leads to the right one of them by chance.
    for games in 1..20 {
        let (mut book, _) = random_book(games, 2);
        (book.page_limit, book.shuffled) = (1198, true);
        let folder = Folder::new();
        let path = book.write(&folder, "book");
        compacted(&path, &path, false);
        assert_eq!(contents(&path), book.contents());
    }
}

#[test]
fn a_key_that_is_no_position_is_left_out() {
    let folder = Folder::new();
    let (mut book, _) = random_book(3, 20);
    let sound = book.contents();
    let empty = Key::from_prefix(&[10, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    book.add_key(empty, Vec::new(), PositionRecord::default());
    let (path, target) = (book.write(&folder, "book"), folder.join("new.ctg"));
    let done = compacted(&path, &target, true);
    assert_eq!(done.salvage.bad_keys, 1);
    assert!(done.salvage.messages[0].contains("one king of each colour"));
    assert_eq!(contents(&target), sound);
}

#[test]
fn of_a_repeated_position_the_first_is_kept() {
    let folder = Folder::new();
    let (book, _) = random_book(1, 3);
    let path = book.write(&folder, "book");
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
    let target = folder.join("new.ctg");
    let done = compacted(&path, &target, true);
    assert_eq!(done.salvage.repeated, 1);
    assert!(done.salvage.messages[0].contains("occurs elsewhere too"));
    assert_eq!(contents(&target), book.contents());
}

#[test]
fn merging_is_the_same_in_any_order_and_grouping() {
    let folder = Folder::new();
    let books = family(&folder);
    let at = |name: &str| folder.join(name).with_extension("ctg");
    let done = merged(&at("all"), &books, MEMORY).unwrap();
    assert_eq!(done.games, 46);
    let all = files(at("all"));
    let found = contents(at("all"));
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
        assert!(files(at("turned")) == all);
        turned.reverse();
        merged(&at("turned"), &turned, MEMORY).unwrap();
        assert!(files(at("turned")) == all);
        merged(&at("left"), &turned[..2], MEMORY).unwrap();
        merged(&at("right"), &turned[2..], MEMORY).unwrap();
        merged(&at("both"), &[at("left"), at("right")], MEMORY).unwrap();
        assert!(files(at("both")) == all);
        merged(&at("rest"), &turned[1..], MEMORY).unwrap();
        merged(&at("both"), &[at("rest"), turned[0].clone()], MEMORY).unwrap();
        assert!(files(at("both")) == all);
    }
}

#[test]
fn work_that_is_stopped_changes_nothing() {
    let folder = Folder::new();
    let books = family(&folder);
    let before = folder.names();
    let bytes = fs::read(&books[0]).unwrap();
    // Cancelled before the end.
    let stop = AtomicBool::new(true);
    let rewrite = options(true, MEMORY).old(Previous::Refuse);
    let out = folder.join("out.ctg");
    for stopped in [
        merge(&out, &books, &rewrite, &mut Watch::stopped_by(&stop)),
        compact(
            &books[0],
            &books[0],
            &rewrite,
            &mut Watch::stopped_by(&stop),
        ),
    ] {
        assert!(matches!(stopped, Err(Error::Stopped)));
    }
    assert_eq!(folder.names(), before);
    assert!(fs::read(&books[0]).unwrap() == bytes);
}

/// The child process: writes two books in turn over each other until it is killed, or as
/// often as `TABIA_TEST_WRITES` says.
#[test]
#[ignore = "only run as the child of the next test"]
fn a_writer_that_is_killed() {
    let Some(folder) = std::env::var_os("TABIA_TEST_FOLDER") else {
        return;
    };
    // Made by the parent process, which has more time.
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
    // The harness keeps only what `eprintln` writes.
    let ready = || std::io::stderr().write_all(b"ready\n").unwrap();
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

/// Two states of a book that differ in a few pages only: then an index of the other state
/// is hardest to notice.
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
    in_order(book.contents().into_values())
}

fn write_over(path: &Path, entries: &[Vec<u8>]) {
    let mut writer =
        BookWriter::create(path, WriteOptions::default().old(Previous::Replace)).unwrap();
    for entry in entries {
        writer.push(entry).unwrap();
    }
    writer.finish(1).unwrap();
}

#[cfg(unix)]
#[test]
fn a_kill_at_any_moment_leaves_the_old_book_or_the_new_one() {
    let folder = Folder::new();
    let books = folder.join("books");
    fs::create_dir(&books).unwrap();
    let path = books.join("book.ctg");
    let (_, positions) = random_book(33, 40);
    let states = [book_of(1), book_of(2)];
    write_over(&path, &sorted(&states[0]));
    for (state, name) in states.iter().zip(["1", "2"]) {
        folder.put(name, sorted(state).concat());
    }
    let mut seen = [0, 0];
    let mut without_index = 0;
    let mut random = super::common::choices(11);
    for round in 0..40 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--ignored",
                "--exact",
                "tests::rewrite::a_writer_that_is_killed",
            ])
            .env("TABIA_TEST_FOLDER", &*folder)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped());
        // The first three are killed when their output is known.
        if round < 3 {
            command.env("TABIA_TEST_WRITES", round.to_string());
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        messages.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        if round >= 3 {
            let micros = u64::from(random.next().unwrap());
            // A kill at any moment leaves a whole book: the pause only chooses the moment.
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

// On Windows an open file cannot always be replaced.
#[cfg(unix)]
#[test]
fn a_reader_sees_one_book_while_another_is_put_in_place() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    let folder = Folder::new();
    let path = folder.join("book.ctg");
    let states = [book_of(1), book_of(2)];
    let entries = states.each_ref().map(sorted);
    let (_, positions) = random_book(33, 40);
    write_over(&path, &entries[0]);
    let done = AtomicBool::new(false);
    // The writer continues until the reader has opened the book often enough.
    let opened = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut written = 0;
            while written < 30 || opened.load(Ordering::Relaxed) < 30 && written < 100_000 {
                write_over(&path, &entries[written % 2]);
                written += 1;
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let book = open(&path);
            opened.fetch_add(1, Ordering::Relaxed);
            let first = book.entries().next().unwrap().unwrap();
            let expected = &states[first.record.stats.games as usize - 1];
            for position in positions.iter().step_by(11) {
                let key = CanonicalBoard::from_position(position).unwrap().key();
                let there = expected.entries.contains_key(&key);
                assert_eq!(book.contains(position).unwrap(), there);
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn compacting_changes_no_entry(games in 1..20_u64, plies in 0..60_usize, limit in 300..4097_usize, shuffled: bool, repack: bool, memory in 0..200_000_u64) {
        let (mut book, _) = random_book(games, plies);
        book.page_limit = limit;
        book.shuffled = shuffled;
        let folder = Folder::new();
        let path = book.write(&folder, "book");
        let rewrite = options(repack, memory).old(Previous::Refuse);
        let done = compact(&path, &path, &rewrite, &mut Watch::default()).unwrap();
        prop_assert_eq!(done.salvage.repeated, 0);
        prop_assert!(!done.salvage.is_loss());
        prop_assert_eq!(contents(&path), book.contents());
        let before = files(&path);
        compact(&path, &path, &rewrite, &mut Watch::default()).unwrap();
        prop_assert!(files(&path) == before);
    }
}
