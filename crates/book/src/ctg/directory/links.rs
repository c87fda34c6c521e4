//! Where all moves of a book lead, in memory.
//!
//! One pass over the file, on all processors, finds the entry after every stored move by
//! the hash of its position, without reading that entry. Then a walk along the lines of
//! the book needs no chess for the parts of it that nobody looks at.
//!
//! Memory: four bytes for every entry and eight for every move; while it is made, also the
//! twelve bytes for every entry of a [`Directory`].

use shakmaty::{Chess, Move, Role};

use super::hashes::{SideView, of_key};
use super::{CtgBook, Directory};
use crate::ctg::{
    CanonicalBoard, EntryAddress, EntrySet, Error, moves, prune::IsRare, reader::Reading,
    visit::Raw,
};
use crate::position_of;
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// The entries after the stored moves of every entry of a book.
#[derive(Debug, Default)]
pub(in crate::ctg) struct Links {
    entries: EntrySet,
    /// For each page the number of entries in the pages before it.
    before_page: Vec<u32>,
    /// By the number of an entry, where its moves begin in `to`; one more at the end.
    first_move: Vec<u32>,
    /// The entry after each stored move, or [`NOWHERE`].
    to: Vec<EntryAddress>,
}

/// No entry, or none of a legal move.
const NOWHERE: EntryAddress = EntryAddress {
    page: u32::MAX,
    offset: 0,
};

impl CtgBook {
    /// Reads the whole book and finds where its moves lead, as look-ups do. Damaged parts
    /// of pages are left out without a word. Returns the rare entries too.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the work is cancelled.
    pub(in crate::ctg) fn links(
        &self,
        watch: &mut Watch<'_>,
        is_rare: Option<&IsRare<'_>>,
    ) -> Result<(Links, EntrySet), Error> {
        let mut links = Links::default();
        let mut rare = EntrySet::default();
        self.each_block(
            "counting",
            &mut watch.part(0, 50),
            |places: &mut Vec<EntryAddress>, entry| {
                places.extend(entry.ok().map(|(place, _)| place));
                Ok(())
            },
            Ok::<_, Error>,
            |places| {
                links.entries.extend(places);
                Ok(())
            },
        )?;
        let entries = links.entries.len();
        links.before_page = links.entries.before_each_page();
        let (directory, _) =
            self.directory_by("indexing", of_key, entries, &mut watch.part(50, 250))?;
        self.each_block(
            "following",
            &mut watch.part(250, 1000),
            |all: &mut Vec<Raw>, entry| {
                let raw = entry.ok().map(|(place, entry)| Raw::new(place, &entry));
                all.extend(raw.flatten());
                Ok(())
            },
            |all| {
                let mut reading = self.reading()?;
                let mut to = Vec::new();
                let mut moves = Vec::with_capacity(all.len());
                for raw in &all {
                    let before = to.len();
                    directory.entries_after(raw, &mut reading, &mut to)?;
                    let is_rare = is_rare.is_some_and(|is_rare| is_rare(&raw.entry.record));
                    moves.push((raw.entry.place, to.len() - before, is_rare));
                }
                Ok::<_, Error>((moves, to))
            },
            |(moves, to)| {
                for (place, moves, is_rare) in moves {
                    rare.extend(is_rare.then_some(place));
                    // Entries of a length of zero, which no look-up finds, are left out.
                    let number = links.number(place).unwrap_or(links.first_move.len());
                    let end = links.first_move.last().copied().unwrap_or(0);
                    links.first_move.resize(number + 1, end);
                    links.first_move.push(end + moves as u32);
                }
                links.to.extend(to);
                Ok(())
            },
        )?;
        Ok((links, rare))
    }
}

impl Directory {
    /// Adds the entry after every stored move of an entry, by the hashes of keys.
    fn entries_after(
        &self,
        raw: &Raw,
        reading: &mut Reading<'_>,
        to: &mut Vec<EntryAddress>,
    ) -> Result<(), Error> {
        let first = to.len();
        to.resize(first + raw.moves.len(), NOWHERE);
        if raw.moves.is_empty() {
            return Ok(());
        }
        let Some((_, position)) = position_of(&raw.entry.key) else {
            return Ok(());
        };
        let Some(board) = CanonicalBoard::from_position(&position) else {
            return Ok(());
        };
        let legal = moves::likely_of_all(raw.moves.iter().copied(), &board, &position);
        let here = SideView::before_moves(&position);
        for (&(byte, _), to) in raw.moves.iter().zip(to.iter_mut().skip(first)) {
            let found = moves::find(byte, &board, &legal).ok();
            if let Some(&mv) = found.and_then(|n| legal.get(n)) {
                *to = self
                    .entry_after(&position, mv, &here, reading)?
                    .unwrap_or(NOWHERE);
            }
        }
        Ok(())
    }

    /// The entry after a move, as a look-up finds it. The hash decides alone unless several
    /// entries have it, or an en passant capture may be in the key.
    fn entry_after(
        &self,
        position: &Chess,
        mv: Move,
        here: &SideView,
        reading: &mut Reading<'_>,
    ) -> Result<Option<EntryAddress>, Error> {
        if !is_double_step(mv) {
            let mut known = self.candidates(here.after(position, mv));
            let found = known.next();
            if found.is_none() || known.next().is_none() {
                return Ok(found);
            }
        }
        let after = notation::after(position, mv);
        let Some(board) = CanonicalBoard::from_position(&after) else {
            return Ok(None);
        };
        if board.en_passant.is_none() && board.pinned_en_passant.is_none() {
            let mut known = self.candidates(of_key(&board));
            let found = known.next();
            if found.is_none() || known.next().is_none() {
                return Ok(found);
            }
        }
        match reading.find_position(&board) {
            Err(error) if error.is_damage() => Ok(None),
            found => Ok(found?.map(|(place, _)| place)),
        }
    }
}

/// Whether a move may be followed by an en passant capture.
fn is_double_step(mv: Move) -> bool {
    match mv {
        Move::Normal { role, from, to, .. } => {
            role == Role::Pawn && from.rank().distance(to.rank()) == 2
        }
        _ => false,
    }
}

impl Links {
    /// The number of an entry in the order of the file.
    fn number(&self, place: EntryAddress) -> Option<usize> {
        let before = *self.before_page.get(place.page as usize)? as usize;
        Some(before + self.entries.before_in_page(place)?)
    }

    /// All entries, also those that no look-up finds.
    pub(in crate::ctg) fn entries(&self) -> &EntrySet {
        &self.entries
    }

    /// The entries after the stored moves of an entry.
    pub(in crate::ctg) fn after(
        &self,
        place: EntryAddress,
    ) -> impl Iterator<Item = Option<EntryAddress>> {
        let number = self.number(place).unwrap_or(usize::MAX - 1);
        let at = |number: usize| self.first_move.get(number).map(|at| *at as usize);
        let range = at(number).zip(at(number + 1));
        let to = range.and_then(|(first, end)| self.to.get(first..end));
        let to = to.unwrap_or_default().iter();
        to.map(|to| (*to != NOWHERE).then_some(*to))
    }

    /// The entries that the moves of the book reach from one, and that one.
    pub(in crate::ctg) fn reached_from(&self, start: Option<EntryAddress>) -> EntrySet {
        let mut reached = EntrySet::default();
        let mut ahead = Vec::new();
        ahead.extend(start.filter(|start| reached.insert(*start)));
        while let Some(place) = ahead.pop() {
            ahead.extend(self.after(place).flatten().filter(|to| reached.insert(*to)));
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctg::{OpenOptions, Pass};

    /// For every stored move of the starter book, whose lines go through en passant
    /// captures, castling and positions with colours exchanged.
    #[test]
    fn a_link_leads_where_a_look_up_leads() {
        let book = CtgBook::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let watch = &mut Watch::default();
        let (links, rare) = book.links(watch, None).unwrap();
        assert!(rare.is_empty());
        let (mut moves, mut found) = (0, 0);
        book.visit(Pass::Moves, watch, &mut |_| (), |visit| {
            let by_look_up = visit.moves.iter().map(|mv| mv.after.map(|to| to.place));
            let by_link: Vec<_> = links.after(visit.entry.place).collect();
            assert_eq!(by_look_up.collect::<Vec<_>>(), by_link);
            moves += by_link.len();
            found += by_link.iter().flatten().count();
            Ok(())
        })
        .unwrap();
        assert!(moves > 10_000 && found > moves / 2, "{moves} {found}");
        let mut walked = book.walk_lines(None, None, watch, |_, _| Ok(())).unwrap();
        let start = book.start(&mut book.reading().unwrap()).unwrap();
        let reached = links.reached_from(start);
        assert_eq!(reached.len(), walked.len());
        walked.unite(&reached);
        assert_eq!(reached.len(), walked.len());
    }
}
