//! The table of formats in `docs/convert.md`: what it says is what the program does.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Folder, Ran, SMALL};
use tabia_notation::kind::BookKind;

/// A Chessmaster book: 1.e4 (e5 | c5), 1.d4.
fn obk() -> Vec<u8> {
    let mut bytes = b"UGWS\x04\0\0\0".to_vec();
    for (from, to, flags) in [(12, 28, 0), (52, 36, 0x80), (50, 34, 0xc0), (11, 27, 0xc0)] {
        bytes.extend([from | flags, to | 0x80]);
    }
    bytes
}

/// A Shredder book: 1.e4, 1.d4.
fn bkt() -> Vec<u8> {
    let mut bytes = vec![0; 256 * 1552];
    for (n, (from, to)) in [(12, 28), (11, 27)].into_iter().enumerate() {
        put_cell(
            &mut bytes,
            0x3c * 1552 + 48 * n,
            0xbcee_2376_da2f_d45f,
            (from, to, 2),
        );
    }
    bytes
}

/// Writes a pawn's move of two squares into a Shredder book: key, squares and piece.
fn put_cell(bytes: &mut [u8], at: usize, key: u64, (from, to, piece): (u32, u32, u32)) {
    let mv = (from + 1) | ((to + 1) << 7) | (piece << 22) | (1 << 29);
    bytes[at..at + 8].copy_from_slice(&key.to_be_bytes());
    bytes[at + 8..at + 12].copy_from_slice(&mv.to_le_bytes());
}

/// 1...e5 under a key to which nothing leads: wherever the book is opened, it is reported.
#[test]
fn positions_that_are_not_found_are_reported() {
    let folder = Folder::new();
    let mut bytes = bkt();
    put_cell(
        &mut bytes,
        (128 + 1) * 1552,
        0x0123_4567_89ab_cdef,
        (52, 36, 10),
    );
    folder.put("x.bkt", bytes);
    let lost = "x.bkt: 1 of 2 positions were not found";
    let info = folder.tabia("info x.bkt").printed();
    assert!(info.contains(lost), "{info}");
    assert!(info.contains("2, 1 of them reached"), "{info}");
    let numbers = folder.tabia("info x.bkt --json").json();
    assert_eq!(numbers["positions"], 2);
    assert_eq!(numbers["reached_positions"], 1);
    let verified = folder.tabia("verify x.bkt").negative();
    assert!(verified.contains(lost), "{verified}");
    for command in [
        "probe x.bkt",
        "tree x.bkt",
        "convert x.bkt x.bin",
        "merge -o y.bin x.bkt x.bin",
    ] {
        let said = folder.tabia(command).err();
        assert!(said.contains(lost), "{command}: {said}");
    }
    let mut play = folder.command("--book x.bkt --engine builtin");
    let out = Ran::with_input(&mut play, b"uci\nisready\nquit\n").out();
    let said = out.lines().find(|line| line.contains(lost));
    assert!(
        said.is_some_and(|line| line.starts_with("info string")),
        "{out}"
    );
}

/// The rows of the table: the extension, and the columns after it.
fn rows() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/convert.md"));
    let text = text.unwrap();
    let row = |line: &str| line.strip_prefix("| `.").map(str::to_owned);
    let rows = text.lines().skip_while(|line| row(line).is_none());
    rows.map_while(row)
        .map(|row| {
            let (extension, rest) = row.split_once('`').unwrap();
            let columns = rest.split('|').skip(1).map(|cell| cell.trim().to_owned());
            (extension.to_owned(), columns.collect())
        })
        .collect()
}

/// A book of each format that is read.
fn books(folder: &Folder) -> Vec<(&'static str, PathBuf)> {
    let written = ["bin", "abk", "jsonl"];
    for extension in written {
        folder.done(&format!("convert book.ctg x.{extension}"));
    }
    let bytes = [
        ("bkt", bkt()),
        ("obk", obk()),
        ("pgn", b"1. e4 e5 *\n".to_vec()),
        ("csv", b"fen,uci\n".to_vec()),
    ];
    for (extension, bytes) in &bytes {
        folder.put(&format!("x.{extension}"), bytes);
    }
    let others = written
        .into_iter()
        .chain(bytes.map(|(extension, _)| extension));
    others
        .map(|extension| (extension, folder.join(format!("x.{extension}"))))
        .chain([("ctg", folder.join("book.ctg"))])
        .collect()
}

#[test]
fn the_table_of_formats_is_true() {
    let folder = Folder::with(SMALL);
    let books = books(&folder);
    let rows = rows();
    assert_eq!(rows.len(), books.len());
    let run = |words: &[&str]| folder.tabia(words);
    for (extension, path) in &books {
        let (_, cells) = rows.iter().find(|(known, _)| known == extension).unwrap();
        let is = |n: usize| cells[n] == "yes";
        let path = path.to_str().unwrap();
        let target = format!("from-{extension}.pgn");
        let read = run(&["convert", path, &target]);
        assert_eq!(read.is_ok(), is(0), "{extension}: {read:?}");
        let target = format!("to.{extension}");
        let written = run(&[
            "convert",
            match *extension {
                "ctg" => "x.bin",
                _ => "book.ctg",
            },
            &target,
        ]);
        assert_eq!(written.is_ok(), is(1), "{extension}: {written:?}");
        for words in [
            &["info", path][..],
            &["probe", path],
            &["tree", path, "--plies", "2"],
            &["diff", path, path],
            &["verify", path],
        ] {
            let ran = run(words);
            assert_eq!(ran.is_ok(), is(2), "{extension} {words:?}: {ran:?}");
        }
        if is(2) {
            let mut play = folder.command(&["--book", path, "--engine", "builtin"]);
            let ran = Ran::with_input(&mut play, b"uci\nposition startpos\ngo depth 1\nquit\n");
            let (out, err) = (ran.out(), ran.err());
            assert!(
                out.contains("bestmove ") && !err.contains(path),
                "{extension}: {ran:?}"
            );
        }
    }
}

/// Books of all formats are added up to one of each format.
#[test]
fn any_mixture_is_merged() {
    let folder = Folder::with(SMALL);
    let books = books(&folder);
    let named = books
        .iter()
        .filter(|(extension, _)| !["pgn", "csv"].contains(extension));
    let named: Vec<&str> = named.map(|(_, path)| path.to_str().unwrap()).collect();
    for target in [
        "all.ctg",
        "all.bin",
        "all.abk",
        "all.jsonl",
        "all.pgn",
        "all.csv",
    ] {
        let words = [&["merge", "-o", target][..], &named].concat();
        let ran = folder.tabia(&words[..]);
        let text = ran.ok();
        assert!(text.contains(target), "{text}");
        assert!(text.contains("x.abk: "), "{text}");
    }
    let found = folder.tabia("probe all.ctg --json").printed();
    assert!(found.contains("e2e4") && found.contains("d2d4"), "{found}");
}

/// What describes Tabia to users names each format that is played, by its maker and extension.
#[test]
fn every_description_names_every_format() {
    let folder = Folder::new();
    let help = |command: &str| folder.tabia(&format!("{command} --help")).printed();
    folder.put("no.book", "nothing\n");
    let refused = folder.tabia("info no.book").ends(2);
    let printed = [help("convert"), help("suite"), refused];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let described = [
        "README.md",
        "crates/book/Cargo.toml",
        "crates/c/Cargo.toml",
        "crates/c/README.md",
        "crates/c/include/tabia.h",
        "crates/c/tabia.pc",
        "npm/README.md",
        "npm/package.json",
        "python/Cargo.toml",
        "python/README.md",
        "python/pyproject.toml",
        "release/debian/control",
        "release/debian/control-dev",
        "release/desktop/io.github.tabia.Tabia.metainfo.xml",
    ];
    for kind in BookKind::ALL {
        let extension = format!(".{}", kind.as_str());
        for text in &printed {
            assert!(text.contains(&extension), "{extension}: {text}");
        }
        let maker = kind.title().split(' ').next().unwrap();
        let is_played = BookKind::of_played(Path::new(&format!("x{extension}"))).is_some();
        for name in described.iter().filter(|_| is_played) {
            let text = read(name);
            assert!(
                text.contains(maker) && text.contains(&extension),
                "{name} does not name {maker} ({extension})"
            );
        }
        let listed = format!("{}: \"{maker}\"", kind.as_str());
        let page = read("crates/explorer/src/page/files.js");
        assert_eq!(page.contains(&listed), is_played, "{listed}");
    }
}
