//! The evaluation export of lichess: one JSON object a line.
//!
//! ```json
//! {"fen":"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -",
//!  "evals":[{"pvs":[{"cp":311,"line":"g2e4 f7f5"}],"knodes":206765,"depth":36}]}
//! ```
//!
//! Values are from White's view; FENs have four fields; castling is king takes rook (real
//! lines; `lichess-org/database`). Of several evaluations of a position the deepest is
//! used, and of that the first line; the other lines give values of single moves. The
//! file has hundreds of millions of lines, few of them about positions of a book:
//! `fen_of` cuts out the FEN without parsing JSON, and only matching lines are parsed.

use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use shakmaty::{CastlingMode, Chess, Color, Position as _, fen::Fen, uci::UciMove};

use crate::eval::{Evaluation, MoveValue, Value};
use tabia_notation as notation;

#[derive(Deserialize)]
struct CloudPosition<'a> {
    #[serde(borrow)]
    fen: std::borrow::Cow<'a, str>,
    evals: Vec<Search<'a>>,
}

#[derive(Deserialize)]
struct Search<'a> {
    #[serde(borrow)]
    pvs: Vec<Pv<'a>>,
    #[serde(default)]
    knodes: u64,
    #[serde(default)]
    depth: u16,
}

#[derive(Deserialize)]
struct Pv<'a> {
    cp: Option<i32>,
    mate: Option<i32>,
    #[serde(borrow, default)]
    line: std::borrow::Cow<'a, str>,
}

impl Pv<'_> {
    fn value(&self, turn: Color) -> Option<Value> {
        match (self.cp, self.mate) {
            (Some(cp), None) => Some(Value::cp(cp)),
            (None, Some(mate)) => Some(Value::mate_of_white(turn, mate)),
            _ => None,
        }
    }

    fn first_move(&self) -> Option<UciMove> {
        self.line.split(' ').next()?.parse().ok()
    }
}

/// The FEN of a line, as written; `None` if there is none. There may be spaces around the
/// colon, as JSON allows.
#[must_use]
pub(crate) fn fen_of(line: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"\"fen\"";
    // Lines of lichess begin with the FEN.
    let begin = match line.get(1..1 + NAME.len()) {
        Some(text) if text == NAME => 1,
        _ => memmem::find(line, NAME)?,
    };
    let tail = line.get(begin + NAME.len()..)?.trim_ascii_start();
    let value = tail.strip_prefix(b":")?.trim_ascii_start();
    let fen = value.strip_prefix(b"\"")?;
    fen.get(..memchr::memchr(b'"', fen)?)
}

/// The position of a FEN in the form of these files.
#[must_use]
pub fn position(fen: &[u8]) -> Option<Chess> {
    let setup = Fen::from_ascii(fen).ok()?.into_setup();
    notation::position_of(setup, CastlingMode::Chess960).ok()
}

/// Parses a whole line; `None` if it is invalid or has no value.
#[must_use]
pub fn read(line: &[u8], source: &Arc<str>) -> Option<(Chess, Evaluation)> {
    let line: CloudPosition<'_> = serde_json::from_slice(line).ok()?;
    let position = position(line.fen.as_bytes())?;
    let turn = position.turn();
    let best = line
        .evals
        .iter()
        .max_by_key(|search| (search.depth, search.knodes))?;
    let value = best.pvs.first()?.value(turn)?;
    let mut moves: Vec<MoveValue> = Vec::new();
    let mut searches: Vec<&Search<'_>> = line.evals.iter().collect();
    searches.sort_by_key(|search| std::cmp::Reverse((search.depth, search.knodes)));
    for pv in searches.iter().flat_map(|search| &search.pvs) {
        if let (Some(mv), Some(value)) = (pv.first_move(), pv.value(turn))
            && moves.iter().all(|known| known.mv != mv)
        {
            moves.push(MoveValue { mv, value });
        }
    }
    let evaluation = Evaluation {
        depth: best.depth,
        nodes: best.knodes.saturating_mul(1000),
        source: Arc::clone(source),
        moves,
        ..Evaluation::from(value)
    };
    Some((position, evaluation))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const GENUINE: &[u8] = br#"{"fen":"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -","evals":[{"pvs":[{"cp":311,"line":"g2e4 f7f5 e4b7 c8b7"}],"knodes":206765,"depth":36},{"pvs":[{"cp":292,"line":"g2e4 f7f5"},{"cp":277,"line":"f4g3 f7f5"}],"knodes":92958,"depth":34}]}"#;

    fn lichess() -> Arc<str> {
        Arc::from("lichess")
    }

    #[test]
    fn a_genuine_line() {
        assert_eq!(
            fen_of(GENUINE).unwrap(),
            b"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -"
        );
        let (_, evaluation) = read(GENUINE, &lichess()).unwrap();
        assert_eq!(evaluation.value, Value::Cp(311));
        assert_eq!((evaluation.depth, evaluation.nodes), (36, 206_765_000));
        let moves: Vec<String> = evaluation
            .moves
            .iter()
            .map(|known| format!("{} {}", known.mv, known.value))
            .collect();
        assert_eq!(moves, ["g2e4 +3.11", "f4g3 +2.77"]);
    }

    #[test]
    fn blanks_and_the_order_of_names_do_not_matter() {
        let known = read(GENUINE, &lichess()).unwrap();
        let text = std::str::from_utf8(GENUINE).unwrap();
        let spaced = text.replace(':', ": ").replace(',', ", ");
        let (head, evals) = text.split_once(",\"evals\":").unwrap();
        let (head, evals) = (&head[1..], &evals[..evals.len() - 1]);
        let turned = format!("{{ \"evals\" : {evals} , {} }}", head.replace(':', "\t:\t"));
        for line in [spaced, turned] {
            assert_eq!(fen_of(line.as_bytes()), fen_of(GENUINE), "{line}");
            assert_eq!(read(line.as_bytes(), &lichess()).unwrap(), known, "{line}");
        }
    }

    #[test]
    fn mates_are_whites_with_black_to_move_too() {
        let line = br#"{"fen":"rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq -","evals":[{"pvs":[{"mate":-1,"line":"d8h4"}],"knodes":1,"depth":99}]}"#;
        let (position, evaluation) = read(line, &lichess()).unwrap();
        assert_eq!(position.turn(), Color::Black);
        assert_eq!(evaluation.value, Value::mate_of_mover(Color::Black, 1));
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "{",
            "{\"fen\":\"x\",\"evals\":[]}",
            "[1]",
            "{\"fen\":\"",
        ] {
            assert_eq!(read(line.as_bytes(), &lichess()), None);
        }
    }
}
