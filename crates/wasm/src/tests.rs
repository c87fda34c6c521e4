//! The module as JavaScript calls it, without its memory.

use serde_json::Value;

use super::*;
use crate::host::imports::FILES;

const CTG: [(&str, &[u8]); 3] = [
    (
        "simple.ctg",
        include_bytes!("../../book/tests/data/ctg/simple.ctg"),
    ),
    (
        "simple.cto",
        include_bytes!("../../book/tests/data/ctg/simple.cto"),
    ),
    (
        "simple.ctb",
        include_bytes!("../../book/tests/data/ctg/simple.ctb"),
    ),
];
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn give(bytes: &[u8]) {
    STATE.with_borrow_mut(|state| state.input = bytes.to_vec());
}

fn text() -> String {
    STATE.with_borrow(|state| String::from_utf8(state.output.clone()).unwrap())
}

fn object() -> Value {
    serde_json::from_str(&text()).unwrap()
}

fn name(name: &str) {
    give(name.as_bytes());
    file_name();
}

/// Opens a book whose bytes the module has.
fn open(files: &[(&str, &[u8])]) -> u32 {
    STATE.take();
    for (file, bytes) in files {
        name(file);
        give(bytes);
        file_bytes();
    }
    open_book()
}

fn probed(fen: &str) -> Value {
    give(fen.as_bytes());
    assert_eq!(probe(), DONE, "{}", text());
    object()
}

#[test]
fn a_book_is_opened_probed_and_asked() {
    assert_eq!(open(&CTG), DONE);
    assert_eq!(object()["format"], "ctg");
    assert_eq!(object()["notices"], Value::Array(Vec::new()));
    let start = probed(START);
    assert_eq!(
        (&start["fen"], &start["in_book"]),
        (&START.into(), &true.into())
    );
    let first = start["moves"][0]["uci"].as_str().unwrap().to_owned();
    // The heaviest move only.
    give(br#"{"variety":0}"#);
    assert_eq!(configure(), DONE);
    give(START.as_bytes());
    assert_eq!((choose(7.0), text()), (DONE, first));
    assert_eq!(probed("8/8/8/8/8/5k2/7p/7K w - - 0 1")["in_book"], false);
    give(b"8/8/8/8/8/5k2/7p/7K w - - 0 1");
    assert_eq!((choose(7.0), text()), (DONE, String::new()));
    assert_eq!(reserve(1e9), DONE);
    assert_eq!(probed(START)["games"], start["games"]);
}

#[test]
fn without_an_index_it_is_the_same_book() {
    open(&CTG);
    let start = probed(START);
    assert_eq!(open(&CTG[..1]), DONE);
    assert_eq!(object()["notices"].as_array().unwrap().len(), 1);
    assert_eq!(probed(START), start);
}

#[test]
fn errors_have_a_class_and_a_place() {
    assert_eq!(
        open(&[("text.ctg", &b"Dear reader".repeat(999)[..])]),
        FAILED
    );
    let error = object();
    assert_eq!(
        (&error["class"], &error["file"]),
        (&"BookError".into(), &"text.ctg".into())
    );
    give(START.as_bytes());
    assert_eq!(
        (probe(), &object()["text"]),
        (FAILED, &"no book is open".into())
    );
    open(&CTG);
    for (fen, part) in [
        ("rubbish", "rubbish"),
        ("\u{301}", ""),
        (&format!("{START} moves e2e5"), "e2e5"),
    ] {
        give(fen.as_bytes());
        assert_eq!(probe(), FAILED, "{fen}");
        assert_eq!(object()["class"], "PositionError");
        assert!(text().contains(part), "{}", text());
    }
    give(b"\xff");
    assert_eq!(
        (probe(), &object()["class"]),
        (FAILED, &"PositionError".into())
    );
    give(br#"{"verity":0}"#);
    assert_eq!(
        (configure(), &object()["class"]),
        (FAILED, &"OptionError".into())
    );
    // The first page after the header.
    let mut damaged = CTG[0].1.to_vec();
    damaged[4096..8192].fill(0xff);
    assert_eq!(open(&[("simple.ctg", &damaged), CTG[1], CTG[2]]), FAILED);
    assert_eq!(object()["page"], 0);
    assert!(object()["byte"].as_u64() >= Some(4096), "{}", text());
}

#[test]
fn a_reader_that_fails_is_an_error_of_the_book() {
    FILES.set(CTG.iter().map(|(_, bytes)| Some(bytes.to_vec())).collect());
    STATE.take();
    for (number, (file, bytes)) in (0..).zip(CTG) {
        name(file);
        file_reader(number, bytes.len() as f64);
    }
    assert_eq!(open_book(), DONE);
    let start = probed(START);
    FILES.with_borrow_mut(|files| files[0] = None);
    give(START.as_bytes());
    assert_eq!(probe(), FAILED);
    let error = object();
    assert_eq!(error["file"], "simple.ctg");
    assert!(
        error["text"]
            .as_str()
            .unwrap()
            .contains("its reader has failed")
    );
    FILES.with_borrow_mut(|files| files[0] = Some(CTG[0].1.to_vec()));
    assert_eq!(probed(START), start);
}

/// All positions of a walk, so many at a time.
fn positions(most: usize) -> Vec<String> {
    let number = walk();
    let mut all = Vec::new();
    while step(number, most) == DONE && !text().is_empty() {
        all.extend(text().lines().map(str::to_owned));
    }
    end_walk(number);
    all
}

#[test]
fn walks_give_all_positions_whatever_their_steps() {
    let book = include_bytes!("../../../books/tabia.ctg");
    open(&[("tabia.ctg", book)]);
    let all = positions(100_000);
    assert!(all.len() > 1000, "{}", all.len());
    assert_eq!(positions(1), all);
    assert_eq!(positions(7), all);
    // Two at once, of which one is left.
    let (first, second) = (walk(), walk());
    assert_ne!(first, second);
    step(first, 3);
    end_walk(first);
    assert_eq!(walk(), first);
    step(second, 3);
    assert!(text().lines().eq(&all[..3]));
    assert_eq!((step(99, 3), text()), (DONE, String::new()));
}

#[test]
fn a_conversion_has_the_bytes_of_the_file() {
    open(&CTG);
    for (format, magic) in [
        ("csv", "fen,uci,san"),
        ("pgn", "[Event \"simple.ctg\"]"),
        ("jsonl", "{\"format\""),
    ] {
        give(format!("{format}\n").as_bytes());
        assert_eq!(convert(), DONE, "{}", text());
        assert!(text().starts_with(magic), "{format}");
    }
    give(b"pgn\n{\"maxPly\":1}");
    assert_eq!(convert(), DONE);
    let length = text().len();
    assert_eq!(converted(), DONE);
    let summary = object();
    assert_eq!(summary["bytes"], length);
    assert!(
        !summary["notes"].as_array().unwrap().is_empty(),
        "{summary}"
    );
    for (asked, class) in [
        ("ctg", "ConvertError"),
        ("doc", "ConvertError"),
        ("bin\n{\"maxPlies\":1}", "OptionError"),
    ] {
        give(asked.as_bytes());
        assert_eq!(convert(), FAILED, "{asked}");
        assert_eq!(object()["class"], class);
        assert_eq!((converted(), text()), (DONE, "null".to_owned()));
    }
    free_output();
    assert_eq!(output_length(), 0);
}

#[test]
fn a_book_made_here_is_a_book() {
    open(&CTG);
    let start = probed(START);
    give(b"bin\n{\"weights\":\"games\"}");
    assert_eq!(convert(), DONE);
    let bytes = STATE.with_borrow(|state| state.output.clone());
    assert_eq!(open(&[("made.bin", &bytes)]), DONE);
    assert_eq!(object()["format"], "bin");
    let moves = |view: &Value| {
        let moves = view["moves"].as_array().unwrap().iter();
        let mut moves: Vec<_> = moves.map(|mv| mv["uci"].to_string()).collect();
        moves.sort();
        moves
    };
    let made = moves(&probed(START));
    assert!(!made.is_empty() && made.iter().all(|mv| moves(&start).contains(mv)));
    give(b"jsonl");
    assert_eq!(
        (convert(), &object()["class"]),
        (FAILED, &"ConvertError".into())
    );
}
