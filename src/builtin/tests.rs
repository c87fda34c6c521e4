//! Sessions with the built-in engine, without a process.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use shakmaty::{Chess, Position};
use tabia_notation as notation;

/// A very long time limit, for slow and busy machines.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time without output that counts as no answer: a wrong one may come later and stay unseen,
/// but none fails that is right.
const SILENCE: Duration = Duration::from_millis(80);

struct Engine {
    input: Option<PipeWriter>,
    output: Receiver<String>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Engine {
    fn new() -> Self {
        let (engine_in, input) = std::io::pipe().unwrap();
        let (from_engine, engine_out) = std::io::pipe().unwrap();
        let thread = thread::spawn(move || super::run(BufReader::new(engine_in), engine_out));
        let (lines, output) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(from_engine).lines() {
                let Ok(line) = line else { break };
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            input: Some(input),
            output,
            thread: Some(thread),
        }
    }

    fn send(&mut self, text: &str) {
        // In one write: after "quit" the other end is closed.
        let line = format!("{text}\n");
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
    }

    /// Reads lines up to the first that begins with `word`.
    fn expect(&mut self, word: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = match self.output.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(error) => panic!("no {word}: {error}; got {lines:#?}"),
            };
            let found = line.split(' ').next() == Some(word);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// The move of the next `bestmove`, and the lines before it.
    fn answer(&mut self) -> (String, Vec<String>) {
        let mut lines = self.expect("bestmove");
        let last = lines.pop().unwrap();
        (last.split(' ').nth(1).unwrap().to_owned(), lines)
    }

    fn search(&mut self, commands: &str) -> (String, Vec<String>) {
        self.send(commands);
        self.answer()
    }

    fn best_move(&mut self, commands: &str) -> String {
        self.search(commands).0
    }

    /// Checks that only `info` lines come for a while.
    fn assert_no_answer(&mut self) {
        let end = Instant::now() + SILENCE;
        loop {
            match self
                .output
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => assert!(line.starts_with("info "), "unexpected {line:?}"),
                Err(RecvTimeoutError::Timeout) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Ends the input and returns the remaining lines of output.
    fn finish(mut self) -> Vec<String> {
        drop(self.input.take());
        self.thread.take().unwrap().join().unwrap().unwrap();
        self.output.iter().collect()
    }
}

fn position(fen: &str) -> Chess {
    notation::position(fen).unwrap()
}

/// Plays a move, which must be legal.
#[track_caller]
fn play(position: &mut Chess, mv: &str) {
    let legal = notation::find_uci(position, mv.as_bytes());
    position.play_unchecked(legal.unwrap_or_else(|| panic!("{mv} is not legal")));
}

const KINGS_AND_ROOKS: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

#[test]
fn uci_gets_name_author_and_options_and_each_isready_one_readyok() {
    let mut engine = Engine::new();
    engine.send("uci");
    let lines = engine.expect("uciok");
    assert!(lines[0].starts_with("id name "));
    assert!(lines[1].starts_with("id author "));
    assert!(
        lines[2..lines.len() - 1]
            .iter()
            .all(|line| line.starts_with("option name "))
    );
    engine.send("uci\nisready\nisready");
    engine.expect("uciok");
    assert_eq!(engine.expect("readyok").len(), 1);
    assert_eq!(engine.expect("readyok").len(), 1);
    assert!(engine.finish().is_empty());
}

#[test]
fn every_limit_gives_one_legal_best_move() {
    let mut engine = Engine::new();
    for go in [
        "go depth 3",
        "go depth 0",
        "go depth -4",
        "go nodes 1",
        "go nodes 5000",
        "go movetime 1",
        "go movetime 30",
        "go wtime 200 btime 200 winc 10 binc 10",
        "go wtime 0 btime 0",
        "go wtime -100 btime -100 movestogo 0",
        "go wtime 1000 btime 1000 movestogo 1",
        "go winc 100000 binc 100000",
        "go wtime 50 winc 4294967295",
        "go mate 1 movetime 20",
        "go mate 2 depth 4",
        "go nodes 2000 depth 40 movetime 10000",
        "go wtime junk depth 2",
    ] {
        for board in [
            "startpos",
            "startpos moves e2e4",
            "fen 8/8/8/4k3/8/8/4P3/4K3 w - -",
        ] {
            let (best, lines) = engine.search(&format!("position {board}\n{go}"));
            let mut now = board
                .strip_prefix("fen ")
                .map_or_else(Chess::default, position);
            if board.ends_with("e2e4") {
                play(&mut now, "e2e4");
            }
            check_info(&lines, &now, &best);
            play(&mut now, &best);
        }
    }
    assert!(engine.finish().is_empty());
}

/// Checks that each line is well-formed and its moves legal, and that the last begins
/// with the answer.
fn check_info(lines: &[String], position: &Chess, best: &str) {
    let mut last = None;
    for line in lines {
        let words: Vec<_> = line.split(' ').collect();
        let at = |name: &str| words.iter().position(|&word| word == name);
        assert_eq!(words[0], "info", "{line}");
        for name in ["depth", "nodes", "nps", "time"] {
            let number = words[at(name).unwrap() + 1];
            assert!(number.parse::<u64>().is_ok(), "{name} in {line}");
        }
        let score = at("score").unwrap();
        assert!(["cp", "mate"].contains(&words[score + 1]), "{line}");
        assert!(words[score + 2].parse::<i32>().is_ok(), "{line}");
        let pv = at("pv").unwrap();
        assert!(pv > score, "{line}");
        let mut now = position.clone();
        for word in &words[pv + 1..] {
            play(&mut now, word);
        }
        last = Some(words[pv + 1].to_owned());
    }
    assert_eq!(last.as_deref(), Some(best), "{lines:?}");
}

#[test]
fn infinite_search_waits_for_stop() {
    // In the last two the search ends long before.
    for board in [
        "startpos",
        "fen 7k/8/8/8/8/8/8/K7 w - -",
        "fen 7k/5Q2/6K1/8/8/8/8/8 b - -",
    ] {
        for go in [
            "go infinite",
            "go",
            "go infinite depth 1",
            "go infinite movetime 1",
        ] {
            let mut engine = Engine::new();
            engine.send(&format!("position {board}\n{go}"));
            engine.assert_no_answer();
            engine.send("isready");
            let lines = engine.expect("readyok");
            assert!(!lines.iter().any(|line| line.starts_with("best")));
            engine.send("ponderhit");
            engine.assert_no_answer();
            engine.send("stop");
            engine.expect("bestmove");
            engine.send("stop\nponderhit");
            engine.assert_no_answer();
            assert!(engine.finish().is_empty());
        }
    }
}

#[test]
fn ponder_search_waits_for_ponderhit_or_stop() {
    for go in [
        "go ponder depth 1",
        "go ponder wtime 50 btime 50",
        "go ponder movetime 20",
    ] {
        for release in ["ponderhit", "stop"] {
            let mut engine = Engine::new();
            engine.send(&format!("position startpos\n{go}"));
            engine.assert_no_answer();
            engine.send(release);
            engine.expect("bestmove");
            engine.send("stop");
            engine.assert_no_answer();
        }
    }
    let mut engine = Engine::new();
    engine.send("go ponder infinite\nponderhit");
    engine.assert_no_answer();
    engine.send("stop");
    engine.expect("bestmove");
}

#[test]
fn a_go_during_a_search_is_answered_after_that_search() {
    let mut engine = Engine::new();
    engine.send("go infinite\nposition startpos moves e2e4\ngo infinite\nstop\nisready");
    let (first, _) = engine.answer();
    let (second, _) = engine.answer();
    play(&mut Chess::default(), &first);
    let mut now = Chess::default();
    play(&mut now, "e2e4");
    play(&mut now, &second);
    engine.send("quit");
    let rest = engine.finish();
    assert!(rest.iter().all(|line| line == "readyok"), "{rest:?}");
}

#[test]
fn quit_or_end_of_input_ends_a_search_with_its_best_move() {
    for last in ["quit\n", ""] {
        for go in [
            "go infinite",
            "go ponder wtime 1 btime 1",
            "go depth 60",
            "isready",
        ] {
            let mut engine = Engine::new();
            engine.send(&format!("{go}\n{last}"));
            let rest = engine.finish();
            let answers = rest
                .iter()
                .filter(|line| line.starts_with("bestmove"))
                .count();
            assert_eq!(answers, usize::from(go.starts_with("go")), "{go}");
        }
    }
}

#[test]
fn mates_are_found_and_reported_in_moves() {
    for (fen, best, mate) in [
        ("6k1/5ppp/8/8/8/8/8/R3K2R w KQ - 0 1", "a1a8", "mate 1"),
        ("6k1/5ppp/8/8/8/8/8/R3K2R w KQ - 98 80", "a1a8", "mate 1"),
        ("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", "a8a1", "mate 1"),
        ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "a2a7", "mate 2"),
        (
            "2k4r/ppp3pp/8/2b2p1P/PPP2p2/N4P2/3r2K1/1q5R w - - 4 29",
            "g2h3",
            "mate -",
        ),
    ] {
        let mut engine = Engine::new();
        for go in ["go depth 6", "go mate 2", "go wtime 60000 btime 60000"] {
            let (found, lines) = engine.search(&format!("position fen {fen}\n{go}"));
            let last = lines.last().unwrap();
            assert!(
                last.contains(&format!("score {mate}")),
                "{go} {fen}: {last}"
            );
            if mate != "mate 2" {
                assert_eq!(found, best, "{go} {fen}");
            }
        }
    }
}

#[test]
fn multipv_reports_the_best_line_first() {
    let mut engine = Engine::new();
    let variations = |lines: &[String], depth: &str| -> Vec<(String, i64, String)> {
        let of_depth = format!("info depth {depth} multipv ");
        let words = lines.iter().filter_map(|line| {
            let words: Vec<&str> = line.strip_prefix(&of_depth)?.split(' ').collect();
            assert_eq!(words[1..3], ["score", "cp"], "{line}");
            let pv = words.iter().position(|&word| word == "pv")? + 1;
            Some((
                words[0].to_owned(),
                words[3].parse().ok()?,
                words[pv].to_owned(),
            ))
        });
        words.collect()
    };
    let (best, lines) =
        engine.search("setoption name MultiPV value 5\nposition startpos\ngo depth 6");
    for depth in ["1", "6"] {
        let found = variations(&lines, depth);
        let numbers: Vec<&str> = found.iter().map(|(number, ..)| &**number).collect();
        assert_eq!(numbers, ["1", "2", "3", "4", "5"]);
        assert!(found.is_sorted_by_key(|(_, score, _)| -score), "{found:?}");
        let moves: std::collections::HashSet<_> = found.iter().map(|(.., first)| first).collect();
        assert_eq!(moves.len(), 5, "{found:?}");
    }
    assert_eq!(variations(&lines, "6")[0].2, best);
    // At most as many lines as there are moves.
    let (best, lines) = engine.search("go depth 3 searchmoves a2a3 h2h4");
    let mut shown = variations(&lines, "3");
    assert_eq!(shown[0].2, best);
    shown.sort_by(|a, b| a.2.cmp(&b.2));
    let moves: Vec<&str> = shown.iter().map(|(.., first)| &**first).collect();
    assert_eq!(moves, ["a2a3", "h2h4"]);
    // The best line is the same as in a search for one line.
    let mate = "position fen 6k1/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 0 1\ngo depth 3";
    let (best, lines) = engine.search(mate);
    assert!(matches!(&*best, "d1d8" | "e1e8"), "{best}");
    let first = |number| {
        let start = format!("info depth 3 multipv {number} score mate 1 ");
        lines.iter().any(|line| line.starts_with(&start))
    };
    assert!(first(1) && first(2) && !first(3), "{lines:#?}");
    let (_, lines) =
        engine.search("setoption name MultiPV value 0\nsetoption name MultiPV value 1\ngo depth 2");
    assert!(lines[0].contains("expected a number of lines"), "{lines:?}");
    assert!(lines[1..].iter().all(|line| !line.contains("multipv")));
}

#[test]
fn without_a_legal_move_the_answer_is_0000() {
    let mut engine = Engine::new();
    for (fen, score) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"),
    ] {
        for go in [
            "go depth 3",
            "go movetime 10",
            "go searchmoves h8h7 depth 2",
        ] {
            let (best, lines) = engine.search(&format!("position fen {fen}\n{go}"));
            assert_eq!(best, "0000");
            assert!(lines.last().unwrap().ends_with(score));
        }
    }
}

#[test]
fn after_an_illegal_position_the_answer_is_0000_with_a_reason() {
    let mut engine = Engine::new();
    for line in [
        "position startpos moves e2e4 e2e4",
        "position startpos moves e2e4 0000",
        "position fen rubbish",
        "position fen",
        "position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "position",
    ] {
        assert_ne!(engine.best_move("position startpos\ngo depth 1"), "0000");
        for go in ["go depth 3", "go movetime 10", "go mate 3"] {
            let (best, lines) = engine.search(&format!("{line}\n{go}"));
            assert_eq!(best, "0000", "{line}");
            let reason = "info string there is no legal position to search";
            assert!(lines.iter().any(|line| line == reason), "{lines:?}");
        }
        engine.send(&format!("{line}\ngo infinite"));
        engine.assert_no_answer();
        assert_eq!(engine.best_move("stop"), "0000");
    }
}

#[test]
fn go_mate_ends_if_there_is_no_mate() {
    let mut engine = Engine::new();
    // A complete search to the required depth would take many minutes here.
    let (best, lines) =
        engine.search("position fen qqqqqqqk/6pp/8/8/8/8/PP6/KQQQQQQQ w - - 0 1\ngo mate 3");
    assert_ne!(best, "0000");
    let nodes = |line: &String| -> Option<u64> {
        let (_, rest) = line.split_once(" nodes ")?;
        rest.split(' ').next()?.parse().ok()
    };
    let most = lines.iter().filter_map(nodes).max().unwrap();
    assert!(most < 4_000_000, "{most}");
}

#[test]
fn searchmoves_limits_the_moves() {
    let mut engine = Engine::new();
    for (list, allowed) in [
        ("a2a3", &["a2a3"][..]),
        ("a2a3 h2h4", &["a2a3", "h2h4"]),
        ("a2a3 e2e5", &["a2a3"]),
    ] {
        for go in [
            format!("go depth 4 searchmoves {list}"),
            format!("go searchmoves {list} depth 4"),
            format!("go searchmoves {list} movetime 10"),
        ] {
            let best = engine.best_move(&format!("position startpos\n{go}"));
            assert!(allowed.contains(&&*best), "{go}: {best}");
        }
    }
    // No legal move in the list: any legal move is better than no answer.
    let best = engine.best_move("go searchmoves 0000 depth 1");
    play(&mut Chess::default(), &best);
}

#[test]
fn castling_and_promotion_are_written_as_in_uci() {
    let mut engine = Engine::new();
    for (list, expected) in [("e1g1", "e1g1"), ("e1h1", "e1g1"), ("e1a1", "e1c1")] {
        let go = format!("position fen {KINGS_AND_ROOKS}\ngo depth 2 searchmoves {list}");
        assert_eq!(engine.best_move(&go), expected);
    }
    let best = engine.best_move("position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1\ngo depth 4");
    assert_eq!(best, "a7a8q");
    let best = engine.best_move(&format!(
        "position fen {KINGS_AND_ROOKS} moves e1h1 e8a8\ngo depth 3 searchmoves f1d1"
    ));
    assert_eq!(best, "f1d1");
}

#[test]
fn castling_has_the_notation_in_force() {
    let mut engine = Engine::new();
    engine.send("setoption name UCI_Chess960 value True");
    for (list, expected) in [("e1g1", "e1h1"), ("e1h1", "e1h1"), ("e1c1", "e1a1")] {
        let go = format!("position fen {KINGS_AND_ROOKS}\ngo depth 2 searchmoves {list}");
        assert_eq!(engine.best_move(&go), expected);
    }
    let (best, lines) = engine.search(&format!(
        "position fen {KINGS_AND_ROOKS} moves e1g1 e8a8\ngo depth 3 searchmoves f1d1"
    ));
    assert_eq!(best, "f1d1");
    assert!(
        lines.iter().any(|line| line.contains(" pv f1d1")),
        "{lines:?}"
    );
    engine.send("setoption name UCI_Chess960 value false");
    let go = format!("position fen {KINGS_AND_ROOKS}\ngo depth 2 searchmoves e1h1");
    assert_eq!(engine.best_move(&go), "e1g1");
}

/// Kings and rooks anywhere: castling is played, and may be the move.
#[test]
fn chess960_is_played() {
    let mut engine = Engine::new();
    engine.send("setoption name UCI_Chess960 value true");
    for (fen, castling) in [
        ("1k5r/8/8/8/8/8/8/RK3R2 w FAh - 0 1", "b1a1"),
        ("1k5r/8/8/8/8/8/8/RK3R2 w FAh - 0 1", "b1f1"),
        ("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "e1g1"),
        ("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "e1b1"),
    ] {
        let go = format!("position fen {fen}\ngo depth 5 searchmoves {castling}");
        let (best, lines) = engine.search(&go);
        assert_eq!(best, castling, "{fen}");
        let last = lines.iter().rfind(|line| line.contains(" pv ")).unwrap();
        let mut position = position(fen);
        for mv in last.split(" pv ").nth(1).unwrap().split(' ') {
            play(&mut position, mv);
        }
        // The other moves are searched as before.
        let mut moves = String::new();
        let mut position = self::position(fen);
        for _ in 0..6 {
            if position.is_game_over() {
                break;
            }
            let line = format!("position fen {fen} moves{moves}\ngo depth 3");
            let best = engine.best_move(&line);
            play(&mut position, &best);
            moves += &format!(" {best}");
        }
    }
}

#[test]
fn perft_counts_positions_and_gives_no_move() {
    let mut engine = Engine::new();
    for (before, depth, sum) in [
        ("position startpos", 1, 20),
        ("position startpos", 3, 8902),
        (&format!("position fen {KINGS_AND_ROOKS}"), 2, 568),
    ] {
        engine.send(&format!("{before}\ngo perft {depth}"));
        let lines = engine.expect("Nodes");
        let of = |line: &String| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        let (last, moves) = lines.split_last().unwrap();
        assert_eq!(*last, format!("Nodes searched: {sum}"));
        assert_eq!(moves.iter().map(of).sum::<u64>(), sum);
    }
    engine.send("go perft 99\nstop");
    let said = engine.expect("info");
    assert_eq!(said, ["info string perft stopped"]);
    engine.send("isready");
    assert_eq!(engine.expect("readyok").len(), 1, "there is no bestmove");
    engine.send("position fen rubbish\ngo perft 1");
    engine.expect("info");
    let said = engine.expect("info");
    assert_eq!(said, [super::search::NO_POSITION]);
}

#[test]
fn invalid_positions_and_options_are_reported_and_the_next_go_works() {
    let mut engine = Engine::new();
    for line in [
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rubbish",
        "position",
        "position startpos moves e2e4 e2e4",
        "setoption name Hash value -1",
        "setoption name Hash value 99999999999999999999",
        "setoption name No Such Thing value x",
    ] {
        engine.send(line);
        let answer = engine.expect("info").pop().unwrap();
        assert!(answer.starts_with("info string "), "{line}: {answer}");
        engine.send("go depth 2");
        engine.expect("bestmove");
    }
}

#[test]
fn options_and_new_games_are_accepted_before_and_during_searches() {
    let mut engine = Engine::new();
    for line in [
        "setoption name Hash value 1",
        "setoption name hash value 3",
        "setoption name Move Overhead value 0",
        "setoption name Ponder value true",
        "ucinewgame",
        "debug on",
        "register later",
    ] {
        engine.send(&format!("{line}\nisready"));
        assert_eq!(engine.expect("readyok").len(), 1, "{line}");
        engine.send(&format!("go infinite\n{line}\nisready\nstop"));
        engine.expect("bestmove");
    }
}

#[test]
fn games_of_20000_plies_are_played_on() {
    let mut engine = Engine::new();
    for rounds in [30, 600, 5000] {
        let moves = " g1f3 g8f6 f3g1 f6g8".repeat(rounds);
        let best = engine.best_move(&format!("position startpos moves{moves}\ngo depth 5"));
        play(&mut Chess::default(), &best);
    }
    let best = engine.best_move("position fen 4k3/8/8/8/8/8/8/4K2R w - - 4000 5000\ngo depth 5");
    assert_ne!(best, "0000");
}

#[test]
fn no_repetition_when_ahead() {
    let mut engine = Engine::new();
    // f2g1 would repeat the position for the third time.
    let fen = "7r/k7/7p/r2p3P/p2PqB2/2R3P1/5K2/3Q3R w - - 25 45";
    let best = engine.best_move(&format!(
        "position fen {fen} moves f2g1 a7b7 g1f2 b7a7 f2g1 a7b7 g1f2 b7a7\ngo depth 6"
    ));
    assert_ne!(best, "f2g1");
}

#[test]
fn positions_with_many_queens_are_searched() {
    let mut engine = Engine::new();
    for fen in [
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        "qqqqqqqk/6pp/8/8/8/8/PP6/KQQQQQQQ w - - 0 1",
    ] {
        let best = engine.best_move(&format!("position fen {fen}\ngo movetime 200"));
        play(&mut position(fen), &best);
        engine.best_move("go nodes 20000");
    }
}

#[test]
fn forty_plies_are_played_on_a_fast_clock() {
    let mut engine = Engine::new();
    let mut now = Chess::default();
    let mut moves = String::new();
    let mut clocks = [2000_i64; 2];
    engine.send("uci\nisready");
    engine.expect("readyok");
    for ply in 0..40 {
        if now.is_game_over() {
            break;
        }
        let start = Instant::now();
        let (best, lines) = engine.search(&format!(
            "position startpos moves{moves}\ngo wtime {} btime {} winc 20 binc 20",
            clocks[0], clocks[1]
        ));
        check_info(&lines, &now, &best);
        let clock = &mut clocks[ply % 2];
        *clock -= i64::try_from(start.elapsed().as_millis()).unwrap();
        *clock = (*clock + 20).max(1);
        play(&mut now, &best);
        moves.push(' ');
        moves.push_str(&best);
    }
}

fn fragment() -> impl Strategy<Value = String> {
    let words = "uci isready ucinewgame stop ponderhit position startpos fen moves go depth nodes \
        movetime wtime btime winc binc movestogo mate infinite ponder searchmoves setoption name \
        value Hash e2e4 e7e8q 0000 e1g1 -1 0 1 7 18446744073709551616 8/8/8/8/8/8/8/8 w b KQkq - \
        4k3/8/8/8/8/8/8/4K3 debug register joho \u{0} \u{fffd}"
        .split_whitespace()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    prop_oneof![
        9 => prop::collection::vec(prop::sample::select(words), 0..9).prop_map(|w| w.join(" ")),
        1 => "\\PC{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_lines_get_one_best_move_for_each_go(lines in prop::collection::vec(fragment(), 0..12)) {
        let mut engine = Engine::new();
        let mut expected = 0;
        for line in &lines {
            // The option allows a table of many GiB, but not in a test.
            let line = line.replace("value 18446744073709551616", "");
            engine.send(&format!("{line}\nstop"));
            let words: Vec<_> = line.split_ascii_whitespace().collect();
            let command = words.iter().find(|word| {
                ["uci", "isready", "ucinewgame", "stop", "ponderhit", "position", "go",
                 "setoption", "debug", "register", "quit"].contains(word)
            });
            expected += usize::from(command == Some(&"go"));
        }
        engine.send("position startpos\ngo depth 1\nisready");
        let rest = engine.finish();
        let answers = rest.iter().filter(|line| line.starts_with("bestmove ")).count();
        prop_assert_eq!(answers, expected + 1, "{:?}", rest);
    }
}
