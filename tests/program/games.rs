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

/// PGN text, converted to PGN again.
fn again(text: &str) -> String {
    let folder = Folder::new();
    pgn(&folder.put("in.pgn", text))
}

/// Checks that the source is refused, and nothing written.
fn assert_refused(folder: &Folder, source: &str, why: &str) {
    let games = folder.tabia(&format!("games {source} -o out.pgn"));
    games.refused(why);
    assert!(!folder.join("out.pgn").exists());
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

const ODDITIES: &str = r#"[Event "Quotes \"and\" \\ slashes \\\\"]
[Site "Wien"]
[Date "2001.02.03"]
[Round "7"]
[White "Öhm, Ä"]
[Black "B"]
[Result "1-0"]
[Annotator "Somebody"]
[ECO "C50"]
[WhiteElo "2500"]

{Before anything} 1. e4 $1 $13 {One} {two {three} e5 (1... c5 {A long comment,
long enough that a line must be broken somewhere in it, with %percent and [Event
marks} 2. Nf3 (2. Nc3 -- 3. d4)) (1... -- 2. d4) 2. Nf3?! ; to the {end}
Nc6 3. Bc4 Bc5 4. O-O Nf6 -- 1-0

[Event "?"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "?"]
[Black "?"]
[Result "*"]
[SetUp "1"]
[FEN "4k3/P7/8/2pP4/8/8/8/R3K2R w KQ c6 3 30"]

30. dxc6 Kd8 31. O-O-O+ Ke8 32. a8=N *
"#;

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
fn a_simple_chess_database_has_the_bytes_of_its_authors_program() {
    let folder = Folder::new();
    convert(&folder, &data("scdb/source.pgn"), "-o small.dci");
    let ours = |part| fs::read(folder.join("small").with_extension(part)).unwrap();
    let theirs = |part| fs::read(data("scdb/small").with_extension(part)).unwrap();
    assert_eq!(ours("dcs"), theirs("dcs"));
    // Except the move that its second game cannot have.
    let mut games = theirs("dcg");
    assert_eq!(games[90..98], [7, 0, 2, 0xdb, 0x0c, 0xe3, 0x3c, 0xaf]);
    games[90] = 5;
    games.drain(96..98);
    assert_eq!(ours("dcg"), games);
}

#[test]
fn a_database_of_ours_is_read_back_as_it_was() {
    let folder = &Folder::new();
    let long = "x".repeat(70_000);
    let more = format!("[Event \"Long\"]\n\n1. e4 {{{long}}} e5 *\n\n");
    let sample = fs::read_to_string(data("sample.pgn")).unwrap();
    folder.put("in.pgn", format!("{ODDITIES}\n{more}{sample}"));
    let messages = convert(folder, &folder.join("in.pgn"), "-o one.dci");
    assert_has(&messages, "with tags that the format has no room for");
    convert(folder, &folder.join("one.dci"), "-o two.dci");
    for part in PARTS {
        let read = |name: &str| fs::read(folder.join(name).with_extension(part)).unwrap();
        assert!(read("one") == read("two"), "{part}");
    }
    let whole = pgn(&folder.join("in.pgn"));
    let kept: String = whole
        .lines()
        .filter(|line| !line.starts_with("[Annotator"))
        .map(|line| {
            // Names that are too long for the format are cut.
            let is_name = ["[Event ", "[Site ", "[White ", "[Black "]
                .iter()
                .any(|tag| line.starts_with(tag));
            let at = line.find('"').map_or(0, |at| at + 1);
            match line.get(at..at + 36).filter(|_| is_name) {
                Some(name) if line.len() > at + 36 + 2 => {
                    format!("{}{}\"]\n", &line[..at], name.trim_end())
                }
                _ => format!("{line}\n"),
            }
        })
        .collect();
    let back = pgn(&folder.join("one.dci"));
    let differ = back.lines().zip(kept.lines()).find(|(a, b)| a != b);
    assert_eq!(differ, None);
    assert_eq!(back.len(), kept.len());
}

#[test]
fn pgn_is_written_by_the_standard_and_again_without_a_change() {
    let once = again(ODDITIES);
    assert_eq!(again(&once), once);
    assert_eq!(
        once,
        r#"[Event "Quotes \"and\" \\ slashes \\\\"]
[Site "Wien"]
[Date "2001.02.03"]
[Round "7"]
[White "Öhm, Ä"]
[Black "B"]
[Result "1-0"]
[Annotator "Somebody"]
[ECO "C50"]
[WhiteElo "2500"]

{Before anything} 1. e4 $1 $13 {One} {two {three} 1... e5 (1... c5 {A long
comment, long enough that a line must be broken somewhere in it, with %percent
and [Event marks} 2. Nf3 (2. Nc3 -- 3. d4)) (1... -- 2. d4) 2. Nf3 $6 {to the
(end)} 2... Nc6 3. Bc4 Bc5 4. O-O Nf6 5. -- 1-0

[Event "?"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "?"]
[Black "?"]
[Result "*"]
[FEN "4k3/P7/8/2pP4/8/8/8/R3K2R w KQ c6 3 30"]
[SetUp "1"]

30. dxc6 Kd8 31. O-O-O+ Ke8 32. a8=N *

"#
    );
    let sample = pgn(&data("sample.pgn"));
    assert_eq!(again(&sample), sample);
    let widest = sample.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(79));
}

#[test]
fn braces_of_other_formats_do_not_end_a_comment() {
    let folder = Folder::new();
    let index = copy_small(&folder);
    let games = index.with_extension("dcg");
    let bytes = fs::read(&games).unwrap();
    let mut places = bytes.windows(7);
    let at = places.position(|text| text == b"A trap.").unwrap();
    let mut changed = bytes.clone();
    changed[at..at + 7].copy_from_slice(b"{a}b}% ");
    fs::write(&games, changed).unwrap();
    let text = pgn(&index);
    assert_has(&text, "{(a)b)%}");
    assert_eq!(again(&text), text);
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
fn deleted_games_and_faults_of_the_index_are_reported() {
    let folder = Folder::new();
    let index = copy_small(&folder);
    let bytes = fs::read(&index).unwrap();
    let write = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        fs::write(&index, changed).unwrap();
        let messages = convert(&folder, &index, "-o out.pgn");
        let text = folder.text("out.pgn");
        (text, messages)
    };
    let whole = pgn(&index);
    let (text, messages) = write(&|bytes| bytes[19] = 0xff);
    assert!(whole.ends_with(&text) && !text.contains("Corpus check one"));
    assert_has(&messages, "1 deleted games and texts left out");
    let (text, messages) = write(&|bytes| bytes[19] = 7);
    assert_eq!(text, whole);
    assert_has(&messages, "neither as live nor as deleted");
    let (text, messages) = write(&|bytes| bytes.extend([0; 20]));
    assert_eq!(text, whole);
    assert_has(&messages, "20 bytes at its end");
    // An ECO code of one letter in the first entry, and of two in the last.
    let (text, messages) = write(&|bytes| {
        bytes.remove(19 + 3 * 39 + 34);
        bytes.drain(19 + 33..19 + 35);
    });
    let short = whole
        .replace("[ECO \"C50\"]\n", "")
        .replace("[ECO \"C02\"]\n", "");
    assert_eq!(text, short);
    assert_has(&messages, "2 entries were too short");
    // An offset outside the file.
    let (text, messages) = write(&|bytes| bytes[19 + 39 + 1] = 1);
    assert_eq!(movetexts(&text).len(), 3);
    assert_has(&messages, "game 2: game skipped: its place, byte");
    let (_, messages) = write(&|bytes| bytes.truncate(19 + 2 * 39));
    assert_has(&messages, "bytes in .dcg are after the last game");

    let mut newer = bytes.clone();
    newer[10] = 1;
    fs::write(&index, newer).unwrap();
    fs::remove_file(folder.join("out.pgn")).unwrap();
    assert_refused(&folder, "small.dci", "version 1 of Simple Chess Database");
}

#[test]
fn promotions_by_the_document_are_known() {
    let folder = Folder::new();
    let index = copy_small(&folder);
    let games = index.with_extension("dcg");
    let whole = pgn(&index);
    let mut bytes = fs::read(&games).unwrap();
    let first = bytes
        .windows(2)
        .position(|word| word == [0x2d, 0x3c])
        .unwrap();
    for at in (first..first + 16).step_by(2) {
        bytes[at] -= 0x10;
    }
    fs::write(&games, bytes).unwrap();
    assert_eq!(pgn(&index), whole);
}

#[test]
fn names_may_be_missing_but_not_the_games() {
    let folder = Folder::new();
    let index = copy_small(&folder);
    for part in ["dcn", "dcs", "dce"] {
        fs::remove_file(index.with_extension(part)).unwrap();
    }
    let messages = convert(&folder, &index, "-o out.pgn");
    assert_has(&messages, ".dcn is missing");
    let text = folder.text("out.pgn");
    assert_eq!(movetexts(&text), movetexts(&pgn(&data("scdb/small.dci"))));
    fs::remove_file(index.with_extension("dcg")).unwrap();
    fs::remove_file(folder.join("out.pgn")).unwrap();
    assert_refused(&folder, "small.dci", ".dcg) is missing");
}

#[test]
fn games_of_old_chessbase_databases_are_read() {
    let text = pgn(&data("cbf/sample.cbf"));
    let source = pgn(&data("cbf/source.pgn"));
    assert_eq!(movetexts(&text), movetexts(&source));
    for tag in [
        "White", "Black", "Result", "ECO", "Date", "WhiteElo", "BlackElo", "FEN",
    ] {
        let values = |text: &str| -> Vec<String> {
            let lines = text
                .lines()
                .filter(|line| line.starts_with(&format!("[{tag} ")));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(values(&text), values(&source), "{tag}");
    }
    assert!(text.contains("[Round \"3\"]"));
}

#[test]
fn invalid_files_of_old_chessbase_are_refused() {
    let folder = Folder::new();
    let path = folder.join("x.cbf");
    let games = fs::read(data("cbf/sample.cbf")).unwrap();
    let index = fs::read(data("cbf/sample.cbi")).unwrap();
    fs::write(&path, &games).unwrap();
    assert_refused(
        &folder,
        "x.cbf",
        "its index (.cbi), which says where games begin, is missing",
    );
    folder.put("X.CBI", &index);
    assert_eq!(pgn(&path), pgn(&data("cbf/sample.cbf")));
    let other: Vec<u8> = games.iter().map(|byte| byte ^ 0x33).collect();
    fs::write(&path, other).unwrap();
    assert_refused(&folder, "x.cbf", "does not follow the known layout");
    fs::write(&path, &games).unwrap();
    folder.put("X.CBI", [0; 40]);
    assert_refused(&folder, "x.cbf", "not an index of ChessBase for DOS");
}

#[test]
fn nicbase_prints_are_read_and_its_own_files_refused() {
    let text = pgn(&data("nic/sample.prn"));
    assert_eq!(
        movetexts(&text),
        [
            "1. d4 d5 2. c4 c6 3. cxd5 cxd5 4. Nf3 Nf6 5. Nc3 Nc6 6. Bf4 Bf5 7. e3 e6 8. Bd3\n\
             Bxd3 9. Qxd3 Bd6 10. Bxd6 Qxd6 11. O-O {Both qualified} 1/2-1/2",
            "1. e4 e5 2. Nf3 (2. f4 exf4 3. Bc4 $1) 2... Nc6 3. Bc4 Bc5 $2 {Too passive.} 4.\n\
             b4 Bxb4 1-0"
        ]
    );
    for line in [
        "[Site \"Groningen PCA Qualifiers\"]",
        "[Date \"1993.??.??\"]",
        "[WhiteTitle \"GM\"]",
        "[BlackElo \"2740\"]",
        "[NIC \"SL 5.5\"]",
    ] {
        assert_has(&text, line);
    }
    let folder = Folder::new();
    let places = [0_u32, 40, 95, 171].map(u32::to_be_bytes).concat();
    folder.put("old.idx", places);
    folder.put("old.gam", [0x5a, 0, 3].repeat(80));
    for name in ["old.idx", "old.gam"] {
        assert_refused(&folder, name, "a NicBase database");
    }
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
