//! `tabia build`: the book matches an independent replay of the games, and bad input does
//! no harm.

#![allow(clippy::unwrap_used)]

mod also;
mod evaluations;
mod polyglot;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::common::played::{
    Content, TestGame, assert_same, content, fen, pgn, random_games, recount,
};
use crate::common::{Folder, Ran, TABIA, assert_has, files, gzip};
use serde_json::json;
use shakmaty::Chess;

struct Run {
    folder: Folder,
    ran: Ran,
}

impl Run {
    fn book(&self) -> PathBuf {
        self.folder.join("out.ctg")
    }

    fn content(&self) -> Content {
        self.ran.ok();
        content(&self.book())
    }

    fn messages(&self) -> String {
        self.ran.err()
    }

    fn bytes(&self) -> [Vec<u8>; 3] {
        files(self.book())
    }
}

/// Builds from a file `games.pgn` in a new folder.
fn build(pgn: impl AsRef<[u8]>, options: &str) -> Run {
    let folder = Folder::new();
    folder.put("games.pgn", pgn);
    build_in(folder, &format!("games.pgn {options}"), b"")
}

fn build_in(folder: Folder, rest: &str, input: &[u8]) -> Run {
    let mut command = folder.command(&format!("build -o out.ctg {rest}"));
    let ran = Ran::with_input(&mut command, input);
    Run { folder, ran }
}

#[test]
fn filters_compose() {
    let games = random_games(400, 12);
    let text = pgn(&games);
    let check = |options: &str, admits: &dyn Fn(&TestGame) -> bool| {
        let kept: Vec<&TestGame> = games.iter().filter(|game| admits(game)).collect();
        assert!(kept.len() > 2 && kept.len() < games.len(), "{options}");
        let expected = recount(kept.iter().copied(), 40);
        assert_same(&build(&text, options).content(), &expected);
    };
    check("--min-elo 2400", &|g| g.elo.iter().any(|e| *e >= 2400));
    check("--both-elo 2000", &|g| g.elo.iter().all(|e| *e >= 2000));
    check("--since 1995 --until 1999", &|g| {
        (1995..2000).contains(&g.year)
    });
    check("--eco B20-B98,C", &|g| g.eco == "B20" || g.eco == "C57");
    check("--result 1/2-1/2", &|g| g.result == "1/2-1/2");
    check(
        "--result 1-0 --min-elo 2100 --until 2003 --player beta --as black",
        &|g| g.result == "1-0" && g.elo.iter().any(|e| *e >= 2100) && g.year <= 2003,
    );
    let none = build(&text, "--player beta --as white");
    none.ran.refused("no game is left");
}

const SET_UP: &str = "[Event \"?\"]\n[SetUp \"1\"]\n[FEN \"8/4P1k1/8/8/8/8/8/4K3 w - - 0 1\"]\n\n";

#[test]
fn set_up_games_are_skipped_or_counted() {
    let text = format!("[Event \"?\"]\n\n1. e4 *\n\n{SET_UP}1. e8=Q *\n");
    let run = build(&text, "");
    assert_eq!(run.content().len(), 2);
    assert_has(
        &run.messages(),
        "line 5: game skipped: it starts from a set-up",
    );
    build(&text, "--strict").ran.ends(1);
    let run = build(&text, "--setups --strict");
    run.ran.ok();
    assert_eq!(run.content().len(), 4);
}

#[test]
fn other_games_than_chess_are_skipped() {
    let variant = "[Event \"?\"]\n[Variant \"Crazyhouse\"]\n\n1. e4 *\n\n";
    let chess960 = "[Event \"?\"]\n[FEN \"bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1\"]\n\n1. e4 *\n\n";
    let usual = "[Event \"?\"]\n[Variant \"Standard\"]\n\n1. e4 *\n\n";
    let run = build(format!("{variant}{chess960}{usual}"), "--setups");
    assert_eq!(run.content().len(), 2);
    let messages = run.messages();
    assert_has(&messages, "line 1: game skipped: its variant is Crazyhouse");
    assert_has(&messages, "line 6: game skipped: its variant is Chess960");
}

#[test]
fn broken_games_are_reported_and_the_others_are_built() {
    let text = "[Event \"good\"]\n\n1. e4 e5 *\n\n\
                [Event \"illegal\"]\n\n1. d4 d5\n2. Ke3 *\n\n\
                [Event \"unclosed\"]\n\n1. c4 { never closed\n\n\
                [Event \"good\"]\n\n1. f4 {fine} (1. g4) 1... f5 *\n\n\
                [Event \"bad FEN\"]\n[FEN \"what\"]\n\n1. e4 *\n\n\
                [Event \"no kings\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n*\n\n\
                [Event \"good\"]\n\n1. b4 b5 *\n";
    let run = build(text, "--setups");
    let found = run.content();
    assert_eq!(found[&fen(&Chess::default())].0.stats.games, 4);
    assert_eq!(found.len(), 8);
    let messages = run.messages();
    for part in [
        "games.pgn: line 5: game skipped: move 2. on line 8 is impossible: Ke3",
        "games.pgn: line 10: game cut short: the comment that begins on line 12 has no end",
        "line 18: game skipped: its set-up position cannot be used",
        "line 23: game skipped: its set-up position cannot be used",
        "4 games, 8 positions",
        "3 games skipped",
    ] {
        assert_has(&messages, part);
    }
    build(text, "--strict").ran.ends(1);
}

#[test]
fn old_encodings_line_ends_and_results_are_read() {
    let mut text = b"\xef\xbb\xbf[Event \"?\"]\r\n[White \"H\xfcbner, R\"]\r\n[Result \"*\"]\r\n\r\n1. e4 e5 *\r\n\r\n".to_vec();
    text.extend_from_slice(
        "[Event \"?\"]\r\n[Black \"Hübner, R\"]\r\n\r\n1. d4 1-0\r\n".as_bytes(),
    );
    let run = build(&text, "--player 'hübner'");
    let found = run.content();
    let (record, _) = &found[&fen(&Chess::default())];
    // The second result occurs only after the moves.
    assert_eq!((record.stats.games, record.stats.wins), (2, 1));
    assert_eq!(record.points, 15);
    let white = build(&text, "--player 'HÜBNER' --as white").content();
    assert_eq!(white.len(), 3);
}

#[test]
fn a_missing_capture_sign_or_promotion_is_accepted() {
    let text = "[Event \"?\"]\n\n1. e4 d5 2. ed5 Qd5 *\n\n";
    // A pawn move with only a file is not valid PGN; the queen's capture is unique.
    let run = build("[Event \"?\"]\n\n1. e4 d5 2. exd5 Qd5 *\n", "");
    assert_eq!(run.content().len(), 5);
    let run = build(format!("{SET_UP}1. e8 *\n\n{text}"), "--setups");
    run.ran.ok();
}

#[test]
fn sources_may_be_compressed_folders_and_streams() {
    let text = pgn(&random_games(20, 10));
    let plain = build(&text, "");
    let folder = Folder::new();
    fs::create_dir(folder.join("games")).unwrap();
    let part = text.match_indices("[Event").nth(10).unwrap().0;
    let (first, second) = text.split_at(part);
    folder.put("games/1.pgn.gz", gzip(first));
    folder.put("games/2.PGN", second);
    folder.put("games/notes.txt", "[Event \"none\"]\n\n1. a4 *\n");
    // A file of the folder that is also named counts once.
    let run = build_in(folder, "games games/2.PGN", b"");
    assert!(run.bytes() == plain.bytes());
    let run = build_in(Folder::new(), "-", text.as_bytes());
    assert!(run.bytes() == plain.bytes());

    let zst = ruzstd::encoding::compress_to_vec(
        text.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    assert!(build(zst, "").bytes() == plain.bytes());
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(text.as_bytes()).unwrap();
    assert!(build(bz2.finish().unwrap(), "").bytes() == plain.bytes());
    let whole = gzip(&text);
    let cut = build(&whole[..whole.len() / 2], "");
    // The readable part is read, and the missing rest is reported.
    let messages = cut.ran.ends(0);
    assert!(
        messages.contains("it is cut off or damaged after line "),
        "{messages}"
    );
    let cut = build(&whole[..whole.len() / 2], "--strict");
    cut.ran.ends(1);
}

#[test]
fn bad_input_is_refused_and_no_book_is_written() {
    let folder = Folder::new();
    folder.put("games.pgn", "[Event \"?\"]\n\n1. e4 *\n");
    folder.put("empty.pgn", "");
    folder.put("zeros.pgn", vec![0_u8; 100_000]);
    folder.put("old.ctg", "an old book");
    folder.put("old.parquet", "old records");
    fs::create_dir(folder.join("nothing")).unwrap();
    let before = folder.names();
    for (arguments, message) in [
        ("-fo old.ctg missing.pgn", "missing.pgn"),
        ("-fo old.ctg empty.pgn games.pgn", "empty.pgn: no games"),
        (
            "-fo old.ctg zeros.pgn",
            "zeros.pgn: this is neither games nor a book",
        ),
        ("-fo old.ctg nothing", "nothing: the folder holds no .pgn"),
        ("-o nowhere/new.ctg games.pgn", "nowhere"),
        (
            "-o games.pgn games.pgn",
            "`tabia games -o games.pgn` writes games",
        ),
        ("--records old.csv games.pgn", ".parquet"),
        ("--records old.parquet games.pgn", "--force"),
        (
            "-o old.ctg games.pgn",
            "; --force replaces it and keeps the old one as old.ctg.bak",
        ),
        ("-o old.ctg old.ctg missing.pgn", "old.ctg: already exists"),
        ("-fo old.ctg games.pgn --min-games 2", "no position"),
        ("-fo old.ctg games.pgn --eco Z99", "ECO"),
        ("-fo old.ctg games.pgn --memory 12X", "size"),
        ("-fo old.ctg games.pgn --temp nowhere", "nowhere"),
        ("-o old.ctg", "SOURCE"),
    ] {
        folder.tabia(&format!("build {arguments}")).refused(message);
        assert_eq!(folder.text("old.ctg"), "an old book");
        assert_eq!(folder.names(), before, "{arguments}");
    }
}

/// No file may grow beyond some kilobytes, like on a full disk, with any number of
/// sorting threads.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_build_with_an_error() {
    use test_programs::processes::ends;

    let folder = Folder::new();
    // More games than all threads together process at a time.
    let games = pgn(&random_games(600, 60)).repeat(30);
    folder.put("games.pgn", games);
    // A program that ignores the signal gets an error instead.
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" build -o new.ctg games.pgn \
                  --memory 1M --max-ply 60 --threads \"$1\" $2";
    for (threads, more) in [("1", ""), ("2", ""), ("4", "--dedupe")] {
        let mut sh = std::process::Command::new("sh");
        sh.args(["-c", script, TABIA, threads, more])
            .current_dir(&folder);
        let child = sh.stderr(std::process::Stdio::piped()).spawn().unwrap();
        // Threads that wait for each other would do so for ever.
        assert!(ends(child.id()), "{threads} threads do not end");
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_has(&text, "temporary files for sorting");
        assert_eq!(folder.names(), ["games.pgn"]);
    }
}

/// The JSON output for programs.
#[test]
fn json_has_the_numbers_of_the_build() {
    let run = build("[Event \"?\"]\n\n1. e4 e5 *\n\n1. d4 *\n", "--json");
    let object = run.ran.json();
    for (field, value) in [("games", 2), ("positions", 4), ("moves", 3), ("skipped", 0)] {
        assert_eq!(object[field], value, "{field}");
    }
    let out = run.folder.join("out.ctg");
    let before = fs::read(&out).unwrap();
    // With --force the book is added to itself; the old one becomes a backup.
    let again = "build --json -o out.ctg out.ctg games.pgn";
    run.folder.tabia(again).ends(2);
    let object = run.folder.tabia(&format!("{again} --force")).json();
    assert_eq!(json!([object["games"], object["read"]]), json!([4, 2]));
    let kept = run.folder.join("out.ctg.bak");
    assert_eq!(fs::read(kept).unwrap(), before);
}

#[test]
fn a_book_is_a_source_too() {
    let games = random_games(40, 20);
    let (first, second) = games.split_at(25);
    let whole = build(pgn(&games), "").content();
    let part = build(pgn(first), "");
    let book = part.book();
    let book = format!("'{}'", book.display());
    let run = build(pgn(second), &book);
    let sum = run.content();
    let unordered = |content: &Content| -> Content {
        let mut content = content.clone();
        content.values_mut().for_each(|(_, moves)| moves.sort());
        content
    };
    assert_same(&unordered(&sum), &unordered(&whole));
    let left = run.folder.names();
    assert_eq!(left.len(), 4, "games.pgn and the three files of the book");

    let refused = build(pgn(second), &format!("{book} --min-games 2"));
    refused.ran.refused("--min-games");
}

#[test]
fn what_a_book_does_not_have_is_said() {
    let head = "[SetUp \"1\"]\n[FEN \"8/4P1k1/8/8/8/8/8/4K3 w - - 0 1\"]\n\n";
    let messages = build(format!("{head}1. e8=N+ Kf8 *\n"), "--setups").messages();
    assert_has(&messages, "1 game");
    assert_has(&messages, "1 move left out that the format cannot hold");
}

/// Records from part to book: repeated, packed, tested, damaged.
#[test]
fn records_go_wrong_in_no_silence() {
    let folder = Folder::new();
    folder.put("may.pgn", pgn(&random_games(40, 40)));
    folder.put("june.pgn", pgn(&random_games(50, 41)));
    let may = "build --records parts/may.parquet may.pgn --compression";
    fs::create_dir(folder.join("parts")).unwrap();
    folder.tabia(&format!("{may} zstd")).ok();
    folder.tabia(&format!("{may} gzip")).refused("--force");
    folder.tabia(&format!("{may} gzip --force")).ok();
    folder.tabia(&format!("{may} lzo")).refused("snappy");
    folder
        .tabia("build -o x.ctg may.pgn --compression zstd")
        .refused("--compression");
    folder
        .tabia("build --records parts/june.parquet june.pgn")
        .ok();
    // No backup that an engine would read.
    assert_eq!(fs::read_dir(folder.join("parts")).unwrap().count(), 2);
    let ran = folder.tabia("verify parts/may.parquet parts/june.parquet");
    let sum = "2 files of records: 90 games (--max-ply 40)";
    assert_eq!(ran.printed().trim(), sum);
    assert_has(&folder.tabia("build -o sum.ctg parts").ok(), sum);
    folder.tabia("build -o direct.ctg may.pgn june.pgn").ok();
    assert!(files(folder.join("sum.ctg")) == files(folder.join("direct.ctg")));
    // An option without effect, or with half of one, is refused.
    for line in ["-o x.bin may.pgn", "-o x.ctg direct.ctg may.pgn"] {
        folder
            .tabia(&format!("build {line} --scale-counts"))
            .refused("--scale-counts");
    }
    let mut damaged = fs::read(folder.join("parts/may.parquet")).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.put("parts/may.parquet", damaged);
    let verify = "verify parts/may.parquet parts/june.parquet";
    assert_has(&folder.tabia(verify).negative(), "parts/may.parquet");
    folder.tabia(&format!("{verify} --json")).ends(1);
    folder
        .tabia("verify parts/may.parquet sum.ctg")
        .refused("either");
    folder.tabia("build -o no.ctg parts").refused("may.parquet");
    folder
        .tabia("build -o no.ctg parts/june.parquet --max-ply 20")
        .refused("--max-ply 40");
}
