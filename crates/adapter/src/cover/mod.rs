//! `Book Cover`: which lines of the books have been played, and which move leads to a new
//! one.
//!
//! A line is what a game follows from its first position to the end of the books. It is
//! stored as the keys of its positions. Each adapter adds an [`Entry`] to a shared file
//! whenever it has chosen a move or finds that the books have ended.
//!
//! # No line is repeated while an unplayed one is left
//!
//! Games that are played at the same time must not end in the same line. An adapter
//! therefore chooses a move only if more unplayed lines follow it than running games have
//! passed it. It counts the games in which it or others had its own colour: each of them
//! has reached this position by such a choice and is recorded. So a game that reaches a
//! position always finds a line there, also if both sides play this way.
//!
//! # The order of preference
//!
//! The adapter plays the candidate with the greatest weight
//!
//! 1. after which lines are left if the opponent repeats its former answers, where there
//!    are any: an opponent that plays the same again, or leaves the books at once, must
//!    not cause the same line again;
//! 2. else after which lines are left for any answer of the opponent;
//! 3. else after which lines are left only for running games, whose adapters may have
//!    ended;
//! 4. else there is none, and the move is drawn.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{ByColor, Chess, Color, EnPassantMode, Move, Position};

use tabia_notation as notation;

/// The first line of the file.
pub(crate) const HEADER: &str = "# tabia cover 1\n";

/// Budget of one choice: this many cached positions, or a tenth of it looked up in books.
/// What is not counted by then is taken for a line that is left.
const BUDGET: u32 = 20_000;

/// Cost of looking up a position.
const LOOK_UP: u32 = 10;

/// Greatest length in plies of a followed line. A longer one is taken for a line that is
/// Greatest length in plies of a followed line; longer ones count as left.
const DEEPEST: usize = 200;

/// Greatest number of positions of an entry.
const LONGEST: usize = 1000;

/// The key of a position of a line.
pub(crate) fn key(position: &Chess) -> u64 {
    let Zobrist64(key) = position.zobrist_hash(EnPassantMode::Legal);
    key
}

/// The part of a player's game that follows the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Identifies the process.
    player: u64,
    colour: Color,
    /// Number of positions shared with the player's last entry with this colour.
    shared: usize,
    /// The positions after them.
    keys: Vec<u64>,
    /// The books have ended.
    ended: bool,
}

/// The entry as a line of the file.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colour = self.colour.fold_wb("white", "black");
        write!(f, "{:016x} {colour} {}", self.player, self.shared)?;
        for key in &self.keys {
            write!(f, " {key:016x}")?;
        }
        f.write_str(if self.ended { " end" } else { "" })
    }
}

/// The text is not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoEntry;

impl FromStr for Entry {
    type Err = NoEntry;

    fn from_str(text: &str) -> Result<Entry, NoEntry> {
        let number = |word: &str| u64::from_str_radix(word, 16).map_err(|_| NoEntry);
        let (text, ended) = match text.strip_suffix(" end") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut words = text.split_whitespace();
        let mut next = || words.next().ok_or(NoEntry);
        let player = number(next()?)?;
        let colour = match next()? {
            "white" => Color::White,
            "black" => Color::Black,
            _ => return Err(NoEntry),
        };
        let shared = next()?.parse().map_err(|_| NoEntry)?;
        let keys = words.map(number).collect::<Result<_, _>>()?;
        Ok(Entry {
            player,
            colour,
            shared,
            keys,
            ended,
        })
    }
}

/// A position that games have passed.
#[derive(Debug, Default)]
struct Node {
    next: Vec<(u64, usize)>,
    /// Players with this colour have had this position.
    visited: ByColor<bool>,
    /// No line is left after it, for each [`View`].
    spent: [ByColor<bool>; 3],
    /// The book moves here, greatest weight first, if they have been looked up.
    moves: Option<Vec<Move>>,
}

/// The last game of a player.
#[derive(Debug, Default)]
struct Player {
    path: Vec<u64>,
    under_way: bool,
}

/// Which lines count as left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Lines that no player has played, if the opponent repeats its former answers.
    Expected,
    /// Lines that no player of this colour has played.
    Own,
    /// Lines that no player has played.
    Any,
}

/// Returns the playable book moves of a position, greatest weight first; gets the keys of
/// all positions up to this one.
pub(crate) type BookMoves<'a> = &'a mut dyn FnMut(&Chess, &[u64]) -> Vec<Move>;

/// All lines that have been played.
#[derive(Debug)]
pub(crate) struct Covered {
    /// The first is the root, before all games.
    nodes: Vec<Node>,
    players: HashMap<(u64, Color), Player>,
}

impl Default for Covered {
    fn default() -> Covered {
        Covered {
            nodes: vec![Node::default()],
            players: HashMap::new(),
        }
    }
}

impl Covered {
    /// Adds an entry. An entry that does not continue known positions is ignored.
    pub(crate) fn add(&mut self, entry: &Entry) {
        let player = self
            .players
            .entry((entry.player, entry.colour))
            .or_default();
        let len = entry.shared.saturating_add(entry.keys.len());
        if entry.shared > player.path.len() || len > LONGEST {
            return;
        }
        player.path.truncate(entry.shared);
        player.path.extend_from_slice(&entry.keys);
        player.under_way = !entry.ended;
        let mut at = 0;
        for key in &player.path {
            let known = next_node(&self.nodes, at, *key);
            let next = known.unwrap_or(self.nodes.len());
            if known.is_none() {
                self.nodes.push(Node::default());
                self.nodes[at].next.push((*key, next));
            }
            // The expected answer of the opponent may have changed.
            self.nodes[at].spent[View::Expected as usize] = ByColor::default();
            at = next;
            *self.nodes[at].visited.get_mut(entry.colour) = true;
        }
        self.nodes[at].spent[View::Expected as usize] = ByColor::default();
    }

    /// The entry of a game with these positions.
    pub(crate) fn entry(&self, player: u64, colour: Color, path: &[u64], ended: bool) -> Entry {
        let last = self.players.get(&(player, colour));
        let last = last.map_or(&[][..], |last| &last.path);
        let shared = last.iter().zip(path).take_while(|(a, b)| a == b).count();
        Entry {
            player,
            colour,
            shared,
            keys: path[shared..].to_vec(),
            ended,
        }
    }

    /// Whether this game continues the player's last entry: `Some(true)` if it still
    /// follows the books, `Some(false)` if they have ended in it.
    pub(crate) fn continues_last_entry(
        &self,
        player: u64,
        colour: Color,
        path: &[u64],
    ) -> Option<bool> {
        let last = self.players.get(&(player, colour))?;
        path.starts_with(&last.path).then_some(last.under_way)
    }

    /// Call this when the books or their settings have changed.
    pub(crate) fn forget_books(&mut self) {
        for node in &mut self.nodes {
            node.spent = Default::default();
            node.moves = None;
        }
    }

    /// The move to play, out of `candidates`, greatest weight first; `None` if no move is
    /// preferred. `path` are the positions of the game, the present one included.
    pub(crate) fn choose(
        &mut self,
        player: u64,
        position: &Chess,
        path: &[u64],
        candidates: &[Move],
        moves: BookMoves<'_>,
    ) -> Option<Move> {
        let colour = position.turn();
        let mut at = Some(0);
        for key in path {
            at = at.and_then(|at| next_node(&self.nodes, at, *key));
        }
        let mut count = Count {
            covered: self,
            moves,
            colour,
            path: path.to_vec(),
            start: path.len(),
            budget: BUDGET,
        };
        let after: Vec<(Move, Chess, u32)> = candidates
            .iter()
            .map(|mv| {
                let next = notation::after(position, *mv);
                let games = count.games(player, key(&next));
                (*mv, next, games)
            })
            .collect();
        let mut first = |wanted: &mut dyn FnMut(&mut Count<'_>, &Chess, u32) -> bool| {
            let found = after
                .iter()
                .find(|(_, next, games)| wanted(&mut count, next, *games));
            found.map(|(mv, ..)| *mv)
        };
        first(&mut |count, next, games| count.exceeds(at, next, View::Expected, games))
            .or_else(|| {
                first(&mut |count, next, games| {
                    count.exceeds(at, next, View::Any, 0)
                        && count.exceeds(at, next, View::Own, games)
                })
            })
            .or_else(|| first(&mut |count, next, _| count.exceeds(at, next, View::Any, 0)))
    }
}

fn next_node(nodes: &[Node], at: usize, key: u64) -> Option<usize> {
    let next = nodes[at].next.iter().find(|(known, _)| *known == key);
    next.map(|(_, node)| *node)
}

/// Counts the lines that are left.
struct Count<'a> {
    covered: &'a mut Covered,
    moves: BookMoves<'a>,
    /// The colour that chooses.
    colour: Color,
    /// The positions of the game and of the line that is being counted.
    path: Vec<u64>,
    /// Number of positions of the game alone.
    start: usize,
    budget: u32,
}

impl Count<'_> {
    /// The other players with this colour whose running games have passed `next`, which
    /// follows the present position.
    fn games(&self, player: u64, next: u64) -> u32 {
        let there = |game: &Player| {
            game.under_way
                && game.path.get(self.start) == Some(&next)
                && game.path.starts_with(&self.path)
        };
        let of_colour = self
            .covered
            .players
            .iter()
            .filter(|((other, colour), game)| {
                *other != player && *colour == self.colour && there(game)
            });
        u32::try_from(of_colour.count()).unwrap_or(u32::MAX)
    }

    /// Whether more lines than `games` are left from `next`, which follows the node.
    fn exceeds(&mut self, node: Option<usize>, next: &Chess, view: View, games: u32) -> bool {
        let need = games.saturating_add(1);
        self.left_after(node, next, view, need) >= need
    }

    fn left_after(&mut self, node: Option<usize>, next: &Chess, view: View, need: u32) -> u32 {
        let key = key(next);
        let node = node.and_then(|node| next_node(&self.covered.nodes, node, key));
        self.path.push(key);
        let left = self.left(node, next, view, need);
        self.path.pop();
        left
    }

    /// The lines that are left from a position, up to `need` of them.
    fn left(&mut self, node: Option<usize>, position: &Chess, view: View, need: u32) -> u32 {
        let known = node.map(|node| &self.covered.nodes[node]);
        let own = known.is_some_and(|known| *known.visited.get(self.colour));
        let played = match view {
            View::Own => own,
            View::Expected | View::Any => {
                known.is_some_and(|known| known.visited.into_iter().any(|visited| visited))
            }
        };
        if known.is_some_and(|known| *known.spent[view as usize].get(self.colour)) {
            return 0;
        }
        // A position that no game has reached has at least one line.
        if need == 1 && !played {
            return 1;
        }
        let cached = node.and_then(|node| self.covered.nodes[node].moves.take());
        let cost = if cached.is_some() { 1 } else { LOOK_UP };
        if self.budget < cost || self.path.len() >= self.start + DEEPEST {
            self.keep(node, cached);
            return need;
        }
        self.budget -= cost;
        let moves = cached.unwrap_or_else(|| (self.moves)(position, &self.path));
        let mut left = u32::from(moves.is_empty() && !played);
        // Moves of low weight are played last: an unplayed line is found soonest there.
        for mv in moves.iter().rev() {
            let next = notation::after(position, *mv);
            if view == View::Expected && own && position.turn() != self.colour {
                let reply = node.and_then(|node| next_node(&self.covered.nodes, node, key(&next)));
                let visited = |reply: usize| *self.covered.nodes[reply].visited.get(self.colour);
                if !reply.is_some_and(visited) {
                    continue;
                }
            }
            left += self.left_after(node, &next, view, need - left);
            if left >= need {
                break;
            }
        }
        if let Some(node) = node.filter(|_| left == 0) {
            *self.covered.nodes[node].spent[view as usize].get_mut(self.colour) = true;
        }
        self.keep(node, Some(moves));
        left
    }

    fn keep(&mut self, node: Option<usize>, moves: Option<Vec<Move>>) {
        if let Some(node) = node {
            self.covered.nodes[node].moves = moves;
        }
    }
}

#[cfg(test)]
mod tests;
