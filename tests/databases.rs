//! Archives, Scid and the newer ChessBase databases: what comes out is what
//! stands in them, a book is the same from each, and no damage does harm.

#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tabia::games::{self, Game, Wanted};

fn data(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    folder.join(name)
}

fn tabia(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabia"));
    command.args(args).current_dir(folder).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A source as PGN, and what was said.
fn pgn(source: &Path) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = tabia(
        folder.path(),
        &["games", source.to_str().unwrap(), "-o", "out.pgn"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let text = fs::read_to_string(folder.path().join("out.pgn")).unwrap();
    (text, messages(&output))
}

/// The bytes of a book.
fn book(source: &Path, options: &[&str]) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut args = vec!["build", source.to_str().unwrap(), "-o", "out.ctg"];
    args.extend(options);
    let output = tabia(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let part = |part| fs::read(folder.path().join("out").with_extension(part)).unwrap();
    ["ctg", "cto", "ctb"].map(part).into()
}

/// PGN text without some tags.
fn without(text: &str, tags: &[&str]) -> String {
    let kept = |line: &&str| !tags.iter().any(|tag| line.starts_with(&format!("[{tag} ")));
    text.lines()
        .filter(kept)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn scid_databases_are_what_scid_says_they_are() {
    let (five, _) = pgn(&data("scid/five.si4"));
    assert_eq!(five, pgn(&data("scid/five.pgn")).0);
    let expected = pgn(&data("scid/edge.pgn")).0;
    let (new, said) = pgn(&data("scid/edge.si5"));
    assert_eq!(new, expected);
    assert!(
        said.contains("60 games read, 58 written, 0 skipped"),
        "{said}"
    );
    assert!(said.contains("2 deleted games"), "{said}");
    // Version 4 has no room for the one event that is years away.
    let (old, _) = pgn(&data("scid/edge.si4"));
    let no_date = |text: &str| without(text, &["EventDate"]);
    assert_eq!(no_date(&old), no_date(&expected));
    assert_eq!(
        old.matches("[EventDate").count() + 1,
        expected.matches("[EventDate").count()
    );
}

#[test]
fn scid_says_which_games_are_chess960() {
    let (text, _) = pgn(&data("scid/c960.si5"));
    let expected = pgn(&data("scid/c960.pgn")).0;
    // One from the usual start is marked in its tags, but not in the index.
    let start = ["SetUp", "FEN"];
    assert_eq!(without(&text, &start), without(&expected, &start));
    assert_eq!(
        text.matches("[FEN ").count() + 1,
        expected.matches("[FEN ").count()
    );
}

#[test]
fn new_chessbase_databases_are_read() {
    let (text, said) = pgn(&data("cbh2/made.2cbh"));
    // The format does not keep how long ago a pawn moved.
    let expected = pgn(&data("cbh2/made.pgn")).0;
    let expected = expected.replace(" b - - 3 17\"]", " b - - 0 17\"]");
    assert!(text == expected, "{said}");
    assert!(
        said.contains("105 games read, 101 written, 0 skipped"),
        "{said}"
    );
}

#[test]
fn a_book_is_the_same_from_each_form_of_its_games() {
    let options = ["--variations", "--setups"];
    for (database, text) in [
        ("scid/edge.si4", "scid/edge.pgn"),
        ("scid/edge.si5", "scid/edge.pgn"),
        ("cbh2/made.2cbh", "cbh2/made.pgn"),
    ] {
        for options in [&options[..], &[]] {
            let expected = book(&data(text), options);
            assert!(
                book(&data(database), options) == expected,
                "{database} {options:?}"
            );
        }
    }
}

/// The files of a database, by their path without extension.
fn parts(path: &str, extensions: &[&str]) -> Vec<(String, Vec<u8>)> {
    let part = |extension: &&str| {
        let path = data(path).with_extension(extension);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(path).unwrap())
    };
    extensions.iter().map(part).collect()
}

/// A ChessBase archive with stored blocks.
fn pack_cbv(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut table = Vec::new();
    let mut pool = Vec::new();
    let first = 8 + 173 * files.len();
    for (name, plain) in files {
        let offset = first + pool.len();
        for block in plain.chunks(61_440) {
            let payload = [&[0][..], block].concat();
            let (words, _) = payload.as_chunks::<2>();
            let add = |sum: u16, word: &[u8; 2]| sum.wrapping_add(u16::from_le_bytes(*word));
            pool.extend((payload.len() as u16).to_le_bytes());
            pool.extend(words.iter().fold(0, add).to_le_bytes());
            pool.extend(payload);
        }
        let numbers = [offset, first + pool.len() - offset, plain.len()];
        let mut record = name.replace('/', "\\").into_bytes();
        record.resize(128, 0);
        record.extend(
            numbers
                .iter()
                .flat_map(|number| (*number as u32).to_le_bytes()),
        );
        record.extend([1, 0, 0, 0, 0, 0, 0, 0, 0]);
        record.extend(
            numbers
                .iter()
                .flat_map(|number| (*number as u64).to_le_bytes()),
        );
        table.extend(record);
    }
    let header = [8, files.len() as u16, 173, 3]
        .map(u16::to_le_bytes)
        .concat();
    [header, table, pool].concat()
}

fn pack_zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        std::io::Write::write_all(&mut zip, bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_book_from_an_archive_is_that_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let files = parts("chessbase/Capa", &["cbh", "cbg", "cbp", "cbt"]);
    let expected = book(&data("chessbase/Capa.cbh"), &[]);
    let (text, _) = pgn(&data("chessbase/Capa.cbh"));
    let as_pgn = folder.path().join("games.pgn");
    fs::write(&as_pgn, &text).unwrap();
    let cbv = folder.path().join("x.cbv");
    fs::write(&cbv, pack_cbv(&files)).unwrap();
    let zip = folder.path().join("x.zip");
    fs::write(&zip, pack_zip(&files)).unwrap();
    let nested = folder.path().join("nested.zip");
    let inner = [("a/b.cbv".to_owned(), pack_cbv(&files))];
    fs::write(&nested, pack_zip(&inner)).unwrap();
    for source in [&as_pgn, &cbv, &zip, &nested] {
        assert!(book(source, &[]) == expected, "{}", source.display());
    }
    assert_eq!(pgn(&cbv).0, text);
}

#[test]
fn every_database_in_a_zip_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = parts("scid/edge", &["si4", "sn4", "sg4"]);
    files.extend(parts("cbh2/made", &["2cbh", "2cbg", "2lid"]));
    files.extend(parts("scdb/small", &["dci", "dcg", "dcn", "dcs", "dce"]));
    files.extend(parts("cbf/sample", &["cbf", "cbi"]));
    files.extend(parts("nic/sample", &["prn"]));
    files.push((
        "five.pgn".to_owned(),
        fs::read(data("scid/five.pgn")).unwrap(),
    ));
    files.push(("read.me".to_owned(), b"no games".to_vec()));
    let path = folder.path().join("all.zip");
    fs::write(&path, pack_zip(&files)).unwrap();
    let (text, said) = pgn(&path);
    let mut expected = String::new();
    for name in [
        "scid/edge.si4",
        "cbh2/made.2cbh",
        "scdb/small.dci",
        "cbf/sample.cbf",
        "nic/sample.prn",
        "scid/five.pgn",
    ] {
        expected += &pgn(&data(name)).0;
    }
    assert!(text == expected, "{said}");
    assert!(
        said.contains("all.zip/small.dci: game 2: game cut short"),
        "{said}"
    );
}

/// Reads whatever can be read of a database in every way: whole games, others,
/// and remarks.
fn read_all(path: &Path) -> [u64; 3] {
    let [mut good, mut bad, mut remarks] = [0; 3];
    let short = Wanted {
        plies: 40,
        ..Wanted::default()
    };
    let sides = Wanted {
        variations: true,
        ..short
    };
    for wanted in [short, sides, Wanted::EVERYTHING] {
        let Ok(opened) = games::open(path) else {
            continue;
        };
        let mut source = opened.source;
        let mut game = Game::default();
        while let Ok(Some(mut batch)) = source.next_batch() {
            loop {
                match batch.next_game(wanted, &mut game) {
                    Ok(true) => {
                        assert_eq!(game.positions.len(), game.moves.len() + 1);
                        let is_cut = u64::from(game.cut.is_some());
                        good += 1 - is_cut;
                        bad += is_cut;
                    }
                    Ok(false) => break,
                    Err(skipped) => {
                        assert!(!skipped.to_string().is_empty());
                        bad += 1;
                    }
                }
            }
        }
        remarks += source.remarks().len() as u64;
    }
    [good, bad, remarks]
}

/// Cuts and changes every file of a database.
fn damage(main: &str, files: &[(String, Vec<u8>)], cuts: usize, flips: usize) {
    let mut random = StdRng::seed_from_u64(15);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in files {
        fs::write(path(name), bytes).unwrap();
    }
    let whole = read_all(&path(main));
    assert!(whole[0] > 0);
    for (name, bytes) in files {
        // Changed in its place: a file that is written anew goes to the disk at
        // once, and that takes longer than to read a database.
        let mut file = File::options().write(true).open(path(name)).unwrap();
        let write = |file: &mut File, at: usize, bytes: &[u8]| {
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(bytes).unwrap();
        };
        for cut in 0..cuts {
            let length = bytes.len() * cut / cuts;
            file.set_len(length as u64).unwrap();
            let [good, bad, remarks] = read_all(&path(main));
            // What is missing is said, or the whole is refused. An index of
            // Scid 5 does not say how many games it should have.
            let is_silent = good + bad < whole[0] + whole[1] && remarks <= whole[2];
            let is_shorter = name.ends_with("si5") && length.is_multiple_of(56);
            assert!(good == 0 || !is_silent || is_shorter, "{name} {length}");
            write(&mut file, length, &bytes[length..]);
        }
        for _ in 0..flips {
            let at = random.random_range(0..bytes.len());
            write(&mut file, at, &[bytes[at] ^ 1 << random.random_range(0..8)]);
            read_all(&path(main));
            write(&mut file, at, &bytes[at..=at]);
        }
    }
}

/// How often each file is cut, and changed. `TABIA_DAMAGE=1` for all that is
/// worth doing.
fn amount() -> (usize, usize) {
    if std::env::var_os("TABIA_DAMAGE").is_some() {
        (200, 2000)
    } else {
        (12, 40)
    }
}

#[test]
fn damaged_scid_databases_do_no_harm() {
    let (cuts, flips) = amount();
    let old = parts("scid/five", &["si4", "sn4", "sg4"]);
    damage("five.si4", &old, cuts, flips);
    let new = parts("scid/c960", &["si5", "sn5", "sg5"]);
    damage("c960.si5", &new, cuts, flips);
    let large = parts("scid/edge", &["si5", "sn5", "sg5"]);
    damage("edge.si5", &large, cuts.min(40), flips.min(400));
}

#[test]
fn damaged_new_chessbase_databases_do_no_harm() {
    let (cuts, flips) = amount();
    let files = parts("cbh2/made", &["2cbh", "2cbg", "2lid"]);
    damage("made.2cbh", &files, cuts, flips);
}

#[test]
fn damaged_archives_do_no_harm() {
    let (cuts, flips) = amount();
    let files = parts("scid/five", &["si4", "sn4", "sg4"]);
    for (name, bytes) in [("x.cbv", pack_cbv(&files)), ("x.zip", pack_zip(&files))] {
        damage(name, &[(name.to_owned(), bytes)], cuts, flips);
    }
}

/// Every file below a folder, by its path from there.
fn all_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                found.push((name.replace('\\', "/"), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn archives_are_unpacked_byte_for_byte_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = parts("chessbase/Capa", &["cbg", "cbh", "cbp", "cbt"]);
    files.push(("html/a.jpg".to_owned(), vec![7; 200_000]));
    for (name, bytes) in [("x.cbv", pack_cbv(&files)), ("y.zip", pack_zip(&files))] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let out = format!("{name} out/");
        let output = tabia(folder.path(), &["games", name, "-o", &out]);
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        assert!(all_files(&folder.path().join(&out)) == files, "{name}");
        // A second time something is in the way.
        let again = tabia(folder.path(), &["games", name, "-o", &out]);
        assert_eq!(again.status.code(), Some(2));
        assert!(messages(&again).contains("--force"));
    }
}

#[test]
fn encrypted_archives_need_their_password() {
    let folder = tempfile::tempdir().unwrap();
    let path = data("cbv/small3.cbz");
    let path = path.to_str().unwrap();
    let run = |more: &[&str]| {
        let all = [&["games", path, "-o", "out/"], more].concat();
        let output = tabia(folder.path(), &all);
        (output.status.code(), messages(&output))
    };
    let (code, said) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(said.contains("give its --password"), "{said}");
    let (code, said) = run(&["--password", "my short password"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("this is not its password"), "{said}");
    let (code, said) = run(&["--password", "my long password"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(all_files(&folder.path().join("out")).len(), 12);
}

#[test]
fn names_in_an_archive_never_lead_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = [
        "../escaped.cbh",
        "/tmp/tabia-escaped.cbh",
        "a/../../escaped.cbh",
        "C:escaped.cbh",
        "nul",
        "good.cbh",
        "GOOD.cbh",
    ];
    let files: Vec<_> = hostile
        .iter()
        .map(|name| ((*name).to_owned(), b"x".to_vec()))
        .collect();
    for (name, bytes) in [("x.cbv", pack_cbv(&files)), ("y.zip", pack_zip(&files))] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let out = format!("in/{name}/");
        let output = tabia(folder.path(), &["games", name, "-o", &out]);
        assert_eq!(output.status.code(), Some(1), "{}", messages(&output));
        assert!(messages(&output).contains("1 files, 1 bytes unpacked"));
        let found = all_files(&folder.path().join(&out));
        assert_eq!(found, [("good.cbh".to_owned(), b"x".to_vec())]);
    }
    let outside = all_files(folder.path());
    assert_eq!(
        outside.len(),
        4,
        "{:?}",
        outside.iter().map(|(n, _)| n).collect::<Vec<_>>()
    );
    assert!(!Path::new("/tmp/tabia-escaped.cbh").exists());
}

#[test]
fn a_folder_stands_for_all_databases_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("all/a/b");
    fs::create_dir_all(&inner).unwrap();
    for (name, bytes) in parts("scid/five", &["si4", "sn4", "sg4"]) {
        fs::write(inner.join(name), bytes).unwrap();
    }
    fs::copy(data("sample.pgn"), folder.path().join("all/a/sample.pgn")).unwrap();
    let (text, said) = pgn(&folder.path().join("all"));
    assert!(said.contains("205 games read, 205 written"), "{said}");
    assert_eq!(text.matches("[Event ").count(), 205);
}

/// The moves of a book's position as `tabia probe` has them.
fn probe(folder: &Path, fen_moves: &str) -> Vec<String> {
    let output = tabia(
        folder,
        &["probe", "out.ctg", "--json", "--moves", fen_moves],
    );
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let moves = answer["moves"].as_array().unwrap();
    // Moves that are not stored may still lead into the book.
    let stored = moves.iter().filter(|m| m["transposition"] != true);
    let mut sans: Vec<_> = stored
        .map(|m| m["san"].as_str().unwrap().to_owned())
        .collect();
    sans.sort();
    sans
}

const ONLINE: &str = r#"[Event "Rated Blitz game"]
[White "anna"]
[Black "bob"]
[Result "1-0"]
[WhiteElo "1900"]
[BlackElo "1950"]
[WhiteTitle "WFM"]
[TimeControl "300+0"]

1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. h3 h6 7. g3 g6 8. a3 1-0

[Event "Casual Bullet game"]
[White "carl"]
[Black "anna"]
[Result "1/2-1/2"]
[WhiteElo "2400"]
[BlackElo "1900"]
[TimeControl "60+0"]

1. d4 d5 2. c4 e6 1/2-1/2
"#;

#[test]
fn games_are_chosen_by_the_conditions_of_todays_book_makers() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.pgn"), ONLINE).unwrap();
    for (options, first) in [
        (&["--elo-band", "1900..2000"][..], &["e4"][..]),
        (&["--elo-band", "..2200"], &["d4", "e4"]),
        (&["--max-elo-diff", "50"], &["e4"]),
        (&["--speeds", "bullet,rapid"], &["d4"]),
        (&["--rated"], &["e4"]),
        (&["--title", "wfm"], &["e4"]),
        (&["--not-player", "Carl"], &["e4"]),
        (&["--decisive"], &["e4"]),
        (&[], &["d4", "e4"]),
    ] {
        let all = [&["build", "in.pgn", "-f", "-o", "out.ctg"], options].concat();
        let output = tabia(folder.path(), &all);
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        assert_eq!(probe(folder.path(), ""), first, "{options:?}");
    }
}

#[test]
fn a_book_of_one_side_has_moves_of_that_side_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.pgn"), ONLINE).unwrap();
    let build = |more: &[&str]| {
        let all = [&["build", "in.pgn", "-f", "-o", "out.ctg"], more].concat();
        assert_eq!(tabia(folder.path(), &all).status.code(), Some(0));
    };
    build(&["--only", "white"]);
    assert_eq!(probe(folder.path(), "e2e4"), [""; 0]);
    assert_eq!(probe(folder.path(), "e2e4 c7c5"), ["Nf3"]);
    build(&["--only", "black"]);
    assert_eq!(probe(folder.path(), ""), [""; 0]);
    assert_eq!(probe(folder.path(), "e2e4"), ["c5"]);
}

#[test]
fn a_book_ends_so_many_plies_behind_the_named_opening() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.pgn"), ONLINE).unwrap();
    let all = ["build", "in.pgn", "-o", "out.ctg", "--eco-relative", "2"];
    assert_eq!(tabia(folder.path(), &all).status.code(), Some(0));
    // The Najdorf, and its variation with 6. h3, have names.
    let najdorf = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 h2h3";
    assert_eq!(probe(folder.path(), najdorf), ["h6"]);
    assert_eq!(probe(folder.path(), &format!("{najdorf} h7h6")), ["g3"]);
    assert_eq!(
        probe(folder.path(), &format!("{najdorf} h7h6 g2g3")),
        [""; 0]
    );
}

const SIGNS: &str = r#"[White "a"]
[Black "b"]
[WhiteElo "2000"]
[BlackElo "2000"]

1. e4 $1 c5 $2 $16 (1... e5 $3 $11) 2. Nf3 $5 *

[White "c"]
[Black "d"]
[WhiteElo "2600"]
[BlackElo "2500"]

1. e4 c5 $6 $14 2. Nf3 $7 *

[White "e"]
[Black "f"]

1. e4 $1 c5 2. Nf3 *
"#;

#[test]
fn signs_of_games_become_marks_of_the_book() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.pgn"), SIGNS).unwrap();
    let signs = |options: &[&str], moves: &str| {
        let all = [&["build", "in.pgn", "-f", "-o", "out.ctg"], options].concat();
        let output = tabia(folder.path(), &all);
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        let output = tabia(
            folder.path(),
            &["probe", "out.ctg", "--json", "--moves", moves],
        );
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let moves = answer["moves"].as_array().unwrap();
        let mut found: Vec<_> = moves
            .iter()
            .map(|m| {
                let text = |name: &str| m[name].as_str().unwrap().to_owned();
                (
                    text("san"),
                    text("annotation"),
                    m["commentary"].as_u64().unwrap(),
                )
            })
            .collect();
        found.sort();
        found
    };
    let sign = |san: &str, sign: &str, nag: u64| (san.to_owned(), sign.to_owned(), nag);
    let usual = ["--annotations"];
    let all = ["--annotations", "--variations"];
    let once = [
        "--annotations",
        "--variations",
        "--dedupe",
        "--threads",
        "3",
    ];
    assert_eq!(signs(&usual, ""), [sign("e4", "!", 0)]);
    // One each: the better player's counts, seen from the real board.
    assert_eq!(signs(&usual, "e2e4"), [sign("c5", "?!", 14)]);
    for options in [&all[..], &once] {
        let replies = signs(options, "e2e4");
        assert_eq!(replies, [sign("c5", "?!", 14), sign("e5", "!!", 11)]);
        assert_eq!(signs(options, "e2e4 c7c5"), [sign("Nf3", "□", 0)]);
    }
    assert_eq!(signs(&[], "e2e4"), [sign("c5", "", 0)]);
}

#[test]
fn signs_of_a_scid_database_are_those_of_its_pgn() {
    let options = ["--variations", "--setups", "--annotations"];
    let expected = book(&data("scid/edge.pgn"), &options);
    assert!(book(&data("scid/edge.si5"), &options) == expected);
    assert!(expected != book(&data("scid/edge.pgn"), &options[..2]));
}

/// The words of a record of version 5.
fn words(record: &[u8]) -> Vec<u32> {
    let (words, _) = record.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

#[test]
fn a_scid_database_of_ours_has_the_records_that_scid_writes() {
    let folder = tempfile::tempdir().unwrap();
    let source = data("scid/edge.pgn");
    let source = source.to_str().unwrap();
    let output = tabia(folder.path(), &["games", source, "-o", "out.si5"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let written = folder.path().join("out.si5");
    assert!(pgn(&written).0 == pgn(&data("scid/edge.pgn")).0);
    let ours = fs::read(&written).unwrap();
    let theirs = fs::read(data("scid/edge.si5")).unwrap();
    let theirs = theirs.chunks(56).enumerate();
    // Two are deleted there.
    let theirs = theirs.filter(|(number, _)| ![4, 11].contains(number));
    let mut count = 0;
    for (ours, (number, theirs)) in ours.chunks(56).zip(theirs) {
        let (ours, theirs) = (words(ours), words(theirs));
        // Counts; ratings and dates; plies and promotions; material; ECO,
        // result and how many pawns left home; which.
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
    let folder = tempfile::tempdir().unwrap();
    for source in ["scid/c960.pgn", "sample.pgn", "cbh2/made.2cbh"] {
        let path = data(source);
        let arguments = ["games", path.to_str().unwrap(), "-f", "-o", "out.si5"];
        let output = tabia(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        let (text, _) = pgn(&folder.path().join("out.si5"));
        assert!(text == pgn(&path).0, "{source}");
    }
}
