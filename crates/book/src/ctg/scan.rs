//! An index in memory, made from the pages of a book without index files.
//!
//! In a sound book the entries of a page share the low bits of their hashes, so in the
//! order of the *bit-reversed* hashes every page is contiguous. One number per page is
//! then enough: eight bytes of memory for 4096 bytes of book. If pages overlap in that
//! order (a book made in some other way), every entry takes eight bytes, and neighbours
//! in one page are joined.

use super::{Error, pages::PageFile};

/// Runs of bit-reversed hashes with the page of each.
#[derive(Debug, Default)]
pub(super) struct ScanIndex {
    /// First hash of the run (bit-reversed), page; sorted.
    runs: Vec<(u32, u32)>,
}

/// The results of a scan.
#[derive(Debug, Default)]
pub(super) struct ScanReport {
    /// Entries read.
    pub(super) entries: u64,
    /// Pages that cannot be read to their end.
    pub(super) bad_pages: u32,
    /// Their numbers, ascending.
    pub(super) damaged: Vec<u32>,
    /// The fault of the first of them.
    pub(super) first_fault: Option<Error>,
}

impl ScanIndex {
    /// Reads all pages once, or twice if they overlap. Damaged pages are read as far as
    /// possible and reported.
    pub(super) fn build(book: &PageFile) -> Result<(ScanIndex, ScanReport), Error> {
        ScanIndex::build_over(book, book.pages_in_use())
    }

    /// As [`ScanIndex::build`], for the first `pages` pages of the file, whatever its
    /// header says.
    pub(super) fn build_over(
        book: &PageFile,
        pages: u32,
    ) -> Result<(ScanIndex, ScanReport), Error> {
        let mut spans: Vec<(u32, u32, u32)> = Vec::new();
        let report = for_each_hash(book, pages, |page, hash| match spans.last_mut() {
            Some((low, high, last)) if *last == page => {
                *low = hash.min(*low);
                *high = hash.max(*high);
            }
            _ => spans.push((hash, hash, page)),
        })?;
        spans.sort_unstable();
        let disjoint = spans
            .iter()
            .zip(spans.iter().skip(1))
            .all(|((_, high, _), (low, _, _))| high < low);
        let runs = if disjoint {
            spans
                .into_iter()
                .map(|(low, _, page)| (low, page))
                .collect()
        } else {
            drop(spans);
            let mut runs = Vec::new();
            for_each_hash(book, pages, |page, hash| runs.push((hash, page)))?;
            runs.sort_unstable();
            runs.dedup_by_key(|(_, page)| *page);
            runs
        };
        Ok((ScanIndex { runs }, report))
    }

    /// The pages that may have a hash; almost always one.
    pub(super) fn pages(&self, hash: u32) -> impl Iterator<Item = u32> {
        let hash = hash.reverse_bits();
        let end = self.runs.partition_point(|&(first, _)| first <= hash);
        let runs = self.runs.get(..end).unwrap_or_default();
        // If a run begins with exactly this hash, the run before may end with it.
        let mut more = true;
        runs.iter()
            .rev()
            .take_while(move |(first, _)| {
                let take = more;
                more = *first == hash;
                take
            })
            .map(|&(_, page)| page)
    }
}

/// Calls `found` with page and bit-reversed hash of every entry, in file order.
pub(super) fn for_each_hash(
    book: &PageFile,
    pages: u32,
    mut found: impl FnMut(u32, u32),
) -> Result<ScanReport, Error> {
    let mut report = ScanReport::default();
    let mut reader = book.walker();
    for number in 0..pages {
        reader.each_entry(number, |entry| {
            match entry {
                Ok((place, entry)) => {
                    report.entries += 1;
                    found(
                        place.page,
                        super::key::hash(entry.key_bytes()).reverse_bits(),
                    );
                }
                Err(fault) => {
                    report.bad_pages += 1;
                    report.damaged.push(number);
                    // Look-ups do not meet it: the index does not lead there.
                    book.leave_out(fault.clone());
                    report.first_fault.get_or_insert(fault);
                }
            }
            Ok(())
        })?;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctg::CtgBook;

    #[test]
    fn a_sound_book_takes_a_number_for_each_page() {
        let book = CtgBook::open("../../books/tabia.ctg", &Default::default()).unwrap();
        let (index, report) = ScanIndex::build(&book.pages).unwrap();
        assert_eq!(index.runs.len(), book.pages.page_count() as usize);
        assert!(report.entries > 20 * index.runs.len() as u64);
    }

    #[test]
    fn a_hash_shared_by_two_pages_leads_to_both() {
        let low = 0x1234_u32;
        let index = ScanIndex {
            runs: vec![(5, 0), (low, 1), (low, 2), (low + 9, 3)],
        };
        let pages = |hash: u32| index.pages(hash.reverse_bits()).collect::<Vec<u32>>();
        assert_eq!(pages(low), [2, 1, 0]);
        assert_eq!(pages(low + 1), [2]);
        assert_eq!(pages(4), [0_u32; 0]);
        assert_eq!(pages(u32::MAX), [3]);
    }
}
