//! Random games, and what a book of them has to contain by an independent replay.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Position, Role, Square,
};
use tabia_book::ctg::{CanonicalBoard, find_move_byte};
use tabia_book::{PositionRecord, Stats};

use super::{choices, colours_exchanged, open, position, wings_exchanged};

/// A position's record and its moves in stored order, by its canonical FEN.
pub type Content = BTreeMap<String, (PositionRecord, Vec<String>)>;

pub fn content(path: &Path) -> Content {
    let book = open(path);
    let mut content = Content::new();
    for entry in book.entries() {
        let entry = entry.unwrap();
        let board = CanonicalBoard::from_key(&entry.key).unwrap();
        let position = Chess::from_setup(board.to_setup(), CastlingMode::Standard).unwrap();
        let legal: Vec<Move> = position.legal_moves().into_iter().collect();
        let moves = entry
            .moves
            .iter()
            .map(|(byte, _)| name(legal[find_move_byte(*byte, &board, &legal).unwrap()]))
            .collect();
        let old = content.insert(fen(&position), (entry.record, moves));
        assert!(old.is_none(), "{} is there twice", fen(&position));
    }
    content
}

pub fn fen(position: &Chess) -> String {
    let setup = position.to_setup(EnPassantMode::Legal);
    let text = Fen::try_from_setup(setup).unwrap().to_string();
    text.rsplitn(3, ' ').last().unwrap().to_owned()
}

pub fn name(m: Move) -> String {
    UciMove::from_move(m, CastlingMode::Standard).to_string()
}

/// the one form of four in which the format stores a position, found by
/// exchanging colours and wings; and the move there.
pub fn normal(position: &Chess, m: Option<Move>) -> (String, Option<String>) {
    let mut name = m.map(name);
    let mut picture = position.clone();
    if picture.turn().is_black() {
        picture = colours_exchanged(&picture);
        name = name.map(|name| {
            let swap = |c: char| match c {
                '1'..='8' => char::from(b'1' + b'8' - c as u8),
                c => c,
            };
            name.chars().map(swap).collect()
        });
    }
    let king = picture.board().king_of(Color::White).unwrap();
    if king.file() < shakmaty::File::E
        && let Some(mirrored) = wings_exchanged(&picture)
    {
        picture = mirrored;
        name = name.map(|name| {
            let swap = |(at, c): (usize, char)| match c {
                'a'..='h' if at < 4 => char::from(b'a' + b'h' - c as u8),
                c => c,
            };
            name.chars().enumerate().map(swap).collect()
        });
    }
    (fen(&picture), name)
}

pub struct TestGame {
    pub positions: Vec<Chess>,
    pub moves: Vec<Move>,
    pub result: &'static str,
    pub elo: [u32; 2],
    pub year: u32,
    pub eco: &'static str,
}

impl TestGame {
    pub fn pgn(&self) -> String {
        let mut text = format!(
            "[Event \"test\"]\n[White \"Alpha, A\"]\n[Black \"Beta, B\"]\n[Date \"{}.??.??\"]\n\
             [Result \"{}\"]\n[ECO \"{}\"]\n",
            self.year, self.result, self.eco
        );
        for (tag, elo) in ["WhiteElo", "BlackElo"].into_iter().zip(self.elo) {
            if elo > 0 {
                text += &format!("[{tag} \"{elo}\"]\n");
            }
        }
        text.push('\n');
        for (position, m) in self.positions.iter().zip(&self.moves) {
            text += &format!("{} ", San::from_move(position, *m));
        }
        text + self.result + "\n\n"
    }
}

/// Random games; knights move back at times, so that positions repeat.
pub fn random_games(count: u64, plies: usize) -> Vec<TestGame> {
    (1..=count)
        .map(|seed| {
            let mut numbers = choices(seed);
            let mut positions = vec![Chess::default()];
            let mut moves: Vec<Move> = Vec::new();
            for ply in 0..plies {
                let now = positions.last().unwrap().clone();
                let legal = now.legal_moves();
                let number = usize::from(numbers.next().unwrap());
                let back = ply.checked_sub(2).map(|at| moves[at]).and_then(|m| {
                    let (from, to) = (m.from()?, m.to());
                    legal
                        .iter()
                        .find(|b| b.from() == Some(to) && b.to() == from)
                });
                let m = match back {
                    Some(m) if number % 3 == 0 => *m,
                    _ if ply < 4 => legal[number % 3 % legal.len()],
                    _ if legal.is_empty() => break,
                    _ => legal[number / 3 % legal.len()],
                };
                let mut next = now;
                next.play_unchecked(m);
                positions.push(next);
                moves.push(m);
            }
            let number = usize::from(numbers.next().unwrap());
            TestGame {
                positions,
                moves,
                result: ["1-0", "0-1", "1/2-1/2", "*"][number % 4],
                elo: [
                    [0, 2000, 2400][number / 4 % 3],
                    [0, 2100, 2500][number / 12 % 3],
                ],
                year: 1990 + number as u32 / 36 % 20,
                eco: ["A00", "B20", "B99", "C57"][number / 720 % 4],
            }
        })
        .collect()
}

pub fn pgn(games: &[TestGame]) -> String {
    games.iter().map(TestGame::pgn).collect()
}

/// The format supports promotions to a queen only, and two pieces of a kind, counted file
/// by file in the stored form.
pub fn is_storable(fen: &str, name: &str) -> bool {
    let picture = position(&format!("{fen} 0 1"));
    let m = super::uci(&picture, name);
    let from = m.from().unwrap();
    let alike = picture.our(m.role());
    let before = |square: &Square| (square.file(), square.rank()) < (from.file(), from.rank());
    m.promotion().is_none_or(|role| role == Role::Queen)
        && (m.role() == Role::Pawn || alike.into_iter().filter(before).count() < 2)
}

/// The expected content of a book of these games.
pub fn recount<'g>(games: impl IntoIterator<Item = &'g TestGame>, max_ply: usize) -> Content {
    let mut stats: BTreeMap<String, Stats> = BTreeMap::new();
    let mut played: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for game in games {
        let mut seen = HashSet::new();
        for (ply, position) in game.positions.iter().enumerate().take(max_ply + 1) {
            let m = game.moves.get(ply).filter(|_| ply < max_ply).copied();
            let (fen, name) = normal(position, m);
            let name = name.filter(|name| is_storable(&fen, name));
            if let Some(name) = name
                && seen.insert(format!("{fen} {name}"))
            {
                *played
                    .entry(fen.clone())
                    .or_default()
                    .entry(name)
                    .or_default() += 1;
            }
            if !seen.insert(fen.clone()) {
                continue;
            }
            let white = position.turn().is_white();
            let stats = stats.entry(fen).or_default();
            stats.games += 1;
            match (game.result, white) {
                ("1-0", true) | ("0-1", false) => stats.wins += 1,
                ("1-0", false) | ("0-1", true) => stats.losses += 1,
                ("1/2-1/2", _) => stats.draws += 1,
                _ => {}
            }
            let [own, other] = if white {
                game.elo
            } else {
                [game.elo[1], game.elo[0]]
            };
            stats.own_rated += u32::from(own > 0);
            stats.own_rating_sum += u64::from(own);
            stats.other_rated += u32::from(other > 0);
            stats.other_rating_sum += u64::from(other);
        }
    }
    stats
        .into_iter()
        .map(|(fen, stats)| {
            let mut moves: Vec<(String, u32)> = played
                .remove(&fen)
                .unwrap_or_default()
                .into_iter()
                .collect();
            moves.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
            let record = PositionRecord {
                stats,
                points: 10 * stats.wins + 5 * stats.draws + 5 * stats.unfinished(),
                ..PositionRecord::default()
            };
            (
                fen,
                (record, moves.into_iter().map(|(name, _)| name).collect()),
            )
        })
        .collect()
}

/// Moves of equal weight may be in either order.
pub fn assert_same(found: &Content, expected: &Content) {
    assert_eq!(found.len(), expected.len());
    for (fen, (record, moves)) in expected {
        let (found_record, found_moves) = found.get(fen).unwrap_or_else(|| panic!("no {fen}"));
        assert_eq!(found_record, record, "{fen}");
        let set = |moves: &[String]| moves.iter().cloned().collect::<HashSet<_>>();
        assert_eq!(set(found_moves), set(moves), "{fen}");
        assert_eq!(found_moves.len(), moves.len(), "{fen}");
    }
}
