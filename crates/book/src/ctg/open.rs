//! Opening a book: its three files, and a check that they belong together.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use super::{
    CtgBook, Error, Key, OpenOptions,
    index::{SlotFile, SlotPage, unread},
    pages::PageFile,
    reader::Index,
    scan::ScanIndex,
};
use crate::edit::pending_changes;
use tabia_io::input::path::file_name;
use tabia_io::input::{file::DataFile, sibling::sibling, state::Change};

impl CtgBook {
    /// Opens the book whose .ctg file is `path`.
    ///
    /// The .cto and .ctb files are found beside it by name, in upper or lower case.
    /// Without a usable .cto the whole book is read once to make an index in memory,
    /// which takes as long as reading the file; without a usable .ctb look-ups take a few
    /// steps more. [`CtgBook::notices`] reports both.
    ///
    /// # Errors
    ///
    /// The .ctg file cannot be read, is not a CTG book, has no data pages, or none of the
    /// sampled pages can be read.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<CtgBook, Error> {
        let path = path.as_ref();
        // The files may be replaced at this moment. A writer replaces the .ctg before its
        // index (see [`tabia_io::atomic`]), so a reader of the old book and the new index
        // finds the book replaced.
        for _ in 0..8 {
            let book = CtgBook::open_once(path, options)?;
            if book.pages.file().change() != Change::Replaced {
                return Ok(book);
            }
        }
        CtgBook::open_once(path, options)
    }

    fn open_once(path: &Path, options: &OpenOptions) -> Result<CtgBook, Error> {
        let pages = PageFile::open(path, options.mmap)?;
        let file = |extension, mmap| {
            let path = sibling(path, extension).ok_or_else(|| missing(path, extension))?;
            DataFile::open(&path, mmap)
                .map_err(|error| format!("index {} {}", file_name(&path), unread(error)))
        };
        let (cto, ctb) = (file("cto", options.mmap), file("ctb", false));
        CtgBook::with_index(pages, cto, ctb, pending_changes(path))
    }

    /// Opens the book in these files: bytes in memory, or those of a reader (see
    /// [`DataFile::from_bytes`] and [`DataFile::from_reader`]). What [`CtgBook::open`] says of
    /// a missing or unusable .cto or .ctb holds here too.
    ///
    /// ```
    /// use std::path::Path;
    /// use tabia_book::{DataFile, ctg::CtgBook};
    ///
    /// let file = |bytes: &[u8], name| DataFile::from_bytes(Path::new(name), bytes.to_vec());
    /// let ctg = file(include_bytes!("../../tests/data/ctg/simple.ctg"), "simple.ctg");
    /// let cto = file(include_bytes!("../../tests/data/ctg/simple.cto"), "simple.cto");
    /// let book = CtgBook::from_files(ctg, Some(cto), None)?;
    /// assert_eq!(book.notices().len(), 1); // The index simple.ctb is missing.
    /// # Ok::<_, tabia_book::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::open`].
    pub fn from_files(
        ctg: DataFile,
        cto: Option<DataFile>,
        ctb: Option<DataFile>,
    ) -> Result<CtgBook, Error> {
        let name = Arc::clone(ctg.path());
        CtgBook::with_index(
            PageFile::new(ctg)?,
            cto.ok_or_else(|| missing(&name, "cto")),
            ctb.ok_or_else(|| missing(&name, "ctb")),
            Vec::new(),
        )
    }

    /// The index files are open, or the text says why not: "index x.cto is missing".
    fn with_index(
        pages: PageFile,
        cto: Result<DataFile, String>,
        ctb: Result<DataFile, String>,
        mut notices: Vec<String>,
    ) -> Result<CtgBook, Error> {
        let samples = samples(&pages)?;
        let path = pages.file().path();
        notices.extend(pages.notice());
        pages.leave_out_missing()?;
        let index = match usable_index(cto, ctb, &pages, &samples) {
            Ok((slots, problem)) => {
                notices.extend(problem.map(|problem| {
                    format!(
                        "{}: {problem}; the book is read without it, a little slower; \
                         compact the book to write a new one",
                        path.display()
                    )
                }));
                Index::Slots(slots)
            }
            Err(problem) => {
                notices.push(format!(
                    "{}: {problem}, positions were indexed by reading the whole book; \
                     compact the book to write a new one",
                    path.display()
                ));
                let (scan, report) = ScanIndex::build(&pages)?;
                if let Some(fault) = report.first_fault {
                    if report.entries == 0 {
                        return Err(fault);
                    }
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
            filter: OnceLock::new(),
            notices,
        })
    }

    /// Opens a book that is compiled into the program: the bytes of its three files, and
    /// a name for messages.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::open`].
    pub fn from_static(
        name: &str,
        ctg: &'static [u8],
        cto: &'static [u8],
        ctb: &'static [u8],
    ) -> Result<CtgBook, Error> {
        let open = |bytes| DataFile::from_static(Path::new(name), bytes);
        CtgBook::from_files(open(ctg), Some(open(cto)), Some(open(ctb)))
    }
}

/// Checks whether .cto and .ctb lead to the samples. The outer error says why the .cto is
/// unusable, the inner problem why the .ctb is; both contain the file name only: "index x.cto
/// is missing".
fn usable_index(
    cto: Result<DataFile, String>,
    ctb: Result<DataFile, String>,
    pages: &PageFile,
    samples: &[(Key, u32)],
) -> Result<(SlotFile, Option<String>), String> {
    let cto = cto?;
    let path = Arc::clone(cto.path());
    let reported = |path: &Path, problem| format!("index {} {problem}", file_name(path));
    let mut slots = SlotFile::new(cto).map_err(|problem| reported(&path, problem))?;
    let whole = |slots| of_this_book(pages, slots).map_err(|problem| reported(&path, problem));
    let bounds: Result<(), String> = match ctb {
        Err(problem) => Err(problem),
        Ok(ctb) => match slots.take_bounds(&ctb) {
            Ok(()) if index_agrees(pages, &slots, samples) => {
                return whole(&slots).map(|()| (slots, None));
            }
            Ok(()) => {
                let problem = "does not belong to the .cto file".into();
                Err(reported(ctb.path(), problem))
            }
            Err(problem) => Err(reported(ctb.path(), problem)),
        },
    };
    slots.forget_bounds();
    if index_agrees(pages, &slots, samples) {
        whole(&slots).map(|()| (slots, bounds.err()))
    } else {
        Err(reported(
            &path,
            "does not lead to the positions of the book".into(),
        ))
    }
}

/// Checks that the index belongs to this book. If it refers to pages that the book never
/// had, it is damaged or of a larger book, and many positions are stored elsewhere. Pages
/// that are cut off are not a fault of the index.
fn of_this_book(pages: &PageFile, slots: &SlotFile) -> Result<(), String> {
    let count = pages.page_count().max(pages.header().pages);
    match slots.astray(count) {
        Ok(Some(page)) => Err(format!(
            "is damaged or of a larger book (it leads to page {page}, the book has {count} pages)"
        )),
        Ok(None) => Ok(()),
        Err(error) => Err(format!("cannot be read ({error})")),
    }
}

/// First keys of up to eight pages spread over the book, with their pages. An error is
/// returned only if no page can be read.
pub(super) fn samples(pages: &PageFile) -> Result<Vec<(Key, u32)>, Error> {
    const SAMPLES: u32 = 8;
    let mut reader = pages.reader()?;
    let mut samples = Vec::new();
    let mut first_error = None;
    let count = pages.pages_in_use();
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

/// Whether the index leads to at least half of the samples; otherwise it is damaged or of
/// another book. (Not to all: a page on the list of free pages may have stale entries.)
pub(super) fn index_agrees(pages: &PageFile, slots: &SlotFile, samples: &[(Key, u32)]) -> bool {
    let Ok(reader) = slots.reader() else {
        return false;
    };
    let found = samples
        .iter()
        .filter(|(key, page)| {
            reader.walk(key.hash()).any(|slot| {
                match reader.page_of(slot.number, pages.page_count()) {
                    Ok(found) => found == SlotPage::Page(*page),
                    Err(_) => false,
                }
            })
        })
        .count();
    2 * found >= samples.len()
}

fn missing(ctg: &Path, extension: &str) -> String {
    let path = ctg.with_extension(extension);
    format!("index {} is missing", file_name(&path))
}
