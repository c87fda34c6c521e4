//! The .ctg file: its header page and its data pages.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;

use shakmaty::Color;

use super::{
    Entry, EntryAddress, Error, Page, Salvage,
    error::{HeaderFault, file_offset},
    page::{PAGE_BYTES, PageFault},
};
use tabia_io::input::{
    bytes::be_u32_at,
    file::{DataFile, View},
    state::Stamp,
};
use tabia_io::parallel;

/// The numbers of the header page. None is needed to read the book, and none is reliable.
///
/// | offset | size | value | evidence |
/// |---|---|---|---|
/// | 0 | 2 | 32, length of the header | three genuine books |
/// | 2 | 2 | 4096, page size | three genuine books |
/// | 4 | 2 + 2 | 1, 1 | constant, meaning unknown |
/// | 8 | 4 | 4096 | constant; perhaps where page 0 starts |
/// | 12 | 2 + 2 | 32767, 32767 | constant, meaning unknown |
/// | 16 | 4 | number of data pages | file size = 4096 * (1 + this) in three genuine books |
/// | 20 | 4 | -1 | perhaps the head of a list of free pages |
/// | 24 | 4 | number of positions | a little too high in genuine books |
/// | 28 | 4 | number of games | specification 0.2 |
/// | 4064 | 32 | the side that the book is for, if it is for one only | ours; zero in genuine books, and no reader looks at it |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Number of data pages in the header.
    pub pages: u32,
    /// Number of positions in the header.
    pub positions: u32,
    /// Number of games in the header.
    pub games: u32,
    /// The side that the book plays for; `None` for both. An entry is for a position and
    /// for the same with colours reversed, and every position after a stored move is an
    /// entry, so the entries themselves cannot tell: without this mark, a book played the
    /// moves of the other side as transpositions.
    pub only: Option<Color>,
}

/// Offset in the header page of the mark of a book for one side.
pub(super) const SIDE_MARK_AT: usize = PAGE_BYTES - SIDE_MARK_BYTES;
const SIDE_MARK_BYTES: usize = 32;

/// The mark of a book for one side.
pub(super) const fn side_mark(side: Color) -> &'static [u8; SIDE_MARK_BYTES] {
    match side {
        Color::White => b"Tabia: book for White only\0\0\0\0\0\0",
        Color::Black => b"Tabia: book for Black only\0\0\0\0\0\0",
    }
}

fn marked_side(header_page: &[u8]) -> Option<Color> {
    let mark = header_page.get(SIDE_MARK_AT..PAGE_BYTES)?;
    Color::ALL.into_iter().find(|side| side_mark(*side) == mark)
}

/// The open .ctg file.
#[derive(Debug)]
pub(super) struct PageFile {
    file: DataFile,
    header: Header,
    /// Pages in the file, including a short last one.
    page_count: u32,
    unread: Mutex<Box<Unread>>,
}

/// Damage that look-ups left out, each page once.
#[derive(Debug, Default)]
struct Unread {
    salvage: Salvage,
    reported: HashSet<String>,
}

const MAGIC: [u8; 4] = [0x00, 0x20, 0x10, 0x00];

impl PageFile {
    /// Records damage because of which a position counts as not in the book.
    pub(super) fn leave_out(&self, damage: Error) {
        let mut unread = parallel::lock(&self.unread);
        if unread.reported.insert(damage.to_string()) {
            unread.salvage.bad_page(damage);
        }
    }

    pub(super) fn unread(&self) -> Salvage {
        parallel::lock(&self.unread).salvage.clone()
    }

    pub(super) fn open(path: &Path, mmap: bool) -> Result<PageFile, Error> {
        PageFile::new(DataFile::open(path, mmap).map_err(|error| Error::io(path, error))?)
    }

    /// As [`PageFile::open`], for an open file.
    pub(super) fn new(file: DataFile) -> Result<PageFile, Error> {
        let start = Error::start_of(&file, PAGE_BYTES)?;
        let fault = |fault| Error::Header {
            path: file.path().clone(),
            fault,
        };
        if start.is_empty() {
            return Err(fault(HeaderFault::NoBytes));
        }
        let found = start.first_chunk().copied().unwrap_or_default();
        if found != MAGIC {
            let index = [[0, 0x10, 0, 1], [0, 0x0c, 0, 1]].contains(&found);
            return Err(fault(if index {
                HeaderFault::IsIndex
            } else {
                HeaderFault::Magic { found }
            }));
        }
        let data = file.len().saturating_sub(PAGE_BYTES as u64);
        if data == 0 {
            return Err(fault(HeaderFault::NoPages { bytes: file.len() }));
        }
        // Page numbers are signed 32-bit in the index.
        let page_count = data.div_ceil(PAGE_BYTES as u64).min(i32::MAX as u64) as u32;
        let number = |at| be_u32_at(&start, at).unwrap_or(0);
        let header = Header {
            pages: number(16),
            positions: number(24),
            games: number(28),
            only: marked_side(&start),
        };
        Ok(PageFile {
            file,
            header,
            page_count,
            unread: Mutex::default(),
        })
    }

    pub(super) fn file(&self) -> &DataFile {
        &self.file
    }

    pub(super) fn header(&self) -> Header {
        self.header
    }

    /// Pages in the file, whatever the header says.
    pub(super) fn page_count(&self) -> u32 {
        self.page_count
    }

    /// The number of pages to walk over: the header's count if the file has that many
    /// (anything may follow them), else all.
    pub(super) fn pages_in_use(&self) -> u32 {
        match self.header.pages {
            0 => self.page_count,
            pages => pages.min(self.page_count),
        }
    }

    /// The number of pages that readers of the whole book walk over: the pages in use, and one
    /// more if the header announces pages beyond the end of the file. Readers find that page
    /// damaged, so a book that was cut off between pages never counts as read.
    pub(super) fn pages_to_read(&self) -> u32 {
        self.pages_in_use() + u32::from(self.header.pages > self.page_count)
    }

    /// Records that pages are missing. Look-ups need not come to them: without this record,
    /// commands ended with 0, and `strict` did not refuse the book.
    pub(super) fn leave_out_missing(&self) -> Result<(), Error> {
        match self.reader()?.page(self.page_count) {
            Err(damage) if self.pages_to_read() > self.pages_in_use() => self.leave_out(damage),
            _ => {}
        }
        Ok(())
    }

    /// A message if the file is cut off.
    pub(super) fn notice(&self) -> Option<String> {
        let Header { pages, .. } = self.header;
        let path = self.file.path().display();
        let whole = self.file.len().is_multiple_of(PAGE_BYTES as u64);
        if pages > self.page_count {
            Some(format!(
                "{path}: the header says {pages} pages, the file has {}: it seems to be cut off, \
                 positions in the missing part cannot be found",
                self.page_count
            ))
        } else if !whole {
            Some(format!(
                "{path}: the last page is incomplete ({} bytes in the file)",
                self.file.len()
            ))
        } else {
            None
        }
    }

    /// A reader for the look-ups of one probe.
    pub(super) fn reader(&self) -> Result<PageReader<'_>, Error> {
        let view = self
            .file
            .view()
            .map_err(|error| Error::read(self.file.path(), error))?;
        Ok(self.with(view, 1))
    }

    /// As [`PageFile::reader`], if the file still has the content of the stamp.
    pub(super) fn reader_of(&self, stamp: &Stamp) -> Result<Option<PageReader<'_>>, Error> {
        let view = self.file.view_of(stamp);
        let view = view.map_err(|error| Error::read(self.file.path(), error))?;
        Ok(view.map(|view| self.with(view, 1)))
    }

    /// A reader for walks over all pages: never uses a mapping.
    pub(super) fn walker(&self) -> PageReader<'_> {
        self.with(self.file.positional_view(), WALK_PAGES)
    }

    /// A reader for scattered pages: never uses a mapping either.
    pub(super) fn positional_reader(&self) -> PageReader<'_> {
        self.with(self.file.positional_view(), 1)
    }

    fn with<'f>(&'f self, view: View<'f>, at_once: usize) -> PageReader<'f> {
        PageReader {
            file: self,
            view,
            at_once,
            buffer: Vec::new(),
            first: 0,
            filled: 0,
        }
    }
}

/// Pages read at once on a walk: 256 KiB.
const WALK_PAGES: usize = 64;

/// Returns pages: slices of the mapping, or of a buffer.
pub(super) struct PageReader<'f> {
    file: &'f PageFile,
    view: View<'f>,
    /// Number of pages to read into the buffer at once.
    at_once: usize,
    /// The buffer; empty until a page must be copied.
    buffer: Vec<u8>,
    /// The number of the first page in the buffer.
    first: u32,
    /// Number of filled bytes in the buffer.
    filled: usize,
}

impl PageReader<'_> {
    /// The bytes of the page; fewer than 4096 where the file ends.
    pub(super) fn bytes(&mut self, page: u32) -> Result<&[u8], Error> {
        let offset = file_offset(page, 0);
        if let Some(bytes) = self.view.bytes() {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            return Ok(page_of(bytes, start));
        }
        let buffered = page
            .checked_sub(self.first)
            .map(|n| n as usize)
            .filter(|&n| n < self.filled.div_ceil(PAGE_BYTES))
            .map(|n| n * PAGE_BYTES);
        let start = match buffered {
            Some(start) => start,
            None => {
                self.filled = 0;
                self.buffer.resize(self.at_once * PAGE_BYTES, 0);
                self.filled = self
                    .view
                    .read(offset, &mut self.buffer)
                    .map_err(|error| Error::read(self.file.file.path(), error))?
                    .len();
                self.first = page;
                0
            }
        };
        let filled = self.buffer.get(..self.filled).unwrap_or_default();
        Ok(page_of(filled, start))
    }

    /// The page with its header checked.
    pub(super) fn page(&mut self, page: u32) -> Result<Page<'_>, Error> {
        let file = self.file;
        Page::new(self.bytes(page)?).map_err(|fault| file.fault(page, fault))
    }
}

/// How much of a page is used, and what its header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageUsage {
    /// Bytes used.
    pub(super) used: usize,
    /// Number of entries in the page's header.
    pub(super) announced: u16,
}

impl PageReader<'_> {
    /// The walk over the entries of a page, used by all passes: calls `found` with each
    /// of them, and with the damage that ends the walk, if any; returns the page's
    /// numbers unless its header is damaged.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or `found` fails. Damage is not an error.
    pub(super) fn each_entry(
        &mut self,
        number: u32,
        mut found: impl FnMut(Result<(EntryAddress, Entry<'_>), Error>) -> Result<(), Error>,
    ) -> Result<Option<PageUsage>, Error> {
        let file = self.file;
        let page = match self.page(number) {
            Ok(page) => page,
            Err(error) if error.is_damage() => {
                found(Err(error))?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        for entry in page.entries() {
            let place = |offset| EntryAddress {
                page: number,
                offset,
            };
            found(match entry {
                Ok((offset, entry)) => Ok((place(offset), entry)),
                Err(fault) => Err(file.fault(number, fault)),
            })?;
        }
        Ok(Some(PageUsage {
            used: page.used(),
            announced: page.count(),
        }))
    }
}

impl PageFile {
    pub(super) fn fault(&self, page: u32, fault: PageFault) -> Error {
        Error::Page {
            path: self.file.path().clone(),
            page,
            fault,
        }
    }
}

/// Up to one page of `bytes` from `start`.
fn page_of(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.get(..PAGE_BYTES).unwrap_or(rest)
}
