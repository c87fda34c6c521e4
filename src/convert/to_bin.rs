//! Any book as a Polyglot one.
//!
//! An entry of a ChessBase book stands for up to four positions; written are
//! those that the book comes to from the start position, by stored moves and
//! (unless the policy has them off) by transpositions, each with the moves and
//! probabilities that a probe of it gives. So playing from the new book is
//! playing from the old one.
//!
//! Memory: that of a [directory](crate::book::ctg::Directory), and some for
//! sorting; of other books 16 bytes for each position.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::thread;

use rustc_hash::FxBuildHasher;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, EnPassantMode, Position as _, Setup};

use super::from_keyed::unreached;
use super::{Error, Job, Prober, Source, Summary, Weights, Work, expected};
use crate::book::ctg::{CtgBook, EntrySet, Place};
use crate::book::polyglot::{self, PackedMove};
use crate::book::{Book, BookMove, BookPosition, Lookup, Preference, bin};
use crate::crew::in_order;
use crate::place::{self, Beside};
use crate::policy::{self, Weighed};
use crate::sort::{Record, Sorter};

/// An entry of the new book.
#[derive(Clone, Copy, Default)]
struct Row {
    key: u64,
    mv: PackedMove,
    weight: u16,
}

/// By key, and then the heaviest first.
impl Record for Row {
    fn order(&self) -> u32 {
        (self.key >> 32) as u32
    }

    fn compare(&self, other: &Row) -> Ordering {
        let place = |row: &Row| (row.key, Reverse(row.weight), row.mv);
        place(self).cmp(&place(other))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&bin::encode(self.key, self.mv, self.weight, 0));
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let (bytes, _) = bytes.split_first_chunk::<{ bin::ENTRY_BYTES }>()?;
        let whole = u128::from_be_bytes(*bytes);
        *self = Row {
            key: (whole >> 64) as u64,
            mv: PackedMove((whole >> 48) as u16),
            weight: (whole >> 32) as u16,
        };
        Some(bytes.len())
    }
}

/// Positions that one thread looks at in one go.
const SHARE: usize = 2048;

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Summary, Error> {
    let mut output = Beside::create(&work.job.target, work.job.old)?;
    let mut summary = Summary::default();
    let source = Source::new(work, book, &mut summary)?;
    let mut found = LookedUp::default();
    let sorter = Sorter::alone(place::folder_of(&work.job.target), work.job.memory / 2);
    let sorter = match (book.as_ctg(), work.job.all_forms) {
        (Some(ctg), true) => every_form(work, ctg, &source, sorter, &mut found)?,
        _ => walk(work, &source, sorter, &mut found)?,
    };
    if !work.job.all_forms {
        match &source.directory {
            Some(directory) => summary.note(
                directory.entries().saturating_sub(found.entries),
                "positions of the book cannot be reached from the start position (--all writes them too)",
            ),
            None => summary.note(
                unreached(book, found.held)?,
                "positions left out that cannot be reached from the start position",
            ),
        }
    }
    drop(source);
    let mut rows = sorter.merge()?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        if last.replace((row.key, row.mv)) != Some((row.key, row.mv)) {
            output.add(&bin::encode(row.key, row.mv, row.weight, 0))?;
            summary.moves += 1;
            work.step("writing", summary.moves, None)?;
        }
    }
    summary.positions = found.positions;
    summary.note(
        found.silent,
        "positions without a move that would be played",
    );
    summary.note(
        found.unplayed,
        "moves left out that would not be played (--keep-never writes them)",
    );
    summary.not_empty(work.job)?;
    summary.bytes = output.put()?.bytes;
    Ok(summary)
}

/// What became of some positions.
#[derive(Default)]
struct LookedUp {
    rows: Vec<Row>,
    /// Positions with a move.
    positions: u64,
    /// Positions that the book holds.
    held: u64,
    /// Positions whose moves are all dropped.
    silent: u64,
    /// Moves that are dropped.
    unplayed: u64,
    /// Positions after their moves.
    next: Vec<Reached>,
    /// Where they stand in a ChessBase book.
    places: Vec<Place>,
    /// How many different ones those were.
    entries: u64,
}

impl LookedUp {
    /// Takes over the numbers and, into the sorter, the rows.
    fn add(&mut self, other: &LookedUp, sorter: &mut Sorter<Row>) -> Result<(), Error> {
        self.positions += other.positions;
        self.held += other.held;
        self.silent += other.silent;
        self.unplayed += other.unplayed;
        for row in &other.rows {
            sorter.push(row)?;
        }
        Ok(())
    }
}

/// A position on the way.
#[derive(Clone)]
struct Reached {
    key: u64,
    /// Its number in the directory of a ChessBase book.
    number: usize,
    position: Chess,
}

/// The positions that a walk has come to.
enum Seen {
    Keys(HashSet<u64, FxBuildHasher>),
    /// By number in the directory.
    Numbers(Vec<u64>),
}

impl Seen {
    /// Adds a position; false if it was in.
    fn insert(&mut self, reached: &Reached) -> bool {
        match self {
            Seen::Keys(keys) => keys.insert(reached.key),
            Seen::Numbers(words) => {
                let bit = 1 << (reached.number % 64);
                words.get_mut(reached.number / 64).is_some_and(|word| {
                    let new = *word & bit == 0;
                    *word |= bit;
                    new
                })
            }
        }
    }
}

fn walk(
    work: &mut Work<'_, '_>,
    source: &Source<'_>,
    mut sorter: Sorter<Row>,
    all: &mut LookedUp,
) -> Result<Sorter<Row>, Error> {
    let total = expected(source.book);
    let start = Chess::default();
    let mut number = 0;
    let mut seen = Seen::Keys(HashSet::default());
    if let (Some(directory), Prober::Ctg(mut reader)) = (&source.directory, source.prober()) {
        let Some(found) = reader.number_of(&start)? else {
            return Ok(sorter);
        };
        number = found;
        seen = Seen::Numbers(vec![0; directory.numbers() / 64 + 1]);
    }
    let start = Reached {
        key: polyglot::key(&start),
        number,
        position: start,
    };
    seen.insert(&start);
    let mut ahead = vec![start];
    let mut entries = EntrySet::default();
    let mut done = 0;
    let share = threads() * SHARE;
    while !ahead.is_empty() {
        let batch = ahead.split_off(ahead.len().saturating_sub(share));
        for found in look_up(work.job, source, &batch, true)? {
            all.add(&found, &mut sorter)?;
            ahead.extend(found.next.into_iter().filter(|next| seen.insert(next)));
            for place in found.places {
                all.entries += u64::from(entries.insert(place));
            }
        }
        for _ in &batch {
            done += 1;
            work.step("walking", done, total)?;
        }
    }
    Ok(sorter)
}

/// Every position that an entry stands for.
fn every_form(
    work: &mut Work<'_, '_>,
    book: &CtgBook,
    source: &Source<'_>,
    mut sorter: Sorter<Row>,
    all: &mut LookedUp,
) -> Result<Sorter<Row>, Error> {
    let job = work.job;
    book.in_blocks(
        "writing",
        work.watch,
        |entries| {
            let mut batch = Vec::new();
            for held in entries.iter().filter_map(BookPosition::of) {
                forms(&held.position, &mut batch);
            }
            look_up_share(job, source, &batch, false)
        },
        |found| all.add(&found, &mut sorter),
    )?;
    Ok(sorter)
}

/// The position, with colours exchanged, and both with wings exchanged where
/// nobody may castle.
fn forms(position: &Chess, out: &mut Vec<Reached>) {
    let setup = position.to_setup(EnPassantMode::Always);
    let colours = |setup: &Setup| {
        let mut setup = setup.clone();
        setup.board.flip_vertical();
        setup.board.swap_colors();
        setup.castling_rights = setup.castling_rights.flip_vertical();
        setup.ep_square = setup.ep_square.map(|square| square.flip_vertical());
        setup.turn = Color::Black;
        setup
    };
    let wings = |setup: &Setup| {
        let mut setup = setup.clone();
        setup.board.flip_horizontal();
        setup.ep_square = setup.ep_square.map(|square| square.flip_horizontal());
        setup
    };
    let mut setups = vec![colours(&setup)];
    if setup.castling_rights == Bitboard::EMPTY {
        let mirrored = wings(&setup);
        setups.push(colours(&mirrored));
        setups.push(mirrored);
    }
    let mut keys = vec![polyglot::key(position)];
    let mut add = |key, position| {
        out.push(Reached {
            key,
            number: 0,
            position,
        });
    };
    add(polyglot::key(position), position.clone());
    for setup in setups {
        if let Ok(form) = setup.position::<Chess>(CastlingMode::Standard) {
            let key = polyglot::key(&form);
            // A position may be its own mirror image.
            if !keys.contains(&key) {
                keys.push(key);
                add(key, form);
            }
        }
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Looks positions up, on all processors.
fn look_up(
    job: &Job,
    source: &Source<'_>,
    batch: &[Reached],
    go_on: bool,
) -> Result<Vec<LookedUp>, Error> {
    let share = batch.len().div_ceil(threads()).max(64);
    let shares: Vec<&[Reached]> = batch.chunks(share).collect();
    let mut all = Vec::new();
    in_order(
        shares.len() as u32,
        |n| {
            let share = shares.get(n as usize).copied().unwrap_or_default();
            look_up_share(job, source, share, go_on)
        },
        |found| {
            all.push(found);
            Ok(())
        },
    )?;
    Ok(all)
}

fn look_up_share(
    job: &Job,
    source: &Source<'_>,
    share: &[Reached],
    go_on: bool,
) -> Result<LookedUp, Error> {
    let mut all = LookedUp::default();
    let mut found = Lookup::default();
    let mut verdicts = Vec::new();
    let mut prober = source.prober();
    for reached in share {
        let position = &reached.position;
        all.places
            .extend(prober.probe(position, source.wanted, &mut found)?);
        if found.here.is_none() {
            continue;
        }
        all.held += 1;
        policy::weigh(&found.moves, &job.policy, |_| None, &mut verdicts);
        let before = all.rows.len();
        rows(job, reached.key, &found.moves, &verdicts, &mut all.rows);
        let played = all.rows.len() - before;
        all.unplayed += (found.moves.len() - played) as u64;
        all.positions += u64::from(played > 0);
        all.silent += u64::from(played == 0 && !found.moves.is_empty());
        if !go_on {
            continue;
        }
        let numbers = match &prober {
            Prober::Ctg(reader) => reader.numbers(),
            Prober::Other(_) => &[],
        };
        for (n, known) in found.moves.iter().enumerate() {
            if known.after.is_some() {
                let mut after = position.clone();
                after.play_unchecked(known.mv);
                all.next.push(Reached {
                    key: polyglot::key(&after),
                    number: numbers.get(n).copied().unwrap_or(0),
                    position: after,
                });
            }
        }
    }
    Ok(all)
}

/// The entries of one position.
fn rows(job: &Job, key: u64, moves: &[BookMove], verdicts: &[Weighed], rows: &mut Vec<Row>) {
    let value = |mv: &BookMove, verdict: &Weighed| -> f64 {
        let stats = mv.stats();
        match (job.weights, mv.preference) {
            _ if verdict.rejection.is_some() => 0.0,
            (Weights::Probability, _) => verdict.probability,
            (_, Preference::Weight(weight)) => weight.into(),
            (Weights::Games, _) => stats.games.into(),
            (Weights::Score, _) => 2.0 * f64::from(stats.wins) + f64::from(stats.draws),
        }
    };
    let values = || {
        moves
            .iter()
            .zip(verdicts)
            .map(|(mv, verdict)| value(mv, verdict))
    };
    let largest = values().fold(0.0, f64::max);
    let most = f64::from(u16::MAX);
    // Counts that fit stay what they are.
    let scale = if job.weights == Weights::Probability || largest > most {
        most / largest
    } else {
        1.0
    };
    for (mv, value) in moves.iter().zip(values()) {
        let weight = if value > 0.0 {
            ((value * scale).round() as u16).max(1)
        } else if job.keep_never {
            0
        } else {
            continue;
        };
        rows.push(Row {
            key,
            weight,
            mv: PackedMove::of(mv.mv),
        });
    }
}
