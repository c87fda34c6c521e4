//! The .cto and .ctb files: from a hash to a page.
//!
//! The index is a binary trie over the bits of the hash, lowest bit first. Its nodes
//! ("slots") are numbered level by level: level L has the slots 2^L - 1 to 2^(L+1) - 2,
//! and on it a hash belongs to slot (hash AND n) + n with n = 2^L - 1. A slot is *live*
//! (it has a page), or *split* (its entries are in the two slots below it), or unused.
//! The page of a key is that of the first live slot on its path. (Readers agree; the
//! genuine files were rebuilt byte for byte from this rule.)
//!
//! .cto, big-endian:
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 2 | 16, length of this header |
//! | 2 | 2 | 1 |
//! | 4 | 4 | number of slots |
//! | 8 | 4 | 0 |
//! | 12 | 4 | the lower bound of the .ctb |
//! | 16 + 4s | 4 | slot s: page number, or -1 for a slot without page |
//!
//! .ctb, big-endian:
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 2 | 12, length of this header |
//! | 2 | 2 | 1 |
//! | 4 | 4 | lower bound: every slot below it is split |
//! | 8 | 4 | upper bound: no slot from it on is split; a multiple of 8 |
//! | 12 | upper / 8 | one bit per slot, least significant first, 1 = split |
//!
//! The bounds only save steps: without them a walk starts at slot 0, ends where the .cto
//! ends, and finds the same. So a missing .ctb costs a little time, a missing .cto a scan
//! ([`super::scan`]).

use std::{fmt::Display, io, path::Path};

use super::Error;
use tabia_io::input::{
    bytes::{be_u16_at, be_u32_at},
    file::{DataFile, View},
};

/// Bytes before slot 0 in a .cto file.
pub const CTO_HEADER_BYTES: u64 = 16;

/// Bytes before the bitmap in a .ctb file.
pub const CTB_HEADER_BYTES: u64 = 12;

/// The range of slots to which a walk can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Slots below are split and need not be read.
    pub lower: u64,
    /// Slots from here on are not split: the walk ends after the first.
    pub upper: u64,
}

/// One slot of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Level in the trie, 0 is the root: the number of hash bits used.
    pub level: u32,
    /// Slot number.
    pub number: u64,
}

/// The slots to look at for a hash, in order: at most 33.
pub fn slots(hash: u32, bounds: Bounds) -> impl Iterator<Item = Slot> {
    // The first level that reaches the lower bound: 2^(L+1) - 2 >= lower.
    let first = (bounds.lower + 2).next_power_of_two().trailing_zeros() - 1;
    let mut ended = false;
    (first.min(33)..=32)
        .map(move |level| {
            let n = (1_u64 << level) - 1;
            Slot {
                level,
                number: (u64::from(hash) & n) + n,
            }
        })
        .filter(move |slot| slot.number >= bounds.lower)
        .take_while(move |slot| {
            let go_on = !ended;
            ended = slot.number >= bounds.upper;
            go_on
        })
}

/// The content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPage {
    /// A page number.
    Page(u32),
    /// -1: split, or never used.
    None,
    /// The .cto file has no such slot.
    Beyond,
    /// A page that the .ctg file does not have because it is cut off.
    Missing(u32),
}

/// An open index on disk.
#[derive(Debug)]
pub(super) struct SlotFile {
    file: DataFile,
    /// Slots in the file.
    slots: u64,
    pub(super) bounds: Bounds,
}

impl SlotFile {
    /// Opens a .cto file. The text of the error completes "the index ...".
    pub(super) fn open(path: &Path, mmap: bool) -> Result<SlotFile, String> {
        SlotFile::new(DataFile::open(path, mmap).map_err(unread)?)
    }

    /// As [`SlotFile::open`], for an open file.
    pub(super) fn new(file: DataFile) -> Result<SlotFile, String> {
        let start = file.start(CTO_HEADER_BYTES as usize).map_err(unread)?;
        if be_u16_at(&start, 0) != Some(CTO_HEADER_BYTES as u16) {
            return Err("is damaged (it does not start with the bytes 00 10)".into());
        }
        let present = file.len().saturating_sub(CTO_HEADER_BYTES) / 4;
        let slots = u64::from(be_u32_at(&start, 4).unwrap_or(0));
        if slots == 0 || slots > present {
            return Err(format!(
                "is damaged (its header says {slots} slots, the file has {present})"
            ));
        }
        Ok(SlotFile {
            file,
            slots,
            bounds: Bounds {
                lower: 0,
                upper: slots,
            },
        })
    }

    pub(super) fn file(&self) -> &DataFile {
        &self.file
    }

    pub(super) fn slots(&self) -> u64 {
        self.slots
    }

    /// Reads the bounds from a .ctb file. The text of the error completes "the index
    /// ...".
    pub(super) fn take_bounds(&mut self, file: &DataFile) -> Result<(), String> {
        let start = file.start(CTB_HEADER_BYTES as usize).map_err(unread)?;
        let (Some(length), Some(lower), Some(upper)) = (
            be_u16_at(&start, 0),
            be_u32_at(&start, 4),
            be_u32_at(&start, 8),
        ) else {
            return Err(format!("is cut off ({} bytes)", file.len()));
        };
        let bounds = Bounds {
            lower: lower.into(),
            upper: upper.into(),
        };
        // The upper bound, a multiple of 8, may be beyond the last slot.
        let possible = u64::from(length) == CTB_HEADER_BYTES
            && bounds.lower <= bounds.upper
            && bounds.upper < self.slots + 8
            && file.len() >= CTB_HEADER_BYTES + bounds.upper / 8;
        if !possible {
            return Err(format!(
                "is damaged or of another book (bounds {lower} and {upper}, {} slots)",
                self.slots
            ));
        }
        self.bounds = bounds;
        Ok(())
    }

    /// Removes the bounds: walks start at slot 0 again.
    pub(super) fn forget_bounds(&mut self) {
        self.bounds = Bounds {
            lower: 0,
            upper: self.slots,
        };
    }

    /// Reads all slots in pieces, without a mapping: number and content.
    pub(super) fn for_each(&self, mut found: impl FnMut(u64, i32)) -> Result<(), Error> {
        let path = self.file.path();
        let view = self.file.positional_view();
        let mut buffer = vec![0; 64 << 10];
        let mut slot = 0;
        while slot < self.slots {
            let bytes = view
                .read(CTO_HEADER_BYTES + 4 * slot, &mut buffer)
                .map_err(|error| Error::read(path, error))?;
            let (pages, _) = bytes.as_chunks::<4>();
            if pages.is_empty() {
                return Err(Error::io(path.clone(), io::ErrorKind::UnexpectedEof.into()));
            }
            for page in pages {
                // The file may be longer than its header says.
                if slot < self.slots {
                    found(slot, i32::from_be_bytes(*page));
                }
                slot += 1;
            }
        }
        Ok(())
    }

    /// The first slot that is not empty and leads to no page below `pages`; reads all
    /// slots.
    pub(super) fn astray(&self, pages: u32) -> Result<Option<i32>, Error> {
        let mut first = None;
        self.for_each(|_, page| {
            if page != -1 && u32::try_from(page).map_or(true, |page| page >= pages) {
                first.get_or_insert(page);
            }
        })?;
        Ok(first)
    }

    /// A reader for the look-ups of one probe.
    pub(super) fn reader(&self) -> Result<SlotReader<'_>, Error> {
        let view = self
            .file
            .view()
            .map_err(|error| Error::read(self.file.path(), error))?;
        Ok(SlotReader { index: self, view })
    }
}

/// Completes "the index ..." for a file that cannot be opened or read.
pub(super) fn unread(error: impl Display) -> String {
    format!("cannot be read ({error})")
}

/// Reads slots.
#[derive(Clone, Copy)]
pub(super) struct SlotReader<'f> {
    index: &'f SlotFile,
    view: View<'f>,
}

impl<'f> SlotReader<'f> {
    /// The slots to look at for a hash.
    pub(super) fn walk(&self, hash: u32) -> impl Iterator<Item = Slot> + use<'f> {
        slots(hash, self.index.bounds)
    }

    /// The content of `slot`; `pages` is the number of pages in the book.
    pub(super) fn page_of(&self, slot: u64, pages: u32) -> Result<SlotPage, Error> {
        if slot >= self.index.slots {
            return Ok(SlotPage::Beyond);
        }
        let offset = CTO_HEADER_BYTES + 4 * slot;
        let mut buffer = [0; 4];
        let path = self.index.file.path();
        let page = self
            .view
            .read(offset, &mut buffer)
            .map_err(|error| Error::read(path, error))?
            .first_chunk()
            .map(|bytes| i32::from_be_bytes(*bytes))
            .ok_or_else(|| Error::io(path.clone(), io::ErrorKind::UnexpectedEof.into()))?;
        match u32::try_from(page) {
            Ok(page) if page < pages => Ok(SlotPage::Page(page)),
            Ok(page) => Ok(SlotPage::Missing(page)),
            _ if page == -1 => Ok(SlotPage::None),
            _ => Err(Error::Slot {
                path: path.clone(),
                slot,
                offset,
                page,
                pages,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(hash: u32, lower: u64, upper: u64) -> Vec<u64> {
        slots(hash, Bounds { lower, upper })
            .map(|slot| slot.number)
            .collect()
    }

    #[test]
    fn the_path_of_the_start_position_in_a_book_of_257_pages() {
        let hash = 0xeb7e_d3d7;
        assert_eq!(numbers(hash, 0, 384), [0, 2, 6, 14, 22, 54, 86, 214, 470]);
        assert_eq!(numbers(hash, 248, 384), [470]);
        assert_eq!(numbers(0x8c97_8593, 248, 384), [402]);
    }

    #[test]
    fn a_slot_between_the_bounds_may_be_split() {
        assert_eq!(numbers(0xb2ce_407c, 248, 384), [251, 379, 635]);
        assert_eq!(numbers(0x355a_017c, 248, 384), [251, 379, 891]);
    }

    #[test]
    fn a_book_of_one_page_has_one_slot() {
        assert_eq!(numbers(0xeb7e_d3d7, 0, 0), [0]);
    }

    #[test]
    fn any_bounds_make_a_short_walk_downwards() {
        let edges = [0, 1, 2, 3, 7, 8, 1 << 20, u64::from(u32::MAX), 1 << 33];
        for hash in [0, 1, 0x8000_0000, u32::MAX] {
            for lower in edges {
                for upper in edges {
                    let walk = numbers(hash, lower, upper);
                    assert!(walk.len() <= 33);
                    assert!(walk.is_sorted());
                    let full: Vec<u64> = numbers(hash, 0, u64::MAX)
                        .into_iter()
                        .filter(|&slot| slot >= lower)
                        .collect();
                    assert!(full.starts_with(&walk));
                }
            }
        }
    }
}
