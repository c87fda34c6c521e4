//! A ChessBase book out of games that a program has in memory.
//!
//! ```sh
//! cargo run --example build_book mine.ctg
//! ```

#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;

use shakmaty::san::San;
use shakmaty::{Chess, Color, Position};
use tabia::book::ctg::{
    CanonicalBoard, Key, RewriteError, UnsortedWriter, WriteOptions, encode_entry, encode_move_byte,
};
use tabia::book::{Annotation, PositionRecord};
use tabia::watch::Watch;

/// Moves, and who won.
const GAMES: [(&str, Option<Color>); 3] = [
    ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", Some(Color::White)),
    ("e4 c5 Nc3 Nc6 g3 g6", Some(Color::Black)),
    ("d4 Nf6 c4 e6 Nc3 Bb4", None),
];

/// What a position of the book holds: its statistics, and the moves from it.
#[derive(Default)]
struct Counted {
    record: PositionRecord,
    moves: Vec<(u8, Annotation)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let target: PathBuf = std::env::args_os().nth(1).ok_or("which book?")?.into();
    let mut book: HashMap<Key, Counted> = HashMap::new();
    for (moves, winner) in GAMES {
        let mut position = Chess::default();
        let mut words = moves.split(' ');
        // A position without Chess960 castling always has a place in a book.
        while let Some(board) = CanonicalBoard::from_position(&position) {
            let counted = book.entry(board.key()).or_default();
            count(&mut counted.record, position.turn(), winner);
            let Some(word) = words.next() else { break };
            let mv = word.parse::<San>()?.to_move(&position)?;
            if let Some(byte) = encode_move_byte(&board, mv)
                && !counted.moves.iter().any(|(known, _)| *known == byte)
            {
                counted.moves.push((byte, Annotation(0)));
            }
            position.play_unchecked(mv);
        }
    }

    let mut writer = UnsortedWriter::create(&target, WriteOptions::default(), 16 << 20)?;
    let mut entry = Vec::new();
    for (key, counted) in &book {
        entry.clear();
        encode_entry(key, &counted.moves, &counted.record, &mut entry);
        writer.push(&entry, 0)?;
    }
    // Nothing has to be joined: there is one entry for a key.
    let written = writer.finish::<RewriteError>(
        GAMES.len() as u32,
        |parts, joined| {
            joined.extend(parts.iter().flat_map(|(_, entry)| entry));
            Ok(())
        },
        &mut Watch::default(),
        Some(book.len() as u64),
    )?;
    println!("{}: {} positions", target.display(), written.positions);
    Ok(())
}

/// Adds a game to a position, as the side to move there sees it.
fn count(record: &mut PositionRecord, turn: Color, winner: Option<Color>) {
    record.stats.games += 1;
    match winner {
        Some(winner) if winner == turn => {
            record.stats.wins += 1;
            record.points += 10;
        }
        Some(_) => record.stats.losses += 1,
        None => {
            record.stats.draws += 1;
            record.points += 5;
        }
    }
}
