//! `tabia games`: the output is the content of the databases, and their faults are
//! reported.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Folder, STARTER, TABIA, assert_has, project};

/// The five files of a Simple Chess Database.
const PARTS: [&str; 5] = ["dci", "dcn", "dcs", "dce", "dcg"];

fn data(name: &str) -> PathBuf {
    project("tests/data").join(name)
}

/// Runs `tabia games`, which must succeed; returns its messages.
fn convert(folder: &Folder, source: &Path, options: &str) -> String {
    folder.done(&format!("games -f '{}' {options}", source.display()))
}

/// A source as PGN.
fn pgn(source: &Path) -> String {
    let folder = Folder::new();
    convert(&folder, source, "-o out.pgn");
    folder.text("out.pgn")
}

/// Copies the small database into a folder.
fn copy_small(folder: &Path) -> PathBuf {
    for part in PARTS {
        let bytes = fs::read(data(&format!("scdb/small.{part}"))).unwrap();
        fs::write(folder.join(format!("small.{part}")), bytes).unwrap();
    }
    folder.join("small.dci")
}

/// The movetexts of a PGN text.
fn movetexts(text: &str) -> Vec<&str> {
    let blocks = text.split("\n\n").filter(|block| !block.is_empty());
    blocks.skip(1).step_by(2).map(str::trim).collect()
}

#[test]
fn the_small_database_is_read_correctly() {
    assert_eq!(
        pgn(&data("scdb/small.dci")),
        pgn(&data("scdb/expected.pgn"))
    );
    let folder = Folder::new();
    let source = data("scdb/small.dci");
    let messages = convert(&folder, &source, "-o out.pgn");
    for part in [
        "game 2: game cut short: move 2. is impossible: c7h6",
        "4 games read, 4 written, 0 skipped in",
        "unknown players, sites or events",
    ] {
        assert_has(&messages, part);
    }
    let strict = folder.tabia(&["games", source.to_str().unwrap(), "-o", "-", "--strict"]);
    assert_eq!(strict.negative(), pgn(&source));
}

#[test]
fn variations_and_comments_can_be_left_out() {
    let folder = Folder::new();
    let run = |options: &str| {
        let options = format!("-o out.pgn {options}");
        convert(&folder, &data("scdb/expected.pgn"), &options);
        folder.text("out.pgn")
    };
    let plain = run("--no-variations --no-comments");
    assert_eq!(
        movetexts(&plain)[0],
        "1. e4 $1 e5 2. Bc4 Nc6 3. Qh5 $6 Nf6 $4 4. Qxf7# 1-0"
    );
    let plain = run("--no-variations --player 'ann alpha' --as white");
    assert_eq!(
        movetexts(&plain),
        [
            "{Opening remark.} 1. e4 $1 e5 2. Bc4 Nc6 {Plain.} 3. Qh5 $6 {A trap.} 3... Nf6\n$4 4. Qxf7# 1-0"
        ]
    );
    assert!(run("--since 2030").is_empty());
}

#[test]
fn a_rating_between_two_groups_is_said_to_be_the_lower_one() {
    let folder = Folder::new();
    let game = |elo: u32| format!("[WhiteElo \"{elo}\"]\n[BlackElo \"{elo}\"]\n\n1. e4 *\n\n");
    folder.put("a.pgn", [1650, 1850].map(game).concat());
    let said = "--ratings 1700: the games of the whole group 1600";
    let text = folder.done("games a.pgn -o a1.pgn --ratings 1700,2200");
    assert_has(&text, said);
    assert!(!text.contains("ratings 2200"), "{text}");
    assert_has(&folder.text("a1.pgn"), "1650");
    let text = folder.done("games a.pgn -o a2.pgn --ratings 1600");
    assert!(!text.contains("group"), "{text}");
}

#[test]
fn what_is_lost_is_said_and_an_error_with_strict() {
    let folder = Folder::new();
    folder.put(
        "high.pgn",
        "[Event \"x\"]\n[WhiteElo \"4050\"]\n\n1. e4 *\n",
    );
    folder.put("first.pgn", "[Event \"x\"]\n\n(1. d4) 1. e4 *\n");
    folder.put("sign.pgn", "[Event \"x\"]\n\n1. e4 $256 *\n");
    folder.put("null.pgn", "[Event \"x\"]\n\n1. d4 -- 2. c4 *\n");
    folder.put("side.pgn", "1. e4 e5 (1... d5 2. Ke3 d4) 2. Nf3 0-1\n");
    folder.put("pass.pgn", "1. e4 e5 (1... c5 2. -- d6) 2. Nf3 0-1\n");
    folder.done("build null.pgn -o old.ctg");
    let high = ": 1 game read, 1 written, 0 skipped in";
    let cut = " cut short";
    for (command, said, count) in [
        (
            "games high.pgn -o out.si5",
            "high.pgn: line 1: the first game with ratings that the format cannot hold",
            "; 1 with ratings that the format cannot hold",
        ),
        ("games high.pgn -o out.dci", high, high),
        ("games high.pgn -o out.pgn", high, high),
        (
            "games first.pgn -o out.pgn",
            "line 1: game cut short: a variation before the first move of its line is left out",
            cut,
        ),
        (
            "build first.pgn -o out.ctg --variations",
            "line 1: game cut short: a variation before the first move of its line is left out",
            cut,
        ),
        (
            "games sign.pgn -o out.pgn",
            "line 1: game cut short: the sign $256 is left out: the greatest is $255",
            cut,
        ),
        (
            "build side.pgn -o out.ctg --variations",
            "line 1: game cut short: move 2. on line 1 is impossible: Ke3",
            cut,
        ),
        (
            "build null.pgn -o out.ctg",
            "line 1: game cut short: move 1... is a null move",
            cut,
        ),
    ] {
        let messages = folder.done(&format!("{command} -f"));
        assert_has(&messages, said);
        assert_has(&messages, count);
        let strict = folder.tabia(&format!("{command} -f --strict"));
        match said == high {
            true => drop(strict.ok()),
            false => drop(strict.negative()),
        }
    }
    folder.done("games null.pgn -o out.pgn --strict -f");
    folder.done("build first.pgn -o out.ctg --strict -f");
    folder.done("build side.pgn -o out.ctg --strict -f");
    let passed = folder.done("build pass.pgn -o out.ctg --variations --strict -f");
    assert_has(&passed, "; 1 variation ended by a null move");
    let added = folder.tabia("add old.ctg side.pgn --variations --strict");
    drop(added.negative());
}

#[test]
fn each_database_of_a_folder_is_read_once() {
    let folder = Folder::new();
    let games = folder.join("games");
    fs::create_dir(&games).unwrap();
    copy_small(&games);
    fs::rename(games.join("small.dcg"), games.join("SMALL.DCG")).unwrap();
    fs::rename(games.join("small.dci"), games.join("Small.DCI")).unwrap();
    // Nested folders, with a link that leads back.
    let below = games.join("sample/below");
    fs::create_dir_all(&below).unwrap();
    #[cfg(unix)]
    for link in ["back", "back.pgn"] {
        std::os::unix::fs::symlink(&games, below.join(link)).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(data("sample.pgn"), below.join("link.pgn")).unwrap();
    for name in ["cbf/sample.cbf", "cbf/sample.cbi", "nic/sample.prn"] {
        let to = Path::new(name).file_name().unwrap();
        fs::copy(data(name), below.join(to)).unwrap();
    }
    fs::copy(data("sample.pgn"), games.join("b.PGN")).unwrap();
    folder.put("games/notes.txt", "nothing");
    let messages = convert(&folder, &games, "-o all.pgn");
    assert_has(&messages, "238 games read, 238 written");
    let text = folder.text("all.pgn");
    let parts = [
        "scdb/small.dci",
        "sample.pgn",
        "cbf/sample.cbf",
        "nic/sample.prn",
    ];
    assert_eq!(text, parts.map(|name| pgn(&data(name))).concat());
    // Named twice, read once.
    folder.done("games games games/b.PGN games -o again.pgn");
    assert_eq!(folder.text("again.pgn"), text);
    folder.done("build games -o book.ctg");
}

/// Files are recognized by content, not by name. For the wrong kind of file a command
/// reports that, with the right command.
#[test]
fn games_and_books_are_recognized_by_content() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    fs::copy(data("sample.pgn"), at("games.ctg")).unwrap();
    fs::copy(project(STARTER), at("book.pgn")).unwrap();
    fs::copy(TABIA, at("program.pgn")).unwrap();
    fs::write(at("list.txt"), "[1, 2, 3]").unwrap();
    let packed = ruzstd::encoding::compress_to_vec(
        &fs::read(at("book.pgn")).unwrap()[..50_000],
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    fs::write(at("book.pgn.zst"), packed).unwrap();
    let a_book = "this is a book (ChessBase opening book), not games: convert it";
    for (arguments, message) in [
        ("games book.pgn -o out.pgn", a_book),
        ("games book.pgn.zst -o out.pgn", a_book),
        ("games program.pgn -o out.pgn", "neither games nor a book"),
        ("build book.pgn -o out.ctg", a_book),
        ("build program.pgn -o out.ctg", "neither games nor a book"),
        ("build list.txt -o out.ctg", "neither games nor a book"),
        ("learn games.ctg games.ctg", "this is PGN: build a book"),
        ("probe games.ctg", "this is PGN: build a book"),
        ("info games.ctg", "this is PGN: build a book"),
        ("verify games.ctg", "this is PGN: build a book"),
        ("compact games.ctg", "this is PGN: build a book"),
        (
            "mark games.ctg --line 1.e4 main",
            "this is PGN: build a book",
        ),
        ("convert games.ctg out.bin", "this is PGN: build a book"),
        ("probe book.pgn.zst", "this is compressed: unpack"),
        ("probe program.pgn", "not an opening book"),
    ] {
        folder.tabia(arguments).refused(message);
        assert!(
            !at("out.pgn").exists() && !at("out.ctg").exists(),
            "{arguments}"
        );
    }
    folder.done("build games.ctg -o out.ctg");
    // A book among games must be named as one.
    let named = folder.tabia("build book.pgn out.ctg -o both.ctg");
    named.refused("book.pgn: this is a book (ChessBase opening book), not games");
    fs::rename(at("book.pgn"), at("book.ctg")).unwrap();
    let both = folder.done("build book.ctg out.ctg -o both.ctg");
    assert_has(&both, "2 books");
}

#[test]
fn the_output_is_complete_or_not_written() {
    let folder = Folder::new();
    let index = copy_small(&folder);
    let before = fs::read(&index).unwrap();
    folder.put("empty.pgn", "");
    for (arguments, message) in [
        ("small.dci -o small.dci", "changed; --force replaces"),
        ("small.dci -o out.xyz", ".dci or .si5"),
        ("small.dci -o no/out.pgn", "no/out.pgn"),
        ("missing.pgn -o out.dci", "missing.pgn"),
        ("small.dci empty.pgn -o out.dci", "no games in it"),
    ] {
        folder.tabia(&format!("games {arguments}")).refused(message);
    }
    // The files are replaced together, with backups of the old ones and no other files.
    for _ in 0..2 {
        convert(&folder, &index, "-o out.dci");
    }
    for part in PARTS {
        let kept = folder.join(format!("out.{part}.bak"));
        assert!(fs::metadata(&kept).is_ok(), "{kept:?}");
        fs::remove_file(kept).unwrap();
    }
    assert_eq!(fs::read(&index).unwrap(), before);
    let mut expected: Vec<String> = ["out", "small"]
        .iter()
        .flat_map(|name| PARTS.map(|part| format!("{name}.{part}")))
        .collect();
    expected.push("empty.pgn".to_owned());
    expected.sort();
    assert_eq!(folder.names(), expected);
}

/// A game counts by the positions that it reaches, not by the order of its moves.
#[test]
fn games_are_chosen_by_a_position_that_they_reach() {
    let folder = Folder::new();
    let games = [
        ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 1-0", "usual"),
        ("1. c4 Nf6 2. Nc3 e6 3. d4 Bb4 4. Qc2 0-1", "another order"),
        ("1. d4 Nf6 2. c4 g6 3. Nc3 Bg7 1/2-1/2", "elsewhere"),
    ];
    let games = games.map(|(moves, white)| {
        let result = moves.rsplit(' ').next().unwrap();
        format!("[White \"{white}\"]\n[Result \"{result}\"]\n\n{moves}\n\n")
    });
    folder.put("games.pgn", games.concat());
    let fen = "rnbqk2r/pppp1ppp/4pn2/8/1bPP4/2N5/PP2PPPP/R1BQKBNR w KQkq - 2 4";
    let line = "d4 Nf6 c4 e6 Nc3 Bb4";
    for reach in [format!("--line '{line}'"), format!("--fen '{fen}'")] {
        let said = folder.done(&format!("games games.pgn -fo out.pgn {reach}"));
        assert_has(&said, "1 filtered out");
        let text = folder.text("out.pgn");
        assert!(text.contains("usual") && text.contains("another order"));
        assert!(!text.contains("elsewhere"), "{text}");
        let said = folder.done(&format!("build games.pgn -fo out.ctg {reach}"));
        assert_has(&said, "2 games,");
        // Their other moves are in the book too.
        let moves = folder.probe("out.ctg", "")["moves"].take();
        assert_eq!(moves.as_array().unwrap().len(), 2, "{moves}");
        let said = folder.done(&format!("index games.pgn -fo out.tgx {reach}"));
        assert_has(&said, "2 games,");
        folder.done("build games.pgn -fo all.ctg");
        let review = format!("review games.pgn all.ctg --player usual {reach}");
        let report = folder.tabia(&format!("{review} --json")).json();
        let count = |name: &str| report[name].as_u64().unwrap();
        assert_eq!(
            (count("games"), count("others"), count("elsewhere")),
            (1, 1, 1)
        );
        assert_has(
            &folder.tabia(&review).printed(),
            "1 game left out: not through",
        );
    }
    let from = "rnbqkb1r/pppppppp/5n2/8/2P5/8/PP1PPPPP/RNBQKBNR w KQkq - 1 2";
    let said = folder.done(&format!(
        "games games.pgn -fo out.pgn --fen '{from}' --line Nc3"
    ));
    assert_has(&said, "1 written");
    let other = folder.tabia("review games.pgn all.ctg --line 'e4 e5'");
    other.refused("reaches the position of --line or --fen");
    let wrong = folder.tabia("games games.pgn -fo out.pgn --line 'e4 e4'");
    wrong.refused("e4");
}

/// Games in an index may have met these conditions; it does not store what they ask for.
#[test]
fn a_condition_that_no_game_of_an_index_can_meet_is_named() {
    let folder = Folder::new();
    let game = "[White \"a\"]\n[WhiteTitle \"GM\"]\n[Result \"1-0\"]\n\n1. d4 1-0\n";
    folder.put("games.pgn", game);
    folder.done("index -o all.tgx games.pgn");
    let titles = "all.tgx: an index of games holds no titles: none of its games meets --title";
    assert_has(&folder.done("games -o out.pgn all.tgx --title GM"), titles);
    // Those of other files are found.
    let both = folder.done("games -fo out.pgn all.tgx games.pgn --title GM");
    assert_has(&both, titles);
    assert_has(&both, "1 written");
    folder
        .tabia("build -o x.ctg all.tgx --title GM")
        .refused(titles);
    folder
        .tabia("index -o x.tgx all.tgx --title GM")
        .refused(titles);
    assert!(
        !folder
            .done("games -fo out.pgn all.tgx --player a")
            .contains("holds no")
    );
    folder.done("build -o all.ctg games.pgn");
    let learned = folder.done("learn all.ctg all.tgx --dry-run");
    assert_has(
        &learned,
        "all.tgx: an index of games holds no time forfeits",
    );
    let all = folder.done("learn all.ctg all.tgx --dry-run --forfeits");
    assert!(!all.contains("holds no"), "{all}");
}

/// After a round: how far the player's own studies went, a file for each colour, and the
/// address of the chapter.
#[test]
fn a_round_is_reviewed_beside_studies() {
    let folder = Folder::new();
    folder.put(
        "white.pgn",
        "[Event \"Mine\"]\n[ChapterName \"Italian\"]\n[ChapterURL \"https://x.org/a\"]\n\n\
         1. e4 e5 2. Nf3 *\n",
    );
    folder.put("black.pgn", "1. e4 c5 *\n");
    folder.put(
        "round.pgn",
        "[White \"Me\"]\n[Black \"Other\"]\n[Round \"1\"]\n[Result \"*\"]\n\n1. e4 e5 2. f4 *\n\n\
         [White \"Third\"]\n[Black \"Me\"]\n[Result \"*\"]\n\n1. d4 d5 *\n",
    );
    let review = "review round.pgn --player Me --white-study white.pgn";
    let said = folder.tabia(&format!("{review} --black-study black.pgn"));
    let lines = "Me - Other (round 1): 2 plies in the repertoire; Me left with 2.f4, not Nf3: \
                 Italian https://x.org/a\n\
                 Third - Me: 0 plies in the repertoire; Third left with 1.d4, not e4: \
                 black.pgn: game 1\n2 games; 0 of others\n";
    assert_eq!(said.printed(), lines);
    let json = folder.tabia(&format!("{review} --json")).json();
    assert_eq!(json["games"][0]["left"], "player");
    // The game with Black is the player's own: it is not one of others.
    assert_eq!(
        (&json["without_studies"], &json["others"]),
        (&1.into(), &0.into())
    );
    for (typed, why) in [
        ("review round.pgn --white-study white.pgn", "--player"),
        (
            "review round.pgn --player Me --white-study white.pgn --colour white",
            "cannot be used with",
        ),
        (
            "review round.pgn --player No --white-study white.pgn",
            "no game of No",
        ),
    ] {
        folder.tabia(typed).refused(why);
    }
}

/// A block of an index has dozens of games: with it all of them are lost.
#[test]
fn the_games_of_a_damaged_index_are_counted() {
    let folder = Folder::new();
    let source = data("sample.pgn");
    folder.done(&format!("index -o whole.tgx '{}'", source.display()));
    let whole = fs::read(folder.join("whole.tgx")).unwrap();
    let mut all_lost = 0;
    for at in (0..whole.len()).step_by(whole.len() / 32) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xa5;
        folder.put("damaged.tgx", bytes);
        let ran = folder.tabia("games -f damaged.tgx -o out.pgn");
        if !ran.is_ok() {
            ran.refused("damaged.tgx");
            continue;
        }
        let messages = ran.err();
        let (_, counts) = messages.split_once("out.pgn: ").unwrap();
        let counts: Vec<u32> = counts
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [read, written, lost] = counts[..3] else {
            unreachable!("{messages}");
        };
        assert_eq!([read, written + lost], [198; 2], "at {at}: {messages}");
        all_lost += lost;
    }
    assert!(all_lost > 0);
}

/// Dates that mean nothing, or less than they say, are counted where they are lost.
#[test]
fn parts_of_dates_that_a_format_cannot_hold_are_reported() {
    let folder = Folder::new();
    let game = |date: &str| format!("[Date \"{date}\"]\n\n1. e4 *\n\n");
    let dates = [
        "2020.13.01",
        "2020.??.31",
        "2020.02.03",
        "2020.02.??",
        "????.??.??",
    ];
    folder.put("dates.pgn", dates.map(game).concat());
    for to in ["x.si5", "x.dci"] {
        let ran = folder.tabia(&format!("games -f dates.pgn -o {to} --strict"));
        ran.negative();
        assert_has(&ran.err(), "2 with dates that the format cannot hold");
    }
    folder.done("games -f dates.pgn -o same.pgn --strict");
    assert_has(&folder.text("same.pgn"), "[Date \"2020.13.01\"]");
}

#[test]
fn a_database_without_games_has_none() {
    let folder = Folder::new();
    folder.put("one.pgn", "1. e4 *\n");
    folder.done("games one.pgn -o none.si5 --min-elo 3000");
    folder
        .tabia("games none.si5 -o out.pgn")
        .refused("none.si5");
    let messages = folder.tabia("games none.si5 -o out.pgn").err();
    assert!(!messages.contains("not a Scid database"), "{messages}");
}
