//! Finds the positions of a book whose keys are XORs of unknown constants.
//!
//! A move changes the key by an XOR of a few constants: those of the piece on both squares,
//! of a captured piece, and of the side to move. It is the same wherever the same move is
//! made. So for each move, the keys of the positions that have it in the book are paired
//! with the keys that may be the position after it, and the difference that most of
//! the pairs have in common is that of the move, if
//!
//! * two or more positions confirm it, and less than half as many confirm any other (three
//!   quarters of many, where nothing is clearer);
//! * three quarters of the keys that it explains are explained as well by no other move;
//! * it does not contradict the differences found before.
//!
//! These are linear equations over GF(2), so that each of them also gives the differences
//! of other moves. From the start position, whose key is known, the known differences lead
//! to more positions; there, all moves that a key has must be legal, with the pieces that
//! are said to move and to be captured, which leaves fewer pairs. This is repeated while
//! it finds anything. Positions that nothing leads to are counted.

use std::collections::{BTreeMap, HashMap, HashSet};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use shakmaty::{CastlingSide, Chess, Color, Move, Position as _, Rank, Role, Square};

use super::linear::{Constants, System};
use super::{Cell, CellMove, Notice, START_KEY};
use crate::loaded::Moves;
use crate::polyglot::{self, PackedMove};
use tabia_notation as notation;

/// Of the positions with a move of unknown difference: how many are paired with all keys, and
/// how many vote on each pair.
const ANCHORS: usize = 4;
const COMPARED: usize = 32;

/// Votes that are many.
const MANY: usize = 8;

/// Pairs that are tried in all, so that a large book opens in seconds.
const MOST_PAIRS: u64 = 200_000_000;

#[derive(Default)]
pub(super) struct Solved {
    pub(super) moves: Moves,
    pub(super) unreached: u64,
    /// All positions of the file.
    positions: u64,
    illegal: u64,
    contradictions: u64,
    impossible: u64,
    doubtful: u64,
}

impl Solved {
    /// Damage of the file is a loss; positions that its keys do not tell are a remark.
    pub(super) fn notices(&self) -> Vec<Notice> {
        let counted =
            |count: u64, text: &str| (count > 0).then(|| Notice::Remark(format!("{count} {text}")));
        let illegal = format!(
            "{} moves skipped, as they are illegal in their positions",
            self.illegal
        );
        let unreached = format!(
            "{} of {} positions were not found: the keys of the file do not say by which moves \
             they are reached",
            self.unreached, self.positions
        );
        [
            (self.unreached > 0).then_some(Notice::Remark(unreached)),
            (self.illegal > 0).then_some(Notice::Loss(illegal)),
            counted(
                self.contradictions,
                "moves change the key in other ways than the rest of the book says; they were \
                 not used to find positions",
            ),
            counted(
                self.impossible,
                "keys were left out, as none of their moves is legal where lines lead to them",
            ),
            counted(
                self.doubtful,
                "of these keys were left out, as lines lead to them from different positions",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The moves of a key.
struct Group {
    key: u64,
    side: Color,
    cells: Vec<Cell>,
    /// Whether a known move of any position leads there.
    is_explained: bool,
    known: Option<Known>,
}

/// A position that was found.
struct Known {
    position: Chess,
    /// Its keys in Polyglot books: two if lines reach it with and without an en passant
    /// capture, which this format does not tell apart.
    keys: Vec<u64>,
    /// The moves that are legal, each with the position after it.
    after: Vec<Edge>,
    /// Whether lines lead to different positions under this key.
    is_doubtful: bool,
}

struct Edge {
    mv: PackedMove,
    delta: Constants,
    child: Chess,
    /// The legal moves there, when first needed.
    legal: Option<HashSet<CellMove, FxBuildHasher>>,
}

/// A move whose difference is not known: the key after it is `base` and the difference.
struct Site {
    group: u32,
    base: u64,
    mv: CellMove,
    /// Its number in [`Known::after`].
    edge: Option<usize>,
}

/// A value for an unknown difference, with the pairs that vote for it.
struct Claim {
    votes: usize,
    rest: Constants,
    value: u64,
    explains: Vec<u32>,
    /// The most votes of another difference.
    second: usize,
}

pub(super) fn solve(mut cells: Vec<Cell>) -> Solved {
    cells.sort_by_key(|cell| (cell.key, cell.side.is_black(), cell.offset));
    let same = |a: &Cell, b: &Cell| (a.key, a.side) == (b.key, b.side);
    let groups = cells.chunk_by(same).map(|cells| Group {
        key: cells.first().map_or(0, |cell| cell.key),
        side: cells.first().map_or(Color::White, |cell| cell.side),
        cells: cells.to_vec(),
        is_explained: false,
        known: None,
    });
    let mut solver = Solver {
        groups: groups.collect(),
        index: HashMap::default(),
        system: System::default(),
        solved: Solved::default(),
        pairs: 0,
    };
    for (number, group) in (0..).zip(&solver.groups) {
        solver.index.insert((group.key, group.side), number);
    }
    let start = Chess::default();
    if let Some(number) = solver.find(START_KEY, Color::White) {
        solver.enter(number, &start);
        while solver.round() {}
    }
    solver.finish()
}

struct Solver {
    groups: Vec<Group>,
    index: HashMap<(u64, Color), u32, FxBuildHasher>,
    system: System,
    solved: Solved,
    pairs: u64,
}

impl Solver {
    fn find(&self, key: u64, side: Color) -> Option<u32> {
        self.index.get(&(key, side)).copied()
    }

    fn group(&self, number: u32) -> Option<&Group> {
        self.groups.get(number as usize)
    }

    /// Stores the position of a key.
    fn enter(&mut self, number: u32, position: &Chess) {
        let Some(group) = self.groups.get_mut(number as usize) else {
            return;
        };
        let legal = legal(position);
        let here = Constants::of(position);
        let mut after = Vec::new();
        let illegal = group.cells.len();
        group.cells.retain(|cell| legal.contains_key(&cell.mv));
        for cell in &group.cells {
            if let Some(&mv) = legal.get(&cell.mv) {
                let child = notation::after(position, mv);
                after.push(Edge {
                    mv: PackedMove::from_move(mv),
                    delta: Constants::of(&child).with(&here),
                    child,
                    legal: None,
                });
            }
        }
        self.solved.illegal += (illegal - group.cells.len()) as u64;
        group.known = Some(Known {
            position: position.clone(),
            keys: vec![polyglot::key(position)],
            after,
            is_doubtful: false,
        });
        group.is_explained = true;
    }

    /// The solved positions, without contradictions: keys with several positions, and positions
    /// with several keys.
    fn finish(mut self) -> Solved {
        let mut same: FxHashMap<Constants, u64> = HashMap::default();
        for known in self.groups.iter().filter_map(|group| group.known.as_ref()) {
            *same.entry(Constants::of(&known.position)).or_default() += 1;
        }
        self.solved.positions = self.groups.len() as u64;
        for group in &self.groups {
            let Some(known) = &group.known else {
                self.solved.unreached += 1;
                continue;
            };
            let is_alone = same.get(&Constants::of(&known.position)) == Some(&1);
            if known.is_doubtful || !is_alone {
                self.solved.doubtful += 1;
                self.solved.unreached += 1;
                continue;
            }
            for key in &known.keys {
                for (cell, edge) in group.cells.iter().zip(&known.after) {
                    self.solved
                        .moves
                        .push(*key, edge.mv, cell.weight, cell.offset);
                }
            }
        }
        self.solved
    }

    /// Follows the known differences; then looks for more. False if there are none.
    fn round(&mut self) -> bool {
        let mut sites = self.follow();
        if self.pairs >= MOST_PAIRS {
            return false;
        }
        self.read_legal_moves(&sites);
        // The first of the pairs is that of a known position, which has few.
        sites.retain(|_, sites| sites.len() > 1 && sites.iter().any(|site| site.edge.is_some()));
        let mut claims: Vec<Claim> = Vec::new();
        for (rest, sites) in &sites {
            claims.extend(claim(
                &self.groups,
                &self.index,
                *rest,
                sites,
                &mut self.pairs,
            ));
        }
        claims.sort_by(|a, b| b.votes.cmp(&a.votes).then_with(|| a.rest.cmp(&b.rest)));
        // The two greatest numbers of votes for each key.
        let mut votes: FxHashMap<u32, [usize; 2]> = HashMap::default();
        for claim in &claims {
            for key in &claim.explains {
                let [first, second] = votes.entry(*key).or_default();
                match claim.votes {
                    more if more > *first => (*first, *second) = (more, *first),
                    more => *second = more.max(*second),
                }
            }
        }
        claims.retain(|claim| {
            let is_own = |key: &&u32| {
                let best = votes.get(*key).copied().unwrap_or_default();
                best[0] == claim.votes && best[1] < claim.votes
            };
            let own = claim.explains.iter().filter(is_own).count();
            4 * own >= 3 * claim.explains.len()
        });
        // Clear ones first: they also make others clearer.
        let mut taken = |is_clear: fn(&Claim) -> bool| {
            let clear: Vec<&Claim> = claims.iter().filter(|claim| is_clear(claim)).collect();
            self.accept(&clear)
        };
        taken(|claim| 2 * claim.second < claim.votes)
            || taken(|claim| claim.votes >= MANY && 4 * claim.second <= 3 * claim.votes)
    }

    /// Takes the differences with the most votes; false if they say nothing new.
    fn accept(&mut self, claims: &[&Claim]) -> bool {
        let most = claims.first().map_or(0, |claim| claim.votes);
        let mut is_new = false;
        for claim in claims.iter().take_while(|claim| 2 * claim.votes >= most) {
            let (rest, _) = self.system.reduce(&claim.rest);
            if self.system.add(&claim.rest, claim.value) {
                is_new |= !rest.is_empty();
            } else {
                self.solved.contradictions += 1;
            }
        }
        is_new
    }

    /// Finds all positions that known differences lead to. Returns the moves with an unknown
    /// difference, by the constants that are unknown in it.
    fn follow(&mut self) -> BTreeMap<Constants, Vec<Site>> {
        let is_known = |number: &u32| {
            self.group(*number)
                .is_some_and(|group| group.known.is_some())
        };
        let mut waiting: Vec<u32> = (0..self.groups.len() as u32).filter(is_known).collect();
        while let Some(number) = waiting.pop() {
            let Some(group) = self.group(number) else {
                continue;
            };
            let edges = group.known.iter().flat_map(|known| &known.after);
            let reached = edges.filter_map(|edge| {
                let (rest, sum) = self.system.reduce(&edge.delta);
                let child = self.find(group.key ^ sum, !group.side)?;
                rest.is_empty().then(|| (child, edge.child.clone()))
            });
            let reached: Vec<_> = reached.collect();
            for (child, position) in reached {
                waiting.extend(self.reach(child, &position).then_some(child));
            }
        }
        let mut sites: BTreeMap<Constants, Vec<Site>> = BTreeMap::new();
        let mut explained = Vec::new();
        for (number, group) in (0..).zip(&self.groups) {
            for (n, cell) in group.cells.iter().enumerate() {
                let edge = group.known.as_ref().and_then(|known| known.after.get(n));
                let delta = match edge {
                    Some(edge) => Some(edge.delta),
                    None => delta(group.side, &cell.mv),
                };
                let Some((rest, sum)) = delta.map(|delta| self.system.reduce(&delta)) else {
                    continue;
                };
                if rest.is_empty() {
                    explained.extend(self.find(group.key ^ sum, !group.side));
                } else {
                    sites.entry(rest).or_default().push(Site {
                        group: number,
                        base: group.key ^ sum,
                        mv: cell.mv,
                        edge: edge.map(|_| n),
                    });
                }
            }
        }
        for number in explained {
            if let Some(group) = self.groups.get_mut(number as usize) {
                group.is_explained = true;
            }
        }
        sites
    }

    /// Takes note that a position was reached; true if it is new.
    fn reach(&mut self, number: u32, position: &Chess) -> bool {
        let Some(group) = self.groups.get_mut(number as usize) else {
            return false;
        };
        if let Some(known) = &mut group.known {
            let (old, new) = (Constants::of(&known.position), Constants::of(position));
            known.is_doubtful |= old.with(&new).is_beyond_passant();
            let key = polyglot::key(position);
            if !known.keys.contains(&key) {
                known.keys.push(key);
            }
            return false;
        }
        let legal = legal(position);
        if !group.cells.iter().any(|cell| legal.contains_key(&cell.mv)) {
            self.solved.impossible += 1;
            group.is_explained = true;
            // No other line can lead there.
            group.cells.clear();
        }
        self.enter(number, position);
        true
    }

    fn read_legal_moves(&mut self, sites: &BTreeMap<Constants, Vec<Site>>) {
        for site in sites.values().flatten() {
            let group = self.groups.get_mut(site.group as usize);
            let known = group.and_then(|group| group.known.as_mut());
            let edge = known
                .zip(site.edge)
                .and_then(|(known, n)| known.after.get_mut(n));
            if let Some(edge) = edge
                && edge.legal.is_none()
            {
                edge.legal = Some(legal(&edge.child).into_keys().collect());
            }
        }
    }
}

/// The difference with the most votes from pairs of these sites, if it is ahead of all others.
fn claim(
    groups: &[Group],
    index: &HashMap<(u64, Color), u32, FxBuildHasher>,
    rest: Constants,
    sites: &[Site],
    pairs: &mut u64,
) -> Option<Claim> {
    let side = |site: &Site| groups.get(site.group as usize).map(|group| !group.side);
    let mut sample: Vec<&Site> = sites.iter().collect();
    // Known positions first, as they say more; the others in a mixed order, so that the
    // sample has some of every part of the file.
    sample.sort_by_key(|site| {
        (
            site.edge.is_none(),
            site.base.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        )
    });
    sample.truncate(COMPARED);
    let mut tried: FxHashSet<u64> = HashSet::default();
    let mut best: Option<(usize, u64)> = None;
    let mut second = 0;
    let explained = |site: &Site, value: u64| {
        let number = *index.get(&(site.base ^ value, side(site)?))?;
        let group = groups.get(number as usize)?;
        (!group.is_explained && may_follow(groups, site, group)).then_some(number)
    };
    let anchors = sample.iter().filter(|site| site.edge.is_some());
    for anchor in anchors.take(ANCHORS) {
        for group in groups {
            if group.is_explained || Some(group.side) != side(anchor) {
                continue;
            }
            *pairs += 1;
            let value = anchor.base ^ group.key;
            if !may_follow(groups, anchor, group) || !tried.insert(value) {
                continue;
            }
            let votes = sample
                .iter()
                .filter(|site| explained(site, value).is_some());
            let votes = votes.count();
            match best {
                Some((most, _)) if votes <= most => second = second.max(votes),
                _ => {
                    second = second.max(best.map_or(0, |(votes, _)| votes));
                    best = Some((votes, value));
                }
            }
        }
    }
    let (votes, value) = best.filter(|(votes, _)| *votes > 1 && *votes > second)?;
    let explains = sample.iter().filter_map(|site| explained(site, value));
    Some(Claim {
        votes,
        rest,
        value,
        explains: explains.collect(),
        second,
    })
}

/// Whether a key may be that of the position after a move.
fn may_follow(groups: &[Group], site: &Site, group: &Group) -> bool {
    let legal = site.edge.and_then(|n| {
        let known = groups.get(site.group as usize)?.known.as_ref()?;
        known.after.get(n)?.legal.as_ref()
    });
    match legal {
        Some(legal) => group.cells.iter().all(|cell| legal.contains(&cell.mv)),
        // The moved piece is on its square, and none on the one that it left.
        None => group.cells.iter().all(|cell| {
            let reply = &cell.mv;
            let takes = (reply.to == site.mv.to, reply.to == site.mv.from);
            reply.from != site.mv.to
                && match takes {
                    (true, _) => reply.captured == Some(site.mv.role),
                    (_, true) => reply.captured.is_none() || reply.role == Role::Pawn,
                    _ => true,
                }
        }),
    }
}

/// The legal moves of a position, as cells have them.
fn legal(position: &Chess) -> HashMap<CellMove, Move, FxBuildHasher> {
    let mut all = HashMap::default();
    for mv in position.legal_moves() {
        let Some(from) = mv.from() else {
            continue;
        };
        let color = position.turn();
        let target = mv
            .castling_side()
            .map(|side: CastlingSide| side.king_to(color));
        let written = CellMove {
            from,
            to: target.unwrap_or(mv.to()),
            role: mv.role(),
            captured: mv.capture(),
            promotion: mv.promotion(),
        };
        if mv.is_en_passant() {
            // How the captured pawn is written there is not known.
            all.insert(
                CellMove {
                    captured: None,
                    ..written
                },
                mv,
            );
        }
        all.insert(written, mv);
    }
    all
}

/// The difference of a move whose position is not known; `None` if it depends on that.
fn delta(side: Color, mv: &CellMove) -> Option<Constants> {
    const OF_RIGHTS: [Square; 6] = [
        Square::A1,
        Square::E1,
        Square::H1,
        Square::A8,
        Square::E8,
        Square::H8,
    ];
    let changes_rights = OF_RIGHTS
        .iter()
        .any(|square| [mv.from, mv.to].contains(square));
    let is_pawn = mv.role == Role::Pawn;
    let sixth = side.fold_wb(Rank::Sixth, Rank::Third);
    let may_be_en_passant = is_pawn
        && mv.from.file() != mv.to.file()
        && (mv.captured.is_none() || mv.captured == Some(Role::Pawn) && mv.to.rank() == sixth);
    if changes_rights || may_be_en_passant || mv.promotion.is_some() {
        return None;
    }
    let mut delta = Constants::default();
    delta.toggle_piece(mv.role.of(side), mv.from);
    delta.toggle_piece(mv.role.of(side), mv.to);
    if let Some(captured) = mv.captured {
        delta.toggle_piece(captured.of(!side), mv.to);
    }
    delta.toggle_side();
    Some(delta)
}
