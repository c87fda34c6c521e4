//! The parts of a game that are asked for are those of the whole game, in each format.

use shakmaty::{Chess, Move, Position as _};

use super::export::random_games;
use super::{Folder, convert_to, data, read_each};
use crate::{ExportTarget, Game, GameParts, Item, MoveAnnotation};

/// A line of a game.
#[derive(Clone, Default)]
struct Line {
    /// Ply and position of the next move and of the last one; `None` where the line is not
    /// read any more.
    now: Option<(usize, Chess)>,
    before: Option<(usize, Chess)>,
    /// Index of the last move in its list.
    last: Option<usize>,
}

/// The moves of the main line, those of variations, and the annotations, up to a number
/// of plies, from the movetext.
type Parts = (Vec<Move>, Vec<(usize, Chess, Move)>, Vec<MoveAnnotation>);

fn parts_of(whole: &Game, plies: usize) -> Parts {
    let (mut main, mut side, mut annotations) = Parts::default();
    let mut open = Vec::new();
    let mut line = Line {
        now: Some((0, whole.positions[0].clone())),
        ..Line::default()
    };
    for item in &whole.movetext {
        match item {
            Item::Move(m) => match line.now.take() {
                Some((ply, position)) if ply < plies => {
                    let mut next = position.clone();
                    next.play_unchecked(*m);
                    line.before = Some((ply, position.clone()));
                    line.now = Some((ply + 1, next));
                    if open.is_empty() {
                        line.last = Some(main.len());
                        main.push(*m);
                    } else {
                        line.last = Some(side.len());
                        side.push((ply, position, *m));
                    }
                }
                _ => line = Line::default(),
            },
            Item::Null => line = Line::default(),
            Item::Begin => {
                let now = line.before.clone();
                open.push(line);
                line = Line {
                    now,
                    ..Line::default()
                };
            }
            Item::End => line = open.pop().unwrap(),
            Item::Nag(nag) => annotations.extend(line.last.map(|index| MoveAnnotation {
                nag: *nag,
                side_move: !open.is_empty(),
                index,
            })),
            Item::Comment(_) => {}
        }
    }
    (main, side, annotations)
}

#[test]
fn parts_of_a_game_are_those_of_the_whole() {
    let folder = Folder::new();
    let random = folder.put("random.pgn", random_games(11));
    let (scid, scdb) = (folder.join("random.si5"), folder.join("random.dci"));
    convert_to(ExportTarget::Scid(scid.clone()), &random);
    convert_to(ExportTarget::Scdb(scdb.clone()), &random);
    let stored = [
        "scid/five.si4",
        "scid/edge.si4",
        "scid/edge.si5",
        "scid/edge.pgn",
        "scid/c960.si5",
        "scid/c960.pgn",
        "cbh2/made.2cbh",
        "cbf/sample.cbf",
        "cbf/source.pgn",
        "scdb/small.dci",
        "scdb/expected.pgn",
        "nic/sample.prn",
        "chessbase/Capa.cbh",
    ];
    let paths = [random, scid, scdb].into_iter().chain(stored.map(data));
    for path in paths {
        let (whole, _) = read_each(&path, GameParts::EVERYTHING);
        for game in whole.values() {
            let stripped = |variations, comments| {
                let mut game = game.clone();
                game.strip(variations, comments);
                game
            };
            let all = parts_of(game, usize::MAX);
            let is_comment = |item: &Item| matches!(item, Item::Comment(_));
            let comments = game.movetext.iter().filter(|item| is_comment(item)).count();
            let silent = stripped(false, true);
            assert_eq!(silent.movetext.len(), game.movetext.len() - comments);
            assert!(!silent.movetext.iter().any(is_comment));
            assert_eq!(parts_of(&silent, usize::MAX), all);
            let (moves, _, mut annotations) = all;
            annotations.retain(|annotation| !annotation.side_move);
            let main = stripped(true, false);
            assert!(!main.movetext.contains(&Item::Begin) && !main.movetext.contains(&Item::End));
            assert_eq!(
                parts_of(&main, usize::MAX),
                (moves, Vec::new(), annotations)
            );
            assert_eq!(stripped(false, false).movetext, game.movetext);
        }
        for plies in [0, 1, 2, 11, 40, usize::MAX] {
            let main = GameParts::default().up_to(plies);
            let side = main.with_variations();
            for wanted in [main, side, side.with_annotations(), main.with_annotations()] {
                let (parts, _) = read_each(&path, wanted);
                for (place, whole) in whole.iter().filter(|(_, game)| game.cut.is_none()) {
                    let read = &parts[place];
                    let (moves, mut side, mut annotations) = parts_of(whole, plies);
                    if !wanted.variations {
                        side.clear();
                        annotations.retain(|annotation| !annotation.side_move);
                    }
                    if !wanted.annotations {
                        annotations.clear();
                    }
                    assert_eq!(read.moves, moves, "{path:?} {place:?} {plies}");
                    assert_eq!(read.side_moves, side, "{path:?} {place:?} {plies}");
                    assert_eq!(read.annotations, annotations, "{path:?} {place:?} {plies}");
                    assert_eq!(read.positions, whole.positions[..=moves.len()]);
                    assert!(read.movetext.is_empty());
                    // Without notes a line ends at a null move.
                    assert!(read.cut.is_none() || whole.movetext.contains(&Item::Null));
                    assert_eq!(read.names, whole.names);
                    assert_eq!(read.months(), whole.months());
                }
            }
        }
    }
}
