//! PGN from real sources: all forms of moves that are in use, and the effects of mail,
//! old systems and damage on a text. The right game is read, or the unreadable part is
//! reported.

#![allow(clippy::unwrap_used)]

use crate::common::{Folder, TABIA, assert_has, project};
use crate::databases::archives::pack_7z;

/// Two hundred games without notes, as PGN.
fn sample() -> String {
    let folder = Folder::new();
    let source = project("tests/data/sample.pgn");
    let source = source.display();
    folder.done(&format!(
        "games -f '{source}' --no-variations --no-comments -o out.pgn"
    ));
    folder.text("out.pgn")
}

/// The games that are read from a text, and the messages about it.
fn read(text: impl AsRef<[u8]>) -> (String, String) {
    let folder = Folder::new();
    folder.put("in.pgn", text);
    let messages = folder.done("games -f in.pgn -o out.pgn");
    (folder.text("out.pgn"), messages)
}

/// `games` keeps the moves before the error, `build` skips the game.
#[test]
fn an_invalid_move_ends_the_game_and_is_reported() {
    let folder = Folder::new();
    let games = "[Event \"1\"]\n\n1. e4 e5 2. Nf3\nXc6 3. Bb5 *\n\n\
        [Event \"2\"]\n\n1. e4 e5 2. Sf3 Cc6 3. Lb5 *\n\n\
        [Event \"3\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0 White wins\n";
    folder.put("in.pgn", games);
    let word = "move 2... on line 4 is not understood: Xc6";
    let other = "move 2. on line 8 is not understood: Sf3";
    let ran = folder.tabia("games in.pgn -o out.pgn --strict");
    ran.negative();
    let messages = folder.done("games -f in.pgn -o out.pgn");
    assert_has(
        &messages,
        &format!("in.pgn: line 1: game cut short: {word}"),
    );
    assert_has(
        &messages,
        &format!("in.pgn: line 6: game cut short: {other}"),
    );
    let text = folder.text("out.pgn");
    assert_has(&text, "\n1. e4 e5 2. Nf3 *\n");
    assert_has(&text, "\n1. e4 e5 2. Nf3 Nc6 1-0\n");
    assert!(!text.contains("Bb5"));
    let messages = folder.done("build in.pgn -o out.ctg");
    assert_has(&messages, &format!("in.pgn: line 1: game skipped: {word}"));
    folder
        .tabia("build in.pgn -o other.ctg --strict")
        .negative();
    // Other text is not a game.
    let (text, messages) = read("Dear all,\nhere they are.\n\n1. e4 e5 *\n\nBye\n");
    assert_eq!(text.matches("1. e4 e5 *").count(), 1);
    assert_has(&messages, "1 game read, 1 written, 0 skipped");
}

/// What is doubtful about a game is reported, and `--strict` fails, for books too.
#[test]
fn endless_comments_and_contradicting_results_are_not_silent() {
    let next = "[Event \"2\"]\n[Result \"1-0\"]\n\n1. d4 d5 1-0\n";
    for (game, message) in [
        (
            "[Result \"1-0\"]\n\n1. e4 e5 (1... c5 {half) 2. Nf3 1-0\n\n",
            "x.pgn: line 1: game cut short: the comment that begins on line 3 has no end",
        ),
        (
            "[Result \"0-1\"]\n\n1. e4 e5 1-0\n\n",
            "x.pgn: line 1: the result after the moves contradicts the tag Result, which counts",
        ),
    ] {
        let folder = Folder::new();
        folder.put("x.pgn", format!("{game}{next}"));
        for command in [
            "build -f x.pgn -o x.ctg",
            "build -f x.pgn -o x.bin --max-ply 1",
            "index -f x.pgn -o x.tgx",
            "games -f x.pgn -o out.pgn",
        ] {
            assert_has(&folder.done(command), message);
            folder.tabia(&format!("{command} --strict")).negative();
        }
        assert_eq!(folder.text("out.pgn").matches("[Event ").count(), 2);
    }
}

/// Limits a file to 100 kB, which simulates a full disk.
#[cfg(unix)]
#[test]
fn files_left_after_a_full_disk_are_reported() {
    let folder = Folder::new();
    let large = sample().repeat(3);
    folder.put(
        "x.7z",
        pack_7z(&[("a.pgn", b"1. e4 *\n"), ("b.pgn", large.as_bytes())]),
    );
    let script = format!("trap '' XFSZ; ulimit -f 200; exec '{TABIA}' games x.7z -o out/");
    let mut shell = std::process::Command::new("sh");
    let done = shell
        .args(["-c", &script])
        .current_dir(&*folder)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    let messages = String::from_utf8(done.stderr).unwrap();
    assert_has(&messages, "b.pgn: cannot be written: ");
    assert_has(
        &messages,
        "; 1 files that were unpacked before it are in out/",
    );
    assert_eq!(messages.matches("File too large").count(), 1, "{messages}");
    assert!(folder.join("out/a.pgn").exists() && !folder.join("out/b.pgn").exists());
}

#[test]
fn games_as_json_are_refused_with_a_hint() {
    let folder = Folder::new();
    folder.put(
        "x.ndjson",
        "{\"id\":\"abc\",\"players\":{},\"moves\":\"e4 e5\"}\n",
    );
    folder
        .tabia("games x.ndjson -o out.pgn")
        .refused("ask lichess for PGN");
}
