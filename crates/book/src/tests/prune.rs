//! A pruned book has what its remaining moves lead to, byte for byte, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::common::{Folder, TestBook, assert_sound, contents, open, random_book};
use shakmaty::{Chess, Position as _};
use tabia_book::ctg::{
    CanonicalBoard, Fate, Key, PruneRules, Rare, RewriteOptions, Visit, VisitedMove, count_pruned,
    encode_move_byte, prune,
};
use tabia_book::{Annotation, BookMove, Mark, PositionRecord};
use tabia_io::progress::Watch;

fn key_of(position: &Chess) -> Key {
    CanonicalBoard::from_position(position).unwrap().key()
}

/// Where each stored move leads, by its byte.
fn links(book: &TestBook, all: &[Chess]) -> BTreeMap<Key, BTreeMap<u8, Key>> {
    let of = |position: &Chess| {
        let board = CanonicalBoard::from_position(position).unwrap();
        let (stored, _) = &book.entries[&board.key()];
        let legal = position.legal_moves();
        let moves = legal.into_iter().filter_map(|m| {
            let byte = encode_move_byte(&board, m)?;
            let is_stored = stored.iter().any(|(known, _)| *known == byte);
            let child = key_of(&tabia_notation::after(position, m));
            is_stored.then_some((byte, child))
        });
        (board.key(), moves.collect())
    };
    all.iter().map(of).collect()
}

#[test]
fn a_pruned_book_has_what_its_moves_lead_to() {
    // Short games, so that several moves lead to a position.
    let (book, all) = random_book(1000, 4);
    let links = links(&book, &all);
    let games = |key: &Key| book.entries[key].1.stats.games;
    let reached = |follows: &dyn Fn(&Key, &Key) -> bool| {
        let mut found = BTreeSet::from([key_of(&Chess::default())]);
        let mut next: Vec<Key> = found.iter().copied().collect();
        while let Some(key) = next.pop() {
            let after = links[&key].values().filter(|child| follows(&key, child));
            next.extend(after.copied().filter(|child| found.insert(*child)));
        }
        found
    };
    let before = reached(&|_, _| true);
    let (mut all_warned, mut all_red) = (0, 0);
    for (first, modulus, plays) in [
        (Fate::Gone, 5),
        (Fate::Out, 5),
        (Fate::Out, 2),
        (Fate::Unlisted, 3),
        (Fate::Kept, 1),
    ]
    .into_iter()
    .flat_map(|(first, modulus)| [(first, modulus, false), (first, modulus, true)])
    {
        let fate_of = |from: u32, to: u32| match (from + to) % modulus {
            0 => first,
            1 => Fate::Unlisted,
            _ => Fate::Kept,
        };
        let after = reached(&|from, child| {
            !matches!(fate_of(games(from), games(child)), Fate::Gone | Fate::Out)
        });
        let goes = |key: &Key| before.contains(key) && !after.contains(key);
        let mut expected = TestBook::default();
        let (mut moves, mut warned, mut moves_of_removed) = (0, 0, 0);
        // What is played in spite of a warning is made red.
        let mut red = BTreeSet::new();
        for (key, (stored, record)) in &book.entries {
            if goes(key) {
                moves_of_removed += stored.len() as u64;
                continue;
            }
            let kept = stored.iter().filter_map(|(byte, annotation)| {
                let child = &links[key][byte];
                let fate = match after.contains(key) {
                    true => fate_of(games(key), games(child)),
                    // No line leads here: only what is lost goes.
                    false if goes(child) => Fate::Gone,
                    false => Fate::Kept,
                };
                match fate {
                    Fate::Kept => Some((*byte, *annotation)),
                    Fate::Out if !goes(child) => {
                        warned += 1;
                        red.extend(plays.then_some(*child));
                        Some((*byte, Annotation::DUBIOUS))
                    }
                    _ => {
                        moves += 1;
                        None
                    }
                }
            });
            expected.add_key(*key, kept.collect(), *record);
        }
        for key in &red {
            let (_, record) = expected.entries.get_mut(key).unwrap();
            record.recommendation = 0x40;
        }

        let folder = Folder::new();
        let source = book.write(&folder, "x");
        let target = folder.join("y.ctg");
        let mut fates = |visit: &Visit<'_>, fates: &mut Vec<Fate>| {
            fates.extend(visit.moves.iter().map(|mv| {
                let after = mv.after.expect("all moves lead to an entry");
                fate_of(visit.entry.record.stats.games, after.record.stats.games)
            }));
        };
        let warning = |_: &Visit<'_>, _: &VisitedMove| Annotation::DUBIOUS;
        let is_played = |moves: &[BookMove], played: &mut Vec<bool>| {
            played.extend(moves.iter().map(|mv| plays && mv.mark() != Mark::Avoid));
        };
        let mut rules = PruneRules::new(&mut fates, &warning, &is_played);
        let opened = open(&source);
        let count = count_pruned(&opened, &mut Watch::default(), &mut rules).unwrap();
        drop(opened);
        let options = RewriteOptions::default();
        let watch = &mut Watch::default();
        let done = prune(&source, &target, &options, watch, rules).unwrap();
        assert_eq!(
            contents(&target),
            expected.contents(),
            "{first:?} {modulus}"
        );
        assert_sound(&target);
        let removed = (book.entries.len() - expected.entries.len()) as u64;
        assert_eq!((done.positions, count), (removed, removed));
        assert_eq!(
            (done.moves, done.warned, done.red),
            (moves, warned, red.len() as u64)
        );
        (all_warned, all_red) = (all_warned + warned, all_red + done.red);
        assert_eq!(done.moves_of_removed, moves_of_removed);
        // A book that loses nothing keeps the splits of its index.
        assert_eq!(done.rewritten.splits_kept, first == Fate::Kept);
    }
    assert!(all_warned > 5 && all_red > 5, "{all_warned} {all_red}");
}

/// Rare positions go, and moves to them; what they lead to stays.
#[test]
fn rare_positions_go_alone() {
    let (book, all) = random_book(60, 24);
    let links = links(&book, &all);
    let start = key_of(&Chess::default());
    let is = |record: &PositionRecord| record.stats.games % 4 == 2;
    let goes = |key: &Key| *key != start && is(&book.entries[key].1);
    let mut expected = TestBook::default();
    for (key, (stored, record)) in book.entries.iter().filter(|(key, _)| !goes(key)) {
        let kept = stored.iter().filter(|(byte, _)| !goes(&links[key][byte]));
        expected.add_key(*key, kept.copied().collect(), *record);
    }
    let folder = Folder::new();
    let source = book.write(&folder, "x");
    let target = folder.join("y.ctg");
    let mut fates = |visit: &Visit<'_>, fates: &mut Vec<Fate>| {
        fates.extend(visit.moves.iter().map(|mv| match mv.after {
            Some(after) if is(&after.record) => Fate::Rare,
            _ => Fate::Kept,
        }));
    };
    let warning = |_: &Visit<'_>, _: &VisitedMove| Annotation::DUBIOUS;
    let is_played = |_: &[BookMove], _: &mut Vec<bool>| ();
    let rare = Rare::new(&is, None);
    let rules = PruneRules::new(&mut fates, &warning, &is_played).rare(Some(&rare));
    let options = RewriteOptions::default();
    prune(&source, &target, &options, &mut Watch::default(), rules).unwrap();
    assert_eq!(contents(&target), expected.contents());
}
