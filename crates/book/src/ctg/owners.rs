//! Which pages the index leads to: entries that no slot leads to are old.

use super::{
    CtgBook, EntryAddress, Error, Key, PAGE_HEADER_BYTES, index::SlotPage, reader::Index,
    trie::is_of_slot,
};

/// The slot that leads to each page: pages without a slot may have old states of entries.
pub(super) enum Owners {
    /// Without a .cto file every page counts.
    All,
    /// By page; [`Owners::NONE`] and [`Owners::SEVERAL`].
    Slots(Vec<u32>),
}

impl Owners {
    const NONE: u32 = u32::MAX;
    const SEVERAL: u32 = u32::MAX - 1;

    pub(super) fn read(book: &CtgBook) -> Result<Owners, Error> {
        let Index::Slots(slots) = &book.index else {
            return Ok(Owners::All);
        };
        let mut owners = vec![Owners::NONE; book.pages.page_count() as usize];
        slots.for_each(|slot, page| {
            let owner = usize::try_from(page).ok().and_then(|at| owners.get_mut(at));
            if let Some(owner) = owner {
                *owner = match *owner {
                    Owners::NONE => u32::try_from(slot).unwrap_or(Owners::SEVERAL),
                    _ => Owners::SEVERAL,
                };
            }
        })?;
        Ok(Owners::Slots(owners))
    }

    pub(super) fn lead_to(&self, place: EntryAddress, key: &Key) -> bool {
        let Owners::Slots(owners) = self else {
            return true;
        };
        match owners.get(place.page as usize) {
            None | Some(&Owners::NONE) => false,
            Some(&Owners::SEVERAL) => true,
            Some(&slot) => is_of_slot(slot, key.hash()),
        }
    }

    /// Whether look-ups certainly find an entry, if there is no other with its key. Every
    /// entry of the book must be asked for: the first of a page also stands for its slot.
    pub(super) fn lead_surely_to(
        &self,
        book: &CtgBook,
        place: EntryAddress,
        hash: u32,
    ) -> Result<bool, Error> {
        let (Owners::Slots(owners), Index::Slots(slots)) = (self, &book.index) else {
            return Ok(true);
        };
        let is_of_page = match owners.get(place.page as usize) {
            None | Some(&(Owners::NONE | Owners::SEVERAL)) => false,
            Some(&slot) => is_of_slot(slot, hash),
        };
        if !is_of_page || usize::from(place.offset) != PAGE_HEADER_BYTES {
            return Ok(is_of_page);
        }
        let reader = slots.reader()?;
        for slot in reader.walk(hash) {
            match reader.page_of(slot.number, book.pages.page_count()) {
                Ok(SlotPage::Page(page)) => return Ok(page == place.page),
                Ok(SlotPage::None) => {}
                Ok(SlotPage::Beyond | SlotPage::Missing(_)) => return Ok(false),
                Err(error) if error.is_damage() => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}
