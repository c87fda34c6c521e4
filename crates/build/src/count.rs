//! Counting in one thread: games in, sorted runs out.

use std::sync::Arc;

use shakmaty::{ByColor, Chess, Color, Position};

use super::node::{BookOrder, NagCount, Node, Occurrence, Outcome};
use super::tree::Tree;
use tabia_book::ctg::{CanonicalBoard, Key, encode_move_byte};
use tabia_book::{Annotation, PositionRecord};
use tabia_games::{Game, GameResult};
use tabia_io::sort::{Runs, SortError, Sorter};
use tabia_notation as notation;

/// The NAG for an only move in books; PGN has 7 and 8.
const ONLY_MOVE: u8 = Annotation::ONLY_MOVE.0;

/// Which moves of a game are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Number of plies.
    pub(super) max_ply: usize,
    /// The positions after its moves are marked as main moves.
    pub(super) main: bool,
    /// Only moves of this side.
    pub(super) only: Option<Color>,
}

impl Extent {
    /// Whether a move in a position is stored.
    pub(super) fn has_moves_of(&self, position: &Chess) -> bool {
        self.only.is_none_or(|only| only == position.turn())
    }
}

/// Counts games.
pub(super) struct Counter {
    sorter: Sorter<Node>,
    tree: Tree,
    /// [`BookOrder::order`] of each position of the current game. A separate list, because
    /// it is searched for each position.
    orders: Vec<u32>,
    /// The bytes of the moves played there.
    bytes: Vec<Option<u8>>,
    /// Number of moves that the format cannot store.
    pub(super) unstorable: u64,
}

impl Counter {
    /// `sort_bytes` is the memory for unsorted records, `tree_bytes` that of the
    /// opening tree.
    pub(super) fn new(runs: &Arc<Runs<Node>>, sort_bytes: u64, tree_bytes: u64) -> Counter {
        Counter {
            sorter: Sorter::new(Arc::clone(runs), sort_bytes),
            tree: Tree::new(tree_bytes as usize),
            orders: Vec::new(),
            bytes: Vec::new(),
            unstorable: 0,
        }
    }

    #[inline]
    fn push(&mut self, order: u32, key: &Key, occurrence: Occurrence) -> Result<(), SortError> {
        self.sorter
            .push_encoded(order, |out| occurrence.encode(order, key, out))
    }

    /// Counts a game.
    pub(super) fn count(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        if self.tree.is_full() {
            self.sort_tree()?;
        }
        self.orders.clear();
        self.bytes.clear();
        let outcomes = ByColor::new_with(|color| outcome(game.result, color));
        // The tree stores no marks, because marked positions are rare.
        let mut node = (!game.set_up && !extent.main).then(|| self.tree.start());
        for (ply, position) in game
            .positions
            .iter()
            .enumerate()
            .take(extent.max_ply.saturating_add(1))
        {
            let m = game.moves.get(ply).filter(|_| ply < extent.max_ply);
            let here = node;
            // Set up from a tree node only when needed. Boards stay where they are
            // made: copying what was just written in small pieces is slow.
            let board = match here {
                Some(_) => None,
                None => CanonicalBoard::from_position(position),
            };
            let mut key;
            let order = match (&board, here) {
                (Some(board), _) => {
                    key = board.key();
                    BookOrder::order_of(&key)
                }
                (None, Some(node)) => {
                    // The key is computed later, if needed.
                    key = Key::from_padded([0; Key::MAX_BYTES]);
                    self.tree.order(node)
                }
                // The format has no key for this position: store nothing.
                (None, None) => return Ok(()),
            };
            // Only positions since the last capture or pawn move can repeat, also with
            // colours or wings exchanged.
            let reversible = ply.min(position.halfmoves() as usize);
            let first = ply - reversible;
            let orders = self.orders.get(first..).unwrap_or_default();
            // Not `any`: with `fold` the compiler compares several values at once.
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
            let mut occurrence = Occurrence {
                main: extent.main && ply > 0,
                ..Occurrence::default()
            };
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
                        None => occurrence.mv = byte.map(|byte| (byte, true)),
                    }
                }
            }
            if here.is_none() && !repeated {
                occurrence.game = Some((outcome, own, other));
            }
            if occurrence != Occurrence::default() {
                if let Some(node) = here {
                    key = self.tree.key(node);
                }
                self.push(order, &key, occurrence)?;
            }
            self.orders.push(order);
            self.bytes.push(byte);
        }
        self.count_side_moves(game, extent)?;
        self.count_annotations(game, extent)
    }

    /// The moves played when a position occurred earlier, from ply `first` on.
    fn moves_before(
        &self,
        game: &Game,
        first: usize,
        order: u32,
        position: &Chess,
    ) -> Vec<Option<u8>> {
        // Different keys can have the same hash.
        let place = place_of(position);
        let orders = self.orders.iter().enumerate().skip(first);
        let alike = orders.filter(|(_, other)| **other == order);
        let same = alike.filter(|(ply, _)| game.positions.get(*ply).and_then(place_of) == place);
        same.map(|(ply, _)| self.bytes.get(ply).copied().flatten())
            .collect()
    }

    /// Counts annotations of moves and of the positions after them.
    fn count_annotations(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        for annotation in &game.annotations {
            let on_line = || {
                let before = game.positions.get(annotation.index)?;
                Some((annotation.index, before, *game.moves.get(annotation.index)?))
            };
            let side_move = || {
                let (ply, before, m) = game.side_moves.get(annotation.index)?;
                Some((*ply, before, *m))
            };
            let found = if annotation.side_move {
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
            let after = notation::after(before, m);
            let subject = match annotation.nag {
                // An entry is that of the mirror image, too, where the other side moves.
                1..=8 if !extent.has_moves_of(before) => None,
                1..=8 => CanonicalBoard::from_position(before).and_then(|board| {
                    let byte = encode_move_byte(&board, m)?;
                    Some((
                        board,
                        Some(byte),
                        if annotation.nag == 7 {
                            ONLY_MOVE
                        } else {
                            annotation.nag
                        },
                    ))
                }),
                10..=139 => CanonicalBoard::from_position(&after).map(|board| {
                    let nag = PositionRecord::commentary_seen(annotation.nag, after.turn());
                    (board, None, nag)
                }),
                _ => None,
            };
            if let Some((board, byte, nag)) = subject {
                let mut node = Node::new(BookOrder::from_key(&board.key()));
                node.add_nag(NagCount {
                    byte,
                    nag,
                    games: 1,
                    elo: *game.elo.get(before.turn()),
                });
                self.sorter.push(&node)?;
            }
        }
        Ok(())
    }

    /// Stores moves of variations and their positions, without counting a game.
    fn count_side_moves(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        for (ply, position, m) in &game.side_moves {
            let Some(board) = CanonicalBoard::from_position(position) else {
                continue;
            };
            if *ply >= extent.max_ply {
                continue;
            }
            let byte = encode_move_byte(&board, *m);
            self.unstorable += u64::from(byte.is_none());
            let key = board.key();
            let here = Occurrence {
                mv: byte
                    .filter(|_| extent.has_moves_of(position))
                    .map(|byte| (byte, false)),
                ..Occurrence::default()
            };
            self.push(BookOrder::order_of(&key), &key, here)?;
            let next = notation::after(position, *m);
            if let Some(next) = CanonicalBoard::from_position(&next) {
                let key = next.key();
                let there = Occurrence {
                    main: extent.main,
                    ..Occurrence::default()
                };
                self.push(BookOrder::order_of(&key), &key, there)?;
            }
        }
        Ok(())
    }

    /// Counts only the side moves of a game and their annotations.
    pub(super) fn count_only_side_moves(
        &mut self,
        game: &Game,
        only: Option<Color>,
    ) -> Result<(), SortError> {
        let extent = Extent {
            max_ply: usize::MAX,
            main: false,
            only,
        };
        self.count_side_moves(game, extent)?;
        self.count_annotations(game, extent)
    }

    /// Writes everything into the runs; returns the number of moves that the format
    /// cannot store.
    pub(super) fn finish(mut self) -> Result<u64, SortError> {
        self.sort_tree()?;
        self.sorter.finish()?;
        Ok(self.unstorable)
    }

    /// Adds the counts of the tree to the records.
    fn sort_tree(&mut self) -> Result<(), SortError> {
        let Counter { sorter, tree, .. } = self;
        // Frees memory first: draining the tree needs some.
        sorter.flush()?;
        tree.drain(|node| sorter.push(node))
    }
}

fn place_of(position: &Chess) -> Option<BookOrder> {
    Some(BookOrder::from_key(
        &CanonicalBoard::from_position(position)?.key(),
    ))
}

fn outcome(result: GameResult, turn: Color) -> Outcome {
    match result {
        GameResult::Won(winner) if winner == turn => Outcome::Won,
        GameResult::Won(_) => Outcome::Lost,
        GameResult::Draw => Outcome::Draw,
        GameResult::Unknown => Outcome::Unknown,
    }
}
