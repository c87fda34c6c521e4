//! Checks of the pages that look suspect: bounds, keys, moves, numbers, and whether readers
//! find the entries.

use shakmaty::fen::{Fen, LossyFenError};
use shakmaty::{CastlingMode, Chess, FromSetup as _, Position as _, PositionError};

use super::{Problem, ProblemKind, files::IndexFacts, numbers::check_numbers, suspects::Suspects};
use crate::ctg::{
    CanonicalBoard, Entry, EntryAddress, Error, Key, PageFault,
    error::file_offset,
    hash, moves,
    page::Page,
    pages::{PageFile, PageReader},
    reader::MoveSet,
    scan::ScanIndex,
    trie::is_of_slot,
};
use tabia_notation as notation;

/// What was found in some pages.
#[derive(Default)]
pub(super) struct BlockReport {
    /// Problems in the order of the file, each with the slot that causes it, if any.
    pub(super) problems: Vec<(Problem, Option<u32>)>,
    /// Pages that several slots refer to, and the slot they belong to.
    pub(super) rightful: Vec<(u32, u32)>,
}

/// Checks pages; may be used by several threads.
pub(super) struct BlockChecker<'b> {
    pub(super) book: &'b PageFile,
    pub(super) index: Option<&'b IndexFacts>,
    pub(super) scan: &'b ScanIndex,
    pub(super) suspects: &'b Suspects,
    /// Pages that cannot be read to their end, ascending.
    pub(super) damaged: &'b [u32],
}

impl BlockChecker<'_> {
    pub(super) fn check(&self, pages: &[u32]) -> Result<BlockReport, Error> {
        let mut report = BlockReport::default();
        let mut reader = self.book.positional_reader();
        let mut others = self.book.reader()?;
        for &number in pages {
            let bytes = reader.bytes(number)?;
            let mut page = PageChecker {
                checker: self,
                number,
                others: &mut others,
                report: &mut report,
                hashes: Vec::new(),
                bad_keys: 0,
            };
            match Page::new(bytes) {
                Ok(page_bytes) => page.check(&page_bytes)?,
                Err(fault) => page.add_fault(fault),
            }
        }
        Ok(report)
    }

    /// Whether a key that was not found may be in a page that cannot be read.
    fn may_be_damaged(&self, hash: u32) -> bool {
        if self.damaged.is_empty() {
            return false;
        }
        let is_damaged = |page: u32| self.damaged.binary_search(&page).is_ok();
        match self.index {
            Some(index) => index
                .slot_for(hash)
                .is_none_or(|(_, page)| u32::try_from(page).is_ok_and(is_damaged)),
            // Its correct page is unknown.
            None => true,
        }
    }

    /// The place of a key, by an index made from the pages.
    fn find(&self, reader: &mut PageReader<'_>, key: &Key) -> Result<Option<EntryAddress>, Error> {
        for page in self.scan.pages(key.hash()) {
            let found = match reader.page(page) {
                Ok(page) => page.find(key.as_bytes()),
                Err(Error::Page { .. }) => continue,
                Err(error) => return Err(error),
            };
            if let Ok(Some(offset)) = found {
                return Ok(Some(EntryAddress { page, offset }));
            }
        }
        Ok(None)
    }
}

/// Checks one page.
struct PageChecker<'c, 'b> {
    checker: &'c BlockChecker<'b>,
    number: u32,
    /// For look-ups in other pages.
    others: &'c mut PageReader<'b>,
    report: &'c mut BlockReport,
    /// Offset and hash of the entries with a sound key.
    hashes: Vec<(u16, u32)>,
    bad_keys: u32,
}

impl PageChecker<'_, '_> {
    fn add_problem(&mut self, offset: u64, kind: ProblemKind, text: String) {
        let problem = Problem {
            page: Some(self.number),
            ..Problem::new(self.checker.book.file().path(), offset, kind, text)
        };
        self.report.problems.push((problem, None));
    }

    fn add_fault(&mut self, fault: PageFault) {
        let kind = match fault {
            PageFault::CutOff { .. } | PageFault::Used { .. } => ProblemKind::PageBounds,
            _ => ProblemKind::EntryBounds,
        };
        let offset = file_offset(self.number, fault.offset());
        self.add_problem(offset, kind, fault.to_string());
    }

    fn check(&mut self, page: &Page<'_>) -> Result<(), Error> {
        let mut count = 0_u32;
        let mut whole = true;
        let mut suspects = self.checker.suspects.of_page(self.number);
        for entry in page.entries() {
            match entry {
                Ok((offset, entry)) => {
                    count += 1;
                    match suspects.next() {
                        Some(false) => self.hashes.push((offset, hash(entry.key_bytes()))),
                        _ => self.check_entry(page, offset, &entry)?,
                    }
                }
                Err(fault) => {
                    whole = false;
                    self.add_fault(fault);
                }
            }
        }
        if whole && u32::from(page.count()) != count {
            let text = format!(
                "the header of the page says {} entries, there are {count}",
                page.count()
            );
            self.add_problem(file_offset(self.number, 0), ProblemKind::EntryCount, text);
        }
        if let Some(index) = self.checker.index {
            self.check_slot(index, whole);
        }
        Ok(())
    }

    fn check_entry(
        &mut self,
        page: &Page<'_>,
        offset: u16,
        entry: &Entry<'_>,
    ) -> Result<(), Error> {
        let start = file_offset(self.number, offset);
        let key_bytes = entry.key_bytes().len();
        let statistics = start + (key_bytes + 1 + 2 * entry.moves().len()) as u64;
        check_numbers(&entry.record(), &mut |offset, kind, text| {
            self.add_problem(statistics + offset, kind, text);
        });
        let Some(key) = entry.key() else {
            return Ok(());
        };
        let position = match position_of(&key) {
            Ok(position) => position,
            Err((kind, text)) => {
                self.bad_keys += 1;
                self.add_problem(start, kind, text);
                return Ok(());
            }
        };
        self.hashes.push((offset, key.hash()));
        self.check_repeated(page, offset, &key)?;

        let Some(position) = position else {
            let text = format!("a position that cannot arise in a game: {}", shown(&key));
            self.add_problem(start, ProblemKind::Position, text);
            return Ok(());
        };
        let Ok(board) = CanonicalBoard::from_key(&key) else {
            return Ok(());
        };
        let legal = position.legal_moves();
        let mut known = MoveSet::default();
        for (n, (byte, _)) in entry.moves().enumerate() {
            let at = start + (key_bytes + 1 + 2 * n) as u64;
            let found = moves::find(byte, &board, &legal);
            let (index, mv) = match found.map(|index| (index, legal.get(index))) {
                Ok((index, Some(mv))) => (index, *mv),
                Ok((_, None)) => continue,
                Err(fault) => {
                    let kind = match fault {
                        moves::MoveFault::UnknownByte(_) => ProblemKind::UnknownMove,
                        _ => ProblemKind::IllegalMove,
                    };
                    self.add_problem(at, kind, fault.to_string());
                    continue;
                }
            };
            if !known.insert(index) {
                let text = moves::MoveFault::Repeated(byte).to_string();
                self.add_problem(at, ProblemKind::RepeatedMove, text);
                continue;
            }
            let after = notation::after(&position, mv);
            if !self.is_there(&after)? {
                let uci = notation::uci(mv);
                let text = format!(
                    "the book does not contain the position after {uci} of {}",
                    notation::fen(&position)
                );
                self.add_problem(at, ProblemKind::MissingChild, text);
            }
        }
        Ok(())
    }

    /// Whether the book has a position, as far as damage allows an answer.
    fn is_there(&mut self, position: &Chess) -> Result<bool, Error> {
        let Some(board) = CanonicalBoard::from_position(position) else {
            return Ok(true);
        };
        let key = board.key();
        for key in [Some(key), board.other_key()].into_iter().flatten() {
            if self.checker.find(self.others, &key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(self.checker.may_be_damaged(key.hash()))
    }

    fn check_repeated(&mut self, page: &Page<'_>, offset: u16, key: &Key) -> Result<(), Error> {
        let checker = self.checker;
        let here = EntryAddress {
            page: self.number,
            offset,
        };
        let first_here = page.find(key.as_bytes()).ok().flatten();
        let mut first = first_here.map_or(here, |offset| EntryAddress { offset, ..here });
        for number in checker.scan.pages(key.hash()) {
            if number < first.page
                && let Ok(other) = self.others.page(number)
                && let Ok(Some(offset)) = other.find(key.as_bytes())
            {
                first = EntryAddress {
                    page: number,
                    offset,
                };
            }
        }
        if first != here {
            let text = format!(
                "{} is in page {} (file byte {}) too",
                shown(key),
                first.page,
                first.file_offset()
            );
            self.add_problem(here.file_offset(), ProblemKind::Duplicate, text);
        }
        Ok(())
    }

    /// Checks that a slot leads to the page, and that it is the slot of its entries.
    /// `whole` means that all entries could be read.
    fn check_slot(&mut self, index: &IndexFacts, whole: bool) {
        let number = self.number;
        let fitting = |slot: u32| {
            let of_slot = |(_, hash): &&(u16, u32)| is_of_slot(slot, *hash);
            self.hashes.iter().filter(of_slot).count()
        };
        let mut slots = index.slots_of(number);
        let named = slots.next();
        let several = named.is_some() && slots.next().is_some();
        let right = index
            .slots_of(number)
            .map(|slot| (fitting(slot), slot))
            .filter(|(count, _)| *count > 0)
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        if self.hashes.is_empty() {
            // Damaged pages and keys are reported already.
            if named.is_none() && whole && self.bad_keys == 0 {
                let text = "no slot leads to this page".to_owned();
                let offset = file_offset(number, 0);
                self.add_problem(offset, ProblemKind::UnreferencedPage, text);
            }
            return;
        }
        if let (Some((_, slot)), true) = (right, several) {
            self.report.rightful.push((number, slot));
        }
        let owner = |hash| index.slot_for(hash);
        let first_owner = self.hashes.first().and_then(|&(_, hash)| owner(hash));
        let one_owner = self
            .hashes
            .iter()
            .all(|&(_, hash)| owner(hash) == first_owner);
        match right {
            Some((count, _)) if count == self.hashes.len() => {}
            None if one_owner => match first_owner {
                Some((slot, page)) => {
                    let text = format!(
                        "slot {slot} has page {page}, but its positions are in page {number}"
                    );
                    let problem = index.problem(slot, ProblemKind::SlotPage, text);
                    self.report.problems.push((problem, Some(slot)));
                }
                None => {
                    let text = format!(
                        "no slot leads to this page, its {} positions cannot be found",
                        self.hashes.len()
                    );
                    let offset = file_offset(number, 0);
                    self.add_problem(offset, ProblemKind::UnreferencedPage, text);
                }
            },
            _ => {
                for (offset, hash) in std::mem::take(&mut self.hashes) {
                    if right.is_some_and(|(_, slot)| is_of_slot(slot, hash)) {
                        continue;
                    }
                    let text = match owner(hash) {
                        Some((slot, page)) => format!(
                            "readers look for this position in page {page} (slot {slot}), not here"
                        ),
                        None => "no slot leads to this position".to_owned(),
                    };
                    self.add_problem(file_offset(number, offset), ProblemKind::WrongPage, text);
                }
            }
        }
    }
}

/// A key for messages: its board, or else its bytes.
fn shown(key: &Key) -> String {
    match CanonicalBoard::from_key(key) {
        Ok(board) => {
            let fen = Fen::try_from_setup(board.to_setup());
            notation::fen_text(&fen.unwrap_or_else(LossyFenError::ignore))
        }
        Err(_) => format!("key {key}"),
    }
}

/// The position of a key; `None` if it is illegal.
fn position_of(key: &Key) -> Result<Option<Chess>, (ProblemKind, String)> {
    let fault = |text: String| (ProblemKind::Key, format!("key {key}: {text}"));
    let board = CanonicalBoard::from_key(key).map_err(|error| fault(error.to_string()))?;
    let again = board.key();
    if again != *key {
        return Err(fault(format!("its position encodes to {again}")));
    }
    let position = Chess::from_setup(board.to_setup(), CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_invalid_ep_square);
    let Ok(position) = position else {
        return Ok(None);
    };
    match CanonicalBoard::from_position(&position) {
        Some(normal) if normal.key() == *key || normal.other_key() == Some(*key) => {
            Ok(Some(position))
        }
        Some(normal) => Err(fault(format!(
            "readers look for its position under {}",
            normal.key()
        ))),
        None => Ok(None),
    }
}
