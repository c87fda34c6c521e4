use super::*;
use shakmaty::Chess;
use std::path::PathBuf;
use tabia_book::{Lookup, Mark, OpenOptions, Probe as _, Wanted};

/// A book with a move, in a folder.
struct EditedBook {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl EditedBook {
    fn new() -> EditedBook {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let lines = [(Line::read("", "e2e4,c7c5").unwrap(), Vec::new())];
        tabia_build::write_lines(&lines, &path, None).unwrap();
        EditedBook { folder, path }
    }

    fn book(&self) -> Book {
        Book::open(&self.path, &OpenOptions::default()).unwrap()
    }

    /// The mark and the learn value of 1.e4.
    fn e4(&self) -> (Mark, i8) {
        let mut found = Lookup::default();
        let start = Chess::default();
        let book = self.book();
        book.probe(&start, Wanted::Stored, &mut found).unwrap();
        (found.moves[0].mark(), found.moves[0].learn_value())
    }

    /// Number of folders with an old book.
    fn backups(&self) -> usize {
        let entries = self.folder.path().read_dir().unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().path().is_dir())
            .count()
    }
}

fn mark(mark: Mark) -> MarkEdit {
    MarkEdit {
        recommendation: Some(mark),
        ..MarkEdit::default()
    }
}

fn learn_value(value: i8) -> MarkEdit {
    MarkEdit {
        learn_value: Some(value),
        ..MarkEdit::default()
    }
}

fn annotation(annotation: Annotation) -> MarkEdit {
    MarkEdit {
        annotation: Some(annotation),
        ..MarkEdit::default()
    }
}

fn step(client: &str, change: Change, description: &str) -> RecordedChange {
    RecordedChange {
        client: client.to_owned(),
        change,
        description: description.into(),
        gesture: None,
    }
}

#[test]
fn changes_of_one_gesture_are_undone_together() {
    let book = EditedBook::new();
    let history = EditHistory::new(&book.book());
    let set = |client: &str, value, gesture: Option<&str>| {
        let line = Line::read("", "e2e4").unwrap();
        let moves = line.moves().map(|(position, mv)| (position.clone(), mv));
        let (moves, edit) = (moves.collect(), learn_value(value));
        let change = Change::Mark {
            moves,
            edit,
            seen: None,
        };
        let gesture = gesture.map(str::to_owned);
        let step = RecordedChange {
            gesture,
            ..step(client, change, &value.to_string())
        };
        history.change(step).unwrap()
    };
    assert!(set("a", 3, None));
    let steps: Vec<bool> = (4..14).map(|value| set("a", value, Some("g"))).collect();
    assert_eq!(steps.iter().filter(|is_step| **is_step).count(), 1);
    // The value that it has already is not a step.
    assert!(!set("a", 13, None));
    assert_eq!(history.undoable("a").undo, 2);
    assert_eq!(history.undo("a").unwrap(), Some("13".into()));
    assert_eq!(book.e4().1, 3);
    assert!(history.redo("a").unwrap());
    assert_eq!(book.e4().1, 13);
    // Between two steps of a gesture, another page has changed it.
    assert!(set("b", 20, Some("g")));
    assert!(set("a", 21, Some("g")));
    assert_eq!(history.undo("a").unwrap(), Some("21".into()));
    assert_eq!(book.e4().1, 20);
}

#[test]
fn each_page_undoes_and_redoes_its_own_changes() {
    let book = EditedBook::new();
    let history = EditHistory::new(&book.book());
    let make_seen = |client: &str, edit, seen, description: &str| {
        let line = Line::read("", "e2e4").unwrap();
        let moves = line.moves().map(|(position, mv)| (position.clone(), mv));
        let moves = moves.collect();
        let change = Change::Mark { moves, edit, seen };
        history.change(step(client, change, description))
    };
    let make = |client: &str, edit, description: &str| make_seen(client, edit, None, description);
    make("a", mark(Mark::Main), "first").unwrap();
    make("a", learn_value(5), "second").unwrap();
    let refused = make_seen("a", learn_value(1), Some(learn_value(2)), "refused");
    assert!(refused.is_err());
    let last = history.undoable("a").last_change;
    assert_eq!(last, Some("second".into()));
    assert_eq!(history.undoable("b"), Undoable::default());
    assert_eq!(history.undo("b").unwrap(), None);
    // What another page has changed since is not undone.
    make("b", learn_value(7), "by another page").unwrap();
    assert!(history.undo("a").is_err());
    assert!(history.undo("b").unwrap().is_some());
    let undo = || history.undo("a").unwrap();
    assert_eq!(undo(), Some("second".into()));
    assert_eq!(book.e4(), (Mark::Main, 0));
    assert_eq!(undo(), Some("first".into()));
    assert_eq!((undo(), book.e4()), (None, (Mark::None, 0)));
    history.redo("c").unwrap();
    assert_eq!(book.e4(), (Mark::None, 0));
    history.redo("a").unwrap();
    assert_eq!(book.e4(), (Mark::Main, 0));
    let known = history.undoable("a");
    assert_eq!((known.undo, known.redo), (1, 1));
    // A new change removes the redo steps; one without effect is no step.
    make("a", learn_value(9), "third").unwrap();
    make("a", learn_value(9), "nothing").unwrap();
    let known = history.undoable("a");
    assert_eq!((known.undo, known.redo), (2, 0));
}

#[test]
fn the_number_of_stored_old_books_is_limited() {
    let book = EditedBook::new();
    let history = EditHistory::new(&book.book());
    let line = Line::read("", "d2d4").unwrap();
    for _ in 0..MOST_REWRITES + 2 {
        let change = Change::Add(vec![(line.clone(), Vec::new())]);
        history.change(step("a", change, "added")).unwrap();
    }
    assert_eq!(history.undoable("a").undo, MOST_REWRITES);
    assert_eq!(book.backups(), MOST_REWRITES);
}

#[test]
fn reading_does_not_wait_for_a_change() {
    let book = EditedBook::new();
    let history = EditHistory::new(&book.book());
    let change = Change::Remove(vec![Line::read("", "e2e4,c7c5").unwrap()]);
    std::thread::scope(|scope| {
        let changing = lock(&history.changing);
        let other = scope.spawn(|| history.change(step("a", change, "deleted")));
        assert_eq!(history.undoable("a"), Undoable::default());
        let line = Line::read("", "e2e4").unwrap();
        assert_eq!(history.count_removed("a", &[line]), Ok(2));
        drop(changing);
        other.join().unwrap().unwrap();
    });
    assert_eq!(history.undo("a").unwrap(), Some("deleted".into()));
}

#[test]
fn a_page_counts_once_at_a_time() {
    let counts = Counts::default();
    let (begun, has_begun) = std::sync::mpsc::sync_channel(0);
    let until_stopped = |stop: &AtomicBool| {
        begun.send(()).unwrap();
        while !stop.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        let [a, b] = ["a", "b"].map(|client| {
            let counting = scope.spawn(|| counts.count(client, until_stopped));
            has_begun.recv().unwrap();
            counting
        });
        assert_eq!(counts.count("a", |_| 3), 3);
        a.join().unwrap();
        assert!(!b.is_finished());
        assert_eq!(counts.count("b", |_| 3), 3);
        b.join().unwrap();
    });
    assert!(lock(&counts.0).is_empty());
}

#[test]
fn only_known_words_are_changes() {
    let parse = |kind: &str, value| {
        let kind = serde_json::from_value(kind.into());
        kind.map_err(failed)
            .and_then(|kind| parse_edit(kind, value, u16::MAX))
    };
    assert_eq!(parse("mark", "avoid"), Ok(mark(Mark::Avoid)));
    let dubious = annotation(Annotation::DUBIOUS);
    assert_eq!(parse("annotation", "?!"), Ok(dubious));
    assert_eq!(parse("annotation", "none"), Ok(annotation(Annotation(0))));
    for name in ["factor", "learn_value"] {
        assert_eq!(parse(name, "-125"), Ok(learn_value(-125)));
    }
    for (kind, value) in [
        ("mark", "blue"),
        ("annotation", "!!!"),
        ("annotation", "32"),
        ("factor", "126"),
        ("factor", "x"),
        ("weight", "-1"),
        ("weight", "65536"),
        ("file", "/etc/passwd"),
    ] {
        assert!(parse(kind, value).is_err(), "{kind} {value}");
    }
}
