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
//!
//! Copies that pandas has written escape the slashes of a FEN and, where values are missing
//! in other lines, have `30.0` or `null` for a whole number.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use serde::{Deserialize, Deserializer};
use shakmaty::{CastlingMode, Chess, Color, Position as _, fen::Fen, uci::UciMove};

use crate::eval::{Evaluation, MoveValue, Value};
use tabia_notation as notation;

#[derive(Deserialize)]
struct CloudPosition<'a> {
    #[serde(borrow)]
    fen: Cow<'a, str>,
    evals: Vec<Search<'a>>,
}

#[derive(Deserialize)]
struct Search<'a> {
    #[serde(borrow)]
    pvs: Vec<Pv<'a>>,
    #[serde(default, deserialize_with = "whole")]
    knodes: Option<i64>,
    #[serde(default, deserialize_with = "whole")]
    depth: Option<i64>,
}

#[derive(Deserialize)]
struct Pv<'a> {
    #[serde(default, deserialize_with = "whole")]
    cp: Option<i64>,
    #[serde(default, deserialize_with = "whole")]
    mate: Option<i64>,
    #[serde(borrow, default)]
    line: Option<Cow<'a, str>>,
}

/// A whole number, also as `30.0`, or `null`.
fn whole<'de, D: Deserializer<'de>>(number: D) -> Result<Option<i64>, D::Error> {
    let number = Option::<f64>::deserialize(number)?;
    Ok(number.map(|number| number.round() as i64))
}

impl Search<'_> {
    /// Depth, and thousands of nodes; 0 if unknown.
    fn effort(&self) -> (u16, u64) {
        let depth = self.depth.unwrap_or(0).clamp(0, i64::from(u16::MAX));
        (depth as u16, self.knodes.unwrap_or(0).max(0).unsigned_abs())
    }
}

impl Pv<'_> {
    fn value(&self, turn: Color) -> Option<Value> {
        let limited = |number: i64| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        match (self.cp, self.mate) {
            (Some(cp), None) => Some(Value::cp(limited(cp))),
            (None, Some(mate)) => Some(Value::mate_of_white(turn, limited(mate))),
            _ => None,
        }
    }

    fn first_move(&self) -> Option<UciMove> {
        self.line.as_ref()?.split(' ').next()?.parse().ok()
    }
}

/// The FEN of a line; `None` if there is none. There may be spaces around the colon, and
/// escapes, as JSON allows.
#[must_use]
pub(crate) fn fen_of(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    const NAME: &[u8] = b"\"fen\"";
    // Lines of lichess begin with the FEN.
    let begin = match line.get(1..1 + NAME.len()) {
        Some(text) if text == NAME => 1,
        _ => memmem::find(line, NAME)?,
    };
    let tail = line.get(begin + NAME.len()..)?.trim_ascii_start();
    let value = tail.strip_prefix(b":")?.trim_ascii_start();
    let fen = value.strip_prefix(b"\"")?;
    let fen = fen.get(..memchr::memchr(b'"', fen)?)?;
    if memchr::memchr(b'\\', fen).is_none() {
        return Some(Cow::Borrowed(fen));
    }
    let quoted = value.get(..fen.len() + 2)?;
    let plain: String = serde_json::from_slice(quoted).ok()?;
    Some(Cow::Owned(plain.into_bytes()))
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
    let best = line.evals.iter().max_by_key(|search| search.effort())?;
    let value = best.pvs.first()?.value(turn)?;
    let mut moves: Vec<MoveValue> = Vec::new();
    let mut searches: Vec<&Search<'_>> = line.evals.iter().collect();
    searches.sort_by_key(|search| std::cmp::Reverse(search.effort()));
    for pv in searches.iter().flat_map(|search| &search.pvs) {
        if let (Some(mv), Some(value)) = (pv.first_move(), pv.value(turn))
            && moves.iter().all(|known| known.mv != mv)
        {
            moves.push(MoveValue { mv, value });
        }
    }
    let (depth, knodes) = best.effort();
    let evaluation = Evaluation {
        depth,
        nodes: knodes.saturating_mul(1000),
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
            *fen_of(GENUINE).unwrap(),
            *b"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -"
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

    /// As pandas 2 writes it: `to_json(orient="records", lines=True)`.
    #[test]
    fn lines_of_pandas() {
        let known = read(GENUINE, &lichess()).unwrap();
        let text = std::str::from_utf8(GENUINE).unwrap();
        let pandas = text
            .replace('/', "\\/")
            .replace("\"cp\":311", "\"cp\":311.0,\"mate\":null")
            .replace("\"depth\":36", "\"depth\":36.0")
            .replace("206765", "206765.0");
        assert!(
            pandas.contains("\\/pr3ppn\\/") && pandas.contains("311.0"),
            "{pandas}"
        );
        assert_eq!(fen_of(pandas.as_bytes()), fen_of(GENUINE));
        assert_eq!(read(pandas.as_bytes(), &lichess()), Some(known));
        let gaps = text
            .replace("206765", "null")
            .replace("\"depth\":34", "\"depth\":null");
        let (_, evaluation) = read(gaps.as_bytes(), &lichess()).unwrap();
        assert_eq!((evaluation.depth, evaluation.nodes), (36, 0));
        assert_eq!(fen_of(b"{\"fen\":\"4k3\\x\"}"), None);
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
