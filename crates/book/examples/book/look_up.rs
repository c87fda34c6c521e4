//! Prints the moves of a position with their games and the probability that each is
//! played: `cargo run -p tabia-book --example book look_up [BOOK [FEN]]`.

use shakmaty::{CastlingMode, Chess, fen::Fen, san::SanPlus};
use tabia_book::policy::{Rules, choose};
use tabia_book::{Book, OpenOptions};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(2);
    let path = arguments.next().unwrap_or_else(|| STARTER.to_owned());
    let position: Chess = match arguments.next() {
        Some(fen) => fen.parse::<Fen>()?.into_position(CastlingMode::Chess960)?,
        None => Chess::default(),
    };

    let book = Book::open(&path, &OpenOptions::default())?;
    let found = choose(&book, &position, &[], &Rules::default())?;
    for (entry, verdict) in found.rows() {
        let san = SanPlus::from_move(position.clone(), entry.mv);
        let percent = 100.0 * verdict.probability;
        print!("{san:<7} {:>7} games {percent:>6.2} %", entry.stats().games);
        match verdict.rejection {
            Some(reason) => println!("  not played: {reason}"),
            None => println!(),
        }
    }
    Ok(())
}
