//! An open book.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use shakmaty::{Chess, Move, Position as _};

use super::{
    Entry, Error, Key, NormalBoard, PageFault,
    index::{Slot, SlotFile, SlotPage, SlotReader},
    moves,
    pages::{Header, PageFile, PageReader},
    scan::ScanIndex,
};
use crate::book::{BookMove, Lookup, PositionRecord, Probe, file::Change};

/// How to open a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Map large files into memory (default). Without it every page is read
    /// by a system call: slower, needs no address space, and nothing that
    /// happens to the file can end the process: see [`crate::book::file`].
    pub mmap: bool,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions { mmap: true }
    }
}

/// A CTG book, open for reading.
///
/// `Send` and `Sync`, no locks: one book serves any number of threads. A probe
/// may wait for the disk. Private memory is a few kilobytes for a mapped
/// book, up to about 4 MiB for a small one held in memory, and eight bytes per
/// 4096-byte page if the index had to be made by a scan.
#[derive(Debug)]
pub struct CtgBook {
    pub(super) pages: PageFile,
    pub(super) index: Index,
    notices: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Index {
    Slots(SlotFile),
    Scan(ScanIndex),
}

/// Where an entry stands in the .ctg file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Page number; 0 follows the header page.
    pub page: u32,
    /// First byte of the entry in that page.
    pub offset: u16,
}

impl Place {
    /// First byte of the entry in the file.
    #[must_use]
    pub fn file_offset(self) -> u64 {
        super::error::file_offset(self.page, self.offset)
    }
}

/// One step of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A slot of the .cto file and what it holds.
    Slot(Slot, SlotPage),
    /// A page named by an index made from a scan.
    Scanned(u32),
}

impl CtgBook {
    /// Opens the book whose .ctg file is `path`.
    ///
    /// The .cto and .ctb files are found beside it by name, upper or lower
    /// case. Without a usable .cto the whole book is read once and an index
    /// made in memory, which takes as long as reading the file; without a
    /// usable .ctb look-ups take a few steps more. [`CtgBook::notices`] says
    /// so.
    ///
    /// # Errors
    ///
    /// The .ctg file cannot be read, is no CTG book, has no data pages, or
    /// none of the pages looked at can be read.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<CtgBook, Error> {
        let path = path.as_ref();
        let pages = PageFile::open(path, options.mmap)?;
        let mut notices: Vec<String> = pages.notice().into_iter().collect();
        let samples = samples(&pages)?;

        let index = match open_index(path, options.mmap) {
            Ok((mut slots, mut bounds_problem)) => {
                let mut agrees = index_agrees(&pages, &slots, &samples);
                if !agrees && bounds_problem.is_none() {
                    slots.forget_bounds();
                    bounds_problem = Some("the .ctb file does not belong to the index".into());
                    agrees = index_agrees(&pages, &slots, &samples);
                }
                if agrees {
                    notices.extend(bounds_problem.map(|problem| {
                        format!(
                            "{}: {problem}; the book is read without it, a little slower; \
                             `tabia compact` writes a new one",
                            path.display()
                        )
                    }));
                    Ok(slots)
                } else {
                    Err(format!(
                        "index {} does not lead to the positions of the book",
                        file_name(slots.file().path())
                    ))
                }
            }
            Err(problem) => Err(problem),
        };
        let index = match index {
            Ok(slots) => Index::Slots(slots),
            Err(problem) => {
                let (scan, report) = ScanIndex::build(&pages)?;
                if let (0, Some(fault)) = (report.entries, &report.first_fault) {
                    return Err(fault.clone());
                }
                notices.push(format!(
                    "{}: {problem}, positions were indexed by reading the whole book; \
                     `tabia compact` writes a new one",
                    path.display()
                ));
                if let Some(fault) = report.first_fault {
                    notices.push(format!(
                        "{} damaged pages could not be read to their end, the first: {fault}",
                        report.bad_pages
                    ));
                }
                Index::Scan(scan)
            }
        };
        Ok(CtgBook {
            pages,
            index,
            notices,
        })
    }

    /// The .ctg file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.pages.file().path()
    }

    /// The book's own account of itself.
    #[must_use]
    pub fn header(&self) -> Header {
        self.pages.header()
    }

    /// What the user should know about the files, one sentence each; empty for
    /// a sound book.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Compares the files now behind the paths with the open ones. After
    /// [`Change::Replaced`] or [`Change::Modified`] the book should be opened
    /// anew when that suits, say at the start of a game. Costs two look-ups in
    /// the file system.
    #[must_use]
    pub fn change(&self) -> Change {
        let index = match &self.index {
            Index::Slots(slots) => slots.file().change(),
            Index::Scan(_) => Change::None,
        };
        self.pages.file().change().max(index)
    }

    pub(super) fn reading(&self) -> Result<Reading<'_>, Error> {
        Ok(Reading {
            pages: self.pages.reader()?,
            held: self.pages.held(),
            index: match &self.index {
                Index::Slots(slots) => IndexReader::Slots(slots.reader()?),
                Index::Scan(scan) => IndexReader::Scan(scan),
            },
            book: &self.pages,
        })
    }

    fn fill(&self, position: &Chess, found: &mut Lookup) -> Result<(), Error> {
        let mut reading = self.reading()?;
        let legal = position.legal_moves();
        let mut stored = MoveSet::default();
        if let Some(board) = NormalBoard::from_position(position)
            && let Some((place, _)) = reading.find_position(&board)?
        {
            let entry = reading.entry(place)?;
            found.here = Some(entry.record());
            for (byte, annotation) in entry.moves() {
                if let Ok(n) = moves::find(byte, &board, &legal)
                    && let Some(&mv) = legal.get(n)
                    && stored.insert(n)
                {
                    found.moves.push(BookMove {
                        mv,
                        annotation,
                        child: None,
                        transposition: false,
                    });
                }
            }
        }
        for known in &mut found.moves {
            known.child = reading.record_after(position, known.mv)?;
        }
        for (n, &mv) in legal.iter().enumerate() {
            if stored.contains(n) {
                continue;
            }
            if let Some(child) = reading.record_after(position, mv)? {
                found.moves.push(BookMove {
                    mv,
                    annotation: Default::default(),
                    child: Some(child),
                    transposition: true,
                });
            }
        }
        Ok(())
    }
}

impl Probe for CtgBook {
    /// Stored moves that mean nothing or nothing legal are left out, as is the
    /// second of two equal ones; [`CtgBook::explain`] shows them. Needs the
    /// page of the position and of every legal move.
    fn probe(&self, position: &Chess, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        self.fill(position, found).inspect_err(|_| found.clear())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        let Some(board) = NormalBoard::from_position(position) else {
            return Ok(false);
        };
        Ok(self.reading()?.find_position(&board)?.is_some())
    }
}

/// A set of indices into a list of legal moves (218 at most).
#[derive(Default)]
struct MoveSet([u64; 4]);

impl MoveSet {
    /// Adds `n`; false if it was in, or is out of range.
    fn insert(&mut self, n: usize) -> bool {
        let fresh = !self.contains(n);
        match self.0.get_mut(n / 64) {
            Some(word) => *word |= 1 << (n % 64),
            None => return false,
        }
        fresh
    }

    fn contains(&self, n: usize) -> bool {
        self.0
            .get(n / 64)
            .is_some_and(|word| word >> (n % 64) & 1 != 0)
    }
}

/// The files in hand for one probe.
pub(super) struct Reading<'b> {
    book: &'b PageFile,
    pages: PageReader<'b>,
    held: u32,
    index: IndexReader<'b>,
}

enum IndexReader<'b> {
    Slots(SlotReader<'b>),
    Scan(&'b ScanIndex),
}

impl Reading<'_> {
    /// Finds a position, under its other key if there is one. The flag tells
    /// whether the other key was it.
    fn find_position(&mut self, board: &NormalBoard) -> Result<Option<(Place, bool)>, Error> {
        if let Some(place) = self.find(&board.key(), |_| ())? {
            return Ok(Some((place, false)));
        }
        match board.other_key() {
            Some(key) => Ok(self.find(&key, |_| ())?.map(|place| (place, true))),
            None => Ok(None),
        }
    }

    /// Finds a key, telling every step.
    pub(super) fn find(
        &mut self,
        key: &Key,
        mut on_step: impl FnMut(Step),
    ) -> Result<Option<Place>, Error> {
        let hash = key.hash();
        match self.index {
            IndexReader::Slots(slots) => {
                for slot in slots.walk(hash) {
                    let page = slots.page_of(slot.number, self.held)?;
                    on_step(Step::Slot(slot, page));
                    if let SlotPage::Page(page) = page
                        && let Some(place) = self.find_in(page, key)?
                    {
                        return Ok(Some(place));
                    }
                }
            }
            IndexReader::Scan(scan) => {
                for page in scan.pages(hash) {
                    on_step(Step::Scanned(page));
                    if let Some(place) = self.find_in(page, key)? {
                        return Ok(Some(place));
                    }
                }
            }
        }
        Ok(None)
    }

    fn find_in(&mut self, page: u32, key: &Key) -> Result<Option<Place>, Error> {
        match self.pages.page(page)?.find(key.as_bytes()) {
            Ok(offset) => Ok(offset.map(|offset| Place { page, offset })),
            Err(fault) => Err(self.book.fault(page, fault)),
        }
    }

    /// The entry at a place that was found.
    pub(super) fn entry(&mut self, place: Place) -> Result<Entry<'_>, Error> {
        let book = self.book;
        self.pages
            .page(place.page)?
            .entry_at(place.offset)
            .map_err(|fault: PageFault| book.fault(place.page, fault))
    }

    fn record_after(&mut self, position: &Chess, m: Move) -> Result<Option<PositionRecord>, Error> {
        let mut child = position.clone();
        child.play_unchecked(m);
        let Some(board) = NormalBoard::from_position(&child) else {
            return Ok(None);
        };
        match self.find_position(&board)? {
            Some((place, _)) => Ok(Some(self.entry(place)?.record())),
            None => Ok(None),
        }
    }
}

/// First keys of up to eight pages spread over the book, with their pages.
/// A fault is returned only if no page can be read.
fn samples(pages: &PageFile) -> Result<Vec<(Key, u32)>, Error> {
    const SAMPLES: u32 = 8;
    let mut reader = pages.reader()?;
    let mut samples = Vec::new();
    let mut first_error = None;
    let count = pages.walked();
    let mut last = None;
    for n in 0..SAMPLES {
        let number = (u64::from(n) * u64::from(count - 1) / u64::from(SAMPLES - 1)) as u32;
        if last.replace(number) == Some(number) {
            continue;
        }
        let entry = reader.page(number).and_then(|page| {
            let first = page.entries().next().transpose();
            first.map_err(|fault| pages.fault(number, fault))
        });
        match entry {
            Ok(Some((_, entry))) => samples.extend(entry.key().map(|key| (key, number))),
            Ok(None) => {}
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if samples.is_empty() => Err(error),
        _ => Ok(samples),
    }
}

/// Whether the index leads to at least half of the samples: one that does not
/// is damaged or of another book. (Not to all: a page on the list of free ones
/// may hold stale entries.)
fn index_agrees(pages: &PageFile, slots: &SlotFile, samples: &[(Key, u32)]) -> bool {
    let Ok(reader) = slots.reader() else {
        return false;
    };
    let found = samples
        .iter()
        .filter(|(key, page)| {
            reader
                .walk(key.hash())
                .any(|slot| match reader.page_of(slot.number, pages.held()) {
                    Ok(found) => found == SlotPage::Page(*page),
                    Err(_) => false,
                })
        })
        .count();
    2 * found >= samples.len()
}

/// Opens .cto and .ctb. The outer error and the inner problem are sentences
/// without a subject's path: "index x.cto is missing".
fn open_index(ctg: &Path, mmap: bool) -> Result<(SlotFile, Option<String>), String> {
    let path = sibling(ctg, "cto").ok_or_else(|| missing(ctg, "cto"))?;
    let mut slots = SlotFile::open(&path, mmap)
        .map_err(|problem| format!("index {} {problem}", file_name(&path)))?;
    let bounds = match sibling(ctg, "ctb") {
        None => Err(missing(ctg, "ctb")),
        Some(path) => slots
            .read_bounds(&path)
            .map_err(|problem| format!("index {} {problem}", file_name(&path))),
    };
    Ok((slots, bounds.err()))
}

fn missing(ctg: &Path, extension: &str) -> String {
    let path = ctg.with_extension(extension);
    format!("index {} is missing", file_name(&path))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The file beside `path` with another extension, however it is written: in
/// the case of ours, in the other, or with single letters in capitals (some
/// programs exchange only the last letter: `.CTG`, `.CTo`).
fn sibling(path: &Path, extension: &str) -> Option<PathBuf> {
    let lower = path.with_extension(extension);
    let upper = path.with_extension(extension.to_ascii_uppercase());
    // Where names differ only in case, the one written like ours comes first.
    let shouted = path
        .extension()
        .and_then(OsStr::to_str)
        .is_some_and(|own| own.chars().all(char::is_uppercase));
    let by_name = if shouted {
        [upper, lower]
    } else {
        [lower, upper]
    };
    by_name
        .into_iter()
        .find(|path| path.exists())
        .or_else(|| in_any_case(path, extension))
}

fn in_any_case(path: &Path, extension: &str) -> Option<PathBuf> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let wanted = path.with_extension(extension);
    let wanted = wanted.file_name()?;
    let mut fits: Vec<_> = folder
        .read_dir()
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
        .filter(|name| name.eq_ignore_ascii_case(wanted))
        .collect();
    fits.sort();
    Some(folder.join(fits.into_iter().next()?))
}
