//! One data page and its entries.
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 2 | number of entries |
//! | 2 | 2 | bytes used, including these four |
//! | 4 | | entries, back to back, in any order |
//! | used | | stale bytes or zeros, to be ignored |
//!
//! (unofficial specification 0.2; the entries end exactly at "used" on all pages of three
//! genuine books.) Entries are read up to the used bytes; their number is only compared
//! with the header.

use super::{
    Key,
    entry::{Entry, STATISTICS_BYTES},
};
use tabia_io::input::bytes;

/// Bytes of a page, and of the header page before page 0.
pub const PAGE_BYTES: usize = 4096;

/// Bytes before the first entry.
pub const PAGE_HEADER_BYTES: usize = 4;

/// A fault of a page. Offsets are from the start of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageFault {
    /// The file ends inside the page's header.
    #[error("only {bytes} bytes of the page are left in the file (expected {PAGE_BYTES})")]
    CutOff {
        /// The bytes left.
        bytes: usize,
    },
    /// The number of used bytes is impossible.
    #[error("{used} bytes used (expected {PAGE_HEADER_BYTES} to {available})")]
    Used {
        /// The number in the page.
        used: u16,
        /// Bytes of the page that are in the file.
        available: usize,
    },
    /// A key of length 0.
    #[error("entry at byte {offset}: key length 0 (expected at least 1)")]
    KeyLength {
        /// Offset of the entry.
        offset: u16,
    },
    /// A move block that is not a length byte and pairs of bytes.
    #[error("entry at byte {offset}: move block length {length} (expected an odd number)")]
    MoveBlock {
        /// Offset of the entry.
        offset: u16,
        /// The length byte.
        length: u8,
    },
    /// An entry that is longer than the used bytes.
    #[error("entry at byte {offset}: runs past the {used} bytes used")]
    PastUsed {
        /// Offset of the entry.
        offset: u16,
        /// The number of used bytes.
        used: u16,
    },
}

impl PageFault {
    /// The offset of the fault in the page.
    #[must_use]
    pub fn offset(&self) -> u16 {
        match *self {
            PageFault::CutOff { .. } | PageFault::Used { .. } => 0,
            PageFault::KeyLength { offset }
            | PageFault::MoveBlock { offset, .. }
            | PageFault::PastUsed { offset, .. } => offset,
        }
    }
}

/// A page whose header has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The used bytes, including the header.
    used: &'a [u8],
    count: u16,
}

impl<'a> Page<'a> {
    /// Checks the header of a page of up to [`PAGE_BYTES`] bytes; the last page of a cut
    /// file may be shorter.
    ///
    /// # Errors
    ///
    /// The header is impossible.
    pub fn new(page: &'a [u8]) -> Result<Page<'a>, PageFault> {
        let page = page.get(..PAGE_BYTES).unwrap_or(page);
        let (Some(count), Some(used)) = (bytes::be_u16_at(page, 0), bytes::be_u16_at(page, 2))
        else {
            return Err(PageFault::CutOff { bytes: page.len() });
        };
        page.get(..usize::from(used))
            .filter(|used| used.len() >= PAGE_HEADER_BYTES)
            .map(|used| Page { used, count })
            .ok_or(PageFault::Used {
                used,
                available: page.len(),
            })
    }

    /// The entry count in the page header; not trusted by [`Page::entries`].
    #[must_use]
    pub fn count(&self) -> u16 {
        self.count
    }

    /// Bytes used, 4 to 4096.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.len()
    }

    /// All entries with their offset in the page. A fault ends the iteration, because the
    /// start of the next entry is then unknown.
    #[must_use]
    pub fn entries(&self) -> Entries<'a> {
        Entries {
            used: self.used,
            at: PAGE_HEADER_BYTES,
        }
    }

    /// The entry at an offset returned by [`Page::entries`] or [`Page::find`].
    ///
    /// # Errors
    ///
    /// No whole entry starts there.
    pub fn entry_at(&self, offset: u16) -> Result<Entry<'a>, PageFault> {
        split_entry(self.used, usize::from(offset)).map(|(entry, _)| entry)
    }

    /// Loads all memory of the page at once, so that a walk need not wait for each cache
    /// line.
    pub(super) fn ask_for(&self) {
        std::hint::black_box(self.used.iter().step_by(64).fold(0, |all, byte| all | byte));
    }

    /// Finds the offset of the entry with this key.
    ///
    /// # Errors
    ///
    /// The page is broken before any such entry.
    pub fn find(&self, key: &[u8]) -> Result<Option<u16>, PageFault> {
        let used = self.used;
        // Keys have similar beginnings and ends, and often the same length. Comparing
        // eight bytes from the middle tells most apart at once, without an unpredictable
        // branch: this walk takes most of the time of a look-up.
        let middle = (key.len() / 2).saturating_sub(4);
        let word = bytes::be_u64_at(key, middle);
        let mut at = PAGE_HEADER_BYTES;
        while let Some(&first) = used.get(at) {
            let key_bytes = usize::from(first & Key::LENGTH);
            let length = usize::from(bytes::u8_at(used, at + key_bytes).unwrap_or(0));
            let next = at + key_bytes + length + STATISTICS_BYTES;
            if key_bytes == 0 || length % 2 == 0 || next > used.len() {
                // The same checks again, for the error message.
                split_entry(used, at)?;
            }
            // Reading beyond a shorter key is harmless: then the keys differ.
            if (word.is_none() || bytes::be_u64_at(used, at + middle) == word)
                && used.get(at..at + key_bytes) == Some(key)
            {
                return Ok(Some(at as u16));
            }
            at = next;
        }
        Ok(None)
    }
}

/// See [`Page::entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    used: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<(u16, Entry<'a>), PageFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.used.len() {
            return None;
        }
        let start = self.at as u16;
        match split_entry(self.used, self.at) {
            Ok((entry, next)) => {
                self.at = next;
                Some(Ok((start, entry)))
            }
            Err(fault) => {
                self.at = usize::MAX;
                Some(Err(fault))
            }
        }
    }
}

/// Reads exactly one entry, as made by [`super::encode_entry`].
///
/// # Errors
///
/// The bytes are not an entry, or more than one.
pub fn read_entry(bytes: &[u8]) -> Result<Entry<'_>, PageFault> {
    let (entry, end) = split_entry(bytes, 0)?;
    if end == bytes.len() {
        Ok(entry)
    } else {
        Err(PageFault::PastUsed {
            offset: end as u16,
            used: bytes.len() as u16,
        })
    }
}

/// The entry at `at` and the offset of the next one. `used` is at most one page.
pub(super) fn split_entry(used: &[u8], at: usize) -> Result<(Entry<'_>, usize), PageFault> {
    let offset = at as u16;
    let past_used = PageFault::PastUsed {
        offset,
        used: used.len() as u16,
    };
    let first = *used.get(at).ok_or(past_used)?;
    let key_bytes = usize::from(first & Key::LENGTH);
    if key_bytes == 0 {
        return Err(PageFault::KeyLength { offset });
    }
    let length = *used.get(at + key_bytes).ok_or(past_used)?;
    if length % 2 == 0 {
        return Err(PageFault::MoveBlock { offset, length });
    }
    let next = at + key_bytes + usize::from(length) + STATISTICS_BYTES;
    let bytes = used.get(at..next).ok_or(past_used)?;
    Ok((Entry::new(bytes, key_bytes, usize::from(length)), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(used: u16, entries: &[u8]) -> Vec<u8> {
        let mut page = vec![0, 1];
        page.extend(used.to_be_bytes());
        page.extend(entries);
        page
    }

    fn walk(page: &[u8]) -> Result<usize, PageFault> {
        Page::new(page)?.entries().try_fold(0, |n, entry| {
            entry?;
            Ok(n + 1)
        })
    }

    #[test]
    fn a_page_header_that_cannot_be_is_named() {
        assert_eq!(walk(&[0, 1, 0]), Err(PageFault::CutOff { bytes: 3 }));
        for used in [0, 3, 5, 4097, u16::MAX] {
            let fault = PageFault::Used { used, available: 4 };
            assert_eq!(walk(&page(used, &[])), Err(fault));
        }
        assert_eq!(walk(&page(4, &[])), Ok(0));
        let long = vec![0x10; 5000];
        let available = 4096;
        let fault = PageFault::Used {
            used: 0x1010,
            available,
        };
        assert_eq!(walk(&long), Err(fault));
    }

    #[test]
    fn broken_entries_are_named_with_their_offset() {
        let offset = 4;
        let long = |first: u8, block: u8| {
            let mut entry = vec![first, 0xaa, block];
            entry.resize(40, 0);
            walk(&page(44, &entry))
        };
        assert_eq!(long(0x40, 1), Err(PageFault::KeyLength { offset }));
        for length in [0, 2, 254] {
            let fault = PageFault::MoveBlock { offset, length };
            assert_eq!(long(0x02, length), Err(fault));
        }
        // Nothing is looked for behind a broken entry.
        let mut broken = vec![0x02, 0xaa, 2];
        broken.resize(36, 0);
        broken.extend([0x02, 0xbb, 1]);
        broken.resize(72, 0);
        let found = Page::new(&page(76, &broken)).unwrap().find(&[0x02, 0xbb]);
        assert_eq!(found, Err(PageFault::MoveBlock { offset, length: 2 }));
        let past = PageFault::PastUsed { offset, used: 44 };
        assert_eq!(long(0x02, 255), Err(past));
        assert_eq!(long(0x02, 7), Err(past));
        assert_eq!(long(0x02, 5), Ok(1));
        // Three bytes are left, which is not an entry.
        let rest = PageFault::PastUsed {
            offset: 40,
            used: 44,
        };
        assert_eq!(long(0x02, 1), Err(PageFault::KeyLength { offset: 40 }));
        assert_ne!(long(0x02, 1), Err(rest));
    }
}
