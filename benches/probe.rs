//! How long a warm probe takes, with all children and transpositions.
//!
//! `cargo bench --bench probe`. The book is synthetic: random games with some fifty
//! thousand positions, so that it is mapped and its pages are as full as in a real one.
//! The answer of each probe is checked against the first. `-- --save-baseline NAME` saves
//! the figures, `-- --baseline NAME` shows the ratio to saved ones.

// A failed step makes the figures worthless; they are for users.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "baseline/mod.rs"]
mod baseline;
#[path = "../tests/program/common/mod.rs"]
mod common;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use shakmaty::{Chess, Position};
use tabia_book::{
    Lookup, Probe, Wanted,
    bin::BinBook,
    ctg::{CanonicalBoard, CtgBook, OpenOptions},
};

const BATCHES: usize = 101;
const PROBES: u32 = 200;

fn main() {
    let mut baseline = baseline::Baseline::of("probe").unwrap();
    let mut tell = |name: &str, time: Duration| {
        let ratio = baseline.ratio(name, time.as_secs_f64());
        println!("{name}: {time:?}{ratio}");
    };
    let folder = tempfile::tempdir().unwrap();
    // Full pages, and enough of them to be mapped.
    let (book, positions) = common::random_book(800, 70);
    let path = book.write(folder.path(), "bench");
    let size = path.metadata().unwrap().len();
    assert!(size > tabia_io::input::file::IN_MEMORY_LIMIT);
    println!("{} positions, {size} bytes", positions.len());

    let start = Chess::default();
    let rich = positions
        .iter()
        .filter(|position| position.legal_moves().len() >= 30)
        .max_by_key(|position| {
            let board = CanonicalBoard::from_position(position).unwrap();
            book.entries[&board.key()].0.len()
        })
        .unwrap();
    let cases = [("start position", &start), ("middle game", rich)];
    for (name, options) in [
        ("mapped", OpenOptions::default()),
        ("positional reads", OpenOptions::default().mmap(false)),
    ] {
        let open = CtgBook::open(&path, &options).unwrap();
        assert!(open.notices().is_empty());
        for (case, position) in cases {
            let moves = position.legal_moves().len();
            let mut first = Lookup::default();
            open.probe(position, Wanted::Transpositions, &mut first)
                .unwrap();
            let mut found = Lookup::default();
            let time = median(|| {
                open.probe(black_box(position), Wanted::Transpositions, &mut found)
                    .unwrap();
            });
            assert_eq!(found, first);
            let found = first.moves.len();
            let name = format!("{name}: {case}, {moves} legal moves, {found} found, a probe");
            tell(&name, time);
        }
    }
    let polyglot = folder.path().join("bench.bin");
    let job = tabia_book::convert::ConvertJob::new(path.clone(), polyglot.clone()).all_forms(true);
    tabia_book::convert::run(&job, &mut tabia_io::progress::Watch::default()).unwrap();
    let open = BinBook::open(&polyglot, &OpenOptions::default()).unwrap();
    for (case, position) in cases {
        let mut found = Lookup::default();
        let time = median(|| {
            open.probe(black_box(position), Wanted::Transpositions, &mut found)
                .unwrap();
        });
        let (entries, found) = (open.len(), found.moves.len());
        let name = format!("Polyglot, {entries} entries: {case}, {found} found, a probe");
        tell(&name, time);
    }
    let time = median(|| {
        let board = CanonicalBoard::from_position(black_box(rich)).unwrap();
        black_box(board.key().hash());
    });
    tell("key and hash of one position", time);
    let open = CtgBook::open(&path, &OpenOptions::default()).unwrap();
    let time = median(|| {
        black_box(open.contains(black_box(rich)).unwrap());
    });
    let name = "one look-up, the question for the files' lengths included";
    tell(name, time);
    let legal = rich.legal_moves();
    let time = median(|| {
        for &m in &legal {
            let mut child = black_box(rich).clone();
            child.play_unchecked(m);
            black_box(&child);
        }
    });
    tell(&format!("playing all {} moves", legal.len()), time);
    let time = median(|| {
        black_box(black_box(rich).legal_moves());
    });
    tell("legal moves of one position", time);
    baseline.keep().unwrap();
}

/// The median time of one call over many batches of calls.
fn median(mut call: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            (0..PROBES).for_each(|_| call());
            start.elapsed() / PROBES
        })
        .collect();
    times.sort_unstable();
    times[BATCHES / 2]
}
