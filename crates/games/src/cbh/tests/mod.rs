mod encoder;

use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, Role};

use super::block::{self, Encoding, Head, Start};
use super::ciphers;
use super::codes::{CODES, Code};
use super::decode::{self, Decoded};
use super::entry::{self, CbhEntry};
use crate::tree::Tree;
use crate::{Game, GameParts, GameResult, Item, Recorder};
use encoder::{GameNode, encode};
use tabia_notation as notation;

const MODES: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11];

fn start_of(block: &[u8]) -> Result<(Encoding, Start), String> {
    let head = Head::parse(block).ok_or("no head")?;
    let encoding = Encoding::from_mode(head.mode)?;
    Ok((encoding, block::start(block, head, encoding)?))
}

/// A block's game with all variations, and the decoder's findings.
fn decode_all(block: &[u8]) -> (Game, Decoded) {
    let (encoding, start) = start_of(block).unwrap();
    let mut tree = Tree::default();
    let moves = &block[start.moves_at..];
    let found = decode::decode(moves, &start.position, encoding, None, &mut tree);
    let mut game = Game {
        chess960: start.chess960,
        ..Game::default()
    };
    game.start_from(start.position);
    tree.record(&mut Recorder::new(GameParts::EVERYTHING, &mut game));
    (game, found)
}

/// The items of a tree in the order of PGN.
fn items(nodes: &[GameNode], out: &mut Vec<Item>) {
    let item = |step: Option<Move>| step.map_or(Item::Null, Item::Move);
    if let Some((main, alternatives)) = nodes.split_first() {
        out.push(item(main.step));
        for node in alternatives {
            out.extend([Item::Begin, item(node.step)]);
            items(&node.after, out);
            out.push(Item::End);
        }
        items(&main.after, out);
    }
}

fn fen(text: &str) -> Chess {
    let fen: Fen = text.parse().unwrap();
    fen.into_position(CastlingMode::Chess960)
        .or_else(shakmaty::PositionError::ignore_too_much_material)
        .unwrap()
}

/// Special positions: many pieces of a kind, promotions, en passant, castling from
/// unusual squares.
const STARTS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "6k1/2Q1n3/2n5/1Q3Qn1/3n4/4Qn2/1K5Q/8 w - - 0 1",
    "1qqqqq1k/1bbbbb2/8/8/8/8/2NNNNN1/K1RRRRR1 w - - 0 12",
    "k7/4PPPP/8/8/8/8/pppp4/7K b - - 0 40",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4k3/8/8/8/pPpPpPpP/8/P1P1P1P1/4K3 b - d3 0 30",
    "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1",
    "rkr5/8/8/8/8/8/8/RKR5 b KQkq - 0 255",
];

/// A random game: up to three moves at each place, two of them with short lines.
fn random_game(
    position: &Chess,
    random: &mut impl FnMut(usize) -> usize,
    left: usize,
) -> Vec<GameNode> {
    let moves = position.legal_moves();
    if left == 0 || moves.is_empty() {
        return Vec::new();
    }
    let mut nodes: Vec<GameNode> = Vec::new();
    for number in 0..[1, 1, 1, 1, 2, 3][random(6)] {
        let step = Some(moves[random(moves.len())]).filter(|_| random(20) > 0);
        let mut next = position.clone();
        match step {
            Some(m) => next.play_unchecked(m),
            None => match notation::pass(position) {
                Some(passed) => next = passed,
                None => continue,
            },
        }
        let left = if number == 0 { left - 1 } else { left / 4 };
        let after = random_game(&next, random, left);
        nodes.push(GameNode { step, after });
    }
    nodes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_encoded_is_decoded_in_every_mode(
        start in prop::sample::select(STARTS.to_vec()),
        mode in prop::sample::select(MODES.to_vec()),
        plies in 0..120_usize,
        seed in any::<u64>(),
    ) {
        let mut position = fen(start);
        if mode < 8 {
            let setup = position.to_setup(EnPassantMode::Always);
            position = notation::position_of(setup, CastlingMode::Standard).unwrap();
        }
        let mut state = seed | 1;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % below
        };
        let moves = random_game(&position, &mut random, plies);
        let (game, found) = decode_all(&encode(&position, &moves, mode));
        prop_assert_eq!(found, Decoded::default());
        let decoded = game.positions[0].to_setup(EnPassantMode::Always);
        prop_assert_eq!(decoded, {
            let mut setup = position.to_setup(EnPassantMode::Always);
            setup.halfmoves = 0;
            setup
        });
        let mut expected = Vec::new();
        items(&moves, &mut expected);
        prop_assert_eq!(game.movetext.to_vec(), expected);
    }

    #[test]
    fn any_bytes_are_read_to_their_end(
        mode in 0..64_u8,
        has_position in any::<bool>(),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut block = vec![mode | u8::from(has_position) << 6, 0, 1, 0];
        block.extend(bytes);
        if start_of(&block).is_ok() {
            let (game, _) = decode_all(&block);
            prop_assert!(game.movetext.len() <= 4 * block.len());
        }
    }

    /// Changes one byte in the moves; the moves before it must stay.
    #[test]
    fn damage_does_not_reach_backwards(place in 0..100_usize, value in 1..=255_u8, mode in 0..8_u8) {
        let mut position = Chess::default();
        let mut moves: Vec<Move> = Vec::new();
        while moves.len() < 100 {
            let legal = position.legal_moves();
            let m = legal[(moves.len() * 7) % legal.len()];
            position.play_unchecked(m);
            moves.push(m);
        }
        let nodes = moves.iter().rev().fold(Vec::new(), |after, m| {
            vec![GameNode { step: Some(*m), after }]
        });
        let mut block = encode(&Chess::default(), &nodes, mode);
        let bytes = block.len();
        block[4 + place % (bytes - 4)] ^= value;
        let (game, _) = decode_all(&block);
        let sound = if mode % 2 == 1 { place / 2 } else { place };
        // Two-byte moves of the compact encoding shift the rest.
        let sound = sound.min(20);
        prop_assert_eq!(&game.moves[..sound.min(game.moves.len())], &moves[..sound.min(game.moves.len())]);
        prop_assert!(game.moves.len() >= sound);
    }
}

#[test]
fn every_cipher_holds_every_code_once() {
    for mode in MODES {
        let mut codes = Encoding::from_mode(mode).unwrap().cipher.to_vec();
        codes.sort_unstable();
        assert!(codes.into_iter().eq(0..=255), "{mode}");
    }
    assert_eq!(ciphers::CIPHERS[0][0xaa], 0);
    assert_eq!(ciphers::CIPHERS[0][0x0c], 255);
}

#[test]
fn codes_stand_where_the_public_list_has_them() {
    let piece = |role, number, files, ranks| Code::Piece {
        role,
        number,
        files,
        ranks,
        wraps: role != Role::Knight,
    };
    for (byte, code) in [
        (0xa5, piece(Role::Queen, 0, 0, 1)),
        (0x18, piece(Role::Queen, 0, 7, -7)),
        (0x4e, piece(Role::Rook, 0, 0, 1)),
        (0x52, piece(Role::Rook, 1, 7, 0)),
        (0x37, piece(Role::Bishop, 0, 7, -7)),
        (0xf6, piece(Role::Bishop, 1, 1, 1)),
        (0x34, piece(Role::Knight, 1, 2, -1)),
        (0x27, piece(Role::Knight, 2, 2, -1)),
        (0xdb, piece(Role::Queen, 2, 7, -7)),
        (0x29, Code::TwoBytes),
        (0x9f, Code::Filler),
        (0x25, Code::Unknown),
        (0xdc, Code::Begin),
    ] {
        let found = CODES[usize::from(ciphers::CIPHERS[0][byte])];
        assert_eq!(found, code, "{byte:x}");
    }
    let unknown = CODES.iter().filter(|code| **code == Code::Unknown);
    assert_eq!(unknown.count(), 17);
}

/// The bytes of a genuine game, mate in four.
const SHORT: [u8; 12] = [0, 0, 0, 12, 0xff, 0x00, 0xa4, 0xe0, 0x66, 0x0c, 0x60, 0x13];

fn main_line(game: &Game) -> String {
    let sans = game.moves.iter().zip(&game.positions);
    let sans: Vec<String> = sans
        .map(|(m, position)| San::from_move(position, *m).to_string())
        .collect();
    sans.join(" ")
}

#[test]
fn a_genuine_game_is_read() {
    let (game, found) = decode_all(&SHORT);
    assert_eq!(found, Decoded::default());
    assert_eq!(main_line(&game), "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7");
    // Bit 7 has no effect on a game.
    let mut marked = SHORT;
    marked[0] |= 0x80;
    assert_eq!(decode_all(&marked).0.moves, game.moves);
}

#[test]
fn a_game_that_breaks_off_keeps_its_moves() {
    for len in 4..SHORT.len() {
        let (game, found) = decode_all(&SHORT[..len]);
        assert_eq!(game.moves.len(), len - 4);
        assert!(found.is_open && found.fault.is_none());
    }
}

#[test]
fn an_impossible_move_is_named_by_its_place() {
    let mut damaged = SHORT;
    // Bishop 1 cannot move yet.
    let illegal = ciphers::CIPHERS[0]
        .iter()
        .position(|code| *code == 67)
        .unwrap() as u8;
    damaged[6] = illegal.wrapping_add(2);
    let (game, found) = decode_all(&damaged);
    assert_eq!(main_line(&game), "e4 e5");
    let fault = found.fault.unwrap();
    assert_eq!((fault.at, fault.what), (2, "an illegal move"));
}

#[test]
fn a_fourth_piece_is_found_where_a_number_has_become_free() {
    let start = fen("1r5k/8/8/8/8/8/8/1NNNN2K b - - 0 1");
    let mut block = encode(&start, &[], 0);
    block.truncate(32);
    // Rb8xb1, and knight 3 two up and one to the right: only e1 allows that.
    for (count, code) in [39, 228, 255].into_iter().enumerate() {
        let raw = ciphers::CIPHERS[0].iter().position(|known| *known == code);
        block.push((raw.unwrap() + count) as u8);
    }
    let (game, found) = decode_all(&block);
    assert_eq!(main_line(&game), "Rxb1 Nf3");
    assert_eq!((found.guesses, found.fault), (1, None));
}

#[test]
fn variations_are_recorded_in_the_order_of_the_file() {
    // 1. e4 c5 (1... e6 2. d4) (1... Nf6) 2. Nf3
    let san = |position: &Chess, text: &str| {
        let san: San = text.parse().unwrap();
        san.to_move(position).unwrap()
    };
    let mut start = Chess::default();
    let e4 = san(&start, "e4");
    start.play_unchecked(e4);
    let line = |sans: &[&str]| {
        let mut position = start.clone();
        let moves: Vec<Move> = sans
            .iter()
            .map(|text| {
                let m = san(&position, text);
                position.play_unchecked(m);
                m
            })
            .collect();
        let mut nodes = moves.into_iter().rev().fold(Vec::new(), |after, m| {
            vec![GameNode {
                step: Some(m),
                after,
            }]
        });
        nodes.remove(0)
    };
    let moves = vec![GameNode {
        step: Some(e4),
        after: vec![line(&["c5", "Nf3"]), line(&["e6", "d4"]), line(&["Nf6"])],
    }];
    let block = encode(&Chess::default(), &moves, 0);
    let codes: Vec<u8> = {
        let mut count = 0_u8;
        block[4..]
            .iter()
            .map(|byte| {
                let code = ciphers::CIPHERS[0][usize::from(byte.wrapping_sub(count))];
                count += u8::from(code < 235);
                code
            })
            .collect()
    };
    let marks: Vec<usize> = (0..codes.len()).filter(|at| codes[*at] >= 254).collect();
    assert_eq!(marks, [1, 4, 5, 8, 10]);
    assert_eq!(decode_all(&block).0.movetext.len(), 10);
}

#[test]
fn only_chess_is_read() {
    for (mode, name) in [
        (8, "losing chess"),
        (9, "losing chess"),
        (12, "Out Chatrang"),
        (15, "Twins"),
        (16, "Makruk"),
        (19, "Pawns"),
        (20, "unknown (encoding 20)"),
        (63, "chess with illegal positions"),
    ] {
        assert_eq!(Encoding::from_mode(mode).unwrap_err(), name);
    }
}

#[test]
fn chess960_from_the_usual_squares_is_chess() {
    let usual = fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let unusual = fen("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1");
    assert!(!start_of(&encode(&usual, &[], 10)).unwrap().1.chess960);
    assert!(start_of(&encode(&unusual, &[], 11)).unwrap().1.chess960);
    assert!(
        !start_of(&encode(&Chess::default(), &[], 10))
            .unwrap()
            .1
            .chess960
    );
}

#[test]
fn impossible_first_positions_are_refused() {
    let sound = encode(&fen(STARTS[4]), &[], 0);
    for cut in [4, 10, 31] {
        assert!(start_of(&sound[..cut]).is_err());
    }
    // A piece of kind 7, and a list of pieces without an end.
    let mut odd = sound.clone();
    odd[8..32].fill(0xff);
    assert!(start_of(&odd).unwrap_err().contains("unknown kind 7"));
    odd[8..32].fill(0b1000_1100);
    assert!(start_of(&odd).is_err());
    // An empty board.
    odd[8..32].fill(0);
    assert!(start_of(&odd).is_err());
}

fn record(change: impl Fn(&mut [u8; 46])) -> CbhEntry {
    let mut record = [0; 46];
    record[0] = 1;
    change(&mut record);
    CbhEntry::parse(&record).unwrap().unwrap()
}

#[test]
fn fields_of_a_record() {
    let date = |year: u32, month: u32, day: u32| {
        let value = (year << 9 | month << 5 | day).to_be_bytes();
        record(|record| record[24..27].copy_from_slice(&value[1..]))
            .date
            .to_pgn()
    };
    assert_eq!(date(2003, 5, 31), "2003.05.31");
    assert_eq!(date(2003, 5, 0), "2003.05.??");
    assert_eq!(date(2003, 0, 0), "2003.??.??");
    assert_eq!(date(0, 0, 0), "????.??.??");

    let round = |round, part| record(|record| record[29..31].copy_from_slice(&[round, part])).round;
    assert_eq!(round(3, 0).as_deref(), Some("3"));
    assert_eq!(round(3, 12).as_deref(), Some("3.12"));
    assert_eq!((round(0, 0), round(0, 2)), (None, None));

    let eco =
        |value: u16| record(|record| record[35..37].copy_from_slice(&value.to_be_bytes())).eco;
    assert_eq!((eco(0), eco(127)), ([0; 3], [0; 3]));
    assert_eq!((eco(128), eco(128 + 77)), (*b"A00", *b"A00"));
    assert_eq!((eco(258 << 7), eco(500 << 7)), (*b"C57", *b"E99"));
    assert_eq!((eco(501 << 7), eco(64576 + 518)), ([0; 3], [0; 3]));

    let results: Vec<GameResult> = (0..10)
        .map(|value| record(|record| record[27] = value).result)
        .collect();
    let (white, black) = (GameResult::Won(Color::White), GameResult::Won(Color::Black));
    let (draw, open) = (GameResult::Draw, GameResult::Unknown);
    assert_eq!(
        results,
        [
            black, draw, white, open, black, draw, white, open, open, open
        ]
    );

    let elo =
        |value: u16| record(|record| record[31..33].copy_from_slice(&value.to_be_bytes())).elo;
    assert_eq!((elo(2851).white, elo(60_000).white), (2851, 0));
}

#[test]
fn the_header_and_the_length_give_the_number_of_entries() {
    let header = |next: u32, copy: u32| {
        let mut header = [0; 46];
        header[..5].copy_from_slice(&entry::MAGIC[0]);
        header[6..10].copy_from_slice(&next.to_be_bytes());
        header[40..44].copy_from_slice(&copy.to_be_bytes());
        header
    };
    let entries = |header: [u8; 46], len| entry::parse_header(&header, len).unwrap().entries;
    assert_eq!(entries(header(11, 0), 11 * 46), 10);
    assert_eq!(entries(header(11, 11), 9 * 46 + 45), 8);
    assert_eq!(entries(header(11, 11), 20 * 46), 10);
    assert_eq!(entries(header(3, 11), 11 * 46), 10);
    assert_eq!(entries(header(0, 0), 46), 0);
    assert!(entry::parse_header(&[0; 46], 460).is_err());
    assert!(entry::parse_header(&[], 0).is_err());
}
