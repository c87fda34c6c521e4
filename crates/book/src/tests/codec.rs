//! Keys, hashes and move bytes: published vectors and properties.

use super::common::{colours_exchanged, position, uci, wander, wings_exchanged};
use proptest::prelude::*;
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, File, Move, Position, Role, Setup, Square, fen::Fen,
};
use tabia_book::MoveGames;
use tabia_book::ctg::{CanonicalBoard, Key, decode_move_byte, encode_move_byte, find_move_byte};

fn key(position: &Chess) -> Key {
    CanonicalBoard::from_position(position).unwrap().key()
}

/// The canonical position, made without the code under test.
fn canonical(position: &Chess) -> Setup {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    if setup.turn == Color::Black {
        setup.mirror();
    }
    let king = setup.board.king_of(Color::White).unwrap();
    if setup.castling_rights.is_empty() && king.file() < File::E {
        setup.board.flip_horizontal();
        setup.ep_square = setup.ep_square.map(Square::flip_horizontal);
    }
    setup.halfmoves = 0;
    setup.fullmoves = std::num::NonZeroU32::MIN;
    setup
}

#[test]
fn all_published_vectors() {
    let mut rows = 0;
    for line in include_str!("../../tests/data/ctg/vectors.csv")
        .lines()
        .skip(1)
    {
        let fields: Vec<&str> = line.split(',').collect();
        let position = position(fields[0]);
        let board = CanonicalBoard::from_position(&position).unwrap();
        assert_eq!(board.key().to_string(), fields[1], "{line}");
        assert_eq!(format!("{:08x}", board.key().hash()), fields[2], "{line}");
        assert_eq!(board.board_bits().to_string(), fields[3], "{line}");
        let back = CanonicalBoard::from_key(&board.key()).unwrap();
        assert_eq!(back.to_setup(), canonical(&position), "{line}");
        assert_eq!(back.key(), board.key(), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 40);
}

#[test]
fn a_pinned_capturer_gives_two_forms() {
    for (fen, other) in [
        ("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1", Some(Square::E6)),
        ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", Some(Square::D6)),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", None),
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", None),
    ] {
        let board = CanonicalBoard::from_position(&position(fen)).unwrap();
        let decoded = board
            .other_key()
            .and_then(|key| CanonicalBoard::from_key(&key).unwrap().to_setup().ep_square);
        assert_eq!(decoded, other, "{fen}");
    }
}

#[test]
fn chess960_rights_have_no_key() {
    let key = |fen: &str| {
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        CanonicalBoard::from_position(&position).map(|board| board.key())
    };
    let start = key("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1");
    assert_eq!(start, Some(self::key(&Chess::default())));
    assert_eq!(key("1r2k3/8/8/8/8/8/8/1R2K3 w Bb - 0 1"), None);
    assert_eq!(key("r2k3r/8/8/8/8/8/8/R2K3R w HAha - 0 1"), None);
    assert_eq!(key("r2k3r/8/8/8/8/8/8/R3K2R w ha - 0 1"), None);
    assert!(key("r2k3r/8/8/8/8/8/8/R3K2R w HA - 0 1").is_some());
    assert!(key("r2k3r/8/8/8/8/8/8/R2K3R w - - 0 1").is_some());
}

#[track_caller]
fn stands_for(fen: &str, byte: u8, expected: &str) {
    let position = position(fen);
    let board = CanonicalBoard::from_position(&position).unwrap();
    let legal = position.legal_moves();
    let found = find_move_byte(byte, &board, &legal).map(|n| legal[n]);
    let text = found.map_or_else(
        |fault| format!("{fault:?}"),
        |m| m.to_uci(CastlingMode::Standard).to_string(),
    );
    assert_eq!(text, expected, "{fen} {byte:#04x}");
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn move_bytes_in_all_four_orientations() {
    stands_for(START, 0x5f, "e2e4");
    let black = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    // Inversion only exchanges ranks: the third pawn is still the c-pawn.
    stands_for(black, 0x9b, "c7c5");
    stands_for(black, 0x18, "g7g6");
    // Mirrored: the first knight is counted from the h-file.
    let mirrored = "4k3/8/8/8/8/8/8/1NK3N1 w - - 0 1";
    stands_for(mirrored, 0x34, "g1f3");
    stands_for(mirrored, 0x4c, "b1a3");
    let both = "1nk3n1/8/8/8/8/8/8/4K3 b - - 0 1";
    stands_for(both, 0x34, "g8f6");
    stands_for(both, 0x4c, "b8a6");
}

#[test]
fn a_move_of_a_man_that_is_not_there_has_no_byte() {
    let start = Chess::default();
    let board = CanonicalBoard::from_position(&start).unwrap();
    for mv in start.legal_moves() {
        assert!(encode_move_byte(&board, mv).is_some());
        let Move::Normal { role, from, to, .. } = mv else {
            continue;
        };
        for (role, from) in [(Role::Queen, from), (role, to)] {
            let absent = Move::Normal {
                role,
                from,
                capture: None,
                to: Square::D5,
                promotion: None,
            };
            assert_eq!(encode_move_byte(&board, absent), None, "{absent:?}");
        }
    }
}

#[test]
fn castling_bytes() {
    let both = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    stands_for(both, 0x6b, "e1g1");
    stands_for(both, 0xf6, "e1c1");
    stands_for(&both.replace('w', "b"), 0x6b, "e8g8");
    stands_for(&both.replace('w', "b"), 0xf6, "e8c8");
    stands_for(&both.replace("KQ", "Q"), 0x6b, "Illegal(107)");
}

#[test]
fn a_torus_step_goes_round() {
    // Bishop 1 on c4, "forward 7 right -7" is one down, one right.
    let fen = "4k3/8/8/8/2B5/8/8/4K3 w - - 0 1";
    stands_for(fen, 0x26, "c4d3");
    // Forward 6 right 6: two down, two left.
    stands_for(fen, 0x3a, "c4a2");
}

#[test]
fn unknown_and_impossible_bytes_are_distinguished() {
    stands_for(START, 0x02, "UnknownByte(2)");
    stands_for(START, 0xf8, "NoSuchMan(248)");
    stands_for(START, 0x7f, "Illegal(127)");
}

#[test]
fn the_second_queens_doubtful_bytes_go_forward_or_else_right() {
    let free = "4k3/8/8/8/8/QQ6/8/6K1 w - - 0 1";
    let blocked = "4k3/8/8/8/8/QQ6/1P6/6K1 w - - 0 1";
    for byte in [0x1a, 0xf9] {
        stands_for(free, byte, "b3b1");
        stands_for(blocked, byte, "b3h3");
    }
    let board = |fen| CanonicalBoard::from_position(&position(fen)).unwrap();
    let encode = |fen, m| encode_move_byte(&board(fen), uci(&position(fen), m));
    assert_eq!(encode(free, "b3b1"), Some(0x1a));
    assert_eq!(encode(free, "b3h3"), None);
}

#[test]
fn promotions_are_to_queens() {
    let fen = "8/P6k/8/8/8/7p/8/6K1 w - - 0 1";
    stands_for(fen, 0xec, "a7a8q");
    let board = CanonicalBoard::from_position(&position(fen)).unwrap();
    let encode = |m| encode_move_byte(&board, uci(&position(fen), m));
    assert_eq!(encode("a7a8q"), Some(0xec));
    assert_eq!(encode("a7a8n"), None);
}

#[test]
fn en_passant_is_an_ordinary_step() {
    let fen = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3";
    stands_for(fen, 0x00, "e5f6");
    stands_for(&fen.replace("f6", "d6"), 0xde, "e5d6");
}

/// Whether the format has a byte for a legal move.
fn storable(position: &Chess, m: Move) -> bool {
    let board = CanonicalBoard::from_position(position).unwrap();
    let from = board.orientation().apply(m.from().unwrap());
    let role = m.role();
    let is_it = |number: &u8| board.own_man(role, *number) == Some(from);
    let number = (1..=10).find(is_it).unwrap();
    let to = board.orientation().apply(m.to());
    let right = (8 + to.file() as u32 - from.file() as u32) % 8;
    let second_queen_right_6 =
        (role, number) == (Role::Queen, 2) && right == 6 && to.rank() == from.rank();
    matches!(m.promotion(), None | Some(Role::Queen))
        && (role == Role::Pawn || number <= 2)
        && !second_queen_right_6
}

proptest! {
    #[test]
    fn keys_stand_for_the_canonical_position(choices in prop::collection::vec(any::<u16>(), 0..160)) {
        let path = wander(choices);
        let position = path.last().unwrap();
        let board = CanonicalBoard::from_position(position).unwrap();
        let back = CanonicalBoard::from_key(&board.key()).unwrap();
        prop_assert_eq!(back.to_setup(), canonical(position));
        prop_assert_eq!(back.key(), board.key());
        prop_assert_eq!(back.board_bits(), board.board_bits());
    }

    #[test]
    fn twins_have_the_same_key(choices in prop::collection::vec(any::<u16>(), 0..160)) {
        let path = wander(choices);
        let position = path.last().unwrap();
        prop_assert_eq!(key(position), key(&colours_exchanged(position)));
        if let Some(twin) = wings_exchanged(position) {
            prop_assert_eq!(key(position), key(&twin));
            prop_assert_eq!(key(position), key(&colours_exchanged(&twin)));
        }
    }

    #[test]
    fn every_legal_move_comes_back_from_its_byte(choices in prop::collection::vec(any::<u16>(), 0..160)) {
        let path = wander(choices);
        let position = path.last().unwrap();
        let board = CanonicalBoard::from_position(position).unwrap();
        let legal = position.legal_moves();
        for (n, &m) in legal.iter().enumerate() {
            match encode_move_byte(&board, m) {
                Some(byte) => {
                    prop_assert!(decode_move_byte(byte).is_some());
                    prop_assert_eq!(find_move_byte(byte, &board, &legal), Ok(n));
                }
                None => prop_assert!(!storable(position, m), "{m:?}"),
            }
        }
    }

    #[test]
    fn any_bytes_as_a_key_are_a_position_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Some(key) = Key::from_prefix(&bytes)
            && let Ok(board) = CanonicalBoard::from_key(&key)
        {
            let again = CanonicalBoard::from_key(&board.key()).unwrap();
            prop_assert_eq!(again.to_setup(), board.to_setup());
        }
    }

    #[test]
    fn any_byte_in_any_position_is_a_legal_move_or_a_fault(
        choices in prop::collection::vec(any::<u16>(), 0..80),
        byte in any::<u8>(),
    ) {
        let path = wander(choices);
        let position = path.last().unwrap();
        let board = CanonicalBoard::from_position(position).unwrap();
        let legal = position.legal_moves();
        if let Ok(n) = find_move_byte(byte, &board, &legal) {
            prop_assert!(n < legal.len());
        }
    }
}

/// A king on the files a to d stands there only with castling rights.
#[test]
fn readers_look_for_kings_on_the_right_half() {
    for square in Square::ALL {
        for rights in [shakmaty::Bitboard::EMPTY, Square::H8.into()] {
            let mut setup = Setup::empty();
            for (at, color) in [
                (square, Color::White),
                (square.flip_vertical(), Color::Black),
            ] {
                setup.board.set_piece_at(at, Role::King.of(color));
            }
            setup.castling_rights = rights;
            let board = CanonicalBoard::from_setup(&setup).unwrap();
            let is_right = square.file() >= File::E;
            assert_eq!(board.is_normal(), is_right || rights.any(), "{square}");
        }
    }
}

#[test]
fn games_of_a_move_and_of_its_position_may_differ() {
    for (played, reached, differ) in [
        (Some(3), Some(4), true),
        (Some(3), Some(3), false),
        (Some(3), None, false),
        (None, Some(3), false),
    ] {
        assert_eq!(MoveGames { played, reached }.differ(), differ);
    }
}
