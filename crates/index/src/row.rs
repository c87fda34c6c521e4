//! Counts of a move in a position, for games of one bucket.

use std::cmp::{Ordering, Reverse};

use shakmaty::{ByColor, Color, Move, Role, Square};

use crate::bucket::Bucket;
use tabia_games::GameResult;
use tabia_games::tgx::{Facts, squares, winner_number, winner_of};
use tabia_io::input::bytes::{Cursor, put_varint};
use tabia_io::sort::Record;
use tabia_notation::Results;

/// Number of listed games of the best players.
pub const TOP_GAMES: usize = 15;

/// Number of listed newest games.
pub const RECENT_GAMES: usize = 8;

/// If a row has more games than this, some are dropped before it is written.
const MOST_REFS: usize = 16 * (TOP_GAMES + RECENT_GAMES);

/// A move as 15 bits: from, to, and promotion piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexedMove(pub(crate) u16);

impl IndexedMove {
    /// Encodes a legal move; castling is king takes rook.
    #[must_use]
    pub fn from_move(m: Move) -> IndexedMove {
        let (from, to) = squares(m);
        let promotion = m.promotion().map_or(0, |role| role as u16 - 1);
        IndexedMove(u16::from(from) | u16::from(to) << 6 | promotion << 12)
    }

    /// Returns from, to, promotion.
    #[must_use]
    pub fn parts(self) -> (Square, Square, Option<Role>) {
        let square = |at: u32| Square::new(u32::from(self.0) >> at & 63);
        let promotion = match self.0 >> 12 & 7 {
            0 => None,
            number => Role::ALL.get(usize::from(number)).copied(),
        };
        (square(0), square(6), promotion)
    }
}

/// A game in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameRef {
    /// Its number.
    pub game: u32,
    /// The winner; `None` for a draw.
    pub winner: Option<Color>,
    /// Ratings, 0 if unknown.
    pub elo: ByColor<u16>,
    /// Day of the month, 0 if unknown.
    pub day: u8,
}

impl GameRef {
    /// Sort key: games of better players are greater.
    #[must_use]
    pub fn by_rating(&self) -> (u16, u8, u32) {
        (self.elo.white + self.elo.black, self.day, self.game)
    }

    /// Sort key: newer games are greater; on the same day, the one read later.
    #[must_use]
    pub fn by_date(&self) -> (u8, u32) {
        (self.day, self.game)
    }

    /// Creates the reference to a game.
    #[must_use]
    pub fn new(facts: Facts, game: u32) -> GameRef {
        GameRef {
            game,
            winner: facts.winner,
            elo: facts.elo,
            day: facts.date.day,
        }
    }

    /// Its result.
    #[must_use]
    pub fn result(&self) -> GameResult {
        self.winner.map_or(GameResult::Draw, GameResult::Won)
    }

    /// Result, day and ratings in 31 bits, without the number.
    #[inline]
    pub(crate) fn pack(&self) -> u32 {
        let result = u32::from(winner_number(self.winner));
        let ratings = u32::from(self.elo.white & 0xfff) | u32::from(self.elo.black & 0xfff) << 12;
        result | u32::from(self.day & 31) << 2 | ratings << 7
    }

    /// Decodes such bits; `None` if they are invalid.
    #[inline]
    pub(crate) fn unpack(bits: u32, game: u32) -> Option<GameRef> {
        Some(GameRef {
            game,
            winner: winner_of((bits & 3) as u8)?,
            elo: ByColor {
                white: (bits >> 7 & 0xfff) as u16,
                black: (bits >> 19 & 0xfff) as u16,
            },
            day: (bits >> 2 & 31) as u8,
        })
    }

    /// Result and day take one byte, whose upper bit is set if three bytes with ratings
    /// follow.
    fn encode(&self, out: &mut Vec<u8>) {
        let bits = self.pack();
        let (low, ratings) = (bits as u8 & 0x7f, bits >> 7);
        if ratings > 0 {
            let ratings = ratings.to_le_bytes();
            out.extend_from_slice(&[low | 0x80, ratings[0], ratings[1], ratings[2]]);
        } else {
            out.push(low);
        }
        put_varint(self.game.into(), out);
    }

    fn decode(cursor: &mut Cursor<'_>) -> Option<GameRef> {
        let low = cursor.u8()?;
        let ratings = match low & 0x80 {
            0 => 0,
            _ => {
                let [a, b, c] = *cursor.take(3)?.first_chunk()?;
                u32::from_le_bytes([a, b, c, 0])
            }
        };
        let game = u32::try_from(cursor.varint()?).ok()?;
        GameRef::unpack(u32::from(low & 0x7f) | ratings << 7, game)
    }
}

/// A game in a list, with the move played in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedGame {
    /// The move that it continues with.
    pub mv: IndexedMove,
    /// Its date, speed and rating group.
    pub bucket: Bucket,
    /// Its number, result and ratings.
    pub game: GameRef,
    /// Which of the indexes has it, as numbered in the query.
    pub index: usize,
}

/// Results, and ratings that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Games that each side won.
    pub won: ByColor<u64>,
    /// Drawn games.
    pub draws: u64,
    /// Games in which each side's rating is known.
    pub rated: ByColor<u64>,
    /// The sums of these ratings.
    pub sum: ByColor<u64>,
}

impl Counts {
    /// All games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.won.white + self.won.black + self.draws
    }

    /// Results from the view of a side.
    #[must_use]
    pub fn results(&self, side: Color) -> Results {
        Results::new(*self.won.get(side), self.draws, *self.won.get(!side))
    }

    /// Only games with this result, without ratings: those are not stored by result.
    #[must_use]
    pub fn with(&self, result: GameResult) -> Counts {
        let mut counts = Counts::default();
        match result {
            GameResult::Won(side) => *counts.won.get_mut(side) = *self.won.get(side),
            GameResult::Draw => counts.draws = self.draws,
            GameResult::Unknown => {}
        }
        counts
    }

    /// Counts a game.
    #[inline]
    pub fn count(&mut self, winner: Option<Color>, elo: ByColor<u16>) {
        match winner {
            Some(winner) => *self.won.get_mut(winner) += 1,
            None => self.draws += 1,
        }
        for color in Color::ALL {
            let elo = *elo.get(color);
            *self.rated.get_mut(color) += u64::from(elo > 0);
            *self.sum.get_mut(color) += u64::from(elo);
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        self.draws += other.draws;
        for color in Color::ALL {
            *self.won.get_mut(color) += other.won.get(color);
            *self.rated.get_mut(color) += other.rated.get(color);
            *self.sum.get_mut(color) += other.sum.get(color);
        }
    }
}

/// One move in one position, in the games of one bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// [`key`](crate::key) of the position.
    pub hash: u64,
    /// The move played in it.
    pub mv: IndexedMove,
    /// The games.
    pub bucket: Bucket,
    /// Their results.
    pub counts: Counts,
    /// All games, if there are at most [`TOP_GAMES`]; else at least the [`TOP_GAMES`]
    /// of the best players and the [`RECENT_GAMES`] newest.
    pub refs: Vec<GameRef>,
}

impl Row {
    /// Resets it to an empty row for another position, move and bucket.
    pub fn reset(&mut self, hash: u64, mv: IndexedMove, bucket: Bucket) {
        (self.hash, self.mv, self.bucket) = (hash, mv, bucket);
        self.counts = Counts::default();
        self.refs.clear();
    }

    /// One of its games as that of a list; `index` is that of its index.
    pub(crate) fn listed(&self, game: GameRef, index: usize) -> ListedGame {
        ListedGame {
            mv: self.mv,
            bucket: self.bucket,
            game,
            index,
        }
    }

    /// Counts a game.
    #[inline]
    pub fn count(&mut self, game: GameRef) {
        self.counts.count(game.winner, game.elo);
        self.refs.push(game);
        if self.refs.len() >= MOST_REFS {
            self.prune();
        }
    }

    /// Drops the games that are neither among the best nor among the newest,
    /// and puts the others in the order of their numbers.
    ///
    /// What stays of several partitions together is what would stay of all at once:
    /// a game that is not among the newest of all, and less good than fewer
    /// than fifteen of the others, is so among those of its own partition too.
    pub(crate) fn prune(&mut self) {
        if self.refs.len() <= RECENT_GAMES + TOP_GAMES {
            self.refs.sort_by_key(|game| game.game);
            return;
        }
        let newest = RECENT_GAMES - 1;
        let by_date = |game: &GameRef| Reverse(game.by_date());
        let (_, _, others) = self.refs.select_nth_unstable_by_key(newest, by_date);
        let by_rating = |game: &GameRef| Reverse(game.by_rating());
        others.select_nth_unstable_by_key(TOP_GAMES - 1, by_rating);
        // Some of the best may be among the newest; more than needed are stored then,
        // which does no harm as long as they are always the same ones.
        self.refs.truncate(RECENT_GAMES + TOP_GAMES);
        self.refs.sort_unstable_by_key(|game| game.game);
    }

    /// Adds a row with the same position, move and bucket.
    pub(crate) fn merge(&mut self, other: &Row) {
        self.counts.add(&other.counts);
        self.refs.extend_from_slice(&other.refs);
        self.prune();
    }

    /// Appends bucket and counts. Returns the offset of the byte in which to set
    /// [`MORE`] if another row of the same move follows.
    pub(crate) fn encode_numbers(&self, out: &mut Vec<u8>) -> usize {
        let at = out.len();
        put_varint(u64::from(self.bucket.0) << 1, out);
        let counts = &self.counts;
        let games = counts.games();
        put_varint(games, out);
        if games > TOP_GAMES as u64 {
            for number in [counts.won.white, counts.draws] {
                put_varint(number, out);
            }
            for color in Color::ALL {
                put_varint(*counts.rated.get(color), out);
                put_varint(*counts.sum.get(color), out);
            }
            put_varint(self.refs.len() as u64, out);
        }
        for game in &self.refs {
            game.encode(out);
        }
        at
    }

    /// Reads bucket and counts; returns whether another row follows.
    pub(crate) fn decode_numbers(&mut self, cursor: &mut Cursor<'_>) -> Option<bool> {
        let head = cursor.varint()?;
        self.bucket = Bucket(u32::try_from(head >> 1).ok()?);
        self.counts = Counts::default();
        self.refs.clear();
        let games = cursor.varint()?;
        if games > TOP_GAMES as u64 {
            let (white, draws) = (cursor.varint()?, cursor.varint()?);
            let black = games.checked_sub(white)?.checked_sub(draws)?;
            self.counts.won = ByColor { white, black };
            self.counts.draws = draws;
            for color in Color::ALL {
                *self.counts.rated.get_mut(color) = cursor.varint()?;
                *self.counts.sum.get_mut(color) = cursor.varint()?;
            }
            for _ in 0..cursor.varint()? {
                self.refs.push(GameRef::decode(cursor)?);
            }
        } else {
            for _ in 0..games {
                let game = GameRef::decode(cursor)?;
                self.counts.count(game.winner, game.elo);
                self.refs.push(game);
            }
        }
        Some(head & u64::from(MORE) != 0)
    }
}

/// In the first byte of a row: another one of the same move follows.
pub(crate) const MORE: u8 = 1;

impl Record for Row {
    fn order(&self) -> u32 {
        (self.hash >> 32) as u32
    }

    fn compare(&self, other: &Self) -> Ordering {
        let key = |row: &Row| (row.hash, row.mv, row.bucket);
        key(self).cmp(&key(other))
    }

    fn join(&mut self, other: &Self) -> bool {
        self.merge(other);
        true
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let [a, b, c, d, e, f, g, h] = self.hash.to_be_bytes();
        let single = match self.refs.as_slice() {
            [only] if self.counts.games() == 1 => Some(only),
            _ => None,
        };
        let [i, j] = (self.mv.0 | u16::from(single.is_some()) << 15).to_be_bytes();
        out.extend_from_slice(&[a, b, c, d, e, f, g, h, i, j]);
        match single {
            Some(game) => {
                let numbers = [self.bucket.0, game.pack(), game.game];
                out.extend_from_slice(numbers.map(u32::to_le_bytes).as_flattened());
            }
            None => {
                self.encode_numbers(out);
            }
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(bytes);
        self.hash = cursor.be_u64()?;
        let mv = cursor.be_u16()?;
        self.mv = IndexedMove(mv & (SINGLE - 1));
        if mv & SINGLE == 0 {
            self.decode_numbers(&mut cursor)?;
        } else {
            let (bucket, bits) = (cursor.le_u32()?, cursor.le_u32()?);
            let game = GameRef::unpack(bits, cursor.le_u32()?)?;
            self.reset(self.hash, self.mv, Bucket(bucket));
            self.count(game);
        }
        Some(cursor.position())
    }
}

/// With the move of a record: it is that of one game, whose numbers follow at
/// full length. Most are, and are read and written again and again.
const SINGLE: u16 = 0x8000;
