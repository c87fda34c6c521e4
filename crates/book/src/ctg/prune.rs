//! A book without some of its moves.
//!
//! If a move were only removed from the list while the position after it stays, it would
//! still be played as a transposition, and its annotation would be lost. So it stays in
//! the list with a warning annotation; and if a position has no better move left, so that
//! such a move would be played after all, the position after it becomes red.
//!
//! All moves of the book are followed once, in memory ([`super::graph`]); after that
//! only what stays is looked at, and the file is read twice more to be written. Of a book for
//! one side (470,731 positions) with a look-up for every legal move it took 17.5 seconds, and
//! takes 1.2.
//!
//! Memory: that of a [`BookGraph`] with statistics, one bit for every byte of the book, and that
//! of [`super::compact`]; some thirty bytes for each removed move of a position that stays.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rustc_hash::FxBuildHasher;
use shakmaty::Position as _;

use super::{
    CanonicalBoard, CtgBook, EntryAddress, EntrySet, Key, OpenOptions, RewriteOptions, Rewritten,
    STATISTICS_BYTES, Visit, VisitedMove,
    graph::{BookGraph, EntryNumber},
    lock,
    pages::PageFile,
    reader::Reading,
    rewrite::{Edit, rewrite},
    visit::{Bits, Passed, stored_moves},
};
use crate::{Annotation, BookMove, Error, Mark, MarkEdit, PositionRecord};
use tabia_io::atomic::{LOCK_WAIT, is_same_file};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// What happens to a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The move stays.
    Kept,
    /// The move goes, with everything that only it leads to. If the position after it
    /// stays, the move stays in the list with a warning annotation.
    Out,
    /// The move goes, but what it leads to stays.
    Unlisted,
    /// The move goes, with everything that only it leads to; it is never listed.
    Gone,
    /// The move goes, because the position after it is [rare](PruneRules::rare); what that
    /// leads to is looked at nevertheless.
    Rare,
}

/// The decisions that [`prune`] needs.
#[non_exhaustive]
pub struct PruneRules<'a> {
    /// Called with every position that can be reached from the start position, level by
    /// level; decides on each of its moves.
    pub fates: &'a mut dyn FnMut(&Visit<'_>, &mut Vec<Fate>),
    /// The annotation of a removed move that stays in the list; it must be a doubtful
    /// one.
    pub warning: &'a dyn Fn(&Visit<'_>, &VisitedMove) -> Annotation,
    /// Whether each move of a position would be played.
    pub is_played: &'a dyn Fn(&[BookMove], &mut Vec<bool>),
    /// Positions removed whether lines reach them or not; positions after them stay.
    pub rare: Option<&'a Rare<'a>>,
}

/// Whether a position is removed because of its record.
pub type IsRare<'a> = dyn Fn(&PositionRecord) -> bool + Sync + 'a;

/// Positions removed because of their records. The start position always stays.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Rare<'a> {
    /// Whether a position is removed.
    pub is: &'a IsRare<'a>,
    /// Lines end this many plies after the start position.
    pub plies: Option<u32>,
}

impl<'a> Rare<'a> {
    /// These positions, in the order of the fields.
    pub fn new(is: &'a IsRare<'a>, plies: Option<u32>) -> Rare<'a> {
        Rare { is, plies }
    }
}

impl<'a> PruneRules<'a> {
    /// These decisions, in the order of the fields.
    pub fn new(
        fates: &'a mut dyn FnMut(&Visit<'_>, &mut Vec<Fate>),
        warning: &'a dyn Fn(&Visit<'_>, &VisitedMove) -> Annotation,
        is_played: &'a dyn Fn(&[BookMove], &mut Vec<bool>),
    ) -> PruneRules<'a> {
        PruneRules {
            fates,
            warning,
            is_played,
            rare: None,
        }
    }

    /// Also removes `rare` positions.
    #[must_use]
    pub fn rare(self, rare: Option<&'a Rare<'a>>) -> PruneRules<'a> {
        PruneRules { rare, ..self }
    }
}

/// The result of [`prune`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pruned {
    /// The new book.
    pub rewritten: Rewritten,
    /// Moves removed from the remaining positions.
    pub moves: u64,
    /// Moves that stay with a warning annotation, because other moves lead to the same
    /// position.
    pub warned: u64,
    /// Positions that became red, because a move with a warning into them would be played
    /// for lack of a better one.
    pub red: u64,
    /// Positions removed.
    pub positions: u64,
    /// Moves of the removed positions.
    pub moves_of_removed: u64,
}

/// Decisions on moves. The bit of a move's annotation says that the move stays, the bit before
/// says that it goes. A position that is reached with either side to move is decided twice;
/// a move stays if one decision keeps it.
#[derive(Default)]
struct Decisions(Bits);

impl Decisions {
    fn decide(&mut self, mv: &VisitedMove, stays: bool) {
        self.0.insert(mv.offset - u64::from(!stays));
    }

    fn goes(&self, offset: u64) -> bool {
        self.0.has(offset - 1) && !self.0.has(offset)
    }
}

/// Writes a book without some of its moves, by `rules`. Positions that could be reached
/// before and no longer can are removed too; those that never could be reached stay. The
/// rest is unchanged byte for byte, except for annotations and red marks that prevent
/// removed moves from being played.
///
/// # Errors
///
/// As for [`super::compact`].
pub fn prune(
    source: &Path,
    target: &Path,
    options: &RewriteOptions,
    watch: &mut Watch<'_>,
    mut rules: PruneRules<'_>,
) -> Result<Pruned, Error> {
    // If the file is not a book, the reader has the better message.
    drop(PageFile::open(source, false)?);
    let kept_away = is_same_file(source, target).then(|| lock::acquire(source, LOCK_WAIT));
    let _kept_away = kept_away.transpose()?;
    tabia_io::atomic::check(target, &["cto", "ctb"], options.old)?;
    let book = CtgBook::open(source, &OpenOptions { mmap: false })?;
    let mut plan = Plan::default();
    let (links, fate) = plan.decide_all(&book, &mut watch.part(0, 550), &mut rules)?;
    plan.gone = links.set_of(|entry| fate.goes(entry));
    plan.visit_unreached(&book, &links, &fate)?;
    drop((links, fate));
    if !plan.out.is_empty() {
        let warned = plan.add_warnings(&book, rules.warning)?;
        plan.mark_red(&book, &warned, rules.is_played, &mut watch.part(550, 600))?;
    }
    drop(book);
    let mut done = Counts::new(&plan);
    let options = RewriteOptions {
        // Slots that were split for more entries need not stay split.
        repack: options.repack || !plan.unchanged,
        ..*options
    };
    let watch = &mut watch.part(600, 1000);
    let rewritten = rewrite(source, target, &options, watch, Some(&mut done), |_| Ok(()))?;
    Ok(Pruned {
        rewritten,
        moves: done.moves,
        warned: done.warned,
        red: done.red,
        positions: done.positions,
        moves_of_removed: done.moves_of_removed,
    })
}

/// The number of positions that [`prune`] would remove from a book.
///
/// # Errors
///
/// As for [`CtgBook::visit`].
pub fn count_pruned(
    book: &CtgBook,
    watch: &mut Watch<'_>,
    rules: &mut PruneRules<'_>,
) -> Result<u64, Error> {
    let (links, fate) = Plan::default().decide_all(book, watch, rules)?;
    Ok(links.entries().filter(|entry| fate.goes(*entry)).count() as u64)
}

/// The changes of a book that [`prune`] has decided on.
#[derive(Default)]
struct Plan {
    /// Entries that are removed.
    gone: EntrySet,
    decisions: Decisions,
    /// Moves that are removed from the list even if the positions after them stay.
    unlisted: Bits,
    /// Warning annotations of moves that stay, by their offset in the file.
    warnings: HashMap<u64, Annotation, FxBuildHasher>,
    red: EntrySet,
    /// No move is removed.
    unchanged: bool,
    /// Moves that are removed with what only they lead to, unless they are never listed.
    out: Vec<Out>,
}

/// A move that is removed, if it is in no other position that has its entry.
struct Out {
    from: EntryAddress,
    /// Offset of the annotation in the file.
    offset: u64,
    to: EntryAddress,
}

/// What becomes of the entries of a book.
struct Fates {
    /// Entries that are now reached from the start position.
    before: Bits,
    /// Entries that are still reached without the removed moves, rare ones included.
    after: Bits,
    /// Entries that go whether they are reached or not.
    rare: Bits,
}

impl Fates {
    /// Whether an entry is removed.
    fn goes(&self, entry: EntryNumber) -> bool {
        self.rare.has(entry) || self.before.has(entry) && !self.after.has(entry)
    }
}

impl Plan {
    /// Finds where all moves lead, and decides on those that are still reached.
    fn decide_all(
        &mut self,
        book: &CtgBook,
        watch: &mut Watch<'_>,
        rules: &mut PruneRules<'_>,
    ) -> Result<(BookGraph, Fates), Error> {
        // Damage is reported when the book is written.
        let (links, _) = book.graph(book.for_lines(), &mut watch.part(0, 700))?;
        let watch = &mut watch.part(700, 1000);
        let rare = rules.rare.map_or_else(Bits::default, |Rare { is, .. }| {
            let is_rare =
                |entry: &EntryNumber| links.is_position(*entry) && is(&links.record(*entry));
            let others = links
                .entries()
                .filter(|entry| Some(*entry) != links.start());
            others.filter(is_rare).map(u64::from).collect()
        });
        let everywhere = Passed {
            entries: &links.entries().map(u64::from).collect(),
            plies: None,
        };
        let before = book.walk_lines(&links, Some(everywhere), watch, |_, _| Ok(()))?;
        self.unchanged = rare.is_empty();
        let passed = rules.rare.map(|rules| Passed {
            entries: &rare,
            plies: rules.plies,
        });
        let mut fates = Vec::new();
        let after = book.walk_lines(&links, passed, watch, |visit, follow| {
            fates.clear();
            (rules.fates)(visit, &mut fates);
            for (n, mv) in visit.moves.iter().enumerate() {
                let fate = fates.get(n).copied().unwrap_or(Fate::Kept);
                self.decisions.decide(mv, fate == Fate::Kept);
                self.unchanged &= fate == Fate::Kept;
                if fate == Fate::Out
                    && let Some(after) = &mv.after
                {
                    self.out.push(Out {
                        from: visit.entry.place,
                        offset: mv.offset,
                        to: after.place,
                    });
                }
                if matches!(fate, Fate::Unlisted | Fate::Gone) {
                    self.unlisted.insert(mv.offset);
                }
                if matches!(fate, Fate::Out | Fate::Gone) {
                    *follow &= !(1 << n);
                }
            }
            Ok(())
        })?;
        let fates = Fates {
            before,
            after,
            rare,
        };
        Ok((links, fates))
    }

    /// Whether an entry is removed.
    fn goes(&self, place: EntryAddress) -> bool {
        self.gone.contains(place)
    }

    /// Also looks at entries that no line leads to: moves of theirs may lead to removed
    /// entries.
    fn visit_unreached(
        &mut self,
        book: &CtgBook,
        links: &BookGraph,
        fates: &Fates,
    ) -> Result<(), Error> {
        let losing = links.set_of(|entry| {
            !fates.before.has(entry) && links.after(entry).any(|to| fates.goes(to))
        });
        book.visit_set(&losing, |visit| {
            for entry in visit.moves {
                if entry.after.is_some_and(|child| self.goes(child.place)) {
                    self.decisions.decide(entry, false);
                }
            }
            Ok(())
        })
    }

    /// Stores the warning annotations of removed moves if the positions after them stay;
    /// returns the entries of these moves.
    fn add_warnings(
        &mut self,
        book: &CtgBook,
        warning: &dyn Fn(&Visit<'_>, &VisitedMove) -> Annotation,
    ) -> Result<Vec<EntryAddress>, Error> {
        let stays = |out: &&Out| {
            let Out { offset, to, .. } = **out;
            self.decisions.goes(offset) && !self.goes(to) && !self.unlisted.has(offset)
        };
        let stay: HashSet<u64, FxBuildHasher> = self
            .out
            .iter()
            .filter(stays)
            .map(|out| out.offset)
            .collect();
        let mut with_warnings = EntrySet::default();
        with_warnings.extend(self.out.iter().filter(stays).map(|out| out.from));
        let mut warned = Vec::new();
        book.visit_set(&with_warnings, |visit| {
            for entry in visit.moves.iter().filter(|mv| stay.contains(&mv.offset)) {
                self.warnings.insert(entry.offset, warning(visit, entry));
            }
            warned.push(visit.entry.place);
            Ok(())
        })?;
        Ok(warned)
    }

    /// Makes positions red until no move with a warning is played. Each red position may
    /// leave another position without a better move.
    fn mark_red(
        &mut self,
        book: &CtgBook,
        warned: &[EntryAddress],
        is_played: &dyn Fn(&[BookMove], &mut Vec<bool>),
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let mut reading = book.reading()?;
        let (mut moves, mut played) = (Vec::new(), Vec::new());
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for (n, &place) in warned.iter().enumerate() {
                let total = Some(warned.len() as u64);
                watch.position("looking", n as u64 + 1, total)?;
                // A red position may leave another one of the same entry without a better
                // move.
                loop {
                    let targets = self.moves_left(place, &mut reading, &mut moves)?;
                    played.clear();
                    is_played(&moves, &mut played);
                    let targets = targets.into_iter().zip(&played);
                    let mut red = targets.filter_map(|(to, played)| to.filter(|_| *played));
                    let Some(to) = red.next() else { break };
                    if !self.red.insert(to) {
                        break;
                    }
                    is_settled = false;
                }
            }
        }
        Ok(())
    }

    /// The moves that an entry will have, transpositions last. Returns for each move with
    /// a warning the place of the entry after it.
    fn moves_left(
        &self,
        place: EntryAddress,
        reading: &mut Reading<'_>,
        moves: &mut Vec<BookMove>,
    ) -> Result<Vec<Option<EntryAddress>>, Error> {
        moves.clear();
        let mut targets = Vec::new();
        let (position, stored) = stored_moves(place, reading)?;
        let mut unlisted = position.legal_moves();
        for known in stored {
            let goes = self.decisions.goes(known.offset);
            let warning = self.warnings.get(&known.offset);
            if goes && warning.is_none() {
                continue;
            }
            unlisted.retain(|mv| *mv != known.mv);
            let after = known.after.filter(|after| !self.goes(after.place));
            targets.push(warning.and(after.map(|after| after.place)));
            let after = after.map(|after| self.record(after.place, after.record));
            let annotation = warning.copied().unwrap_or(known.annotation);
            moves.push(BookMove::stored(known.mv, annotation, after));
        }
        for mv in unlisted {
            let Some(board) = CanonicalBoard::from_position(&notation::after(&position, mv)) else {
                continue;
            };
            let found = match reading.find_position(&board) {
                Err(error) if error.is_damage() => None,
                found => found?,
            };
            if let Some((to, _)) = found.filter(|(to, _)| !self.goes(*to)) {
                let record = self.record(to, reading.entry(to)?.record());
                targets.push(None);
                moves.push(BookMove::transposition(mv, record));
            }
        }
        Ok(targets)
    }

    fn record(&self, place: EntryAddress, record: PositionRecord) -> PositionRecord {
        PositionRecord {
            recommendation: match self.red.contains(place) {
                true => RED.recommendation_byte(record.recommendation),
                false => record.recommendation,
            },
            ..record
        }
    }
}

/// The change that makes a position red.
const RED: MarkEdit = MarkEdit {
    recommendation: Some(Mark::Avoid),
    annotation: None,
    learn_value: None,
    commentary: None,
    weight: None,
    clean: false,
};

/// Changes a book by a plan, and counts the changes.
struct Counts<'p> {
    plan: &'p Plan,
    moves: u64,
    warned: u64,
    red: u64,
    positions: u64,
    moves_of_removed: u64,
}

impl Counts<'_> {
    fn new(plan: &Plan) -> Counts<'_> {
        Counts {
            plan,
            moves: 0,
            warned: 0,
            red: 0,
            positions: 0,
            moves_of_removed: 0,
        }
    }
}

/// The length of an entry's moves, their length byte included.
fn length_of_moves(key: &Key, entry: &[u8]) -> u8 {
    entry.get(key.as_bytes().len()).copied().unwrap_or(1)
}

impl Edit for Counts<'_> {
    fn leaves_out(&mut self, offset: u64, key: &Key, entry: &[u8]) -> bool {
        let goes = self.plan.goes(EntryAddress::at(offset));
        if goes {
            self.positions += 1;
            self.moves_of_removed += u64::from(length_of_moves(key, entry) / 2);
        }
        goes
    }

    fn change(&mut self, offset: u64, key: &Key, entry: &mut Vec<u8>) {
        let plan = self.plan;
        let place = EntryAddress::at(offset);
        let length_at = key.as_bytes().len();
        let length = length_of_moves(key, entry);
        let recommendation_at = entry
            .len()
            .checked_sub(STATISTICS_BYTES - RECOMMENDATION_AT);
        if plan.red.contains(place)
            && let Some(byte) = recommendation_at.and_then(|at| entry.get_mut(at))
        {
            *byte = RED.recommendation_byte(*byte);
            self.red += 1;
        }
        let mut left = length;
        for n in (0..usize::from(length / 2)).rev() {
            let at = length_at + 1 + 2 * n;
            let annotation_at = offset + at as u64 + 1;
            if let Some(warning) = plan.warnings.get(&annotation_at) {
                if let Some(byte) = entry.get_mut(at + 1) {
                    let edit = MarkEdit {
                        annotation: Some(*warning),
                        ..MarkEdit::default()
                    };
                    *byte = edit.annotation_byte(*byte);
                }
                self.warned += 1;
            } else if plan.decisions.goes(annotation_at) {
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

/// Offset of the recommendation in the statistics of an entry.
const RECOMMENDATION_AT: usize = 30;
