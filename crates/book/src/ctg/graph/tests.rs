use shakmaty::{Position as _, Role};

use super::ahead::ByMover;
use super::*;
use crate::ctg::visit::Passed;
use crate::ctg::{CanonicalBoard, CtgBook, OpenOptions};
use crate::evals::EvalKey;
use crate::{Lookup, Probe as _, Wanted, position_of};
use tabia_io::progress::Watch;

fn book() -> CtgBook {
    CtgBook::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap()
}

const ALL: Contents = Contents {
    records: true,
    transpositions: true,
    unfound: true,
    keys: true,
};

/// For every position of the starter book, whose lines go through en passant captures,
/// castling and transpositions.
#[test]
fn a_graph_leads_where_look_ups_lead() {
    let book = book();
    let (mut graph, salvage) = book.graph(ALL, &mut Watch::default()).unwrap();
    assert!(!salvage.is_loss());
    let keys = graph.take_keys();
    assert_eq!(graph.found(), book.info().unwrap().positions);
    let mut reader = book.entry_reader().unwrap();
    let mut by_probe = Lookup::default();
    let (mut stored, mut leaps, mut mirrored) = (0, 0, 0);
    for number in graph.entries() {
        let place = graph.place(number).unwrap();
        assert_eq!(graph.number(place), Some(number));
        assert!(graph.is_found(number));
        let entry = reader.entry(place).unwrap();
        assert_eq!(graph.record(number), entry.record());
        let moves = graph.moves(number).map(|(byte, _)| byte);
        assert!(entry.moves().map(|(byte, _)| byte).eq(moves));
        let known = graph.stored(number);
        assert!(
            entry
                .moves()
                .eq(known.map(|(byte, annotation, _)| (byte, annotation)))
        );
        let (_, position) = position_of(&entry.key().unwrap()).unwrap();
        let read = graph.position(&book, number).unwrap();
        assert_eq!(read.as_ref(), Some(&position));
        assert_eq!(keys[number as usize], EvalKey::from_position(&position));
        let board = CanonicalBoard::from_position(&position).unwrap();
        assert_eq!(graph.entry_of(&book, &board).unwrap(), Some(number));
        book.probe(&position, Wanted::Transpositions, &mut by_probe)
            .unwrap();
        let of_graph = graph.moves(number).map(|(_, to)| match to {
            Target::Entry(to) => Some(to),
            Target::Nowhere => None,
            Target::Illegal | Target::Repeated => panic!("{to:?}"),
        });
        let more = graph.transpositions(number);
        let of_graph = of_graph.chain(more.clone().map(|(_, to)| Some(to)));
        assert_eq!(of_graph.clone().count(), by_probe.moves.len());
        for (known, to) in by_probe.moves.iter().zip(of_graph) {
            assert_eq!(known.after, to.map(|to| graph.record(to.entry)));
            let after = tabia_notation::after(&position, known.mv);
            let board = CanonicalBoard::from_position(&after).unwrap();
            let Some(to) = to else { continue };
            let place = graph.place(to.entry).unwrap();
            let key = reader.entry(place).unwrap().key().unwrap();
            assert!(key == board.key() || board.other_key() == Some(key));
            assert_eq!(to.mirrored, board.orientation().mirrored);
            mirrored += u32::from(to.mirrored);
        }
        let by_probe = by_probe.moves.iter().filter(|known| known.transposition);
        let by_probe = by_probe.map(|known| PackedMove::from_move(known.mv));
        assert!(by_probe.eq(more.clone().map(|(mv, _)| mv)));
        stored += graph.moves(number).count();
        leaps += more.count();
    }
    assert!(
        stored > 10_000 && leaps > 500 && mirrored > 0,
        "{stored} {leaps} {mirrored}"
    );
    let everywhere = Passed {
        entries: &graph.entries().map(u64::from).collect(),
        plies: None,
    };
    let watch = &mut Watch::default();
    let walk = book.walk_lines(&graph, Some(everywhere), watch, |_, _| Ok(()));
    let reached = walk.unwrap();
    let reached = graph.entries().filter(|entry| reached.has(*entry));
    assert!(reached.count() > 10_000);
}

/// Along random games, with captures, castling, promotions and colours exchanged: the hashes
/// ahead of a position are those of the positions after its legal moves, and of no legal
/// move is there none; moves that take nothing lead to positions of the groups ahead.
#[test]
fn hashes_ahead_are_those_of_the_positions_after_the_moves() {
    fn quiet<T>(pieces: T, pawns: T) -> ByMover<T> {
        ByMover { pieces, pawns }
    }
    let (mut seen, mut special) = (0, 0);
    for position in crate::random::games(3, 150, 160).flatten() {
        let key = CanonicalBoard::from_position(&position).unwrap().key();
        let (board, position) = position_of(&key).unwrap();
        let list = |quiet| {
            let mut ahead = Vec::new();
            board.each_ahead(quiet, |hash, mv| ahead.push((mv.packed(), hash)));
            ahead
        };
        let ahead = list(quiet(true, true));
        let of_pieces = list(quiet(true, false));
        let of_pawns = list(quiet(false, true));
        let captures = list(quiet(false, false));
        let groups = board.groups_ahead();
        for mv in position.legal_moves() {
            if mv.is_en_passant() {
                special += 1;
                continue;
            }
            let after = tabia_notation::after(&position, mv);
            let after = CanonicalBoard::from_position(&after).unwrap();
            let packed = PackedMove::from_move(mv);
            let is_quiet = !mv.is_capture() && !mv.is_promotion();
            let is_pawn = mv.role() == Role::Pawn;
            for file in [after.en_passant(), after.pinned_en_passant] {
                let hash = (packed, ahead::hash(&after, file));
                assert!(ahead.contains(&hash), "{mv} {position:?}");
                assert_eq!(captures.contains(&hash), !is_quiet, "{mv}");
                assert_eq!(of_pieces.contains(&hash), !is_quiet || !is_pawn, "{mv}");
                assert_eq!(of_pawns.contains(&hash), !is_quiet || is_pawn, "{mv}");
            }
            let counted = board.count_quiet([packed].into_iter());
            let expected = quiet(
                u32::from(is_quiet && !is_pawn),
                u32::from(is_quiet && is_pawn),
            );
            assert_eq!(counted, expected, "{mv} {position:?}");
            if let Some(groups) = groups {
                let after = ahead::groups(&after);
                assert!(counted.pieces == 0 || after.pieces == groups.pieces, "{mv}");
                assert!(counted.pawns == 0 || after.pawns == groups.pawns, "{mv}");
            }
            special += u32::from(mv.is_castle() || mv.is_promotion());
            seen += 1;
        }
    }
    assert!(seen > 100_000 && special > 1000, "{seen} {special}");
}

/// What is accepted without the rules of chess is accepted by them.
#[test]
fn what_is_surely_legal_is_legal() {
    let mut state = 9_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let (mut sure, mut all) = (0, 0);
    for position in crate::random::games(5, 60, 100).flatten() {
        let mut board = CanonicalBoard::from_position(&position).unwrap();
        board.en_passant = None;
        // One thing is changed that may make it illegal.
        match random(4) {
            0 => board.castling = random(16) as u8,
            1 => {
                let word = random(3) as usize;
                board.role_bits[word] ^= board.own & 1 << random(64);
            }
            2 => std::mem::swap(&mut board.own, &mut board.other),
            _ => {}
        }
        let Ok(board) = CanonicalBoard::from_key(&board.key()) else {
            continue;
        };
        let is_legal = position_of(&board.key()).is_some();
        assert!(is_legal || !board.is_surely_legal(), "{board:?}");
        sure += u32::from(board.is_surely_legal());
        all += u32::from(is_legal);
    }
    assert!(sure > 1000 && sure > all / 2, "{sure} of {all}");
}
