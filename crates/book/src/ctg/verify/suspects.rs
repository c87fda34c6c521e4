//! The fast look: which pages and entries must be looked at closely.
//!
//! One parallel pass decodes every key once. From the words of the board it knows whether the
//! position and its moves are legal ([`CanonicalBoard::is_surely_legal`],
//! [`CanonicalBoard::after`]), and has hashes of 64 bits of the position and of those after
//! its moves. Then a set of the hashes tells whether a position comes twice, and which of the
//! positions after moves are missing. (To look up the positions after moves, `verify` took 4.8
//! times as long as building the book.) Nearly always nothing is; what may be wrong is a
//! suspect, for [`BlockChecker`](super::entries::BlockChecker) to judge and to name.

use std::collections::HashSet;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use super::files::IndexFacts;
use super::numbers::check_numbers;
use super::{BLOCK, blocks};
use crate::ctg::{
    CanonicalBoard, Entry, Error, Key,
    graph::{ahead::hash, make::Rules},
    moves,
    page::{PAGE_BYTES, Page},
    pages::PageFile,
    step::Step,
    trie::is_of_slot,
};
use tabia_io::parallel::in_order;
use tabia_io::progress::{Progress, Watch};

/// What the fast look finds.
#[derive(Default)]
pub(super) struct Suspects {
    /// Pages to look at, ascending.
    pub(super) pages: Vec<u32>,
    /// For each page the number of entries in the pages before it.
    before_page: Vec<u64>,
    /// For each entry whether to look at it.
    entries: Vec<bool>,
    pub(super) positions: u64,
    pub(super) moves: u64,
    pub(super) stale_pages: u64,
    pub(super) without_points: u64,
}

impl Suspects {
    /// Looks at all pages.
    pub(super) fn find(
        book: &PageFile,
        index: Option<&IndexFacts>,
        watch: &mut Watch<'_>,
    ) -> Result<Suspects, Error> {
        let mut all = Suspects::default();
        let pages = book.page_count();
        // The header may say anything; an entry takes more than 35 bytes.
        let most = u64::from(pages) * (PAGE_BYTES as u64 / 36);
        let expected = u64::from(book.header().positions).min(most);
        let mut known: HashSet<u64, FxBuildHasher> =
            HashSet::with_capacity_and_hasher(expected as usize, FxBuildHasher);
        // The hashes of the positions after moves, and their number by entry.
        let (mut after, mut counts) = (Vec::new(), Vec::new());
        let mut suspect_pages = Vec::new();
        in_order(
            blocks(pages),
            |block| {
                Look::at(
                    book,
                    index,
                    block * BLOCK..(block + 1).saturating_mul(BLOCK).min(pages),
                )
            },
            |look: Look| {
                let done = all.before_page.len() as u64;
                watch.step(Progress::new(
                    "verifying",
                    "pages",
                    done,
                    Some(pages.into()),
                ))?;
                for (entries, is_suspect) in look.pages {
                    all.before_page.push(all.positions);
                    all.positions += u64::from(entries);
                    suspect_pages.push(is_suspect);
                }
                let entries = look.hashes.iter().zip(look.suspects);
                all.entries.extend(entries.map(|(hash, is_suspect)| {
                    let is_new = hash.is_none_or(|hash| known.insert(hash));
                    is_suspect || !is_new
                }));
                after.extend(look.after);
                counts.extend(look.counts);
                all.moves += look.moves;
                all.stale_pages += look.stale_pages;
                all.without_points += look.without_points;
                Ok::<_, Error>(())
            },
        )?;
        let mut after = after.iter();
        for (count, is_suspect) in counts.into_iter().zip(&mut all.entries) {
            for hash in after.by_ref().take(usize::from(count)) {
                *is_suspect |= !known.contains(hash);
            }
        }
        let numbered = (0..).zip(suspect_pages);
        let of_page = |page| all.entries.get(all.entries_of(page)).unwrap_or_default();
        let suspect =
            numbered.filter(|(page, is_suspect)| *is_suspect || of_page(*page).contains(&true));
        all.pages = suspect.map(|(page, _)| page).collect();
        Ok(all)
    }

    /// The numbers of the entries of a page.
    fn entries_of(&self, page: u32) -> Range<usize> {
        let at = |page: usize| {
            self.before_page
                .get(page)
                .copied()
                .unwrap_or(self.positions)
        };
        at(page as usize) as usize..at(page as usize + 1) as usize
    }

    /// For each entry of a page whether to look at it.
    pub(super) fn of_page(&self, page: u32) -> impl Iterator<Item = bool> {
        let entries = self.entries.get(self.entries_of(page));
        entries.unwrap_or_default().iter().copied()
    }
}

/// What the fast look finds in some pages.
#[derive(Default)]
struct Look {
    /// Number of entries, and whether something is wrong with the page.
    pages: Vec<(u32, bool)>,
    suspects: Vec<bool>,
    /// By entry; `None` if no reader looks for its key.
    hashes: Vec<Option<u64>>,
    after: Vec<u64>,
    counts: Vec<u8>,
    moves: u64,
    stale_pages: u64,
    without_points: u64,
}

impl Look {
    fn at(book: &PageFile, index: Option<&IndexFacts>, pages: Range<u32>) -> Result<Look, Error> {
        let mut look = Look::default();
        let mut reader = book.walker();
        for number in pages {
            let bytes = reader.bytes(number)?;
            let Ok(page) = Page::new(bytes) else {
                look.pages.push((0, true));
                continue;
            };
            let mut slots = index.into_iter().flat_map(|index| index.slots_of(number));
            let slot = match (index, slots.next(), slots.next()) {
                (None, ..) => Some(None),
                (Some(_), Some(slot), None) => Some(Some(slot)),
                (Some(_), ..) => None,
            };
            let (mut count, mut is_suspect) = (0, slot.is_none());
            for entry in page.entries() {
                match entry {
                    Ok((_, entry)) => {
                        count += 1;
                        let is_of_page = look.enter(&entry, slot.flatten());
                        is_suspect |= !is_of_page;
                    }
                    Err(_) => is_suspect = true,
                }
            }
            is_suspect |= count == 0 || u32::from(page.count()) != count;
            look.pages.push((count, is_suspect));
            let rest = bytes.get(page.used()..).unwrap_or_default();
            look.stale_pages += u64::from(rest.iter().any(|&byte| byte != 0));
        }
        Ok(look)
    }

    /// Looks at an entry. Whether it belongs to the slot.
    fn enter(&mut self, entry: &Entry<'_>, slot: Option<u32>) -> bool {
        self.moves += entry.moves().len() as u64;
        let mut is_sound = true;
        let record = entry.record();
        self.without_points += u64::from(check_numbers(&record, &mut |_, _, _| is_sound = false));
        let first = self.after.len();
        let key = entry.key();
        let board = key.and_then(|key| Some((key, CanonicalBoard::from_key(&key).ok()?)));
        let board = board.filter(|(key, board)| board.key() == *key);
        self.hashes
            .push(board.map(|(_, board)| hash(&board, board.en_passant())));
        is_sound &=
            board.is_some_and(|(key, board)| self.enter_moves(entry, key, &board).is_some());
        self.suspects.push(!is_sound);
        self.counts.push((self.after.len() - first) as u8);
        let is_of_slot = |slot| key.is_some_and(|key| is_of_slot(slot, key.hash()));
        slot.is_none_or(is_of_slot)
    }

    /// Enters the positions after the moves; `None` if the position or a move is suspect.
    fn enter_moves(&mut self, entry: &Entry<'_>, key: Key, board: &CanonicalBoard) -> Option<()> {
        let is_plain = board.is_surely_legal() && (board.own | board.other).count_ones() <= 32;
        let mut rules = Rules::new(key);
        if !is_plain && !rules.is_normal() {
            return None;
        }
        for (n, (byte, _)) in entry.moves().enumerate() {
            if entry
                .moves()
                .take(n)
                .any(|(known, _)| moves::are_equal(known, byte))
            {
                return None;
            }
            let step = match is_plain {
                true => board.after(byte),
                false => Step::Unclear,
            };
            match step {
                Step::Illegal => return None,
                Step::To(after) => self.after.push(hash(&after, None)),
                Step::Unclear => {
                    let (_, after) = rules.after(byte)?;
                    self.after.push(hash(&after, after.en_passant()));
                }
            }
        }
        Some(())
    }
}
