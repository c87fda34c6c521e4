//! `tabia compact` and `tabia merge`: output, refusals and kept content.

// A failed step fails the test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{Folder, assert_has, contents, family, files, open, random_book};

#[test]
fn compact_keeps_the_readable_parts_of_a_damaged_book() {
    let folder = Folder::new();
    let (mut book, _) = random_book(20, 60);
    book.page_limit = 900;
    let path = book.write(&folder, "book");
    let mut bytes = fs::read(&path).unwrap();
    let keys = |path: &Path| contents(path).len();
    let all = keys(&path);
    // A page of random bytes, one cut in its middle, one with an invalid first key.
    bytes[4096 * 4..][..4096].fill(0xa5);
    let first_length = usize::from(bytes[4096 * 7 + 4] & 31);
    bytes[4096 * 7 + 4 + first_length] = 0;
    bytes[4096 * 9 + 5..][..12].fill(0);
    fs::write(&path, &bytes).unwrap();
    let saved = folder.join("saved.ctg");
    let text = folder.tabia("compact book.ctg -o saved.ctg");
    let text = text.ends_with(1, "2 damaged pages not read to their end");
    assert_has(&text, "1 position with an impossible key left out");
    assert_has(&text, "page 3 (file byte 16384)");
    let left = keys(&saved);
    assert!(left < all - 2 && left > all / 2);
    assert_eq!(open(&saved).info().unwrap().problems, [""; 0]);
    // Nothing is readable: the old book stays.
    bytes[4096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    folder.tabia("compact book.ctg").refused("42405 bytes used");
    assert!(fs::read(&path).unwrap() == bytes);
}

#[test]
fn invalid_options_are_refused_and_nothing_is_lost() {
    let folder = Folder::new();
    let books = family(&folder);
    let before = folder.names();
    let bytes = fs::read(&books[0]).unwrap();
    let refused = |arguments: &str, expected: &str| {
        let output = folder.tabia(arguments);
        let text = output.refused(expected);
        assert_eq!(text.lines().count(), 1, "{text}");
        // Reported once, without repeating the cause.
        assert!(text.matches("No such file").count() <= 1, "{text}");
        assert!(output.out().is_empty());
        assert_eq!(folder.names(), before);
    };
    refused("merge -o book0.ctg book1.ctg book0.ctg", "already exists");
    refused("compact book0.ctg -o book1.ctg", "--force");
    // On a case-sensitive system this is another book, with the index of this one.
    let in_the_way = if cfg!(windows) {
        "BOOK0.CTG: already exists"
    } else {
        "book0.cto: already exists"
    };
    refused("merge -o ./BOOK0.CTG book0.ctg book1.ctg", in_the_way);
    for (arguments, message) in [
        (
            "merge -o out.ctg book0.ctg none.ctg",
            "none.ctg: cannot read the book",
        ),
        (
            "merge -o no/out.ctg book0.ctg book1.ctg",
            "there is no folder",
        ),
        ("merge -o new.xyz book0.ctg book1.ctg", "must end with .ctg"),
        ("compact none.ctg", "cannot read the book"),
        ("compact book0.ctg -o no/out.ctg", "there is no folder"),
        (
            "merge -o out.ctg book0.ctg book0.ctb",
            "this is the index of a book",
        ),
    ] {
        refused(arguments, message);
    }
    assert!(fs::read(&books[0]).unwrap() == bytes);
}

#[test]
fn the_command_line_prints_what_was_made() {
    let folder = Folder::new();
    let books = family(&folder);
    assert_eq!(books.len(), 4);
    let text = folder.done("merge -o out.ctg book0.ctg book1.ctg book2.ctg book3.ctg");
    assert_has(&text, "4 books; 46 games, ");
    assert_eq!(text.lines().count(), 1, "{text}");
    // All three files are compared with all three.
    let bytes: usize = files(folder.join("out.ctg")).iter().map(Vec::len).sum();
    let text = folder.tabia("compact out.ctg").err();
    assert_has(&text, &format!("{bytes} bytes in all its files before; "));
    assert_has(&text, &format!(" moves, {bytes} bytes in "));
    let text = folder.tabia("compact --repack out.ctg").err();
    assert_has(&text, "index made anew");
}

#[test]
fn force_keeps_all_files_of_the_old_book() {
    let folder = Folder::new();
    let books = family(&folder);
    let parts = |suffix: &str| {
        ["ctg", "cto", "ctb"].map(|part| {
            let name = format!("{}{suffix}", books[0].with_extension(part).display());
            fs::read(name).ok()
        })
    };
    let old = parts("");
    // The old syntax, which would destroy the first book.
    folder
        .tabia("merge book0.ctg book1.ctg")
        .refused("--output");
    folder.tabia("merge -o book0.ctg book1.ctg").ends(2);
    let merge = "book0.ctg book0.ctg book1.ctg";
    let text = folder.tabia(&format!("merge -o {merge}")).err();
    assert_has(&text, "already exists");
    assert_has(&text, "book0.ctg.bak");
    assert_eq!(parts(""), old);
    // A source may be the target if an option allows it.
    folder.done(&format!("merge -fo {merge}"));
    assert_eq!(parts(".bak"), old);
    assert_ne!(parts("")[0], old[0]);
    let sum = contents(&books[0]).len();
    assert!(sum >= contents(&books[1]).len());
    // There is no second backup, and the first is the last book.
    let second = parts("");
    folder.done("compact book1.ctg --force -o book0.ctg");
    assert_eq!(parts(".bak"), second);
}

/// What links lead to is changed and kept; the links stay.
#[cfg(unix)]
#[test]
fn commands_that_replace_a_book_follow_links() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.put("a.pgn", "1.e4 e5 2.Nf3 *\n");
    fs::create_dir(folder.join("real")).unwrap();
    folder.done("build -o real/x.ctg a.pgn");
    for end in ["ctg", "cto", "ctb"] {
        symlink(format!("real/x.{end}"), folder.join(format!("l.{end}"))).unwrap();
    }
    for command in ["compact l.ctg", "add l.ctg --line '1.d4 d5'"] {
        let old = fs::read(folder.join("real/x.ctg")).unwrap();
        let said = folder.done(command);
        assert!(said.contains("real/x.ctg.bak"), "{said}");
        for end in ["ctg", "cto", "ctb"] {
            assert!(folder.join(format!("l.{end}")).is_symlink(), "{command}");
            assert!(!folder.join(format!("real/x.{end}.bak")).is_symlink());
        }
        let kept = fs::read(folder.join("real/x.ctg.bak")).unwrap();
        assert!(kept == old, "{command}");
    }
    let moves = folder.probe("real/x.ctg", "")["moves"].clone();
    assert!(moves.to_string().contains("\"d4\""), "{moves}");
    folder.tabia("verify l.ctg").ok();
    // The index of another book.
    fs::remove_file(folder.join("l.cto")).unwrap();
    folder.put("l.cto", "mine");
    folder.tabia("add l.ctg a.pgn").refused("links must lead");
}
