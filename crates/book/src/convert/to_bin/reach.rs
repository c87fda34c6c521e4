//! Finds the positions of a ChessBase book that can be reached.
//!
//! An entry is for two or four positions: its own board, with colours exchanged, with
//! wings exchanged, or both. The entries after its moves are the same for all of them;
//! only their form depends on the entry's form. So the walk only follows numbers.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::ctg::{ASKED_AT_ONCE, Arrival, BookGraph, EntryNumber, Orientation, Target};

/// The form of a position against the board of its entry, 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form(pub(super) u8);

impl Form {
    pub(super) const ALL: [Form; 4] = [Form(0), Form(1), Form(2), Form(3)];

    pub(super) fn orientation(self) -> Orientation {
        Orientation {
            inverted: self.0 & 1 != 0,
            mirrored: self.0 & 2 != 0,
        }
    }

    /// Whether a set of forms, one bit each, contains this form.
    pub(super) fn is_in(self, forms: u8) -> bool {
        forms >> self.0 & 1 != 0
    }
}

/// A set of forms after a move: colours exchanged, and perhaps wings.
fn turned(forms: u8, mirrored: bool) -> u8 {
    let inverted = (forms & 0b0101) << 1 | (forms & 0b1010) >> 1;
    match mirrored {
        false => inverted,
        true => inverted << 2 & 0b1100 | inverted >> 2,
    }
}

/// Sets of forms of an entry, a bit for each.
#[derive(Clone, Copy, Default)]
struct Reached {
    forms: u8,
    /// Forms reached without en passant captures that are not in the key.
    plain: u8,
    /// Forms from which the walk goes on in the next ply.
    waiting: u8,
}

/// The forms in which entries are reached.
pub(super) struct Reach {
    reached: Vec<Reached>,
    /// By entry and form: a bit for each file of en passant captures that are not in the
    /// key.
    passants: HashMap<EntryNumber, [u8; 4], FxBuildHasher>,
}

impl Reach {
    pub(super) fn new(graph: &BookGraph) -> Reach {
        Reach {
            reached: vec![Reached::default(); graph.len()],
            passants: HashMap::default(),
        }
    }

    /// Marks an entry as reached in these forms.
    pub(super) fn mark(&mut self, entry: EntryNumber, forms: u8) {
        if let Some(known) = self.reached.get_mut(entry as usize) {
            known.forms |= forms;
            known.plain |= forms;
        }
    }

    /// Walks on from an entry on its own board, ply by ply; `step` is called with the number
    /// of entries of each ply.
    pub(super) fn walk<E>(
        &mut self,
        graph: &BookGraph,
        from: EntryNumber,
        mut step: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let own = 1 << Form(0).0;
        self.mark(from, own);
        // The entries of a ply, with the forms in which it is the first to reach them, and
        // where their moves lead: by turns, so that the waits for the memory overlap.
        let mut ahead = vec![from];
        let mut arrivals: Vec<(Arrival, u8)> = Vec::new();
        if let Some(known) = self.reached.get_mut(from as usize) {
            known.waiting = own;
        }
        while !ahead.is_empty() {
            step(ahead.len() as u64)?;
            // In the order of the file: of 2.8 million positions the walk takes half the time.
            ahead.sort_unstable();
            for (n, &entry) in ahead.iter().enumerate() {
                if n.is_multiple_of(ASKED_AT_ONCE) {
                    let next = ahead.iter().skip(n).take(ASKED_AT_ONCE);
                    graph.ask_for_moves(next.copied());
                }
                let known = self.reached.get_mut(entry as usize);
                let forms = known.map_or(0, |known| std::mem::take(&mut known.waiting));
                let stored = graph.moves(entry).filter_map(|(_, to)| match to {
                    Target::Entry(to) => Some(to),
                    Target::Illegal | Target::Repeated | Target::Nowhere => None,
                });
                let leaps = graph.transpositions(entry).map(|(_, to)| to);
                let all = stored.chain(leaps);
                arrivals.extend(all.map(|to| (to, turned(forms, to.mirrored))));
            }
            ahead.clear();
            for (n, &(to, forms)) in arrivals.iter().enumerate() {
                if n.is_multiple_of(ASKED_AT_ONCE) {
                    let next = arrivals.iter().skip(n).take(ASKED_AT_ONCE);
                    let forms = next.map(|(to, _)| self.forms(to.entry));
                    std::hint::black_box(forms.fold(0, |all, forms| all | forms));
                }
                if self.arrive(to, forms) {
                    ahead.push(to.entry);
                }
            }
            arrivals.clear();
        }
        Ok(())
    }

    /// Marks the entry after a move; true if it waits for the next ply only now.
    fn arrive(&mut self, to: Arrival, forms: u8) -> bool {
        let Some(known) = self.reached.get_mut(to.entry as usize) else {
            return false;
        };
        let new = forms & !known.forms;
        let waits = known.waiting == 0 && new != 0;
        known.forms |= forms;
        known.waiting |= new;
        match to.pinned_en_passant {
            None => known.plain |= forms,
            Some(file) => {
                let files = self.passants.entry(to.entry).or_default();
                let reached = Form::ALL.into_iter().zip(files);
                for (_, files) in reached.filter(|(form, _)| form.is_in(forms)) {
                    *files |= 1 << file;
                }
            }
        }
        waits
    }

    /// The number of reached entries.
    pub(super) fn entries(&self) -> u64 {
        let reached = self.reached.iter().filter(|known| known.forms != 0);
        reached.count() as u64
    }

    /// The reached forms of an entry.
    pub(super) fn forms(&self, entry: EntryNumber) -> u8 {
        self.known(entry).forms
    }

    /// The forms reached without en passant captures that are not in the key.
    pub(super) fn plain_forms(&self, entry: EntryNumber) -> u8 {
        self.known(entry).plain
    }

    fn known(&self, entry: EntryNumber) -> Reached {
        self.reached
            .get(entry as usize)
            .copied()
            .unwrap_or_default()
    }

    /// By form, the files of such en passant captures on the board of the entry: a bit
    /// each.
    pub(super) fn passants(&self, entry: EntryNumber) -> [u8; 4] {
        match self.passants.is_empty() {
            true => [0; 4],
            false => self.passants.get(&entry).copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_turn_as_boards_do() {
        for mirrored in [false, true] {
            let by = 1 | u8::from(mirrored) << 1;
            for form in Form::ALL {
                assert_eq!(turned(1 << form.0, mirrored), 1 << (form.0 ^ by));
            }
            assert_eq!(turned(0b1111, mirrored), 0b1111);
        }
    }
}
