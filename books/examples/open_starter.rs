//! Opens the starter book from memory and prints the moves of the start position:
//! `cargo run -p tabia-starter --example open_starter`.

#![allow(clippy::print_stdout)]

use tabia_book::ctg::CtgBook;
use tabia_book::shakmaty::Chess;
use tabia_book::{Lookup, Probe as _, Wanted};

fn main() -> Result<(), tabia_book::Error> {
    let (ctg, cto, ctb) = (tabia_starter::CTG, tabia_starter::CTO, tabia_starter::CTB);
    let book = CtgBook::from_static("starter", ctg, cto, ctb)?;
    let mut found = Lookup::default();
    book.probe(&Chess::default(), Wanted::Stored, &mut found)?;
    for entry in &found.moves {
        println!("{} {} games", entry.mv, entry.stats().games);
    }
    Ok(())
}
