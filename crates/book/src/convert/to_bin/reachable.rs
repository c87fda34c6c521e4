//! Finds the positions of a ChessBase book that can be reached.
//!
//! An entry is for two or four positions: its own board, with colours exchanged, with
//! wings exchanged, or both. The entries after its moves are the same for all of them;
//! only their form depends on the entry's form. So the moves of an entry are computed
//! once, and the walk only follows numbers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use rustc_hash::FxBuildHasher;

use crate::ctg::{EntryAddress, EntrySet, KnownEntry, Orientation};
use crate::polyglot::PackedMove;
use tabia_io::parallel::{Panicked, each_in_order, threads};

/// The form of a position against the board of its entry, 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form(pub(super) u8);

impl Form {
    pub(super) const ALL: [Form; 4] = [Form(0), Form(1), Form(2), Form(3)];

    pub(super) fn from_orientation(orientation: Orientation) -> Form {
        Form(u8::from(orientation.inverted) | u8::from(orientation.mirrored) << 1)
    }

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

    /// A move on the board of the entry, in this form.
    pub(super) fn apply(self, PackedMove(mv): PackedMove) -> PackedMove {
        let ranks = if self.0 & 1 != 0 { 0o7070 } else { 0 };
        let files = if self.0 & 2 != 0 { 0o0707 } else { 0 };
        PackedMove(mv ^ ranks ^ files)
    }
}

/// A set of forms, each combined with another form.
fn turned(forms: u8, by: u8) -> u8 {
    let inverted = match by & 1 {
        0 => forms,
        _ => (forms & 0b0101) << 1 | (forms & 0b1010) >> 1,
    };
    match by & 2 {
        0 => inverted,
        _ => inverted << 2 & 0b1100 | inverted >> 2,
    }
}

/// A move of an entry in eight bytes: the target (a place in the file, or the number of
/// an entry), its form, whether the new book gets the move, and the file of an en passant
/// capture that is not in the target's key.
#[derive(Clone, Copy, Debug)]
struct EntryMove(u64);

impl EntryMove {
    const FORM: u64 = 3;
    const PASSANT_SHIFT: u32 = 2;
    const PLAYED: u64 = 1 << 6;
    const LEADS: u64 = 1 << 7;
    const TARGET_SHIFT: u32 = 8;
    const OFFSET_BITS: u32 = 12;

    fn new(after: Option<KnownEntry>, is_played: bool) -> EntryMove {
        let played = if is_played { EntryMove::PLAYED } else { 0 };
        let Some(after) = after else {
            return EntryMove(played);
        };
        let place =
            u64::from(after.place.page) << EntryMove::OFFSET_BITS | u64::from(after.place.offset);
        let passant = after.pinned_en_passant.map_or(0, |file| file + 1);
        EntryMove(
            place << EntryMove::TARGET_SHIFT
                | u64::from(passant) << EntryMove::PASSANT_SHIFT
                | u64::from(Form::from_orientation(after.orientation).0)
                | EntryMove::LEADS
                | played,
        )
    }

    fn place(self) -> Option<EntryAddress> {
        let place = self.0 >> EntryMove::TARGET_SHIFT;
        (self.0 & EntryMove::LEADS != 0).then_some(EntryAddress {
            page: (place >> EntryMove::OFFSET_BITS) as u32,
            offset: (place & ((1 << EntryMove::OFFSET_BITS) - 1)) as u16,
        })
    }

    fn to_number(self, number: Option<usize>) -> EntryMove {
        let flags = self.0 & ((1 << EntryMove::TARGET_SHIFT) - 1);
        match number {
            Some(number) => EntryMove((number as u64) << EntryMove::TARGET_SHIFT | flags),
            None => EntryMove(flags & !EntryMove::LEADS),
        }
    }

    fn number(self) -> Option<usize> {
        let number = self.0 >> EntryMove::TARGET_SHIFT;
        (self.0 & EntryMove::LEADS != 0).then_some(number as usize)
    }

    fn form(self) -> u8 {
        (self.0 & EntryMove::FORM) as u8
    }

    fn passant(self) -> Option<u8> {
        ((self.0 >> EntryMove::PASSANT_SHIFT) as u8 & 15).checked_sub(1)
    }

    fn is_played(self) -> bool {
        self.0 & EntryMove::PLAYED != 0
    }
}

/// The moves of some entries, in the order of the file.
#[derive(Default)]
pub(super) struct Steps {
    /// Entries with the number of moves of each.
    entries: Vec<(EntryAddress, u32)>,
    steps: Vec<EntryMove>,
    /// Each move on the board of the entry, and its weight in the new book.
    moves: Vec<(PackedMove, u16)>,
}

impl Steps {
    /// Begins the next entry, without moves.
    pub(super) fn entry(&mut self, place: EntryAddress) {
        self.entries.push((place, 0));
    }

    /// Adds a move to the entry.
    pub(super) fn add(&mut self, mv: PackedMove, weight: Option<u16>, after: Option<KnownEntry>) {
        if let Some((_, count)) = self.entries.last_mut() {
            *count += 1;
            self.steps.push(EntryMove::new(after, weight.is_some()));
            self.moves.push((mv, weight.unwrap_or(0)));
        }
    }

    /// Adds a move along which lines continue, but which is not one of the book.
    pub(super) fn pass(&mut self, mv: PackedMove, after: Option<KnownEntry>) {
        self.add(mv, None, after);
        if let Some((_, weight)) = self.moves.last_mut() {
            *weight = PASSED;
        }
    }
}

/// The weight of a move that is not one of the book.
const PASSED: u16 = u16::MAX;

/// Entries that one thread processes at once.
const CHUNK: usize = 4096;

/// What a step of the walk reaches.
#[derive(Default)]
struct Next {
    /// Numbers of entries.
    entries: Vec<usize>,
    /// Entry, form, and the file of an en passant capture that is not in its key.
    passants: Vec<(usize, u8, u8)>,
}

/// An empty set of forms for each entry.
fn none_of(entries: usize) -> Vec<AtomicU8> {
    let mut forms = Vec::new();
    forms.resize_with(entries, AtomicU8::default);
    forms
}

/// The moves of all entries by number, and the forms that were reached.
#[derive(Default)]
pub(super) struct Reach {
    places: EntrySet,
    /// The number of the first entry of each page.
    first: Vec<usize>,
    /// The end of the moves of each entry.
    ends: Vec<usize>,
    steps: Vec<EntryMove>,
    moves: Vec<(PackedMove, u16)>,
    /// The low four bits: reached forms; the upper four: forms reached without en passant
    /// captures that are not in the key.
    reached: Vec<AtomicU8>,
    /// By entry and form: a bit for each file of en passant captures that are not in the
    /// key.
    passants: HashMap<usize, [u8; 4], FxBuildHasher>,
}

impl Reach {
    /// Takes the next entries of the file.
    pub(super) fn take(&mut self, more: Steps) {
        let mut end = self.steps.len();
        for (place, count) in more.entries {
            while self.first.len() <= place.page as usize {
                self.first.push(self.ends.len());
            }
            self.places.insert(place);
            end += count as usize;
            self.ends.push(end);
        }
        self.steps.extend(more.steps);
        self.moves.extend(more.moves);
    }

    /// Numbers all entries: from now on moves refer to numbers.
    pub(super) fn number_all(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in &mut steps {
            *step = step.to_number(step.place().and_then(|place| self.number(place)));
        }
        self.steps = steps;
        self.reached = none_of(self.ends.len());
    }

    /// The number of an entry.
    pub(super) fn number(&self, place: EntryAddress) -> Option<usize> {
        let before = self.places.before_in_page(place)?;
        Some(self.first.get(place.page as usize)? + before)
    }

    fn steps_of(&self, number: usize) -> std::ops::Range<usize> {
        let before = number.checked_sub(1).and_then(|n| self.ends.get(n));
        let end = self.ends.get(number).copied().unwrap_or(0);
        before.copied().unwrap_or(0)..end
    }

    /// Marks an entry as reached in these forms.
    pub(super) fn mark_reached(&mut self, number: usize, forms: u8) {
        if let Some(known) = self.reached.get_mut(number) {
            *known.get_mut() |= forms | forms << 4;
        }
    }

    /// Walks on from an entry in a form, ply by ply, on all processors; `step` is called
    /// with the number of processed entries.
    pub(super) fn walk<E: From<Panicked> + Send>(
        &mut self,
        from: usize,
        form: Form,
        mut step: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        // For each entry: forms to continue from.
        let waiting = none_of(self.ends.len());
        self.mark_reached(from, 1 << form.0);
        if let Some(waiting) = waiting.get(from) {
            waiting.store(1 << form.0, Relaxed);
        }
        let mut ahead = vec![from];
        while !ahead.is_empty() {
            let (mut next, mut passants) = (Vec::new(), Vec::new());
            let follow_moves = |chunk: &[usize]| {
                Ok::<_, E>((chunk.len() as u64, self.follow_moves(chunk, &waiting)))
            };
            let mut take = |(entries, next_entries): (u64, Next)| {
                next.extend(next_entries.entries);
                passants.extend(next_entries.passants);
                step(entries)
            };
            match ahead.len() > CHUNK {
                true => each_in_order(threads(), ahead.chunks(CHUNK), follow_moves, take)?,
                false => take(follow_moves(&ahead)?)?,
            }
            for (number, form, file) in passants {
                let forms = self.passants.entry(number).or_default();
                if let Some(files) = forms.get_mut(usize::from(form)) {
                    *files |= 1 << file;
                }
            }
            ahead = next;
        }
        Ok(())
    }

    /// Follows the moves of some entries, each in its waiting forms. Other threads
    /// process other entries; the final result does not depend on the order.
    fn follow_moves(&self, chunk: &[usize], waiting: &[AtomicU8]) -> Next {
        let mut next_entries = Next::default();
        for &number in chunk {
            let forms = waiting
                .get(number)
                .map_or(0, |waiting| waiting.swap(0, Relaxed));
            let steps = self.steps.get(self.steps_of(number)).unwrap_or_default();
            for step in steps {
                let Some(next) = step.number() else { continue };
                let reached = turned(forms, step.form());
                let (Some(known), Some(waiting)) = (self.reached.get(next), waiting.get(next))
                else {
                    continue;
                };
                let plain = match step.passant() {
                    None => reached << 4,
                    Some(file) => {
                        let forms = Form::ALL.into_iter().filter(|form| form.is_in(reached));
                        let found = forms.map(|form| (next, form.0, file));
                        next_entries.passants.extend(found);
                        0
                    }
                };
                // The thread that reaches it first adds it to the next step.
                let new = reached & !known.fetch_or(reached | plain, Relaxed);
                if new != 0 && waiting.fetch_or(new, Relaxed) == 0 {
                    next_entries.entries.push(next);
                }
            }
        }
        next_entries
    }

    /// The number of reached entries.
    pub(super) fn entries(&self) -> u64 {
        let reached = (0..self.ends.len()).filter(|number| self.forms(*number) != 0);
        reached.count() as u64
    }

    /// The reached forms of an entry.
    pub(super) fn forms(&self, number: usize) -> u8 {
        self.known(number) & 15
    }

    /// The forms reached without en passant captures that are not in the key.
    pub(super) fn plain_forms(&self, number: usize) -> u8 {
        self.known(number) >> 4
    }

    fn known(&self, number: usize) -> u8 {
        let known = self.reached.get(number);
        known.map_or(0, |known| known.load(Relaxed))
    }

    /// By form, the files of such en passant captures on the board of the entry: a bit
    /// each.
    pub(super) fn passants(&self, number: usize) -> [u8; 4] {
        self.passants.get(&number).copied().unwrap_or_default()
    }

    /// The moves of an entry on its own board, with their weights; `None` for a move that
    /// the new book does not get.
    pub(super) fn moves(&self, number: usize) -> impl Iterator<Item = (PackedMove, Option<u16>)> {
        let range = self.steps_of(number);
        let steps = self.steps.get(range.clone()).unwrap_or_default();
        let moves = self.moves.get(range).unwrap_or_default();
        let weights = steps.iter().zip(moves);
        let moves = weights.filter(|(step, (_, weight))| step.is_played() || *weight != PASSED);
        moves.map(|(step, &(mv, weight))| (mv, step.is_played().then_some(weight)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn forms_turn_as_boards_do() {
        for by in Form::ALL {
            for form in Form::ALL {
                assert_eq!(turned(1 << form.0, by.0), 1 << (form.0 ^ by.0));
            }
            assert_eq!(turned(0b1111, by.0), 0b1111);
            assert_eq!(Form::from_orientation(by.orientation()), by);
        }
    }

    /// A wide graph of random moves, walked by several threads and by one rule applied
    /// until nothing changes.
    #[test]
    fn a_walk_comes_to_all_that_moves_lead_to() {
        const PAGES: u32 = 3000;
        const IN_PAGE: u16 = 10;
        let mut state = 5_u64;
        let mut random = |most: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32 % most
        };
        let place = |number: u32| EntryAddress {
            page: number / u32::from(IN_PAGE),
            offset: 4 + 100 * (number % u32::from(IN_PAGE)) as u16,
        };
        let entries = PAGES * u32::from(IN_PAGE);
        let (mut steps, mut moves) = (Steps::default(), Vec::new());
        for number in 0..entries {
            steps.entry(place(number));
            for _ in 0..random(5) {
                let (next, orientation) = (random(entries), Form(random(4) as u8).orientation());
                let passant = (random(20) == 0).then(|| random(8) as u8);
                let after = KnownEntry {
                    place: place(next),
                    orientation,
                    pinned_en_passant: passant,
                };
                steps.add(PackedMove(0), Some(1), Some(after));
                moves.push((
                    number as usize,
                    next as usize,
                    Form::from_orientation(orientation),
                    passant,
                ));
            }
        }
        let mut reach = Reach::default();
        reach.take(steps);
        reach.number_all();
        // From several entries, so that many are reached.
        let starts = (0..50).map(|n| 37 * n).collect::<Vec<usize>>();
        for start in &starts {
            reach
                .walk(*start, Form(0), |_| Ok::<_, Panicked>(()))
                .unwrap();
        }
        let mut known = vec![0_u8; entries as usize];
        let mut passants = HashSet::<(usize, u8, u8)>::new();
        for start in starts {
            known[start] |= 0b1_0001;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, next, by, passant) in &moves {
                let forms = turned(known[from] & 15, by.0);
                let plain = if passant.is_none() { forms << 4 } else { 0 };
                changed |= (forms | plain) & !known[next] != 0;
                known[next] |= forms | plain;
                let forms = Form::ALL.into_iter().filter(|form| form.is_in(forms));
                let found = forms.filter_map(|form| Some((next, form.0, passant?)));
                found.for_each(|found| changed |= passants.insert(found));
            }
        }
        for (number, known) in known.iter().enumerate() {
            assert_eq!(
                (reach.forms(number), reach.plain_forms(number)),
                (known & 15, known >> 4)
            );
        }
        assert!(reach.entries() > 10_000 && passants.len() > 100);
        let files = (0..entries as usize).flat_map(|number| {
            let forms = (0..).zip(reach.passants(number));
            let files = forms.flat_map(|(form, files)| (0..8).map(move |n| (form, files, n)));
            let known = files.filter(|(_, files, n)| files >> n & 1 != 0);
            known.map(move |(form, _, n)| (number, form, n))
        });
        assert!(files.collect::<HashSet<_>>() == passants);
    }
}
