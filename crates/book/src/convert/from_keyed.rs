//! Converts Polyglot and Arena books to ChessBase books.
//!
//! Such books store no positions, so these come from a walk from the start position. The
//! data of a move become the statistics of the position after it:
//!
//! | source | becomes |
//! |---|---|
//! | Polyglot's weight w | w drawn games: doubled points are the weight, and every reader plays in proportion to it |
//! | Arena's games, won, lost | the same numbers; games without a result count as drawn |
//! | Arena's priority p, other than 5 | a learn value with which the move is played p / 5 times as often |
//! | weight or priority 0 | `?` at the move; the position after it is red if no other move leads to it |
//!
//! If several moves lead to a position, it has their sum.

use std::path::Path;

use shakmaty::{Chess, Color, Position as _};

use super::{Converted, Work};
use crate::ctg::{
    CanonicalBoard, Key, Totals, UnsortedWriter, encode_entry, encode_move_byte, read_entry,
};
use crate::walk::Order;
use crate::{
    Annotation, Book, BookMove, Error, Lookup, PositionRecord, Preference, Probe as _, Stats,
};

/// Not for tournaments.
const RED: u8 = 0x40;

/// Walks a book and writes it as a ChessBase book.
pub(super) fn to_ctg(
    work: &mut Work<'_, '_>,
    book: &Book,
    target: &Path,
) -> Result<Converted, Error> {
    let mut maker = Maker {
        writer: UnsortedWriter::create(target, work.book_options(), work.job.memory)?,
        entry: Vec::new(),
        pushed: 0,
        unstorable: 0,
    };
    let start = Chess::default();
    let has_start = book.contains(&start)?;
    let mut walk = book.walk(Order::Depth);
    let mut sides = Sides::default();
    let (mut games, mut before) = (0_u32, Totals::default());
    while let Some(here) = walk.advance()? {
        sides.add(&here.position, &walk.found);
        // A book for Black only has no moves in the start position.
        if here.ply == u32::from(!has_start) {
            let mut record = record_of(&walk.found);
            games = games.saturating_add(record.stats.games);
            record.stats = record.stats.reversed();
            record.points = points(&record.stats);
            before.add(&record);
        }
        maker.add(&here.position, &walk.found)?;
        for between in walk.between.drain(..) {
            maker.push(&between, &[], &PositionRecord::default(), Part::Moves)?;
        }
        work.step("reading", walk.met(), None)?;
    }
    if !has_start {
        let (stats, points) = before.fitted();
        let record = PositionRecord {
            stats,
            points,
            ..PositionRecord::default()
        };
        maker.push(&start, &[], &record, Part::Moves)?;
    }
    let unstorable = maker.unstorable;
    maker.writer.set_only(sides.only());
    let start = CanonicalBoard::from_position(&start).map(|board| board.key());
    let is_never = |key: &Key, turn| Some(*key) != start && sides.only() != Some(turn);
    let join = |parts: &[(u64, Vec<u8>)], out: &mut Vec<u8>| join(parts, is_never, out);
    let written = maker.writer.finish(games, join, work.watch, None)?;
    let mut summary = Converted::from_written(&written);
    summary.notes.push(
        match book.has_results() {
            false => {
                "statistics made from weights: each weight counts as that number of drawn games"
            }
            true => "games without a result count as drawn; priorities became learn values",
        }
        .to_owned(),
    );
    summary.leave_out(walk.unreached(), walk.met());
    if let Some(side) = sides.only() {
        summary.notes.push(format!("a book for {side} only"));
    }
    summary.note(
        unstorable,
        "moves left out that the format cannot hold (under-promotions and the like)",
    );
    Ok(summary)
}

/// The kinds of parts that make an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The moves of the position.
    Moves,
    /// A move that leads to the position.
    Arrival,
}

impl Part {
    /// A rank from which the kind of a part and the side to move can be read back.
    fn rank(self, number: u64, turn: Color) -> u64 {
        4 * number + 2 * u64::from(turn.is_black()) + u64::from(self == Part::Arrival)
    }

    fn from_rank(rank: u64) -> (Part, Color) {
        let part = match rank & 1 {
            0 => Part::Moves,
            _ => Part::Arrival,
        };
        (part, Color::from_white(rank & 2 == 0))
    }
}

/// Makes parts of entries from positions.
struct Maker {
    writer: UnsortedWriter,
    entry: Vec<u8>,
    pushed: u64,
    unstorable: u64,
}

impl Maker {
    fn add(&mut self, position: &Chess, found: &Lookup) -> Result<(), Error> {
        let Some(board) = CanonicalBoard::from_position(position) else {
            return Ok(());
        };
        let mut moves = Vec::with_capacity(found.moves.len());
        for entry in &found.moves {
            let Some(byte) = encode_move_byte(&board, entry.mv) else {
                self.unstorable += 1;
                continue;
            };
            let annotation = if entry.preference.is_never() {
                Annotation::MISTAKE
            } else {
                entry.annotation
            };
            moves.push((byte, annotation));
            let after = tabia_notation::after(position, entry.mv);
            self.push(&after, &[], &record_after(entry), Part::Arrival)?;
        }
        self.push(position, &moves, &record_of(found), Part::Moves)
    }

    fn push(
        &mut self,
        position: &Chess,
        moves: &[(u8, Annotation)],
        record: &PositionRecord,
        part: Part,
    ) -> Result<(), Error> {
        if let Some(board) = CanonicalBoard::from_position(position) {
            self.entry.clear();
            encode_entry(&board.key(), moves, record, &mut self.entry);
            let rank = part.rank(self.pushed, position.turn());
            self.writer.push(&self.entry, rank)?;
            self.pushed += 1;
        }
        Ok(())
    }
}

/// The record of a position that no stored move leads to: the sum of its moves.
fn record_of(found: &Lookup) -> PositionRecord {
    let mut totals = Totals::default();
    for mv in &found.moves {
        let mut record = record_after(mv);
        record.stats = record.stats.reversed();
        record.points = points(&record.stats);
        totals.add(&record);
    }
    let (stats, points) = totals.fitted();
    PositionRecord {
        stats,
        points,
        ..PositionRecord::default()
    }
}

/// The record of the position after a move, from the view of the side to move there.
fn record_after(entry: &BookMove) -> PositionRecord {
    let stats = match entry.preference.weight() {
        Some(weight) => drawn(weight),
        None => match entry.after.map(|after| after.stats) {
            Some(stats) if stats.unfinished() == stats.games => drawn(stats.games),
            stats => stats.unwrap_or_default(),
        },
    };
    PositionRecord {
        stats,
        points: points(&stats),
        recommendation: if entry.preference.is_never() { RED } else { 0 },
        learn_value: learn_value(entry.preference),
        ..PositionRecord::default()
    }
}

fn drawn(games: u32) -> Stats {
    Stats {
        games,
        draws: games,
        ..Stats::default()
    }
}

fn points(stats: &Stats) -> u32 {
    let halves = stats.draws.saturating_add(stats.unfinished());
    stats
        .wins
        .saturating_mul(10)
        .saturating_add(halves.saturating_mul(5))
}

/// The learn value, from the view of the side to move after the move, that changes a
/// weight as the priority does: 16 ^ (-value / 125) = priority / 5.
fn learn_value(preference: Preference) -> i8 {
    match preference {
        Preference::Priority(priority @ 1..) => {
            let wanted = f64::from(priority) / 5.0;
            -(125.0 * wanted.log2() / 4.0).round() as i8
        }
        Preference::Priority(0) | Preference::Weight(_) | Preference::Statistics => 0,
    }
}

/// Joins the parts of a position to one entry. `is_never` tells whether a position that no
/// stored move leads to must not be played to either, by key and side to move: other
/// moves would be transpositions to it.
fn join(
    parts: &[(u64, Vec<u8>)],
    is_never: impl Fn(&Key, Color) -> bool,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let (mut totals, mut own) = (Totals::default(), Totals::default());
    let mut turns = Vec::new();
    let mut moves: Vec<(u8, Annotation)> = Vec::new();
    let mut red = true;
    let mut arrived = false;
    let mut strongest = 0_i8;
    let mut key = None;
    for (rank, bytes) in parts {
        let entry = read_entry(bytes).map_err(Error::malformed)?;
        key = entry.key();
        for (byte, annotation) in entry.moves() {
            if !moves.iter().any(|(known, _)| *known == byte) {
                moves.push((byte, annotation));
            }
        }
        let record = entry.record();
        let (part, turn) = Part::from_rank(*rank);
        if part == Part::Moves {
            own.add(&record);
            turns.push(turn);
        } else {
            arrived = true;
            red &= record.recommendation & RED != 0;
            totals.add(&record);
            if record.learn_value.unsigned_abs() > strongest.unsigned_abs() {
                strongest = record.learn_value;
            }
        }
    }
    if !arrived {
        totals = own;
        red = key.is_some_and(|key| turns.iter().all(|turn| is_never(&key, *turn)));
    }
    let (stats, points) = totals.fitted();
    let record = PositionRecord {
        stats,
        points,
        recommendation: if red { RED } else { 0 },
        learn_value: strongest,
        ..PositionRecord::default()
    };
    if let Some(key) = key {
        encode_entry(&key, &moves, &record, out);
    }
    Ok(())
}

/// The sides that a book has moves for.
#[derive(Clone, Copy, Debug, Default)]
struct Sides {
    white: bool,
    black: bool,
}

impl Sides {
    fn add(&mut self, position: &Chess, found: &Lookup) {
        if !found.moves.is_empty() {
            match position.turn() {
                Color::White => self.white = true,
                Color::Black => self.black = true,
            }
        }
    }

    /// The side, if it is only one.
    fn only(self) -> Option<Color> {
        match self {
            Sides {
                white: true,
                black: false,
            } => Some(Color::White),
            Sides {
                white: false,
                black: true,
            } => Some(Color::Black),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{self, Policy};

    /// A priority and its learn value change a weight equally.
    #[test]
    fn learn_values_play_as_priorities_do() {
        let legal = Chess::default().legal_moves();
        let policy = Policy {
            minimum_share: 0,
            ..Policy::default()
        };
        for priority in 1..=9 {
            let chances = |as_learn_value: bool| {
                let moves: Vec<BookMove> = [priority, 5]
                    .into_iter()
                    .zip(&legal)
                    .map(|(priority, mv)| {
                        let preference = Preference::Priority(priority);
                        let mut entry = BookMove {
                            mv: *mv,
                            annotation: Annotation::default(),
                            after: Some(PositionRecord {
                                stats: drawn(40),
                                ..PositionRecord::default()
                            }),
                            transposition: false,
                            preference,
                            evaluation: None,
                        };
                        if as_learn_value {
                            entry.after = Some(record_after(&entry));
                            entry.preference = Preference::Statistics;
                        }
                        entry
                    })
                    .collect();
                let mut verdicts = Vec::new();
                policy::weigh(&moves, &policy, |_| None, &mut verdicts);
                verdicts.first().map_or(0.0, |verdict| verdict.probability)
            };
            let (by_priority, by_learn_value) = (chances(false), chances(true));
            assert!(
                (by_priority - by_learn_value).abs() < 0.005,
                "{priority}: {by_priority} {by_learn_value}"
            );
        }
    }

    #[test]
    fn a_position_is_red_only_where_every_move_to_it_is_never_played() {
        let board = CanonicalBoard::from_position(&Chess::default()).unwrap();
        let part = |recommendation, games| {
            let record = PositionRecord {
                stats: drawn(games),
                recommendation,
                ..PositionRecord::default()
            };
            let mut bytes = Vec::new();
            encode_entry(&board.key(), &[], &record, &mut bytes);
            bytes
        };
        let joined = |parts: &[(u64, Vec<u8>)]| {
            let mut out = Vec::new();
            join(parts, |_, _| false, &mut out).unwrap();
            let record = read_entry(&out).unwrap().record();
            (record.recommendation, record.stats.games)
        };
        assert_eq!(joined(&[(1, part(RED, 0)), (2, part(0, 0))]), (RED, 0));
        assert_eq!(
            joined(&[(1, part(RED, 0)), (3, part(0, 7)), (5, part(0, 4))]),
            (0, 11)
        );
        assert_eq!(joined(&[(0, part(0, 0))]), (0, 0));
    }
}
