//! Merges several Polyglot books.

use std::cmp::Reverse;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use super::{BinBook, ENTRY_BYTES, Entries, encode};
use crate::ctg::{RewriteOptions, Salvage, Written};
use crate::edit::pending_changes;
use crate::polyglot::PackedMove;
use crate::{Error, KeyedEntry, OpenOptions};
use tabia_io::atomic::NewFile;
use tabia_io::input::file::DataFile;
use tabia_io::progress::{Progress, Watch};

/// The order of the moves of a position in a merged book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOrder {
    /// The heaviest first; at equal weight as in `FirstWins`.
    Heaviest,
    /// In the order of the first book that has the position, then the other moves of the
    /// second one, and so on: the order of `polyglot merge-book`.
    FirstWins,
}

/// What [`merge`] has made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergedBooks {
    /// The size of the new book.
    pub written: Written,
    /// Problems of the old books, one sentence each.
    pub notices: Vec<String>,
    /// Losses: parts of the books that could not be read.
    pub salvage: Salvage,
}

/// Adds up the weights of some books. A move's learn fields are those of the first book
/// that has it. If a sum exceeds 16 bits, all weights of its position are scaled down. Of the
/// options only those count that a Polyglot book has a use for: `old` and `strict`.
///
/// # Errors
///
/// A book cannot be read, the new one cannot be written, or the work was cancelled. An
/// existing file is then unchanged.
pub fn merge(
    books: &[PathBuf],
    target: &Path,
    order: MergeOrder,
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
) -> Result<MergedBooks, Error> {
    let mut output = NewFile::create(target, options.old)?;
    let mut no_books = Vec::new();
    let open = |path: &PathBuf| -> Result<BinBook, Error> {
        let file = DataFile::open(path, OpenOptions::default().mmap);
        let (mut book, no_book) =
            BinBook::entries_in(file.map_err(|error| Error::io(path.as_path(), error))?)?;
        book.notices.extend(pending_changes(path));
        // Polyglot, too, adds up whatever is sorted.
        no_books.extend(no_book.map(|text| format!("{}: {text}", path.display())));
        Ok(book)
    };
    let books: Vec<BinBook> = books.iter().map(open).collect::<Result<_, _>>()?;
    let mut salvage = Salvage::default();
    for book in &books {
        salvage.add(book.unread.clone());
    }
    salvage.checked(options.strict)?;
    let mut sources: Vec<_> = books.iter().map(|book| book.entries().peekable()).collect();
    let mut written = Written::default();
    let total = books.iter().map(BinBook::len).sum();
    let (mut done, mut moves) = (0, Moves::default());
    loop {
        let mut first = None;
        for source in &mut sources {
            match source.peek() {
                Some(Ok((key, _))) => first = Some(first.map_or(*key, |first| (*key).min(first))),
                Some(Err(error)) => return Err(error.clone()),
                None => {}
            }
        }
        let Some(key) = first else { break };
        for source in &mut sources {
            done += moves.take(source, key)?;
        }
        written.positions += 1;
        written.moves += moves.0.len() as u64;
        let bytes = moves.take_entries(key, order);
        output.write_bytes(bytes.as_flattened())?;
        watch.step(Progress::new("merging", "entries", done, Some(total)))?;
    }
    drop(sources);
    let notices = books.iter().flat_map(|book| book.notices().to_vec());
    let notices = no_books.into_iter().chain(notices).collect();
    drop(books);
    written.bytes = output.commit()?.bytes;
    Ok(MergedBooks {
        written,
        notices,
        salvage,
    })
}

/// A move with the sum of its weights.
struct Merged {
    mv: PackedMove,
    weight: u64,
    learn: u32,
}

/// The moves of a position, in the order in which they were added.
#[derive(Default)]
struct Moves(Vec<Merged>);

impl Moves {
    /// Takes the entries of a position from a book that has been read up to it or beyond;
    /// returns their number.
    fn take(&mut self, book: &mut Peekable<Entries<'_>>, key: u64) -> Result<u64, Error> {
        let mut taken = 0;
        let is_here = |next: &Result<(u64, KeyedEntry), Error>| match next {
            Ok((next, _)) => *next == key,
            Err(_) => true,
        };
        while let Some(entry) = book.next_if(is_here) {
            let (_, entry) = entry?;
            self.add(&entry);
            taken += 1;
        }
        Ok(taken)
    }

    fn add(&mut self, entry: &KeyedEntry) {
        let weight = entry.preference.weight().unwrap_or(0).into();
        match self.0.iter_mut().find(|known| known.mv == entry.mv) {
            Some(known) => known.weight += weight,
            None => self.0.push(Merged {
                mv: entry.mv,
                weight,
                learn: entry.learn,
            }),
        }
    }

    /// Returns the entries of the position and clears the moves.
    fn take_entries(&mut self, key: u64, order: MergeOrder) -> Vec<[u8; ENTRY_BYTES]> {
        if order == MergeOrder::Heaviest {
            self.0.sort_by_key(|merged| Reverse(merged.weight));
        }
        let most = u64::from(u16::MAX);
        let largest = self.0.iter().map(|merged| merged.weight).max();
        let largest = largest.unwrap_or(0).max(most);
        let fitted = |weight: u64| match weight {
            0 => 0,
            // Rounded; at most `most`.
            _ => ((2 * weight * most / largest).div_ceil(2)).clamp(1, most) as u16,
        };
        let moves = self.0.drain(..);
        moves
            .map(|merged| encode(key, merged.mv, fitted(merged.weight), merged.learn))
            .collect()
    }
}
