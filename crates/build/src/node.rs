//! What is known of one position, added up; and its bytes in a sort run.
//!
//! A run holds nodes in ascending order of (bit-reversed hash, key), the order
//! in which a book is written. A node of one game takes some 30 bytes:
//!
//! | part | bytes |
//! |---|---|
//! | bit-reversed hash, big-endian | 4 |
//! | key, which contains its length | 1 to 31 |
//! | head: see the constants | 1 |
//! | games, wins, draws, losses, unless the head contains them | 4 varints |
//! | ratings, if the head has [`RATED`]: of one game both (0 is none), else counts and sums | 2 or 4 varints |
//! | moves: one byte, or a list of bytes with counts, then the annotations, if there are any | 0, 1 or more |

use std::cmp::Ordering;

use tabia_book::Stats;
use tabia_book::ctg::{Key, Totals};
use tabia_io::input::bytes::{Cursor, put_varint};
use tabia_io::sort::Record;

/// The place of a position in the order of the book: its hash with the bits
/// reversed, then its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BookOrder {
    pub(super) order: u32,
    pub(super) key: [u8; Key::MAX_BYTES],
}

impl BookOrder {
    #[inline]
    pub(super) fn from_key(key: &Key) -> BookOrder {
        BookOrder {
            order: BookOrder::order_of(key),
            key: *key.padded(),
        }
    }

    /// The bit-reversed hash of a key.
    #[inline]
    pub(super) fn order_of(key: &Key) -> u32 {
        key.hash().reverse_bits()
    }
}

/// The result of a game for the side to move in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Unknown = 0,
    Won = 1,
    Draw = 2,
    Lost = 3,
}

/// Counts a game in the statistics of a position; a rating of 0 means none.
#[inline]
pub(super) fn count(stats: &mut Stats, outcome: Outcome, own: u16, other: u16) {
    stats.games += 1;
    stats.wins += u32::from(outcome == Outcome::Won);
    stats.draws += u32::from(outcome == Outcome::Draw);
    stats.losses += u32::from(outcome == Outcome::Lost);
    stats.own_rated += u32::from(own > 0);
    stats.own_rating_sum += u64::from(own);
    stats.other_rated += u32::from(other > 0);
    stats.other_rating_sum += u64::from(other);
}

/// Statistics and expected points, scaled to the limits of the format.
#[inline]
pub(super) fn fitted(tally: &Totals) -> (Stats, u32) {
    let unfinished = tally.games - tally.wins - tally.draws - tally.losses;
    let points = 10 * tally.wins + 5 * (tally.draws + unfinished);
    Totals { points, ..*tally }.fitted()
}

/// The counts, divided by a number, but for a position of games at least one. Results keep their
/// share of the games, and ratings their averages.
#[inline]
pub(super) fn divided(tally: &Totals, divisor: u64) -> Totals {
    if divisor <= 1 || tally.games == 0 {
        return *tally;
    }
    let games = rounded(tally.games, 1, divisor).max(1);
    let share = |count: u64| rounded(count, games, tally.games);
    let wins = share(tally.wins);
    let losses = share(tally.losses).min(games - wins);
    let draws = match tally.wins + tally.draws + tally.losses == tally.games {
        true => games - wins - losses,
        false => share(tally.draws).min(games - wins - losses),
    };
    let (own_rated, other_rated) = (share(tally.own_rated), share(tally.other_rated));
    Totals {
        games,
        wins,
        draws,
        losses,
        own_rated,
        own_rating_sum: rounded(tally.own_rating_sum, own_rated, tally.own_rated),
        other_rated,
        other_rating_sum: rounded(tally.other_rating_sum, other_rated, tally.other_rated),
        points: 0,
    }
}

/// `value * part / whole`, rounded to the nearest number; 0 if `whole` is 0.
fn rounded(value: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(value) * u128::from(part) + u128::from(whole / 2);
    let quotient = product.checked_div(whole.into()).unwrap_or(0);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// A position with its counts and the moves played in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) place: BookOrder,
    pub(super) tally: Totals,
    /// A move of a priority game leads to it.
    pub(super) main: bool,
    /// Move bytes, ascending, with the number of games with each move.
    pub(super) moves: Vec<(u8, u64)>,
    /// Annotations of moves and of the position, ascending by subject and NAG.
    pub(super) nags: Vec<NagCount>,
}

/// The count of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NagCount {
    /// The move's byte; `None` for the position.
    pub(super) byte: Option<u8>,
    pub(super) nag: u8,
    pub(super) games: u64,
    /// The highest rating of the players of this move.
    pub(super) elo: u16,
}

/// The result of a single game, as [`Outcome`].
const RESULT: u8 = 0x03;
/// Exactly one game.
const SINGLE: u8 = 0x04;
/// At least one player had a rating.
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

/// The contribution of one game to a position, encoded without a [`Node`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Occurrence {
    /// The result of the game, the rating of the side to move and of the other side; 0
    /// means none. `None` if no game is counted.
    pub(super) game: Option<(Outcome, u16, u16)>,
    /// The byte of a move, and whether it was played in a game (not in a variation).
    pub(super) mv: Option<(u8, bool)>,
    /// See [`Node::main`].
    pub(super) main: bool,
}

impl Occurrence {
    /// Appends the bytes of the equivalent [`Node`].
    #[inline]
    pub(super) fn encode(self, order: u32, key: &Key, out: &mut Vec<u8>) {
        out.extend_from_slice(&order.to_be_bytes());
        key.append_to(out);
        let at = out.len();
        out.push(0);
        let mut head = u8::from(self.main) * MAIN;
        match self.game {
            None => head |= EMPTY,
            Some((outcome, own, other)) => {
                head |= SINGLE | outcome as u8;
                if own > 0 || other > 0 {
                    head |= RATED;
                    put_varint(own.into(), out);
                    put_varint(other.into(), out);
                }
            }
        }
        if let Some((byte, played)) = self.mv {
            head |= if played { ONE_PLAYED } else { ONE_UNPLAYED };
            out.push(byte);
        }
        if let Some(to) = out.get_mut(at) {
            *to = head;
        }
    }
}

impl Node {
    pub(super) fn new(place: BookOrder) -> Node {
        Node {
            place,
            ..Node::default()
        }
    }

    /// Becomes a position without numbers.
    pub(super) fn begin(&mut self, place: BookOrder) {
        self.place = place;
        self.reset_numbers();
    }

    #[inline]
    fn reset_numbers(&mut self) {
        self.tally = Totals::default();
        self.main = false;
        self.moves.clear();
        self.nags.clear();
    }

    pub(super) fn add_nag(&mut self, new: NagCount) {
        let name = |known: &NagCount| (known.byte, known.nag);
        match self.nags.binary_search_by_key(&name(&new), name) {
            Ok(at) => {
                if let Some(known) = self.nags.get_mut(at) {
                    known.games += new.games;
                    known.elo = known.elo.max(new.elo);
                }
            }
            Err(at) => self.nags.insert(at, new),
        }
    }

    /// The annotation of a move, or of the position: the most frequent one; if several
    /// are, that of the player with the highest rating.
    pub(super) fn nag(&self, byte: Option<u8>) -> u8 {
        if self.nags.is_empty() {
            return 0;
        }
        let nags = self.nags.iter().filter(|known| known.byte == byte);
        let best = nags.max_by_key(|known| (known.games, known.elo, std::cmp::Reverse(known.nag)));
        best.map_or(0, |known| known.nag)
    }

    #[inline]
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

    /// Adds the counts of another node of the same position.
    pub(super) fn add(&mut self, other: &Node) {
        self.tally.join(&other.tally);
        self.main |= other.main;
        for &(byte, games) in &other.moves {
            self.add_move(byte, games);
        }
        for &known in &other.nags {
            self.add_nag(known);
        }
    }
}

impl Record for Node {
    #[inline]
    fn order(&self) -> u32 {
        self.place.order
    }

    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }

    #[inline]
    fn join(&mut self, other: &Self) -> bool {
        self.add(other);
        true
    }

    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        let BookOrder { order, key } = self.place;
        out.extend_from_slice(&order.to_be_bytes());
        Key::from_padded(key).append_to(out);
        let t = &self.tally;
        let count = match t.games {
            0 => EMPTY,
            1 => SINGLE | single_result(t) as u8,
            _ => 0,
        };
        let moves = match self.moves.as_slice() {
            _ if !self.nags.is_empty() => LIST,
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
                put_varint(value, out);
            }
        }
        if head & RATED != 0 {
            if head & SINGLE == 0 {
                put_varint(t.own_rated, out);
            }
            put_varint(t.own_rating_sum, out);
            if head & SINGLE == 0 {
                put_varint(t.other_rated, out);
            }
            put_varint(t.other_rating_sum, out);
        }
        if head & MOVES == LIST {
            let has_nags = u64::from(!self.nags.is_empty());
            put_varint((self.moves.len() as u64) << 1 | has_nags, out);
            for &(byte, games) in &self.moves {
                out.push(byte);
                put_varint(games, out);
            }
            if has_nags > 0 {
                put_varint(self.nags.len() as u64, out);
            }
            for known in &self.nags {
                out.extend([
                    u8::from(known.byte.is_some()),
                    known.byte.unwrap_or(0),
                    known.nag,
                ]);
                put_varint(known.games, out);
                put_varint(known.elo.into(), out);
            }
        } else if let Some((byte, _)) = self.moves.first() {
            out.push(*byte);
        }
    }

    #[inline]
    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = Cursor::new(bytes);
        let order = rest.be_u32()?;
        self.reset_numbers();
        self.place.order = order;
        // Read directly into its final place: copying what was just written in smaller
        // pieces is slow.
        let length = Key::read(bytes.get(4..)?, &mut self.place.key)?;
        rest.take(length)?;
        let head = rest.u8()?;
        self.main = head & MAIN != 0;
        let t = &mut self.tally;
        if head & SINGLE != 0 {
            t.games = 1;
            let result = head & RESULT;
            t.wins = u64::from(result == Outcome::Won as u8);
            t.draws = u64::from(result == Outcome::Draw as u8);
            t.losses = u64::from(result == Outcome::Lost as u8);
        } else if head & EMPTY == 0 {
            t.games = rest.varint()?;
            t.wins = rest.varint()?;
            t.draws = rest.varint()?;
            t.losses = rest.varint()?;
        }
        if head & RATED != 0 {
            if head & SINGLE == 0 {
                t.own_rated = rest.varint()?;
                t.own_rating_sum = rest.varint()?;
                t.other_rated = rest.varint()?;
                t.other_rating_sum = rest.varint()?;
            } else {
                t.own_rating_sum = rest.varint()?;
                t.other_rating_sum = rest.varint()?;
                t.own_rated = u64::from(t.own_rating_sum > 0);
                t.other_rated = u64::from(t.other_rating_sum > 0);
            }
        }
        match head & MOVES {
            ONE_PLAYED => self.moves.push((rest.u8()?, 1)),
            ONE_UNPLAYED => self.moves.push((rest.u8()?, 0)),
            LIST => {
                let head = rest.varint()?;
                for _ in 0..head >> 1 {
                    self.moves.push((rest.u8()?, rest.varint()?));
                }
                let nags = if head & 1 == 0 { 0 } else { rest.varint()? };
                for _ in 0..nags {
                    let is_move = rest.u8()? != 0;
                    let subject = rest.u8()?;
                    self.nags.push(NagCount {
                        byte: is_move.then_some(subject),
                        nag: rest.u8()?,
                        games: rest.varint()?,
                        elo: u16::try_from(rest.varint()?).unwrap_or(u16::MAX),
                    });
                }
            }
            _ => {}
        }
        Some(rest.position())
    }
}

fn single_result(tally: &Totals) -> Outcome {
    match (tally.wins, tally.draws, tally.losses) {
        (1.., _, _) => Outcome::Won,
        (_, 1.., _) => Outcome::Draw,
        (_, _, 1..) => Outcome::Lost,
        _ => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_game(outcome: Outcome, own: u16, other: u16) -> Totals {
        let mut stats = Stats::default();
        count(&mut stats, outcome, own, other);
        stats.into()
    }

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
                    let mut node = Node::new(BookOrder { order, key });
                    match how {
                        0 => node.tally = one_game(Outcome::Lost, 0, rated[1] as u16),
                        1 => {
                            node.tally = Totals {
                                games: games.max(2),
                                wins,
                                draws,
                                losses,
                                own_rated: rated[0],
                                own_rating_sum: rated[1],
                                other_rated: rated[2],
                                other_rating_sum: rated[3],
                                points: 0,
                            }
                        }
                        _ => {}
                    }
                    node.main = main;
                    node.moves = moves.into_iter().collect();
                    for nag in 0..(order % 4) as u8 {
                        node.add_nag(NagCount {
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
        fn a_game_seen_is_a_node(
            order: u32,
            length in 1..31_u8,
            game in prop::option::of((0..4_u8, any::<u16>(), any::<u16>())),
            mv in prop::option::of(any::<(u8, bool)>()),
            main: bool,
        ) {
            let mut key = [0; 31];
            key[0] = length;
            let mut node = Node::new(BookOrder { order, key });
            let outcomes = [Outcome::Unknown, Outcome::Won, Outcome::Draw, Outcome::Lost];
            let game = game.map(|(n, own, other)| (outcomes[usize::from(n)], own, other));
            if let Some((outcome, own, other)) = game {
                node.tally = one_game(outcome, own, other);
            }
            node.moves.extend(mv.map(|(byte, played)| (byte, u64::from(played))));
            node.main = main;
            let (mut bytes, mut expected) = (Vec::new(), Vec::new());
            Occurrence { game, mv, main }.encode(order, &Key::from_padded(key), &mut bytes);
            node.encode(&mut expected);
            prop_assert_eq!(bytes, expected);
        }

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

    proptest! {
        /// 1.e4 and 1.d4 of a hundred million games differ.
        #[test]
        fn divided_counts_keep_their_proportions(
            games in 1..1_u64 << 40, win in 0..100_u64, loss in 0..100_u64, rated in 0..100_u64,
            divisor in 2..100_000_u64,
        ) {
            let share = |percent: u64| games * percent / 100;
            let mut tally = Totals {
                games,
                wins: share(win),
                losses: share(loss).min(games - share(win)),
                own_rated: share(rated),
                own_rating_sum: share(rated) * 2400,
                ..Totals::default()
            };
            tally.draws = games - tally.wins - tally.losses;
            let small = divided(&tally, divisor);
            prop_assert!(small.games >= 1);
            prop_assert!(small.games.abs_diff(games / divisor) <= 1);
            prop_assert_eq!(small.wins + small.draws + small.losses, small.games);
            let wins = tally.wins as f64 / games as f64 * small.games as f64;
            prop_assert!((small.wins as f64 - wins).abs() <= 0.6);
            prop_assert_eq!(small.own_rating_sum, small.own_rated * 2400);
            prop_assert_eq!(divided(&tally, 1).games, games);
        }
    }

    /// The most frequent annotation, then that of the strongest player, then the first.
    #[test]
    fn annotations_are_added_up_for_each_move() {
        let (one, two) = (Some(1), Some(2));
        let mut sum = Node::default();
        for (byte, nag, games, elo) in [
            (one, 1, 2, 2400),
            (one, 2, 3, 2000),
            (one, 1, 3, 2300),
            (two, 1, 1, 2400),
            (two, 2, 1, 2500),
            (None, 16, 1, 2000),
            (None, 14, 1, 2000),
        ] {
            let mut node = Node::default();
            let known = NagCount {
                byte,
                nag,
                games,
                elo,
            };
            node.add_nag(known);
            sum.add(&node);
        }
        assert_eq!(sum.nags.len(), 6);
        let first = NagCount {
            byte: one,
            nag: 1,
            games: 5,
            elo: 2400,
        };
        assert!(sum.nags.contains(&first));
        let marks = [one, two, None, Some(3)].map(|byte| sum.nag(byte));
        assert_eq!(marks, [1, 2, 14, 0]);
        sum.begin(sum.place);
        assert_eq!((sum.nag(one), sum), (0, Node::default()));
    }

    /// With any number of games, a book of all of them equals the sum of books of parts
    /// of them.
    #[test]
    fn too_many_games_are_scaled_as_a_merge_does() {
        let part = Totals {
            games: 10_000_000,
            wins: 5_000_000,
            draws: 2_500_000,
            losses: 2_400_000,
            own_rated: 1_500_000,
            own_rating_sum: 3_750_000_000,
            other_rated: 3,
            other_rating_sum: 6001,
            points: 0,
        };
        let mut whole = Totals::default();
        let mut merged = Totals::default();
        for _ in 0..4 {
            whole.join(&part);
            let (stats, points) = fitted(&part);
            merged.add(&tabia_book::PositionRecord {
                stats,
                points,
                ..Default::default()
            });
        }
        let (stats, points) = fitted(&whole);
        assert_eq!((stats, points), merged.fitted());
        assert_eq!(stats.games, tabia_book::ctg::MAX_COUNT);
        assert_eq!(stats.average_elo().map(f64::round), Some(2500.0));
    }
}
