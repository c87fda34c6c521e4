//! Results of one search, from the `info` lines of an engine.
//!
//! A search limited by nodes or time ends inside an iteration, and about half of such
//! searches end with a `lowerbound` or `upperbound` line. A bound that contradicts the
//! last exact score refutes it: the score of a variation is the last exact one, limited
//! by a later bound at the same or a greater depth. To ignore such bounds causes a
//! one-sided error: with Stockfish 15.1 and 5,000 nodes 12 centipawns on average,
//! instead of 3.

use shakmaty::{Color, uci::UciMove};

use tabia_notation::value::{Evaluation, MoveValue, Value};

/// Limit of moves read of one variation; engines seldom print as many.
const MOST_MOVES: usize = 40;

/// Limit of variations read, whatever numbers an engine prints.
const MOST_VARIATIONS: u16 = 500;

/// How a score limits the value.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Exact,
    /// The value is at least as good for the side to move (`lowerbound`).
    Lower,
    /// The value is at most as good for the side to move (`upperbound`).
    Upper,
}

/// One `info` line.
#[derive(Debug, Default)]
struct Info {
    depth: u16,
    multipv: u16,
    score: Option<(Value, Bound)>,
    /// The words of `pv` that are moves.
    moves: Vec<UciMove>,
    nodes: Option<u64>,
    nodes_a_second: Option<u64>,
    wdl: Option<[u16; 3]>,
}

/// The combined `info` lines of one search.
///
/// # Examples
///
/// ```
/// use shakmaty::Color;
/// use tabia_notation::value::Value;
/// use tabia_uci::info::Search;
///
/// let mut search = Search::new(Color::White, 2);
/// for line in [
///     "info depth 9 multipv 1 score cp 31 nodes 9000 nps 800000 pv e2e4 e7e5",
///     "info depth 9 multipv 2 score cp 25 nodes 9900 pv d2d4 d7d5",
///     // A bound that contradicts the last exact score refutes it.
///     "info depth 10 multipv 1 score cp 12 upperbound nodes 12000 pv e2e4 c7c5",
/// ] {
///     search.add(line);
/// }
/// assert_eq!(search.nodes, 12_000);
/// let found = search.results().flatten();
/// let found: Vec<_> = found.map(|of| (of.depth, of.value, of.moves[1].to_string())).collect();
/// assert_eq!(found[0], (10, Value::Cp(12), "c7c5".to_owned()));
/// assert_eq!(found[1], (9, Value::Cp(25), "d7d5".to_owned()));
/// ```
#[derive(Debug)]
pub struct Search {
    /// The side to move.
    pub turn: Color,
    most: u16,
    variations: Vec<Variation>,
    /// Nodes searched, by the last line that has them.
    pub nodes: u64,
    /// Nodes a second, by the last line that has them.
    pub nodes_a_second: Option<u64>,
}

/// The current scores of one variation (by its `multipv` number).
#[derive(Debug, Default)]
struct Variation {
    exact: Option<Info>,
    /// The bound after `exact`, of at least the same depth.
    bound: Option<Info>,
}

impl Search {
    /// Starts a search result; `turn` is to move. Variations with numbers above `most`
    /// are ignored.
    pub fn new(turn: Color, most: u16) -> Search {
        Search {
            turn,
            most: most.clamp(1, MOST_VARIATIONS),
            variations: Vec::new(),
            nodes: 0,
            nodes_a_second: None,
        }
    }

    /// Adds the next line that the engine printed.
    pub fn add(&mut self, line: &str) {
        let Some(info) = read(self.turn, line) else {
            return;
        };
        self.nodes = info.nodes.unwrap_or(self.nodes);
        self.nodes_a_second = info.nodes_a_second.or(self.nodes_a_second);
        let number = info.multipv.max(1);
        if info.score.is_none() || number > self.most {
            return;
        }
        if self.variations.len() < usize::from(number) {
            self.variations
                .resize_with(usize::from(number), Variation::default);
        }
        if let Some(variation) = self.variations.get_mut(usize::from(number) - 1) {
            variation.add(info);
        }
    }

    /// The variations by their numbers; `None` where no exact score was
    /// printed.
    pub fn results(&self) -> impl Iterator<Item = Option<VariationResult<'_>>> {
        self.variations
            .iter()
            .map(|variation| variation.found(self.turn))
    }
}

/// The result of a search for one variation.
pub struct VariationResult<'a> {
    /// The value from White's view.
    pub value: Value,
    /// The depth of the line that it comes from.
    pub depth: u16,
    wdl: Option<[u16; 3]>,
    /// The variation, its first move first.
    pub moves: &'a [UciMove],
}

impl Variation {
    fn add(&mut self, info: Info) {
        if self
            .exact
            .as_ref()
            .is_some_and(|known| known.depth > info.depth)
        {
            return;
        }
        match info.score {
            Some((_, Bound::Exact)) => {
                self.exact = Some(info);
                self.bound = None;
            }
            _ => self.bound = Some(info),
        }
    }

    fn found(&self, turn: Color) -> Option<VariationResult<'_>> {
        let exact = self.exact.as_ref()?;
        let (value, _) = exact.score?;
        let refuted = self.bound.as_ref().and_then(|bound| {
            let (limit, kind) = bound.score?;
            let (limit_for, value_for) = (limit.for_side(turn), value.for_side(turn));
            let contradicts = match kind {
                Bound::Exact => false,
                Bound::Lower => limit_for > value_for,
                Bound::Upper => limit_for < value_for,
            };
            contradicts.then_some((limit, bound))
        });
        let (value, info) = refuted.unwrap_or((value, exact));
        Some(VariationResult {
            value,
            depth: info.depth,
            wdl: info.wdl,
            moves: match info.moves.is_empty() {
                true => &exact.moves,
                false => &info.moves,
            },
        })
    }
}

/// Reads the lines of a search; `turn` is to move. `None` if there is no
/// exact score among them.
pub fn finding<'a>(turn: Color, lines: impl IntoIterator<Item = &'a str>) -> Option<Evaluation> {
    let mut search = Search::new(turn, MOST_VARIATIONS);
    for line in lines {
        search.add(line);
    }
    let first = search.results().next()??;
    let mut moves: Vec<MoveValue> = Vec::new();
    for found in search.results().flatten() {
        // Variations of different depths may be in the wrong order.
        if let Some(&mv) = found.moves.first()
            && moves.iter().all(|known| known.mv != mv)
        {
            moves.push(MoveValue {
                mv,
                value: found.value,
            });
        }
    }
    Some(Evaluation {
        depth: first.depth,
        nodes: search.nodes,
        wdl: first.wdl,
        moves,
        ..Evaluation::from(first.value)
    })
}

/// Reads one line; `None` unless it is a valid `info` line.
fn read(turn: Color, line: &str) -> Option<Info> {
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some("info") {
        return None;
    }
    let mut info = Info {
        multipv: 1,
        ..Info::default()
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
                let value = match kind {
                    "cp" => Some(Value::cp_of_mover(turn, number)),
                    "mate" => Some(Value::mate_of_mover(turn, number)),
                    _ => None,
                };
                info.score = value.map(|value| (value, Bound::Exact));
            }
            "wdl" => {
                let mut share = || words.next()?.parse().ok();
                info.wdl = Some([share()?, share()?, share()?]);
            }
            "lowerbound" => info.score = info.score.map(|(value, _)| (value, Bound::Lower)),
            "upperbound" => info.score = info.score.map(|(value, _)| (value, Bound::Upper)),
            "pv" => {
                let moves = words.map_while(|word| word.parse().ok());
                info.moves = moves.take(MOST_MOVES).collect();
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
    fn values_are_from_whites_view() {
        let lines = [
            "info depth 9 seldepth 12 multipv 1 score cp 20 nodes 900 pv e7e5 g1f3",
            "info depth 10 currmove e7e6 currmovenumber 3",
            "info string NNUE score cp 999",
            "info depth 10 nodes 1000",
            "bestmove e7e5",
        ];
        let found = finding(Color::Black, lines).unwrap();
        assert_eq!(
            (found.value, found.depth, found.nodes),
            (Value::Cp(-20), 9, 1000)
        );
        assert_eq!(moves(&found), ["e7e5 -0.20"]);
    }

    /// Stockfish 15.1 with 2,000 nodes and 16 MB of hash; with 200,000 nodes it
    /// prints 42.
    #[test]
    fn a_bound_refutes_the_exact_score_before_it() {
        // r1bq1rk1/pp1n1ppp/2pbpn2/8/2pP4/2NBPN2/PPQ2PPP/R1B2RK1 w - - 0 1
        let lines = [
            "info depth 8 seldepth 9 multipv 1 score cp 359 nodes 1097 pv d3c4 b7b5",
            "info depth 9 seldepth 10 multipv 1 score cp 359 wdl 990 10 0 nodes 1500 pv d3c4 b7b5",
            "info depth 10 seldepth 11 multipv 1 score cp 69 wdl 90 900 10 upperbound nodes 2003 pv d3c4",
            "bestmove d3c4 ponder b7b5",
        ];
        let found = finding(Color::White, lines).unwrap();
        assert_eq!(
            (found.value, found.depth, found.nodes, found.wdl),
            (Value::Cp(69), 10, 2003, Some([90, 900, 10]))
        );
        assert_eq!(moves(&found), ["d3c4 +0.69"]);
    }

    #[test]
    fn only_a_contradicting_bound_of_the_same_depth_or_more_counts() {
        let black = |bound: &str| {
            let lines = ["info depth 9 score cp 20 pv e7e5 g1f3", bound];
            let found = finding(Color::Black, lines).unwrap();
            format!("{} depth {}", moves(&found).concat(), found.depth)
        };
        for (bound, expected) in [
            (
                "info depth 10 score cp 35 lowerbound pv c7c5",
                "c7c5 -0.35 depth 10",
            ),
            (
                "info depth 10 score cp 35 lowerbound",
                "e7e5 -0.35 depth 10",
            ),
            (
                "info depth 9 score cp 5 upperbound pv e7e5",
                "e7e5 -0.05 depth 9",
            ),
            (
                "info depth 10 score mate -3 upperbound pv e7e5",
                "e7e5 #3 depth 10",
            ),
            (
                "info depth 10 score cp 19 lowerbound pv c7c5",
                "e7e5 -0.20 depth 9",
            ),
            (
                "info depth 10 score cp 21 upperbound pv e7e5",
                "e7e5 -0.20 depth 9",
            ),
            (
                "info depth 8 score cp 90 lowerbound pv c7c5",
                "e7e5 -0.20 depth 9",
            ),
        ] {
            assert_eq!(black(bound), expected, "{bound}");
        }
        // An exact score overrides an earlier bound.
        let settled = [
            "info depth 9 score cp 20 pv e7e5",
            "info depth 10 score cp -10 upperbound pv e7e5",
            "info depth 10 score cp 3 pv d7d5",
        ];
        assert_eq!(
            moves(&finding(Color::Black, settled).unwrap()),
            ["d7d5 -0.03"]
        );
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
            vec!["info string score cp 999 pv e2e4"],
        ] {
            assert_eq!(finding(Color::White, lines), None);
        }
    }
}
