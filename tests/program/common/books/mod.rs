//! A small writer of CTG books for tests and benchmarks: makes three files from
//! positions, in memory.

// Each test program uses only a part of this module.
#![allow(dead_code, unused_imports, unreachable_pub, clippy::unwrap_used)]

mod files;
mod folder;
pub mod played;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use shakmaty::{CastlingMode, Chess, FromSetup, Move, Position, Setup, fen::Fen};
use tabia_book::{
    Annotation, PositionRecord, Stats,
    ctg::{CanonicalBoard, Key, encode_entry, encode_move_byte},
};
use tabia_notation::Line;

pub use files::{
    SIMPLE, SMALL, STARTER, assert_sound, contents, copy, files, in_order, look_up, lookup, open,
    project,
};
pub use folder::{Folder, names};

pub type Moves = Vec<(u8, Annotation)>;

/// Positions with their moves and statistics, one for each key.
#[derive(Clone, Debug, Default)]
pub struct TestBook {
    pub entries: BTreeMap<Key, (Moves, PositionRecord)>,
    /// Bytes a page may use; a small number makes a deep index. 0 is 4096.
    pub page_limit: usize,
    /// Whether entries are put into pages without regard to their hashes.
    pub shuffled: bool,
    /// The number of games in the header.
    pub games: u32,
    /// Whether zeros follow the used part of a page instead of old bytes.
    pub clean: bool,
}

impl TestBook {
    pub fn add(&mut self, position: &Chess, moves: &[Move], record: PositionRecord) {
        let board = CanonicalBoard::from_position(position).unwrap();
        let moves = moves
            .iter()
            .map(|&m| (encode_move_byte(&board, m).unwrap(), Annotation::default()))
            .collect();
        self.entries.insert(board.key(), (moves, record));
    }

    pub fn add_key(&mut self, key: Key, moves: Moves, record: PositionRecord) {
        self.entries.insert(key, (moves, record));
    }

    /// Every entry as the bytes stored in a book.
    pub fn contents(&self) -> BTreeMap<Key, Vec<u8>> {
        let entries = self.entries.iter().map(|(key, (moves, record))| {
            let mut bytes = Vec::new();
            encode_entry(key, moves, record, &mut bytes);
            (*key, bytes)
        });
        entries.collect()
    }

    /// Writes `name.ctg`, `.cto` and `.ctb` and returns the path of the first.
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let limit = match self.page_limit {
            0 => 4096,
            limit => limit,
        };
        let mut trie = Trie {
            limit,
            split: Vec::new(),
            live: BTreeMap::new(),
        };
        let all = self.contents().into_iter();
        let all: Vec<_> = all.map(|(key, bytes)| (key.hash(), bytes)).collect();
        let entries = all.len() as u32;
        trie.place(0, 0, all);
        trie.split.sort_unstable();

        let mut pages: Vec<Vec<u8>> = Vec::new();
        let slots = *trie.live.keys().last().unwrap() + 1;
        let mut cto = vec![-1_i32; slots];
        for (slot, entries) in &trie.live {
            cto[*slot] = pages.len() as i32;
            pages.push(page(entries, self.clean));
        }
        if self.shuffled {
            let mut all: Vec<_> = trie.live.into_values().flatten().collect();
            all.sort();
            pages = all
                .chunks(20)
                .map(|entries| page(entries, self.clean))
                .collect();
        }
        let lower = cto.iter().position(|&page| page >= 0).unwrap() as u32 / 8 * 8;
        let upper = trie
            .split
            .last()
            .map_or(0, |slot| (slot + 1).div_ceil(8) * 8);

        let path = folder.join(name).with_extension("ctg");
        let mut bytes = ctg(&pages, entries);
        bytes[28..32].copy_from_slice(&self.games.to_be_bytes());
        // Constants of unknown meaning, as genuine books have them.
        let words = [1, 5, 1, 0x7fff, 3, 0x7fff, 5, 30, 6, 2, 7, 1_u16];
        for (at, word) in words.iter().enumerate() {
            bytes[0x400 + 2 * at..][..2].copy_from_slice(&word.to_be_bytes());
        }
        bytes[0x800..0x808].copy_from_slice(&[0, 0, 0, 12, 0, 0, 1, 0]);
        fs::write(&path, bytes).unwrap();
        let mut bytes = vec![0, 16, 0, 1];
        bytes.extend((slots as u32).to_be_bytes());
        bytes.extend(0_u32.to_be_bytes());
        bytes.extend(lower.to_be_bytes());
        cto.iter().for_each(|page| bytes.extend(page.to_be_bytes()));
        fs::write(path.with_extension("cto"), bytes).unwrap();
        let mut bytes = vec![0, 12, 0, 1];
        bytes.extend(lower.to_be_bytes());
        bytes.extend((upper as u32).to_be_bytes());
        let mut map = vec![0_u8; upper / 8];
        for slot in trie.split {
            map[slot / 8] |= 1 << (slot % 8);
        }
        bytes.extend(map);
        fs::write(path.with_extension("ctb"), bytes).unwrap();
        path
    }
}

struct Trie {
    limit: usize,
    split: Vec<usize>,
    live: BTreeMap<usize, Vec<(u32, Vec<u8>)>>,
}

impl Trie {
    fn place(&mut self, slot: usize, level: u32, entries: Vec<(u32, Vec<u8>)>) {
        let bytes: usize = entries.iter().map(|(_, bytes)| bytes.len()).sum();
        if bytes + 4 <= self.limit || entries.len() == 1 {
            self.live.insert(slot, entries);
            return;
        }
        self.split.push(slot);
        let (ones, zeros) = entries
            .into_iter()
            .partition(|(hash, _)| hash >> level & 1 != 0);
        self.place(slot + (1 << level), level + 1, zeros);
        self.place(slot + (2 << level), level + 1, ones);
    }
}

fn page<E: AsRef<[(u32, Vec<u8>)]> + ?Sized>(entries: &E, clean: bool) -> Vec<u8> {
    let entries = entries.as_ref();
    let body: Vec<u8> = entries
        .iter()
        .flat_map(|(_, bytes)| bytes.clone())
        .collect();
    let mut page = (entries.len() as u16).to_be_bytes().to_vec();
    page.extend((body.len() as u16 + 4).to_be_bytes());
    page.extend(body);
    // Old bytes after the used part, as in genuine books.
    page.resize(4096, if clean { 0 } else { 0x16 });
    page
}

/// The header page and the data pages.
pub fn ctg(pages: &[Vec<u8>], positions: u32) -> Vec<u8> {
    let mut bytes = vec![0, 0x20, 0x10, 0, 0, 1, 0, 1, 0, 0, 0x10, 0];
    bytes.extend([0x7f, 0xff, 0x7f, 0xff]);
    bytes.extend((pages.len() as u32).to_be_bytes());
    bytes.extend(u32::MAX.to_be_bytes());
    bytes.extend(positions.to_be_bytes());
    bytes.extend(7_u32.to_be_bytes());
    bytes.resize(4096, 0);
    pages.iter().for_each(|page| bytes.extend(page));
    bytes
}

pub fn position(fen: &str) -> Chess {
    let fen: Fen = fen.parse().unwrap();
    fen.into_position(CastlingMode::Standard).unwrap()
}

/// The position after moves from the start.
pub fn after(moves: &str) -> Chess {
    Line::read("", moves).unwrap().last().clone()
}

pub fn uci(position: &Chess, text: &str) -> Move {
    let uci: shakmaty::uci::UciMove = text.parse().unwrap();
    uci.to_move(position).unwrap()
}

/// A record that differs from all others.
pub fn record(n: u32) -> PositionRecord {
    PositionRecord {
        stats: Stats {
            games: n + 10,
            wins: n,
            draws: 3,
            losses: 5,
            own_rated: 2,
            own_rating_sum: 4000 + u64::from(n),
            other_rated: 1,
            other_rating_sum: 2000 + u64::from(n),
        },
        points: 10 * n + 15,
        ..PositionRecord::default()
    }
}

/// The positions of a line in which `choices` select the legal moves.
pub fn wander(choices: impl IntoIterator<Item = u16>) -> Vec<Chess> {
    let mut path = vec![Chess::default()];
    for choice in choices {
        let mut position = path.last().unwrap().clone();
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[usize::from(choice) % moves.len()]);
        path.push(position);
    }
    path
}

/// Pseudo-random numbers, the same every time.
pub fn choices(seed: u64) -> impl Iterator<Item = u16> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 40) as u16)
    })
}

/// A book of `games` random games of `plies` plies. Every second move within the book is
/// stored; positions have different statistics.
pub fn random_book(games: u64, plies: usize) -> (TestBook, Vec<Chess>) {
    let mut book = TestBook::default();
    let mut all = Vec::new();
    for seed in 1..=games {
        for position in wander(choices(seed).take(plies)) {
            let board = CanonicalBoard::from_position(&position).unwrap();
            if !book.entries.contains_key(&board.key()) {
                let n = book.entries.len() as u32;
                book.add_key(board.key(), Vec::new(), record(n));
                all.push(position);
            }
        }
    }
    for position in &all {
        let board = CanonicalBoard::from_position(position).unwrap();
        let mut moves = Vec::new();
        for (n, m) in position.legal_moves().into_iter().enumerate() {
            let child = tabia_notation::after(position, m);
            let key = CanonicalBoard::from_position(&child).unwrap().key();
            if n % 2 == 0
                && book.entries.contains_key(&key)
                && let Some(byte) = encode_move_byte(&board, m)
            {
                moves.push((byte, Annotation(n as u8 % 7)));
            }
        }
        book.entries.get_mut(&board.key()).unwrap().0 = moves;
    }
    (book, all)
}

/// The position with colours exchanged.
pub fn colours_exchanged(position: &Chess) -> Chess {
    let setup = position.to_setup(shakmaty::EnPassantMode::Always);
    Chess::from_setup(setup.into_mirrored(), CastlingMode::Standard).unwrap()
}

/// The position mirrored from left to right; `None` with castling rights.
pub fn wings_exchanged(position: &Chess) -> Option<Chess> {
    let mut setup: Setup = position.to_setup(shakmaty::EnPassantMode::Always);
    if setup.castling_rights.any() {
        return None;
    }
    setup.board.flip_horizontal();
    setup.ep_square = setup.ep_square.map(shakmaty::Square::flip_horizontal);
    Some(Chess::from_setup(setup, CastlingMode::Standard).unwrap())
}

/// Some books with many common positions.
pub fn family(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for n in 0..4_u32 {
        let (mut book, _) = random_book(4 + 6 * u64::from(n), 40);
        book.games = 10 + n;
        book.shuffled = n == 2;
        book.page_limit = 600;
        for (m, (moves, record)) in book.entries.values_mut().enumerate() {
            record.stats.games += n * 7;
            record.learn_value = (m as u32 * 31 + n * 17) as i8;
            record.commentary = (m as u32 % 20 * n) as u8;
            let turn = n as usize % 3 % moves.len().max(1);
            moves.rotate_left(turn);
        }
        paths.push(book.write(folder, &format!("book{n}")));
    }
    // The shuffled one has no index.
    fs::remove_file(paths[2].with_extension("cto")).unwrap();
    paths
}
