//! The editor of marks: changes and undoing them, pages that overflow, progress.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use shakmaty::{Chess, Position as _};
use tabia_book::convert::{self, ConvertJob};
use tabia_book::ctg::{BookInfo, Key, OpenOptions};
use tabia_book::mark::{self, Filter, MarkJob, MarkTarget, Selection};
use tabia_book::{
    Annotation, Book, BookEditor, EditOptions, Error, Field, Lookup, Mark, MarkChange, MarkEdit,
    MarkPlace, Preference,
};
use tabia_io::progress::Watch;

use super::common::{Folder, SIMPLE, SMALL, after, assert_sound, look_up, lookup, open};

fn info(book: &Path) -> BookInfo {
    open(book).info().unwrap()
}

fn edit(book: &Path) -> BookEditor {
    BookEditor::open(book, &EditOptions::default()).unwrap()
}

#[test]
fn who_watches_hears_of_the_work_and_may_end_it() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use tabia_book::mark::{MarkJob, MarkTarget, Selection};
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    for colour in [None, Some(shakmaty::Color::White)] {
        let job = MarkJob::new(
            MarkTarget::Book,
            Selection::default()
                .edit(MarkEdit::clear())
                .colour(colour)
                .filter(None),
        );
        let stop = AtomicBool::new(false);
        let mut reports = 0;
        let mut report = |_| {
            reports += 1;
            // At once, before anything of the book is read.
            stop.store(true, Ordering::Relaxed);
        };
        let mut watch = Watch::new(&mut report, &stop);
        let ended = tabia_book::mark::mark(edit(&book), &job, &mut watch, &mut |_| Ok(()));
        let ended = ended.unwrap_err().to_string();
        assert!(ended.contains("interrupted"), "{ended}");
        assert_eq!(reports, 1);
    }
    assert_eq!(fs::read(&book).unwrap(), before);
}

/// A look-up in a Polyglot book takes as many reads as its length has bits: the file is
/// mapped, so these are not system calls.
#[cfg(target_os = "linux")]
#[test]
fn a_whole_polyglot_book_is_marked_with_few_reads() {
    let folder = Folder::with(SMALL);
    let [ctg, bin] = ["ctg", "bin"].map(|end| folder.join("book").with_extension(end));
    convert::run(&ConvertJob::new(ctg, bin), &mut Watch::default()).unwrap();
    let reads = || -> u64 {
        let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
        let count = counts.lines().find_map(|line| line.strip_prefix("syscr: "));
        count.unwrap().parse().unwrap()
    };
    let job = MarkJob::new(
        MarkTarget::Book,
        Selection::default()
            .edit(MarkEdit {
                weight: Some(7),
                ..MarkEdit::default()
            })
            .filter(Some(Filter::parse("ply>1").unwrap())),
    );
    let before = reads();
    let path = folder.join("book.bin");
    let editor = BookEditor::open_for(&path, &job.selection.edit, &EditOptions::default()).unwrap();
    let mut watch = Watch::default();
    let done = tabia_book::mark::mark(editor, &job, &mut watch, &mut |_| Ok(())).unwrap();
    let (chosen, reads) = (done.chosen, reads() - before);
    assert!(!done.unread.is_loss(), "{done:?}");
    assert!(chosen > 1000, "{chosen} moves are too few to tell");
    assert!(reads < chosen / 4, "{reads} reads for {chosen} moves");
    // Written data can be read at once.
    let found = look_up(
        &Book::open(&path, &OpenOptions::default()).unwrap(),
        &after("e4"),
    );
    let mut weights = found.moves.iter().map(|entry| entry.preference);
    assert!(weights.all(|weight| weight == Preference::Weight(7)));
}

/// A book in which a transposition is not stored as a move, and the page of its position
/// has no room for one.
fn crowded(folder: &Path) -> (PathBuf, Chess, shakmaty::Move) {
    let (book, all) = super::common::random_book(60, 24);
    let path = book.write(folder, "crowded");
    let opened = open(&path);
    for position in &all {
        let lookup = look_up(&opened, position);
        let unstored = lookup.moves.iter().find(|entry| {
            let board = tabia_book::ctg::CanonicalBoard::from_position(position).unwrap();
            entry.transposition && tabia_book::ctg::encode_move_byte(&board, entry.mv).is_some()
        });
        if let Some(entry) = unstored {
            return (path, position.clone(), entry.mv);
        }
    }
    panic!("no transposition in the book");
}

#[test]
fn a_sign_for_a_transposition_stores_the_move() {
    let folder = Folder::new();
    let (path, position, mv) = crowded(&folder);
    let is_transposition = |found: &Lookup| {
        let mut moves = found.moves.iter();
        moves.any(|known| known.mv == mv && known.transposition)
    };
    let count = info(&path);
    let old = lookup(&path, &position);
    // Not every system replaces an open file: Windows does on NTFS, and Wine does not.
    let running = cfg!(unix).then(|| open(&path));
    let editor = edit(&path);
    let edit = MarkEdit {
        annotation: Some(Annotation::GOOD),
        recommendation: Some(Mark::Main),
        ..MarkEdit::default()
    };
    let plan = editor.plan(&position, mv, &edit).unwrap();
    assert!(plan.iter().any(MarkChange::moves_entries));
    let (editor, undo) = editor.apply(&plan).unwrap();
    let found = lookup(&path, &position);
    let stored = found.moves.iter().find(|known| known.mv == mv).unwrap();
    assert!(!stored.transposition);
    assert_eq!(
        (stored.annotation, stored.mark()),
        (Annotation::GOOD, Mark::Main)
    );
    assert_sound(&path);
    // The open book still returns the old state.
    assert!(running.is_none_or(|book| look_up(&book, &position) == old));

    editor.apply(&undo).unwrap();
    let found = lookup(&path, &position);
    assert!(is_transposition(&found));
    let after = info(&path);
    assert_eq!(
        (after.positions, after.moves, after.main_marks),
        (count.positions, count.moves, 0)
    );
    assert_eq!(found, old);
}

/// Adds moves to entries until pages overflow many times.
#[test]
fn entries_that_outgrow_their_pages_split_them() {
    let folder = Folder::new();
    let (book, _) = super::common::random_book(60, 24);
    let path = book.write(&folder, "growing");
    let before = info(&path);
    let opened = open(&path);
    let mut changes = Vec::new();
    for entry in opened.entries() {
        let entry = entry.unwrap();
        // Bytes that have a meaning, whatever it is here.
        let fresh = (0..=255_u8).filter(|byte| tabia_book::ctg::decode_move_byte(*byte).is_some());
        for mv in fresh
            .filter(|byte| entry.moves.iter().all(|(known, _)| known != byte))
            .take(40)
        {
            changes.push(MarkChange {
                place: MarkPlace::Move {
                    key: entry.key,
                    byte: mv,
                    at: 0,
                },
                field: Field::Annotation,
                old: None,
                new: Some(1),
            });
        }
    }
    drop(opened);
    let editor = edit(&path);
    let (editor, undo) = editor.apply(&changes).unwrap();
    let grown = open(&path);
    let more = grown.info().unwrap();
    assert_eq!(more.positions, before.positions);
    assert_eq!(more.moves, before.moves + changes.len() as u64);
    assert!(more.pages > before.pages, "{} {}", more.pages, before.pages);
    assert!(grown.notices().is_empty(), "{:?}", grown.notices());
    // Every entry is found where readers look for it.
    for (key, (_, record)) in &book.entries {
        assert_eq!(grown.entry_of(key).unwrap().unwrap().record, *record);
    }
    drop(grown);
    editor.apply(&undo).unwrap();
    let after = info(&path);
    assert_eq!(
        (after.positions, after.moves),
        (before.positions, before.moves)
    );
}

fn any_change(keys: Vec<(Key, Vec<u8>)>) -> impl Strategy<Value = MarkChange> {
    (0..keys.len(), 0..5_u8, any::<u8>(), any::<u8>()).prop_map(move |(n, kind, byte, at)| {
        let (key, moves) = keys[n].clone();
        let place = |byte| MarkPlace::Move { key, byte, at: 0 };
        let (place, field, new) = match (kind, moves.get(usize::from(at) % moves.len().max(1))) {
            (3, Some(&mv)) => (place(mv), Field::Annotation, Some(byte.into())),
            (4, Some(&mv)) if byte < 12 => (place(mv), Field::Annotation, None),
            (kind, _) => {
                let marks = [Field::Recommendation, Field::LearnValue, Field::Commentary];
                let field = marks[usize::from(kind) % 3];
                (MarkPlace::Position(key), field, Some(byte.into()))
            }
        };
        // Whatever the old value is.
        MarkChange {
            place,
            field,
            old: Some(0),
            new,
        }
    })
}

fn keys_of(book: &Path) -> Vec<(Key, Vec<u8>)> {
    let opened = open(book);
    let entries = opened.entries().map(Result::unwrap);
    entries
        .map(|e| (e.key, e.moves.iter().map(|(byte, _)| *byte).collect()))
        .collect()
}

#[test]
fn changes_and_their_undoing_leave_every_byte_as_it_was() {
    let folder = Folder::new();
    let (book, _) = super::common::random_book(30, 16);
    let path = book.write(&folder, "undo");
    let original = fs::read(&path).unwrap();
    let keys = keys_of(&path);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    let strategy = proptest::collection::vec(any_change(keys), 1..40);
    runner
        .run(&strategy, |changes| {
            let editor = edit(&path);
            let moves_entries = changes.iter().any(MarkChange::moves_entries);
            match editor.apply(&changes) {
                Ok((editor, undo)) => {
                    if !moves_entries {
                        let now = fs::read(&path).unwrap();
                        let pairs = original.iter().zip(&now);
                        let differing = pairs.filter(|(old, new)| old != new).count();
                        prop_assert!(differing <= changes.len());
                    }
                    editor.apply(&undo).unwrap();
                }
                // A move is removed twice, or missing when it is to be marked.
                Err(Error::NoSuchMove { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            if !moves_entries {
                prop_assert!(fs::read(&path).unwrap() == original);
            } else {
                // Rewriting a book removes stale bytes, so it starts again.
                let opened = open(&path);
                for (key, (_, record)) in &book.entries {
                    prop_assert_eq!(opened.entry_of(key).unwrap().unwrap().record, *record);
                }
                book.write(&folder, "undo");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_journal_of_another_book_is_not_carried_out() {
    let folder = Folder::with(SIMPLE);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    for junk in [&b""[..], b"tabiaed1", &[0xff; 500]] {
        folder.put(".book.ctg.edit", junk);
        let editor = edit(&book);
        assert!(!editor.completed_a_change());
        assert_eq!(fs::read(&book).unwrap(), before);
        assert!(!folder.join(".book.ctg.edit").exists());
    }
}

/// All moves that the filter means, and no others, get the marks; a dry run counts the same
/// ones and changes nothing.
#[test]
fn a_whole_book_is_marked_by_its_filter() {
    let folder = Folder::new();
    let (book, all) = super::common::random_book(60, 24);
    let path = book.write(&folder, "x");
    let mut expected = book.clone();
    let (mut chosen, mut main) = (0, Vec::new());
    for position in &all {
        let board = tabia_book::ctg::CanonicalBoard::from_position(position).unwrap();
        // Each stored move, with the position after it and its games.
        let (stored, _) = expected.entries.get_mut(&board.key()).unwrap();
        let mut moves = Vec::new();
        for mv in position.legal_moves() {
            let child = tabia_notation::after(position, mv);
            let child = tabia_book::ctg::CanonicalBoard::from_position(&child).unwrap();
            let byte = tabia_book::ctg::encode_move_byte(&board, mv);
            let at = stored.iter().position(|(known, _)| Some(*known) == byte);
            let games = |at| (at, child.key(), book.entries[&child.key()].1.stats.games);
            moves.extend(at.map(games));
        }
        let sum: u32 = moves.iter().map(|(.., games)| games).sum();
        for (at, child, games) in moves {
            if games > 300 && 10 * games > 3 * sum {
                let (_, annotation) = &mut stored[at];
                chosen += u64::from(*annotation != Annotation::GOOD);
                *annotation = Annotation::GOOD;
                main.push(child);
            }
        }
    }
    for key in main {
        let (_, record) = expected.entries.get_mut(&key).unwrap();
        record.recommendation = 0x80;
    }
    let edit = MarkEdit {
        annotation: Some(Annotation::GOOD),
        recommendation: Some(Mark::Main),
        ..MarkEdit::default()
    };
    let filter = Filter::parse("games>300 and share>30").unwrap();
    let selection = Selection::default().edit(edit).filter(Some(filter));
    for is_dry in [true, false] {
        let job = MarkJob::new(MarkTarget::Book, selection.clone())
            .dry_run(is_dry)
            .shown(3);
        let editor =
            BookEditor::open_for(&path, &job.selection.edit, &EditOptions::default()).unwrap();
        let mut changes = 0;
        let mut see = |_: &mark::ShownChange| {
            changes += 1;
            Ok(())
        };
        let mut watch = Watch::default();
        let done = mark::mark(editor, &job, &mut watch, &mut see).unwrap();
        assert!(!done.unread.is_loss(), "{done:?}");
        assert_eq!(changes, if is_dry { 3 } else { 0 });
        assert!(done.chosen >= chosen && chosen > 50, "{done:?}");
        let wanted = if is_dry { &book } else { &expected };
        assert_eq!(super::common::contents(&path), wanted.contents());
    }
}

/// A stored number ends with the byte at its place in the file, in each format.
#[test]
fn a_stored_number_is_at_its_place() {
    let folder = Folder::with(SMALL);
    let position = after("e4");
    for end in ["ctg", "bin", "abk"] {
        let path = folder.join("book").with_extension(end);
        if end != "ctg" {
            let job = ConvertJob::new(folder.join("book.ctg"), path.clone());
            convert::run(&job, &mut Watch::default()).unwrap();
        }
        let editor = edit(&path);
        let mv = look_up(editor.book(), &position).moves[0].mv;
        let marks = MarkEdit {
            recommendation: Some(Mark::Main),
            learn_value: Some(9),
            commentary: Some(22),
            weight: Some(7),
            ..MarkEdit::default()
        };
        let changes = editor.plan(&position, mv, &marks).unwrap();
        assert_eq!(changes.len(), if end == "ctg" { 3 } else { 1 });
        let (editor, _) = editor.apply(&changes).unwrap();
        let bytes = fs::read(&path).unwrap();
        for change in changes {
            let stored = editor.book().stored(&change.place, change.field).unwrap();
            let (offset, value) = stored.unwrap();
            assert_eq!(Some(value), change.new);
            assert_eq!(u32::from(bytes[offset as usize]), value, "{end} {change:?}");
        }
    }
}
