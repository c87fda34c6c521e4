//! Converts any book to an Arena book.
//!
//! That format is a tree: a position has its moves wherever a line reaches it. So the moves
//! of a position that several lines reach are repeated, and its games are divided among
//! these places, in proportion to the games of the moves that lead there: a reader that
//! adds up the moves of a position finds the book's numbers again. A line that comes back
//! to one of its positions is not continued there.
//!
//! | book | becomes |
//! |---|---|
//! | games, won, lost | the same, as White sees them; games without a result count as drawn |
//! | Arena's priority | the same |
//! | weight w | w drawn games, priority 5; 0 if w is 0 |
//! | learn value | a priority with which the move is played as often |
//! | green | priority 9 |
//! | a move that the policy does not play | priority 0 |
//!
//! Memory: some 100 bytes for each move.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Position as _};

use super::{Converted, UNREACHED, Work, source::Source, wanted};
use crate::loaded::abk::{ENTRY_BYTES, Entry, FIRST_ENTRY, header};
use crate::policy::{self, Weighed};
use crate::polyglot::{self, PackedMove};
use crate::walk::{Order, Walk};
use crate::{Book, BookMove, BookWalk, Error, Lookup, Mark, PositionRecord, Preference, Wanted};

/// Repeated moves, at most, for each move of the book, and for the smallest books.
const REPEATED_PER_MOVE: usize = 4;
const REPEATED: usize = 10_000;

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Converted, Error> {
    let mut output = work.output()?;
    let mut summary = Converted::default();
    let graph = Graph::read(work, book, &mut summary)?;
    let tree = Tree::grow(&graph, REPEATED + REPEATED_PER_MOVE * graph.moves.len());
    if tree.nodes.len() > i32::MAX as usize - FIRST_ENTRY as usize {
        let text = "has more moves than an Arena book can hold";
        return Err(Error::refused(&work.job.source, text));
    }
    output.write_bytes(&header(tree.depth(), tree.nodes.len() as u32))?;
    let mut piece = Vec::new();
    for at in 0..tree.nodes.len() {
        piece.extend(tree.entry(&graph, at).encode());
        if piece.len() >= ENTRY_BYTES << 12 {
            output.write_bytes(&piece)?;
            piece.clear();
            work.step("writing", at as u64, Some(tree.nodes.len() as u64))?;
        }
    }
    output.write_bytes(&piece)?;
    summary.positions = graph
        .places
        .iter()
        .filter(|place| !place.is_empty())
        .count() as u64;
    summary.moves = tree.nodes.len() as u64;
    graph.lacks.note(&mut summary);
    summary.note(
        tree.repeated,
        "moves repeated where other lines reach their position",
    );
    summary.note(
        tree.loops,
        "moves that come back to a position of their line, which ends there",
    );
    summary.note(
        tree.cut,
        "lines that end at a position whose moves stand elsewhere, as there is no room for more repetitions",
    );
    summary.not_empty(work.job)?;
    summary.bytes = output.commit()?;
    Ok(summary)
}

/// Games of a move by their end, as White sees it: won, drawn, lost, unfinished.
type Counts = [u32; 4];

/// A move of the book.
struct GraphMove {
    mv: PackedMove,
    counts: Counts,
    priority: u8,
    /// The place after it.
    to: u32,
}

/// What the format cannot hold.
#[derive(Default)]
struct Lacks {
    annotations: u64,
    commentaries: u64,
    ratings: u64,
    marks: u64,
    unplayed: u64,
    weights: u64,
    unfinished: u64,
    bridges: u64,
}

impl Lacks {
    fn add(&mut self, known: &BookMove) {
        let after = known.after.unwrap_or_default();
        self.annotations += u64::from(known.annotation.nag() != 0);
        self.commentaries += u64::from(after.commentary != 0);
        self.ratings += u64::from(after.stats.own_rated + after.stats.other_rated > 0);
        let is_marked = known.mark() != Mark::None || known.learn_value() != 0;
        self.marks += u64::from(is_marked);
        self.weights += u64::from(matches!(known.preference, Preference::Weight(_)));
        self.unfinished += u64::from(after.stats.unfinished() > 0);
    }

    fn note(&self, summary: &mut Converted) {
        for (count, what) in [
            (self.annotations, "annotations left out (!, ? and the like)"),
            (self.commentaries, "signs of positions left out"),
            (self.ratings, "moves without their ratings"),
            (self.marks, "marks and learn values became priorities"),
            (
                self.unplayed,
                "moves that would not be played got priority 0",
            ),
            (self.weights, "weights became drawn games"),
            (
                self.unfinished,
                "moves whose games without a result count as drawn",
            ),
            (
                self.bridges,
                "moves added with priority 0, as the book has none that lead on",
            ),
        ] {
            summary.note(count, what);
        }
    }
}

/// The positions of a book, each once, in the order of a walk in breadth.
#[derive(Default)]
struct Graph {
    moves: Vec<GraphMove>,
    /// The moves of each position.
    places: Vec<Range<u32>>,
    lacks: Lacks,
}

impl Graph {
    fn read(work: &mut Work<'_, '_>, book: &Book, summary: &mut Converted) -> Result<Graph, Error> {
        // Bridges are not moves of the book: they only connect its lines.
        let (bridges, unreached, met) = match book.as_ctg() {
            Some(_) => Default::default(),
            None => BookWalk::bridges(book, work.watch)?,
        };
        let is_for_one = book.as_ctg().is_some_and(|book| book.only().is_some());
        let asked = match book.as_ctg() {
            Some(_) if is_for_one => Wanted::Lines,
            Some(_) => wanted(work.job),
            None => Wanted::Stored,
        };
        let mut source = Source::new(work, book, asked, summary)?;
        let mut graph = Graph::default();
        let start = Chess::default();
        let first = (polyglot::key(&start), 0);
        let mut numbers: HashMap<u64, u32, FxBuildHasher> = HashMap::from_iter([first]);
        let mut walk = Walk::with_notes(&start, source.start(), Order::Breadth).without_lines();
        let (mut found, mut verdicts) = (Lookup::default(), Vec::new());
        let mut entries = Vec::new();
        while let Some(here) = walk.next() {
            source.probe(here.note, &here.position, asked, &mut found, &mut entries)?;
            for &mv in bridges
                .get(&polyglot::key(&here.position))
                .into_iter()
                .flatten()
            {
                let after = PositionRecord::default();
                found.moves.push(BookMove::transposition(mv, after));
                entries.push(None);
            }
            policy::weigh(&found.moves, &work.job.policy, |_| None, &mut verdicts);
            let from = graph.moves.len() as u32;
            let moves = found.moves.iter().zip(&verdicts);
            for ((known, verdict), entry) in moves.zip(&entries) {
                let is_bridge = known.transposition && (is_for_one || book.as_ctg().is_none());
                let after = tabia_notation::after(&here.position, known.mv);
                let to = *numbers.entry(polyglot::key(&after)).or_insert_with(|| {
                    walk.enter(&here, known.mv, after, *entry);
                    walk.entered() as u32 - 1
                });
                let priority = match is_bridge {
                    true => 0,
                    false => priority(known, verdict),
                };
                graph.lacks.bridges += u64::from(is_bridge);
                graph.lacks.unplayed += u64::from(
                    priority == 0 && !is_bridge && known.preference == Preference::Statistics,
                );
                graph.lacks.add(known);
                graph.moves.push(GraphMove {
                    mv: PackedMove::by_target(known.mv),
                    counts: counts(known, here.position.turn().is_white()),
                    priority,
                    to,
                });
            }
            let moves = graph.moves.get_mut(from as usize..).unwrap_or_default();
            moves.sort_by_key(|mv| Reverse(games(mv.counts)));
            graph.places.push(from..graph.moves.len() as u32);
            work.step("reading", graph.places.len() as u64, None)?;
        }
        match source.unreached() {
            Some(unreached) => summary.note(unreached, UNREACHED),
            None => summary.leave_out(unreached, met),
        }
        Ok(graph)
    }

    fn moves_of(&self, place: u32) -> Range<u32> {
        self.places.get(place as usize).cloned().unwrap_or_default()
    }
}

fn priority(known: &BookMove, verdict: &Weighed) -> u8 {
    match known.preference {
        Preference::Priority(priority) => priority,
        Preference::Weight(weight) => 5 * u8::from(weight > 0),
        Preference::Statistics if is_unplayed(verdict) => 0,
        Preference::Statistics if known.mark() == Mark::Main => 9,
        // The reverse of `from_keyed::learn_value`.
        Preference::Statistics => {
            let often = 16_f64.powf(f64::from(known.learn_value()) / 125.0);
            (5.0 * often).round().clamp(1.0, 9.0) as u8
        }
    }
}

/// Whether a move is never played, whatever the other moves are.
fn is_unplayed(verdict: &Weighed) -> bool {
    verdict.rejection.is_some()
}

fn games(counts: Counts) -> u64 {
    counts.iter().map(|count| u64::from(*count)).sum()
}

fn counts(known: &BookMove, is_white: bool) -> Counts {
    if let Preference::Weight(weight) = known.preference {
        return [0, weight, 0, 0];
    }
    let stats = match is_white {
        true => known.stats(),
        false => known.stats().reversed(),
    };
    [stats.wins, stats.draws, stats.losses, stats.unfinished()]
}

/// A move of the tree.
struct Node {
    /// Its number in [`Graph::moves`].
    mv: u32,
    /// The node before it; `None` for the moves of the start position.
    before: Option<u32>,
    /// The first reply.
    reply: Option<u32>,
    is_last: bool,
    /// The part of the arrivals at its position that this node is, if its moves follow.
    part: Range<u64>,
}

#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// The arrivals at each position whose moves follow.
    arrivals: Vec<u64>,
    repeated: u64,
    loops: u64,
    cut: u64,
}

impl Tree {
    /// Each position has its moves where the shortest line reaches it, and in breadth at
    /// other places until `room` moves are repeated.
    fn grow(graph: &Graph, mut room: usize) -> Tree {
        let mut tree = Tree {
            arrivals: vec![0; graph.places.len()],
            ..Tree::default()
        };
        let mut waiting = VecDeque::from([(None, 0_u32)]);
        while let Some((before, place)) = waiting.pop_front() {
            let moves = graph.moves_of(place);
            let Some(arrived) = tree.arrivals.get(place as usize).copied() else {
                continue;
            };
            if moves.is_empty() {
                continue;
            }
            if arrived > 0 {
                // On the way are only positions whose moves the tree has.
                if tree.is_on_the_way(graph, before, place) {
                    tree.loops += 1;
                    continue;
                }
                if moves.len() > room {
                    tree.cut += 1;
                    continue;
                }
                room -= moves.len();
                tree.repeated += moves.len() as u64;
            }
            let known = before.and_then(|before: u32| tree.move_of(graph, before));
            let arrives = arrived + 1 + known.map_or(0, |mv| games(mv.counts));
            if let Some(arrivals) = tree.arrivals.get_mut(place as usize) {
                *arrivals = arrives;
            }
            let first = tree.nodes.len() as u32;
            if let Some(node) = before.and_then(|at| tree.nodes.get_mut(at as usize)) {
                node.reply = Some(first);
                node.part = arrived..arrives;
            }
            let last = moves.end - 1;
            for mv in moves {
                let node = tree.nodes.len() as u32;
                tree.nodes.push(Node {
                    mv,
                    before,
                    reply: None,
                    is_last: mv == last,
                    part: 0..0,
                });
                let to = graph.moves.get(mv as usize).map(|mv| mv.to);
                waiting.extend(to.map(|to| (Some(node), to)));
            }
        }
        tree
    }

    fn move_of<'g>(&self, graph: &'g Graph, node: u32) -> Option<&'g GraphMove> {
        let mv = self.nodes.get(node as usize)?.mv;
        graph.moves.get(mv as usize)
    }

    /// Whether a line that ends with `last` has come to a position before.
    fn is_on_the_way(&self, graph: &Graph, last: Option<u32>, place: u32) -> bool {
        let back = |at: &u32| self.nodes.get(*at as usize)?.before;
        let way = std::iter::successors(last, back);
        let mut places = way.skip(1).filter_map(|at| self.move_of(graph, at));
        last.is_some() && (place == 0 || places.any(|mv| mv.to == place))
    }

    /// Plies of the longest line.
    fn depth(&self) -> u32 {
        let mut depths: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            // Nodes come after those before them.
            let before = node.before.and_then(|at| depths.get(at as usize));
            depths.push(before.map_or(1, |before| before + 1));
        }
        depths.into_iter().max().unwrap_or(0)
    }

    fn entry(&self, graph: &Graph, at: usize) -> Entry {
        let Some((node, known)) = self
            .nodes
            .get(at)
            .and_then(|node| Some((node, graph.moves.get(node.mv as usize)?)))
        else {
            return Entry::default();
        };
        let before = node.before.and_then(|at| {
            let place = self.move_of(graph, at)?.to;
            let all = self.arrivals.get(place as usize)?;
            Some((self.nodes.get(at as usize)?.part.clone(), *all))
        });
        // Rounded at the borders of the parts, so that all of them add up.
        let part = |count: u32| match &before {
            None => count,
            Some((part, all)) => {
                let upto = |border| u128::from(count) * u128::from(border) / u128::from(*all);
                (upto(part.end) - upto(part.start)) as u32
            }
        };
        let counts = known.counts.map(part);
        let number = |node: u32| FIRST_ENTRY.saturating_add(node).cast_signed();
        let [won, _, lost, _] = counts;
        Entry {
            mv: Some(known.mv),
            priority: known.priority,
            games: counts.into_iter().fold(0, u32::saturating_add),
            won,
            lost,
            reply: node.reply.map_or(-1, number),
            next: if node.is_last {
                -1
            } else {
                number(at as u32 + 1)
            },
        }
    }
}
