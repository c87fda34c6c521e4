//! Passes over all pages of a book, on all processors.

#[cfg(feature = "json")]
use super::Salvage;
use super::{CtgBook, Entry, EntryAddress, Error};
use tabia_io::parallel::{Panicked, in_order};
use tabia_io::progress::{Progress, Watch};

/// Pages that one thread takes at a time.
const BLOCK: u32 = 64;

impl CtgBook {
    /// Reads all entries on all processors, block by block: `each` adds every entry to
    /// the value of `start` for its block; `take` gets these values in the order of the
    /// file. Returns what could not be read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, the work is cancelled, or `each` or `take` fails. Damage
    /// is not an error.
    #[cfg(feature = "json")]
    pub(crate) fn in_blocks<T: Send>(
        &self,
        stage: &'static str,
        watch: &mut Watch<'_>,
        start: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, EntryAddress, &Entry<'_>) -> Result<(), Error> + Sync,
        mut take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<Salvage, Error> {
        let mut all = Salvage::default();
        self.each_block(
            stage,
            watch,
            |(made, salvage): &mut (Option<T>, Salvage), entry| match entry {
                Ok((place, entry)) => each(made.get_or_insert_with(&start), place, &entry),
                Err(fault) => {
                    salvage.bad_page(fault);
                    Ok(())
                }
            },
            Ok,
            |(made, salvage)| {
                all.add(salvage);
                made.map_or(Ok(()), &mut take)
            },
        )?;
        Ok(all)
    }

    /// Walks over all pages on all processors: `each` adds every entry and every damage
    /// to the value of a block; `work` converts that value, and `take` gets the results
    /// in the order of the file.
    pub fn each_block<S: Default, T: Send, E>(
        &self,
        stage: &'static str,
        watch: &mut Watch<'_>,
        each: impl Fn(&mut S, Result<(EntryAddress, Entry<'_>), Error>) -> Result<(), Error> + Sync,
        work: impl Fn(S) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<Error> + From<Panicked> + Send,
    {
        let pages = self.pages.pages_to_read();
        let mut done = 0_u64;
        in_order(
            pages.div_ceil(BLOCK),
            |block| {
                let mut gathered = S::default();
                let mut reader = self.pages.walker();
                let first = block * BLOCK;
                for page in first..first.saturating_add(BLOCK).min(pages) {
                    reader.each_entry(page, |entry| each(&mut gathered, entry))?;
                }
                work(gathered)
            },
            |made| {
                let pages = pages.into();
                let progress = Progress::new(stage, "pages", done.min(pages), Some(pages));
                watch.step(progress).map_err(Error::from)?;
                done += u64::from(BLOCK);
                take(made)
            },
        )
    }
}
