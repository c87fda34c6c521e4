//! Verifying books: every planted fault is found, and no other.

use std::{fs, path::Path, sync::LazyLock};

use super::common::{
    Folder, SIMPLE, TestBook, choices, in_order, position, project, random_book, record,
};
use proptest::prelude::*;
use shakmaty::Chess;
use tabia_book::{
    Annotation, PositionRecord, Stats,
    ctg::{
        BookWriter, CanonicalBoard, Key, Problem, RewriteOptions, Verified, WriteOptions, compact,
        verify,
    },
};
use tabia_io::progress::Watch;

/// The three files of a book.
#[derive(Clone)]
struct Files {
    ctg: Vec<u8>,
    cto: Vec<u8>,
    ctb: Vec<u8>,
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

impl Files {
    fn read(path: &Path) -> Files {
        let [ctg, cto, ctb] = super::common::files(path);
        Files { ctg, cto, ctb }
    }

    fn write(&self, path: &Path) {
        for (extension, bytes) in [("ctg", &self.ctg), ("cto", &self.cto), ("ctb", &self.ctb)] {
            fs::write(path.with_extension(extension), bytes).unwrap();
        }
    }

    /// Slots with a page, and their pages.
    fn live(&self) -> Vec<(usize, u32)> {
        (0..self.cto.len() / 4 - 4)
            .map(|slot| (slot, number(&self.cto, 16 + 4 * slot)))
            .filter(|(_, page)| *page != u32::MAX)
            .collect()
    }

    fn set_slot(&mut self, slot: usize, page: u32) {
        self.cto[16 + 4 * slot..][..4].copy_from_slice(&page.to_be_bytes());
    }

    /// The offset of every entry in the .ctg file, and its length.
    fn entries(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for page in (4096..self.ctg.len()).step_by(4096) {
            let mut at = 4;
            while at < self.used(page) {
                let key = usize::from(self.ctg[page + at] & 31);
                let length = key + usize::from(self.ctg[page + at + key]) + 33;
                found.push((page + at, length));
                at += length;
            }
        }
        found
    }

    /// Number of used bytes of a page.
    fn used(&self, page: usize) -> usize {
        u16::from_be_bytes([self.ctg[page + 2], self.ctg[page + 3]]).into()
    }

    fn set_used(&mut self, page: usize, used: usize) {
        self.ctg[page + 2..page + 4].copy_from_slice(&(used as u16).to_be_bytes());
    }

    /// Adds an entry at the end of a page, and returns its offset.
    fn append(&mut self, page: usize, entry: &[u8]) -> usize {
        let place = page + self.used(page);
        self.ctg[place..place + entry.len()].copy_from_slice(entry);
        self.set_used(page, place - page + entry.len());
        self.ctg[page + 1] += 1;
        place
    }

    fn key_bytes(&self, entry: usize) -> usize {
        usize::from(self.ctg[entry] & 31)
    }

    fn move_count(&self, entry: usize) -> usize {
        usize::from(self.ctg[entry + self.key_bytes(entry)] / 2)
    }

    /// The offset of an entry's statistics.
    fn statistics(&self, entry: usize) -> usize {
        entry + self.key_bytes(entry) + 1 + 2 * self.move_count(entry)
    }

    /// The `n`-th entry with at least this many moves.
    fn entry_with_moves(&self, moves: usize, n: usize) -> usize {
        let mut fitting = self
            .entries()
            .into_iter()
            .map(|(at, _)| at)
            .filter(|&at| self.move_count(at) >= moves);
        fitting.nth(n).unwrap()
    }
}

fn verified(path: &Path) -> (Verified, Vec<Problem>) {
    let mut problems = Vec::new();
    let mapped = verify(path, true, &mut Watch::default(), &mut |problem| {
        problems.push(problem)
    })
    .unwrap();
    let mut again = Vec::new();
    let read = verify(path, false, &mut Watch::default(), &mut |problem| {
        again.push(problem)
    })
    .unwrap();
    assert_eq!(mapped, read);
    assert_eq!(problems, again);
    assert_eq!(mapped.problems, problems.len() as u64);
    (mapped, problems)
}

fn write(path: &Path, book: &TestBook) {
    let mut writer = BookWriter::create(path, WriteOptions::default()).unwrap();
    for bytes in in_order(book.contents().into_values()) {
        writer.push(&bytes).unwrap();
    }
    writer.finish(1).unwrap();
}

fn sound_book() -> TestBook {
    random_book(40, 60).0
}

/// The files of [`sound_book`].
static SOUND: LazyLock<Files> = LazyLock::new(|| {
    let folder = Folder::new();
    let path = folder.join("book.ctg");
    write(&path, &sound_book());
    Files::read(&path)
});

/// Every problem as kind, page and offset.
type Row = (String, Option<u32>, u64);

/// Plants a fault in a sound book and returns what is found.
fn plant(fault: impl FnOnce(&mut Files)) -> Vec<Row> {
    let folder = Folder::new();
    let path = folder.join("book.ctg");
    let mut files = SOUND.clone();
    fault(&mut files);
    files.write(&path);
    let (_, problems) = verified(&path);
    problems
        .iter()
        .map(|problem| {
            let name = problem.file.file_name().unwrap().to_str().unwrap();
            let kind = format!("{name} {}", problem.kind.as_str());
            (kind, problem.page, problem.offset)
        })
        .collect()
}

fn row(kind: &str, page: Option<usize>, offset: usize) -> Row {
    (kind.to_owned(), page.map(|page| page as u32), offset as u64)
}

/// A problem in the .ctg file at a byte of a data page.
fn at(kind: &str, offset: usize) -> Row {
    row(&format!("book.ctg {kind}"), Some(offset / 4096 - 1), offset)
}

#[test]
fn sound_books_have_no_problem() {
    let (report, problems) = verified(&project(SIMPLE));
    assert_eq!(problems, []);
    assert_eq!((report.positions, report.moves, report.pages), (4, 3, 1));
    assert_eq!(report.notes, [""; 0]);
    assert_eq!(plant(|_| ()), []);
    // An empty book, and one of one entry.
    for positions in [0, 1] {
        let folder = Folder::new();
        let path = folder.join("b.ctg");
        let mut book = random_book(1, 0).0;
        if positions == 0 {
            book.entries.clear();
        }
        write(&path, &book);
        let (report, problems) = verified(&path);
        assert_eq!((problems.len(), report.positions), (0, positions));
    }
}

#[test]
fn what_genuine_books_have_is_a_note() {
    let folder = Folder::new();
    let mut book = sound_book();
    for (_, record) in book.entries.values_mut() {
        record.points = 0;
    }
    // The writer of the tests leaves stale bytes, and an index of the smallest possible
    // length.
    let path = book.write(&folder, "book");
    let mut files = Files::read(&path);
    let positions = number(&files.ctg, 24) + 16;
    files.ctg[24..28].copy_from_slice(&positions.to_be_bytes());
    files.write(&path);
    let (report, problems) = verified(&path);
    assert_eq!(problems, []);
    let notes = report.notes.join("; ");
    for expected in [
        "pages have stale bytes",
        "the header counts ",
        "no expected points",
    ] {
        assert!(notes.contains(expected), "{notes}");
    }
}

#[test]
fn header_constants_and_counts() {
    let byte = |at: usize| plant(|files| files.ctg[at] ^= 0x40);
    for at in [2, 3] {
        let folder = Folder::new();
        let path = folder.join("book.ctg");
        let mut bytes = fs::read(project(SIMPLE)).unwrap();
        bytes[at] ^= 0x40;
        fs::write(&path, bytes).unwrap();
        let error = verify(&path, true, &mut Watch::default(), &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("not a CTG book"));
    }
    assert_eq!(byte(5), [row("book.ctg header", None, 4)]);
    assert_eq!(byte(10), [row("book.ctg header", None, 8)]);
    assert_eq!(byte(15), [row("book.ctg header", None, 12)]);
    assert_eq!(byte(22), [row("book.ctg header", None, 20)]);
    assert_eq!(byte(19), [row("book.ctg page-count", None, 16)]);
    let fewer = plant(|files| files.ctg[24..28].fill(0));
    assert_eq!(fewer, [row("book.ctg position-count", None, 24)]);
    // Unknown constants only give a note.
    assert_eq!(byte(0x401), []);
}

#[test]
fn a_page_more_or_less_in_the_file() {
    let more = plant(|files| files.ctg.extend([0; 4096]));
    let pages = |files: &Files| files.ctg.len() / 4096 - 1;
    let length = SOUND.ctg.len();
    assert_eq!(
        more,
        [
            row("book.ctg page-count", None, 16),
            at("page-bounds", length)
        ]
    );
    let empty = plant(|files| {
        files.ctg.extend([0, 0, 0, 4]);
        files.ctg.resize(length + 4096, 0);
        let count = pages(files) as u32;
        files.ctg[16..20].copy_from_slice(&count.to_be_bytes());
    });
    assert_eq!(empty, [at("unreferenced-page", length)]);
    let cut = plant(|files| files.ctg.truncate(length - 10));
    assert_eq!(cut, [row("book.ctg file-size", None, length - 10)]);
}

#[test]
fn bounds_of_pages_and_entries() {
    let page = 4096 * 6;
    for used in [3, 0, 4097] {
        let found = plant(|files| files.set_used(page, used));
        assert_eq!(found, [at("page-bounds", page)]);
    }
    // An entry over the end: the used bytes end within the last entry.
    let mut last = 0;
    let found = plant(|files| {
        let entries = files.entries().into_iter();
        last = entries
            .map(|(at, _)| at)
            .rfind(|at| at / 4096 == 6)
            .unwrap();
        files.set_used(page, files.used(page) - 1);
    });
    assert_eq!(found, [at("entry-bounds", last)]);
    // An invalid move block, and a key of length 0.
    let mut entry = 0;
    let found = plant(|files| {
        entry = files.entries()[40].0;
        let block = entry + files.key_bytes(entry);
        files.ctg[block] += 1;
    });
    assert_eq!(found, [at("entry-bounds", entry)]);
    let found = plant(|files| files.ctg[entry] = 0x40);
    assert_eq!(found, [at("entry-bounds", entry)]);
    let found = plant(|files| files.ctg[page + 1] += 1);
    assert_eq!(found, [at("entry-count", page)]);
}

#[test]
fn keys_that_are_none() {
    // The start position: no move leads there.
    let start = CanonicalBoard::from_position(&Chess::default())
        .unwrap()
        .key();
    let mut entry = 0;
    let mut change = |change: fn(&mut [u8])| {
        let found = plant(|files| {
            let key = start.as_bytes();
            entry = files
                .ctg
                .windows(key.len())
                .position(|bytes| bytes == key)
                .unwrap();
            change(&mut files.ctg[entry..entry + key.len()]);
        });
        assert_eq!(found, [at("key", entry)]);
    };
    // One square more than fits, no king, padding, a right without a castling bit.
    change(|key| key[1] = 0);
    change(|key| key[1..].fill(0));
    change(|key| key[0] |= 0x80);
    change(|key| key[0] &= !0x40);
    // An en passant file where no pawn can capture.
    change(|key| {
        key[0] |= 0x20;
        *key.last_mut().unwrap() |= 0x10;
    });
}

/// A book of one entry.
fn alone(key: Key, moves: &[u8], record: PositionRecord) -> Vec<String> {
    let mut book = TestBook::default();
    let moves = moves.iter().map(|&byte| (byte, Annotation(0))).collect();
    book.add_key(key, moves, record);
    let folder = Folder::new();
    let path = folder.join("book.ctg");
    write(&path, &book);
    let (_, problems) = verified(&path);
    problems
        .iter()
        .map(|problem| problem.kind.as_str().to_owned())
        .collect()
}

#[test]
fn keys_of_impossible_positions() {
    // Made by hand: a white rook on e1's file attacks the black king, White to move.
    // Squares a1 to h8: king g1, rook e2, black king e8.
    let mut bits = String::new();
    for square in 0..64 {
        bits += match square {
            33 => "10110",
            39 => "100001",
            48 => "100000",
            _ => "0",
        };
    }
    bits += "0";
    while !bits.len().is_multiple_of(8) {
        bits += "0";
    }
    let mut bytes = vec![(bits.len() / 8 + 1) as u8];
    bytes.extend(
        bits.as_bytes()
            .chunks(8)
            .map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | (bit - b'0'))),
    );
    let key = Key::from_prefix(&bytes).unwrap();
    assert!(CanonicalBoard::from_key(&key).is_ok());
    assert_eq!(alone(key, &[], record(1)), ["position"]);
}

#[test]
fn positions_in_pages_where_nobody_looks() {
    // Moves an entry to the end of another page.
    let mut target = 0;
    let found = plant(|files| {
        let (entry, length) = files.entries()[3];
        let bytes = files.ctg[entry..entry + length].to_vec();
        let page = entry / 4096 * 4096;
        let used = files.used(page);
        files.ctg.copy_within(entry + length..page + used, entry);
        files.set_used(page, used - length);
        files.ctg[page + 1] -= 1;
        let mut others = (page + 4096..files.ctg.len()).step_by(4096);
        let other = others.find(|&other| files.used(other) + length < 4096);
        target = files.append(other.unwrap(), &bytes);
    });
    assert_eq!(found, [at("wrong-page", target)]);
}

/// Repeats the entry at `entry` at the end of the page at `page`.
fn repeat(files: &mut Files, (entry, length): (usize, usize), page: usize) -> Option<usize> {
    let bytes = files.ctg[entry..entry + length].to_vec();
    (files.used(page) + length <= 4096).then(|| files.append(page, &bytes))
}

#[test]
fn keys_that_are_there_twice() {
    let count = |files: &mut Files| {
        let positions = number(&files.ctg, 24) + 1;
        files.ctg[24..28].copy_from_slice(&positions.to_be_bytes());
    };
    let mut second = 0;
    let found = plant(|files| {
        let entries = files.entries();
        second = entries
            .iter()
            .find_map(|&entry| repeat(files, entry, entry.0 / 4096 * 4096))
            .unwrap();
        count(files);
    });
    assert_eq!(found, [at("duplicate-key", second)]);
    let found = plant(|files| {
        let entries = files.entries();
        second = entries
            .iter()
            .find_map(|&entry| repeat(files, entry, entry.0 / 4096 * 4096 + 4096))
            .unwrap();
        count(files);
    });
    // A duplicate, and in a page where no reader looks for it.
    assert_eq!(
        found,
        [at("duplicate-key", second), at("wrong-page", second)]
    );
}

#[test]
fn moves_that_are_none() {
    let mut byte = 0;
    let mut change = |kind: &str, new: fn(&[u8]) -> u8| {
        let found = plant(|files| {
            let entry = files.entry_with_moves(2, 5);
            byte = entry + files.key_bytes(entry) + 3;
            let moves = &files.ctg[byte - 2..byte + 2];
            files.ctg[byte] = new(moves);
        });
        assert_eq!(found, [at(kind, byte)]);
    };
    change("unknown-move", |_| 0x02);
    change("repeated-move", |moves| moves[0]);
    // The second queen's moves.
    change("illegal-move", |_| 0xf8);
    change("illegal-move", |_| 0x9f);
}

#[test]
fn children_that_are_not_there() {
    let mut book = sound_book();
    // The first position with a move, and the one after it.
    let (parent, child) = random_book(40, 60)
        .1
        .into_iter()
        .find_map(|position| {
            let board = CanonicalBoard::from_position(&position).unwrap();
            let (byte, _) = *book.entries[&board.key()].0.first()?;
            let legal = shakmaty::Position::legal_moves(&position);
            let n = tabia_book::ctg::find_move_byte(byte, &board, &legal).unwrap();
            let child = tabia_notation::after(&position, legal[n]);
            let child = CanonicalBoard::from_position(&child).unwrap().key();
            (!book.entries[&child].0.iter().any(|_| true)).then_some((board.key(), child))
        })
        .unwrap();
    book.entries.remove(&child).unwrap();
    let folder = Folder::new();
    let path = folder.join("book.ctg");
    write(&path, &book);
    let (_, problems) = verified(&path);
    assert!(!problems.is_empty());
    for problem in &problems {
        assert_eq!(problem.kind.as_str(), "missing-child");
    }
    // Messages show positions as boards.
    let parent = CanonicalBoard::from_key(&parent).unwrap();
    let board = parent.to_setup().board.to_string();
    assert!(problems.iter().any(|p| p.text.contains(&board)));
}

#[test]
fn numbers_that_do_not_add_up() {
    let mut place = 0;
    let mut change = |kind: &str, offset: usize, change: fn(&mut [u8])| {
        let found = plant(|files| {
            let entry = files.entry_with_moves(1, 9);
            place = files.statistics(entry);
            change(&mut files.ctg[place..place + 33]);
        });
        assert_eq!(found, [at(kind, place + offset)]);
    };
    change("results", 0, |numbers| numbers[3] = 1);
    change("results", 0, |numbers| {
        numbers[..3].copy_from_slice(&[0, 0, 3])
    });
    change("points", 12, |numbers| numbers[12] = 1);
    change("points", 12, |numbers| {
        numbers[12..16].copy_from_slice(&[0, 0, 0, 1])
    });
    change("ratings", 16, |numbers| numbers[16] = 1);
    change("ratings", 23, |numbers| numbers[26..30].fill(0));
    change("ratings", 23, |numbers| numbers[23..26].fill(0));
    // Expected points from evaluations may have any value in between.
    let fine = plant(|files| {
        let entry = files.entry_with_moves(1, 9);
        let place = files.statistics(entry);
        files.ctg[place + 15] += 1;
    });
    assert_eq!(fine, []);
    let start = CanonicalBoard::from_position(&Chess::default())
        .unwrap()
        .key();
    let all_unfinished = PositionRecord {
        stats: Stats {
            games: 7,
            ..Stats::default()
        },
        points: 70,
        ..PositionRecord::default()
    };
    assert_eq!(alone(start, &[], all_unfinished), [""; 0]);
    let too_many = PositionRecord {
        points: 71,
        ..all_unfinished
    };
    assert_eq!(alone(start, &[], too_many), ["points"]);
}

#[test]
fn slots_that_name_the_wrong_page() {
    let mut slot = 0;
    let mut change = |change: fn(&mut Files, usize, u32)| {
        plant(|files| {
            let live = files.live();
            let (number, page) = live[live.len() / 2];
            slot = 16 + 4 * number;
            change(files, number, page);
        })
    };
    // Off by one, either way; beyond the book; random numbers.
    let off = change(|files, slot, page| files.set_slot(slot, page + 1));
    let back = change(|files, slot, page| files.set_slot(slot, page - 1));
    let beyond = change(|files, slot, _| files.set_slot(slot, 1 << 20));
    let negative = change(|files, slot, _| files.set_slot(slot, u32::MAX - 1));
    for found in [off, back, beyond, negative] {
        assert_eq!(found, [row("book.cto slot-page", None, slot)]);
    }
    // The last slot past the end.
    let found = plant(|files| {
        let pages = files.ctg.len() as u32 / 4096 - 1;
        let (last, _) = files.live().into_iter().find(|l| l.1 == pages - 1).unwrap();
        slot = 16 + 4 * last;
        files.set_slot(last, pages);
    });
    assert_eq!(found, [row("book.cto slot-page", None, slot)]);
    // Two exchanged slots are two problems.
    let found = plant(|files| {
        let live = files.live();
        let ((a, page_a), (b, page_b)) = (live[3], live[4]);
        files.set_slot(a, page_b);
        files.set_slot(b, page_a);
    });
    let kinds: Vec<&str> = found.iter().map(|(kind, ..)| kind.as_str()).collect();
    assert_eq!(kinds, ["book.cto slot-page"; 2]);
}

#[test]
fn slots_that_are_lost_or_too_many() {
    let mut page_at = 0;
    let lost = plant(|files| {
        let (slot, page) = files.live()[2];
        page_at = 4096 * (page as usize + 1);
        files.set_slot(slot, u32::MAX);
    });
    assert_eq!(lost, [at("unreferenced-page", page_at)]);
    let mut slot = 0;
    let shared = plant(|files| {
        // A slot below a live slot, without a page so far.
        let live = files.live();
        let (above, page) = live[0];
        let level = (above + 1).ilog2();
        slot = above;
        files.set_slot(above + (1 << level), page);
    });
    assert!(shared.contains(&row("book.cto split-slot", None, 16 + 4 * slot)));
    let split = plant(|files| files.set_slot(0, 3));
    assert_eq!(split, [row("book.cto split-slot", None, 16)]);
}

#[test]
fn bounds_and_bitmap() {
    let change = |at: usize, by: i32| {
        plant(|files| {
            let new = number(&files.ctb, at).wrapping_add_signed(by);
            files.ctb[at..at + 4].copy_from_slice(&new.to_be_bytes());
        })
    };
    for by in [8, 1, -8, i32::MAX] {
        assert_eq!(change(4, by), [row("book.ctb bounds", None, 4)], "{by}");
        assert_eq!(change(8, by), [row("book.ctb bounds", None, 8)], "{by}");
    }
    let found = plant(|files| files.cto[15] ^= 8);
    assert_eq!(found, [row("book.cto bounds", None, 12)]);
    let found = plant(|files| files.ctb.truncate(files.ctb.len() - 1));
    assert_eq!(found, [row("book.ctb bounds", None, 8)]);
    // A lower bound of 0 in both files is harmless.
    let found = plant(|files| {
        files.cto[12..16].fill(0);
        files.ctb[4..8].fill(0);
    });
    assert_eq!(found, []);
    for bit in [0, 5, 33, 60] {
        let found = plant(|files| files.ctb[12 + bit / 8] ^= 1 << (bit % 8));
        assert_eq!(found, [row("book.ctb bitmap", None, 12 + bit / 8)]);
    }
}

#[test]
fn heads_of_the_index_files() {
    for (byte, at) in [(3, 0), (11, 8)] {
        let found = plant(|files| files.cto[byte] ^= 4);
        assert_eq!(found, [row("book.cto index-header", None, at)]);
    }
    let found = plant(|files| files.cto.extend([0xff; 4]));
    assert_eq!(found, [row("book.cto index-header", None, 4)]);
    let found = plant(|files| files.ctb[3] ^= 4);
    assert_eq!(found, [row("book.ctb index-header", None, 0)]);
    let found = plant(|files| files.cto[1] = 9);
    assert_eq!(found, [row("book.cto index", None, 0)]);
    let found = plant(|files| files.ctb.truncate(5));
    assert_eq!(found, [row("book.ctb index", None, 0)]);
    let found = plant(|files| files.cto.truncate(100));
    assert_eq!(found, [row("book.cto index", None, 0)]);
}

#[test]
fn index_files_that_are_not_there() {
    let folder = Folder::new();
    let path = folder.join("book.ctg");
    write(&path, &sound_book());
    let files = |path: &Path| -> Vec<String> {
        let (_, problems) = verified(path);
        let names = problems.iter().map(|problem| {
            assert_eq!(problem.kind.as_str(), "index");
            problem
                .file
                .extension()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        });
        names.collect()
    };
    fs::remove_file(path.with_extension("ctb")).unwrap();
    assert_eq!(files(&path), ["ctb"]);
    fs::remove_file(path.with_extension("cto")).unwrap();
    assert_eq!(files(&path), ["cto", "ctb"]);
    // Pages without an order are not a problem.
    let mut book = sound_book();
    book.shuffled = true;
    let path = book.write(&folder, "shuffled");
    fs::remove_file(path.with_extension("cto")).unwrap();
    assert_eq!(files(&path), ["cto"]);
}

#[test]
fn a_key_in_the_other_en_passant_form_is_one() {
    let pinned = position("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1");
    let board = CanonicalBoard::from_position(&pinned).unwrap();
    let other = board.other_key().unwrap();
    assert_eq!(alone(board.key(), &[], record(1)), [""; 0]);
    assert_eq!(alone(other, &[], record(1)), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bytes_changed_anywhere_never_panic(
        changes in prop::collection::vec((0..3_usize, any::<prop::sample::Index>(), any::<u8>()), 1..30),
        cut in prop::option::of((0..3_usize, any::<prop::sample::Index>())),
        seed in 1..1000_u64,
    ) {
        let (mut book, _) = random_book(2, 25);
        book.page_limit = 400;
        book.shuffled = choices(seed).next().unwrap().is_multiple_of(4);
        let folder = Folder::new();
        let path = book.write(&folder, "book");
        let paths = ["ctg", "cto", "ctb"].map(|extension| path.with_extension(extension));
        let mut files = paths.clone().map(|path| fs::read(path).unwrap());
        for (file, place, byte) in changes {
            let place = place.index(files[file].len());
            files[file][place] = byte;
        }
        if let Some((file, place)) = cut {
            let len = place.index(files[file].len());
            files[file].truncate(len);
        }
        for (path, bytes) in paths.iter().zip(&files) {
            fs::write(path, bytes).unwrap();
        }
        let mut count = 0;
        if let Ok(report) = verify(&path, true, &mut Watch::default(), &mut |_| count += 1) {
            prop_assert_eq!(report.problems, count);
            // A salvaged book is sound except for children and numbers.
            let target = folder.join("saved.ctg");
            let options = RewriteOptions::default().memory(0);
            if compact(&path, &target, &options, &mut Watch::default()).is_ok() {
                let mut kinds = Vec::new();
                verify(&target, true, &mut Watch::default(), &mut |problem| kinds.push(problem.kind.as_str())).unwrap();
                let allowed = [
                    "missing-child", "illegal-move", "unknown-move", "repeated-move",
                    "results", "points", "ratings", "key", "position",
                ];
                prop_assert!(kinds.iter().all(|kind| allowed.contains(kind)), "{:?}", kinds);
            }
        }
    }
}

/// A glance at some pages, spread over the book, estimates the whole.
#[test]
fn a_glance_reads_pages_all_over_the_book() {
    let folder = Folder::new();
    let (mut book, _) = random_book(200, 30);
    book.page_limit = 600;
    let opened = super::common::open(book.write(&folder, "x"));
    let whole = opened.info().unwrap();
    assert_eq!(whole.positions, book.entries.len() as u64);
    assert_eq!(whole.read_pages, whole.pages);
    for pages in [whole.pages, whole.pages + 1] {
        assert_eq!(opened.glance(pages).unwrap().positions, whole.positions);
    }
    // Of neighbouring numbers of pages none is read twice.
    let most = whole.pages - 1;
    let lost = whole.positions - opened.glance(most).unwrap().positions;
    assert!((1..=20).contains(&lost), "{lost}");
    for pages in [most / 2, most / 3] {
        let found = opened.glance(pages).unwrap();
        assert_eq!(found.read_pages, pages);
        let estimate = found.positions as f64 * f64::from(whole.pages) / f64::from(pages);
        let share = estimate / whole.positions as f64;
        assert!((0.8..1.25).contains(&share), "{share}");
    }
}
