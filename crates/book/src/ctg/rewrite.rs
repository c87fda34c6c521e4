//! Making books from books: compacting one, merging several.

use std::path::{Path, PathBuf};

use shakmaty::Color;

use super::{
    BookWriter, Error, Key, Salvage, Splits, WriteOptions, Written,
    index::SlotFile,
    lock,
    open::{index_agrees, samples},
    pages::PageFile,
    sorted::{EntryStream as _, Merge, Ordered, SortedBook, Span, Survey},
    sum::sum_entries,
    trie::is_of_slot,
};
use tabia_io::atomic::{LOCK_WAIT, Previous, is_same_file};
use tabia_io::input::sibling::sibling;
use tabia_io::progress::{Progress, Watch};

tabia_io::options! {
    /// Options of [`compact`] and [`merge`].
    #[derive(Clone, Copy, Debug)]
    pub struct RewriteOptions {
        /// What to do with an existing book at the target.
        old: Previous = Previous::Refuse,
        /// Makes the index as small as possible.
        repack: bool = false,
        /// Bytes for sorting books whose pages overlap; twelve bytes for every page are
        /// always needed in addition.
        memory: u64 = 512 << 20,
        /// Whether damage is an error.
        strict: bool = false,
        /// The side that the new book plays for; by default that of the old one, or of all
        /// old ones.
        only: Option<Color> = None,
        /// Whether damage of a book that is replaced is one: its unreadable parts would be
        /// only in the backup.
        whole: bool = false,
    }
}

/// The result of [`compact`] or [`merge`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rewritten {
    /// The new book.
    pub written: Written,
    /// Games in its header.
    pub games: u32,
    /// The side that it plays for; `None` for both.
    pub only: Option<Color>,
    /// The side that each of the old books plays for.
    pub sides: Vec<Option<Color>>,
    /// Losses: parts of the old books that could not be read.
    pub salvage: Salvage,
    /// Whether the split slots of the old book stay split.
    pub splits_kept: bool,
}

/// Writes the book `source` again as `target`, without stale bytes, with a correct index
/// and correct counts. Both may be the same file: then the old one gets the name with
/// `.bak`.
///
/// Slots that the book has split stay split if its .cto file is sound; with `repack` the
/// index is made as small as possible instead, and slot 0 is split. Pages that cannot be
/// read are left out and counted. From a page that no slot leads to, only entries that
/// are nowhere else are used: it may be a lost page, or an old state of other pages.
///
/// `watch` can cancel the work.
///
/// # Errors
///
/// The work was cancelled; the book cannot be read or nothing in it can; or the new one
/// cannot be written. The old book is then unchanged.
pub fn compact(
    source: &Path,
    target: &Path,
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
) -> Result<Rewritten, Error> {
    // If the file is not a book, the reader has the better message.
    drop(PageFile::open(source, false)?);
    let mut options = *options;
    let mut kept_away = None;
    if is_same_file(target, source) {
        kept_away = Some(lock::acquire(source, LOCK_WAIT)?);
        options.old = Previous::Keep;
    }
    let done = rewrite(source, target, &options, watch, None, |_| Ok(()));
    drop(kept_away);
    done
}

/// What happens to the entries of a book, each given by its offset in the file.
pub(super) trait Edit {
    /// Whether an entry is left out. Only for keys that are positions.
    fn leaves_out(&mut self, offset: u64, key: &Key, entry: &[u8]) -> bool;

    /// Changes an entry that stays.
    fn change(&mut self, offset: u64, key: &Key, entry: &mut Vec<u8>);
}

/// Changes without a place.
struct Changes<'a>(&'a mut dyn FnMut(&Key, &mut Vec<u8>));

impl Edit for Changes<'_> {
    fn leaves_out(&mut self, _: u64, _: &Key, _: &[u8]) -> bool {
        false
    }

    fn change(&mut self, _: u64, key: &Key, entry: &mut Vec<u8>) {
        (self.0)(key, entry);
    }
}

/// Rewrites a book in place with some entries changed; split slots stay split. The caller
/// has the lock. Refuses a damaged book, because its unreadable parts would be lost.
pub(crate) fn rewrite_with(
    book: &Path,
    memory: u64,
    watch: &mut Watch<'_>,
    edit: &mut dyn FnMut(&Key, &mut Vec<u8>),
) -> Result<Rewritten, Error> {
    let options = RewriteOptions {
        old: Previous::Replace,
        memory,
        ..RewriteOptions::default()
    };
    let sound = |salvage: &Salvage| match salvage.is_loss() {
        true => Err(Error::Damaged(salvage.messages.join("; "))),
        false => Ok(()),
    };
    rewrite(book, book, &options, watch, Some(&mut Changes(edit)), sound)
}

/// Rewrites a book; `edit` changes entries or leaves them out. Nothing is written if
/// `check` does not accept the losses.
pub(super) fn rewrite(
    source: &Path,
    target: &Path,
    wanted: &RewriteOptions,
    watch: &mut Watch<'_>,
    mut edit: Option<&mut dyn Edit>,
    check: impl FnOnce(&Salvage) -> Result<(), Error>,
) -> Result<Rewritten, Error> {
    let book = PageFile::open(source, false)?;
    let games = book.header().games;
    let side = book.header().only;
    let only = wanted.only.or(side);
    let surveyed = Surveyed::read(&book, source, &mut watch.part(0, 250))?;
    let kept = surveyed.live.as_ref().filter(|_| !wanted.repack);
    let splits_kept = kept.is_some();
    let options = WriteOptions {
        split_root: !splits_kept,
        keep_splits: kept.map(|live| live.splits.clone()),
        old: wanted.old,
        only,
    };
    let mut writer = BookWriter::create(target, options)?;
    let mut entries = surveyed.sorted(&writer.folder(), wanted.memory)?;
    let mut entry = Vec::new();
    let total = book.header().positions.into();
    let mut done = 0;
    let mut writing = watch.part(250, 900);
    while let Some(order) = entries.next_key_into(&mut entry)? {
        let Ordered { key, .. } = &order;
        let offset = order.file_offset();
        let by = edit.as_mut();
        let goes = by.is_some_and(|edit| edit.leaves_out(offset, key, &entry));
        if !goes && !entries.is_position(&order) {
            continue;
        }
        done += 1;
        writing.position("writing", done, Some(total))?;
        if goes {
            continue;
        }
        if let Some(edit) = &mut edit {
            edit.change(offset, key, &mut entry);
        }
        writer.push_ranked(&entry, order.rank)?;
    }
    let salvage = entries.salvage;
    if done == 0
        && let Some(fault) = salvage.first_fault
    {
        return Err(fault);
    }
    check(&salvage)?;
    salvage.checked(wanted.strict)?;
    // Some systems cannot replace an open file.
    drop(book);
    let saving = Progress::new("saving", "positions", done, None);
    watch.part(900, 1000).step(saving)?;
    let written = writer.finish(games)?;
    Ok(Rewritten {
        written,
        games,
        only,
        sides: vec![side],
        salvage,
        splits_kept,
    })
}

/// Merges books into a new one with every position that any of them has and the sum of
/// its numbers (see [`sum_entries`] for the rules); the games of the headers are added
/// too. The new book plays for one side if all old ones play for that side. The order of the books does not matter. One of them may be at `target`.
///
/// The memory is shared by the books whose pages overlap. `watch` can cancel the work.
///
/// # Errors
///
/// The work was cancelled, a book cannot be read at all, or the new one cannot be
/// written; then no new file remains. A damaged book is not replaced without a backup,
/// because its unreadable parts would be lost.
pub fn merge(
    target: &Path,
    sources: &[PathBuf],
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
) -> Result<Rewritten, Error> {
    let replaced = sources.iter().find(|source| is_same_file(target, source));
    let _kept_away = replaced.map(|source| lock::acquire(source, LOCK_WAIT));
    let _kept_away = _kept_away.transpose()?;
    let books: Vec<PageFile> = sources
        .iter()
        .map(|source| PageFile::open(source, false))
        .collect::<Result<_, Error>>()?;
    let games = books
        .iter()
        .fold(0_u32, |sum, book| sum.saturating_add(book.header().games));
    let sides: Vec<Option<Color>> = books.iter().map(|book| book.header().only).collect();
    let first = sides.first().copied().flatten();
    let all = first.filter(|side| sides.iter().all(|other| *other == Some(*side)));
    let only = options.only.or(all);
    let written_as = WriteOptions {
        old: options.old,
        only,
        ..WriteOptions::default()
    };
    let mut writer = BookWriter::create(target, written_as)?;
    let folder = writer.folder();
    let share = options.memory / books.len().max(1) as u64;
    let mut streams = Vec::new();
    let steps = (books.len() as u16).max(1);
    for ((book, source), step) in books.iter().zip(sources).zip(0..) {
        let from = |step: u16| (250 * u32::from(step) / u32::from(steps)) as u16;
        let surveyed = Surveyed::read(book, source, &mut watch.part(from(step), from(step + 1)))?;
        streams.push(surveyed.sorted(&folder, share)?);
    }
    let mut entries = Merge::new(streams)?;
    let mut group: Vec<Vec<u8>> = Vec::new();
    let mut sum = Vec::new();
    let mut next = Vec::new();
    let mut head = entries.next_into(&mut next)?;
    let total = books.iter().map(|book| u64::from(book.header().positions));
    let total = total.sum();
    let mut done = 0;
    let mut merging = watch.part(250, 900);
    while let Some(order) = head {
        done += 1;
        merging.position("merging", done, Some(total))?;
        group.push(std::mem::take(&mut next));
        head = entries.next_into(&mut next)?;
        if head.is_some_and(|head| head.key == order.key) {
            continue;
        }
        let slices: Vec<&[u8]> = group.iter().map(Vec::as_slice).collect();
        sum.clear();
        sum_entries(&slices, &mut sum).map_err(Error::malformed)?;
        writer.push(&sum)?;
        group.clear();
    }
    let mut salvage = Salvage::default();
    for stream in entries.into_streams() {
        salvage.add(stream.salvage);
    }
    let is_needed = options.whole || options.old == Previous::Replace;
    if replaced.is_some() && is_needed && salvage.is_loss() {
        return Err(Error::Damaged(salvage.messages.join("; ")));
    }
    salvage.checked(options.strict)?;
    // Some systems cannot replace an open file.
    drop(books);
    let saving = Progress::new("saving", "positions", done, None);
    watch.part(900, 1000).step(saving)?;
    let written = writer.finish(games)?;
    Ok(Rewritten {
        written,
        games,
        only,
        sides,
        salvage,
        splits_kept: false,
    })
}

/// A book after the first pass over it.
struct Surveyed<'b> {
    survey: Survey<'b>,
    /// Its index, if sound.
    live: Option<LiveSlots>,
    salvage: Salvage,
}

impl<'b> Surveyed<'b> {
    /// Reads all pages.
    fn read(book: &'b PageFile, source: &Path, watch: &mut Watch<'_>) -> Result<Self, Error> {
        let live = LiveSlots::read(source, book);
        // The index may have more pages than a damaged header says.
        let named = live.iter().flat_map(|live| &live.slots);
        let end = named.map(|(_, page)| page + 1).max().unwrap_or(0);
        let pages = book.pages_to_read().max(end);
        let mut survey = Survey::read(book, pages, watch)?;
        let mut salvage = Salvage::default();
        let live = live.filter(|live| live.fits(&survey.spans));
        match &live {
            None => {
                survey.spans.retain(|span| span.page < book.pages_to_read());
                survey
                    .faults
                    .retain(|(page, _)| *page < book.pages_to_read());
            }
            Some(live) => {
                let slot_of = live.slot_of(pages);
                let unnamed = |page: u32| slot_of.get(page as usize) == Some(&NO_SLOT);
                let spans = survey.spans.iter().map(|span| span.page);
                survey.unreached = spans.filter(|page| unnamed(*page)).collect();
                for page in &survey.unreached {
                    salvage.unreached_pages += 1;
                    salvage.message(|| unreached(book, *page));
                }
                let unreached = &survey.unreached;
                survey
                    .faults
                    .retain(|(page, _)| !unnamed(*page) || unreached.contains(page));
            }
        }
        Ok(Surveyed {
            survey,
            live,
            salvage,
        })
    }

    fn sorted(self, folder: &Path, memory: u64) -> Result<SortedBook<'b>, Error> {
        SortedBook::new(self.survey, self.salvage, folder, memory)
    }
}

fn unreached(book: &PageFile, page: u32) -> String {
    format!(
        "{}: page {page}: no slot leads to it; its entries that occur nowhere else were added",
        book.file().path().display()
    )
}

/// A page without a slot.
const NO_SLOT: u32 = u32::MAX;

/// The slots with a page in a sound .cto file.
struct LiveSlots {
    /// Slot and page, ordered by slot.
    slots: Vec<(u32, u32)>,
    splits: Splits,
}

impl LiveSlots {
    /// `None` if the file is missing, damaged or of another book.
    fn read(path: &Path, book: &PageFile) -> Option<LiveSlots> {
        let mut index = SlotFile::open(&sibling(path, "cto")?, false).ok()?;
        index.forget_bounds();
        let samples = samples(book).ok()?;
        if !index_agrees(book, &index, &samples) {
            return None;
        }
        let mut slots: Vec<(u32, u32)> = Vec::new();
        let mut named = vec![false; book.page_count() as usize];
        let mut sound = true;
        index
            .for_each(|slot, page| {
                if page == -1 {
                    return;
                }
                let place = usize::try_from(page).ok();
                match (place.and_then(|at| named.get_mut(at)), u32::try_from(slot)) {
                    // So the list has no more slots than there are pages.
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

    /// The slot of every page.
    fn slot_of(&self, pages: u32) -> Vec<u32> {
        let mut slot_of = vec![NO_SLOT; pages as usize];
        for (slot, page) in &self.slots {
            if let Some(known) = slot_of.get_mut(*page as usize) {
                *known = *slot;
            }
        }
        slot_of
    }

    /// Whether all entries of the pages are in the page of their slot.
    fn fits(&self, spans: &[Span]) -> bool {
        let pages = spans.last().map_or(0, |span| span.page + 1);
        let slot_of = self.slot_of(pages);
        spans.iter().all(|span| {
            let slot = slot_of.get(span.page as usize).copied();
            slot.is_none_or(|slot| {
                let holds = |reversed: u32| is_of_slot(slot, reversed.reverse_bits());
                slot == NO_SLOT || holds(span.first) && holds(span.last)
            })
        })
    }
}
