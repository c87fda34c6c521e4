//! The content of books and of records, against an independent replay of the games.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

#[path = "../../../../tests/program/common/books/mod.rs"]
mod common;
mod learn;
mod polyglot;
mod records;

use std::collections::HashSet;
use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use shakmaty::san::San;
use shakmaty::{Chess, Color, Position, Role};

use super::*;
use common::played::{
    Content, TestGame, assert_same, content, fen, normal, pgn, random_games, recount,
};
use common::{Folder, choices, files, open, position, wander};
use tabia_book::Stats;

/// The job that a command line of `tabia build` means, with the options of these tests.
fn job(folder: &Path, line: &str) -> BuildJob {
    let mut job = BuildJob::new(Vec::new(), folder.join("out.ctg")).old(Previous::Replace);
    let mut rule = PolyglotRule::default();
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap();
        match word {
            "-o" => job.target = folder.join(value()),
            "--records" => {
                job.target = folder.join(value());
                job.product = Product::Records;
            }
            "--priority" => {
                let source = Source::new(folder.join(value()));
                job.sources.push(source.priority(true));
            }
            "--max-ply" => job.max_ply = value().parse().unwrap(),
            "--min-games" => job.min_games = value().parse().unwrap(),
            "--min-elo" => job.filter.min_elo = value().parse().ok(),
            "--threads" => job.threads = value().parse().unwrap(),
            "--memory" => {
                let megabytes: u64 = value().trim_end_matches('M').parse().unwrap();
                job.memory = megabytes << 20;
            }
            "--only" => job.only = Some(value().parse().unwrap()),
            "--eco-relative" => job.eco_relative = value().parse().ok(),
            "--min-score" => rule.min_score = value().parse().unwrap(),
            "--uniform" => rule.uniform = true,
            "--setups" => job.setups = true,
            "--variations" => job.variations = true,
            "--annotations" => job.annotations = true,
            "--scale-counts" => job.scale_counts = true,
            "--keep" => job.old = Previous::Keep,
            "--compression" => {
                let name = value();
                let mut all = Compression::ALL.into_iter();
                job.compression = all.find(|one| one.name() == name).unwrap();
            }
            "--dedupe" => job.dedupe = true,
            path => job.sources.push(Source::new(folder.join(path))),
        }
    }
    if job.target.extension().is_some_and(|end| end == "bin") {
        job.product = Product::Polyglot(rule);
    }
    job
}

/// Builds, and checks that nothing but the target is left.
fn made(folder: &Path, line: &str) -> Result<Summary, String> {
    let built = super::run(&job(folder, line), &mut Watch::default());
    let names = common::names(folder);
    assert!(!names.iter().any(|name| name.starts_with('.')), "{names:?}");
    built.map_err(|error| {
        let cause = error.source().map(|cause| format!(": {cause}"));
        error.to_string() + &cause.unwrap_or_default()
    })
}

struct Run {
    folder: Folder,
    made: Result<Summary, String>,
}

impl Run {
    fn book(&self) -> PathBuf {
        self.folder.join("out.ctg")
    }

    fn summary(&self) -> &Summary {
        self.made.as_ref().unwrap()
    }

    fn content(&self) -> Content {
        self.summary();
        content(&self.book())
    }

    fn bytes(&self) -> [Vec<u8>; 3] {
        files(self.book())
    }
}

/// Builds from a file `games.pgn` in a new folder.
fn build(pgn: impl AsRef<[u8]>, options: &str) -> Run {
    let folder = Folder::new();
    folder.put("games.pgn", pgn);
    build_in(folder, &format!("games.pgn {options}"))
}

fn build_in(folder: Folder, line: &str) -> Run {
    let made = made(&folder, line);
    Run { folder, made }
}

const SET_UP: &str = "[Event \"?\"]\n[SetUp \"1\"]\n[FEN \"8/4P1k1/8/8/8/8/8/4K3 w - - 0 1\"]\n\n";

#[test]
fn the_book_contains_what_replaying_the_games_gives() {
    let games = random_games(300, 30);
    let run = build(pgn(&games), "--max-ply 25");
    let found = run.content();
    assert_same(&found, &recount(&games, 25));
    let (record, moves) = &found[&fen(&Chess::default())];
    assert_eq!(record.stats.games, 300);
    assert_eq!(moves.len(), 3);
    assert_eq!(run.summary().games, 300);
    assert_eq!(open(run.book()).header().games, 300);
}

#[test]
fn moves_are_ordered_by_games_and_then_by_byte() {
    let line = |m: &str| format!("[Event \"?\"]\n\n1. {m} *\n\n");
    let text = ["e4", "d4", "d4", "c4", "a3"].map(line).concat();
    let (_, moves) = &build(&text, "").content()[&fen(&Chess::default())];
    // Bytes: a3 ec, e4 5f, c4 9b.
    assert_eq!(moves, &["d2d4", "e2e4", "c2c4", "a2a3"]);
}

#[test]
fn threads_and_memory_do_not_change_the_book() {
    let games = random_games(400, 60);
    let text = pgn(&games);
    let usual = build(&text, "--max-ply 60 --threads 1");
    assert_eq!(usual.summary().sorted_on_disk, 0);
    for options in [
        "--threads 2 --memory 512M",
        "--threads 5 --memory 64M",
        "--threads 1 --memory 1M",
        "--threads 3 --memory 1M",
    ] {
        let run = build(&text, &format!("--max-ply 60 {options}"));
        assert!(run.bytes() == usual.bytes(), "{options}");
        let is_little = options.ends_with(" 1M");
        assert_eq!(run.summary().sorted_on_disk > 0, is_little, "{options}");
    }
    assert_same(&usual.content(), &recount(&games, 60));
}

#[test]
fn rare_positions_and_moves_are_left_out() {
    let games = random_games(200, 10);
    let found = build(pgn(&games), "--min-games 5").content();
    let all = recount(&games, 40);
    let kept = all
        .iter()
        .filter(|(_, (record, _))| record.stats.games >= 5);
    assert_eq!(found.len(), kept.clone().count());
    let mut moves_kept = 0;
    for (fen, (record, moves)) in kept {
        assert_eq!(&found[fen].0, record);
        for name in &found[fen].1 {
            assert!(moves.contains(name));
            // The move leads to a position of the book.
            let mut next = position(&format!("{fen} 0 1"));
            next.play_unchecked(common::uci(&next, name));
            assert!(found.contains_key(&normal(&next, None).0), "{fen} {name}");
            moves_kept += 1;
        }
    }
    assert!(moves_kept > 10);
}

#[test]
fn exchanged_colours_are_one_entry() {
    // The same position with White and with Black to move.
    let text = "[Event \"?\"]\n[Result \"1-0\"]\n[WhiteElo \"2000\"]\n\n1. e4 e5 1-0\n\n\
                [Event \"?\"]\n[Result \"1-0\"]\n[WhiteElo \"2200\"]\n\n1. e3 e5 2. e4 1-0\n";
    let found = build(text, "").content();
    let twin = position("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
    let (record, _) = &found[&fen(&twin)];
    let expected = Stats {
        games: 2,
        wins: 1,
        losses: 1,
        draws: 0,
        own_rated: 1,
        own_rating_sum: 2000,
        other_rated: 1,
        other_rating_sum: 2200,
    };
    assert_eq!(record.stats, expected);
}

#[test]
fn a_game_counts_once_in_a_repeated_position_and_all_its_moves_are_stored() {
    let text = "[Event \"?\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 *\n";
    let found = build(text, "").content();
    let (record, moves) = &found[&fen(&Chess::default())];
    assert_eq!(record.stats.games, 1);
    assert_eq!(record.points, 5);
    let moves: HashSet<_> = moves.iter().map(String::as_str).collect();
    assert_eq!(moves, HashSet::from(["g1f3", "e2e4"]));
    // After 1.Nf3, 1...Nf6, 2.Ng1 and 5.e4.
    assert_eq!(found.len(), 5);
}

#[test]
fn only_the_first_half_moves_and_the_position_after_are_stored() {
    let text = "[Event \"?\"]\n\n1. e4 e5 2. Nf3 *\n";
    let found = build(text, "--max-ply 2").content();
    assert_eq!(found.len(), 3);
    let last = position("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
    assert_eq!(found[&fen(&last)].1, [""; 0]);
    assert_eq!(build(text, "--max-ply 0").content().len(), 1);
}

#[test]
fn moves_that_the_format_cannot_store_are_left_out_and_later_ones_stored() {
    let run = build(format!("{SET_UP}1. e8=N+ Kf8 *\n"), "--setups");
    let found = run.content();
    assert_eq!(found.len(), 3);
    let start = position("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1");
    assert!(found[&fen(&start)].1.is_empty());
    assert_eq!(run.summary().unstorable, 1);
}

#[test]
fn variations_become_moves_without_numbers() {
    let text = "[Event \"?\"]\n\n1. e4 (1. d4 d5 (1... Nf6 2. c4) 2. Nf3) (1. Ke2) 1... e5 *\n";
    let found = build(text, "--variations").content();
    let (record, moves) = &found[&fen(&Chess::default())];
    assert_eq!(
        (record.stats.games, moves.as_slice()),
        (1, &["e2e4".to_owned(), "d2d4".to_owned()][..])
    );
    // Main line 3; d4, d5, Nf3, Nf6, c4.
    assert_eq!(found.len(), 8);
    let mut after = Chess::default();
    after.play_unchecked(common::uci(&after, "d2d4"));
    let (record, moves) = &found[&normal(&after, None).0];
    assert_eq!((record.stats.games, moves.len()), (0, 2));
    assert_eq!(build(text, "").content().len(), 3);
}

#[test]
fn priority_games_count_and_mark_their_moves() {
    let folder = Folder::new();
    folder.put(
        "a.pgn",
        "[Event \"?\"]\n\n1. e4 e5 *\n\n[Event \"?\"]\n\n1. d4 *\n",
    );
    folder.put("b.pgn", "[Event \"?\"]\n\n1. e4 c5 *\n");
    let found = build_in(folder, "a.pgn --priority b.pgn").content();
    let marked: Vec<u32> = found
        .values()
        .filter(|(record, _)| record.recommendation == 0x80)
        .map(|(record, _)| record.stats.games)
        .collect();
    // After 1.e4 and after 1...c5, not the start.
    assert_eq!(marked.iter().sum::<u32>(), 3);
    assert_eq!(marked.len(), 2);
    assert_eq!(found[&fen(&Chess::default())].0.stats.games, 3);
}

#[test]
fn dedupe_counts_equal_games_once() {
    let game = |white: &str, elo: u32, moves: &str| {
        format!(
            "[Event \"?\"]\n[White \"{white}\"]\n[WhiteElo \"{elo}\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n\n"
        )
    };
    let text = [
        game("Tal, M", 2600, "1. e4 e5 2. Nf3"),
        game("TAL", 0, "1. e4 e5 2. Nf3"),
        game("Tal, M", 2600, "1. e4 e5 2. Nc3"),
        game("Other", 2600, "1. e4 e5 2. Nf3"),
    ]
    .concat();
    let stats = |run: Run| run.content()[&fen(&Chess::default())].0.stats;
    assert_eq!(stats(build(&text, "")).games, 4);
    for threads in ["1", "4"] {
        // The same beginning alone does not make two games equal.
        let options = format!("--dedupe --max-ply 1 --threads {threads}");
        let found = stats(build(&text, &options));
        assert_eq!((found.games, found.own_rating_sum), (3, 7800));
    }
}

/// Games wait for their turn without the parts that the limit of plies leaves out.
#[test]
fn a_game_that_is_no_duplicate_loses_nothing() {
    let text = "[Event \"?\"]\n\n1. e4 $1 (1. d4 $3 d5) 1... e5 (1... c5 $2 2. Nf3 $4) 2. Nf3 \
                (2. Nc3 $6) 2... Nc6 $5 *\n";
    for plies in 1..=4 {
        let options = format!("--variations --annotations --max-ply {plies}");
        let bytes = build(text, &options).bytes();
        assert!(
            build(text, &format!("{options} --dedupe")).bytes() == bytes,
            "{plies}"
        );
    }
}

#[test]
fn games_need_no_event_tag_to_be_separated() {
    let text = "[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n[White \"B\"]\n[Result \"0-1\"]\n\n1. d4 0-1\n";
    let (record, moves) = &build(text, "").content()[&fen(&Chess::default())];
    assert_eq!(
        (record.stats.games, record.stats.wins, record.stats.losses),
        (2, 1, 1)
    );
    assert_eq!(moves.len(), 2);
}

/// Long games contain third pieces, all promotions, en passant and positions after
/// castling rights are lost.
#[test]
fn long_games_are_stored_to_the_end() {
    let mut text = String::new();
    let mut positions = HashSet::new();
    let mut promotions = 0;
    for seed in 1..=40 {
        let path = wander(choices(seed).take(220));
        text += "[Event \"?\"]\n\n";
        for pair in path.windows(2) {
            let m = pair[0]
                .legal_moves()
                .into_iter()
                .find(|m| {
                    let mut next = pair[0].clone();
                    next.play_unchecked(*m);
                    next == pair[1]
                })
                .unwrap();
            promotions += usize::from(m.promotion().is_some_and(|role| role != Role::Queen));
            text += &format!("{} ", San::from_move(&pair[0], m));
        }
        text += "*\n\n";
        positions.extend(path.iter().map(|position| normal(position, None).0));
    }
    assert!(promotions > 5, "{promotions}");
    let run = build(&text, "--max-ply 500");
    let found = run.content();
    let names: HashSet<String> = found.keys().cloned().collect();
    assert_eq!(names, positions);
    assert!(found.values().all(|(_, moves)| moves.len() <= 50));
    assert!(run.summary().unstorable > 1);
}

/// The marks of both sides' moves or of one side's, and of the position after 1.e4.
#[test]
fn annotations_are_those_of_the_stored_moves() {
    let text = "[Event \"?\"]\n\n1. e4! $16 e5? (1... c5!!) 2. Nf3 *\n\n\
                [Event \"?\"]\n\n1. e4? e5? *\n\n[Event \"?\"]\n\n1. e4! *\n";
    let start = Chess::default();
    let after = common::after("e4");
    for (options, wanted, has_comment) in [
        ("--variations --annotations", [1, 2, 3], true),
        ("--variations --annotations --only white", [1, 0, 0], true),
        ("--variations --annotations --only black", [0, 2, 3], true),
        ("--variations --annotations --max-ply 1", [1, 0, 0], true),
        ("--annotations", [1, 2, 0], true),
        ("--variations", [0; 3], false),
    ] {
        let run = build(text, options);
        let book = open(run.book());
        let mark = |(at, mv): (&Chess, &str)| {
            let found = common::look_up(&book, at);
            let mv = common::uci(at, mv);
            let mut moves = found.moves.iter();
            moves
                .find(|known| known.mv == mv)
                .map_or(0, |known| known.annotation.0)
        };
        let marks = [(&start, "e2e4"), (&after, "e7e5"), (&after, "c7c5")].map(mark);
        assert_eq!(marks, wanted, "{options}");
        let here = common::look_up(&book, &after).here.unwrap();
        assert_eq!(here.commentary != 0, has_comment, "{options}");
    }
}

#[test]
fn only_the_moves_of_one_side_are_stored() {
    let text = "[Event \"?\"]\n\n1. e4 c5 2. Nf3 d6 *\n";
    for side in ["white", "black"] {
        let mut run = build(text, &format!("--only {side}"));
        made(
            &run.folder,
            &format!("--records r.parquet games.pgn --only {side}"),
        )
        .unwrap();
        run.made = made(&run.folder, "r.parquet");
        for (moves, mover) in [("", "white"), ("e4", "black"), ("e4 c5", "white")] {
            let found = common::lookup(run.book(), &common::after(moves));
            assert_eq!(
                found.moves.iter().filter(|mv| !mv.transposition).count(),
                usize::from(side == mover),
                "{side} {moves}"
            );
        }
    }
}

/// Moves of lines have no games; moves of the other side are left out.
#[test]
fn lines_become_a_book_with_their_marks() {
    let folder = Folder::new();
    let lines = [
        (
            Line::read("", "e4 e5 Nf3 Nc6 Bb5").unwrap(),
            vec![(4, 1), (1, 2)],
        ),
        (Line::read("", "e4 c5 Nf3").unwrap(), vec![]),
    ];
    for (name, only, moves, marks) in [
        ("both", None, [1, 2, 1, 1], [1, 2]),
        ("white", Some(Color::White), [1, 0, 1, 1], [1, 0]),
    ] {
        let path = folder.join(name).with_extension("ctg");
        let written = write_lines(&lines, &path, only).unwrap();
        assert_eq!(written.positions, 8);
        let at = |line: &str| common::lookup(&path, &common::after(line));
        let counts = ["", "e4", "e4 c5", "e4 e5 Nf3 Nc6"].map(|line| at(line).moves.len());
        assert_eq!(counts, moves, "{name}");
        assert_eq!(at("e4 e5 Nf3 Nc6").moves[0].annotation.0, marks[0]);
        let replies = at("e4").moves;
        let mistakes = replies.iter().filter(|mv| mv.annotation.0 == 2);
        assert_eq!(mistakes.count(), usize::from(marks[1] == 2));
    }
    let lines = [(
        Line::read("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e8=N").unwrap(),
        vec![],
    )];
    let error = write_lines(&lines, &folder.join("none.ctg"), None).unwrap_err();
    assert!(matches!(error, BuildError::Unstorable(_, 1)), "{error}");
}

#[test]
fn the_progress_never_goes_back_and_ends_with_the_whole() {
    let folder = Folder::new();
    folder.put("games.pgn", pgn(&random_games(60, 20)));
    let jobs = [
        "-o a.ctg games.pgn",
        "-o b.bin games.pgn",
        "--records c.parquet games.pgn",
    ];
    let jobs = jobs.map(|line| job(&folder, line));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut seen = Vec::new();
    let mut report = |progress: Progress| seen.extend(progress.done_of_whole());
    run_all(&jobs, &mut Watch::new(&mut report, &stop)).unwrap();
    // The games, each of the three files, and that they are saved.
    assert_eq!(seen, [0.57, 0.696, 0.823, 0.95]);
}

/// An entry is that of the mirror image, too, where the other side moves.
#[test]
fn a_book_for_one_side_has_no_signs_of_the_others_moves() {
    let folder = Folder::new();
    let games = "1. e4 e5 2. Nf3 *\n\n[Event \"?\"]\n\n1. e3 e5 2. e4 Nf6 $2 *\n";
    fs::write(folder.join("games.pgn"), games).unwrap();
    for (side, sign) in [("white", 0), ("black", 2)] {
        let line = format!("--only {side} --annotations games.pgn");
        made(&folder, &line).unwrap();
        let book = open(folder.join("out.ctg"));
        let entries = book.entries().map(Result::unwrap);
        let signs: u32 = entries
            .flat_map(|entry| entry.moves)
            .map(|(_, sign)| u32::from(sign.nag()))
            .sum();
        assert_eq!(signs, sign, "{side}");
    }
}
