//! What a book knows about a position, and how likely each move is played.
//!
//! ```sh
//! cargo run --example probe_book books/tabia.ctg e4 c5
//! ```

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::PathBuf;

use shakmaty::san::San;
use shakmaty::{Chess, Position};
use tabia::book::{Book, Lookup, OpenOptions, Probe, Wanted};
use tabia::policy::{self, Policy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path: PathBuf = args.next().ok_or("which book?")?.into();
    let mut position = Chess::default();
    for word in args {
        let mv = word.parse::<San>()?.to_move(&position)?;
        position.play_unchecked(mv);
    }

    // One type for .ctg, .bin and .abk.
    let book = Book::open(&path, &OpenOptions::default())?;
    let mut found = Lookup::default();
    book.probe(&position, Wanted::Transpositions, &mut found)?;
    let mut verdicts = Vec::new();
    policy::weigh(&found.moves, &Policy::default(), |_| None, &mut verdicts);
    for (mv, verdict) in found.moves.iter().zip(&verdicts) {
        let san = San::from_move(&position, mv.mv);
        println!("{san:<6} {:5.1} %", 100.0 * verdict.probability);
    }
    Ok(())
}
