//! The differences of two books: every difference, and each of them once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions as OpenOptionsOfFile;
use std::io::Write as _;

use super::common::{Folder, TestBook, random_book, record};
use proptest::prelude::*;
use shakmaty::{Chess, Move, Position as _};
use tabia_book::compare::{Aspect, Aspects, Compared, Difference, Plan, Side, Way, compare};
use tabia_book::ctg::{CanonicalBoard, Key, PAGE_BYTES};
use tabia_book::{Annotation, Book, OpenOptions};
use tabia_notation::Line;

fn key_of(position: &Chess) -> Key {
    CanonicalBoard::from_position(position).unwrap().key()
}

fn whole(aspects: &[Aspect]) -> Plan {
    Plan::new(Aspects::from_list(aspects))
}

/// Differences, with the moves that lead there.
type Found = Vec<(Difference, Option<Vec<Move>>)>;

/// Found by hashes and, the same, by look-ups.
fn differences(a: &TestBook, b: &TestBook, plan: &Plan) -> (Found, Compared) {
    let folder = Folder::new();
    let paths = [a.write(&folder, "a"), b.write(&folder, "b")];
    let open = || [0, 1].map(|n| Book::open(&paths[n], &OpenOptions::default()).unwrap());
    let [a, b] = open();
    let found = differences_of(&a, &b, plan);
    // With a page that does not count, the file of the book is not quite sound.
    let mut file = OpenOptionsOfFile::new()
        .append(true)
        .open(&paths[1])
        .unwrap();
    file.write_all(&[0; PAGE_BYTES]).unwrap();
    let [a, b] = open();
    assert_eq!(differences_of(&a, &b, plan), found);
    found
}

fn differences_of(a: &Book, b: &Book, plan: &Plan) -> (Found, Compared) {
    let mut list = Vec::new();
    let compared = compare(
        a,
        b,
        plan,
        &mut tabia_io::progress::Watch::default(),
        |difference: &Difference, way: Option<Way<'_>>| {
            let moves = way.as_ref().map(Way::moves);
            // The same moves, as text.
            let mut line = Line::from_start(plan.from.clone());
            moves.iter().flatten().for_each(|mv| line.push(*mv));
            assert_eq!(way.as_ref().map_or("", Way::text), line.to_string());
            (difference.clone(), moves)
        },
        |found| {
            list.push(found);
            Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
        },
    );
    (list, compared.unwrap().0)
}

/// A change of a copy of a book.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Games,
    Mark,
    Factor,
    Commentary,
    Annotation,
    DropMove,
}

impl Change {
    /// Makes the change if possible; returns the aspect that it changes.
    fn make(&self, book: &mut TestBook, key: Key) -> Option<Aspect> {
        let (moves, record) = book.entries.get_mut(&key)?;
        match self {
            Change::Remove => {
                book.entries.remove(&key);
                Some(Aspect::Positions)
            }
            Change::Games => {
                record.stats.games += 1;
                Some(Aspect::Stats)
            }
            Change::Mark => {
                record.recommendation = 0x80;
                Some(Aspect::Marks)
            }
            Change::Factor => {
                record.learn_value = 7;
                Some(Aspect::LearnValues)
            }
            Change::Commentary => {
                record.commentary = 16;
                Some(Aspect::Commentaries)
            }
            Change::Annotation => {
                let (_, annotation) = moves.first_mut()?;
                *annotation = Annotation(annotation.0 ^ 8);
                Some(Aspect::Annotations)
            }
            Change::DropMove => moves.pop().map(|_| Aspect::Moves),
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Remove),
        Just(Change::Games),
        Just(Change::Mark),
        Just(Change::Factor),
        Just(Change::Commentary),
        Just(Change::Annotation),
        Just(Change::DropMove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Entries are changed at random; exactly the changes are found.
    #[test]
    fn exactly_the_changes_are_found(
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 0..12),
        plies in 2..12_usize,
    ) {
        let (a, all) = random_book(20, plies);
        let mut b = a.clone();
        let mut changed: BTreeMap<Key, BTreeSet<&str>> = BTreeMap::new();
        for (index, change) in changes {
            let key = key_of(index.get(&all));
            if changed.contains_key(&key) {
                continue;
            }
            if let Some(aspect) = change.make(&mut b, key) {
                changed.entry(key).or_default().insert(aspect.as_str());
            }
        }
        let (found, compared) = differences(&a, &b, &whole(&[]));
        prop_assert_eq!(compared.positions, a.entries.len() as u64);
        prop_assert_eq!(compared.different, found.len() as u64);
        let mut seen: BTreeMap<Key, BTreeSet<&str>> = BTreeMap::new();
        for (difference, _) in &found {
            let touched = Aspect::ALL.iter().filter(|aspect| difference.touches(**aspect));
            let touched = touched.map(|aspect| aspect.as_str()).collect();
            let before = seen.insert(key_of(&difference.position), touched);
            prop_assert!(before.is_none(), "twice");
        }
        prop_assert_eq!(&seen, &changed);
        // A line leads to its position, and those near the start come first.
        let lengths: Vec<usize> = found
            .iter()
            .map(|(_, line)| line.as_ref().map_or(usize::MAX, Vec::len))
            .collect();
        prop_assert!(lengths.is_sorted(), "{:?}", lengths);
        for (difference, line) in &found {
            let Some(line) = line else { continue };
            let mut position = Chess::default();
            for mv in line {
                prop_assert!(position.is_legal(*mv));
                position.play_unchecked(*mv);
            }
            prop_assert_eq!(key_of(&position), key_of(&difference.position));
        }
        // With the books exchanged, the sides are exchanged.
        let (_, back) = differences(&b, &a, &whole(&[]));
        prop_assert_eq!(back.different, compared.different);
        prop_assert_eq!(back.only_in_b, compared.only_in_a);
        // A choice of aspects finds the differences in one of them.
        let (marks, _) = differences(&a, &b, &whole(&[Aspect::Marks, Aspect::Moves]));
        let expected = changed.values().filter(|set| set.contains("marks") || set.contains("moves"));
        prop_assert_eq!(marks.len(), expected.count());
    }
}

#[test]
fn a_walk_can_begin_anywhere_and_end_early() {
    let (a, all) = random_book(30, 8);
    let mut b = a.clone();
    for (_, record) in b.entries.values_mut() {
        record.learn_value = 1;
    }
    let plan = whole(&[]).plies(Some(1)).unreached(false);
    let (found, _) = differences(&a, &b, &plan);
    assert!(found.len() > 1);
    assert!(
        found
            .iter()
            .all(|(_, line)| line.as_ref().unwrap().len() <= 1)
    );
    let plan = whole(&[])
        .from(all.last().unwrap().clone())
        .unreached(false);
    let (found, _) = differences(&a, &b, &plan);
    assert_eq!(found.first().unwrap().1, Some(Vec::new()));
    assert!(found.len() < a.entries.len());
}

#[test]
fn a_position_of_one_book_is_named_with_its_side() {
    let mut a = TestBook::default();
    a.add(&Chess::default(), &[], record(1));
    let (b, _) = random_book(3, 4);
    let (found, compared) = differences(&a, &b, &whole(&[Aspect::Positions]));
    assert_eq!(compared.only_in_a, 0);
    assert_eq!(compared.only_in_b, b.entries.len() as u64 - 1);
    assert!(found.iter().all(|(one, _)| one.only_in == Some(Side::B)));
}
