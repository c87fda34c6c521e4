//! A book without some of its moves.
//!
//! Memory: one bit for every byte of the book, and what [`super::compact`]
//! takes.

use std::path::Path;

use super::{
    CtgBook, EditError, EntrySet, Error, Key, OpenOptions, PAGE_BYTES, Pass, Place, RewriteError,
    RewriteOptions, Rewritten, Visit, VisitedMove,
    pages::PageFile,
    rewrite::{lock, rewrite},
};
use crate::place::is_same_file;
use crate::watch::Watch;

/// What becomes of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Kept,
    /// It goes, and what it alone leads to.
    Out,
    /// It goes, but what it leads to stays.
    Unlisted,
}

/// What [`prune`] did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pruned {
    /// The new book.
    pub rewritten: Rewritten,
    /// Moves taken out of the positions that stay.
    pub moves: u64,
    /// Positions taken out.
    pub positions: u64,
    /// Moves of the positions taken out.
    pub moves_behind: u64,
}

/// Bits for the bytes of a file.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, byte: u64) {
        let word = (byte / 64) as usize;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (byte % 64);
        }
    }

    fn has(&self, byte: u64) -> bool {
        let word = self.0.get((byte / 64) as usize);
        word.is_some_and(|word| word >> (byte % 64) & 1 != 0)
    }
}

/// Moves that were judged: the bit of its annotation says that a move stays,
/// the one before that it goes. A position that is reached with either side to
/// move is judged twice; what stays in one of them stays.
#[derive(Default)]
struct Judged(Bits);

impl Judged {
    fn judge(&mut self, mv: &VisitedMove, stays: bool) {
        self.0.set(mv.offset - u64::from(!stays));
    }

    fn goes(&self, offset: u64) -> bool {
        self.0.has(offset - 1) && !self.0.has(offset)
    }
}

/// Writes a book without some of its moves: `fate` hears of every position
/// that can be reached from the start position, level by level, and tells what
/// becomes of each of its moves. Then what could be reached before and can be
/// reached no more goes too. What was never reached stays, and what stays
/// keeps every byte.
///
/// # Errors
///
/// As for [`super::compact`].
pub fn prune(
    source: &Path,
    target: &Path,
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
    fate: &mut dyn FnMut(&Visit<'_>, &mut Vec<Fate>),
) -> Result<Pruned, EditError> {
    // Of what is no book, the reader has the better message.
    drop(PageFile::open(source, false).map_err(RewriteError::from)?);
    let kept_away = is_same_file(source, target).then(|| lock(source));
    let _kept_away = kept_away.transpose()?;
    crate::place::check(target, &["cto", "ctb"], options.old)
        .map_err(|error| RewriteError::Write(error.into()))?;
    let book = CtgBook::open(source, &OpenOptions { mmap: false })?;
    let mut ignored = |_: Error| ();
    let before = book.walk_lines(watch, |_, _| Ok(()))?;
    let mut judged = Judged::default();
    let mut fates = Vec::new();
    let mut unchanged = true;
    let after = book.walk_lines(watch, |visit, follow| {
        fates.clear();
        fate(visit, &mut fates);
        for (n, mv) in visit.moves.iter().enumerate() {
            let fate = fates.get(n).copied().unwrap_or(Fate::Kept);
            judged.judge(mv, fate == Fate::Kept);
            unchanged &= fate == Fate::Kept;
            if fate == Fate::Out {
                *follow &= !(1 << n);
            }
        }
        Ok(())
    })?;
    let goes = |place: Place| before.contains(place) && !after.contains(place);
    if has_strays(&book, &before)? {
        // Nobody comes to these, but what they lead to may go.
        book.visit(Pass::Moves, watch, &mut ignored, |visit| {
            if before.contains(visit.entry.place) {
                return Ok(());
            }
            for mv in visit.moves {
                if mv.after.is_some_and(|child| goes(child.place)) {
                    judged.judge(mv, false);
                }
            }
            Ok(())
        })?;
    }
    drop(book);
    let mut done = Counts::default();
    let mut edit = |offset: u64, key: &Key, entry: &mut Vec<u8>| {
        let out = goes(place_of(offset));
        done.edit(offset, key, entry, &judged, out);
        !out
    };
    let options = RewriteOptions {
        // What was split for more need not stay so.
        repack: options.repack || !unchanged,
        ..*options
    };
    let rewritten = rewrite(source, target, &options, watch, Some(&mut edit), |_| Ok(()))?;
    Ok(Pruned {
        rewritten,
        moves: done.moves,
        positions: done.positions,
        moves_behind: done.moves_behind,
    })
}

fn place_of(file_offset: u64) -> Place {
    let page = PAGE_BYTES as u64;
    Place {
        page: u32::try_from((file_offset / page).saturating_sub(1)).unwrap_or(u32::MAX),
        offset: (file_offset % page) as u16,
    }
}

/// Whether an entry is not in the set.
fn has_strays(book: &CtgBook, reached: &EntrySet) -> Result<bool, EditError> {
    for entry in book.entries() {
        match entry {
            Ok(entry) if reached.contains(entry.place) => {}
            Ok(_) => return Ok(true),
            // The rewriting names it.
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

#[derive(Default)]
struct Counts {
    moves: u64,
    positions: u64,
    moves_behind: u64,
}

impl Counts {
    fn edit(&mut self, offset: u64, key: &Key, entry: &mut Vec<u8>, judged: &Judged, out: bool) {
        let length_at = key.as_bytes().len();
        let length = entry.get(length_at).copied().unwrap_or(1);
        let count = u64::from(length / 2);
        if out {
            self.positions += 1;
            self.moves_behind += count;
            return;
        }
        let mut left = length;
        for n in (0..usize::from(length / 2)).rev() {
            let at = length_at + 1 + 2 * n;
            if judged.goes(offset + at as u64 + 1) {
                entry.drain(at..at + 2);
                self.moves += 1;
                left -= 2;
            }
        }
        if let Some(length) = entry.get_mut(length_at) {
            *length = left;
        }
    }
}
