//! Databases are read as the programs that made them do, and written as these write
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use super::archives::{data, pack_7z, pack_zip, parts};
use super::{Folder, assert_has, assert_refused, convert, convert_to, pgn};
use crate::ExportTarget::{Scdb, Scid};

/// The five files of a Simple Chess Database.
const PARTS: [&str; 5] = ["dci", "dcn", "dcs", "dce", "dcg"];

/// PGN text, converted to PGN again.
fn again(text: &str) -> String {
    let folder = Folder::new();
    pgn(&folder.put("in.pgn", text))
}

/// Copies the small database into a folder.
fn copy_small(folder: &Path) -> PathBuf {
    for (name, bytes) in parts("scdb/small", &PARTS) {
        fs::write(folder.join(name), bytes).unwrap();
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

/// PGN text without some tags.
fn without(text: &str, tags: &[&str]) -> String {
    let kept = |line: &&str| !tags.iter().any(|tag| line.starts_with(&format!("[{tag} ")));
    text.lines()
        .filter(kept)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn scid_databases_are_read_as_scid_reads_them() {
    let five = pgn(&data("scid/five.si4"));
    assert_eq!(five, pgn(&data("scid/five.pgn")));
    let expected = pgn(&data("scid/edge.pgn"));
    let (new, messages) = convert(&data("scid/edge.si5"));
    assert_eq!(new, expected);
    assert_has(&messages, "60 games read, 58 written, 0 skipped");
    assert_has(&messages, "2 left out");
    // Version 4 cannot store the date of an event that is years away.
    let old = pgn(&data("scid/edge.si4"));
    let no_date = |text: &str| without(text, &["EventDate"]);
    assert_eq!(no_date(&old), no_date(&expected));
    assert_eq!(
        old.matches("[EventDate").count() + 1,
        expected.matches("[EventDate").count()
    );
}

#[test]
fn chess960_games_of_scid_databases_are_recognized() {
    let text = pgn(&data("scid/c960.si5"));
    let expected = pgn(&data("scid/c960.pgn"));
    // A game from the standard start position has these tags, but no mark in the index.
    let start = ["SetUp", "FEN"];
    assert_eq!(without(&text, &start), without(&expected, &start));
    assert_eq!(
        text.matches("[FEN ").count() + 1,
        expected.matches("[FEN ").count()
    );
}

#[test]
fn new_chessbase_databases_are_read() {
    let (text, messages) = convert(&data("cbh2/made.2cbh"));
    // The format does not store the halfmove clock.
    let expected = pgn(&data("cbh2/made.pgn"));
    let expected = expected.replace(" b - - 3 17\"]", " b - - 0 17\"]");
    assert!(text == expected, "{messages}");
    assert_has(&messages, "105 games read, 101 written, 0 skipped");
}

/// The fields of a record of version 5.
fn words(record: &[u8]) -> Vec<u32> {
    let (words, _) = record.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

#[test]
fn a_scid_database_of_ours_has_the_records_that_scid_writes() {
    let folder = Folder::new();
    let written = folder.join("out.si5");
    convert_to(Scid(written.clone()), &data("scid/edge.pgn"));
    assert!(pgn(&written) == pgn(&data("scid/edge.pgn")));
    let ours = fs::read(&written).unwrap();
    let theirs = fs::read(data("scid/edge.si5")).unwrap();
    let theirs = theirs.chunks(56).enumerate();
    // Two are deleted there.
    let theirs = theirs.filter(|(number, _)| ![4, 11].contains(number));
    let mut count = 0;
    for (ours, (number, theirs)) in ours.chunks(56).zip(theirs) {
        let (ours, theirs) = (words(ours), words(theirs));
        // Counts; ratings and dates; plies and promotions; material; ECO, result and
        // pawns that left their first squares; which ones.
        let masks = [
            (0, 0xf000_0000),
            (1, 0xf000_0000),
            (2, 0xf000_0000),
            (5, u32::MAX),
            (6, u32::MAX),
            (7, 0xffc0_0007),
            (10, 0x00ff_ffff),
            (11, u32::MAX),
            (12, u32::MAX),
            (13, u32::MAX),
        ];
        for (word, mask) in masks {
            assert_eq!(ours[word] & mask, theirs[word] & mask, "{number} {word}");
        }
        count += 1;
    }
    assert_eq!(count, 58);
}

#[test]
fn a_scid_database_of_ours_keeps_chess960_and_many_games() {
    let folder = Folder::new();
    for source in ["scid/c960.pgn", "sample.pgn", "cbh2/made.2cbh"] {
        let path = data(source);
        let written = folder.join("out.si5");
        convert_to(Scid(written.clone()), &path);
        assert!(pgn(&written) == pgn(&path), "{source}");
    }
}

#[test]
fn every_database_in_a_zip_is_read() {
    let folder = Folder::new();
    let mut files = parts("scid/edge", &["si4", "sn4", "sg4"]);
    files.extend(parts("cbh2/made", &["2cbh", "2cbg", "2lid"]));
    files.extend(parts("scdb/small", &["dci", "dcg", "dcn", "dcs", "dce"]));
    files.extend(parts("cbf/sample", &["cbf", "cbi"]));
    files.extend(parts("nic/sample", &["prn"]));
    files.extend(parts("scid/five", &["pgn"]));
    files.push(("read.me".to_owned(), b"no games".to_vec()));
    let path = folder.put("all.zip", pack_zip(&files));
    let (text, messages) = convert(&path);
    let mut expected = String::new();
    for name in [
        "scid/edge.si4",
        "cbh2/made.2cbh",
        "scdb/small.dci",
        "cbf/sample.cbf",
        "nic/sample.prn",
        "scid/five.pgn",
    ] {
        expected += &pgn(&data(name));
    }
    assert!(text == expected, "{messages}");
    assert_has(&messages, "all.zip/small.dci: game 2: game cut short");
    // Progress goes forward, to the end of the archive.
    let mut source = crate::open(&path).unwrap();
    let mut read = Vec::new();
    while source.next_batch().unwrap().is_some() {
        read.push(source.bytes_read());
    }
    read.push(source.bytes_read());
    assert!(read.is_sorted() && read[0] < read[read.len() - 2]);
    assert_eq!(read.last(), Some(&fs::metadata(&path).unwrap().len()));
}

#[test]
fn a_simple_chess_database_has_the_bytes_of_its_authors_program() {
    let folder = Folder::new();
    convert_to(Scdb(folder.join("small.dci")), &data("scdb/source.pgn"));
    // Nothing is to be said of a sound one.
    let (_, messages) = convert(&folder.join("small.dci"));
    assert_eq!(messages.lines().count(), 1, "{messages}");
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
    let folder = Folder::new();
    let long = "x".repeat(70_000);
    let more = format!("[Event \"Long\"]\n\n1. e4 {{{long}}} e5 *\n\n");
    let sample = fs::read_to_string(data("sample.pgn")).unwrap();
    let path = folder.put("in.pgn", format!("{ODDITIES}\n{more}{sample}"));
    let (one, two) = (folder.join("one.dci"), folder.join("two.dci"));
    let messages = convert_to(Scdb(one.clone()), &path).1;
    assert_has(&messages, "5 with tags lost");
    let messages = convert_to(Scdb(two), &one).1;
    assert!(!messages.contains("neither as live"), "{messages}");
    for part in PARTS {
        let read = |name: &str| fs::read(folder.join(name).with_extension(part)).unwrap();
        assert!(read("one") == read("two"), "{part}");
    }
    let whole = pgn(&path);
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
    let back = pgn(&one);
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

{Before anything} 1. e4 $1 $13 {One two (three} 1... e5 (1... c5 {A long
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

/// Many programs refuse a second comment on a move, or one after its variations; Scid 5.0.2
/// loses it.
#[test]
fn each_move_has_one_comment_before_its_variations() {
    let text = "1. e4 e5 {before} (1... c5) {after} $2 2. Nf3 ({why} $4 2. Nc3 {a} {b} Nc6 \
        ({only words} $6)) (2. f4) {last} {of all} *\n";
    let expected = "1. e4 e5 $2 {before after} (1... c5) 2. Nf3 {last of all} ({why} 2. Nc3 $4 {a b} \
        2... Nc6 $6 {only words}) (2. f4) *";
    let folder = Folder::new();
    let path = folder.put("in.pgn", text);
    let written = pgn(&path);
    assert_eq!(movetexts(&written)[0].replace('\n', " "), expected);
    for name in ["out.si5", "out.dci"] {
        let database = folder.join(name);
        let target = if name == "out.si5" { Scid } else { Scdb };
        convert_to(target(database.clone()), &path);
        assert_eq!(movetexts(&pgn(&database)), movetexts(&written), "{name}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_counted_with_its_first_place() {
    let folder = Folder::new();
    let game = |tags: &str| format!("[Event \"x\"]\n{tags}\n\n1. e4 *\n\n");
    let long = "v".repeat(256);
    let games = [
        game("[WhiteElo \"2500\"]\n[Date \"2024.01.02\"]\n[ECO \"B36\"]"),
        game("[WhiteElo \"4001\"]\n[BlackElo \"2400.5\"]"),
        game("[WhiteElo \"25000\"]"),
        game("[WhiteElo \"?\"]\n[BlackElo \"??\"]\n[Date \"????.??.??\"]\n[ECO \"?\"]"),
        game("[Date \"2048.01.02\"]"),
        game("[EventDate \"5000.01.01\"]"),
        game("[ECO \"F01\"]"),
        game(&format!("[Source \"{long}\"]")),
        game(&format!("[N{long} \"1\"]")),
    ];
    let path = folder.put("in.pgn", games.concat());
    let (scid, scdb) = (Scid(folder.join("a.si5")), Scdb(folder.join("a.dci")));
    let (_, messages) = convert_to(scid, &path);
    for expected in [
        "line 42: tags that the format has no room for, 2 games",
        "line 8: ratings that the format cannot hold, 2 games",
        "line 27: dates that the format cannot hold, 2 games",
        "line 37: ECO codes that the format cannot hold, 1 games",
    ] {
        assert_has(&messages, expected);
    }
    let (_, messages) = convert_to(scdb, &path);
    for expected in [
        "line 32: tags that the format has no room for, 3 games",
        "line 8: ratings that the format cannot hold, 2 games",
    ] {
        assert_has(&messages, expected);
    }
    let (_, messages) = convert(&path);
    assert!(!messages.contains("the format"), "{messages}");
    let back = pgn(&folder.join("a.si5"));
    assert_eq!(
        back.matches("2048").count() + back.matches("4001").count(),
        0
    );
}

#[test]
fn no_round_and_no_rating_are_lost_where_they_come_back_as_unknown() {
    let folder = Folder::new();
    for (tag, loses) in [
        ("[Round \"?\"]", ["", ""]),
        ("[Round \"1\"]", ["", ""]),
        (
            "[Round \"-\"]",
            ["", "tags that the format has no room for"],
        ),
        (
            "[Round \"0\"]",
            ["", "tags that the format has no room for"],
        ),
        (
            "[WhiteElo \"0\"]",
            ["ratings that the format cannot hold"; 2],
        ),
        (
            "[BlackElo \"0\"]",
            ["ratings that the format cannot hold"; 2],
        ),
        (
            "[BlackElo \"-\"]",
            ["ratings that the format cannot hold"; 2],
        ),
        ("[BlackElo \"?\"]", ["", ""]),
    ] {
        let path = folder.put("in.pgn", format!("[Event \"x\"]\n{tag}\n\n1. e4 *\n"));
        let targets: [(_, fn(PathBuf) -> _); 2] = [("a.si5", Scid), ("a.dci", Scdb)];
        for ((name, target), lost) in targets.into_iter().zip(loses) {
            let database = folder.join(name);
            let messages = convert_to(target(database.clone()), &path).1;
            let said = format!("line 1: {lost}, 1 games");
            match lost {
                "" => assert!(!messages.contains("the format"), "{tag}: {messages}"),
                _ => assert_has(&messages, &said),
            }
            let comes_back = pgn(&database).contains(tag) || tag.ends_with("Elo \"?\"]");
            assert_eq!(comes_back, lost.is_empty(), "{tag} in {name}");
        }
    }
}

#[test]
fn braces_of_other_formats_do_not_end_a_comment() {
    let folder = Folder::new();
    let index = copy_small(folder.path());
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
fn deleted_games_and_faults_of_the_index_are_reported() {
    let folder = Folder::new();
    let index = copy_small(folder.path());
    let bytes = fs::read(&index).unwrap();
    let write = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        fs::write(&index, changed).unwrap();
        convert(&index)
    };
    let whole = pgn(&index);
    let (text, messages) = write(&|bytes| bytes[19] = 0xff);
    assert!(whole.ends_with(&text) && !text.contains("Corpus check one"));
    assert_has(&messages, "1 left out");
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
    assert_refused(&index, "version 1 of Simple Chess Database");
}

#[test]
fn promotions_by_the_document_are_known() {
    let folder = Folder::new();
    let index = copy_small(folder.path());
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
    let index = copy_small(folder.path());
    for part in ["dcn", "dcs", "dce"] {
        fs::remove_file(index.with_extension(part)).unwrap();
    }
    let (text, messages) = convert(&index);
    assert_has(&messages, ".dcn is missing");
    assert_eq!(movetexts(&text), movetexts(&pgn(&data("scdb/small.dci"))));
    fs::remove_file(index.with_extension("dcg")).unwrap();
    assert_refused(&index, ".dcg) is missing");
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
        &path,
        "its index (.cbi), which says where games begin, is missing",
    );
    folder.put("X.CBI", &index);
    assert_eq!(pgn(&path), pgn(&data("cbf/sample.cbf")));
    let other: Vec<u8> = games.iter().map(|byte| byte ^ 0x33).collect();
    fs::write(&path, other).unwrap();
    assert_refused(&path, "does not follow the known layout");
    fs::write(&path, &games).unwrap();
    folder.put("X.CBI", [0; 40]);
    assert_refused(&path, "not an index of ChessBase for DOS");
}

/// Byte 12 of a header is the number of White's moves from the usual first position, byte 13 the
/// check.
#[test]
fn headers_of_old_chessbase_that_contradict_their_games_are_counted() {
    let folder = Folder::new();
    let index = fs::read(data("cbf/sample.cbi")).unwrap();
    folder.put("x.cbi", &index);
    let games = fs::read(data("cbf/sample.cbf")).unwrap();
    let whole = pgn(&data("cbf/sample.cbf"));
    // Word i is the offset of game i, plus i and one.
    let words = index
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_be_bytes(*word));
    let starts = words.zip(1..).skip(1).take(32);
    let starts: Vec<usize> = starts.map(|(word, more)| (word - more) as usize).collect();
    let set_up = whole.matches("[FEN ").count();
    for (byte, what, count) in [
        (
            12,
            "games with more or fewer moves than their header says",
            32 - set_up,
        ),
        (13, "games with a wrong check byte", 32),
    ] {
        let mut changed = games.clone();
        for start in &starts {
            changed[start + byte] ^= 1;
        }
        let (text, messages) = convert(&folder.put("x.cbf", changed));
        assert!(text == whole, "{messages}");
        let remarks: Vec<_> = messages.lines().skip(1).collect();
        let path = folder.join("x.cbf");
        assert_eq!(remarks, [format!("{}: {what}: {count}", path.display())]);
    }
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
        "[Round \"11\"]",
        "[Source \"Q94\"]",
        "[Annotator \"Kramnik/Anand\"]",
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
        assert_refused(&folder.join(name), "a NicBase database");
    }
}

/// Of sound databases nothing is reported, whatever contains them.
#[test]
fn nothing_is_said_about_sound_databases() {
    let folder = Folder::new();
    for (path, parts_of, read, left_out) in [
        ("scid/five", &["si4", "sn4", "sg4"][..], 5, 0),
        ("scid/edge", &["si4", "sn4", "sg4"], 60, 2),
        ("scid/edge", &["si5", "sn5", "sg5"], 60, 2),
        ("scid/c960", &["si5", "sn5", "sg5"], 6, 0),
        ("cbf/sample", &["cbf", "cbi"], 32, 0),
        ("cbh2/made", &["2cbh", "2cbg", "2lid"], 105, 4),
        ("nic/sample", &["prn"], 2, 0),
    ] {
        let zip = folder.put("x.zip", pack_zip(&parts(path, parts_of)));
        let seven_zip: Vec<_> = parts(path, parts_of);
        let seven_zip: Vec<_> = seven_zip
            .iter()
            .map(|(name, bytes)| (name.as_str(), &bytes[..]))
            .collect();
        let seven_zip = folder.put("x.7z", pack_7z(&seven_zip));
        for path in [data(path).with_extension(parts_of[0]), zip, seven_zip] {
            let written = read - left_out;
            let expected = format!(
                "{read} games read, {written} written, 0 skipped, 0 cut, {left_out} left out, \
                 0 with tags lost, 0 cut sources\n"
            );
            assert_eq!(convert(&path).1, expected, "{path:?}");
        }
    }
}
