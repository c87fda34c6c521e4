//! Reads every byte of a book and reports all faults.
//!
//! A first pass finds what may be wrong ([`suspects`]); only that is then looked at closely.
//!
//! One fault should give one problem. So the content of the pages is taken as it is, and
//! child positions are looked up in an index made from the pages ([`super::scan`]); the
//! index on disk is compared with it separately ([`files`]). A child that belongs to a
//! damaged page is not reported as missing.
//!
//! Deviations that genuine books have are not problems but at most notes: stale bytes
//! after the used part of a page, a number of positions in the header that is too high,
//! expected points of 0 in old books.
//!
//! Memory: 9 to 20 bytes for every position and eight for every move, so some 60 MB for 2.8
//! million positions and 2 GB for 100 million. If something is wrong and pages overlap in the
//! order of hashes, eight more for every position.

mod entries;
mod files;
mod numbers;
mod suspects;

use std::{collections::HashSet, path::Path, sync::Arc};

use super::{Error, pages::PageFile, scan::ScanIndex};
use crate::edit::pending_changes;
use entries::{BlockChecker, BlockReport};
use files::IndexFacts;
use suspects::Suspects;
use tabia_io::parallel::in_order;
use tabia_io::progress::{Progress, Watch};

tabia_notation::named! {
    /// The kind of a fault.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ProblemKind {
        /// A constant of the header page has another value.
        Header = "header",
        /// The header's page count is not the number of pages in the file.
        PageCount = "page-count",
        /// The header counts fewer positions than there are.
        PositionCount = "position-count",
        /// The file does not end with a whole page.
        FileSize = "file-size",
        /// The number of used bytes of a page is impossible.
        PageBounds = "page-bounds",
        /// An entry has an impossible length or is longer than the used bytes.
        EntryBounds = "entry-bounds",
        /// The entry count of a page is wrong.
        EntryCount = "entry-count",
        /// A key is not a position, or not the right key of its position.
        Key = "key",
        /// A second entry with the same key.
        Duplicate = "duplicate-key",
        /// A position that is illegal.
        Position = "position",
        /// A move byte of unknown meaning.
        UnknownMove = "unknown-move",
        /// An illegal move.
        IllegalMove = "illegal-move",
        /// A move that is stored twice.
        RepeatedMove = "repeated-move",
        /// A move to a position that is not in the book.
        MissingChild = "missing-child",
        /// More results than games.
        Results = "results",
        /// Expected points that the results do not allow.
        Points = "points",
        /// More ratings than games, or impossible ratings.
        Ratings = "ratings",
        /// An index file is missing or cannot be read.
        Index = "index",
        /// A number in the header of an index file is wrong.
        IndexHeader = "index-header",
        /// A slot refers to the wrong page.
        SlotPage = "slot-page",
        /// Two slots refer to one page.
        SharedPage = "shared-page",
        /// A slot has a page although slots below it have pages too.
        SplitSlot = "split-slot",
        /// No slot leads to a page.
        UnreferencedPage = "unreferenced-page",
        /// A position is in a page in which no reader looks for it.
        WrongPage = "wrong-page",
        /// Because of a bound in the .ctb file positions are not found.
        Bounds = "bounds",
        /// A bit of the .ctb file is wrong.
        Bitmap = "bitmap",
    }
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The file with the fault.
    pub file: Arc<Path>,
    /// The page, if the file is a .ctg file.
    pub page: Option<u32>,
    /// Offset of the fault in the file.
    pub offset: u64,
    /// The kind of the fault.
    pub kind: ProblemKind,
    /// What is wrong, in words.
    pub text: String,
}

impl Problem {
    /// A problem outside of the data pages.
    fn new(file: &Arc<Path>, offset: u64, kind: ProblemKind, text: String) -> Problem {
        Problem {
            file: Arc::clone(file),
            page: None,
            offset,
            kind,
            text,
        }
    }
}

/// Numbers of a verified book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Positions, counted.
    pub positions: u64,
    /// Stored moves, counted.
    pub moves: u64,
    /// Pages of the file.
    pub pages: u32,
    /// Problems found.
    pub problems: u64,
    /// Unusual but harmless findings.
    pub notes: Vec<String>,
}

/// Pages that one thread takes at a time.
const BLOCK: u32 = 64;

/// Verifies the book whose .ctg file is `path`; `found` gets every problem, those of the
/// index first, then page by page. With `mmap` large books are mapped into memory: see
/// [`tabia_io::input::file`].
///
/// # Errors
///
/// The .ctg file cannot be read or is not a CTG book, or the work is cancelled.
pub fn verify(
    path: &Path,
    mmap: bool,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(Problem),
) -> Result<Verified, Error> {
    let book = PageFile::open(path, mmap)?;
    let mut verified = Verified {
        pages: book.page_count(),
        ..Verified::default()
    };
    let mut on_problem = |problem| {
        verified.problems += 1;
        found(problem);
    };
    let mut notes = pending_changes(path);
    files::check_header(&book, &mut on_problem, &mut notes)?;
    let index = IndexFacts::read(path, &book, &mut on_problem, &mut notes)?;
    let suspects = Suspects::find(&book, index.as_ref(), &mut watch.part(0, 900))?;
    let mut rightful = Vec::new();
    let mut accused = HashSet::new();
    if !suspects.pages.is_empty() {
        let (scan, report) = ScanIndex::build_over(&book, book.page_count())?;
        let checker = BlockChecker {
            book: &book,
            index: index.as_ref(),
            scan: &scan,
            suspects: &suspects,
            damaged: &report.damaged,
        };
        let mut watch = watch.part(900, 1000);
        let shares: Vec<&[u32]> = suspects.pages.chunks(BLOCK as usize).collect();
        let mut done = 0;
        in_order(
            shares.len() as u32,
            |n| checker.check(shares.get(n as usize).copied().unwrap_or_default()),
            |mut report: BlockReport| {
                let all = Some(shares.len() as u64);
                watch.step(Progress::new("verifying", "parts", done, all))?;
                done += 1;
                for (problem, slot) in report.problems.drain(..) {
                    if slot.is_none_or(|slot| accused.insert(slot)) {
                        on_problem(problem);
                    }
                }
                rightful.append(&mut report.rightful);
                Ok::<_, Error>(())
            },
        )?;
    }
    if let Some(index) = &index {
        index.check_shared(&rightful, &accused, &mut on_problem);
    }
    files::check_positions(&book, suspects.positions, &mut on_problem, &mut notes);
    if suspects.stale_pages > 0 {
        notes.push(format!(
            "{} pages have stale bytes after their used part",
            suspects.stale_pages
        ));
    }
    if suspects.without_points > 0 {
        notes.push(format!(
            "{} positions have results but no expected points, as in old books",
            suspects.without_points
        ));
    }
    verified.positions = suspects.positions;
    verified.moves = suspects.moves;
    verified.notes = notes;
    Ok(verified)
}

/// The number of blocks of so many pages.
const fn blocks(pages: u32) -> u32 {
    pages.div_ceil(BLOCK)
}
