//! Passes from the start position: by a graph, and near it by look-ups.

use std::path::Path;

use shakmaty::Color;
use tabia_book::Annotation;
use tabia_book::ctg::{CanonicalBoard, Pass, RewriteOptions, compact, encode_move_byte};
use tabia_io::progress::Watch;
use tabia_notation::Line;

use super::common::{Folder, SMALL, TestBook, open, project, random_book, record};

/// Everything that a pass from the start shows, by plies from there.
fn shown(book: &Path, plies: Option<u32>) -> Vec<(Option<u32>, String)> {
    let mut shown = Vec::new();
    let pass = Pass::FromStart { plies };
    let found = |visit: &tabia_book::ctg::Visit<'_>| {
        shown.push((visit.ply, format!("{:?} {:?}", visit.entry, visit.moves)));
        Ok(())
    };
    let book = open(book);
    book.visit(pass, &mut Watch::default(), &mut |_| (), found)
        .unwrap();
    shown
}

/// Without a limit of plies a graph shows what look-ups find.
fn assert_same(book: &Path, count: usize) {
    let by_graph = shown(book, None);
    assert!(by_graph.len() > count, "{}", by_graph.len());
    assert_eq!(shown(book, Some(u32::MAX)), by_graph);
    let mut near = by_graph;
    near.retain(|(ply, _)| *ply < Some(5));
    assert_eq!(shown(book, Some(5)), near);
}

#[test]
fn lines_of_a_graph_are_those_of_look_ups() {
    let folder = Folder::new();
    let random = random_book(1000, 8).0.write(&folder, "random");
    for (book, count, of_one) in [(&project(SMALL), 800, 100), (&random, 150, 150)] {
        assert_same(book, count);
        for side in Color::ALL {
            let only = folder.join(format!("{count}-{side}.ctg"));
            let options = RewriteOptions::default().only(Some(side));
            compact(book, &only, &options, &mut Watch::default()).unwrap();
            assert_same(&only, of_one);
        }
    }
}

/// The capture at the end is pinned: a book may have the position in either form.
#[test]
fn a_position_in_the_other_en_passant_form_is_shown() {
    let line = Line::read("", "e4 e5 f4 exf4 e5 Qe7 Nf3 d5").unwrap();
    let last = CanonicalBoard::from_position(line.last()).unwrap();
    for key in [last.key(), last.other_key().unwrap()] {
        let folder = Folder::new();
        let mut book = TestBook::default();
        for (n, (position, mv)) in (0..).zip(line.moves()) {
            let board = CanonicalBoard::from_position(position).unwrap();
            let byte = encode_move_byte(&board, mv).unwrap();
            book.add_key(board.key(), vec![(byte, Annotation::default())], record(n));
        }
        book.add_key(key, Vec::new(), record(9));
        let book = book.write(&folder, "book");
        assert_same(&book, 8);
        let keys = format!("{key:?}");
        assert!(shown(&book, None).last().unwrap().1.contains(&keys));
    }
}
