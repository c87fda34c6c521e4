//! `tabia convert`: a book can be built again from its games.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use shakmaty::{Chess, Position as _};
use tabia_book::convert::{Comments, ConvertJob, PgnOptions, run};
use tabia_book::walk::Order;
use tabia_book::{Book, OpenOptions, Probe as _, polyglot};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line, Results};

use crate::common::{Folder, STARTER, assert_has, open, project};

/// The moves of the main lines of a PGN text.
fn main_lines(text: &str) -> Vec<Vec<String>> {
    let mut games = Vec::new();
    for game in text.split("[Event ").skip(1) {
        let moves = game.split("\n\n").nth(1).unwrap();
        let (mut depth, mut comment) = (0, false);
        let mut line = Vec::new();
        let spaced = moves
            .replace('(', " ( ")
            .replace(')', " ) ")
            .replace('{', " { ")
            .replace('}', " } ");
        for token in spaced.split_whitespace() {
            match token {
                "{" => comment = true,
                "}" => comment = false,
                _ if comment => {}
                "(" => depth += 1,
                ")" => depth -= 1,
                "*" => {}
                _ if depth > 0 || token.starts_with('$') || token.ends_with('.') => {}
                san => line.push(san.to_owned()),
            }
        }
        assert_eq!(depth, 0);
        games.push(line);
    }
    games
}

#[test]
fn games_of_a_book_hold_every_move_once_and_build_into_a_book_again() {
    let folder = Folder::new();
    let target = folder.join("x.pgn");
    for game_moves in [1, 200, u32::MAX] {
        let pgn = PgnOptions::default()
            .plies(14)
            .min_games(20)
            .game_moves(game_moves)
            .comments(match game_moves {
                1 => Comments::None,
                _ => Comments::Full,
            });
        let job = ConvertJob::new(STARTER.into(), target.clone())
            .pgn(pgn)
            .old(Previous::Replace);
        let done = run(&job, &mut Watch::default()).unwrap();
        assert!(done.moves > 200, "{done:?}");
        let text = fs::read_to_string(&target).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        assert_eq!(
            text.contains('{'),
            game_moves != 1
                || done
                    .notes
                    .iter()
                    .any(|note| note.contains("transpositions"))
        );
        let lines = main_lines(&text);
        assert_eq!(lines.len() as u64, done.games);
        if game_moves == u32::MAX {
            assert_eq!(lines.len(), 1);
        }
        let built = folder.join("built.ctg");
        let sources = vec![tabia_build::Source::new(target.clone())];
        let mut job = tabia_build::BuildJob::new(sources, built.clone());
        job.old = Previous::Replace;
        let summary = tabia_build::run(&job, &mut Watch::default()).unwrap();
        assert_eq!((summary.games, summary.tally.skipped), (done.games, 0));
        let book = open(&built);
        for line in lines {
            let mut position = Chess::default();
            for san in line {
                let san: shakmaty::san::SanPlus = san.parse().unwrap();
                position.play_unchecked(san.san.to_move(&position).unwrap());
                assert!(book.contains(&position).unwrap());
            }
        }
    }
}

/// The moves of a book by the key of their position, with their results.
type Moves = BTreeMap<u64, BTreeMap<String, Results>>;

fn moves(path: &str) -> Moves {
    let book = Book::open(path, &OpenOptions::default()).unwrap();
    let mut all = Moves::new();
    for here in book.walk(Order::Breadth).map(Result::unwrap) {
        let stored = here
            .lookup
            .moves
            .iter()
            .filter(|known| !known.transposition);
        let stored = stored.map(|known| {
            let san = notation::san(&here.position, known.mv);
            (san, known.stats().results())
        });
        all.insert(polyglot::key(&here.position), stored.collect());
    }
    all
}

/// Every move of a position that lines lead to is in a line, and so in the book that is
/// made of the lines, or in the report with a reason that its numbers confirm.
#[test]
fn a_book_made_of_the_lines_has_the_moves_that_were_taken() {
    let folder = Folder::new();
    let options = "--lines --report not.csv --max-ply 12 --min-games 5";
    let starter = project(STARTER);
    let starter = starter.to_str().unwrap();
    let said = folder.tabia(&format!("convert '{starter}' lines.pgn {options}"));
    let said = said.ok();
    folder.done("build -o again.ctg --max-ply 400 lines.pgn");
    let (source, again) = (
        moves(starter),
        moves(folder.join("again.ctg").to_str().unwrap()),
    );
    let mut refused: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let text = folder.text("not.csv");
    let mut rows = text.lines();
    assert_eq!(rows.next(), Some("line,move,games,score,low,high,reason"));
    for row in rows {
        let (row, reason) = row.split_once(",\"").unwrap();
        let [line, san, games, _, low, high] = *row.split(',').collect::<Vec<_>>() else {
            panic!("{row}");
        };
        let at = Line::read("", line).unwrap();
        let key = polyglot::key(at.last());
        assert!(
            refused.entry(key).or_default().insert(san.to_owned()),
            "{row}"
        );
        if let Some(interval) = source[&key][san].interval() {
            assert_eq!(
                [low, high],
                interval.map(|end| format!("{end:.3}")),
                "{row}"
            );
        }
        let (kind, is_so) = match reason.split_once(" %") {
            Some((best, _)) => {
                let (best, least) = best.rsplit_once(": at least ").unwrap();
                let best = best.strip_prefix("clearly worse than ").unwrap();
                let [low, _] = source[&key][best].interval().unwrap();
                let is_taken = again[&key].contains_key(best);
                let is_worse = high.parse::<f64>().unwrap() <= low + 0.001;
                let is_said = format!("{:.1}", 100.0 * low) == least;
                (
                    "clearly worse than the best",
                    is_taken && is_worse && is_said,
                )
            }
            None if reason == "fewer than 5 games\"" => {
                ("too few games", games.parse::<u32>().unwrap() < 5)
            }
            None if reason == "after 12 plies\"" => ("line too long", at.plies() == 12),
            None => (reason.trim_end_matches('"'), true),
        };
        assert!(is_so, "{row} {reason}");
        *kinds.entry(kind).or_default() += 1;
    }
    assert!(kinds.len() > 3, "{kinds:?}");
    for (kind, count) in &kinds {
        let note = match count {
            1 => format!("1 move not taken: {kind}"),
            _ => format!("{count} moves not taken: {kind}"),
        };
        assert!(said.contains(&note), "{note}: {said}");
    }
    let mut taken = 0;
    for (key, moves) in &again {
        let of_source = source.get(key).into_iter().flat_map(BTreeMap::keys);
        let of_source: BTreeSet<&String> = of_source.collect();
        let none = BTreeSet::new();
        let refused = refused.get(key).unwrap_or(&none);
        assert!(moves.keys().all(|san| !refused.contains(san)));
        let both: BTreeSet<&String> = moves.keys().chain(refused).collect();
        assert_eq!(both, of_source, "{key:x}");
        // None of them is certainly worse than another one.
        let intervals = moves.keys().filter_map(|san| source[key][san].interval());
        let most = intervals.clone().map(|[low, _]| low).fold(0.0, f64::max);
        assert!(intervals.clone().all(|[_, high]| high >= most));
        taken += moves.len();
    }
    assert!(taken > 100, "{taken}");
    // The text has lines without variations and comments.
    let text = folder.text("lines.pgn");
    assert!(!text.contains(['(', '{']));
}

/// The bound, by figures calculated elsewhere (statsmodels, `proportion_confint`).
#[test]
fn lines_have_the_moves_that_may_be_as_good_as_the_best() {
    let folder = Folder::new();
    let mut games = String::new();
    for (mv, won, lost) in [("e4", 60, 40), ("d4", 30, 70), ("c4", 9, 11), ("b3", 2, 0)] {
        for (result, count) in [("1-0", won), ("0-1", lost)] {
            for number in 0..count {
                games +=
                    &format!("[White \"{number}\"]\n[Result \"{result}\"]\n\n1.{mv} {result}\n\n");
            }
        }
    }
    folder.put("games.pgn", games);
    folder.done("build -o a.ctg games.pgn");
    let said = folder.tabia("convert a.ctg lines.pgn --lines --report not.csv");
    let said = said.ok();
    assert!(said.contains("2 games, "), "{said}");
    let text = folder.text("not.csv");
    let mut rows: Vec<&str> = text.lines().skip(1).collect();
    rows.sort_unstable();
    let expected = [
        ",b3,2,1.000,0.342,1.000,\"fewer than 10 games\"",
        ",d4,100,0.300,0.219,0.396,\"clearly worse than e4: at least 50.2 %\"",
    ];
    assert_eq!(rows, expected);
    for (options, why) in [
        ("a.ctg x.ctg --lines", "--lines is only for .pgn"),
        ("a.bin x.pgn --lines", "has no results of games"),
        ("a.ctg x.pgn --lines --comments none", "cannot be used with"),
        ("a.ctg x.pgn --report x.csv", "--lines"),
        (
            "a.ctg x.pgn --lines --report not.csv",
            "not.csv: already exists",
        ),
    ] {
        if options.starts_with("a.bin") {
            folder.done("convert a.ctg a.bin");
        }
        folder.tabia(&format!("convert {options}")).refused(why);
        assert!(!folder.join("x.pgn").exists());
    }
}

/// An option acts, so that the file differs from the one without it, or is refused.
#[test]
fn every_option_of_convert_acts_on_a_target_or_is_refused() {
    let folder = Folder::new();
    let mut games = String::new();
    for (moves, count) in [("e4 e5 2.Nf3 Nc6", 7), ("e4 c5 2.Nf3 d6", 4), ("a4 a5", 1)] {
        for n in 0..count {
            let result = ["1-0", "0-1", "1/2-1/2"][n % 3];
            games += &format!("[White \"{n}\"]\n[Result \"{result}\"]\n\n1.{moves} {result}\n\n");
        }
    }
    folder.put("games.pgn", games);
    folder.done("build -o a.ctg games.pgn");
    folder.done("mark a.ctg --move a4 avoid");
    let with = |target: &str, option: &str| {
        let path = folder.join(format!("x.{target}"));
        let _ = fs::remove_file(&path);
        let done = folder.tabia(&format!("convert a.ctg x.{target} {option}"));
        (done, fs::read(path).ok())
    };
    let options = [
        ("--weights games", "bin"),
        ("--all", "bin"),
        ("--keep-never", "bin"),
        ("--set 'Book Minimum Games=5'", "bin abk csv pgn"),
        ("--max-ply 1", "bin abk jsonl pgn csv"),
        ("--min-games 5", "bin abk jsonl pgn csv"),
        ("--lines", "pgn"),
        ("--game-moves 2", "pgn"),
        ("--comments short", "pgn"),
        ("--bare", "pgn"),
    ];
    for target in ["bin", "abk", "jsonl", "pgn", "csv"] {
        let (plain, without) = with(target, "");
        plain.ok();
        for (option, targets) in options {
            let (done, made) = with(target, option);
            if targets.split(' ').any(|one| one == target) {
                done.ok();
                assert_ne!(made, without, "{option} .{target}");
            } else {
                let name = option.split(' ').next().unwrap();
                done.refused(&format!("{name} is only for ."));
                assert_eq!(made, None, "{option} .{target}");
            }
        }
    }
    folder
        .tabia("convert a.ctg y.abk --memory 64M")
        .refused("--memory is only for .ctg, .bin");
    // The list above has every option that is not for all targets.
    let help = folder.tabia("convert --help").printed();
    let general = [
        "--output", "--set", "--report", "--memory", "--strict", "--force", "--help", "--plies",
        "--silent",
    ];
    for word in help.split(|c: char| c.is_whitespace() || ",[]:".contains(c)) {
        let known = |word: &str| options.iter().any(|(option, _)| option.starts_with(word));
        if word.starts_with("--") && word.len() > 2 {
            assert!(
                general.contains(&word) || known(word),
                "{word} is not tried"
            );
        }
    }
}

/// A book without moves that are too deep or too rare is the one that `prune` makes, in every
/// format; a book of games in another format is the one that is built and converted.
#[test]
fn limits_of_a_conversion_are_those_of_prune() {
    let folder = Folder::with(STARTER);
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    folder.done("convert book.ctg all.jsonl");
    let limits = "--max-ply 5 --min-games 900";
    folder.done(&format!("prune book.ctg -o pruned.ctg {limits}"));
    for end in ["bin", "abk", "csv", "jsonl", "ctg"] {
        if end != "ctg" {
            folder.done(&format!("convert pruned.ctg pruned.{end}"));
        }
        for from in ["book.ctg", "all.jsonl"] {
            let said = folder.done(&format!("convert {from} small.{end} {limits} -f"));
            assert_has(&said, "moves left out by --max-ply or --min-games");
            assert!(
                read(&format!("small.{end}")) == read(&format!("pruned.{end}")),
                "{end}"
            );
        }
    }
    folder
        .tabia("convert pruned.bin x.ctg --max-ply 3")
        .refused("pruned.bin: --max-ply is only for .ctg and .jsonl, or to .pgn");
    let left = folder
        .names()
        .into_iter()
        .filter(|name| name.starts_with('.'));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_book_of_games_may_be_of_any_format_that_is_written() {
    let folder = Folder::new();
    let games = project("tests/data/sample.pgn").display().to_string();
    folder.done(&format!("build -o a.ctg '{games}' --max-ply 12"));
    for end in ["abk", "jsonl", "csv"] {
        folder.done(&format!("convert a.ctg a.{end}"));
        let said = folder.done(&format!("build -o b.{end} '{games}' --max-ply 12"));
        assert!(said.starts_with(&format!("b.{end}: ")), "{said}");
        let read = |name: &str| fs::read(folder.join(format!("{name}.{end}"))).unwrap();
        assert!(read("a") == read("b"), "{end}");
        let again = format!("build -o b.{end} '{games}'");
        folder.tabia(&again).refused("already exists");
    }
    for (typed, why) in [
        ("-o c.abk a.ctg", "`tabia merge -o c.abk` adds books"),
        ("-o c.abk --json a.pgn", "--json is only for .ctg and .bin"),
        ("-o c.pgn a.pgn", "`tabia games -o c.pgn` writes games"),
        (
            "-o c.txt a.pgn",
            "ends with .ctg, .bin, .abk, .jsonl or .csv",
        ),
    ] {
        folder.tabia(&format!("build {typed}")).refused(why);
    }
    let names = folder.names();
    assert!(
        !names.iter().any(|name| name.starts_with(['.', 'c'])),
        "{names:?}"
    );
}

/// An index stands for the book of its games, without a trace.
#[test]
fn tree_diff_and_repertoire_take_an_index_of_games() {
    let folder = Folder::new();
    let games = project("tests/data/sample.pgn").display().to_string();
    folder.done(&format!("index -o g.tgx '{games}'"));
    folder.done("build -o g.ctg g.tgx --max-ply 50");
    folder.tabia("diff g.tgx g.ctg").ok();
    folder.tabia("diff g.ctg g.tgx").ok();
    for typed in [
        "tree BOOK --max-ply 4",
        "tree BOOK --json --moves e4",
        "repertoire g.ctg --colour white --opponent BOOK --min-games 1",
        "repertoire g.ctg --colour black --measure BOOK --min-games 1",
    ] {
        let [games, book] =
            ["g.tgx", "g.ctg"].map(|book| folder.tabia(&typed.replace("BOOK", book)).printed());
        assert!(
            !games.is_empty() && games == book,
            "{typed}: {games} {book}"
        );
    }
}
