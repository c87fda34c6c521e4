//! Values of positions: from files and engines, and the range in which they must be.

use shakmaty::{Chess, Color, Position as _};

use super::filter::Range;
use crate::funnel::FunnelStep;
use tabia_book::eval::{Evaluation, Value, model};
use tabia_book::evals::{EvalKey, EvalTable};

/// Centipawns beyond which a game counts as over.
pub(super) const DECIDED: i32 = 2000;

/// The value of a position for its side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionEval {
    /// The value as if that side were White.
    pub value: Value,
    /// Depth of the search, 0 when unknown.
    pub depth: u16,
    /// Nodes of the search, 0 when unknown.
    pub nodes: u64,
    /// Won, drawn and lost games of 1000, as the engine predicts.
    pub wdl: Option<[u16; 3]>,
}

impl PositionEval {
    /// Converts the evaluation of a position.
    #[must_use]
    pub fn new(position: &Chess, evaluation: &Evaluation) -> PositionEval {
        PositionEval {
            value: match position.turn() {
                Color::White => evaluation.value,
                Color::Black => evaluation.value.reversed(),
            },
            depth: evaluation.depth,
            nodes: evaluation.nodes,
            wdl: evaluation.wdl,
        }
    }

    /// Centipawns for the side to move; mates are beyond 10000.
    #[must_use]
    pub fn cp(&self) -> i32 {
        self.value.for_side(Color::White)
    }

    /// Whether it is from a search of this many nodes. Engines stop slightly early or
    /// late.
    #[must_use]
    pub fn took(&self, nodes: u64) -> bool {
        self.nodes >= nodes / 10 * 9
    }

    /// Whether it is a mate, or equivalent to one.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.cp().abs() > DECIDED
    }

    /// Shares of won, drawn and lost games for the better side: those that the engine
    /// predicts, or else those of Stockfish's model.
    #[must_use]
    pub fn results(&self, position: &Chess) -> [f64; 3] {
        match self.wdl {
            Some([won, drawn, lost]) => {
                let share = |part: u16| f64::from(part) / 1000.0;
                [share(won.max(lost)), share(drawn), share(won.min(lost))]
            }
            None => model::engine_results(f64::from(self.cp().abs()), model::material(position)),
        }
    }
}

/// The side from whose view a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueView {
    /// The side that is better.
    #[default]
    Better,
    /// White.
    White,
    /// The side to move.
    Mover,
}

/// Conditions on values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueWindow {
    /// Centipawns.
    pub cp: Option<Range>,
    /// The view of the values.
    pub view: ValueView,
    /// Predicted wins of the better side in per cent.
    pub wins: Option<Range>,
    /// The side that is better.
    pub better: Option<Color>,
    /// Whether decided positions are excluded.
    pub undecided: bool,
}

impl ValueWindow {
    /// Whether a position needs a value to meet the conditions.
    #[must_use]
    pub fn needs_value(&self) -> bool {
        self.cp.is_some() || self.wins.is_some() || self.better.is_some()
    }

    /// The same conditions, without a share of the width at each end of its ranges.
    #[must_use]
    pub fn narrowed(self, share: f64) -> ValueWindow {
        let is_of_better = self.view == ValueView::Better;
        ValueWindow {
            cp: self.cp.map(|range| range.narrowed(share, is_of_better)),
            wins: self.wins.map(|range| range.narrowed(share, true)),
            ..self
        }
    }

    /// The reason to exclude a value; `None` if it meets the conditions.
    #[must_use]
    pub fn refuses(&self, position: &Chess, eval: &PositionEval) -> Option<FunnelStep> {
        if self.undecided && eval.is_decided() {
            return Some(FunnelStep::Decided);
        }
        let of_white = position.turn().fold_wb(eval.cp(), -eval.cp());
        if self
            .better
            .is_some_and(|side| side.fold_wb(of_white, -of_white) <= 0)
        {
            return Some(FunnelStep::Better);
        }
        let cp = match self.view {
            ValueView::Better => eval.cp().abs(),
            ValueView::White => of_white,
            ValueView::Mover => eval.cp(),
        };
        if self.cp.is_some_and(|range| !range.contains(cp.into())) {
            return Some(FunnelStep::Cp);
        }
        let wins = || 100.0 * eval.results(position)[0];
        let outside = self.wins.is_some_and(|range| !range.contains(wins()));
        outside.then_some(FunnelStep::Wins)
    }
}

/// Values of the wanted positions, the best of each, sorted by key; 40 bytes for a
/// position, because there may be millions. (An [`EvalTable`] also stores single moves
/// and sources.)
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Vec<(EvalKey, Option<PositionEval>)>);

impl Values {
    /// An empty table for the positions with these keys.
    pub(super) fn for_keys(mut keys: Vec<EvalKey>) -> Values {
        keys.sort_unstable();
        keys.dedup();
        Values(keys.into_iter().map(|key| (key, None)).collect())
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.0.iter().filter(|(_, known)| known.is_some()).count()
    }

    /// Whether the value of a position is wanted.
    pub(super) fn wants(&self, key: EvalKey) -> bool {
        self.place(key).is_ok()
    }

    /// The value of a position, or of its mirror image.
    pub(super) fn get(&self, position: &Chess) -> Option<PositionEval> {
        self.0
            .get(self.place(EvalKey::from_position(position)).ok()?)?
            .1
    }

    /// Adds a value, if its position is wanted; of several values the one with the
    /// greatest depth stays, in any order.
    pub(super) fn add(&mut self, position: &Chess, eval: PositionEval) {
        if let Ok(place) = self.place(EvalKey::from_position(position))
            && let Some((_, known)) = self.0.get_mut(place)
        {
            keep_deeper(known, eval);
        }
    }

    /// Adds the values of a table for the wanted positions.
    pub(super) fn add_table(&mut self, table: &EvalTable) {
        for (key, known) in &mut self.0 {
            if let Some(evaluation) = table.canonical(*key) {
                // White is to move there.
                keep_deeper(known, PositionEval::new(&Chess::default(), evaluation));
            }
        }
    }

    fn place(&self, key: EvalKey) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key)
    }
}

fn keep_deeper(known: &mut Option<PositionEval>, eval: PositionEval) {
    let rank = |w: &PositionEval| (w.depth, w.nodes, w.wdl, w.cp());
    if known.is_none_or(|known| rank(&eval) > rank(&known)) {
        *known = Some(eval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::evals::epd;
    use tabia_notation as notation;

    fn eval(line: &str) -> (Chess, PositionEval) {
        let (position, evaluation) = epd::read(line).unwrap();
        let eval = PositionEval::new(&position, &evaluation);
        (position, eval)
    }

    #[test]
    fn a_window_is_from_the_view_of_its_side() {
        // Black to move, and better by a pawn.
        let line = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce 100;";
        let (position, value) = eval(line);
        let refused = |view, cp: &str| {
            let cp = Some(cp.parse().unwrap());
            let window = ValueWindow {
                cp,
                view,
                ..ValueWindow::default()
            };
            window.refuses(&position, &value)
        };
        assert_eq!(refused(ValueView::Better, "90..119"), None);
        assert_eq!(refused(ValueView::Mover, "90..119"), None);
        assert_eq!(refused(ValueView::White, "90..119"), Some(FunnelStep::Cp));
        assert_eq!(refused(ValueView::White, "-119..-90"), None);
        assert_eq!(refused(ValueView::Mover, "-119..-90"), Some(FunnelStep::Cp));
    }

    #[test]
    fn the_better_side_may_be_chosen() {
        // Black to move.
        let board = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        for (ce, white, black) in [(100, false, true), (-100, true, false), (0, false, false)] {
            let (position, value) = eval(&format!("{board} ce {ce};"));
            for (side, wanted) in [(Color::White, white), (Color::Black, black)] {
                let window = ValueWindow {
                    better: Some(side),
                    ..ValueWindow::default()
                };
                let refused = window.refuses(&position, &value);
                assert_eq!(
                    refused,
                    (!wanted).then_some(FunnelStep::Better),
                    "{ce} {side}"
                );
            }
        }
    }

    #[test]
    fn a_narrowed_window_leaves_a_margin_at_the_ends_that_exclude() {
        let narrowed = |view, cp: &str| {
            let window = ValueWindow {
                cp: cp.parse().ok(),
                view,
                ..ValueWindow::default()
            };
            let range = window.narrowed(0.2).cp.unwrap();
            (range.low, range.high)
        };
        assert_eq!(narrowed(ValueView::Better, "80..120"), (88.0, 112.0));
        assert_eq!(narrowed(ValueView::Better, "0..30"), (0.0, 24.0));
        assert_eq!(narrowed(ValueView::White, "0..30"), (6.0, 24.0));
        assert_eq!(narrowed(ValueView::Mover, "-20..20"), (-12.0, 12.0));
        assert_eq!(narrowed(ValueView::Mover, "50.."), (50.0, f64::INFINITY));
    }

    #[test]
    fn half_of_the_games_are_won_a_pawn_up() {
        let (position, mut value) =
            eval("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce -100;");
        let window = ValueWindow {
            wins: "48..52".parse().ok(),
            ..ValueWindow::default()
        };
        assert_eq!(window.refuses(&position, &value), None);
        value.wdl = Some([10, 430, 560]);
        assert_eq!(window.refuses(&position, &value), Some(FunnelStep::Wins));
        value.wdl = Some([10, 490, 500]);
        assert_eq!(window.refuses(&position, &value), None);
    }

    #[test]
    fn mates_are_decided() {
        let (position, value) = eval("4k3/8/8/8/8/8/8/4K2R w K - ce 32750;");
        let window = ValueWindow {
            undecided: true,
            ..ValueWindow::default()
        };
        assert_eq!(window.refuses(&position, &value), Some(FunnelStep::Decided));
        assert_eq!(ValueWindow::default().refuses(&position, &value), None);
    }

    #[test]
    fn the_mirror_is_worth_the_same_and_the_deepest_value_stays() {
        let at = |fen: &str| notation::position(fen).unwrap();
        let white = at("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        let black = at("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let of = |cp, depth| PositionEval {
            value: Value::cp(cp),
            depth,
            nodes: 0,
            wdl: None,
        };
        let orders = [[of(1, 10), of(2, 20)], [of(2, 20), of(1, 10)]];
        for order in orders {
            let mut values = Values::for_keys(vec![EvalKey::from_position(&white)]);
            for eval in order {
                values.add(&white, eval);
                values.add(&Chess::default(), eval);
            }
            assert_eq!(values.get(&black).unwrap().cp(), 2);
            assert_eq!(values.len(), 1);
        }
    }
}
