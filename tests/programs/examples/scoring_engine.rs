//! A UCI engine without a search, for tests of programs that ask engines for
//! evaluations: the letters of a legal move decide its score. It supports MultiPV
//! and `searchmoves`.
//!
//! It appends a line for each search to the file `SCORING_ENGINE_NOTES`: the
//! position, and ` only` with searchmoves.
//! `SCORING_ENGINE_DIES` is the number of searches after which it ends without an
//! answer, `SCORING_ENGINE_HANGS` the number after which it stops answering,
//! `SCORING_ENGINE_SHY` the number of searches that return only their first line, as early
//! stopped ones do.
//! `SCORING_ENGINE_VALUES` is a file of positions with better values, a line each:
//! the first four fields of a FEN, score and best move, as
//! `8/8/... w - -;cp 30;e2e4`. For these it reports as many nodes as requested;
//! for others always 100.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};

use shakmaty::fen::Fen;
use shakmaty::{Chess, Position};
use test_programs::engine::{position, uci};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A score from -50 to 50, from the letters of a text.
fn score(text: &str) -> i64 {
    let sum = text
        .bytes()
        .fold(7_i64, |sum, b| (sum * 31 + i64::from(b)) % 10_007);
    sum % 101 - 50
}

fn main() -> io::Result<()> {
    let mut notes = match std::env::var_os("SCORING_ENGINE_NOTES") {
        Some(path) => Some(File::options().append(true).create(true).open(path)?),
        None => None,
    };
    let (dies, hangs) = (
        number("SCORING_ENGINE_DIES"),
        number("SCORING_ENGINE_HANGS"),
    );
    let shy = number("SCORING_ENGINE_SHY").unwrap_or(0);
    let values = match std::env::var_os("SCORING_ENGINE_VALUES") {
        Some(path) => fs::read_to_string(path)?,
        None => String::new(),
    };
    let values = values.lines().filter_map(|line| line.split_once(';'));
    let values: HashMap<&str, &str> = values.collect();
    let mut out = io::stdout().lock();
    let mut board = Chess::default();
    let mut lines = 1;
    let mut searches = 0;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["uci"] => {
                writeln!(out, "id name Scorer 1\nid author tests")?;
                writeln!(
                    out,
                    "option name MultiPV type spin default 1 min 1 max 9\nuciok"
                )?;
            }
            ["isready"] => writeln!(out, "readyok")?,
            ["setoption", "name", "MultiPV", "value", value] => lines = value.parse().unwrap_or(1),
            ["position", ref rest @ ..] => board = position(rest),
            ["go", ref limits @ ..] => {
                searches += 1;
                let after =
                    |name: &str| limits.iter().skip_while(move |word| **word != name).nth(1);
                let nodes = after("nodes").copied().unwrap_or("100");
                let only = limits.iter().position(|word| *word == "searchmoves");
                let only = only.map(|at| &limits[at + 1..]);
                let fen = Fen::from_position(&board, shakmaty::EnPassantMode::Legal).to_string();
                if let Some(notes) = &mut notes {
                    let only = if only.is_some() { " only" } else { "" };
                    notes.write_all(format!("{fen}{only}\n").as_bytes())?;
                }
                if dies == Some(searches) {
                    std::process::exit(3);
                }
                while hangs == Some(searches) {
                    std::thread::park();
                }
                let fields: Vec<&str> = fen.split(' ').take(4).collect();
                let known = values.get(&*fields.join(" ")).filter(|_| only.is_none());
                if let Some((score, best)) = known.and_then(|known| known.split_once(';')) {
                    writeln!(out, "info depth 8 score {score} nodes {nodes} pv {best}")?;
                    writeln!(out, "bestmove {best}")?;
                    out.flush()?;
                    continue;
                }
                let moves = board.legal_moves();
                let mut moves: Vec<(i64, String)> = moves
                    .into_iter()
                    .map(uci)
                    .filter(|mv| only.is_none_or(|only| only.contains(&mv.as_str())))
                    .map(|mv| (score(&format!("{fen}{mv}")), mv))
                    .collect();
                moves.sort_by(|a, b| b.cmp(a));
                let reported = if searches <= shy { 1 } else { lines };
                for (n, (score, mv)) in moves.iter().take(reported).enumerate() {
                    let n = n + 1;
                    writeln!(
                        out,
                        "info depth 8 multipv {n} score cp {score} nodes 100 pv {mv}"
                    )?;
                }
                let best = moves.first().map_or("0000", |(_, mv)| mv);
                writeln!(out, "bestmove {best}")?;
            }
            ["quit"] => return Ok(()),
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}
