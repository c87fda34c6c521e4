//! `tabia evaluate` with an engine.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A test that fails here shows the line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Folder, Ran, assert_has, example};
use shakmaty::{Chess, Position as _};
use tabia_analysis::graph::BookGraph;
use tabia_book::evals::{self, EvalKey};
use tabia_book::{Book, OpenOptions};
use tabia_io::progress::Watch;

/// A book of random games, and its graph.
fn book(folder: &Path) -> (PathBuf, BookGraph) {
    let (book, _) = crate::common::random_book(12, 10);
    let path = book.write(folder, "book");
    let book = Book::open(&path, &OpenOptions::default()).unwrap();
    let graph = BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {}).unwrap();
    assert!(graph.len() > 60, "{}", graph.len());
    (path, graph)
}

/// Evaluates `book.ctg` with the test engine.
fn evaluate(folder: &Folder, options: &str) -> Command {
    let mut command = folder.command(&format!("evaluate book.ctg {options}"));
    command.arg("--").arg(example("scoring_engine"));
    command.env("SCORING_ENGINE_NOTES", folder.join("book.notes"));
    command
}

/// The lines of a side file; each must have a different position.
fn lines(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let set: BTreeSet<String> = lines.iter().cloned().collect();
    let values = lines.iter().filter_map(|line| evals::epd::read(line).ok());
    let keys: BTreeSet<EvalKey> = values
        .map(|(position, _)| EvalKey::from_position(&position))
        .collect();
    assert_eq!([set.len(), keys.len()], [lines.len(); 2], "{text}");
    set
}

#[test]
fn evaluate_with_invalid_input_leaves_no_file() {
    let folder = Folder::new();
    book(&folder);
    folder
        .tabia("evaluate book.ctg --import missing.epd")
        .refused("missing.epd: ");
    folder
        .tabia("evaluate book.ctg --engine nobody/there")
        .refused("nobody/there");
    // An input that has no content is refused, too.
    folder.put("cut.epd.gz", b"\x1f\x8b\x08");
    folder.put("empty.epd", "");
    fs::create_dir(folder.join("folder")).unwrap();
    for import in ["cut.epd.gz", "empty.epd", "folder", "book.ctg"] {
        folder.tabia(&format!("evaluate book.ctg --import {import}"));
    }
    folder
        .tabia("evaluate book.ctg --import missing.epd -o other.evals")
        .refused("missing.epd: ");
    let names = folder.names();
    let left = names.iter().filter(|name| name.ends_with(".evals"));
    assert_eq!(left.count(), 0, "{names:?}");
}

#[test]
fn values_are_not_carried_from_nothing() {
    let folder = Folder::new();
    book(&folder);
    folder
        .tabia("evaluate book.ctg --carried carried.evals")
        .refused("carried.evals: not written: no position of the book has a value by book.evals");
    assert!(!folder.join("carried.evals").exists());
    assert!(!folder.join("book.evals").exists());
    folder.put("carried.evals", "4k3/8/8/8/8/8/8/4K3 w - - ce 9;\n");
    folder
        .tabia("evaluate book.ctg --carried carried.evals -f")
        .refused("carried.evals: not written");
    assert_has(&folder.text("carried.evals"), "ce 9");
}

#[test]
fn games_and_comments_that_are_not_read_are_named() {
    let folder = Folder::new();
    book(&folder);
    let good = "[Event \"a\"]\n\n1. e4 {[%eval 0.3]} *\n\n";
    let odd = "[Event \"b\"]\n\n1. e4 {[%eval good]} e5 {[%eval bad]} *\n";
    folder.put("a.pgn", format!("{good}{odd}"));
    let set_up = "[Event \"c\"]\n[FEN \"x\"]\n\n1. e4 *\n\n";
    let broken = "[Event \"d\"]\n\n1. e4 {[%eval 0.2]} Ke3 *\n";
    folder.put("b.pgn", format!("{set_up}{broken}"));
    let text = folder.tabia("evaluate book.ctg --import a.pgn b.pgn").err();
    for part in [
        "; 2 comments skipped (",
        "a.pgn: line 5: [%eval good] is not understood)",
        "b.pgn: line 1: game skipped: its set-up position",
        "b.pgn: line 6: game cut short: move 1...",
        "; 1 game skipped; 1 game cut short",
    ] {
        assert_has(&text, part);
    }
}

#[test]
fn a_damaged_first_line_is_one_of_the_lines_that_are_skipped() {
    let folder = Folder::new();
    book(&folder);
    let first = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 20;\n";
    for damaged in [format!("rnbq\u{1}{first}{first}"), format!("x\n{first}")] {
        folder.put("values.epd", damaged);
        let text = folder
            .tabia("evaluate book.ctg -f --import values.epd")
            .err();
        assert_has(&text, "values.epd: 2 lines, 1 evaluations");
        assert_has(&text, "1 lines skipped (line 1");
    }
}

/// As Toga II 3.0 and GNU Chess 6.2 do.
#[test]
fn an_engine_that_ignores_nodes_is_told_at_once_with_what_helps() {
    let folder = Folder::new();
    book(&folder);
    let script = "while read -r line; do
        case $line in
            uci) echo uciok ;;
            isready) echo readyok ;;
            go*) echo info depth 9 score cp 3 nodes 1001000 pv e2e4 ;;
            quit) exit ;;
        esac
    done";
    let mut command = folder.command("evaluate book.ctg --nodes 100");
    command.args(["--", "/bin/sh", "-c", script]);
    let said = Ran::of(&mut command).ends(2);
    assert_has(&said, "1001000 nodes instead of 100");
    assert_has(&said, "--depth");
}

/// The export of lichess has no blanks; most JSON writers insert them.
#[test]
fn files_without_positions_of_the_book_end_with_code_1() {
    let folder = Folder::new();
    book(&folder);
    let line = |fen: &str| {
        format!(
            "{{\"fen\": \"{fen}\", \"evals\": [{{\"pvs\": [{{\"cp\": 18, \"line\": \"e2e4\"}}], \"knodes\": 7, \"depth\": 9}}]}}\n"
        )
    };
    folder.put("other.jsonl", line("8/8/8/3k4/8/8/P7/K7 w - -"));
    let ran = folder.tabia("evaluate book.ctg --import other.jsonl");
    ran.ends_with(1, "1 lines, 0 evaluations of positions of the book");
    assert!(!folder.join("book.evals").exists());
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    folder.put("start.jsonl", line(start));
    let import = "evaluate book.ctg --import other.jsonl start.jsonl";
    let messages = folder.done(import);
    assert_has(
        &messages,
        "1 lines, 1 evaluations of positions of the book, 1 of them new",
    );
    assert_has(&folder.text("book.evals"), "ce 18; acd 9; acn 7000; bm e4;");
    // Existing values are also used.
    assert_has(
        &folder.done(import),
        "1 evaluations of positions of the book, 0 of them new",
    );
}

#[test]
fn positions_limits_all_runs_together() {
    let folder = Folder::new();
    let (path, _) = book(&folder);
    let side = path.with_extension("evals");
    let twenty = "--jobs 1 --positions 20";
    let run = |options: &str, done: &str| {
        Ran::of(&mut evaluate(&folder, options)).ends_with(0, done);
        lines(&side)
    };
    let whole = run(twenty, ": 20 positions evaluated");
    assert_eq!(whole.len(), 20);
    // After an interruption the last of them are missing.
    let text = fs::read_to_string(&side).unwrap();
    let begun: String = text.split_inclusive('\n').take(12).collect();
    fs::write(&side, begun).unwrap();
    assert_eq!(run(twenty, ": 8 positions evaluated"), whole);
    assert_eq!(run(twenty, ": 0 positions evaluated"), whole);
    assert_eq!(
        run("--jobs 1 --positions 25", ": 5 positions evaluated").len(),
        25
    );
}

#[test]
fn evaluate_continues_after_a_kill_at_any_moment() {
    let folder = Folder::new();
    let (path, graph) = book(&folder);
    let side = path.with_extension("evals");
    let mut known = 0;
    let mut kills = 0;
    while known + 12 < graph.len() && kills < 6 {
        let mut run = evaluate(&folder, "--jobs 2");
        // The engines hang before all is done, however late we look.
        run.env("SCORING_ENGINE_HANGS", "7").stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        while lines_so_far(&side) < known + 1 + kills / 2 {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            // Nothing tells that a file has grown.
            std::thread::sleep(Duration::from_millis(3));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = lines_so_far(&side);
        assert!(now > known);
        known = now;
        kills += 1;
    }
    assert!(kills > 3);
    let messages = Ran::of(&mut evaluate(&folder, "--jobs 2")).ok();
    let found = lines(&side);
    assert_eq!(found.len(), graph.len(), "{messages}");
    // Only positions that were being searched are searched again.
    let notes = folder.text("book.notes");
    let searched: BTreeSet<&str> = notes.lines().collect();
    let again = notes.lines().count() - searched.len();
    assert!(again <= 2 * 2 * kills, "{again} of {}", searched.len());
    // The result is the same as in one run.
    Ran::of(&mut evaluate(&folder, "-o whole.evals")).ok();
    assert_eq!(lines(&folder.join("whole.evals")), found);
    // Nothing is left to do.
    let again = Ran::of(&mut evaluate(&folder, ""));
    again.ends_with(0, ": 0 positions evaluated");
}

fn lines_so_far(side: &Path) -> usize {
    let text = fs::read_to_string(side).unwrap_or_default();
    text.matches(";\n").count()
}

#[test]
fn every_position_with_move_values_has_a_value_for_leaving_the_book() {
    let folder = Folder::new();
    let (path, graph) = book(&folder);
    // With one engine: two would write their notes in any order.
    Ran::of(&mut evaluate(&folder, "--jobs 1")).ok();
    let table = evals::read(&path.with_extension("evals")).unwrap().table;
    let leaving = graph.leaving(&table);
    for node in graph.nodes() {
        // If all legal moves are in the book, it has no exit.
        let others = graph.position(node).legal_moves().len() > graph.moves(node).len();
        assert_eq!(leaving[node as usize].is_some(), others, "{node}");
    }
    let start = graph.node(&Chess::default()).unwrap();
    assert!(!graph.leaving_is_unknown(start, &table));
    // The likeliest position comes first.
    let notes = folder.text("book.notes");
    assert!(notes.starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"));
}

#[test]
fn shards_together_evaluate_all_positions() {
    let folder = Folder::new();
    let (path, graph) = book(&folder);
    let mut sum = 0;
    for part in 1..=3 {
        let options = format!("--shard {part}/3 -o {part}.evals");
        Ran::of(&mut evaluate(&folder, &options)).ok();
        let count = lines(&folder.join(format!("{part}.evals"))).len();
        assert!(count > graph.len() / 6);
        sum += count;
    }
    assert_eq!(sum, graph.len());
    folder.done("evaluate book.ctg --import 1.evals 2.evals 3.evals");
    assert_eq!(lines(&path.with_extension("evals")).len(), graph.len());
}

#[test]
fn engines_that_die_or_hang_are_started_again() {
    let folder = Folder::new();
    let (path, graph) = book(&folder);
    for fault in ["DIES", "HANGS"] {
        let mut run = evaluate(&folder, "--patience 5 --jobs 2");
        let text = Ran::of(run.env(format!("SCORING_ENGINE_{fault}"), "40")).ok();
        assert_has(&text, " started again");
        let side = path.with_extension("evals");
        assert_eq!(lines(&side).len(), graph.len(), "{text}");
        fs::remove_file(side).unwrap();
    }
}

#[test]
fn an_engine_that_never_answers_ends_the_evaluation() {
    let folder = Folder::new();
    book(&folder);
    let mut run = evaluate(&folder, "--jobs 1");
    Ran::of(run.env("SCORING_ENGINE_DIES", "1")).refused("the engine ended");
}
