//! Damaged files and files of other kinds: one clear error, or a working probe.

use std::{fs, path::Path};

use super::common::{Folder, SIMPLE, choices, project, random_book, wander};
use super::reader::read_all;
use proptest::prelude::*;
use shakmaty::Chess;
use tabia_book::{
    Lookup, Probe, Wanted,
    convert::{self, ConvertJob},
    ctg::{CtgBook, OpenOptions, Page},
};
use tabia_io::progress::Watch;

fn open(path: &Path) -> Result<CtgBook, String> {
    CtgBook::open(path, &OpenOptions::default()).map_err(|error| error.to_string())
}

fn simple() -> Vec<u8> {
    fs::read(project(SIMPLE)).unwrap()
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    let folder = Folder::new();
    let path = folder.join("x.ctg");
    fs::write(&path, bytes).unwrap();
    for mmap in [true, false] {
        let error = CtgBook::open(&path, &OpenOptions::default().mmap(mmap)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
        assert!(text.starts_with(&path.display().to_string()), "{text}");
        assert_eq!(error.clone().to_string(), text);
    }
}

#[test]
fn files_that_are_no_book_are_refused_by_name() {
    refused(b"", "the file is empty (0 bytes)");
    refused(b"\0\x20", "not a CTG book: it starts with");
    refused(
        b"[Event \"?\"]\n",
        "not a CTG book: it starts with [5b, 45, 76, 65]",
    );
    refused(
        &simple()[..4096],
        "has 4096 bytes and ends before the first data page",
    );
    refused(
        &simple()[..2000],
        "has 2000 bytes and ends before the first data page",
    );
    refused(
        &simple()[..4098],
        "page 0 (file byte 4096): only 2 bytes of the page",
    );
    let cto = fs::read(project(SIMPLE).with_extension("cto")).unwrap();
    refused(&cto, "this is the index of a book; open the .ctg file");
    let mut zeros = simple();
    zeros[4096..].fill(0);
    refused(
        &zeros,
        "page 0 (file byte 4096): 0 bytes used (expected 4 to 4096)",
    );
    let mut noise = simple();
    noise[4096..].fill(0xa5);
    refused(&noise, "42405 bytes used");
}

#[test]
fn a_folder_or_a_missing_file_is_refused() {
    let folder = Folder::new();
    let text = open(&folder).unwrap_err();
    assert!(text.contains("not a regular file"), "{text}");
    let text = open(&folder.join("none.ctg")).unwrap_err();
    assert!(text.contains("none.ctg: cannot read the book"), "{text}");
}

/// Writes `ctg` with the genuine index beside it.
fn with_index(folder: &Path, ctg: &[u8]) -> CtgBook {
    let path = folder.join("x.ctg");
    fs::write(&path, ctg).unwrap();
    for extension in ["cto", "ctb"] {
        let from = project(SIMPLE).with_extension(extension);
        fs::copy(from, path.with_extension(extension)).unwrap();
    }
    open(&path).unwrap()
}

#[test]
fn a_damaged_entry_is_named_with_page_and_byte() {
    let folder = Folder::new();
    let mut bytes = simple();
    // The length byte of the move block of the second entry.
    bytes[4096 + 60 + 22] = 4;
    let book = with_index(&folder, &bytes);
    let mut found = Lookup::default();
    let error = book
        .probe(&Chess::default(), Wanted::Transpositions, &mut found)
        .unwrap_err()
        .to_string();
    let expected = "page 0 (file byte 4156): entry at byte 60: \
                    move block length 4 (expected an odd number)";
    assert!(error.contains(expected), "{error}");
    assert!(error.contains("compact it"), "{error}");
    let job = ConvertJob::new(folder.join("x.ctg"), folder.join("x.bin")).strict(true);
    let strict = convert::run(&job, &mut Watch::default()).unwrap_err();
    let lost = strict.to_string();
    assert!(
        lost.contains("1 damaged page not read to its end; the first: "),
        "{lost}"
    );
    assert!(lost.contains(expected), "{lost}");
    let info = book.info().unwrap();
    assert_eq!((info.positions, info.bad_pages), (1, 1));
    assert!(info.problems[0].contains(expected));
    assert!(book.explain(&Chess::default()).is_err());
    let entries: Vec<bool> = book.entries().map(|entry| entry.is_ok()).collect();
    assert_eq!(entries, [true, false]);
}

#[test]
fn a_cut_book_is_noticed_and_read_as_far_as_it_goes() {
    let (mut test_book, positions) = random_book(3, 60);
    test_book.page_limit = 600;
    let folder = Folder::new();
    let path = test_book.write(&folder, "book");
    let bytes = fs::read(&path).unwrap();
    for keep in [bytes.len() - 100, bytes.len() - 5000, bytes.len() / 2] {
        fs::write(&path, &bytes[..keep]).unwrap();
        let book = open(&path).unwrap();
        assert_eq!(book.notices().len(), 1);
        let found: Vec<_> = positions.iter().map(|at| book.contains(at)).collect();
        // Only the page that is cut itself is damaged; others are there or gone.
        let count = |is: bool| {
            found
                .iter()
                .filter(|found| matches!(found, Ok(known) if *known == is))
                .count()
        };
        let (found, gone) = (count(true), count(false));
        assert!(found * 3 > positions.len(), "{keep} {found}");
        assert!((gone > 0) == (bytes.len() - keep > 4096), "{keep} {gone}");
        assert!(book.info().unwrap().positions >= found as u64);
    }
}

/// With an index that leads to missing pages, an existing position can be played, even if
/// positions after its moves are lost.
#[test]
fn what_is_there_of_a_cut_or_damaged_book_is_played() {
    let (mut test_book, positions) = random_book(3, 60);
    test_book.page_limit = 600;
    let folder = Folder::new();
    let path = test_book.write(&folder, "book");
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    for page in (4096..whole.len()).step_by(3 * 4096) {
        damaged[page + 2..page + 4].fill(0xff);
    }
    for bytes in [&whole[..whole.len() / 2], &damaged] {
        fs::write(&path, bytes).unwrap();
        let book = open(&path).unwrap();
        let mut found = Lookup::default();
        let (mut there, mut lost) = (0, 0);
        for position in &positions {
            if !book.contains(position).unwrap_or(false) {
                lost += 1;
                continue;
            }
            for wanted in [Wanted::Stored, Wanted::Transpositions] {
                book.probe(position, wanted, &mut found).unwrap();
                assert!(found.here.is_some());
            }
            there += 1;
        }
        assert!(there > 10 && lost > 10, "{there} {lost}");
    }
}

#[test]
fn a_short_last_page_is_read_when_its_entries_are_there() {
    let folder = Folder::new();
    let book = with_index(&folder, &simple()[..4096 + 234]);
    assert!(book.contains(&Chess::default()).unwrap());
    assert!(book.notices()[0].contains("the last page is incomplete"));
}

#[test]
fn an_index_with_slots_beyond_the_book_is_named_and_not_used() {
    let (mut test_book, positions) = random_book(3, 60);
    test_book.page_limit = 600;
    let folder = Folder::new();
    let path = test_book.write(&folder, "book");
    let cto = path.with_extension("cto");
    let mut bytes = fs::read(&cto).unwrap();
    // Every fifth page number is wrong; most are still right.
    let mut live = 0;
    for slot in bytes[16..].chunks_mut(4).filter(|slot| slot[0] == 0) {
        live += 1;
        if live % 5 == 3 {
            slot.copy_from_slice(if live % 2 == 0 {
                &[0x7f; 4]
            } else {
                &[0x80; 4]
            });
        }
    }
    fs::write(&cto, bytes).unwrap();
    let book = open(&path).unwrap();
    let notices = book.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("index book.cto is damaged or of a larger book"));
    for position in &positions {
        assert!(book.contains(position).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_bytes_are_a_page_or_a_fault(mut bytes in prop::collection::vec(any::<u8>(), 0..5000), used in any::<u16>()) {
        let _ = Page::new(&bytes).map(|page| page.entries().count());
        if bytes.len() > 4 {
            bytes[2..4].copy_from_slice(&(used % 4200).to_be_bytes());
        }
        if let Ok(page) = Page::new(&bytes) {
            for (offset, entry) in page.entries().filter_map(Result::ok) {
                prop_assert_eq!(page.entry_at(offset).unwrap().bytes(), entry.bytes());
                prop_assert!(entry.moves().len() <= 127);
                let _ = (entry.key(), entry.record());
            }
            let _ = page.find(b"key");
            let _ = page.entry_at(used);
        }
    }

    #[test]
    fn bytes_changed_anywhere_never_panic(
        changes in prop::collection::vec((0..3_usize, any::<prop::sample::Index>(), any::<u8>()), 1..30),
        cut in prop::option::of((0..3_usize, any::<prop::sample::Index>())),
    ) {
        let (mut book, positions) = random_book(2, 25);
        book.page_limit = 400;
        let folder = Folder::new();
        let path = book.write(&folder, "book");
        let paths = ["ctg", "cto", "ctb"].map(|extension| path.with_extension(extension));
        let mut files = paths.clone().map(|path| fs::read(path).unwrap());
        for (file, place, byte) in changes {
            let file = &mut files[file];
            let place = place.index(file.len());
            file[place] = byte;
        }
        if let Some((file, place)) = cut {
            let len = place.index(files[file].len());
            files[file].truncate(len);
        }
        for (path, bytes) in paths.iter().zip(&files) {
            fs::write(path, bytes).unwrap();
        }
        read_all(&path, &positions[..12]);
    }

    #[test]
    fn any_bytes_after_a_right_start_never_panic(
        ctg in prop::collection::vec(any::<u8>(), 0..9000),
        cto in prop::collection::vec(any::<u8>(), 0..200),
        ctb in prop::collection::vec(any::<u8>(), 0..40),
        seed in 1..1000_u64,
    ) {
        let folder = Folder::new();
        let path = folder.join("x.ctg");
        let start = |start: &[u8], rest: Vec<u8>| [start.to_vec(), rest].concat();
        let mut ctg = start(&[0, 0x20, 0x10, 0], ctg);
        for page in (4096..ctg.len().saturating_sub(4)).step_by(4096) {
            ctg[page + 2] = 1;
        }
        fs::write(&path, ctg).unwrap();
        let slots = cto.len() as u8 / 8;
        fs::write(path.with_extension("cto"), start(&[0, 16, 0, 1, 0, 0, 0, slots], cto)).unwrap();
        fs::write(path.with_extension("ctb"), start(&[0, 12, 0, 1], ctb)).unwrap();
        read_all(&path, &wander(choices(seed).take(6)));
    }
}
