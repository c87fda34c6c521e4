//! Which of the positions that entries stand for a book comes to.
//!
//! An entry stands for two or four positions: its own board, with colours
//! exchanged, with wings exchanged, or both. Which entries stand after its
//! moves is the same for all of them; only the form of these follows its own.
//! So the moves of an entry are looked at once, and the walk goes over numbers.

use std::collections::{HashSet, VecDeque};

use rustc_hash::FxBuildHasher;

use crate::book::ctg::{EntrySet, KnownEntry, Orientation, Place};
use crate::book::polyglot::PackedMove;

/// How a position lies to the board of its entry, 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form(pub(super) u8);

impl Form {
    pub(super) const ALL: [Form; 4] = [Form(0), Form(1), Form(2), Form(3)];

    pub(super) fn of(orientation: Orientation) -> Form {
        Form(u8::from(orientation.inverted) | u8::from(orientation.mirrored) << 1)
    }

    pub(super) fn orientation(self) -> Orientation {
        Orientation {
            inverted: self.0 & 1 != 0,
            mirrored: self.0 & 2 != 0,
        }
    }

    /// Whether it is among those of which this has the bits.
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

/// These forms, each in another one.
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

/// A move of an entry in eight bytes: where it leads (a place of the file, or
/// the number of an entry), in which form, whether the new book gets it, and the
/// file of an en passant capture that the key after it does not tell.
#[derive(Clone, Copy, Debug)]
struct Step(u64);

impl Step {
    const FORM: u64 = 3;
    const PASSANT_SHIFT: u32 = 2;
    const PLAYED: u64 = 1 << 6;
    const LEADS: u64 = 1 << 7;
    const TARGET_SHIFT: u32 = 8;
    const OFFSET_BITS: u32 = 12;

    fn new(after: Option<KnownEntry>, is_played: bool) -> Step {
        let played = if is_played { Step::PLAYED } else { 0 };
        let Some(after) = after else {
            return Step(played);
        };
        let place =
            u64::from(after.place.page) << Step::OFFSET_BITS | u64::from(after.place.offset);
        let passant = after.pinned_en_passant.map_or(0, |file| file + 1);
        Step(
            place << Step::TARGET_SHIFT
                | u64::from(passant) << Step::PASSANT_SHIFT
                | u64::from(Form::of(after.orientation).0)
                | Step::LEADS
                | played,
        )
    }

    fn place(self) -> Option<Place> {
        let place = self.0 >> Step::TARGET_SHIFT;
        (self.0 & Step::LEADS != 0).then_some(Place {
            page: (place >> Step::OFFSET_BITS) as u32,
            offset: (place & ((1 << Step::OFFSET_BITS) - 1)) as u16,
        })
    }

    fn to_number(self, number: Option<usize>) -> Step {
        let flags = self.0 & ((1 << Step::TARGET_SHIFT) - 1);
        match number {
            Some(number) => Step((number as u64) << Step::TARGET_SHIFT | flags),
            None => Step(flags & !Step::LEADS),
        }
    }

    fn number(self) -> Option<usize> {
        let number = self.0 >> Step::TARGET_SHIFT;
        (self.0 & Step::LEADS != 0).then_some(number as usize)
    }

    fn form(self) -> u8 {
        (self.0 & Step::FORM) as u8
    }

    fn passant(self) -> Option<u8> {
        ((self.0 >> Step::PASSANT_SHIFT) as u8 & 15).checked_sub(1)
    }

    fn is_played(self) -> bool {
        self.0 & Step::PLAYED != 0
    }
}

/// The moves of some entries, in the order of the file.
#[derive(Default)]
pub(super) struct Steps {
    /// Entries, and how many moves each has.
    entries: Vec<(Place, u32)>,
    steps: Vec<Step>,
    /// Of each move, on the board of the entry, its weight in the new book.
    moves: Vec<(PackedMove, u16)>,
}

impl Steps {
    /// The next entry has no moves so far.
    pub(super) fn entry(&mut self, place: Place) {
        self.entries.push((place, 0));
    }

    /// Another move of the entry.
    pub(super) fn add(&mut self, mv: PackedMove, weight: Option<u16>, after: Option<KnownEntry>) {
        if let Some((_, count)) = self.entries.last_mut() {
            *count += 1;
            self.steps.push(Step::new(after, weight.is_some()));
            self.moves.push((mv, weight.unwrap_or(0)));
        }
    }
}

/// The moves of all entries by number, and what was come to.
#[derive(Default)]
pub(super) struct Reach {
    places: EntrySet,
    /// The number of the first entry of each page.
    first: Vec<usize>,
    /// Where the moves of each entry end.
    ends: Vec<usize>,
    steps: Vec<Step>,
    moves: Vec<(PackedMove, u16)>,
    /// The low four bits: forms that were come to; the others: those that the
    /// key tells all of.
    come_to: Vec<u8>,
    /// Entries in a form with the file of an en passant capture that their keys
    /// do not tell.
    passants: HashSet<(usize, u8, u8), FxBuildHasher>,
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

    /// All entries are taken: moves lead to numbers from now on.
    pub(super) fn number_all(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in &mut steps {
            *step = step.to_number(step.place().and_then(|place| self.number(place)));
        }
        self.steps = steps;
        self.come_to = vec![0; self.ends.len()];
    }

    /// The number of an entry.
    pub(super) fn number(&self, place: Place) -> Option<usize> {
        let before = self.places.before_in_page(place)?;
        Some(self.first.get(place.page as usize)? + before)
    }

    fn steps_of(&self, number: usize) -> std::ops::Range<usize> {
        let before = number.checked_sub(1).and_then(|n| self.ends.get(n));
        let end = self.ends.get(number).copied().unwrap_or(0);
        before.copied().unwrap_or(0)..end
    }

    /// The entry is come to in these forms, whatever leads there.
    pub(super) fn come_to(&mut self, number: usize, forms: u8) {
        if let Some(known) = self.come_to.get_mut(number) {
            *known |= forms | forms << 4;
        }
    }

    /// Walks on from an entry in a form; `step` hears of every entry.
    pub(super) fn walk<E>(
        &mut self,
        from: usize,
        form: Form,
        mut step: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        // Forms to go on from, of entries in the queue.
        let mut waiting = vec![0_u8; self.ends.len()];
        let mut queue = VecDeque::from([from]);
        self.come_to(from, 1 << form.0);
        if let Some(waiting) = waiting.get_mut(from) {
            *waiting = 1 << form.0;
        }
        while let Some(number) = queue.pop_front() {
            step()?;
            let forms = waiting.get_mut(number).map_or(0, std::mem::take);
            for at in self.steps_of(number) {
                let Some(&step) = self.steps.get(at) else {
                    break;
                };
                let Some(next) = step.number() else { continue };
                let reached = turned(forms, step.form());
                let (Some(known), Some(waiting)) =
                    (self.come_to.get_mut(next), waiting.get_mut(next))
                else {
                    continue;
                };
                let new = reached & !*known;
                *known |= reached;
                match step.passant() {
                    None => *known |= reached << 4,
                    Some(file) => {
                        let forms = Form::ALL.into_iter().filter(|form| form.is_in(reached));
                        self.passants.extend(forms.map(|form| (next, form.0, file)));
                    }
                }
                if new != 0 {
                    if *waiting == 0 {
                        queue.push_back(next);
                    }
                    *waiting |= new;
                }
            }
        }
        Ok(())
    }

    /// Entries that were come to.
    pub(super) fn entries(&self) -> u64 {
        let reached = self.come_to.iter().filter(|forms| **forms & 15 != 0);
        reached.count() as u64
    }

    /// The forms in which an entry was come to.
    pub(super) fn forms(&self, number: usize) -> u8 {
        self.come_to.get(number).map_or(0, |known| known & 15)
    }

    /// The same, where the key tells all of the position.
    pub(super) fn plain_forms(&self, number: usize) -> u8 {
        self.come_to.get(number).map_or(0, |known| known >> 4)
    }

    /// Files of en passant captures in other positions of this form, on the
    /// board of the entry.
    pub(super) fn passants(&self, number: usize, form: Form) -> impl Iterator<Item = u8> {
        let any = !self.passants.is_empty();
        (0..if any { 8 } else { 0 })
            .filter(move |file| self.passants.contains(&(number, form.0, *file)))
    }

    /// The moves of an entry on its own board, with their weights; `None` for
    /// one that the new book does not get.
    pub(super) fn moves(&self, number: usize) -> impl Iterator<Item = (PackedMove, Option<u16>)> {
        let range = self.steps_of(number);
        let steps = self.steps.get(range.clone()).unwrap_or_default();
        let moves = self.moves.get(range).unwrap_or_default();
        let weights = steps.iter().zip(moves);
        weights.map(|(step, &(mv, weight))| (mv, step.is_played().then_some(weight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_turn_as_boards_do() {
        for by in Form::ALL {
            for form in Form::ALL {
                assert_eq!(turned(1 << form.0, by.0), 1 << (form.0 ^ by.0));
            }
            assert_eq!(turned(0b1111, by.0), 0b1111);
            assert_eq!(Form::of(by.orientation()), by);
        }
    }
}
