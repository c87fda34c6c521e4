//! A book in bytes, or behind a reader, is the book in files: equal answers, equal errors.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::common::{Folder, SMALL, choices, files, project, wander};
use crate::loaded::bkt;
use proptest::prelude::*;
use shakmaty::{Chess, Position as _};
use tabia_book::convert::{ConvertJob, run};
use tabia_book::{Book, DataFile, Error, Format, Lookup, OpenOptions, Probe as _, Wanted};
use tabia_io::progress::Watch;

/// The files of a book: name and bytes.
type Files = Vec<(&'static str, Vec<u8>)>;

/// A book of each format.
static BOOKS: LazyLock<Vec<Files>> = LazyLock::new(|| {
    let folder = Folder::new();
    let converted = |name: &'static str| {
        let target = folder.join(name);
        run(
            &ConvertJob::new(project(SMALL), target.clone()),
            &mut Watch::default(),
        )
        .unwrap();
        vec![(name, fs::read(target).unwrap())]
    };
    let [ctg, cto, ctb] = files(SMALL);
    let bkt = bkt::tests::book_of(&bkt::tests::positions(&project(SMALL), 8), 1);
    // 1.e4 (e5 2.Nf3 | c5), 1.d4.
    let moves = [
        [12, 0xdc],
        [52, 0x64],
        [0xc6, 21],
        [0xf2, 0x62],
        [0xcb, 0x5b],
    ];
    let obk = [&b"UGWS\x05\0\0\0"[..], moves.as_flattened()].concat();
    let books = vec![
        vec![("x.ctg", ctg), ("x.cto", cto), ("x.ctb", ctb)],
        converted("x.bin"),
        converted("x.abk"),
        vec![("x.bkt", bkt)],
        vec![("x.obk", obk)],
    ];
    let formats: Vec<Format> = books
        .iter()
        .map(|files| opened(files).unwrap().format())
        .collect();
    assert_eq!(formats, Format::ALL);
    books
});

fn opened(files: &Files) -> Result<Book, Error> {
    let file =
        |(name, bytes): &(&str, Vec<u8>)| DataFile::from_bytes(Path::new(name), bytes.clone());
    Book::from_files(files.iter().map(file))
}

/// Everything that a user sees of a book, or the error.
fn seen(book: Result<Book, Error>) -> Result<(Vec<String>, Vec<String>), String> {
    let book = book.map_err(|error| error.to_string())?;
    let mut answers = Vec::new();
    let mut ask = |position: &Chess| {
        let mut found = Lookup::default();
        let probed = book.probe(position, Wanted::Transpositions, &mut found);
        let contains = book.contains(position);
        answers.push(format!("{probed:?} {contains:?} {found:?}"));
        found.moves.first().map(|known| known.mv)
    };
    for position in wander(choices(3).take(40)) {
        ask(&position);
    }
    // The book's own first line.
    let mut position = Chess::default();
    while let Some(mv) = ask(&position).filter(|_| position.fullmoves().get() < 12) {
        position = tabia_notation::after(&position, mv);
    }
    Ok((book.notices().to_vec(), answers))
}

/// The book in files, and what was seen of it there is seen of its bytes and through a reader.
#[track_caller]
fn is_seen_alike(files: &Files) -> Result<(Vec<String>, Vec<String>), String> {
    let folder = Folder::new();
    let mut paths: Vec<(PathBuf, &[u8])> = Vec::new();
    for (name, bytes) in files {
        paths.push((folder.put(name, bytes), bytes));
    }
    let in_files = seen(Book::open(&paths[0].0, &OpenOptions::default()));
    let unmapped = OpenOptions::default().mmap(false);
    assert_eq!(seen(Book::open(&paths[0].0, &unmapped)), in_files);

    // In any order.
    paths.reverse();
    let held = paths
        .iter()
        .map(|(path, bytes)| DataFile::from_bytes(path, bytes.to_vec()));
    assert_eq!(seen(Book::from_files(held)), in_files);

    let behind_reader = paths.iter().map(|(path, bytes)| {
        let (len, bytes): (u64, Arc<[u8]>) = (bytes.len() as u64, (*bytes).into());
        DataFile::from_reader(path, len, move |offset: u64, buffer: &mut [u8]| {
            let rest = bytes.get(offset as usize..).unwrap_or_default();
            io::Read::read(&mut &rest[..rest.len().min(1000)], buffer)
        })
    });
    assert_eq!(seen(Book::from_files(behind_reader)), in_files);
    in_files
}

#[test]
fn every_format_answers_alike() {
    for files in BOOKS.iter() {
        let (notices, answers) = is_seen_alike(files).unwrap();
        let known = answers.iter().filter(|answer| answer.contains("Ok(true)"));
        assert!(known.count() >= 2, "{}: {answers:?}", files[0].0);
        // No constants of Shredder are known, so a small book leaves positions unfound.
        assert_eq!(notices.is_empty(), files[0].0 != "x.bkt", "{notices:?}");
    }
}

#[test]
fn what_is_missing_of_an_index_is_named_alike() {
    let whole = &BOOKS[0];
    for (left, notices) in [
        (vec![0, 1], 1),
        (vec![0, 2], 1),
        (vec![0], 1),
        (vec![0, 1, 2], 0),
    ] {
        let files: Files = left.iter().map(|at| whole[*at].clone()).collect();
        let (found, _) = is_seen_alike(&files).unwrap();
        assert_eq!(found.len(), notices, "{found:?}");
    }
    // Names in capitals.
    let names = ["X.CTG", "X.CTO", "X.CTB"];
    let files: Files = names
        .into_iter()
        .zip(whole.iter().map(|(_, bytes)| bytes.clone()))
        .collect();
    assert_eq!(is_seen_alike(&files).unwrap().0, [] as [&str; 0]);
}

#[test]
fn files_that_are_not_one_book_are_refused() {
    let [ctg, bin] = [0, 1].map(|at| BOOKS[at].clone());
    let cases: [(Files, &str); 4] = [
        (vec![], "no book is given"),
        (vec![ctg[1].clone()], "x.cto: this is the index of a book"),
        (
            vec![ctg[0].clone(), bin[0].clone()],
            "x.ctg: another such file is given with it",
        ),
        (
            vec![bin[0].clone(), ctg[2].clone()],
            "x.ctb: this is the index of a ChessBase book",
        ),
    ];
    for (files, expected) in cases {
        let error = opened(&files).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let pgn: Files = vec![("x.ctg", b"[Event \"?\"]\n\n1. e4 *\n".to_vec())];
    assert!(is_seen_alike(&pgn).unwrap_err().contains("this is PGN"));
    assert!(is_seen_alike(&vec![("x.bin", vec![])]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_is_told_alike(
        book in 0_usize..5,
        file: prop::sample::Index,
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
        // Often in the header.
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u8>()), 0..6),
    ) {
        let mut files = BOOKS[book].clone();
        let at = file.index(files.len());
        let bytes = &mut files[at].1;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        for (place, in_header, byte) in changes {
            let end = if in_header { 64.min(bytes.len()) } else { bytes.len() };
            if end > 0 {
                bytes[place.index(end)] = byte;
            }
        }
        let _ = is_seen_alike(&files);
    }
}
