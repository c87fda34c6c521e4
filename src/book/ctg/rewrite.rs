//! Books out of books: compacting one, merging several.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    BookWriter, Error, RewriteError, Salvage, Splits, WriteError, WriteOptions, Written,
    index::SlotFile,
    is_same_book,
    open::{index_agrees, samples, sibling},
    pages::PageFile,
    sorted::{EntryStream as _, Merge, SortedBook},
    sum::sum_entries,
    trie::upwards,
};

/// What [`compact`] or [`merge`] did.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The new book.
    pub written: Written,
    /// Games in its header.
    pub games: u32,
    /// What was left out of the old ones.
    pub salvage: Salvage,
    /// The slots that the old book had split are split in the new one.
    pub splits_kept: bool,
}

/// Writes the book `source` anew as `target`, which may be the same file: no
/// stale bytes, a right index, right counts.
///
/// Slots that the book has split stay split if its .cto file is sound; with
/// `repack` the index is made as small as it can be instead, and slot 0 is
/// split. Pages that cannot be read are left out and counted. A page that no
/// slot leads to is taken in if what it holds has no slot at all; otherwise it
/// is a stale one.
///
/// `memory` in bytes is needed only if pages overlap; twelve more for every
/// page always. Once `stop` is true the work ends.
///
/// # Errors
///
/// It was stopped. /// The book cannot be read or holds nothing that can be read, or the new one
/// cannot be written. The old one is as it was then.
pub fn compact(
    source: &Path,
    target: &Path,
    repack: bool,
    memory: u64,
    stop: &AtomicBool,
) -> Result<Rewritten, RewriteError> {
    let book = PageFile::open(source, false)?;
    let games = book.header().games;
    let live = LiveSlots::of(source, &book);
    let options = match &live {
        Some(live) if !repack => WriteOptions {
            split_root: false,
            keep_splits: Some(live.splits.clone()),
        },
        _ => WriteOptions::default(),
    };
    let splits_kept = options.keep_splits.is_some();
    let mut writer = BookWriter::create(target, options)?;
    let mut entries = stream(&book, live.as_ref(), &writer.folder(), memory, stop)?;
    let mut entry = Vec::new();
    let mut any = false;
    while let Some(order) = entries.next_into(&mut entry)? {
        any = true;
        go_on(stop)?;
        writer.push_ranked(&entry, order.rank)?;
    }
    let salvage = entries.salvage;
    if !any && let Some(fault) = salvage.first_fault {
        return Err(fault.into());
    }
    // An open file cannot be replaced everywhere.
    drop(book);
    let written = writer.finish(games)?;
    Ok(Rewritten {
        written,
        games,
        salvage,
        splits_kept,
    })
}

/// Adds books up in a new one: every position that any of them holds, with the
/// sum of its numbers (see [`sum_entries`] for the rules); the games of the
/// headers are added too. The order of the books does not matter.
///
/// `memory` in bytes is shared by those books whose pages overlap; twelve more
/// for every page always. Once `stop` is true the work ends.
///
/// # Errors
///
/// It was stopped, `target` is one of the books, a book cannot be read at all, or the new one
/// cannot be written. Nothing is left of it then.
pub fn merge(
    target: &Path,
    sources: &[PathBuf],
    memory: u64,
    stop: &AtomicBool,
) -> Result<Rewritten, RewriteError> {
    if let Some(source) = sources.iter().find(|source| is_same_book(target, source)) {
        return Err(WriteError::Input {
            path: source.clone(),
        }
        .into());
    }
    let books: Vec<PageFile> = sources
        .iter()
        .map(|source| PageFile::open(source, false))
        .collect::<Result<_, Error>>()?;
    let games = books
        .iter()
        .fold(0_u32, |sum, book| sum.saturating_add(book.header().games));
    let mut writer = BookWriter::create(target, WriteOptions::default())?;
    let folder = writer.folder();
    let share = memory / books.len().max(1) as u64;
    let mut streams = Vec::new();
    for (book, source) in books.iter().zip(sources) {
        let live = LiveSlots::of(source, book);
        streams.push(stream(book, live.as_ref(), &folder, share, stop)?);
    }
    let mut entries = Merge::new(streams)?;
    let mut group: Vec<Vec<u8>> = Vec::new();
    let mut sum = Vec::new();
    let mut next = Vec::new();
    let mut head = entries.next_into(&mut next)?;
    while let Some(order) = head {
        go_on(stop)?;
        group.push(std::mem::take(&mut next));
        head = entries.next_into(&mut next)?;
        if head.is_some_and(|head| head.key == order.key) {
            continue;
        }
        let slices: Vec<&[u8]> = group.iter().map(Vec::as_slice).collect();
        sum.clear();
        sum_entries(&slices, &mut sum).map_err(WriteError::Malformed)?;
        writer.push(&sum)?;
        group.clear();
    }
    let mut salvage = Salvage::default();
    for stream in entries.into_streams() {
        salvage.add(stream.salvage);
    }
    let written = writer.finish(games)?;
    Ok(Rewritten {
        written,
        games,
        salvage,
        splits_kept: false,
    })
}

fn go_on(stop: &AtomicBool) -> Result<(), RewriteError> {
    if stop.load(Ordering::Relaxed) {
        return Err(RewriteError::Stopped);
    }
    Ok(())
}

/// The sorted entries of a book, without stale pages where a sound index tells
/// which those are.
fn stream<'b>(
    book: &'b PageFile,
    live: Option<&LiveSlots>,
    folder: &Path,
    memory: u64,
    stop: &AtomicBool,
) -> Result<SortedBook<'b>, RewriteError> {
    let Some(live) = live else {
        let all = |_, _| go_on(stop).map(|()| true);
        return SortedBook::new(book, book.walked(), all, folder, memory);
    };
    let mut named = vec![false; book.held() as usize];
    for (_, page) in &live.slots {
        if let Some(named) = named.get_mut(*page as usize) {
            *named = true;
        }
    }
    // The index may know of more pages than a damaged header.
    let highest = live.slots.iter().map(|(_, page)| page + 1).max();
    let pages = book.walked().max(highest.unwrap_or(0));
    let wanted = |page: u32, hash: Option<u32>| {
        go_on(stop)?;
        let named = named.get(page as usize) == Some(&true);
        Ok(named || hash.is_some_and(|hash| !live.covers(hash)))
    };
    SortedBook::new(book, pages, wanted, folder, memory)
}

/// The slots of a sound .cto file that have a page.
struct LiveSlots {
    /// Slot and page, by slot.
    slots: Vec<(u32, u32)>,
    splits: Splits,
}

impl LiveSlots {
    /// `None` if the file is missing, damaged or of another book: then it is
    /// no help.
    fn of(path: &Path, book: &PageFile) -> Option<LiveSlots> {
        let mut index = SlotFile::open(&sibling(path, "cto")?, false).ok()?;
        index.forget_bounds();
        let samples = samples(book).ok()?;
        if !index_agrees(book, &index, &samples) {
            return None;
        }
        let mut slots: Vec<(u32, u32)> = Vec::new();
        let mut named = vec![false; book.held() as usize];
        let mut sound = true;
        index
            .for_each(|slot, page| {
                if page == -1 {
                    return;
                }
                let place = usize::try_from(page).ok();
                match (place.and_then(|at| named.get_mut(at)), u32::try_from(slot)) {
                    // So there are no more slots in the list than pages.
                    (Some(named @ false), Ok(slot)) => {
                        *named = true;
                        slots.push((slot, page.cast_unsigned()));
                    }
                    _ => sound = false,
                }
            })
            .ok()?;
        let splits = Splits::above(slots.iter().map(|(slot, _)| *slot));
        let above_another = |(slot, _): &(u32, u32)| splits.contains((*slot).into());
        (sound && !slots.is_empty() && !slots.iter().any(above_another))
            .then_some(LiveSlots { slots, splits })
    }

    /// Whether some slot has a page for a bit-reversed hash.
    fn covers(&self, reversed: u32) -> bool {
        let hash = u64::from(reversed.reverse_bits());
        let deepest = self.slots.last().map_or(0, |(slot, _)| u64::from(*slot));
        let level = (deepest + 1).ilog2();
        let n = (1_u64 << level) - 1;
        upwards((hash & n) + n).any(|slot| {
            u32::try_from(slot)
                .is_ok_and(|slot| self.slots.binary_search_by_key(&slot, |s| s.0).is_ok())
        })
    }
}
