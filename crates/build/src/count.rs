//! What one thread counts: games in, sorted runs out.

use shakmaty::{ByColor, Chess, Color, Position};

use super::node::{self, Node, Outcome, Place, SignCount};
use super::tree::Tree;
use tabia_book::ctg::{CanonicalBoard, Key, Totals, encode_move_byte};
use tabia_book::{Annotation, PositionRecord};
use tabia_games::{Game, GameResult};
use tabia_io::sort::{PARTITION_BITS, Record as _, Runs, SortError, sort_by_order};

/// One game in one position, or one move: what is sorted.
#[derive(Clone, Copy)]
struct Seen {
    place: Place,
    /// The move's byte, if [`MOVE`].
    byte: u8,
    flags: u8,
    own: u16,
    other: u16,
}

/// The outcome, see [`Outcome`].
const OUTCOME: u8 = 0x03;
/// A game is counted here.
const GAME: u8 = 0x04;
/// There is a move.
const MOVE: u8 = 0x08;
/// The move was played in a game; without it, in a variation.
const PLAYED: u8 = 0x10;
/// The position gets the mark of a main move.
const MAIN: u8 = 0x20;

/// Bytes of a record with its share of the sorting.
const SEEN_BYTES: usize = size_of::<Seen>() + size_of::<u64>();

/// Bytes of a record in a run, at most, without ratings twice.
const RUN_BYTES: u64 = 42;

/// A sign takes as much memory as so many records.
const SIGN_SEEN: usize = size_of::<Node>().div_ceil(SEEN_BYTES) + 1;

/// The NAG that books have for an only move; PGN has 7 and 8.
const ONLY_MOVE: u8 = Annotation::ONLY_MOVE.0;

/// What of a game is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Plies.
    pub(super) max_ply: usize,
    /// The positions that it reaches get the mark of main moves.
    pub(super) main: bool,
    /// Moves of this side alone.
    pub(super) only: Option<Color>,
}

impl Extent {
    /// Whether a move in a position is stored.
    pub(super) fn has_moves_of(&self, position: &Chess) -> bool {
        self.only.is_none_or(|only| only == position.turn())
    }
}

/// Counts games.
pub(super) struct Counter<'r> {
    runs: &'r Runs<Node>,
    tree: Tree,
    /// By the upper bits of the order, so that each chunk is small enough to be
    /// sorted within the processor's cache.
    seen: Vec<Vec<Seen>>,
    /// How many there are, and may be.
    held: usize,
    most: usize,
    /// [`Place::order`] of each position of the game that is being counted. In
    /// one list, because each position is looked for in it.
    orders: Vec<u32>,
    /// The bytes of the moves played there.
    bytes: Vec<Option<u8>>,
    /// Signs: nodes with nothing else.
    signs: Vec<Node>,
    /// Moves played that the format cannot hold.
    pub(super) unstorable: u64,
}

impl<'r> Counter<'r> {
    /// `sort_bytes` for records before they are sorted, `tree_bytes` for the
    /// opening tree.
    pub(super) fn new(runs: &'r Runs<Node>, sort_bytes: usize, tree_bytes: usize) -> Counter<'r> {
        Counter {
            runs,
            tree: Tree::new(tree_bytes),
            seen: vec![Vec::new(); 1 << PARTITION_BITS],
            held: 0,
            most: (sort_bytes / SEEN_BYTES).max(1024),
            orders: Vec::new(),
            bytes: Vec::new(),
            signs: Vec::new(),
            unstorable: 0,
        }
    }

    #[inline]
    fn push(&mut self, seen: Seen) {
        let chunk = seen.place.order >> (u32::BITS - PARTITION_BITS);
        if let Some(chunk) = self.seen.get_mut(chunk as usize) {
            if chunk.capacity() == 0 {
                // Never to be moved: a chunk is nearly as large as the others.
                chunk.reserve(self.most >> PARTITION_BITS);
            }
            chunk.push(seen);
            self.held += 1;
        }
    }

    /// Counts a game.
    pub(super) fn count(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        let more = game.positions.len() + 2 * game.side_moves.len();
        if self.held + SIGN_SEEN * (self.signs.len() + game.signs.len()) + more > self.most {
            self.sort()?;
        }
        if self.tree.is_full() {
            self.sort_tree()?;
        }
        self.orders.clear();
        self.bytes.clear();
        let outcomes = ByColor::new_with(|color| outcome(game.result, color));
        // A marked position is rare; so the tree has no marks.
        let mut node = (!game.set_up && !extent.main).then(|| self.tree.start());
        for (ply, position) in game.positions.iter().enumerate().take(extent.max_ply + 1) {
            let m = game.moves.get(ply).filter(|_| ply < extent.max_ply);
            let here = node;
            // Of a node of the tree, only if they are wanted. They stay where
            // they are made: what has just been written in small pieces is slow
            // to copy.
            let board = match here {
                Some(_) => None,
                None => CanonicalBoard::from_position(position),
            };
            let key;
            let order = match (&board, here) {
                (Some(board), _) => {
                    key = board.key();
                    Place::order_of(&key)
                }
                (None, Some(node)) => {
                    // Not asked for.
                    key = Key::from_padded([0; Key::MAX_BYTES]);
                    self.tree.order(node)
                }
                // The format has no key for it: nothing to store.
                (None, None) => return Ok(()),
            };
            // Only positions since the last capture or pawn move can be the
            // same, also with colours or wings exchanged.
            let reversible = ply.min(position.halfmoves() as usize);
            let first = ply - reversible;
            let orders = self.orders.get(first..).unwrap_or_default();
            // No `any`: this way the processor compares several at once.
            let is_known = orders
                .iter()
                .fold(false, |known, &other| known | (other == order));
            let before = match is_known {
                true => self.moves_before(game, first, order, position),
                false => Vec::new(),
            };
            let repeated = !before.is_empty();
            let outcome = *outcomes.get(position.turn());
            let own = *game.elo.get(position.turn());
            let other = *game.elo.get(!position.turn());

            if let Some(node) = here
                && !repeated
            {
                self.tree.count(node, outcome, own, other);
            }
            let mut byte = None;
            let mut flags = 0;
            if let Some(&m) = m {
                let next = game.positions.get(ply + 1);
                let step = node
                    .zip(next)
                    .and_then(|(node, next)| self.tree.step(node, m, position, next));
                node = step.as_ref().map(|step| step.node);
                byte = match &step {
                    Some(step) => step.byte,
                    None => board
                        .or_else(|| CanonicalBoard::from_position(position))
                        .and_then(|board| encode_move_byte(&board, m)),
                };
                self.unstorable += u64::from(byte.is_none());
                if byte.is_some() && !before.contains(&byte) && extent.has_moves_of(position) {
                    match step {
                        Some(step) => self.tree.count_move(step.node),
                        None => flags |= MOVE | PLAYED,
                    }
                }
            }
            if here.is_none() && !repeated {
                flags |= GAME;
            }
            if extent.main && ply > 0 {
                flags |= MAIN;
            }
            if flags != 0 {
                let place = match here {
                    Some(node) => self.tree.place(node),
                    None => Place::at(order, &key),
                };
                self.push(Seen {
                    place,
                    byte: byte.unwrap_or(0),
                    flags: flags | outcome as u8,
                    own,
                    other,
                });
            }
            self.orders.push(order);
            self.bytes.push(byte);
        }
        self.count_side_moves(game, extent);
        self.count_signs(game, extent);
        Ok(())
    }

    /// The moves played when a position was on the board before, from ply
    /// `first` on.
    fn moves_before(
        &self,
        game: &Game,
        first: usize,
        order: u32,
        position: &Chess,
    ) -> Vec<Option<u8>> {
        // Different keys may have one hash.
        let place = place_of(position);
        let orders = self.orders.iter().enumerate().skip(first);
        let alike = orders.filter(|(_, other)| **other == order);
        let same = alike.filter(|(ply, _)| game.positions.get(*ply).and_then(place_of) == place);
        same.map(|(ply, _)| self.bytes.get(ply).copied().flatten())
            .collect()
    }

    /// Counts annotations of moves and of the positions after them.
    fn count_signs(&mut self, game: &Game, extent: Extent) {
        for sign in &game.signs {
            let on_line = || {
                let before = game.positions.get(sign.index)?;
                Some((sign.index, before, *game.moves.get(sign.index)?))
            };
            let side_move = || {
                let (ply, before, m) = game.side_moves.get(sign.index)?;
                Some((*ply, before, *m))
            };
            let found = if sign.side_move {
                side_move()
            } else {
                on_line()
            };
            let Some((ply, before, m)) = found else {
                continue;
            };
            if ply >= extent.max_ply {
                continue;
            }
            let mut after = before.clone();
            after.play_unchecked(m);
            let subject = match sign.nag {
                1..=8 if !extent.has_moves_of(before) => None,
                1..=8 => CanonicalBoard::from_position(before).and_then(|board| {
                    let byte = encode_move_byte(&board, m)?;
                    Some((
                        board,
                        Some(byte),
                        if sign.nag == 7 { ONLY_MOVE } else { sign.nag },
                    ))
                }),
                10..=139 => CanonicalBoard::from_position(&after).map(|board| {
                    let nag = PositionRecord::commentary_seen(sign.nag, after.turn());
                    (board, None, nag)
                }),
                _ => None,
            };
            if let Some((board, byte, nag)) = subject {
                let mut node = Node::new(Place::of(&board.key()));
                node.add_sign(SignCount {
                    byte,
                    nag,
                    games: 1,
                    elo: *game.elo.get(before.turn()),
                });
                self.signs.push(node);
            }
        }
    }

    /// Moves of variations: stored, with their positions, but no game.
    fn count_side_moves(&mut self, game: &Game, extent: Extent) {
        for (ply, position, m) in &game.side_moves {
            let Some(board) = CanonicalBoard::from_position(position) else {
                continue;
            };
            if *ply >= extent.max_ply {
                continue;
            }
            let byte = encode_move_byte(&board, *m);
            self.unstorable += u64::from(byte.is_none());
            let mut next = position.clone();
            next.play_unchecked(*m);
            let next = CanonicalBoard::from_position(&next);
            let seen = |board: &CanonicalBoard, byte: Option<u8>, flags| Seen {
                place: Place::of(&board.key()),
                byte: byte.unwrap_or(0),
                flags: match byte {
                    Some(_) if extent.has_moves_of(position) => flags | MOVE,
                    _ => flags,
                },
                own: 0,
                other: 0,
            };
            self.push(seen(&board, byte, 0));
            let flags = u8::from(extent.main) * MAIN;
            if let Some(next) = next {
                self.push(seen(&next, None, flags));
            }
        }
    }

    /// Counts the side moves of a game and their annotations, and nothing else.
    pub(super) fn count_only_side_moves(&mut self, game: &Game) {
        let extent = Extent {
            max_ply: usize::MAX,
            main: false,
            only: None,
        };
        self.count_side_moves(game, extent);
        self.count_signs(game, extent);
    }

    /// Sorts the annotations into a separate run.
    fn sort_signs(&mut self) -> Result<(), SortError> {
        if self.signs.is_empty() {
            return Ok(());
        }
        self.signs.sort_by_key(|node| node.place);
        let mut signs = std::mem::take(&mut self.signs).into_iter();
        let estimate = signs.len() as u64 * RUN_BYTES;
        self.runs.add(estimate, |push| {
            let mut sum = signs.next();
            for node in signs {
                match &mut sum {
                    Some(sum) if sum.place == node.place => sum.add(&node),
                    Some(other) => {
                        push(other)?;
                        *other = node;
                    }
                    None => sum = Some(node),
                }
            }
            sum.as_ref().map_or(Ok(()), push)
        })
    }

    /// Sorts the records into a run.
    fn sort(&mut self) -> Result<(), SortError> {
        self.sort_signs()?;
        if self.held == 0 {
            return Ok(());
        }
        let estimate = self.held as u64 * RUN_BYTES;
        let (mut sorted, mut other) = (Vec::new(), Vec::new());
        self.runs.add(estimate, |push| {
            for chunk in &mut self.seen {
                let entries = chunk.iter().enumerate();
                sorted.clear();
                sorted
                    .extend(entries.map(|(n, seen)| u64::from(seen.place.order) << 32 | n as u64));
                sort_by_order(&mut sorted, &mut other);
                add_up(chunk, &mut sorted, push)?;
                chunk.clear();
            }
            Ok::<_, SortError>(())
        })?;
        self.held = 0;
        Ok(())
    }

    /// Hands everything over.
    pub(super) fn finish(mut self) -> Result<u64, SortError> {
        self.sort()?;
        self.seen = Vec::new();
        self.sort_tree()?;
        Ok(self.unstorable)
    }

    /// Makes a run of what the tree has counted.
    fn sort_tree(&mut self) -> Result<(), SortError> {
        let mut nodes = 0;
        let mut bytes = Vec::new();
        // How large the run will be is known by making it.
        self.tree.drain(|node| {
            node.encode(&mut bytes);
            nodes += 1;
            Ok::<_, SortError>(())
        })?;
        if nodes == 0 {
            return Ok(());
        }
        self.runs.add(bytes.len() as u64, |push| {
            let mut node = Node::default();
            let mut rest = bytes.as_slice();
            while let Some(length) = node.decode(rest) {
                push(&node)?;
                rest = rest.get(length..).unwrap_or_default();
            }
            Ok(())
        })
    }
}

/// The nodes of a chunk of records, in the order that `sorted` gives them.
fn add_up(
    chunk: &[Seen],
    sorted: &mut [u64],
    push: &mut dyn FnMut(&Node) -> Result<(), SortError>,
) -> Result<(), SortError> {
    let record = |entry: &u64| chunk.get((*entry & u64::from(u32::MAX)) as usize);
    let mut node = Node::default();
    for group in sorted.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
        if group.len() > 1 {
            // Different keys may have one hash.
            group.sort_unstable_by_key(|entry| record(entry).map(|seen| seen.place.key));
        }
        for same in group.chunk_by(|a, b| {
            record(a).map(|seen| seen.place.key) == record(b).map(|seen| seen.place.key)
        }) {
            let Some(first) = same.first().and_then(record) else {
                continue;
            };
            node.reset(first.place);
            // Added up beside the node: what has just been emptied at once is
            // slow to read number by number.
            let mut tally = Totals::default();
            for seen in same.iter().filter_map(record) {
                add(&mut node, &mut tally, seen);
            }
            node.tally = tally;
            push(&node)?;
        }
    }
    Ok(())
}

#[inline]
fn add(node: &mut Node, tally: &mut Totals, seen: &Seen) {
    if seen.flags & GAME != 0 {
        let outcome = match seen.flags & OUTCOME {
            1 => Outcome::Won,
            2 => Outcome::Draw,
            3 => Outcome::Lost,
            _ => Outcome::Unknown,
        };
        node::count(tally, outcome, seen.own, seen.other);
    }
    if seen.flags & MOVE != 0 {
        node.add_move(seen.byte, u64::from(seen.flags & PLAYED != 0));
    }
    node.main |= seen.flags & MAIN != 0;
}

fn place_of(position: &Chess) -> Option<Place> {
    Some(Place::of(&CanonicalBoard::from_position(position)?.key()))
}

fn outcome(result: GameResult, turn: Color) -> Outcome {
    match result {
        GameResult::Won(winner) if winner == turn => Outcome::Won,
        GameResult::Won(_) => Outcome::Lost,
        GameResult::Draw => Outcome::Draw,
        GameResult::Unknown => Outcome::Unknown,
    }
}
