//! Which pages the index leads to: entries that no slot leads to are old.

use super::{CtgBook, EntryAddress, Error, Key, reader::Index, trie::is_of_slot};

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
}
