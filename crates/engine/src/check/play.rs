//! Checks with searches of every kind.

use std::time::Duration;

use shakmaty::{CastlingMode, Position};

use super::walk::{
    Fault, Scene, StepFn, Verdict, Walk, explain, first_word, seconds, standard, with_remarks,
};
use super::{Outcome, clocks};
use crate::peer::Missing;

pub(super) const STEPS: &[(&str, StepFn)] = &[
    ("searches to a depth", depth),
    ("searches for a time", movetime),
    ("plays on a clock", clock),
    ("plays on its own clock alone", clocks::own_clock_alone),
    ("plays with increment and moves to go", clocks::moves_to_go),
    ("plays when no time is left", clocks::no_time_left),
    ("is silent after a late \"stop\"", clocks::late_stop),
    ("searches a number of nodes", |walk| {
        simple(walk, "", "", "go nodes 500")
    }),
    ("reads lines that end in CR LF", crlf),
    ("continues a game as Black", |walk| {
        simple(walk, "", "e2e4 e7e5 g1f3", "go depth 3")
    }),
    ("plays from a FEN", |walk| {
        simple(walk, MIDDLEGAME, "", "go depth 3")
    }),
    ("reads a castling move", |walk| {
        simple(walk, CASTLING, "e1g1 e8c8", "go depth 2")
    }),
    ("promotes", |walk| simple(walk, PROMOTION, "", "go depth 3")),
    ("reads a promotion", |walk| {
        simple(walk, PROMOTION, "a7a8n", "go depth 2")
    }),
    ("plays the only legal move", |walk| {
        simple(walk, ONLY_MOVE, "", "go wtime 1000 btime 1000")
    }),
    ("obeys \"searchmoves\"", searchmoves),
    ("castles in the usual notation", castles),
    ("answers \"isready\" during a search", ready_in_search),
    ("searches until \"stop\"", |walk| {
        until_stop(walk, "go infinite")
    }),
    ("ponders until \"ponderhit\"", ponderhit),
    ("ends pondering on \"stop\"", ponder_stop),
    ("keeps a \"stop\" that comes with its \"go\"", |walk| {
        together(walk, "go infinite", "stop")
    }),
    (
        "keeps a \"ponderhit\" that comes with its \"go\"",
        early_hit,
    ),
    ("shows several lines (MultiPV)", multipv),
    ("plays Chess960", chess960),
    ("has no move when mated", |walk| {
        simple(walk, MATED, "", "go depth 2")
    }),
    ("has no move in stalemate", |walk| {
        simple(walk, STALEMATE, "", "go depth 2")
    }),
    ("plays on after 600 plies", long_game),
];

const MIDDLEGAME: &str = "r3r1k1/pp3pbp/1Bp1b1p1/8/2BP4/Q1n2N2/P4PPP/3R1K1R b - - 0 18";
const CASTLING: &str = "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 9";
/// Every legal move promotes.
const PROMOTION: &str = "8/P7/4b3/8/8/8/2k5/K7 w - - 0 1";
const ONLY_MOVE: &str = "8/8/8/8/r7/1k6/8/K7 w - - 0 1";
const MATED: &str = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";
const STALEMATE: &str = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const CHESS960: &str = "r1k4r/p6p/8/8/8/8/P6P/R1K4R w HAha - 0 1";

const CLOCK_MS: u128 = 1000;

/// Delay after `movetime` that GUIs accept.
const SLACK_MS: u128 = 400;

fn simple(walk: &mut Walk<'_>, fen: &str, moves: &str, go: &str) -> Result<Verdict, Fault> {
    Ok(walk.search(&standard(fen, moves)?, go)?.verdict())
}

fn depth(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let mut answer = walk.search(&standard("", "")?, "go depth 3")?;
    if !answer.infos.iter().any(|info| info.scored) {
        answer.remark("no info line with a score; tournament managers want one");
    } else if !answer.infos.iter().any(|info| !info.pv.is_empty()) {
        answer.remark("no info line with a pv; GUIs have nothing to show");
    }
    Ok(answer.verdict())
}

fn movetime(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let mut answer = walk.search(&standard("", "e2e4")?, "go movetime 100")?;
    if answer.took.as_millis() > 100 + SLACK_MS {
        let took = answer.took.as_millis();
        answer.remark(format!("took {took} ms instead of 100"));
    }
    Ok(answer.verdict())
}

fn clock(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let go = format!("go wtime {CLOCK_MS} btime {CLOCK_MS} winc 50 binc 50");
    let answer = walk.search(&standard("", "d2d4")?, &go)?;
    answer.in_time(CLOCK_MS)
}

fn crlf(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    walk.peer()?.send_raw("isready", "\r\n");
    walk.until("readyok", walk.patience.ready)?;
    walk.peer()?
        .send_raw("position startpos moves e2e4", "\r\n");
    walk.peer()?.send_raw("go depth 1", "\r\n");
    walk.until("bestmove", walk.patience.search)?;
    walk.ready()?;
    Ok((Outcome::Passed, String::new()))
}

fn searchmoves(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    // Moves that no engine plays without `searchmoves`.
    let allowed = ["f2f3", "g2g4"];
    let go = format!("go depth 3 searchmoves {}", allowed.join(" "));
    let mut answer = walk.search(&standard("", "")?, &go)?;
    if !allowed.contains(&&*answer.best) {
        answer.remark(format!(
            "when asked for {} it played {}",
            allowed.join(" or "),
            answer.best
        ));
    }
    Ok(answer.verdict())
}

fn castles(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let scene = standard(CASTLING, "")?;
    let answer = walk.search(&scene, "go depth 2 searchmoves e1g1 e1c1")?;
    if !["e1g1", "e1c1"].contains(&&*answer.best) {
        return Ok((Outcome::Skipped, "it ignores \"searchmoves\"".to_owned()));
    }
    Ok(answer.verdict())
}

fn ready_in_search(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let scene = standard("", "e2e4 c7c5")?;
    begin(walk, &scene, "go infinite")?;
    let asked = walk.now()?;
    walk.send("isready")?;
    let lines = walk.until("readyok", walk.patience.ready)?;
    no_answer_in(&lines, "stop")?;
    let took = walk.now()? - asked;
    walk.send("stop")?;
    let answer = walk.answer(&scene, asked, walk.patience.stop)?;
    let note = format!("after {} ms", took.as_millis());
    Ok(with_remarks(note, &answer.remarks))
}

fn until_stop(walk: &mut Walk<'_>, go: &str) -> Result<Verdict, Fault> {
    let scene = standard("", "e2e4 e7e5")?;
    begin(walk, &scene, go)?;
    let start = walk.now()?;
    walk.send("stop")?;
    let answer = walk.answer(&scene, start, walk.patience.stop)?;
    Ok(answer.verdict())
}

/// Starts a search and checks that it does not end by itself.
fn begin(walk: &mut Walk<'_>, scene: &Scene, go: &str) -> Result<(), Fault> {
    walk.send(&scene.line)?;
    walk.send(go)?;
    let lines = walk.watch(walk.patience.watch)?;
    no_answer_in(&lines, "stop")
}

fn no_answer_in(lines: &[String], awaited: &str) -> Result<(), Fault> {
    if lines.iter().any(|line| first_word(line) == "bestmove") {
        return Err(format!("it answered before \"{awaited}\""));
    }
    Ok(())
}

const GO_PONDER: &str = "go ponder wtime 1000 btime 1000 winc 20 binc 20";

/// The result of a step whose option the engine does not have.
fn without(walk: &Walk<'_>, option: &str) -> Option<Verdict> {
    let mut declared = walk.options.iter();
    let is_known = declared.any(|known| known.name.eq_ignore_ascii_case(option));
    (!is_known).then(|| (Outcome::Skipped, format!("it has no option {option}")))
}

fn ponderhit(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    if let Some(skipped) = without(walk, "Ponder") {
        return Ok(skipped);
    }
    walk.send("setoption name Ponder value true")?;
    let scene = standard("", "e2e4 e7e5")?;
    begin(walk, &scene, GO_PONDER)?;
    let start = walk.now()?;
    walk.send("ponderhit")?;
    let answer = walk.answer(&scene, start, walk.patience.search)?;
    answer.in_time(CLOCK_MS)
}

fn ponder_stop(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    if let Some(skipped) = without(walk, "Ponder") {
        return Ok(skipped);
    }
    walk.send("setoption name Ponder value true")?;
    let verdict = until_stop(walk, GO_PONDER)?;
    walk.send("setoption name Ponder value false")?;
    walk.ready()?;
    Ok(verdict)
}

/// Both lines in one write: a program that changes its mind at once sends them so.
fn together(walk: &mut Walk<'_>, go: &str, word: &str) -> Result<Verdict, Fault> {
    let scene = standard("", "e2e4 e7e5")?;
    walk.send(&scene.line)?;
    let start = walk.now()?;
    walk.send(&format!("{go}\n{word}"))?;
    let limit = walk.patience.stop;
    match walk.peer()?.until("bestmove", limit) {
        Ok(_) => {
            let took = walk.now()? - start;
            walk.ready()?;
            Ok((Outcome::Passed, format!("after {} ms", took.as_millis())))
        }
        Err(Missing::Silent) => {
            let text = format!(
                "no \"bestmove\" within {}: it loses a \"{word}\" that comes before its search \
                 has begun. Tabia waits for its first line, other programs may hang",
                seconds(limit)
            );
            // It may read nothing more.
            walk.drop_peer();
            Ok((Outcome::Warning, text))
        }
        Err(missing) => Err(explain(&missing, "bestmove", limit)),
    }
}

fn early_hit(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    if let Some(skipped) = without(walk, "Ponder") {
        return Ok(skipped);
    }
    walk.send("setoption name Ponder value true")?;
    let verdict = together(walk, GO_PONDER, "ponderhit")?;
    walk.send("setoption name Ponder value false")?;
    walk.ready()?;
    Ok(verdict)
}

fn multipv(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    if let Some(skipped) = without(walk, "MultiPV") {
        return Ok(skipped);
    }
    walk.send("setoption name MultiPV value 3")?;
    let answer = walk.search(&standard("", "")?, "go depth 4")?;
    walk.send("setoption name MultiPV value 1")?;
    walk.ready()?;
    let line = |n| {
        let mut infos = answer.infos.iter().filter(|info| info.multipv == Some(n));
        infos
            .rfind(|info| !info.pv.is_empty())
            .map(|info| &info.pv[0])
    };
    let (Some(first), Some(second), Some(third)) = (line(1), line(2), line(3)) else {
        return Err(
            "when asked for three lines it did not show \"multipv 1\" to \"multipv 3\"".into(),
        );
    };
    if first == second || second == third || first == third {
        return Err("two of its lines begin with the same move".into());
    }
    Ok(answer.verdict())
}

fn chess960(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    if let Some(skipped) = without(walk, "UCI_Chess960") {
        return Ok(skipped);
    }
    walk.send("setoption name UCI_Chess960 value true")?;
    let read = Scene::new(CHESS960, "c1h1 c8a8", CastlingMode::Chess960)?;
    let mut answer = walk.search(&read, "go depth 3")?;
    let write = Scene::new(CHESS960, "", CastlingMode::Chess960)?;
    let castled = walk.search(&write, "go depth 2 searchmoves c1h1")?;
    answer.remarks.extend(castled.remarks);
    walk.send("setoption name UCI_Chess960 value false")?;
    walk.ready()?;
    Ok(answer.verdict())
}

fn long_game(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(150);
    let scene = standard("", moves.trim_end())?;
    debug_assert!(!scene.board.legal_moves().is_empty());
    let mut answer = walk.search(&scene, "go movetime 50")?;
    if answer.took > Duration::from_secs(2) {
        answer.remark(format!("took {} ms", answer.took.as_millis()));
    }
    Ok(answer.verdict())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_of_the_steps_are_legal() {
        for (fen, moves) in [
            (MIDDLEGAME, ""),
            (CASTLING, "e1g1 e8c8"),
            (PROMOTION, "a7a8n"),
            (ONLY_MOVE, ""),
            (MATED, ""),
            (STALEMATE, ""),
        ] {
            assert!(standard(fen, moves).is_ok(), "{fen}");
        }
        assert!(Scene::new(CHESS960, "c1h1 c8a8", CastlingMode::Chess960).is_ok());
        let promotion = standard(PROMOTION, "").map(|s| s.board.legal_moves());
        assert!(promotion.is_ok_and(|moves| moves.iter().all(|m| m.is_promotion())));
        let only = standard(ONLY_MOVE, "").map(|s| s.board.legal_moves().len());
        assert!(matches!(only, Ok(1)));
    }
}
