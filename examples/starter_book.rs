//! Makes the starter book in `books/` from a collection of games:
//!
//! ```text
//! cargo run --release --example starter_book -- games.pgn books/tabia
//! ```
//!
//! Everything is counted in memory and written with the small writer of the
//! tests.

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::{Chess, Color, Position};
use tabia::book::ctg::{Key, NormalBoard, encode_move_byte};
use tabia::book::{Annotation, PositionRecord, Stats};

/// Half moves of a game that count.
const PLIES: usize = 24;

/// Games that a position must have.
const GAMES: u32 = 20;

/// A game: who won, and its first positions with the move byte played there.
#[derive(Default)]
struct Game {
    winner: Option<Option<Color>>,
    elo: [Option<u32>; 2],
    position: Chess,
    steps: Vec<(Key, Color, Option<u8>)>,
    usable: bool,
}

struct Opening;

impl Visitor for Opening {
    type Tags = Game;
    type Movetext = Game;
    type Output = Game;

    fn begin_tags(&mut self) -> ControlFlow<Game, Game> {
        ControlFlow::Continue(Game {
            usable: true,
            ..Game::default()
        })
    }

    fn tag(&mut self, game: &mut Game, name: &[u8], value: RawTag<'_>) -> ControlFlow<Game> {
        let value = value.decode_utf8_lossy();
        match name {
            b"Result" => {
                game.winner = match &*value {
                    "1-0" => Some(Some(Color::White)),
                    "0-1" => Some(Some(Color::Black)),
                    "1/2-1/2" => Some(None),
                    _ => None,
                }
            }
            b"WhiteElo" => game.elo[0] = value.parse().ok().filter(|elo| *elo > 0),
            b"BlackElo" => game.elo[1] = value.parse().ok().filter(|elo| *elo > 0),
            b"FEN" => game.usable = false,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, game: Game) -> ControlFlow<Game, Game> {
        if game.usable {
            ControlFlow::Continue(game)
        } else {
            ControlFlow::Break(game)
        }
    }

    fn begin_variation(&mut self, _: &mut Game) -> ControlFlow<Game, pgn_reader::Skip> {
        ControlFlow::Continue(pgn_reader::Skip(true))
    }

    fn san(&mut self, game: &mut Game, san: SanPlus) -> ControlFlow<Game> {
        let board = NormalBoard::from_position(&game.position);
        let (Some(board), true) = (board, game.steps.len() < PLIES) else {
            return ControlFlow::Break(std::mem::take(game));
        };
        let Ok(mv) = san.san.to_move(&game.position) else {
            return ControlFlow::Break(std::mem::take(game));
        };
        let byte = encode_move_byte(&board, mv);
        game.steps.push((board.key(), game.position.turn(), byte));
        game.position.play_unchecked(mv);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, mut game: Game) -> Game {
        if let Some(board) = NormalBoard::from_position(&game.position) {
            game.steps.push((board.key(), game.position.turn(), None));
        }
        game
    }
}

#[derive(Default)]
struct Node {
    record: PositionRecord,
    moves: BTreeMap<u8, u32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [source, target] = args.as_slice() else {
        return Err("usage: starter_book GAMES.pgn OUT (without .ctg)".into());
    };
    let mut nodes: BTreeMap<Key, Node> = BTreeMap::new();
    let mut games = 0;
    let mut reader = Reader::new(BufReader::new(File::open(source)?));
    while let Some(game) = reader.read_game(&mut Opening)? {
        if game.steps.is_empty() {
            continue;
        }
        games += 1;
        let mut seen = HashSet::new();
        for (key, turn, byte) in &game.steps {
            let node = nodes.entry(*key).or_default();
            if let Some(byte) = byte {
                *node.moves.entry(*byte).or_default() += 1;
            }
            if seen.insert(*key) {
                count(&mut node.record.stats, &game, *turn);
            }
        }
    }
    let mut book = common::TestBook {
        games,
        clean: true,
        ..common::TestBook::default()
    };
    for (key, mut node) in nodes {
        let stats = node.record.stats;
        if stats.games < GAMES {
            continue;
        }
        node.record.points = 10 * stats.wins + 5 * stats.draws + 5 * stats.unfinished();
        let mut moves: Vec<(u8, u32)> = node.moves.into_iter().collect();
        moves.retain(|(_, played)| *played >= GAMES);
        moves.sort_by_key(|(byte, played)| (std::cmp::Reverse(*played), *byte));
        let moves = moves
            .into_iter()
            .take(50)
            .map(|(byte, _)| (byte, Annotation::default()))
            .collect();
        book.add_key(key, moves, node.record);
    }
    let target = Path::new(target);
    let folder = target.parent().ok_or("no folder")?;
    let name = target.file_name().ok_or("no name")?.to_string_lossy();
    let path = book.write(folder, &name);
    let entries = book.entries.len();
    eprintln!("{}: {games} games, {entries} positions", path.display());
    Ok(())
}

fn count(stats: &mut Stats, game: &Game, turn: Color) {
    stats.games += 1;
    match game.winner {
        Some(Some(winner)) if winner == turn => stats.wins += 1,
        Some(Some(_)) => stats.losses += 1,
        Some(None) => stats.draws += 1,
        None => {}
    }
    let [white, black] = game.elo;
    let (own, other) = if turn.is_white() {
        (white, black)
    } else {
        (black, white)
    };
    stats.own_rated += u32::from(own.is_some());
    stats.own_rating_sum += own.unwrap_or(0);
    stats.other_rated += u32::from(other.is_some());
    stats.other_rating_sum += other.unwrap_or(0);
}
