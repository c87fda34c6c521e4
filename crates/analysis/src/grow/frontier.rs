//! Finds where games leave a book at the lowest cost: pure arithmetic on its graph.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use shakmaty::Color;
use shakmaty::uci::UciMove;

use super::Costs;
use super::region::Entrance;
use super::replies::Replies;
use crate::Error;
use crate::evaluate;
use crate::graph::{BookGraph, NodeId};
use tabia_book::Mark;
use tabia_book::eval::Value;
use tabia_book::evals::EvalTable;

/// What to do at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Search it: it has no evaluation.
    Search,
    /// Search for the best move outside the book: its best known moves are all in it.
    Leave,
    /// Add this move.
    Add(UciMove),
}

/// A position, what to do there, and the cost of the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) node: NodeId,
    pub(super) next: Next,
    pub(super) cost: u64,
}

/// Positions with a greater value, for either side, are decided and left to the engine.
/// (`+-` in [`tabia_book::eval::annotation`].)
const DECIDED: i32 = 376;

/// The input of a search for the cheapest ways.
pub(super) struct SearchInput<'a> {
    pub(super) graph: &'a BookGraph,
    pub(super) table: &'a EvalTable,
    /// The values of [`BookGraph::values`].
    pub(super) values: &'a [Option<i32>],
    pub(super) costs: Costs,
    pub(super) max_cost: Option<u64>,
    pub(super) max_ply: u32,
    /// The positions in which ways begin.
    pub(super) entrances: &'a [Entrance],
    /// Positions that need no more searches.
    pub(super) barred: &'a HashSet<NodeId, FxBuildHasher>,
}

/// A step of a search: the cost so far, and where it leads. At equal cost positions come
/// before ends.
type QueueEntry = Reverse<(u64, Where)>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Where {
    /// A position; the number of plies to it; whether the book's own side is to move.
    At(NodeId, u32, bool),
    /// The end of a way, where something is to be done.
    End(NodeId, bool),
}

impl SearchInput<'_> {
    /// The cheapest `count` candidates for a book of `side`, cheapest first, one for each
    /// position.
    pub(super) fn candidates(
        &self,
        side: Color,
        replies: &mut Option<Replies<'_>>,
        count: usize,
    ) -> Result<Vec<Candidate>, Error> {
        let mut found = Vec::new();
        let mut nexts = HashMap::new();
        let mut visited: HashSet<(NodeId, bool), FxBuildHasher> = HashSet::default();
        let mut taken: HashSet<NodeId, FxBuildHasher> = HashSet::default();
        let mut open: BinaryHeap<QueueEntry> = BinaryHeap::new();
        for root in self.entrances {
            let at = Where::At(root.node, root.ply, root.turn == side);
            open.push(Reverse((0, at)));
        }
        while let Some(Reverse((cost, at))) = open.pop() {
            if found.len() >= count || self.max_cost.is_some_and(|most| cost > most) {
                break;
            }
            let (node, ply, own) = match at {
                Where::At(node, ply, own) => (node, ply, own),
                Where::End(node, own) => {
                    if let Some(next) = nexts.remove(&(node, own))
                        && taken.insert(node)
                    {
                        found.push(Candidate { node, next, cost });
                    }
                    continue;
                }
            };
            let value = self.value(node);
            let is_decided = value.is_some_and(|value| value.abs() >= DECIDED);
            if !visited.insert((node, own)) || ply >= self.max_ply || is_decided {
                continue;
            }
            let known = match replies {
                Some(replies) if !own => replies.in_position(self.graph, node, !side)?,
                _ => None,
            };
            // The cost of a move, by its loss and its probability.
            let price = |mv: Option<UciMove>, leaves: Option<i32>| match (&known, mv) {
                (Some(known), Some(mv)) => self.of_share(known.share(mv)),
                (Some(known), None) => self.of_share(known.other),
                (None, _) => {
                    let lost = value
                        .zip(leaves)
                        .map_or(0, |(value, leaves)| value - leaves);
                    let of_loss = if own {
                        self.costs.own
                    } else {
                        self.costs.other
                    };
                    u64::from(self.costs.ply)
                        + u64::from(lost.max(0).unsigned_abs()) * u64::from(of_loss)
                }
            };
            for entry in self.graph.moves(node) {
                let is_red = self
                    .graph
                    .record(entry.to)
                    .is_some_and(|r| r.mark() == Mark::Avoid);
                // A player does not play moves marked as bad in his own book.
                if own && (is_red || entry.annotation.is_doubtful()) {
                    continue;
                }
                let leaves = self.value(entry.to).map(|value| -value);
                let paid = cost + price(Some(entry.mv), leaves);
                open.push(Reverse((paid, Where::At(entry.to, ply + 1, !own))));
            }
            if self.barred.contains(&node) {
                continue;
            }
            let in_book = |mv: UciMove| self.graph.moves(node).iter().any(|known| known.mv == mv);
            let unseen = known.as_ref().and_then(|known| {
                let mut moves = known.moves.iter();
                moves.find(|(mv, _)| !in_book(*mv)).copied()
            });
            let next = match unseen {
                Some((mv, _)) => Some((Next::Add(mv), price(Some(mv), None))),
                None => self
                    .leaving(node)
                    .map(|(next, leaves)| (next, price(None, leaves))),
            };
            if let Some((next, price)) = next {
                nexts.insert((node, own), next);
                open.push(Reverse((cost + price, Where::End(node, own))));
            }
        }
        Ok(found)
    }

    fn value(&self, node: NodeId) -> Option<i32> {
        self.values.get(node as usize).copied().flatten()
    }

    fn of_share(&self, share: f64) -> u64 {
        let halvings = -share.clamp(1e-9, 1.0).log2();
        (halvings * f64::from(self.costs.ply)).round() as u64
    }

    /// How the book can be left at a position, and the highest value of that for the side
    /// to move; `None` if every legal move is in the book.
    fn leaving(&self, node: NodeId) -> Option<(Next, Option<i32>)> {
        // White is to move on every board here.
        let worth = |value: Value| value.clamped(Color::White);
        let Some(known) = self.table.canonical(self.graph.key(node)) else {
            return Some((Next::Search, None));
        };
        let moves = self.graph.moves(node);
        let is_book = |mv: UciMove| moves.iter().any(|known| known.mv == mv);
        let others = known.moves.iter().filter(|known| !is_book(known.mv));
        if let Some(best) = others.max_by_key(|known| worth(known.value)) {
            return Some((Next::Add(best.mv), Some(worth(best.value))));
        }
        if evaluate::others(self.graph, node, &self.graph.position(node)).is_empty() {
            return None;
        }
        // No move that is not listed is better than the lowest listed one.
        let least = known.moves.iter().map(|known| worth(known.value)).min();
        Some((Next::Leave, Some(least.unwrap_or(worth(known.value)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grow::Root;
    use crate::grow::region::entrances;
    use tabia_book::eval;
    use tabia_notation::Line;

    /// A book of lines, and evaluations of some positions: a line, the value for White,
    /// and the best moves there with their values for White.
    struct Case {
        graph: BookGraph,
        table: EvalTable,
    }

    type About<'a> = (&'a str, i32, &'a [(&'a str, i32)]);

    fn case(lines: &[&str], known: &[About<'_>]) -> Case {
        let mut graph = BookGraph::of_start().unwrap();
        for line in lines {
            let line = Line::read("", line).unwrap();
            for (position, mv) in line.moves() {
                let node = graph.node(position).unwrap();
                let after = tabia_notation::after(position, mv);
                let wanted = tabia_book::evals::EvalKey::from_position(&after);
                let canonical = graph.position(node);
                let legal = shakmaty::Position::legal_moves(&canonical);
                let mv = legal.iter().find(|mv| {
                    let next = tabia_notation::after(&canonical, **mv);
                    tabia_book::evals::EvalKey::from_position(&next) == wanted
                });
                let mv = mv.unwrap().to_uci(shakmaty::CastlingMode::Chess960);
                graph.extend(&[(node, mv)]).unwrap();
            }
        }
        let mut table = EvalTable::default();
        for (line, value, moves) in known {
            let line = Line::read("", line).unwrap();
            table.add(line.last(), &eval::known(*value, moves));
        }
        Case { graph, table }
    }

    impl Case {
        fn candidates(&self, side: Color, max_cost: Option<u64>) -> Vec<(String, Next, u64)> {
            self.below("", side, max_cost)
        }

        fn below(
            &self,
            root: &str,
            side: Color,
            max_cost: Option<u64>,
        ) -> Vec<(String, Next, u64)> {
            let line = Line::read("", root).unwrap();
            let root = Root {
                position: line.last().clone(),
                ply: line.plies() as u32,
            };
            let values = self.graph.values(&self.graph.leaving(&self.table));
            let input = SearchInput {
                graph: &self.graph,
                table: &self.table,
                values: &values,
                costs: Costs::default(),
                max_cost,
                max_ply: 100,
                entrances: &entrances(&self.graph, &[root]),
                barred: &HashSet::default(),
            };
            let found = input.candidates(side, &mut None, 100).unwrap();
            let reach = self
                .graph
                .probabilities(|node, shares| shares.resize(self.graph.moves(node).len(), 1.0));
            let line = |node| self.graph.line(&reach.path(node).unwrap()).to_string();
            let found = found.into_iter();
            found
                .map(|found| (line(found.node), found.next, found.cost))
                .collect()
        }
    }

    fn add(mv: &str) -> Next {
        Next::Add(mv.parse().unwrap())
    }

    #[test]
    fn a_ply_costs_a_hundred_and_mistakes_by_whose_they_are() {
        let case = case(
            &["e4 e5", "d4"],
            &[
                ("", 30, &[("e2e4", 30), ("d2d4", 20), ("c2c4", 10)]),
                // On boards of Black moves are Black's, values White's.
                ("e4", 30, &[("e7e5", 30), ("c7c5", 36)]),
                ("e4 e5", 30, &[("g1f3", 30)]),
                ("d4", 20, &[("d7d5", 20)]),
            ],
        );
        let white = case.candidates(Color::White, None);
        let expected = [
            // 1.e4 e5 2.Nf3: three plies without a mistake.
            ("1.e4 e5", add("g1f3"), 300),
            // 1.e4 c5: six centipawns of Black, at 50.
            ("1.e4", add("c2c4"), 500),
            // 1.d4 loses 10 centipawns of White's own, at 200.
            ("1.d4", add("d2d4"), 2200),
            // 1.c4 loses 20.
            ("", add("c2c4"), 4100),
        ];
        let named = |list: &[(&str, Next, u64)]| -> Vec<(String, Next, u64)> {
            list.iter()
                .map(|(l, n, c)| ((*l).to_owned(), *n, *c))
                .collect()
        };
        assert_eq!(white, named(&expected));
        // In a book for Black White's mistakes are cheap and Black's expensive.
        let black = case.candidates(Color::Black, Some(1000));
        let expected = [("1.e4 e5", add("g1f3"), 300), ("1.d4", add("d2d4"), 700)];
        assert_eq!(black, named(&expected));
    }

    #[test]
    fn below_a_root_ways_begin_there() {
        let case = case(
            &["e4 e5 Nf3", "e4 c5 Nf3", "d4 d5"],
            &[
                ("", 30, &[("e2e4", 30), ("d2d4", 20)]),
                ("e4", 30, &[("e7e5", 30), ("c7c5", 36), ("e7e6", 40)]),
                ("e4 c5", 36, &[("g1f3", 36), ("b1c3", 30)]),
                ("e4 c5 Nf3", 36, &[("d7d6", 36)]),
            ],
        );
        let expected = [
            ("1.e4 c5 2.Nf3".to_owned(), add("d7d6"), 200),
            // Six centipawns of White's own.
            ("1.e4 c5".to_owned(), add("b1c3"), 1300),
        ];
        let found = case.below("e4 c5", Color::White, None);
        // With boards turned.
        let named = |list: &[(String, Next, u64)]| -> Vec<(String, u64)> {
            list.iter()
                .map(|(line, _, cost)| (line.clone(), *cost))
                .collect()
        };
        assert_eq!(named(&found), named(&expected));
        // In a book for Black they are the opponent's.
        assert_eq!(case.below("e4 c5", Color::Black, None)[1].2, 400);
    }

    #[test]
    fn unknown_positions_are_searched_first_and_decided_ones_never() {
        let case = case(
            &["e4 e5", "e4 c5", "f3 e5 g4"],
            &[
                ("", 30, &[("e2e4", 30)]),
                ("e4", 30, &[("e7e5", 30)]),
                ("f3 e5 g4", -900, &[]),
            ],
        );
        let found = case.candidates(Color::Black, Some(300));
        // The value of 1.f3 is that of 1.f3 e5, where only g4 is known.
        let ends: Vec<_> = found
            .iter()
            .map(|(line, next, _)| (line.as_str(), *next))
            .collect();
        assert!(ends.contains(&("1.e4 e5", Next::Search)), "{ends:?}");
        assert!(ends.contains(&("1.e4 c5", Next::Search)), "{ends:?}");
        // Its best known move is in the book: the value of leaving must be searched.
        assert!(ends.contains(&("1.e4", Next::Leave)), "{ends:?}");
        assert!(
            ends.iter().all(|(line, _)| !line.contains("g4")),
            "{ends:?}"
        );
    }

    #[test]
    fn a_book_that_goes_in_circles_is_walked_once() {
        let case = case(
            &["Nf3 Nf6 Ng1 Ng8", "Nf3 d5"],
            &[("Nf3 d5", 10, &[("d2d4", 10)])],
        );
        let found = case.candidates(Color::White, None);
        assert_eq!(found.len(), 5, "{found:?}");
    }
}
