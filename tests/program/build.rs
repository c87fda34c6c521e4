//! `tabia build`: the book matches an independent replay of the games, and bad input does
//! no harm.

#![allow(clippy::unwrap_used)]

mod also;
mod evaluations;
mod polyglot;
mod records;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::common::{
    Folder, Ran, TABIA, assert_has, choices, colours_exchanged, files, gzip, open, position,
    wander, wings_exchanged,
};
use serde_json::json;
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Position, Role, Square,
    uci::UciMove,
};
use tabia_book::ctg::{CanonicalBoard, find_move_byte};
use tabia_book::{PositionRecord, Stats};

/// A position's record and its moves in stored order, by its canonical FEN.
type Content = BTreeMap<String, (PositionRecord, Vec<String>)>;

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

fn content(path: &Path) -> Content {
    let book = open(path);
    let mut content = Content::new();
    for entry in book.entries() {
        let entry = entry.unwrap();
        let board = CanonicalBoard::from_key(&entry.key).unwrap();
        let position = Chess::from_setup(board.to_setup(), CastlingMode::Standard).unwrap();
        let legal: Vec<Move> = position.legal_moves().into_iter().collect();
        let moves = entry
            .moves
            .iter()
            .map(|(byte, _)| name(legal[find_move_byte(*byte, &board, &legal).unwrap()]))
            .collect();
        let old = content.insert(fen(&position), (entry.record, moves));
        assert!(old.is_none(), "{} is there twice", fen(&position));
    }
    content
}

fn fen(position: &Chess) -> String {
    let setup = position.to_setup(EnPassantMode::Legal);
    let text = Fen::try_from_setup(setup).unwrap().to_string();
    text.rsplitn(3, ' ').last().unwrap().to_owned()
}

fn name(m: Move) -> String {
    UciMove::from_move(m, CastlingMode::Standard).to_string()
}

/// the one form of four in which the format stores a position, found by
/// exchanging colours and wings; and the move there.
fn normal(position: &Chess, m: Option<Move>) -> (String, Option<String>) {
    let mut name = m.map(name);
    let mut picture = position.clone();
    if picture.turn().is_black() {
        picture = colours_exchanged(&picture);
        name = name.map(|name| {
            let swap = |c: char| match c {
                '1'..='8' => char::from(b'1' + b'8' - c as u8),
                c => c,
            };
            name.chars().map(swap).collect()
        });
    }
    let king = picture.board().king_of(Color::White).unwrap();
    if king.file() < shakmaty::File::E
        && let Some(mirrored) = wings_exchanged(&picture)
    {
        picture = mirrored;
        name = name.map(|name| {
            let swap = |(at, c): (usize, char)| match c {
                'a'..='h' if at < 4 => char::from(b'a' + b'h' - c as u8),
                c => c,
            };
            name.chars().enumerate().map(swap).collect()
        });
    }
    (fen(&picture), name)
}

struct TestGame {
    positions: Vec<Chess>,
    moves: Vec<Move>,
    result: &'static str,
    elo: [u32; 2],
    year: u32,
    eco: &'static str,
}

impl TestGame {
    fn pgn(&self) -> String {
        let mut text = format!(
            "[Event \"test\"]\n[White \"Alpha, A\"]\n[Black \"Beta, B\"]\n[Date \"{}.??.??\"]\n\
             [Result \"{}\"]\n[ECO \"{}\"]\n",
            self.year, self.result, self.eco
        );
        for (tag, elo) in ["WhiteElo", "BlackElo"].into_iter().zip(self.elo) {
            if elo > 0 {
                text += &format!("[{tag} \"{elo}\"]\n");
            }
        }
        text.push('\n');
        for (position, m) in self.positions.iter().zip(&self.moves) {
            text += &format!("{} ", San::from_move(position, *m));
        }
        text + self.result + "\n\n"
    }
}

/// Random games; knights move back at times, so that positions repeat.
fn random_games(count: u64, plies: usize) -> Vec<TestGame> {
    (1..=count)
        .map(|seed| {
            let mut numbers = choices(seed);
            let mut positions = vec![Chess::default()];
            let mut moves: Vec<Move> = Vec::new();
            for ply in 0..plies {
                let now = positions.last().unwrap().clone();
                let legal = now.legal_moves();
                let number = usize::from(numbers.next().unwrap());
                let back = ply.checked_sub(2).map(|at| moves[at]).and_then(|m| {
                    let (from, to) = (m.from()?, m.to());
                    legal
                        .iter()
                        .find(|b| b.from() == Some(to) && b.to() == from)
                });
                let m = match back {
                    Some(m) if number % 3 == 0 => *m,
                    _ if ply < 4 => legal[number % 3 % legal.len()],
                    _ if legal.is_empty() => break,
                    _ => legal[number / 3 % legal.len()],
                };
                let mut next = now;
                next.play_unchecked(m);
                positions.push(next);
                moves.push(m);
            }
            let number = usize::from(numbers.next().unwrap());
            TestGame {
                positions,
                moves,
                result: ["1-0", "0-1", "1/2-1/2", "*"][number % 4],
                elo: [
                    [0, 2000, 2400][number / 4 % 3],
                    [0, 2100, 2500][number / 12 % 3],
                ],
                year: 1990 + number as u32 / 36 % 20,
                eco: ["A00", "B20", "B99", "C57"][number / 720 % 4],
            }
        })
        .collect()
}

fn pgn(games: &[TestGame]) -> String {
    games.iter().map(TestGame::pgn).collect()
}

/// The format supports promotions to a queen only, and two pieces of a kind, counted file
/// by file in the stored form.
fn is_storable(fen: &str, name: &str) -> bool {
    let picture = position(&format!("{fen} 0 1"));
    let m = crate::common::uci(&picture, name);
    let from = m.from().unwrap();
    let alike = picture.our(m.role());
    let before = |square: &Square| (square.file(), square.rank()) < (from.file(), from.rank());
    m.promotion().is_none_or(|role| role == Role::Queen)
        && (m.role() == Role::Pawn || alike.into_iter().filter(before).count() < 2)
}

/// The expected content of a book of these games.
fn recount<'g>(games: impl IntoIterator<Item = &'g TestGame>, max_ply: usize) -> Content {
    let mut stats: BTreeMap<String, Stats> = BTreeMap::new();
    let mut played: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for game in games {
        let mut seen = HashSet::new();
        for (ply, position) in game.positions.iter().enumerate().take(max_ply + 1) {
            let m = game.moves.get(ply).filter(|_| ply < max_ply).copied();
            let (fen, name) = normal(position, m);
            let name = name.filter(|name| is_storable(&fen, name));
            if let Some(name) = name
                && seen.insert(format!("{fen} {name}"))
            {
                *played
                    .entry(fen.clone())
                    .or_default()
                    .entry(name)
                    .or_default() += 1;
            }
            if !seen.insert(fen.clone()) {
                continue;
            }
            let white = position.turn().is_white();
            let stats = stats.entry(fen).or_default();
            stats.games += 1;
            match (game.result, white) {
                ("1-0", true) | ("0-1", false) => stats.wins += 1,
                ("1-0", false) | ("0-1", true) => stats.losses += 1,
                ("1/2-1/2", _) => stats.draws += 1,
                _ => {}
            }
            let [own, other] = if white {
                game.elo
            } else {
                [game.elo[1], game.elo[0]]
            };
            stats.own_rated += u32::from(own > 0);
            stats.own_rating_sum += u64::from(own);
            stats.other_rated += u32::from(other > 0);
            stats.other_rating_sum += u64::from(other);
        }
    }
    stats
        .into_iter()
        .map(|(fen, stats)| {
            let mut moves: Vec<(String, u32)> = played
                .remove(&fen)
                .unwrap_or_default()
                .into_iter()
                .collect();
            moves.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
            let record = PositionRecord {
                stats,
                points: 10 * stats.wins + 5 * stats.draws + 5 * stats.unfinished(),
                ..PositionRecord::default()
            };
            (
                fen,
                (record, moves.into_iter().map(|(name, _)| name).collect()),
            )
        })
        .collect()
}

/// Moves of equal weight may be in either order.
fn assert_same(found: &Content, expected: &Content) {
    assert_eq!(found.len(), expected.len());
    for (fen, (record, moves)) in expected {
        let (found_record, found_moves) = found.get(fen).unwrap_or_else(|| panic!("no {fen}"));
        assert_eq!(found_record, record, "{fen}");
        let set = |moves: &[String]| moves.iter().cloned().collect::<HashSet<_>>();
        assert_eq!(set(found_moves), set(moves), "{fen}");
        assert_eq!(found_moves.len(), moves.len(), "{fen}");
    }
}

#[test]
fn the_book_contains_what_replaying_the_games_gives() {
    let games = random_games(300, 30);
    let run = build(pgn(&games), "--max-ply 25");
    let found = run.content();
    assert_same(&found, &recount(&games, 25));
    let (record, moves) = &found[&fen(&Chess::default())];
    assert_eq!(record.stats.games, 300);
    assert_eq!(moves.len(), 3);
    assert_has(&run.messages(), "300 games");
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
    for options in [
        "--threads 2 --memory 512M",
        "--threads 5 --memory 64M",
        "--threads 1 --memory 1M",
        "--threads 3 --memory 1M",
    ] {
        let run = build(&text, &format!("--max-ply 60 {options}"));
        assert!(run.bytes() == usual.bytes(), "{options}");
    }
    assert_same(&usual.content(), &recount(&games, 60));
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
            next.play_unchecked(crate::common::uci(&next, name));
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
fn moves_that_the_format_cannot_store_are_left_out_and_later_ones_stored() {
    let run = build(format!("{SET_UP}1. e8=N+ Kf8 *\n"), "--setups");
    let found = run.content();
    assert_eq!(found.len(), 3);
    let start = position("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1");
    assert!(found[&fen(&start)].1.is_empty());
    assert_has(&run.messages(), "1 move left out");
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
    after.play_unchecked(crate::common::uci(&after, "d2d4"));
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
    let found = build_in(folder, "a.pgn --priority b.pgn", b"").content();
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
fn games_need_no_event_tag_to_be_separated() {
    let text = "[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n[White \"B\"]\n[Result \"0-1\"]\n\n1. d4 0-1\n";
    let (record, moves) = &build(text, "").content()[&fen(&Chess::default())];
    assert_eq!(
        (record.stats.games, record.stats.wins, record.stats.losses),
        (2, 1, 1)
    );
    assert_eq!(moves.len(), 2);
}

#[test]
fn bad_input_is_refused_and_no_book_is_written() {
    let folder = Folder::new();
    folder.put("games.pgn", "[Event \"?\"]\n\n1. e4 *\n");
    folder.put("empty.pgn", "");
    folder.put("zeros.pgn", vec![0_u8; 100_000]);
    folder.put("old.ctg", "an old book");
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
        ("-o games.pgn games.pgn", "must end with .ctg"),
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
    assert_has(&run.messages(), "moves left out");
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
