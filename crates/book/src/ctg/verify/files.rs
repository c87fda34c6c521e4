//! Checks of the header page and the two index files.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Problem, ProblemKind};
use crate::ctg::{
    CTB_HEADER_BYTES, CTO_HEADER_BYTES, Error, PAGE_BYTES, Splits,
    index::SlotFile,
    pages::PageFile,
    trie::{level_of, upwards},
};
use tabia_io::input::{
    bytes::{be_u16_at, be_u32_at},
    file::DataFile,
    sibling::sibling,
};

/// Receives a problem.
pub(super) type Report<'a> = &'a mut dyn FnMut(Problem);

/// Compares the header page with that of all genuine books, and with the length of the
/// file.
pub(super) fn check_header(
    book: &PageFile,
    report: Report<'_>,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let file = book.file().path();
    let page = Error::start_of(book.file(), PAGE_BYTES)?;
    let mut problem = |offset, kind, text| report(Problem::new(file, offset, kind, text));
    for (at, expected) in [
        (4, 0x0001_0001),
        (8, 0x1000),
        (12, 0x7fff_7fff),
        (20, u32::MAX),
    ] {
        let found = be_u32_at(&page, at).unwrap_or(0);
        if found != expected {
            let text = format!("the header has {found:08x} where {expected:08x} is expected");
            problem(at as u64, ProblemKind::Header, text);
        }
    }
    let usual: [u16; 12] = [1, 5, 1, 0x7fff, 3, 0x7fff, 5, 30, 6, 2, 7, 1];
    let same = |(n, word)| be_u16_at(&page, 0x400 + 2 * n) == Some(word);
    if !usual.into_iter().enumerate().all(same) {
        notes.push("the table at byte 1024 differs from that of genuine books".into());
    }
    let data = book.file().len().saturating_sub(PAGE_BYTES as u64);
    let whole = data / PAGE_BYTES as u64;
    if !data.is_multiple_of(PAGE_BYTES as u64) {
        let text = format!(
            "the file ends {} bytes into a page of {PAGE_BYTES}",
            data % PAGE_BYTES as u64
        );
        problem(book.file().len(), ProblemKind::FileSize, text);
    }
    let announced = book.header().pages;
    if ![whole, u64::from(book.page_count())].contains(&announced.into()) {
        let text = format!("the header counts {announced} pages, the file has {whole}");
        problem(16, ProblemKind::PageCount, text);
    }
    Ok(())
}

/// Compares the header's number of positions with the actual one.
pub(super) fn check_positions(
    book: &PageFile,
    positions: u64,
    report: Report<'_>,
    notes: &mut Vec<String>,
) {
    let announced = u64::from(book.header().positions);
    let counted = positions.min(u32::MAX.into());
    let text = format!("the header counts {announced} positions, there are {positions}");
    if announced < counted {
        let file = book.file().path();
        report(Problem::new(file, 24, ProblemKind::PositionCount, text));
    } else if announced > counted {
        notes.push(text);
    }
}

/// A page without a slot.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// The content of a .cto file, as far as it can be read.
pub(super) struct IndexFacts {
    cto: Arc<Path>,
    /// Slots with a page and no such slot below them; the page may not exist.
    live: Vec<(u32, i32)>,
    /// By page: the first slot that refers to it.
    slot_of: Vec<u32>,
    /// Page and slot of each further reference to a page, sorted.
    duplicates: Vec<(u32, u32)>,
}

impl IndexFacts {
    /// Reads both index files and compares them. `None` if the .cto file is unusable.
    pub(super) fn read(
        path: &Path,
        book: &PageFile,
        report: Report<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Option<IndexFacts>, Error> {
        let at = |extension| sibling(path, extension);
        let Some(cto) = at("cto") else {
            report(missing(path.with_extension("cto")));
            if at("ctb").is_none() {
                report(missing(path.with_extension("ctb")));
            }
            return Ok(None);
        };
        let slots = match SlotFile::open(&cto, false) {
            Ok(slots) => slots,
            Err(text) => {
                report(whole_file(cto, format!("the index {text}")));
                return Ok(None);
            }
        };
        let cto_lower = check_cto(&slots, report)?;
        let (facts, splits) = IndexFacts::from_slots(book, &slots, report)?;
        match at("ctb") {
            Some(ctb) => check_ctb(&ctb, cto_lower, &facts, &splits, report, notes),
            None => report(missing(path.with_extension("ctb"))),
        }
        Ok(Some(facts))
    }

    fn from_slots(
        book: &PageFile,
        slots: &SlotFile,
        report: Report<'_>,
    ) -> Result<(IndexFacts, Splits), Error> {
        let cto = Arc::clone(slots.file().path());
        let mut live: Vec<(u32, i32)> = Vec::new();
        let most = 2 * book.page_count() as usize + 1024;
        let mut too_many = 0_u64;
        slots.for_each(|slot, page| {
            if page == -1 {
            } else if live.len() < most {
                // The number of slots is a 32-bit number.
                live.push((slot as u32, page));
            } else {
                too_many += 1;
            }
        })?;
        if too_many > 0 {
            let text = format!(
                "{} slots have a page, the book has only {} pages",
                live.len() as u64 + too_many,
                book.page_count()
            );
            report(whole_file(cto.to_path_buf(), text));
        }
        let splits = Splits::above(live.iter().map(|(slot, _)| *slot));
        live.retain(|&(slot, page)| {
            let split = splits.contains(slot.into());
            if split {
                let text = format!(
                    "slot {slot} has page {page}, but slots below it have pages too: \
                     readers see one or the other"
                );
                let offset = slot_offset(slot);
                report(Problem::new(&cto, offset, ProblemKind::SplitSlot, text));
            }
            !split
        });
        let mut slot_of = vec![NO_SLOT; book.page_count() as usize];
        let mut duplicates = Vec::new();
        for &(slot, page) in &live {
            match usize::try_from(page)
                .ok()
                .and_then(|at| slot_of.get_mut(at))
            {
                Some(known) if *known == NO_SLOT => *known = slot,
                Some(_) => duplicates.push((page.cast_unsigned(), slot)),
                // Reported at the end, unless the pages show more.
                None => {}
            }
        }
        duplicates.sort_unstable();
        let facts = IndexFacts {
            cto,
            live,
            slot_of,
            duplicates,
        };
        Ok((facts, splits))
    }

    /// The slots that refer to a page.
    pub(super) fn slots_of(&self, page: u32) -> impl Iterator<Item = u32> {
        let first = self.slot_of.get(page as usize).copied();
        let from = self.duplicates.partition_point(|(named, _)| *named < page);
        let again = self.duplicates.get(from..).unwrap_or_default();
        let again = again.iter().take_while(move |(named, _)| *named == page);
        let first = first.filter(|&slot| slot != NO_SLOT);
        first.into_iter().chain(again.map(|(_, slot)| *slot))
    }

    /// The slot of a hash, and its page.
    pub(super) fn slot_for(&self, hash: u32) -> Option<(u32, i32)> {
        let (deepest, _) = self.live.last()?;
        let n = (1_u64 << level_of((*deepest).into())) - 1;
        upwards((u64::from(hash) & n) + n).find_map(|slot| {
            let slot = u32::try_from(slot).ok()?;
            let at = self.live.binary_search_by_key(&slot, |live| live.0).ok()?;
            self.live.get(at).copied()
        })
    }

    /// A problem of a slot.
    pub(super) fn problem(&self, slot: u32, kind: ProblemKind, text: String) -> Problem {
        Problem::new(&self.cto, slot_offset(slot), kind, text)
    }

    /// Reports slots that refer to a page that does not exist or belongs to another slot,
    /// unless the pages have `accused` them already. `rightful` are pages with several
    /// slots and the slot they belong to.
    pub(super) fn check_shared(
        &self,
        rightful: &[(u32, u32)],
        accused: &HashSet<u32>,
        report: Report<'_>,
    ) {
        let pages = self.slot_of.len();
        for &(slot, page) in &self.live {
            let exists = usize::try_from(page).is_ok_and(|page| page < pages);
            if !exists && !accused.contains(&slot) {
                let text = format!("slot {slot} has page {page}, the book has {pages} pages");
                report(self.problem(slot, ProblemKind::SlotPage, text));
            }
        }
        for pages in self.duplicates.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(page, _)) = pages.first() else {
                continue;
            };
            let owner = rightful.iter().find(|(named, _)| *named == page);
            let owner = owner.map(|(_, slot)| *slot).or(self.slots_of(page).next());
            for slot in self.slots_of(page) {
                if Some(slot) != owner && !accused.contains(&slot) {
                    let owner = owner.unwrap_or(slot);
                    let text =
                        format!("slot {slot} has page {page}, which is that of slot {owner}");
                    report(self.problem(slot, ProblemKind::SharedPage, text));
                }
            }
        }
    }
}

/// Offset of a slot in the .cto file.
fn slot_offset(slot: u32) -> u64 {
    CTO_HEADER_BYTES + 4 * u64::from(slot)
}

fn missing(path: PathBuf) -> Problem {
    whole_file(path, "the index file is missing".into())
}

fn whole_file(path: PathBuf, text: String) -> Problem {
    Problem::new(&path.into(), 0, ProblemKind::Index, text)
}

/// Checks the header of the .cto file, and returns its lower bound.
fn check_cto(slots: &SlotFile, report: Report<'_>) -> Result<u32, Error> {
    let file = slots.file();
    let head = Error::start_of(file, CTO_HEADER_BYTES as usize)?;
    let kind = ProblemKind::IndexHeader;
    let mut problem = |offset, text| report(Problem::new(file.path(), offset, kind, text));
    for (at, expected) in [(0, 0x0010_0001), (8, 0)] {
        let found = be_u32_at(&head, at).unwrap_or(0);
        if found != expected {
            let text = format!("{found:08x} where {expected:08x} is expected");
            problem(at as u64, text);
        }
    }
    let expected = CTO_HEADER_BYTES + 4 * slots.slots();
    if file.len() != expected {
        let text = format!(
            "the file has {} bytes, its {} slots make {expected}",
            file.len(),
            slots.slots()
        );
        problem(4, text);
    }
    Ok(be_u32_at(&head, 12).unwrap_or(0))
}

fn check_ctb(
    path: &Path,
    cto_lower: u32,
    facts: &IndexFacts,
    splits: &Splits,
    report: Report<'_>,
    notes: &mut Vec<String>,
) {
    let read = || -> Result<(DataFile, [u8; 12]), String> {
        let file = DataFile::open(path, false).map_err(|error| error.to_string())?;
        let mut head = [0; CTB_HEADER_BYTES as usize];
        let view = file.positional_view();
        let found = view.read(0, &mut head).map_err(|error| error.to_string())?;
        match <[u8; 12]>::try_from(found) {
            Ok(head) => Ok((file, head)),
            Err(_) => Err(format!("{} bytes are too few", file.len())),
        }
    };
    let (file, head) = match read() {
        Ok(read) => read,
        Err(text) => {
            let text = format!("the index cannot be read ({text})");
            return report(whole_file(path.to_owned(), text));
        }
    };
    let number = |at| be_u32_at(&head, at).unwrap_or(0);
    let (magic, lower, upper) = (number(0), number(4), number(8));
    let mut problem = |offset, kind, text| report(Problem::new(file.path(), offset, kind, text));
    if magic != 0x000c_0001 {
        let text = format!("{magic:08x} where 000c0001 is expected");
        problem(0, ProblemKind::IndexHeader, text);
    }
    let lowest = facts.live.first().map_or(0, |(slot, _)| *slot);
    let right_lower = lowest / 8 * 8;
    let right_upper = splits
        .highest()
        .map_or(0, |highest| (highest + 1).next_multiple_of(8));
    if lower != right_lower {
        let text = format!("the lower bound is {lower}, slot {lowest} makes it {right_lower}");
        if lower > right_lower || lower != cto_lower {
            problem(4, ProblemKind::Bounds, text);
        } else {
            notes.push(format!("{}: {text}, which is harmless", path.display()));
        }
    }
    let bytes = file.len().saturating_sub(CTB_HEADER_BYTES);
    let fits = upper.is_multiple_of(8) && bytes == u64::from(upper / 8);
    let needed = u64::from(upper) >= right_upper;
    if u64::from(upper) != right_upper {
        let text =
            format!("the upper bound is {upper}, the highest split slot makes it {right_upper}");
        if !needed || !fits {
            problem(8, ProblemKind::Bounds, text);
        } else {
            notes.push(format!("{}: {text}, which is harmless", path.display()));
        }
    } else if !fits {
        let text = format!(
            "the map has {bytes} bytes, the upper bound {upper} makes {}",
            upper / 8
        );
        problem(8, ProblemKind::Bounds, text);
    }
    check_bitmap(&file, splits, right_upper, &mut problem);
    // The same wrong bound in both files is one problem.
    if cto_lower != lower && cto_lower != right_lower {
        let text = format!("the lower bound is {cto_lower}, slot {lowest} makes it {right_lower}");
        report(Problem::new(&facts.cto, 12, ProblemKind::Bounds, text));
    }
}

/// Compares the bits of the bitmap with the slots that have pages below them.
fn check_bitmap(
    file: &DataFile,
    splits: &Splits,
    upper: u64,
    problem: &mut dyn FnMut(u64, ProblemKind, String),
) {
    let view = file.positional_view();
    let bytes = file.len().saturating_sub(CTB_HEADER_BYTES).min(upper / 8);
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    while at < bytes {
        let offset = CTB_HEADER_BYTES + at;
        let piece = match view.read(offset, &mut buffer) {
            Ok(piece) if !piece.is_empty() => piece,
            Ok(_) => return,
            Err(error) => {
                let text = format!("the index cannot be read ({error})");
                return problem(offset, ProblemKind::Index, text);
            }
        };
        for (byte, here) in piece.iter().zip(at..bytes) {
            for slot in 8 * here..8 * here + 8 {
                let marked = byte >> (slot % 8) & 1 != 0;
                if marked != splits.contains(slot) {
                    let text = if marked {
                        format!("slot {slot} is marked as split, but no slot below it has a page")
                    } else {
                        format!("slot {slot} is not marked as split, but slots below it have pages")
                    };
                    problem(CTB_HEADER_BYTES + here, ProblemKind::Bitmap, text);
                }
            }
        }
        at += piece.len() as u64;
    }
}
