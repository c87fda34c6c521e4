//! Evaluations as lines of EPD and a similar form.
//!
//! ```text
//! rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce -31; acd 20; acn 100000; bm c5; c0 "Stockfish 16";
//! rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ; cdb eval: 15, ply: 0;
//! ```
//!
//! `ce` is from the view of the side to move ([`Value::from_ce`]); `acd` is the depth,
//! `acn` the nodes, `bm` the best move, `c0` the source (EPD specification of 1995;
//! python-chess writes and reads the same). Files of Tabia add `c1`: values of single
//! moves, as `"e2e4 31, d2d4 28"`, in the unit and view of `ce`; and `c9`, the share of
//! won, drawn and lost games of 1000 that the engine predicts for the side to move: `"wdl
//! 183 806 11"`. The second form is that of tools for chessdb.cn: its number, or `M12`
//! and `-M12`, mates in plies.

use std::{fmt::Write as _, sync::Arc};

use shakmaty::{CastlingMode, Chess, Color, Position as _, fen::Fen, uci::UciMove};

use crate::eval::{Evaluation, MoveValue, Value};
use tabia_notation as notation;

/// Why a line is not an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EpdFault {
    /// The first four words are not a legal position.
    #[error("not a legal position")]
    Position,
    /// The line has no value.
    #[error("no value (\"ce\" or \"cdb eval:\")")]
    NoValue,
    /// The value cannot be parsed.
    #[error("a value that cannot be read")]
    BadValue,
}

/// Reads a line.
///
/// # Errors
///
/// The line is not an evaluation.
pub fn read(line: &str) -> Result<(Chess, Evaluation), EpdFault> {
    let (position, rest) = position(line).ok_or(EpdFault::Position)?;
    let turn = position.turn();
    let mut evaluation = Evaluation::from(Value::Cp(0));
    let mut value = None;
    let mut best = None;
    for (name, operand) in operations(rest) {
        match name {
            "ce" => {
                let ce = operand.parse().map_err(|_| EpdFault::BadValue)?;
                value = Some(Value::from_ce(turn, ce).ok_or(EpdFault::BadValue)?);
            }
            "cdb" => {
                value = Some(cdb(turn, operand).ok_or(EpdFault::BadValue)?);
                evaluation.source = Arc::from("chessdb.cn");
            }
            "acd" => evaluation.depth = operand.parse().unwrap_or(0),
            "acn" => evaluation.nodes = operand.parse().unwrap_or(0),
            "bm" => best = operand.split_whitespace().next(),
            "c0" => evaluation.source = Arc::from(operand),
            "c1" => evaluation.moves = moves(turn, operand),
            "c9" => evaluation.wdl = wdl(operand),
            _ => {}
        }
    }
    evaluation.value = value.ok_or(EpdFault::NoValue)?;
    // A single best move has the value of the position.
    if evaluation.moves.is_empty()
        && let Some(word) = best
        && let Ok(mv) = notation::read_move(&position, word)
    {
        evaluation.moves.push(MoveValue {
            mv: UciMove::from_move(mv, CastlingMode::Chess960),
            value: evaluation.value,
        });
    }
    Ok((position, evaluation))
}

/// Writes a line, with the line feed.
pub fn write(position: &Chess, evaluation: &Evaluation, out: &mut String) {
    let turn = position.turn();
    let fen = notation::fen(position);
    let fields = fen.split(' ').take(4);
    for field in fields {
        out.push_str(field);
        out.push(' ');
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "ce {};", evaluation.value.to_ce(turn));
    if evaluation.depth > 0 {
        let _ = write!(out, " acd {};", evaluation.depth);
    }
    if evaluation.nodes > 0 {
        let _ = write!(out, " acn {};", evaluation.nodes);
    }
    if let Some(best) = evaluation.moves.first()
        && let Ok(mv) = best.mv.to_move(position)
    {
        let _ = write!(out, " bm {};", notation::san(position, mv));
    }
    if !evaluation.source.is_empty() {
        let source = evaluation.source.replace(['"', '\n', '\r'], " ");
        let _ = write!(out, " c0 \"{source}\";");
    }
    if !evaluation.moves.is_empty() {
        let moves = evaluation
            .moves
            .iter()
            .map(|known| format!("{} {}", known.mv, known.value.to_ce(turn)));
        let _ = write!(out, " c1 \"{}\";", moves.collect::<Vec<_>>().join(", "));
    }
    if let Some([won, drawn, lost]) = evaluation.wdl {
        let _ = write!(out, " c9 \"wdl {won} {drawn} {lost}\";");
    }
    out.push('\n');
}

/// Parses `wdl 183 806 11`.
fn wdl(operand: &str) -> Option<[u16; 3]> {
    let numbers = operand.strip_prefix("wdl ")?.split(' ');
    let numbers: Vec<u16> = numbers
        .map_while(|number| number.parse::<u16>().ok())
        .collect();
    numbers.try_into().ok()
}

/// The position of a line, and the text after it; counters of a FEN are skipped.
fn position(line: &str) -> Option<(Chess, &str)> {
    let mut rest = line.trim_start();
    let mut end = 0;
    let mut fields = 0;
    while fields < 4 {
        let skipped = rest.len() - rest.trim_start().len();
        let word = rest.split_whitespace().next()?;
        rest = rest.get(skipped + word.len()..)?;
        fields += 1;
        end = line.len() - rest.len();
    }
    let fen = line.get(..end)?.trim_start();
    for _ in 0..2 {
        let number = rest.trim_start();
        let digits = number.len()
            - number
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        match number.get(digits..) {
            Some(after) if digits > 0 && after.starts_with([' ', ';', '\t']) => rest = after,
            Some("") if digits > 0 => rest = "",
            _ => break,
        }
    }
    let setup = Fen::from_ascii(fen.as_bytes()).ok()?.into_setup();
    let position = notation::position_of(setup, CastlingMode::Chess960).ok()?;
    Some((position, rest))
}

/// Splits `name operand;` operations; strings are without quotes.
fn operations(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches([' ', '\t', ';', '\r', '\n']);
            if rest.is_empty() {
                return None;
            }
            let name_end = rest.find([' ', '\t', ';']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(name_end);
            let after = after.trim_start_matches([' ', '\t']);
            if let Some(quoted) = after.strip_prefix('"') {
                let end = quoted.find('"').unwrap_or(quoted.len());
                let (operand, tail) = quoted.split_at(end);
                rest = tail.trim_start_matches('"');
                return Some((name, operand));
            }
            let end = after.find(';').unwrap_or(after.len());
            let (operand, tail) = after.split_at(end);
            rest = tail;
            if !name.is_empty() {
                return Some((name, operand.trim()));
            }
        }
    })
}

/// Parses `eval: 65, ply: 5`.
fn cdb(turn: Color, operand: &str) -> Option<Value> {
    let text = operand.trim_start().strip_prefix("eval:")?;
    let number = text.split(',').next()?.trim();
    let (sign, plain) = match number.strip_prefix('-') {
        Some(plain) => (-1, plain),
        None => (1, number),
    };
    match plain.strip_prefix('M') {
        Some(plies) => {
            let plies: i32 = plies.parse().ok()?;
            Some(Value::from_cdb(
                turn,
                sign * 30_000_i32.saturating_sub(plies),
            ))
        }
        None => Some(Value::from_cdb(turn, number.parse().ok()?)),
    }
}

fn moves(turn: Color, operand: &str) -> Vec<MoveValue> {
    let known = operand.split(',').filter_map(|item| {
        let (mv, ce) = item.trim().split_once(' ')?;
        Some(MoveValue {
            mv: mv.parse().ok()?,
            value: Value::from_ce(turn, ce.trim().parse().ok()?)?,
        })
    });
    known.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

    #[test]
    fn lines_are_read_with_black_to_move() {
        let line =
            format!("{AFTER_E4} ce -31; acd 20; acn 100000; bm c5 e5; c0 \"Stockfish; 16\";");
        let (position, evaluation) = read(&line).unwrap();
        assert_eq!(position.turn(), Color::Black);
        assert_eq!(evaluation.value, Value::Cp(31));
        assert_eq!((evaluation.depth, evaluation.nodes), (20, 100_000));
        assert_eq!(&*evaluation.source, "Stockfish; 16");
        assert_eq!(evaluation.moves[0].mv.to_string(), "c7c5");
    }

    #[test]
    fn counters_of_a_fen_are_passed_over() {
        for line in ["0 1", "0 1 ce 5;", "3 12; ce 5;", "ce 5", "0 1 ce 5; # x"] {
            let read = read(&format!("{AFTER_E4} {line}"));
            match line {
                "0 1" => assert_eq!(read, Err(EpdFault::NoValue)),
                _ => assert_eq!(read.unwrap().1.value, Value::Cp(-5), "{line}"),
            }
        }
    }

    #[test]
    fn lines_of_the_chess_cloud_database() {
        let read = |text: &str| read(&format!("{AFTER_E4} ; cdb eval: {text}, ply: 5;"));
        assert_eq!(read("65").unwrap().1.value, Value::Cp(-65));
        let mate = |winner| Value::Mate { winner, moves: 6 };
        assert_eq!(read("-M12").unwrap().1.value, mate(Color::White));
        assert_eq!(read("M11").unwrap().1.value, mate(Color::Black));
        assert_eq!(read("??"), Err(EpdFault::BadValue));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let line = format!(
            "{AFTER_E4} ce 32758; acd 9; acn 77; bm e5; c0 \"x\"; c1 \"e7e5 32758, c7c5 -12\";\n"
        );
        let (position, evaluation) = read(&line).unwrap();
        let mut again = String::new();
        write(&position, &evaluation, &mut again);
        assert_eq!(again, line);
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        assert_eq!(read("").unwrap_err(), EpdFault::Position);
        assert_eq!(
            read("8/8/8/8/8/8/8/8 w - - ce 1;").unwrap_err(),
            EpdFault::Position
        );
        assert_eq!(
            read(&format!("{AFTER_E4} ce x;")).unwrap_err(),
            EpdFault::BadValue
        );
        assert_eq!(
            read(&format!("{AFTER_E4} ce \"")).unwrap_err(),
            EpdFault::BadValue
        );
    }
}
