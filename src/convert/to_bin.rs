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

use rustc_hash::FxBuildHasher;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, EnPassantMode, Move, Position as _, Setup};

use super::from_keyed::unreached;
use super::{Error, Job, Prober, Source, Summary, Weights, Work, expected};
use crate::book::ctg::{CtgBook, EntrySet, KnownEntry};
use crate::book::polyglot::{self, PackedMove};
use crate::book::walk::{Order, Walk};
use crate::book::{Book, BookMove, BookPosition, Lookup, Preference, bin};
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
    /// The moves into positions that the book holds, by the number of the
    /// position that they are played in.
    next: Vec<(u32, Move, Chess, Known)>,
    /// Entries of a ChessBase book that were come to.
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

/// What the walk knows of a position.
struct Known {
    /// Its key in the new book.
    key: u64,
    /// Its entry in a ChessBase book.
    entry: Option<(KnownEntry, Box<[u8]>)>,
}

/// The positions that a walk has come to.
enum Seen {
    Keys(HashSet<u64, FxBuildHasher>),
    /// By number in the directory.
    Numbers(Vec<u64>),
}

impl Seen {
    /// Adds a position; false if it was in.
    fn insert(&mut self, known: &Known) -> bool {
        match (self, &known.entry) {
            (Seen::Keys(keys), _) => keys.insert(known.key),
            (Seen::Numbers(words), Some((entry, _))) => {
                let bit = 1 << (entry.number % 64);
                words.get_mut(entry.number / 64).is_some_and(|word| {
                    let new = *word & bit == 0;
                    *word |= bit;
                    new
                })
            }
            (Seen::Numbers(_), None) => false,
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
    let mut root = Known {
        key: polyglot::key(&start),
        entry: None,
    };
    let mut seen = Seen::Keys(HashSet::default());
    if let (Some(directory), Prober::Ctg(mut reader)) = (&source.directory, source.prober()) {
        let Some((entry, bytes)) = reader.entry_of(&start)? else {
            return Ok(sorter);
        };
        root.entry = Some((entry, bytes.into()));
        seen = Seen::Numbers(vec![0; directory.numbers() / 64 + 1]);
    }
    seen.insert(&root);
    let job = work.job;
    let mut entries = EntrySet::default();
    let mut done = 0;
    Walk::with_notes(&start, root, Order::Depth)
        .without_lines()
        .spread(
            |share| {
                look_up(
                    job,
                    source,
                    share.iter().map(|at| (&at.position, &at.note)),
                    true,
                )
            },
            |walk, share, found| {
                all.add(&found, &mut sorter)?;
                for reached in share {
                    let entry = reached.note.entry.as_ref();
                    let new = entry.is_some_and(|(entry, _)| entries.insert(entry.place));
                    all.entries += u64::from(new);
                    done += 1;
                    work.step("walking", done, total)?;
                }
                for (at, mv, position, known) in found.next {
                    if seen.insert(&known)
                        && let Some(here) = share.get(at as usize)
                    {
                        walk.enter(here, mv, position, known);
                    }
                }
                Ok(())
            },
        )?;
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
            let batch = batch.iter().map(|(position, known)| (position, known));
            look_up(job, source, batch, false)
        },
        |found| all.add(&found, &mut sorter),
    )?;
    Ok(sorter)
}

/// The position, with colours exchanged, and both with wings exchanged where
/// nobody may castle.
fn forms(position: &Chess, out: &mut Vec<(Chess, Known)>) {
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
    let mut add = |key, position| out.push((position, Known { key, entry: None }));
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

/// Looks positions up.
fn look_up<'k>(
    job: &Job,
    source: &Source<'_>,
    positions: impl Iterator<Item = (&'k Chess, &'k Known)>,
    go_on: bool,
) -> Result<LookedUp, Error> {
    let mut all = LookedUp::default();
    let mut found = Lookup::default();
    let mut verdicts = Vec::new();
    let mut prober = source.prober();
    for (at, (position, known)) in (0..).zip(positions) {
        match (&mut prober, &known.entry) {
            (Prober::Ctg(reader), Some((_, entry))) => {
                reader.probe_known(position, entry, source.wanted, &mut found)?;
            }
            _ => {
                prober.probe(position, source.wanted, &mut found)?;
            }
        }
        if found.here.is_none() {
            continue;
        }
        all.held += 1;
        policy::weigh(&found.moves, &job.policy, |_| None, &mut verdicts);
        let before = all.rows.len();
        rows(job, known.key, &found.moves, &verdicts, &mut all.rows);
        let played = all.rows.len() - before;
        all.unplayed += (found.moves.len() - played) as u64;
        all.positions += u64::from(played > 0);
        all.silent += u64::from(played == 0 && !found.moves.is_empty());
        if !go_on {
            continue;
        }
        for (n, known) in found.moves.iter().enumerate() {
            if known.after.is_some() {
                let mut after = position.clone();
                after.play_unchecked(known.mv);
                let entry = match &prober {
                    Prober::Ctg(reader) => reader.after(n),
                    Prober::Other(_) => None,
                };
                let next = Known {
                    key: polyglot::key(&after),
                    entry: entry.map(|(entry, bytes)| (entry, bytes.into())),
                };
                all.next.push((at, known.mv, after, next));
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
