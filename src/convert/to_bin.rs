//! Any book as a Polyglot one.
//!
//! An entry of a ChessBase book stands for up to four positions; written are
//! those that the book comes to from the start position, by stored moves and
//! (unless the policy has them off) by transpositions, each with the moves and
//! probabilities that a probe of it gives. So playing from the new book is
//! playing from the old one.
//!
//! Memory: 16 bytes a move, and as many for each position.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::thread;

use rustc_hash::FxBuildHasher;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, EnPassantMode, Position as _, Setup};

use super::from_keyed::unreached;
use super::output::Output;
use super::{Error, Job, Prober, Summary, Weights, Work, expected};
use crate::book::polyglot::{self, PackedMove};
use crate::book::{Book, BookMove, Lookup, Preference, bin, ctg::NormalBoard};
use crate::policy::{self, Weighed};

/// An entry of the new book; ordered as there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: u64,
    weight: Reverse<u16>,
    mv: PackedMove,
}

/// Positions that one thread looks at in one go.
const SHARE: usize = 2048;

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Summary, Error> {
    let mut output = Output::create(&work.job.target)?;
    let mut summary = Summary::default();
    let mut found = Found::default();
    let all_forms = work.job.all_forms && book.as_ctg().is_some();
    if all_forms {
        every_form(work, book, &mut found, &mut summary)?;
    } else {
        let prober = Prober::new(work.job, book)?;
        let walked = walk(work, &prober, &mut found)?;
        let left = match book.as_ctg() {
            Some(ctg) => {
                let entries = match &prober.filter {
                    Some(filter) => filter.entries(),
                    None => ctg.entries().filter(Result::is_ok).count() as u64,
                };
                entries.saturating_sub(walked.entries.len() as u64)
            }
            None => unreached(book, found.held)?,
        };
        summary.note(
            left,
            if book.as_ctg().is_some() {
                "positions of the book cannot be reached from the start position (--all writes them too)"
            } else {
                "positions left out that cannot be reached from the start position"
            },
        );
    }
    found.rows.sort_unstable();
    found.rows.dedup_by_key(|row| (row.key, row.mv));
    for row in &found.rows {
        output.put(&bin::encode(row.key, row.mv, row.weight.0, 0))?;
    }
    summary.positions = found.positions;
    summary.moves = found.rows.len() as u64;
    summary.note(
        found.silent,
        "positions without a move that would be played",
    );
    summary.bytes = output.finish()?;
    Ok(summary)
}

/// What became of some positions.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    /// Positions with a move.
    positions: u64,
    /// Positions that the book holds.
    held: u64,
    /// Positions whose moves are all dropped.
    silent: u64,
    /// Positions after their moves, with their keys.
    next: Vec<(u64, Chess)>,
    /// The keys' hashes of what a ChessBase book holds.
    entries: Vec<u64>,
}

impl Found {
    fn add(&mut self, mut other: Found) {
        self.rows.append(&mut other.rows);
        self.positions += other.positions;
        self.held += other.held;
        self.silent += other.silent;
    }
}

/// The positions that a walk has come to.
#[derive(Default)]
struct Walked {
    keys: HashSet<u64, FxBuildHasher>,
    entries: HashSet<u64, FxBuildHasher>,
}

fn walk(work: &mut Work<'_, '_>, prober: &Prober<'_>, all: &mut Found) -> Result<Walked, Error> {
    let total = expected(prober.book);
    let start = Chess::default();
    let key = polyglot::key(&start);
    let mut walked = Walked::default();
    walked.keys.insert(key);
    let mut ahead = vec![(key, start)];
    let mut done = 0;
    let share = threads() * SHARE;
    while !ahead.is_empty() {
        let batch = ahead.split_off(ahead.len().saturating_sub(share));
        for found in look_up(work.job, prober, &batch, true)? {
            for (key, position) in found.next.iter() {
                if walked.keys.insert(*key) {
                    ahead.push((*key, position.clone()));
                }
            }
            walked.entries.extend(&found.entries);
            all.add(found);
        }
        for _ in &batch {
            done += 1;
            work.step("walking", done, total)?;
        }
    }
    Ok(walked)
}

/// Every position that an entry stands for.
fn every_form(
    work: &mut Work<'_, '_>,
    book: &Book,
    all: &mut Found,
    summary: &mut Summary,
) -> Result<(), Error> {
    let total = expected(book);
    let prober = Prober::new(work.job, book)?;
    let mut batch = Vec::new();
    let share = threads() * SHARE;
    let mut entries = 0;
    let mut damaged = 0;
    let mut positions = book.positions();
    loop {
        let next = positions.next();
        if batch.len() >= share || next.is_none() {
            for found in look_up(work.job, &prober, &batch, false)? {
                all.add(found);
            }
            batch.clear();
        }
        match next {
            None => break,
            Some(Ok(held)) => forms(&held.position, &mut batch),
            Some(Err(error)) => {
                damaged += 1;
                if damaged <= 20 {
                    summary.notices.push(error.to_string());
                }
            }
        }
        entries += 1;
        work.step("reading", entries, total)?;
    }
    summary.note(damaged, "damaged pages not read to their end");
    Ok(())
}

/// The position, with colours exchanged, and both with wings exchanged where
/// nobody may castle.
fn forms(position: &Chess, out: &mut Vec<(u64, Chess)>) {
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
    out.push((keys[0], position.clone()));
    for setup in setups {
        if let Ok(form) = setup.position::<Chess>(CastlingMode::Standard) {
            let key = polyglot::key(&form);
            // A position may be its own picture.
            if !keys.contains(&key) {
                keys.push(key);
                out.push((key, form));
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
    prober: &Prober<'_>,
    batch: &[(u64, Chess)],
    go_on: bool,
) -> Result<Vec<Found>, Error> {
    let share = batch.len().div_ceil(threads()).max(64);
    thread::scope(|scope| {
        let threads: Vec<_> = batch
            .chunks(share)
            .map(|share| scope.spawn(move || look_up_share(job, prober, share, go_on)))
            .collect();
        threads
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

fn look_up_share(
    job: &Job,
    prober: &Prober<'_>,
    share: &[(u64, Chess)],
    go_on: bool,
) -> Result<Found, Error> {
    let mut all = Found::default();
    let mut found = Lookup::default();
    let mut verdicts = Vec::new();
    for (key, position) in share {
        prober.probe(position, &mut found)?;
        if found.here.is_none() {
            continue;
        }
        all.held += 1;
        policy::weigh(&found.moves, &job.policy, |_| None, &mut verdicts);
        let before = all.rows.len();
        rows(job, *key, &found.moves, &verdicts, &mut all.rows);
        let any = all.rows.len() > before;
        all.positions += u64::from(any);
        all.silent += u64::from(!any && !found.moves.is_empty());
        if !go_on {
            continue;
        }
        if prober.book.as_ctg().is_some()
            && let Some(board) = NormalBoard::from_position(position)
        {
            use std::hash::BuildHasher as _;
            all.entries.push(FxBuildHasher.hash_one(board.key()));
        }
        for known in &found.moves {
            if known.child.is_some() {
                let mut child = position.clone();
                child.play_unchecked(known.mv);
                all.next.push((polyglot::key(&child), child));
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
            weight: Reverse(weight),
            mv: PackedMove::of(mv.mv),
        });
    }
}
