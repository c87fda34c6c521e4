//! Damaged books in commands that read a whole book.

use std::fs;
use std::path::Path;

use shakmaty::Chess;
use tabia_book::ctg::{CtgBook, OpenOptions};

use crate::common::{Folder, SMALL, assert_has, copy};

fn open(path: &Path) -> Result<CtgBook, String> {
    CtgBook::open(path, &OpenOptions::default()).map_err(|error| error.to_string())
}

/// Commands that read a whole book use the readable part, report each loss once with
/// file, page and byte, count it, and do not report success.
#[test]
fn all_commands_report_damage_alike() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    copy(SMALL, &at("whole.ctg"));
    copy(SMALL, &at("bad.ctg"));
    let mut bytes = fs::read(at("bad.ctg")).unwrap();
    // Not the page of the start position: its index leads elsewhere.
    let book = open(&at("whole.ctg")).unwrap();
    let first = book.explain(&Chess::default()).unwrap();
    let used = format!("{first:?}");
    let is_unused = |page: &usize| !used.contains(&format!("page: {page},"));
    let page = (1..).find(is_unused).unwrap();
    bytes[4096 * (page + 1) + 2..][..2].fill(0xff);
    fs::write(at("bad.ctg"), bytes).unwrap();
    let named = format!("bad.ctg: page {page} (file byte {})", 4096 * (page + 1));
    let report = |command: &str| {
        let ran = folder.tabia(command);
        let text = ran.ends_with(1, "; 1 damaged page not read to its end");
        assert_eq!(text.matches(&named).count(), 1, "{command}: {text}");
        text
    };
    // A book that is equal except for the unreadable part.
    let diff = "diff bad.ctg whole.ctg";
    folder.tabia(&format!("{diff} --strict")).ends(2);
    assert_has(
        &report(diff),
        "; no difference; 1 damaged page not read to its end; ",
    );
    for (out, command) in [
        ("out.jsonl", "convert bad.ctg out.jsonl"),
        ("out.csv", "convert bad.ctg out.csv"),
        ("out.bin", "convert bad.ctg out.bin"),
        ("out.pgn", "convert bad.ctg out.pgn --plies 6"),
        ("all.ctg", "merge -o all.ctg bad.ctg whole.ctg"),
        ("saved.ctg", "compact bad.ctg -o saved.ctg"),
    ] {
        let strict = folder.tabia(&format!("{command} --strict"));
        strict.refused("1 damaged page not read to its end");
        assert!(!at(out).exists(), "{command}");
        report(command);
        assert!(fs::metadata(at(out)).unwrap().len() > 10_000, "{command}");
        if out != "out.pgn" && out != "out.csv" {
            folder.done(&format!("{} --force", command.replace("bad", "whole")));
        }
    }
}

/// Commands that walk along moves leave out what is behind damage, and say so.
#[test]
fn walks_that_end_at_damage_are_reported() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    copy(SMALL, &at("bad.ctg"));
    let mut bytes = fs::read(at("bad.ctg")).unwrap();
    // The start position is on page 0.
    for page in (1..bytes.len() / 4096 - 1).step_by(3) {
        bytes[4096 * (page + 1) + 2..][..2].fill(0xff);
    }
    fs::write(at("bad.ctg"), bytes).unwrap();
    for command in [
        "suite make bad.ctg -o bad.epd --plies 6",
        "repertoire bad.ctg --colour white",
    ] {
        let text = folder.tabia(command).ends_with(1, "tabia: bad.ctg: page ");
        assert_has(&text, " damaged pages not read to their end");
    }
}

/// Changes of a whole book do the same.
#[test]
fn marks_of_a_damaged_book_are_reported_as_incomplete() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    copy(SMALL, &at("bad.ctg"));
    let mut bytes = fs::read(at("bad.ctg")).unwrap();
    bytes[4096 * 8 + 2..][..2].fill(0xff);
    fs::write(at("bad.ctg"), &bytes).unwrap();
    let mark = "mark bad.ctg --learn-value 7 --where 'games>=2'";
    let strict = folder.tabia(&format!("{mark} --strict"));
    strict.refused("nothing was changed");
    assert_eq!(fs::read(at("bad.ctg")).unwrap(), bytes);
    for more in ["--dry-run --list", "", "--colour white --dry-run"] {
        let marked = folder.tabia(&format!("{mark} {more}"));
        let text = marked.ends_with(1, "1 damaged page not read to its end");
        let named = "bad.ctg: page 7 (file byte 32768)";
        assert_eq!(text.matches(named).count(), 1, "{text}");
    }
}

/// If nothing of a book fits a format, no file is written.
#[test]
fn an_empty_result_is_an_error() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    let line = r#"{"fen":"4k3/8/8/8/8/8/8/4K2R w - - 0 1","games":1,"wins":0,"losses":0,"draws":1,"points":5,"own_rated":0,"own_rating_sum":0,"other_rated":0,"other_rating_sum":0,"recommendation":0,"factor":0,"commentary":0,"moves":[{"uci":"h1h8","annotation":0}]}"#;
    let text = format!("{{\"format\":\"tabia-book\",\"version\":1,\"games\":1}}\n{line}\n");
    fs::write(at("end.jsonl"), text).unwrap();
    for out in ["end.bin", "end.pgn"] {
        let convert = folder.tabia(&format!("convert end.jsonl {out}"));
        let text = convert.refused("none of its moves can be written");
        assert_has(&text, "1 position");
        assert!(!at(out).exists());
    }
}
