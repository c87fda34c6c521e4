//! Opening a book: its three files, and a check that they belong together.

use std::{io, path::Path, sync::OnceLock};

use super::{
    CtgBook, Error, Key, OpenOptions,
    index::{SlotFile, SlotPage},
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
        let samples = samples(&pages)?;
        let mut notices = pending_changes(path);
        notices.extend(pages.notice());
        let index = match index_on_disk(path, options.mmap, &pages, &samples) {
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
    /// The bytes are not a CTG book with a sound index.
    pub fn from_static(
        name: &str,
        ctg: &'static [u8],
        cto: &'static [u8],
        ctb: &'static [u8],
    ) -> Result<CtgBook, Error> {
        let name = Path::new(name);
        let open = |bytes| DataFile::from_static(name, bytes);
        let pages = PageFile::new(open(ctg))?;
        let index = SlotFile::new(open(cto)).and_then(|mut slots| {
            slots.take_bounds(&open(ctb))?;
            Ok(slots)
        });
        let index = index.map_err(|problem| {
            let text = format!("its index {problem}");
            Error::io(name, io::Error::new(io::ErrorKind::InvalidData, text))
        })?;
        Ok(CtgBook {
            pages,
            index: Index::Slots(index),
            filter: OnceLock::new(),
            notices: Vec::new(),
        })
    }
}

/// Opens .cto and .ctb and checks whether they lead to the samples. The outer error says
/// why the .cto is unusable, the inner problem why the .ctb is; both contain the file
/// name only: "index x.cto is missing".
fn index_on_disk(
    ctg: &Path,
    mmap: bool,
    pages: &PageFile,
    samples: &[(Key, u32)],
) -> Result<(SlotFile, Option<String>), String> {
    let path = sibling(ctg, "cto").ok_or_else(|| missing(ctg, "cto"))?;
    let reported = |path: &Path, problem| format!("index {} {problem}", file_name(path));
    let mut slots = SlotFile::open(&path, mmap).map_err(|problem| reported(&path, problem))?;
    let whole = |slots| of_this_book(pages, slots).map_err(|problem| reported(&path, problem));
    let bounds: Result<(), String> = match sibling(ctg, "ctb") {
        None => Err(missing(ctg, "ctb")),
        Some(ctb) => match slots.read_bounds(&ctb) {
            Ok(()) if index_agrees(pages, &slots, samples) => {
                return whole(&slots).map(|()| (slots, None));
            }
            Ok(()) => Err(reported(&ctb, "does not belong to the .cto file".into())),
            Err(problem) => Err(reported(&ctb, problem)),
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
