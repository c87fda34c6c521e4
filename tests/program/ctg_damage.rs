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
    // Without an index look-ups do not come to damaged pages at all.
    fs::remove_file(at("bad.cto")).unwrap();
    copy(SMALL, &at("whole.ctg"));
    folder.put("games.pgn", "[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 d6 1-0\n");
    let engine = "--engine builtin --nodes 20";
    for command in [
        "suite make bad.ctg -o bad.epd --plies 6 --force",
        "repertoire bad.ctg --colour white",
        "repertoire whole.ctg --colour white --opponent bad.ctg",
        "repertoire whole.ctg --colour white --measure bad.ctg",
        "tree bad.ctg --depth 2",
        "review games.pgn --book bad.ctg",
        "learn bad.ctg games.pgn -n",
        &format!("evaluate bad.ctg {engine} --positions 2"),
        "audit bad.ctg",
        &format!("prove whole.ctg bad.ctg {engine} --walks 3"),
        &format!("grow whole.ctg -o grown.ctg --replies bad.ctg {engine} --positions 1"),
    ] {
        let text = folder.tabia(command).ends_with(1, "tabia: bad.ctg: page ");
        assert_has(&text, " damaged pages not read to their end");
    }
    // Its exit code says whether the position is in the book.
    let text = folder
        .tabia("probe bad.ctg")
        .ends_with(0, "tabia: bad.ctg: page ");
    assert_has(&text, " damaged pages not read to their end");
}

/// Removes what a command has made.
fn remove(folder: &Folder, out: &str) {
    fs::remove_file(folder.join(out)).unwrap();
    if out.ends_with(".ctg") {
        for end in ["cto", "ctb"] {
            fs::remove_file(folder.join(out).with_extension(end)).unwrap();
        }
    }
}

/// A ChessBase book that was cut off between two pages has no damaged page, but lacks some.
#[test]
fn missing_pages_are_damage() {
    let folder = Folder::new();
    copy(SMALL, &folder.join("whole.ctg"));
    copy(SMALL, &folder.join("cut.ctg"));
    let bytes = fs::read(folder.join("cut.ctg")).unwrap();
    let left = bytes.len() / 4096 - 3;
    folder.put("cut.ctg", &bytes[..4096 * left]);
    let page = format!("cut.ctg: page {} (file byte {})", left - 1, 4096 * left);
    let lost = "1 damaged page not read to its end";
    for has_index in [true, false] {
        if !has_index {
            fs::remove_file(folder.join("cut.cto")).unwrap();
        }
        for (command, out) in [
            ("convert cut.ctg", "a.jsonl"),
            ("convert cut.ctg", "a.csv"),
            ("convert cut.ctg", "a.bin"),
            ("merge cut.ctg whole.ctg -o", "a.ctg"),
            ("compact cut.ctg -o", "b.ctg"),
            ("diff cut.ctg", "whole.ctg"),
        ] {
            let strict = folder.tabia(&format!("{command} {out} --strict"));
            assert_has(&strict.refused(lost), &page);
            let is_made = out != "whole.ctg";
            assert!(!is_made || !folder.join(out).exists());
            let text = folder.tabia(&format!("{command} {out}")).ends_with(1, lost);
            assert_eq!(text.matches(&page).count(), 1, "{command}: {text}");
            if is_made {
                remove(&folder, out);
            }
        }
        for command in [
            "suite make cut.ctg -o a.epd --plies 6 --force",
            "repertoire cut.ctg --colour white",
            "mark cut.ctg --all main -n",
        ] {
            assert_has(&folder.tabia(command).ends_with(1, lost), &page);
        }
    }
}

/// A book of another format that ends inside an entry lacks a part, too.
#[test]
fn books_that_end_inside_an_entry_are_losses_everywhere() {
    let folder = Folder::with(SMALL);
    folder.put("games.pgn", "[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 d6 1-0\n");
    for (end, entry) in [("bin", 16), ("abk", 28)] {
        folder.done(&format!("convert book.ctg whole.{end}"));
        let mut bytes = fs::read(folder.join(format!("whole.{end}"))).unwrap();
        bytes.truncate(bytes.len() - 5);
        let named = format!(
            "cut.{end}: file byte {}: the last",
            bytes.len() / entry * entry
        );
        folder.put(&format!("cut.{end}"), &bytes);
        let cut = |command: &str| {
            let command = command.replace("CUT", &format!("cut.{end}"));
            folder.tabia(&command.replace("WHOLE", &format!("whole.{end}")))
        };
        let lost = |command: &str, code: i32| {
            let text = cut(command).ends_with(code, " not read");
            assert_has(&text, " missing or damaged part");
            assert_eq!(text.matches(&named).count(), 1, "{command}: {text}");
        };
        for (command, out) in [
            ("convert CUT a.pgn", "a.pgn"),
            ("convert CUT a.ctg", "a.ctg"),
            ("convert CUT a.jsonl", "a.jsonl"),
            ("merge CUT WHOLE -o b.ctg", "b.ctg"),
            ("merge CUT WHOLE -o b.bin", "b.bin"),
            ("diff CUT WHOLE", ""),
            ("mark CUT --all --weight 3", ""),
            ("compact CUT -o c.bin", "c.bin"),
        ] {
            if end == "abk" && out == "c.bin" {
                continue;
            }
            assert_has(&cut(&format!("{command} --strict")).ends(2), &named);
            assert!(out.is_empty() || !folder.join(out).exists(), "{command}");
            lost(command, 1);
            if !out.is_empty() {
                remove(&folder, out);
            }
        }
        let engine = "--engine builtin --nodes 20";
        for command in [
            "suite make CUT -o a.epd --plies 6 --force",
            "repertoire CUT --colour white",
            "repertoire book.ctg --colour white --opponent CUT",
            "repertoire book.ctg --colour white --measure CUT",
            "tree CUT --depth 2",
            "review games.pgn --book CUT",
            &format!("evaluate CUT {engine} --positions 2"),
            "audit CUT",
            &format!("prove WHOLE CUT {engine} --walks 3"),
            &format!("grow book.ctg -o d.ctg --force --replies CUT {engine} --positions 1"),
        ] {
            lost(command, 1);
        }
        lost("probe CUT", 0);
        if end == "bin" {
            lost("learn CUT games.pgn -n", 1);
        }
        // Sound books are none.
        folder.done(&format!("convert whole.{end} a.csv --strict --force"));
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
