//! Error messages: each names the place and what to do.

use std::fs;

use crate::common::{Folder, Ran, SIMPLE, SMALL, STARTER, assert_has, copy};

/// Checks a typed line's exit code and part of its message; returns the message.
fn message(folder: &Folder, typed: &str, code: i32, part: &str) -> String {
    let ran = folder.tabia(typed);
    let text = ran.ends_with(code, part);
    assert!(text.lines().count() < 12, "{text}");
    text
}

#[test]
fn a_configuration_that_cannot_be_read_is_reported_once() {
    let folder = Folder::new();
    let text = message(&folder, "--config nosuch.toml", 2, "nosuch.toml: ");
    assert_eq!(text.matches("os error 2").count(), 1, "{text}");
    folder.put("latin.toml", b"# caf\xe9\n".as_slice());
    let text = message(&folder, "--config latin.toml", 2, "save it as UTF-8");
    assert_eq!(text.matches("UTF-8").count(), 2, "{text}");
    folder.put("win.toml", "[engine.x]\ncommand = \"C:\\uno\\x.exe\"\n");
    message(&folder, "--config win.toml", 2, "line 2: ");
    message(
        &folder,
        "--config win.toml",
        2,
        "between single quotes ('C:",
    );
}

#[test]
fn keys_of_the_configuration_lead_to_the_right_ones() {
    let folder = Folder::new();
    for (text, part) in [
        (
            "[engine.x]\ncmd = 'x'\n",
            "line 2: unknown key \"cmd\" in [engine.x] (did you mean \"command\"?)",
        ),
        (
            "[engine]\nHash = 16\n",
            "line 2: \"Hash\" stands in [engine.NAME.options]",
        ),
        (
            "[books]\nfile = 'x.ctg'\n",
            "line 1: each book is a table [[books]]",
        ),
        (
            "[[book]]\nfile = 'x.ctg'\n",
            "line 1: [book] has the options for all books",
        ),
        (
            "[book]\nmin_games = 3\n",
            "(did you mean \"minimum_games\"?)",
        ),
    ] {
        folder.put("engines.toml", text);
        message(&folder, "check --config engines.toml", 2, part);
    }
    folder.put("engines.toml", "folder = 'nowhere'\ndefault = 'builtin'\n");
    let checked = folder.tabia("check --config engines.toml").printed();
    assert_has(
        &checked,
        "nowhere: this folder does not exist (`folder` in engines.toml)",
    );
}

#[test]
fn if_no_game_is_left_the_reasons_are_counted() {
    let folder = Folder::new();
    folder.put("bad.pgn", "[Event \"x\"]\n\n1. e4 e5 2. Kf3 *\n");
    let text = message(
        &folder,
        "build -o b.ctg bad.pgn",
        2,
        "no game is left of 1; skipped: 1",
    );
    assert_has(&text, "(the first: bad.pgn: line 1: game skipped: ");
    assert_has(&text, "Kf3");
    let rated = "[WhiteElo \"2500\"]\n[BlackElo \"2100\"]\n\n1. e4 e5 1-0\n\n";
    folder.put("elo.pgn", format!("[Event \"x\"]\n\n1. e4 e5 *\n\n{rated}"));
    for typed in ["--both-elo 2200", "--min-elo 2600", "--elo-band 2400..2500"] {
        let text = message(
            &folder,
            &format!("build -o b.ctg elo.pgn {typed}"),
            2,
            "no game is left of 2",
        );
        assert_has(
            &text,
            "2 did not match the conditions (1 of them without a rating)",
        );
    }
    message(
        &folder,
        "index -o b.tgx elo.pgn --both-elo 2200",
        2,
        "(1 of them without a rating)",
    );
    let text = message(
        &folder,
        "build -o b.ctg elo.pgn --min-elo 2200",
        0,
        "1 game,",
    );
    assert_has(&text, "1 game filtered out (1 of them without a rating)");
    // Each condition with the number of games that it rejected.
    for command in [
        "build -o none.ctg",
        "index -o none.tgx",
        "build -o none.bin",
        "suite -o none.epd",
    ] {
        message(
            &folder,
            &format!("{command} elo.pgn --min-elo 2000 --since 1990"),
            2,
            "2 did not match the conditions (1 of them without a rating): 1 by --min-elo, 1 by --since",
        );
    }
    let also = "build -o none.ctg --both-elo 2600 elo.pgn --also 'c.ctg: --result 0-1'";
    message(&folder, also, 2, "2 by the conditions of each book");
    // The conditions on games are listed where they rejected most.
    let suite = "suite elo.pgn -o s.epd --plies 2 --both-elo 2700";
    message(
        &folder,
        suite,
        2,
        "no position is left: no game is left of 2; 2 did not match the conditions",
    );
}

/// The name says nothing about a file that a download or a checkout has put in place of
/// another one.
#[test]
fn files_that_only_bear_the_name_of_a_book_or_database_are_named() {
    let folder = Folder::with(SMALL);
    let mut tar = vec![0; 1024];
    tar[..9].copy_from_slice(b"games.pgn");
    tar[148..156].fill(b' ');
    let sum: u32 = tar.iter().map(|byte| u32::from(*byte)).sum();
    tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let page = b"<!DOCTYPE html>\n<html><body>1. e4 e5</body></html>\n".to_vec();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n".to_vec();
    for (bytes, says) in [
        (&page, "this is a web page, not"),
        (&pointer, "this is a Git LFS pointer, not"),
        (&tar, "this is a tar archive: unpack it with `tar xf`"),
    ] {
        for name in ["x.bin", "x.ctg", "x.abk", "x"] {
            folder.put(name, bytes);
            for command in ["info", "probe", "tree", "verify"] {
                message(&folder, &format!("{command} {name}"), 2, says);
            }
            message(&folder, &format!("convert {name} y.ctg"), 2, says);
            message(&folder, &format!("merge -o y.ctg book.ctg {name}"), 2, says);
        }
        for name in [
            "y.pgn", "y.cbh", "y.si4", "y.cbv", "y.2cbh", "y.dci", "y.zip", "y.bin", "y",
        ] {
            folder.put(name, bytes);
            message(&folder, &format!("build -o z.ctg {name}"), 2, says);
        }
    }
    folder.put(
        "games.tar.gz",
        crate::common::gzip(&String::from_utf8_lossy(&tar)),
    );
    message(
        &folder,
        "build -o z.ctg games.tar.gz",
        2,
        "tar archive: unpack it with `tar xf`, and give",
    );
    folder.put("x.bin", "404: Not Found");
    message(&folder, "info x.bin", 2, "not an opening book");
    for typed in ["--since 85", "--until 85-12", "--since 985"] {
        message(
            &folder,
            &format!("build -o z.ctg y.pgn {typed}"),
            2,
            "a year has four digits, as 1985",
        );
    }
}

/// A book that is to be changed is looked for before the games are read.
#[test]
fn a_missing_book_is_reported_before_games_are_read() {
    let folder = Folder::new();
    folder.put("bad.pgn", "[Event \"x\"]\n\n1. e4 e5 2. Kf3 *\n");
    for typed in [
        "add nosuch.ctg bad.pgn",
        "add bad.pgn bad.pgn",
        "build -o x.ctg bad.pgn nosuch.ctg",
    ] {
        let text = folder.tabia(typed).ends(2);
        assert!(!text.contains("skipped"), "{text}");
    }
    message(
        &folder,
        "add nosuch.ctg bad.pgn",
        2,
        "nosuch.ctg: cannot read the book",
    );
}

#[test]
fn all_commands_accept_positions_in_the_same_forms() {
    let folder = Folder::with(STARTER);
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let by_option = folder.tabia(&format!("probe book.ctg --fen '{fen}'"));
    let by_place = folder.tabia(&format!("probe book.ctg '{fen}'"));
    assert_eq!(by_option.printed(), by_place.printed());
    let board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    let note = format!("this FEN lacks fields, and is taken as {board} w KQkq - 0 1");
    for typed in [
        format!("probe book.ctg {board}"),
        format!("probe book.ctg {board} w"),
        format!("mark book.ctg -n --fen {board} --move e4 main"),
        format!("diff book.ctg book.ctg --fen {board}"),
        format!("suite book.ctg -o s.epd --plies 2 --fen {board}"),
    ] {
        message(&folder, &typed, 0, &note);
    }
    let note = format!("taken as {board} b KQkq - 0 1");
    message(&folder, &format!("probe book.ctg '{board} b'"), 0, &note);
    // Of many positions the first is named.
    let asked = format!("{board} w KQkq -\n{board}\n\n{board} w\n");
    let ran = Ran::with_input(&mut folder.command("probe book.ctg -"), asked.as_bytes());
    let first = format!("line 2: this FEN lacks fields, and is taken as {board} w KQkq - 0 1");
    ran.ends_with(0, &format!("{first}; as do 1 more"));
}

#[test]
fn quotes_that_were_forgotten_are_shown() {
    let folder = Folder::with(SMALL);
    let board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for (typed, part) in [
        (
            "probe book.ctg --moves e4 c5",
            "--moves needs quotes: --moves \"e4 c5\"",
        ),
        (
            "tree book.ctg --moves 1. e4 c5",
            "--moves needs quotes: --moves \"1. e4 c5\"",
        ),
        (
            "mark book.ctg --line 1.e4 c5 main",
            "--line needs quotes: --line \"1.e4 c5\"",
        ),
        (
            "add book.ctg --line 1.e4 c5 2.c3!",
            "--line needs quotes: --line \"1.e4 c5 2.c3!\"",
        ),
        (
            "probe book.ctg c5 --moves e4",
            "\"c5\" is a list of moves, not a position: write --moves \"e4 c5\"",
        ),
        (
            "mark book.ctg e4 main",
            "\"e4\" is a move, not a mark: write --move e4",
        ),
        (
            "probe book.ctg --moves 'e4 e5 N'",
            "move 3 (N) is not a move",
        ),
        (
            "probe book.ctg --moves 'e4;c5'",
            "move 1 (e4;c5) is not a move",
        ),
    ] {
        message(&folder, typed, 2, part);
    }
    let part = "games.tgx: --explain shows the bytes of a book; this is an index of games";
    message(&folder, "probe games.tgx --explain", 2, part);
    let typed = format!("mark book.ctg --fen {board} w KQkq - 0 1 --move e4 main");
    let part = format!("--fen needs quotes: --fen \"{board} w KQkq - 0 1\"");
    message(&folder, &typed, 2, &part);
}

#[test]
fn a_board_that_is_wrong_is_refused_at_its_rank() {
    let folder = Folder::with(SMALL);
    for (fen, part) in [
        (
            "rnbqkbnr/pppppppp/8/8/4P2/8/PPPP1PPP/RNBQKBNR b",
            "rank 4 has 7 squares instead of 8",
        ),
        (
            "rnbqxbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w",
            "\"x\" on rank 8 is not a piece",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 12345678901234567890",
            "a counter is a whole number up to 4294967295",
        ),
    ] {
        message(&folder, &format!("probe book.ctg '{fen}'"), 2, part);
    }
}

/// The name of what is unknown, and what to type instead.
#[test]
fn unknown_words_are_called_by_their_name() {
    let folder = Folder::with(SMALL);
    let no_command = |word: &str| format!("error: there is no command \"{word}\"");
    for (typed, word, tip) in [
        ("prob x.ctg", "prob", "did you mean 'tabia probe'?"),
        ("BUILD x.pgn", "BUILD", "did you mean 'tabia build'?"),
        ("open main.ctg", "open", "tabia explore main.ctg"),
        (
            "make-book -pgn x.pgn -bin y.bin -only-white",
            "make-book",
            "tabia build -o y.bin --max-ply 1024 --min-games 3 --colour white x.pgn",
        ),
        (
            "merge-book -in1 a.bin -in2 'b c.bin' -out c.bin",
            "merge-book",
            "tabia merge --first-wins -o c.bin a.bin 'b c.bin'",
        ),
        ("uninstall", "uninstall", "tabia setup --remove"),
    ] {
        let text = message(&folder, typed, 2, &no_command(word));
        let tip = format!("  tip: {tip}\n\nFor more information");
        assert!(text.contains(&tip), "{text}");
    }
    let text = message(&folder, "xyzzy", 2, &no_command("xyzzy"));
    assert!(!text.contains("tip:"), "{text}");
    for (typed, tip) in [
        ("--engine x check", "tip: tabia check --engine x"),
        (
            "--engine x probe book.ctg",
            "tip: `tabia probe --help` has the options of probe",
        ),
    ] {
        message(
            &folder,
            typed,
            2,
            "the command comes first, and its options after it",
        );
        message(&folder, typed, 2, tip);
    }
    // Only what differs by a letter or two is proposed.
    for (typed, tip) in [
        ("build -o x.ctg --max-plie 3 a.pgn", Some("'--max-ply'")),
        ("check --engin x", Some("'--engine'")),
        ("prune a.ctg -o b.ctg --speed blitz", None),
        ("build -o x.ctg --frobnicate 3 a.pgn", None),
        ("--book x --foo", None),
    ] {
        let text = folder.tabia(typed).ends(2);
        assert_has(&text, "unexpected argument '--");
        let proposed = tip.map_or_else(String::new, |tip| {
            format!("  tip: a similar argument exists: {tip}\n")
        });
        assert_eq!(text.contains("tip:"), tip.is_some(), "{text}");
        assert_has(&text, &proposed);
    }
    folder.put("games.pgn", "[Event \"x\"]\n\n1. e4 e5 1-0\n");
    folder.done("index -o games.tgx games.pgn");
    for typed in ["audit games.tgx", "verify games.tgx"] {
        let part = "this is an index of games, not a book: `tabia explore games.tgx` shows";
        message(&folder, typed, 2, part);
    }
}

#[test]
fn errors_of_a_truncated_book_fit_on_a_screen() {
    let folder = Folder::with(STARTER);
    let bytes = fs::read(folder.join("book.ctg")).unwrap();
    fs::write(folder.join("book.ctg"), &bytes[..bytes.len() * 3 / 4]).unwrap();
    let ran = folder.tabia("verify book.ctg");
    let out = ran.negative();
    assert!(out.lines().count() < 90, "{}", out.lines().count());
    assert!(out.starts_with("file-size: the file ends"), "{out}");
    let of = |kind: &str| out.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!(of("missing-child: "), 21);
    let more = out
        .lines()
        .find(|line| line.starts_with("missing-child: and "));
    assert_has(more.unwrap(), " more (--json lists all)");
    assert_has(&out, "the book does not contain the position after ");
    assert_has(&out, " w - - 0 1 (book.ctg: page ");
}

#[test]
fn a_wrong_number_gives_an_error_in_plain_words() {
    let folder = Folder::new();
    for (typed, part) in [
        (
            "build --max-ply abc -o x.ctg a.pgn",
            "expected a whole number",
        ),
        (
            "build --max-ply 70000 -o x.ctg a.pgn",
            "expected a number from 0 to 65535",
        ),
        (
            "build --min-elo -5 -o x.ctg a.pgn",
            "--min-elo -5: expected a number that is not negative",
        ),
        (
            "build --threads 0 -o x.ctg a.pgn",
            "expected a number from 1 to 65535",
        ),
        (
            "games --threads 65536 -o x.pgn a.pgn",
            "expected a number from 1 to 65535",
        ),
        (
            "evaluate x.ctg --jobs 65536 --engine builtin",
            "expected a number from 1 to 65535",
        ),
        ("suite a.pgn -o x.epd --min-share x", "expected a number"),
        (
            "mark x.ctg --learn-value 200 --move e4",
            "expected a number from -125 to 125",
        ),
    ] {
        let text = message(&folder, typed, 2, part);
        assert!(
            !text.contains("digit found") && !text.contains("..="),
            "{text}"
        );
    }
}

#[test]
fn an_incomplete_command_gets_a_complete_example() {
    let folder = Folder::new();
    for (typed, tip) in [
        ("build a.pgn mine.ctg", "tip: tabia build -o mine.ctg a.pgn"),
        (
            "build 'my games.pgn'",
            "tip: tabia build -o BOOK.ctg 'my games.pgn'",
        ),
        ("convert x.ctg", "tip: tabia convert x.ctg x.bin"),
        ("convert x.bin", "tip: tabia convert x.bin x.ctg"),
        (
            "merge a.ctg b.ctg",
            "tip: tabia merge -o BOOK.ctg a.ctg b.ctg",
        ),
        ("index a.pgn", "tip: tabia index -o GAMES.tgx a.pgn"),
        ("add x.ctg", "tip: for example: tabia add book.ctg june.pgn"),
        (
            "play mine.ctg",
            "tip: to play from a book: tabia --book mine.ctg",
        ),
        (
            "mine.ctg",
            "tip: to play from a book: tabia --book mine.ctg",
        ),
    ] {
        message(&folder, typed, 2, tip);
    }
}

#[test]
fn a_file_that_ends_too_soon_is_named() {
    let folder = Folder::new();
    copy(SIMPLE, &folder.join("book.ctg"));
    let game = "[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n".repeat(50);
    folder.put("games.pgn", &game);
    folder.done("index -o games.tgx games.pgn --force");
    for (name, typed) in [
        ("games.tgx", "info games.tgx"),
        ("book.cto", "verify book.ctg"),
        ("book.ctb", "verify book.ctg"),
    ] {
        let whole = fs::read(folder.join(name)).unwrap();
        for length in [1, whole.len() / 2, whole.len() - 1] {
            fs::write(folder.join(name), &whole[..length]).unwrap();
            let ran = folder.tabia(typed);
            let text = format!("{}{}", ran.out(), ran.err());
            assert!(
                text.contains(name) || ran.ends(0).is_empty(),
                "{length}: {text}"
            );
        }
        fs::write(folder.join(name), whole).unwrap();
    }
}

/// Truncated compressed games: a message names what cannot be read.
#[test]
fn compressed_games_that_end_too_early_are_named() {
    let folder = Folder::new();
    let game = "[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n".repeat(50);
    let packed = ruzstd::encoding::compress_to_vec(
        game.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    folder.put("cut.pgn.zst", &packed[..packed.len() / 2]);
    let text = "cut.pgn.zst: the compressed data end too early";
    message(&folder, "build -o book.ctg cut.pgn.zst", 2, text);
}

/// A book is recognized by its content, and every command that reads games refuses a book
/// among games.
#[test]
fn books_are_recognized_by_their_content() {
    let folder = Folder::with(SMALL);
    folder.done("convert book.ctg book.bin");
    fs::copy(folder.join("book.bin"), folder.join("other.ctg")).unwrap();
    let info = folder.tabia("info other.ctg").printed();
    assert_has(&info, "Polyglot opening book");
    folder.done("convert other.ctg other.jsonl");
    fs::copy(folder.join("book.ctg"), folder.join("games.pgn")).unwrap();
    for typed in [
        "build -o new.ctg games.pgn",
        "add book.ctg games.pgn",
        "games games.pgn -o new.pgn",
        "learn book.ctg games.pgn",
        "index -o new.tgx games.pgn",
        "review games.pgn --book book.ctg",
        "suite games.pgn -o new.epd",
    ] {
        message(
            &folder,
            typed,
            2,
            "games.pgn: this is a book (ChessBase opening book), not games",
        );
    }
}

/// `--check` counts the same number of beginnings as writing the suite.
#[test]
fn a_suite_and_its_check_count_the_same_beginnings() {
    let folder = Folder::with(SMALL);
    for name in ["suite.epd", "suite.pgn"] {
        let made = folder.done(&format!("suite book.ctg -o {name} --plies 4 --count 50"));
        let checked = folder.tabia(&format!("suite check {name}"));
        let counted = |text: &str| {
            let line = text
                .lines()
                .find(|line| line.contains("different openings"));
            line.map(str::to_owned)
        };
        assert!(counted(&made).is_some(), "{made}");
        assert_eq!(counted(&made), counted(&checked.out()), "{name}");
    }
}

/// Each command takes the same words for the same thing.
#[test]
fn options_have_one_vocabulary() {
    let folder = Folder::with(SMALL);
    let game = |moves: &str| format!("[Event \"x\"]\n\n{moves} 1-0\n\n");
    let sicilian = game("1. e4 c5 2. Nf3");
    folder.put("games.pgn", format!("{sicilian}{}", game("1. d4 d5 2. c4")));
    for (one, other) in [
        (
            "probe book.ctg --moves 'e4 c5' --json",
            "probe book.ctg --line 'e4 c5' --json",
        ),
        ("tree book.ctg --depth 2", "tree book.ctg --max-ply 2"),
        ("tree book.ctg --moves e4", "tree book.ctg --line e4"),
        (
            "diff book.ctg book.ctg --depth 3",
            "diff book.ctg book.ctg --plies 3",
        ),
        ("info book.ctg book.ctg", "-q info book.ctg book.ctg"),
    ] {
        let [one, other] = [one, other].map(|typed| {
            let typed = typed
                .strip_prefix("-q ")
                .map_or(typed.to_owned(), |rest| format!("{rest} -q"));
            let ran = folder.tabia(&typed);
            assert!(!ran.err().contains("error"), "{}", ran.err());
            ran.out()
        });
        assert_eq!(one, other);
    }
    // Without summaries; what was left out is still reported.
    folder.put("cut.pgn", format!("{sicilian}{}", game("1. e4 e5 2. Ke3")));
    let loud = folder.tabia("build -o loud.ctg cut.pgn").err();
    let quiet = folder.tabia("build -o quiet.ctg cut.pgn -q").err();
    assert!(
        loud.contains("loud.ctg: ") && loud.starts_with(&quiet),
        "{loud}"
    );
    assert!(
        quiet.contains("cut.pgn") && !quiet.contains("quiet.ctg"),
        "{quiet}"
    );
    for (name, typed) in [
        ("a.ctg", "build -o a.ctg games.pgn --plies 2"),
        ("b.ctg", "build -o b.ctg games.pgn --max-plies 2"),
        ("c.ctg", "build -o c.ctg games.pgn --depth 2"),
    ] {
        folder.done(typed);
        let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
        assert!(bytes(name) == bytes("a.ctg"), "{name}");
    }
    folder.done("convert book.ctg one.pgn --plies 4");
    folder.done("convert book.ctg -o two.pgn --max-ply 4");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(text("one.pgn"), text("two.pgn"));
    message(
        &folder,
        "convert book.ctg",
        2,
        "tip: tabia convert book.ctg book.bin",
    );
    folder.done("convert book.ctg short.pgn --comments short");
    let short = text("short.pgn");
    assert!(
        short.contains(" games, ") && !short.contains("played"),
        "{short}"
    );
    folder.done("convert book.ctg bare.pgn --bare");
    folder.done("convert book.ctg none.pgn --comments none");
    assert_eq!(text("bare.pgn"), text("none.pgn"));
    // What is cut at a transposition is still said.
    let comments = text("none.pgn").replace('\n', " ");
    let mut comments = comments.split('{').skip(1);
    assert!(comments.all(|text| text.starts_with("transposition: ")));
    folder.done("prune book.ctg -o black.ctg --only black");
    folder.done("convert black.ctg black.pgn");
    assert_has(&text("black.pgn"), "[Orientation \"black\"]");
    assert!(!short.contains("Orientation"));
    folder.done("repertoire book.ctg --color black -o study.pgn");
    assert_has(&text("study.pgn"), "[Orientation \"black\"]");
    // Only games that reach a position.
    let said = message(
        &folder,
        "build -o d.ctg games.pgn --line '1.e4 c5'",
        0,
        "1 game,",
    );
    assert_has(&said, "1 game filtered out");
    folder.done("games games.pgn -o reached.pgn --moves 'e4 c5'");
    assert!(text("reached.pgn").contains("Nf3") && !text("reached.pgn").contains("d4"));
    let none = "build -o e.ctg games.pgn --line '1.e4 e5' --provenance";
    message(&folder, none, 2, "2 by --line or --fen");
    folder.done("index -o games.tgx games.pgn --line d4");
    folder.done("build -o f.ctg games.pgn --line d4 --provenance");
    assert_has(&text("f.provenance.json"), "--fen");
    message(
        &folder,
        "review --color black games.pgn book.ctg --player x",
        2,
        "",
    );
}

#[test]
fn several_books_are_described_one_after_the_other() {
    let folder = Folder::with(SMALL);
    let ran = folder.tabia("info book.ctg nosuch.ctg book.ctg");
    ran.ends_with(2, "nosuch.ctg: cannot read the book");
    assert_eq!(ran.out().matches("ChessBase opening book").count(), 2);
    for command in ["info", "verify"] {
        let ran = folder.tabia(&format!("{command} book.ctg book.ctg --json"));
        let objects = ran.out();
        assert_eq!(objects.lines().count(), 2, "{objects}");
        for line in objects.lines() {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(object["file"], "book.ctg");
        }
    }
}

#[test]
fn a_dry_run_leaves_all_files_as_they_are() {
    let folder = Folder::with(SMALL);
    folder.put("games.pgn", "[Event \"x\"]\n\n1. a4 a5 1-0\n");
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.join("."))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let (before, files) = (fs::read(folder.join("book.ctg")).unwrap(), names());
    for typed in [
        "add book.ctg games.pgn --dry-run",
        "add book.ctg --line '1.a4 a5' -n",
        "prune book.ctg -o less.ctg --max-ply 2 -n",
        "compact book.ctg --dry-run",
        "mark book.ctg --move e4 main -n",
    ] {
        folder.done(typed);
        assert!(
            fs::read(folder.join("book.ctg")).unwrap() == before,
            "{typed}"
        );
        assert_eq!(names(), files, "{typed}");
    }
    message(
        &folder,
        "add book.ctg games.pgn -n",
        0,
        "nothing was changed: --dry-run",
    );
}

#[test]
fn silence_leaves_results_and_errors() {
    let folder = Folder::with(SMALL);
    folder.put("games.pgn", "[Event \"x\"]\n\n1. a4 a5 1-0\n");
    assert_eq!(folder.done("build -o new.ctg games.pgn -q"), "");
    assert!(!folder.tabia("info new.ctg --silent").printed().is_empty());
    message(
        &folder,
        "build -o new.ctg games.pgn -q",
        2,
        "already exists",
    );
}

/// Neither of two engines is chosen in silence.
#[test]
fn an_engine_is_named_once() {
    let folder = Folder::new();
    for typed in [
        "--engine a -- b",
        "check --engine a -- b",
        "check-engine a -- b",
        "evaluate x.ctg --engine a -- b",
    ] {
        message(&folder, typed, 2, "cannot be used with");
    }
}

/// Words in another order, or without their option: the tip is the line to type, and that
/// line is not refused.
#[test]
fn a_line_that_fails_leads_to_the_line_that_was_meant() {
    let prepared = || {
        let folder = Folder::with(SMALL);
        let games = "[White \"A\"]\n[Black \"B\"]\n\n1.e4 { [%eval 0.3] } e5 2.Nf3 Nc6 3.Bb5 a6 \
                     4.Ba4 Nf6 5.O-O Be7 6.Re1 b5 7.Bb3 d6 8.c3 O-O 9.h3 1-0\n\n";
        folder.put("games.pgn", games.repeat(6));
        folder.put("more.pgn.gz", crate::common::gzip(games));
        folder.put(
            "values.epd",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 30;\n",
        );
        fs::create_dir(folder.join("books")).unwrap();
        copy(SMALL, &folder.join("books/one.ctg"));
        copy(SMALL, &folder.join("m.ctg"));
        folder
    };
    for (typed, meant) in [
        ("add games.pgn book.ctg", "tabia add book.ctg games.pgn"),
        (
            "add games.pgn more.pgn.gz book.ctg",
            "tabia add book.ctg games.pgn more.pgn.gz",
        ),
        (
            "learn games.pgn book.ctg --wins",
            "tabia learn book.ctg games.pgn --wins",
        ),
        (
            "review book.ctg games.pgn",
            "tabia review games.pgn --book book.ctg",
        ),
        (
            "build -pgn games.pgn -bin x.bin",
            "tabia build -o x.bin --max-ply 1024 --min-games 3 games.pgn",
        ),
        (
            "build -output x.ctg games.pgn",
            "tabia build --output x.ctg games.pgn",
        ),
        (
            "probe book.ctg -moves e4",
            "tabia probe book.ctg --moves e4",
        ),
        ("info books", "tabia info books/one.ctg"),
        ("info book", "tabia info book.ctg"),
        ("check book.ctg", "tabia check --book book.ctg"),
        (
            "register cutechess book.ctg",
            "tabia register cutechess --book book.ctg",
        ),
        (
            "evaluate book.ctg stockfish",
            "tabia evaluate book.ctg --engine stockfish",
        ),
        (
            "repertoire book.ctg white",
            "tabia repertoire book.ctg --colour white",
        ),
        (
            "mark book.ctg '1.e4 e5' main",
            "tabia mark book.ctg --moves '1.e4 e5' main",
        ),
        (
            "mark book.ctg 1.e4 e5 avoid",
            "tabia mark book.ctg --moves '1.e4 e5' avoid",
        ),
        (
            "mark book.ctg main e4",
            "tabia mark book.ctg main --move e4",
        ),
        (
            "mark book.ctg e4 main",
            "tabia mark book.ctg --move e4 main",
        ),
        (
            "merge book.ctg m.ctg out.ctg",
            "tabia merge -o out.ctg book.ctg m.ctg",
        ),
        (
            "merge book.ctg m.ctg",
            "tabia merge -o NEW.ctg book.ctg m.ctg",
        ),
        (
            "combine book.ctg m.ctg",
            "tabia merge -o NEW.ctg book.ctg m.ctg",
        ),
        (
            "games games.pgn out.pgn",
            "tabia games -o out.pgn games.pgn",
        ),
        ("index games.pgn x.tgx", "tabia index -o x.tgx games.pgn"),
        (
            "suite games.pgn out.epd",
            "tabia suite -o out.epd games.pgn",
        ),
        (
            "build new.ctg games.pgn",
            "tabia build -o new.ctg games.pgn",
        ),
        (
            "build games.pgn new.ctg",
            "tabia build -o new.ctg games.pgn",
        ),
        ("build games.pgn book.ctg", "tabia add book.ctg games.pgn"),
        ("build book.ctg games.pgn", "tabia add book.ctg games.pgn"),
        (
            "merge book.ctg out.ctg",
            "tabia merge -o out.ctg book.ctg OTHER.ctg",
        ),
        ("create games.pgn", "tabia build -o NEW.ctg games.pgn"),
        (
            "build --max-ply 20 games.pgn",
            "tabia build -o NEW.ctg --max-ply 20 games.pgn",
        ),
        (
            "add games.pgn nobook.ctg",
            "tabia build -o nobook.ctg games.pgn",
        ),
        (
            "add nobook.ctg games.pgn",
            "tabia build -o nobook.ctg games.pgn",
        ),
        (
            "repertoire white book.ctg",
            "tabia repertoire book.ctg --colour white",
        ),
        (
            "evaluate book.ctg games.pgn",
            "tabia evaluate book.ctg --import games.pgn",
        ),
        (
            "evaluate book.ctg values.epd",
            "tabia evaluate book.ctg --import values.epd",
        ),
        (
            "prune book.ctg",
            "tabia prune -o NEW.ctg --min-games 5 book.ctg",
        ),
        (
            "prune book.ctg less.ctg",
            "tabia prune -o less.ctg --min-games 5 book.ctg",
        ),
        (
            "trim book.ctg",
            "tabia prune -o NEW.ctg --min-games 5 book.ctg",
        ),
        ("-book book.ctg", "tabia --book book.ctg"),
        (
            "-book book.ctg -- x -book y",
            "tabia --book book.ctg -- x -book y",
        ),
        ("filter games.pgn", "tabia games games.pgn -o OUT.pgn"),
        (
            "import book.ctg values.epd",
            "tabia evaluate book.ctg --import values.epd",
        ),
        ("train book.ctg", "tabia explore book.ctg"),
        // Options by another name, or none.
        ("tree book.ctg -d 3", "tabia tree book.ctg --depth 3"),
        ("tree -b book.ctg", "tabia tree book.ctg"),
        ("probe --book book.ctg", "tabia probe book.ctg"),
        (
            "probe book.ctg --variety 20",
            "tabia probe book.ctg --set 'Book Variety=20'",
        ),
        (
            "build --input games.pgn --out new.ctg",
            "tabia build games.pgn --output new.ctg",
        ),
        (
            "build -o x.ctg games.pgn --elo 0",
            "tabia build -o x.ctg games.pgn --min-elo 0",
        ),
        (
            "build -o x.ctg games.pgn --player A white",
            "tabia build -o x.ctg games.pgn --player A --colour white",
        ),
        (
            "learn book.ctg --from games.pgn",
            "tabia learn book.ctg games.pgn",
        ),
        (
            "repertoire book.ctg --white",
            "tabia repertoire book.ctg --colour white",
        ),
        (
            "add book.ctg --game '1.e4 e5'",
            "tabia add book.ctg --line '1.e4 e5'",
        ),
        ("add book.ctg e4 e5", "tabia add book.ctg --line 'e4 e5'"),
        (
            "convert --to bin book.ctg",
            "tabia convert -o book.bin book.ctg",
        ),
        (
            "check book.ctg stockfish",
            "tabia check --book book.ctg --engine stockfish",
        ),
        (
            "--engine stockfish book.ctg",
            "tabia --engine stockfish --book book.ctg",
        ),
        ("-v", "tabia --version"),
        // Words too many, and files in the place of others.
        (
            "convert book.ctg to book.bin",
            "tabia convert book.ctg book.bin",
        ),
        ("convert book.ctg bin", "tabia convert book.ctg book.bin"),
        (
            "convert book.ctg books",
            "tabia convert book.ctg books/book.bin",
        ),
        ("convert x.bin book.ctg", "tabia convert book.ctg x.bin"),
        (
            "prune book.ctg less.ctg --min-games 1",
            "tabia prune book.ctg -o less.ctg --min-games 1",
        ),
        ("probe book.ctg m.ctg", "tabia diff book.ctg m.ctg"),
        ("tree books", "tabia tree books/one.ctg"),
        ("tree games.pgn", "tabia build -o games.ctg games.pgn"),
        ("--book games.pgn", "tabia build -o games.ctg games.pgn"),
        (
            "merge -o x.ctg games.pgn book.ctg",
            "tabia build -o x.ctg games.pgn book.ctg",
        ),
        ("games book.ctg -o x.pgn", "tabia convert book.ctg x.pgn"),
        ("build -o x games.pgn", "tabia build -o x.ctg games.pgn"),
        ("build games.pgn x", "tabia build -o x.ctg games.pgn"),
        (
            "build -o books games.pgn",
            "tabia build -o books/book.ctg games.pgn",
        ),
        // Names that differ a little.
        ("tree book.pgn", "tabia tree book.ctg"),
        ("tree bok.ctg", "tabia tree book.ctg"),
        ("build -o x.ctg game.pgn", "tabia build -o x.ctg games.pgn"),
        ("analyse book.ctg", "tabia audit book.ctg"),
    ] {
        let folder = prepared();
        let text = message(&folder, typed, 2, "tip: ");
        let tip = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("tip: "));
        assert_eq!(tip, Some(meant), "{typed}");
        // A tip is a line that works, with a file in the place of OTHER.ctg. `explore` does not end, `register` is tested with a home
        // folder, and an engine is not installed everywhere.
        let line = meant.strip_prefix("tabia ").unwrap();
        let is_run = |words: &&str| line.contains(words);
        if !["explore", "register", "stockfish", " -- ", "OTHER"]
            .iter()
            .any(is_run)
        {
            if line.starts_with("audit") {
                folder.done("evaluate book.ctg --import values.epd");
            }
            let ran = folder.command(line).output().unwrap();
            let messages = String::from_utf8_lossy(&ran.stderr);
            assert_ne!(ran.status.code(), Some(2), "{meant}: {messages}");
        }
    }
    let folder = prepared();
    // Who types a number of plies gets no book of all games.
    message(
        &folder,
        "build -o x.ctg games.pgn --moves 20",
        2,
        "a number of plies is --max-ply",
    );
    message(
        &folder,
        "register chessbase",
        2,
        "enter this as a UCI engine: ",
    );
    message(&folder, "man probes", 2, "did you mean \"probe\"?");
    message(&folder, "/?", 2, "tip: tabia --help");
    // A book that does not exist cannot learn.
    let text = message(&folder, "learn games.pgn nobook.ctg", 2, "");
    assert!(!text.contains("tip: "), "{text}");
    // Moves in the place of a position are answered.
    let by_place = folder.tabia("probe book.ctg 'e4 c5'").printed();
    assert_eq!(
        by_place,
        folder.tabia("probe book.ctg --moves 'e4 c5'").printed()
    );
}
