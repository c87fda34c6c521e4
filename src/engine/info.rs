//! What an engine found, out of the `info` lines of one search.
//!
//! The last exact score of the deepest depth counts: `lowerbound` and
//! `upperbound` are no values. With `MultiPV` the lines of the deepest depth
//! that has a first line make up the answer.

use shakmaty::{Color, uci::UciMove};

use crate::eval::{Evaluation, MoveValue, Value};

/// Moves of one line that are read; engines seldom tell as many.
const MOST_MOVES: usize = 40;

/// One `info` line with a score.
pub(in crate::engine) struct Info {
    pub(in crate::engine) depth: u16,
    pub(in crate::engine) multipv: u16,
    /// `None` unless it is exact.
    pub(in crate::engine) value: Option<Value>,
    /// The line of play: the words of it that are moves.
    pub(in crate::engine) line: Vec<UciMove>,
    pub(in crate::engine) nodes: Option<u64>,
    pub(in crate::engine) nodes_a_second: Option<u64>,
    wdl: Option<[u16; 3]>,
}

/// Reads the lines of a search; `turn` is to move. `None` if there is no
/// exact score among them.
pub fn finding<'a>(turn: Color, lines: impl IntoIterator<Item = &'a str>) -> Option<Evaluation> {
    // By number of the line, the deepest value of each.
    let mut best: Vec<Option<Info>> = Vec::new();
    let mut nodes = 0;
    for info in lines.into_iter().filter_map(|line| read(turn, line)) {
        nodes = info.nodes.unwrap_or(nodes);
        let place = usize::from(info.multipv.clamp(1, 500)) - 1;
        if info.value.is_none() {
            continue;
        }
        if best.len() <= place {
            best.resize_with(place + 1, || None);
        }
        if let Some(slot) = best.get_mut(place)
            && slot.as_ref().is_none_or(|known| known.depth <= info.depth)
        {
            *slot = Some(info);
        }
    }
    let first = best.first()?.as_ref()?;
    let (value, depth, wdl) = (first.value?, first.depth, first.wdl);
    let moves = best.iter().flatten().filter_map(|info| {
        Some(MoveValue {
            mv: *info.line.first()?,
            value: info.value?,
        })
    });
    let mut moves: Vec<MoveValue> = moves.collect();
    // Lines of different depths may have changed places.
    let mut seen = Vec::new();
    moves.retain(|known| {
        let new = !seen.contains(&known.mv);
        seen.push(known.mv);
        new
    });
    Some(Evaluation {
        depth,
        nodes,
        wdl,
        moves,
        ..Evaluation::from(value)
    })
}

/// What a line of the engine tells about its search.
pub(in crate::engine) fn read(turn: Color, line: &str) -> Option<Info> {
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some("info") {
        return None;
    }
    let mut info = Info {
        depth: 0,
        multipv: 1,
        value: None,
        line: Vec::new(),
        nodes: None,
        nodes_a_second: None,
        wdl: None,
    };
    while let Some(word) = words.next() {
        match word {
            "depth" => info.depth = words.next()?.parse().ok()?,
            "multipv" => info.multipv = words.next()?.parse().ok()?,
            "nodes" => info.nodes = words.next()?.parse().ok(),
            "nps" => info.nodes_a_second = words.next()?.parse().ok(),
            "score" => {
                let kind = words.next()?;
                let number: i32 = words.next()?.parse().ok()?;
                info.value = match kind {
                    "cp" => Some(Value::cp_of_mover(turn, number)),
                    "mate" => Some(Value::mate_of_mover(turn, number)),
                    _ => None,
                };
            }
            "wdl" => {
                let mut share = || words.next()?.parse().ok();
                info.wdl = Some([share()?, share()?, share()?]);
            }
            "lowerbound" | "upperbound" => info.value = None,
            "pv" => {
                let moves = words.map_while(|word| word.parse().ok());
                info.line = moves.take(MOST_MOVES).collect();
                break;
            }
            "string" => break,
            _ => {}
        }
    }
    Some(info)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn moves(finding: &Evaluation) -> Vec<String> {
        let text = |known: &MoveValue| format!("{} {}", known.mv, known.value);
        finding.moves.iter().map(text).collect()
    }

    #[test]
    fn the_last_exact_score_counts_from_whites_view() {
        let lines = [
            "info depth 9 seldepth 12 multipv 1 score cp 20 nodes 900 pv e7e5 g1f3",
            "info depth 10 score cp 35 lowerbound nodes 1000 pv c7c5",
            "info depth 10 currmove e7e6 currmovenumber 3",
            "info string NNUE score cp 999",
            "bestmove e7e5",
        ];
        let found = finding(Color::Black, lines).unwrap();
        assert_eq!(
            (found.value, found.depth, found.nodes),
            (Value::Cp(-20), 9, 1000)
        );
        assert_eq!(moves(&found), ["e7e5 -0.20"]);
    }

    #[test]
    fn several_lines_of_play() {
        let lines = [
            "info depth 5 multipv 1 score cp 30 pv e2e4",
            "info depth 5 multipv 2 score cp 25 pv d2d4",
            "info depth 6 multipv 1 score cp 33 wdl 100 850 50 pv d2d4 d7d5",
            "info depth 6 multipv 2 score mate -3 pv g2g4",
        ];
        let found = finding(Color::White, lines).unwrap();
        assert_eq!(moves(&found), ["d2d4 +0.33", "g2g4 #-3"]);
        assert_eq!(found.wdl, Some([100, 850, 50]));
    }

    #[test]
    fn nothing_exact_is_nothing() {
        for lines in [
            vec![],
            vec!["bestmove e2e4"],
            vec!["info depth 3 score cp 4 upperbound pv e2e4"],
            vec!["info depth x score cp 4"],
            vec!["info score cp"],
        ] {
            assert_eq!(finding(Color::White, lines), None);
        }
    }
}
