//! `tabia suite`: makes, checks and reports on suites.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Folder, SMALL, assert_has};
use serde_json::json;

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn game(tags: &str, moves: &str) -> String {
    format!("[White \"a\"]\n[Black \"b\"]\n{tags}[Result \"1-0\"]\n\n{moves} 1-0\n\n")
}

/// A folder with two files of games.
fn games() -> Folder {
    let folder = Folder::new();
    let lines = [
        "1. e4 e5 2. Nf3 Nc6",
        "1. Nf3 Nc6 2. e4 e5",
        "1. d4 d5 2. c4 e6",
        "1. e4 c5",
    ];
    let one: String = lines.iter().map(|line| game("", line)).collect();
    folder.put("one.pgn", one);
    let two = game("", "1. e4 e5 2. Nf3 Nc6 3. Bb5") + &game("", "1. c4 e5 2. Nc3 Nf6");
    folder.put("two.pgn", two);
    folder
}

const SPANISH: &str = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";

#[test]
fn each_position_of_the_games_is_in_the_suite_once() {
    let at = games();
    let messages = at.done("suite one.pgn two.pgn -o a.epd --plies 4");
    assert!(
        messages.contains("2 duplicates removed") && messages.contains("1 end before that ply"),
        "{messages}"
    );
    assert!(messages.contains("fastchess -openings file=a.epd format=epd order=random -srand 1"));
    let text = at.text("a.epd");
    assert_eq!(text.lines().count(), 3);
    assert!(text.lines().any(|line| line == SPANISH), "{text}");
    // The most popular line to the position.
    at.done("suite one.pgn two.pgn -o a.pgn --plies 4 --count 1");
    let pgn = at.text("a.pgn");
    assert!(
        pgn.contains("[Event \"Tabia suite\"]") && pgn.contains("1. e4 e5 2. Nf3 Nc6 *"),
        "{pgn}"
    );
    assert_has(&pgn, "[ECO \"C44\"]");
    at.done("suite one.pgn two.pgn -o b.epd --plies 4 --min-games 3");
    assert_eq!(at.text("b.epd"), format!("{SPANISH}\n"));
    for (counters, line) in [("epd", "- hmvc 2; fmvn 3;\n"), ("none", "KQkq -\n")] {
        at.done(&format!("suite b.epd -o c.epd -f --counters {counters}"));
        assert!(at.text("c.epd").ends_with(line));
    }
}

#[test]
fn neither_threads_nor_the_order_of_sources_matter() {
    let at = games();
    for order in ["random", "popular"] {
        let run = |out: &str, more: &str| {
            let range = "--min-plies 1 --max-plies 4";
            at.done(&format!("suite -fo {out} {range} --order {order} {more}"));
            at.text(out)
        };
        let one = run("1.epd", "one.pgn two.pgn --threads 1");
        let two = run("2.epd", "two.pgn one.pgn --threads 4");
        assert_eq!(one, two);
        assert_eq!(one, run("3.epd", "one.pgn two.pgn --memory 1M"));
        let other = run("4.epd", "one.pgn two.pgn --seed 2");
        assert_eq!(sorted(&one), sorted(&other));
        assert_ne!(one, other);
    }
}

#[test]
fn an_empty_suite_names_the_filter_that_left_nothing() {
    let at = games();
    at.tabia("suite one.pgn -o a.epd --plies 4 --queens none")
        .refused("--queens rejected most of them (3)");
    assert!(!at.join("a.epd").exists());
    let output = at.tabia("suite one.pgn -o a.epd --eval 1..2");
    assert!(output.err().contains("--eval-file FILE or --engine NAME"));
}

#[test]
fn eval_windows_use_values_of_files() {
    let at = games();
    // Black to move: +100 for Black in one, for White in the other.
    let evals = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce 100; acd 9;\n\
        rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - ce -100; acd 9;\n\
        rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - ce 32760; acd 9;\n";
    at.put("values.epd", evals);
    let run = |more: &str| {
        let base = "suite one.pgn two.pgn -o a.epd -f --plies 1 --eval-file values.epd";
        at.done(&format!("{base} {more}"));
        let text = at.text("a.epd");
        let pawns = ["4P3", "3P4", "2P5"]
            .into_iter()
            .filter(|pawn| text.contains(pawn));
        pawns.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(run("--eval 90..119"), "4P3 3P4");
    assert_eq!(run("--eval 90..119 --view mover"), "4P3");
    assert_eq!(run("--eval 90..119 --view white"), "3P4");
    assert_eq!(run("--win 48..52"), "4P3 3P4");
    assert_eq!(run("--eval 90.. --drop-mates=no"), "4P3 3P4 2P5");
    assert_eq!(run("--eval 90..119 --view mover --ops"), "4P3");
    assert!(
        at.text("a.epd")
            .ends_with("hmvc 0; fmvn 1; ce 100; acd 9; id \"a.1\";\n")
    );
}

#[test]
fn an_interrupted_evaluation_by_an_engine_continues() {
    let at = games();
    let evaluate = "suite one.pgn two.pgn -o a.epd -f --plies 1 --eval 0..2000 \
        --engine builtin --nodes 2000 --save-evals found.epd";
    let messages = at.done(evaluate);
    assert_has(&messages, "0 from files, 4 from the engine");
    let (suite, saved) = (at.text("a.epd"), at.text("found.epd"));
    assert_eq!(saved.lines().count(), 4);
    // Half of it was lost.
    let half: Vec<&str> = saved.lines().take(2).collect();
    at.put("found.epd", format!("{}\nrnbq", half.join("\n")));
    let messages = at.done(evaluate);
    assert_has(&messages, "0 from files, 2 from the engine");
    assert_eq!(at.text("a.epd"), suite);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_values_that_were_found() {
    use rustix::process::{Pid, Signal, kill_process};
    let at = Folder::new();
    let pawns = ('a'..='h').flat_map(|file| [3, 4].map(|rank| format!("{file}{rank}")));
    let games = pawns.flat_map(|mv| ["e5", "d5"].map(|reply| format!("1. {mv} {reply}")));
    at.put(
        "games.pgn",
        games.map(|moves| game("", &moves)).collect::<String>(),
    );
    // Long enough to be interrupted, however late we look.
    let evaluate = "suite games.pgn -o a.epd --plies 2 --eval 0..2000 --engine builtin \
        --nodes 100000 --jobs 1 --save-evals found.epd";
    let found = || match fs::read_to_string(at.join("found.epd")) {
        Ok(text) => text.matches(";\n").count(),
        Err(_) => 0,
    };
    let mut command = at.command(evaluate);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    while found() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        // Nothing tells that a file has grown.
        std::thread::sleep(Duration::from_millis(3));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_has(
        &messages,
        "interrupted; the values found so far are in found.epd",
    );
    assert!(!at.join("a.epd").exists());
    let left = 32 - found();
    let messages = at.done(evaluate);
    assert_has(&messages, &format!("0 from files, {left} from the engine"));
    assert_eq!(found(), 32);
}

/// Values of 7 nodes in a file count as a first search; the engine's own values differ.
#[test]
fn chosen_positions_are_searched_again_and_failing_ones_replaced() {
    let at = Folder::new();
    let boards = [
        ("e4", "4P3/8/PPPP1PPP"),
        ("d4", "3P4/8/PPP1PPPP"),
        ("c4", "2P5/8/PP1PPPPP"),
        ("a3", "8/P7/1PPPPPPP"),
        ("h3", "8/7P/PPPPPPP1"),
        ("f3", "8/5P2/PPPPP1PP"),
    ];
    let mut games = String::new();
    let mut values = String::new();
    for (number, (mv, rows)) in boards.iter().enumerate() {
        // The first are the most popular.
        games.push_str(&game("", &format!("1. {mv} e5")).repeat(6 - number));
        let fen = format!("rnbqkbnr/pppppppp/8/8/{rows}/RNBQKBNR b KQkq -");
        // f3 is outside at once; d4 was searched deeply, by which it is inside.
        let value = match *mv {
            "f3" => "ce 500; acd 1; acn 7",
            "d4" => "ce 2; acd 30; acn 5000000",
            _ => "ce 1; acd 1; acn 7",
        };
        values.push_str(&format!("{fen} {value};\n"));
    }
    at.put("games.pgn", games);
    at.put("values.epd", values);
    let suite = |more: &str| {
        let base = "suite games.pgn -f --plies 1 --order popular --eval-file values.epd";
        at.tabia(&format!("{base} --engine builtin --nodes 500 {more}"))
    };
    // Positions with a suitable value get a deeper search of this many nodes.
    let all = suite("-o all.epd --ops --confirm-nodes 3000 --eval 0..400 --json");
    let report = all.json();
    assert_eq!(
        report["confirmation"],
        json!({"nodes": 3000, "margin": 0.2, "screened": 4, "stayed": 4, "share": 1.0, "known": 1})
    );
    let text = at.text("all.epd");
    assert_eq!(text.lines().count(), 5);
    let value_of = |rows: &str| -> i32 {
        let line = text.lines().find(|line| line.contains(rows)).unwrap();
        let (_, ce) = line.split_once(" ce ").unwrap();
        ce.split(';').next().unwrap().parse().unwrap()
    };
    assert_eq!(value_of(boards[1].1), 2);
    let searched = [0, 2, 3, 4].map(|n| value_of(boards[n].1));
    assert!(text.lines().all(|line| line.contains("acn ")), "{text}");
    // A range that the first one, the most popular, is outside of, others inside.
    let most = searched[0].abs() - 1;
    let band = format!("--confirm-margin 0 --eval 0..{most}");
    let staying = searched.iter().filter(|cp| cp.abs() <= most).count();
    assert!(most >= 2 && staying > 0, "{searched:?}");
    let found = suite(&format!("-o few.epd --confirm-nodes 3000 {band}"));
    let messages = found.ok();
    let share = staying as f64 / 4.0 * 100.0;
    assert_has(
        &messages,
        &format!(
            "searched again for 3000 nodes, margin 0 %: {staying} of 4 stayed ({share:.1} %); 1 had"
        ),
    );
    assert_has(&messages, "outside when searched again (--confirm-nodes)");
    assert_eq!(at.text("few.epd").lines().count(), staying + 1);
    // Removed positions are replaced by the next ones, while there are any; else a
    // message says so. The bytes are the same with any number of engines.
    let count = staying + 1;
    for jobs in [1, 3] {
        let options = format!("-o n.epd --confirm-nodes 3000 {band} --jobs {jobs}");
        let messages = suite(&format!("{options} --count {count}")).ok();
        assert!(!messages.contains("only"), "{messages}");
        assert_eq!(at.text("n.epd"), at.text("few.epd"));
        let messages = suite(&format!("{options} --count 6")).ok();
        let only = format!("only {count} of the 6 positions of --count");
        assert_has(&messages, &only);
        assert_eq!(at.text("n.epd"), at.text("few.epd"));
    }
    // Saved values are used again, unless the engine searched fewer nodes.
    let saved = format!("-o s.epd --confirm-nodes 3000 {band} --save-evals saved.epd --json");
    let numbers = || {
        let report = suite(&saved).json();
        assert_eq!(at.text("s.epd"), at.text("few.epd"));
        let number = |name: &str| report["confirmation"][name].as_u64().unwrap();
        (number("screened"), number("known"))
    };
    assert_eq!(numbers(), (4, 1));
    assert_eq!(at.text("saved.epd").lines().count(), 4);
    let (screened, known) = numbers();
    assert!(screened < 4 && known > 1, "{screened} {known}");
    // By default a value has to be inside the limits by a fifth of the width.
    suite(&format!(
        "-o m.epd --ops --confirm-nodes 3000 --eval 0..{}",
        most + 1
    ))
    .ok();
    let text = at.text("m.epd");
    let inside = |cp: &&i32| f64::from(cp.abs()) <= 0.8 * f64::from(most + 1);
    let expected = searched.iter().chain([&2]).filter(inside).count();
    assert!(expected < staying + 2, "{searched:?}");
    assert_eq!(text.lines().count(), expected, "{text}");
    suite("-o x.epd --confirm-nodes 500 --eval 0..9").refused("is not more than --nodes 500");
}

#[test]
fn with_better_black_only_such_positions_are_chosen() {
    let at = games();
    let evals = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce 100; acd 9;\n\
        rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - ce -100; acd 9;\n";
    at.put("values.epd", evals);
    for (side, pawn) in [("black", "4P3"), ("white", "3P4")] {
        let window = format!("--plies 1 --eval-file values.epd --eval 80..120 --better {side}");
        let messages = at.done(&format!("suite one.pgn two.pgn -o a.epd -f {window}"));
        let text = at.text("a.epd");
        assert!(text.lines().count() == 1 && text.contains(pawn), "{text}");
        assert_has(&messages, "1 the other side better (--better)");
    }
    at.tabia("suite one.pgn -o b.epd --better black")
        .refused("--better need values");
}

#[test]
fn every_filter_is_reported_by_its_option() {
    let at = games();
    let messages =
        at.done("suite one.pgn two.pgn -o a.epd --min-plies 3 --max-plies 4 --max-per-line 1 --line-plies 2");
    assert_has(&messages, "more of a line (--max-per-line)");
    assert_has(&messages, "duplicates removed (--unique)");
    let messages = at.done("suite one.pgn two.pgn -o b.epd --plies 4 --count 1");
    // The number does not depend on how many searches ran when there were enough.
    assert_has(&messages, "1 left: 2 more than --count");
}

#[test]
fn suites_from_books_have_positions_of_both_colours_or_exits() {
    let at = Folder::new();
    // With colours exchanged these are one position in a .ctg.
    let text = game("", "1. e3 e5 2. e4") + &game("", "1. e4 e5");
    at.put("games.pgn", text);
    at.done("build games.pgn -o book.ctg");
    at.done("convert book.ctg book.jsonl");
    for book in ["book.ctg", "book.jsonl"] {
        let range = "--min-plies 2 --max-plies 3 --by games -f";
        at.done(&format!("suite {book} -o a.epd {range}"));
        let text = at.text("a.epd");
        let both = sorted(&text);
        let board = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
        for side in ["w", "b"] {
            assert_has(&text, &format!("{board} {side}"));
        }
        at.done(&format!("suite {book} -o m.epd --unique mirror {range}"));
        assert_eq!(at.text("m.epd").lines().count(), both.len() - 1);
        let ends = "--exit --by games -f --order popular";
        at.done(&format!("suite {book} -o x.pgn {ends}"));
        assert_has(&at.text("x.pgn"), "1. e4 e5 *");
    }
}

#[test]
fn a_suite_of_all_replies_has_its_entry_and_its_archive() {
    let at = Folder::new();
    // All first moves of White and all replies.
    let mut lines = String::new();
    let moves = |ranks: [char; 2], knights: &str| -> Vec<String> {
        let pawns = ('a'..='h').flat_map(|file| ranks.map(|rank| format!("{file}{rank}")));
        pawns.chain(knights.split(' ').map(str::to_owned)).collect()
    };
    for one in moves(['3', '4'], "Na3 Nc3 Nf3 Nh3") {
        for two in moves(['6', '5'], "Na6 Nc6 Nf6 Nh6") {
            lines.push_str(&game("", &format!("1. {one} {two}")));
        }
    }
    at.put("all.pgn", lines);
    let suite = "suite all.pgn -o 1moves.epd --plies 2 --order popular --zip";
    at.done(&format!("{suite} --metadata books.json --openbench ."));
    let text = at.text("1moves.epd");
    assert_eq!(text.lines().count(), 400);
    let books: serde_json::Value = serde_json::from_str(&at.text("books.json")).unwrap();
    let row = &books["1moves.epd"];
    assert_eq!(row["total"], 400);
    assert_eq!(json!([row["min_depth"], row["max_depth"]]), json!([2, 2]));
    let report = at.tabia("suite check 1moves.epd --json").json();
    assert_eq!(&report["metadata"], row);
    let first = fs::read(at.join("1moves.epd.zip")).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&first)).unwrap();
    assert_eq!(archive.len(), 1);
    let mut entry = archive.by_index(0).unwrap();
    assert_eq!(entry.name().unwrap(), "1moves.epd");
    assert_eq!(std::io::read_to_string(&mut entry).unwrap(), text);
    drop(entry);
    at.done(&format!("{suite} -f"));
    assert_eq!(fs::read(at.join("1moves.epd.zip")).unwrap(), first);
    assert!(at.text("1moves.epd.json").contains("\"sha\": \""));
}

/// If one output cannot be written, none is.
#[cfg(target_os = "linux")]
#[test]
fn a_suite_is_not_left_without_the_files_beside_it() {
    let at = games();
    let old = at.names();
    // Nobody may make files there, and the check before the work cannot tell.
    let suite = "suite one.pgn -o a.epd --plies 4 --zip --metadata books.json --openbench /proc";
    at.tabia(suite)
        .refused("/proc/a.epd.json: cannot be written");
    assert_eq!(at.names(), old);
}

#[test]
fn faults_are_found_and_matches_reported() {
    let at = Folder::new();
    let lines = format!("{SPANISH}\n# comment\n{SPANISH}\n");
    at.put("bad.epd", lines);
    let output = at.tabia("suite check bad.epd");
    output.ends(1);
    let printed = output.out();
    assert_has(
        &printed,
        "bad.epd: 2: not a position: fastchess ends the match",
    );
    assert_has(
        &printed,
        "bad.epd: 3: a position that occurred before: as 1",
    );
    // Two openings, three pairs: one opening occurs twice.
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    at.put("suite.epd", format!("{SPANISH}\n{start}\n"));
    let mut games = String::new();
    for fen in [SPANISH, start, SPANISH] {
        for (white, black, result) in [("x", "y", "1-0"), ("y", "x", "1/2-1/2")] {
            games.push_str(&format!(
                "[White \"{white}\"]\n[Black \"{black}\"]\n[FEN \"{fen}\"]\n[SetUp \"1\"]\n\
                 [Result \"{result}\"]\n\n1. d4 {result}\n\n"
            ));
        }
    }
    games.push_str(
        "[White \"x\"]\n[FEN \"8/8/4k3/8/8/4K3/4P3/8 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. Kd4 1-0\n",
    );
    at.put("games.pgn", games);
    let report = at.tabia("suite match games.pgn suite.epd --json").json();
    assert_eq!(
        report["players"][0]["pairs"]["pentanomial"],
        json!([0, 0, 0, 3, 0])
    );
    assert_eq!(
        json!([report["repeated"], report["elsewhere"]]),
        json!([1, 1])
    );
    let printed = at.tabia("suite match games.pgn suite.epd").out();
    assert_has(&printed, "x against y: 3 pairs, 0/0/0/3/0");
}

#[test]
fn a_review_counts_results_for_the_player() {
    let at = Folder::new();
    at.put(
        "lines.pgn",
        game("", "1. e4 e5 2. Nf3 Nc6") + &game("", "1. d4 d5"),
    );
    at.done("build lines.pgn -o book.ctg");
    let played = |white: &str, black: &str, result: &str, moves: &str| {
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
    };
    let games = [
        // The book ends; Black's engine has to move.
        played(
            "Bot",
            "x",
            "0-1",
            "1. e4 {book} e5 {+0.10/9 1s} 2. Nf3 {book} Nc6 {0.00/9 1s} 3. Bb5 {-0.60/12 1.5s} a6 {+0.70/10 1s}",
        ),
        // The opponent leaves the book; the bot is Black.
        played(
            "x",
            "Bot",
            "1-0",
            "1. d4 {book} d5 {book} 2. c4 {+0.30/9 1s} dxc4 {-1.20/8 0.2s, n=5}",
        ),
        played("x", "Bot", "1/2-1/2", "1. d4 f5 {-M4/9 1s}"),
        played("x", "y", "1-0", "1. h4"),
    ];
    at.put("games.pgn", games.concat());
    let review = "review games.pgn --book book.ctg --player";
    let report = at.tabia(&format!("{review} bot --json")).json();
    let number = |name: &str| report[name].as_i64().unwrap();
    let results = ["games", "wins", "draws", "losses", "others"].map(number);
    assert_eq!(results, [3, 0, 1, 2, 1]);
    let left = ["ended", "left_by_player", "left_by_opponent", "to_the_end"].map(number);
    assert_eq!(left, [2, 1, 0, 0]);
    assert_eq!(report["values"]["count"], 3);
    assert_eq!(
        report["values"]["percentiles"],
        json!([-1000, -120, -120, -60, -60])
    );
    assert_eq!(report["losing"].as_array().unwrap().len(), 2);
    let printed = at.tabia(&format!("{review} bot")).out();
    assert_has(
        &printed,
        "1. e4 e5 2. Nf3 Nc6: 1 game, +0 =0 -1 0.0 % (too few games to tell), first value -0.60",
    );
    // The review, and its next steps: every printed command works.
    let values = format!("{review} bot --save-evals first.epd");
    let messages = at.done(&format!("{values} --report r.html"));
    assert_eq!(messages, "");
    let page = at.text("r.html");
    for part in [
        "<svg",
        "<td class=d>",
        "Plies in the book",
        "1. e4 e5 2. Nf3 Nc6",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_has(&at.text("first.epd"), "- ce -60; acd 12; c0 \"Bot\";");
    let printed = at.tabia(&format!("{values} -f")).out();
    let (_, next) = printed.split_once("next:\n").unwrap();
    let lines: Vec<&str> = next.split("  tabia ").skip(1).map(str::trim).collect();
    assert_eq!(lines[0], "learn book.ctg games.pgn --player bot --dry-run");
    assert!(at.done(lines[0]).contains("games"), "{next}");
    at.done(lines[1]);
    assert!(at.text("book.evals").contains("ce -60;"));
    at.tabia(lines[2]).ends(1);
    assert!(at.text("audit.html").contains("-0.60"));
    at.tabia(&format!("{review} nobody")).ends(2);
    // Without values there is no message about them.
    at.put(
        "games.pgn",
        played("Bot", "x", "1-0", "1. e4 e5 2. Nf3 Nc6 3. Bb5"),
    );
    let report = at.tabia(&format!("{review} bot --json")).json();
    assert_eq!(
        json!([report["values"], report["below"]]),
        json!([null, null])
    );
    assert_eq!(report["plies"]["count"], 1);
}

/// `make` may be left out, and the options of before go on working.
#[test]
fn make_check_and_match_are_commands_of_suite() {
    let folder = Folder::with(SMALL);
    folder.done("suite make book.ctg -o a.epd");
    folder.done("suite book.ctg -o b.epd");
    assert_eq!(folder.text("a.epd"), folder.text("b.epd"));
    let [word, option] =
        ["check a.epd", "a.epd --check"].map(|line| folder.tabia(&format!("suite {line}")).out());
    assert!(!word.is_empty() && word == option);
    let hint = folder.tabia("suite --check a.epd").err();
    assert!(hint.contains("`tabia suite check SUITE...`"), "{hint}");
    for line in [
        "--match games.pgn a.epd",
        "a.epd --match games.pgn",
        "a.epd --match=games.pgn",
    ] {
        folder.tabia(&format!("suite {line}")).refused("games.pgn");
    }
    let help = folder.tabia("suite --help").out();
    for line in ["  check  Reports on suites", "  match  Reports on a match"] {
        assert!(help.contains(line), "{help}");
    }
    // An option without effect is an error.
    folder.tabia("suite check a.epd --seed 2").refused("--seed");
    for (line, tip) in [
        ("suite chek a.epd", "tip: tabia suite check a.epd\n"),
        ("suite check", "for example: tabia suite check suite.epd\n"),
        (
            "suite match",
            "for example: tabia suite match games.pgn suite.epd\n",
        ),
    ] {
        folder.tabia(line).refused(tip.trim_end());
    }
    let refused = folder.tabia("suite match games.pgn a.epd");
    refused.refused("games.pgn");
    // A file of that name is a source.
    folder.put(
        "make",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n",
    );
    folder.tabia("suite make").refused("--output");
}

#[test]
fn a_suite_without_positions_is_refused() {
    let folder = Folder::new();
    for (name, why) in [
        ("none.epd", "no position in it"),
        ("none.pgn", "no games in it"),
    ] {
        folder.put(name, "\n");
        folder.tabia(&format!("suite check {name}")).refused(why);
    }
}
