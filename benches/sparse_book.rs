//! Writes a huge book as a sparse file, for measurements of scale:
//!
//! ```text
//! cargo bench --bench sparse_book -- 1000000000 huge.ctg
//! ```
//!
//! Header, page directory and search tree are those of a book with this number of
//! positions, and every page of [`LINES`] is full; all others are holes in the file,
//! which use no disk space. So looking up those positions, or positions one move later,
//! costs the same as in a real book. `tabia verify` finds the holes.
//!
//! Prints the time of a warm probe with all children and transpositions: microseconds
//! with the book mapped, and with it read by system calls.

#![allow(clippy::print_stdout)] // The figures are for users and scripts.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};
use tabia_book::ctg::{
    BookWriter, CTB_HEADER_BYTES, CTO_HEADER_BYTES, CanonicalBoard, CtgBook, Key, OpenOptions,
    PAGE_BYTES, PAGE_HEADER_BYTES, WriteOptions, encode_entry, encode_move_byte, hash,
};
use tabia_book::{Annotation, Lookup, PositionRecord, Probe, Stats, Wanted};

/// Lines whose positions can be looked up, with two more plies.
const LINES: [&str; 4] = [
    "e2e4 e7e5",
    "d2d4 d7d5 c2c4",
    "a2a3 a7a6 b2b3",
    "g1f3 d7d5 g2g3",
];

/// Number of positions of a full page.
const ON_A_PAGE: u64 = 56;

/// Number of pages that are read when a book is opened.
const SPREAD: u64 = 8;

/// Number of stored moves of a position.
const MOVES: usize = 4;

const ROUNDS: usize = 201;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let usage = "usage: sparse_book POSITIONS BOOK.ctg";
    let positions: u32 = args.next().ok_or(usage)?.to_string_lossy().parse()?;
    let target = PathBuf::from(args.next().ok_or(usage)?);
    // One page for each slot of the deepest level.
    let pages = (u64::from(positions) / ON_A_PAGE).max(2);
    let level = pages.ilog2();
    let probed = probed()?;
    write_pages(&target, positions, level, &probed)?;
    write_index(&target, level)?;
    let (mapped, read) = (probe(&target, true)?, probe(&target, false)?);
    println!(
        "{positions} positions, {} pages: {mapped:.2} {read:.2}",
        1_u64 << level
    );
    Ok(())
}

/// The positions of the lines, with those before their last moves.
fn lines() -> Result<Vec<Chess>, Box<dyn Error>> {
    let mut positions = vec![Chess::default()];
    for line in LINES {
        let mut position = Chess::default();
        for word in line.split(' ') {
            let m = word.parse::<UciMove>()?.to_move(&position)?;
            position.play_unchecked(m);
            positions.push(position.clone());
        }
    }
    Ok(positions)
}

/// The entry of each position that can be looked up.
fn probed() -> Result<BTreeMap<Key, Vec<u8>>, Box<dyn Error>> {
    let mut entries = BTreeMap::new();
    let mut layer = lines()?;
    for _ in 0..3 {
        let mut next = Vec::new();
        for position in layer {
            let board = CanonicalBoard::from_position(&position).ok_or("Chess960")?;
            let legal = position.legal_moves();
            let bytes = legal.iter().filter_map(|m| encode_move_byte(&board, *m));
            let moves: Vec<_> = bytes
                .take(MOVES)
                .map(|byte| (byte, Annotation(0)))
                .collect();
            let record = PositionRecord {
                stats: Stats {
                    games: 30,
                    wins: 10,
                    draws: 10,
                    losses: 10,
                    ..Stats::default()
                },
                points: 150,
                ..PositionRecord::default()
            };
            let mut entry = Vec::new();
            encode_entry(&board.key(), &moves, &record, &mut entry);
            entries.insert(board.key(), entry);
            next.extend(legal.into_iter().map(|m| {
                let mut after = position.clone();
                after.play_unchecked(m);
                after
            }));
        }
        layer = next;
    }
    Ok(entries)
}

fn write_pages(
    target: &Path,
    positions: u32,
    level: u32,
    probed: &BTreeMap<Key, Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
    let mut by_page: BTreeMap<u64, Vec<&Vec<u8>>> = BTreeMap::new();
    for (key, entry) in probed {
        let page = u64::from(hash(key.as_bytes())) & ((1 << level) - 1);
        by_page.entry(page).or_default().push(entry);
    }
    // Opening a book checks that the index leads to the first keys of some pages, spread
    // over the book: these hold nothing else, so most are empty.
    let last = (1 << level) - 1;
    let spread: Vec<u64> = (0..SPREAD).map(|n| n * last / (SPREAD - 1)).collect();
    for page in &spread {
        by_page.entry(*page).or_default();
    }
    // The header of a small book, with other numbers.
    BookWriter::create(target, WriteOptions::default())?.finish(0)?;
    let mut header = vec![0; PAGE_BYTES];
    File::open(target)?.read_exact(&mut header)?;
    header[16..20].copy_from_slice(&(1_u32 << level).to_be_bytes());
    header[24..28].copy_from_slice(&positions.to_be_bytes());
    let mut file = File::create(target)?;
    file.write_all(&header)?;
    file.set_len(((1 << level) + 1) * PAGE_BYTES as u64)?;
    for (page, entries) in by_page {
        let mut room = PAGE_BYTES - PAGE_HEADER_BYTES;
        room -= entries.iter().map(|entry| entry.len()).sum::<usize>();
        let mut others = probed.values().cycle().skip(page as usize % probed.len());
        let mut full = Vec::new();
        while !spread.contains(&page)
            && let Some(other) = others.find(|other| !entries.contains(other))
            && other.len() <= room
        {
            full.push(other);
            room -= other.len();
        }
        // The key is after half of the others.
        let middle = full.len() / 2;
        let count = full.len() + entries.len();
        full.splice(middle..middle, entries);
        let bytes: Vec<u8> = full.into_iter().flatten().copied().collect();
        file.seek(SeekFrom::Start((page + 1) * PAGE_BYTES as u64))?;
        file.write_all(&(count as u16).to_be_bytes())?;
        file.write_all(&((bytes.len() + PAGE_HEADER_BYTES) as u16).to_be_bytes())?;
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// Every slot above the deepest level is split, and each slot there has a page.
fn write_index(target: &Path, level: u32) -> Result<(), Box<dyn Error>> {
    let split = (1_u32 << level) - 1;
    let upper = split.next_multiple_of(8);
    let mut cto = BufWriter::new(File::create(target.with_extension("cto"))?);
    cto.write_all(&[0, CTO_HEADER_BYTES as u8, 0, 1])?;
    cto.write_all(&(2 * split + 1).to_be_bytes())?;
    cto.write_all(&[0; 4])?;
    cto.write_all(&split.to_be_bytes())?;
    for _ in 0..split {
        cto.write_all(&[0xff; 4])?;
    }
    for page in 0..=split {
        cto.write_all(&page.to_be_bytes())?;
    }
    cto.flush()?;
    let mut ctb = BufWriter::new(File::create(target.with_extension("ctb"))?);
    ctb.write_all(&[0, CTB_HEADER_BYTES as u8, 0, 1])?;
    ctb.write_all(&split.to_be_bytes())?;
    ctb.write_all(&upper.to_be_bytes())?;
    for byte in 0..upper / 8 {
        let splits = (split - 8 * byte).min(8);
        ctb.write_all(&[(0xff_u16 >> (8 - splits)) as u8])?;
    }
    Ok(ctb.flush()?)
}

/// Microseconds of a probe, the median of some rounds over all lines.
fn probe(target: &Path, mmap: bool) -> Result<f64, Box<dyn Error>> {
    let book = CtgBook::open(target, &OpenOptions::default().mmap(mmap))?;
    let lines = lines()?;
    let mut found = Lookup::default();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for position in &lines {
            book.probe(black_box(position), Wanted::Transpositions, &mut found)?;
            // All children exist, so that nothing else is measured.
            if found.moves.len() != position.legal_moves().len() {
                return Err(format!("{} moves found", found.moves.len()).into());
            }
        }
        rounds.push(start.elapsed().as_secs_f64() * 1e6 / lines.len() as f64);
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[ROUNDS / 2])
}
