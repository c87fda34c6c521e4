//! One entry: key, move block, statistics.
//!
//! | part | size | content |
//! |---|---|---|
//! | key | 1 to 31 | see [`Key`] |
//! | move block | M | M = 2 * moves + 1, then move byte and annotation byte per move |
//! | statistics | 33 | below |
//!
//! Statistics, big-endian, from the view of the side to move ("own"):
//!
//! | offset | size | field | evidence |
//! |---|---|---|---|
//! | 0 | 3 | games | specification 0.2, genuine books |
//! | 3 | 3 | own wins | specification 0.2, genuine books |
//! | 6 | 3 | own losses | specification 0.2, genuine books |
//! | 9 | 3 | draws | specification 0.2, genuine books |
//! | 12 | 4 | ten times the own expected points | measured: 10 wins + 5 draws + r, r up to 10 for each unfinished game |
//! | 16 | 3 | rated games of the own player | measured: agrees with the results, changes sides every ply |
//! | 19 | 4 | sum of these ratings | as before |
//! | 23 | 3 | rated games of the opponent | as before |
//! | 26 | 4 | sum of these ratings | as before |
//! | 30 | 1 | recommendation bits | specification 0.2, genuine books |
//! | 31 | 1 | learn value, signed | measured |
//! | 32 | 1 | commentary, a NAG number | specification 0.2, genuine books |

use super::Key;
use crate::{Annotation, PositionRecord, Stats};
use tabia_io::input::bytes::Cursor;

/// Bytes of the statistics at the end of each entry.
pub const STATISTICS_BYTES: usize = 33;

/// The most moves of an entry: the length byte is odd and at most 255.
pub const MAX_MOVES: usize = 127;

/// The largest value of a 24-bit counter.
pub const MAX_COUNT: u32 = 0x00ff_ffff;

/// An entry, borrowed from the bytes of its page.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    bytes: &'a [u8],
    key_bytes: usize,
    /// The length byte of the move block; counts itself.
    move_bytes: usize,
}

impl<'a> Entry<'a> {
    /// `bytes` is exactly key, moves and statistics, as checked by [`super::page`].
    pub(super) fn new(bytes: &'a [u8], key_bytes: usize, move_bytes: usize) -> Entry<'a> {
        Entry {
            bytes,
            key_bytes,
            move_bytes,
        }
    }

    /// The bytes of the entry as in the file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes of the key, including the first.
    #[must_use]
    pub fn key_bytes(&self) -> &'a [u8] {
        self.bytes.get(..self.key_bytes).unwrap_or_default()
    }

    /// The key; never `None` for an entry of a page.
    #[must_use]
    pub fn key(&self) -> Option<Key> {
        Key::from_prefix(self.bytes)
    }

    /// Move byte and annotation of every stored move, in stored order.
    pub fn moves(&self) -> impl ExactSizeIterator<Item = (u8, Annotation)> + 'a {
        self.bytes
            .get(self.key_bytes + 1..self.key_bytes + self.move_bytes)
            .unwrap_or_default()
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[byte, annotation]| (byte, Annotation(annotation)))
    }

    /// The statistics, decoded.
    #[must_use]
    pub fn record(&self) -> PositionRecord {
        decode_record(&self.record_bytes()).unwrap_or_default()
    }

    /// The statistics as stored.
    pub(super) fn record_bytes(&self) -> [u8; STATISTICS_BYTES] {
        let statistics = self.bytes.get(self.key_bytes + self.move_bytes..);
        let first = statistics.and_then(|bytes| bytes.first_chunk());
        first.copied().unwrap_or([0; STATISTICS_BYTES])
    }
}

/// Decodes the 33 bytes of statistics; `None` if they are fewer.
#[must_use]
pub fn decode_record(bytes: &[u8]) -> Option<PositionRecord> {
    let mut cursor = Cursor::new(bytes);
    let games = cursor.be_u24()?;
    let wins = cursor.be_u24()?;
    let losses = cursor.be_u24()?;
    let draws = cursor.be_u24()?;
    let points = cursor.be_u32()?;
    Some(PositionRecord {
        stats: Stats {
            games,
            wins,
            draws,
            losses,
            own_rated: cursor.be_u24()?,
            own_rating_sum: cursor.be_u32()?.into(),
            other_rated: cursor.be_u24()?,
            other_rating_sum: cursor.be_u32()?.into(),
        },
        points,
        recommendation: cursor.u8()?,
        learn_value: cursor.i8()?,
        commentary: cursor.u8()?,
    })
}

/// Encodes statistics. Counters are limited to [`MAX_COUNT`], and sums of ratings to 32
/// bits; if their ratio matters, scale them down together before.
#[inline]
#[must_use]
pub fn encode_record(record: &PositionRecord) -> [u8; STATISTICS_BYTES] {
    let Stats {
        games,
        wins,
        draws,
        losses,
        own_rated,
        own_rating_sum,
        other_rated,
        other_rating_sum,
    } = record.stats;
    let count = |value: u32| value.min(MAX_COUNT).to_be_bytes();
    let sum = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).to_be_bytes();
    let [_, g0, g1, g2] = count(games);
    let [_, w0, w1, w2] = count(wins);
    let [_, l0, l1, l2] = count(losses);
    let [_, d0, d1, d2] = count(draws);
    let [p0, p1, p2, p3] = record.points.to_be_bytes();
    let [_, n0, n1, n2] = count(own_rated);
    let [s0, s1, s2, s3] = sum(own_rating_sum);
    let [_, m0, m1, m2] = count(other_rated);
    let [t0, t1, t2, t3] = sum(other_rating_sum);
    // Not a loop, for speed: a book has one of these for each position.
    #[rustfmt::skip]
    let bytes = [
        g0, g1, g2, w0, w1, w2, l0, l1, l2, d0, d1, d2, p0, p1, p2, p3,
        n0, n1, n2, s0, s1, s2, s3, m0, m1, m2, t0, t1, t2, t3,
        record.recommendation, record.learn_value.cast_unsigned(), record.commentary,
    ];
    bytes
}

/// Appends an entry to `out`. Moves beyond [`MAX_MOVES`] are left out.
#[inline]
pub fn encode_entry(
    key: &Key,
    moves: &[(u8, Annotation)],
    record: &PositionRecord,
    out: &mut Vec<u8>,
) {
    let moves = moves.get(..MAX_MOVES).unwrap_or(moves);
    key.append_to(out);
    out.push(moves.len() as u8 * 2 + 1);
    for &(byte, Annotation(annotation)) in moves {
        out.extend_from_slice(&[byte, annotation]);
    }
    out.extend_from_slice(&encode_record(record));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_come_back_as_they_went() {
        let bytes: Vec<u8> = (1..=33).collect();
        let record = decode_record(&bytes).unwrap();
        assert_eq!(record.stats.games, 0x01_0203);
        assert_eq!(record.stats.wins, 0x04_0506);
        assert_eq!(record.stats.losses, 0x07_0809);
        assert_eq!(record.stats.draws, 0x0a_0b0c);
        assert_eq!(record.points, 0x0d0e_0f10);
        assert_eq!(record.stats.own_rated, 0x11_1213);
        assert_eq!(record.stats.own_rating_sum, 0x1415_1617);
        assert_eq!(record.stats.other_rated, 0x18_191a);
        assert_eq!(record.stats.other_rating_sum, 0x1b1c_1d1e);
        assert_eq!((record.recommendation, record.learn_value), (0x1f, 0x20));
        assert_eq!(record.commentary, 0x21);
        assert_eq!(encode_record(&record).to_vec(), bytes);
        assert_eq!(decode_record(&bytes[1..]), None);
    }

    #[test]
    fn large_counters_are_cut_not_wrapped() {
        let mut record = PositionRecord {
            learn_value: -93,
            ..PositionRecord::default()
        };
        record.stats.games = u32::MAX;
        let back = decode_record(&encode_record(&record)).unwrap();
        assert_eq!(back.stats.games, MAX_COUNT);
        assert_eq!(back.learn_value, -93);
    }
}
