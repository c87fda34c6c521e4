//! What is known of one position, added up; and its bytes in a sort run.
//!
//! A run holds nodes in ascending order of (bit-reversed hash, key), the order
//! in which a book is written. A node of one game takes some 30 bytes:
//!
//! | part | bytes |
//! |---|---|
//! | bit-reversed hash, big-endian | 4 |
//! | key, which knows its own length | 1 to 31 |
//! | head: see the constants | 1 |
//! | games, wins, draws, losses, unless the head says it all | 4 varints |
//! | ratings, if the head says so: of one game both (0 is none), else counts and sums | 2 or 4 varints |
//! | moves: one byte, or a list of bytes with counts, and behind it the signs, if there are any | 0, 1 or more |

use std::cmp::Ordering;

use crate::book::Stats;
use crate::book::ctg::{Key, Totals};
use crate::sort::Record;

/// Where a position stands in the order of the book: its hash with the bits
/// reversed, then its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) order: u32,
    pub(super) key: [u8; Key::MAX_BYTES],
}

impl Place {
    #[inline]
    pub(super) fn of(key: &Key) -> Place {
        Place {
            order: key.hash().reverse_bits(),
            key: *key.padded(),
        }
    }
}

/// How a game went for the side to move in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Unknown = 0,
    Won = 1,
    Draw = 2,
    Lost = 3,
}

/// Numbers of a position from the view of its side to move, as in [`Stats`]
/// but wide enough for any number of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) games: u64,
    pub(super) wins: u64,
    pub(super) draws: u64,
    pub(super) losses: u64,
    pub(super) own_rated: u64,
    pub(super) own_sum: u64,
    pub(super) other_rated: u64,
    pub(super) other_sum: u64,
}

impl Tally {
    pub(super) fn count(&mut self, outcome: Outcome, own: u16, other: u16) {
        self.games += 1;
        self.wins += u64::from(outcome == Outcome::Won);
        self.draws += u64::from(outcome == Outcome::Draw);
        self.losses += u64::from(outcome == Outcome::Lost);
        self.own_rated += u64::from(own > 0);
        self.own_sum += u64::from(own);
        self.other_rated += u64::from(other > 0);
        self.other_sum += u64::from(other);
    }

    pub(super) fn add(&mut self, other: &Tally) {
        self.games += other.games;
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        self.own_rated += other.own_rated;
        self.own_sum += other.own_sum;
        self.other_rated += other.other_rated;
        self.other_sum += other.other_sum;
    }

    /// Statistics and expected points as the format can hold them.
    pub(super) fn fitted(self) -> (Stats, u32) {
        let unfinished = self.games - self.wins - self.draws - self.losses;
        Totals {
            games: self.games,
            wins: self.wins,
            draws: self.draws,
            losses: self.losses,
            own_rated: self.own_rated,
            own_rating_sum: self.own_sum,
            other_rated: self.other_rated,
            other_rating_sum: self.other_sum,
            points: 10 * self.wins + 5 * (self.draws + unfinished),
        }
        .fitted()
    }
}

/// A position with its numbers and the moves played there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) tally: Tally,
    /// A move of a priority game leads here.
    pub(super) main: bool,
    /// Move bytes, ascending, with the games they were played in.
    pub(super) moves: Vec<(u8, u64)>,
    /// Signs of moves and of the position, ascending by subject and NAG.
    pub(super) signs: Vec<SignCount>,
}

/// How often somebody gave a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignCount {
    /// The move's byte; `None` for the position.
    pub(super) byte: Option<u8>,
    pub(super) nag: u8,
    pub(super) games: u64,
    /// The best rating of the players that moved.
    pub(super) elo: u16,
}

/// The result of a single game, as [`Outcome`].
const RESULT: u8 = 0x03;
/// Exactly one game.
const SINGLE: u8 = 0x04;
/// Somebody had a rating.
const RATED: u8 = 0x08;
/// See [`Node::main`].
const MAIN: u8 = 0x10;
/// The moves: none, one of one game, one of no game, or a list.
const MOVES: u8 = 0x60;
const ONE_PLAYED: u8 = 0x20;
const ONE_UNPLAYED: u8 = 0x40;
const LIST: u8 = 0x60;
/// No game at all.
const EMPTY: u8 = 0x80;

impl Node {
    pub(super) fn new(place: Place) -> Node {
        Node {
            place,
            tally: Tally::default(),
            main: false,
            moves: Vec::new(),
            signs: Vec::new(),
        }
    }

    /// Makes it an empty node of another place, keeping the buffer.
    pub(super) fn reset(&mut self, place: Place) {
        self.place = place;
        self.tally = Tally::default();
        self.main = false;
        self.moves.clear();
        self.signs.clear();
    }

    pub(super) fn add_sign(&mut self, new: SignCount) {
        let name = |sign: &SignCount| (sign.byte, sign.nag);
        match self.signs.binary_search_by_key(&name(&new), name) {
            Ok(at) => {
                if let Some(sign) = self.signs.get_mut(at) {
                    sign.games += new.games;
                    sign.elo = sign.elo.max(new.elo);
                }
            }
            Err(at) => self.signs.insert(at, new),
        }
    }

    /// The sign of a move, or of the position: the most frequent one; of
    /// several, the one of the best player.
    pub(super) fn sign(&self, byte: Option<u8>) -> u8 {
        if self.signs.is_empty() {
            return 0;
        }
        let signs = self.signs.iter().filter(|sign| sign.byte == byte);
        let best = signs.max_by_key(|sign| (sign.games, sign.elo, std::cmp::Reverse(sign.nag)));
        best.map_or(0, |sign| sign.nag)
    }

    pub(super) fn add_move(&mut self, byte: u8, games: u64) {
        match self.moves.binary_search_by_key(&byte, |(byte, _)| *byte) {
            Ok(at) => {
                if let Some((_, count)) = self.moves.get_mut(at) {
                    *count += games;
                }
            }
            Err(at) => self.moves.insert(at, (byte, games)),
        }
    }

    /// Adds what another node knows of the same position.
    pub(super) fn add(&mut self, other: &Node) {
        self.tally.add(&other.tally);
        self.main |= other.main;
        for &(byte, games) in &other.moves {
            self.add_move(byte, games);
        }
        for &sign in &other.signs {
            self.add_sign(sign);
        }
    }
}

impl Record for Node {
    fn order(&self) -> u32 {
        self.place.order
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }

    fn join(&mut self, other: &Self) -> bool {
        self.add(other);
        true
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let Place { order, key } = self.place;
        out.extend_from_slice(&order.to_be_bytes());
        let length = usize::from(key[0] & 0x1f);
        out.extend_from_slice(key.get(..length).unwrap_or_default());
        let t = &self.tally;
        let count = match t.games {
            0 => EMPTY,
            1 => SINGLE | single_result(t) as u8,
            _ => 0,
        };
        let moves = match self.moves.as_slice() {
            _ if !self.signs.is_empty() => LIST,
            [] => 0,
            [(_, 1)] => ONE_PLAYED,
            [(_, 0)] => ONE_UNPLAYED,
            _ => LIST,
        };
        let mut head = count | moves;
        if self.main {
            head |= MAIN;
        }
        if t.games > 0 && (t.own_rated > 0 || t.other_rated > 0) {
            head |= RATED;
        }
        out.push(head);
        if head & (SINGLE | EMPTY) == 0 {
            for value in [t.games, t.wins, t.draws, t.losses] {
                put(value, out);
            }
        }
        if head & RATED != 0 {
            if head & SINGLE == 0 {
                put(t.own_rated, out);
            }
            put(t.own_sum, out);
            if head & SINGLE == 0 {
                put(t.other_rated, out);
            }
            put(t.other_sum, out);
        }
        if head & MOVES == LIST {
            let has_signs = u64::from(!self.signs.is_empty());
            put((self.moves.len() as u64) << 1 | has_signs, out);
            for &(byte, games) in &self.moves {
                out.push(byte);
                put(games, out);
            }
            if has_signs > 0 {
                put(self.signs.len() as u64, out);
            }
            for sign in &self.signs {
                out.extend([
                    u8::from(sign.byte.is_some()),
                    sign.byte.unwrap_or(0),
                    sign.nag,
                ]);
                put(sign.games, out);
                put(sign.elo.into(), out);
            }
        } else if let Some((byte, _)) = self.moves.first() {
            out.push(*byte);
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let (order, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::from(rest.first()? & 0x1f);
        let mut key = [0; Key::MAX_BYTES];
        key.get_mut(..length)?.copy_from_slice(rest.get(..length)?);
        let order = u32::from_be_bytes(*order);
        self.reset(Place { order, key });
        let mut rest = rest.get(length..)?;
        let head = byte(&mut rest)?;
        self.main = head & MAIN != 0;
        let t = &mut self.tally;
        if head & SINGLE != 0 {
            t.games = 1;
            let result = head & RESULT;
            t.wins = u64::from(result == Outcome::Won as u8);
            t.draws = u64::from(result == Outcome::Draw as u8);
            t.losses = u64::from(result == Outcome::Lost as u8);
        } else if head & EMPTY == 0 {
            t.games = varint(&mut rest)?;
            t.wins = varint(&mut rest)?;
            t.draws = varint(&mut rest)?;
            t.losses = varint(&mut rest)?;
        }
        if head & RATED != 0 {
            if head & SINGLE == 0 {
                t.own_rated = varint(&mut rest)?;
                t.own_sum = varint(&mut rest)?;
                t.other_rated = varint(&mut rest)?;
                t.other_sum = varint(&mut rest)?;
            } else {
                t.own_sum = varint(&mut rest)?;
                t.other_sum = varint(&mut rest)?;
                t.own_rated = u64::from(t.own_sum > 0);
                t.other_rated = u64::from(t.other_sum > 0);
            }
        }
        match head & MOVES {
            ONE_PLAYED => self.moves.push((byte(&mut rest)?, 1)),
            ONE_UNPLAYED => self.moves.push((byte(&mut rest)?, 0)),
            LIST => {
                let head = varint(&mut rest)?;
                for _ in 0..head >> 1 {
                    self.moves.push((byte(&mut rest)?, varint(&mut rest)?));
                }
                let signs = if head & 1 == 0 { 0 } else { varint(&mut rest)? };
                for _ in 0..signs {
                    let is_move = byte(&mut rest)? != 0;
                    let subject = byte(&mut rest)?;
                    self.signs.push(SignCount {
                        byte: is_move.then_some(subject),
                        nag: byte(&mut rest)?,
                        games: varint(&mut rest)?,
                        elo: u16::try_from(varint(&mut rest)?).unwrap_or(u16::MAX),
                    });
                }
            }
            _ => {}
        }
        Some(bytes.len() - rest.len())
    }
}

fn single_result(tally: &Tally) -> Outcome {
    match (tally.wins, tally.draws, tally.losses) {
        (1.., _, _) => Outcome::Won,
        (_, 1.., _) => Outcome::Draw,
        (_, _, 1..) => Outcome::Lost,
        _ => Outcome::Unknown,
    }
}

fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, behind) = rest.split_first()?;
    *rest = behind;
    Some(*first)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(rest)?;
        value |= u64::from(next & 0x7f) << shift;
        if next & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nodes() -> impl Strategy<Value = Node> {
        let number = prop_oneof![Just(0_u64), Just(1), 0..300_u64, any::<u64>()];
        let moves = prop::collection::btree_map(any::<u8>(), 0..3_u64, 0..4);
        (
            any::<u32>(),
            prop::collection::vec(any::<u8>(), 30),
            1..31_u8,
            prop::array::uniform4(number),
            prop::array::uniform4(1..4000_u64),
            0..3_u8,
            any::<bool>(),
            moves,
        )
            .prop_map(
                |(order, bytes, length, [games, wins, draws, losses], rated, how, main, moves)| {
                    let mut key = [0; 31];
                    key[..usize::from(length)].copy_from_slice(&bytes[..usize::from(length)]);
                    key[0] = length;
                    let mut node = Node::new(Place { order, key });
                    match how {
                        0 => node.tally.count(Outcome::Lost, 0, rated[1] as u16),
                        1 => {
                            node.tally = Tally {
                                games: games.max(2),
                                wins,
                                draws,
                                losses,
                                own_rated: rated[0],
                                own_sum: rated[1],
                                other_rated: rated[2],
                                other_sum: rated[3],
                            }
                        }
                        _ => {}
                    }
                    node.main = main;
                    node.moves = moves.into_iter().collect();
                    for nag in 0..(order % 4) as u8 {
                        node.add_sign(SignCount {
                            byte: (nag % 2 == 0).then_some(bytes[0]),
                            nag,
                            games: rated[0],
                            elo: rated[1] as u16,
                        });
                    }
                    node
                },
            )
    }

    proptest! {
        #[test]
        fn a_node_comes_back_as_it_went(node in nodes()) {
            let mut bytes = Vec::new();
            node.encode(&mut bytes);
            let mut back = Node::default();
            prop_assert_eq!(back.decode(&bytes), Some(bytes.len()));
            prop_assert_eq!(&back, &node);
            prop_assert_eq!(back.decode(&bytes[..bytes.len() - 1]), None);
        }
    }

    /// However many games are counted: a book built of them all is the sum of
    /// books built of parts of them.
    #[test]
    fn too_many_games_are_scaled_as_a_merge_does() {
        let part = Tally {
            games: 10_000_000,
            wins: 5_000_000,
            draws: 2_500_000,
            losses: 2_400_000,
            own_rated: 1_500_000,
            own_sum: 3_750_000_000,
            other_rated: 3,
            other_sum: 6001,
        };
        let mut whole = Tally::default();
        let mut merged = Totals::default();
        for _ in 0..4 {
            whole.add(&part);
            let (stats, points) = part.fitted();
            merged.add(&crate::book::PositionRecord {
                stats,
                points,
                ..Default::default()
            });
        }
        let (stats, points) = whole.fitted();
        assert_eq!((stats, points), merged.fitted());
        assert_eq!(stats.games, crate::book::ctg::MAX_COUNT);
        assert_eq!(stats.average_elo().map(f64::round), Some(2500.0));
    }
}
