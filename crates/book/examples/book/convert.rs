//! Converts a ChessBase book to Polyglot's format, and looks a position up in both:
//! `cargo run -p tabia-book --example book convert [BOOK]`.

use shakmaty::Chess;
use tabia_book::convert::{self, ConvertJob};
use tabia_book::progress::Watch;
use tabia_book::{Book, Lookup, OpenOptions, Probe as _, Wanted};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = std::env::args()
        .nth(2)
        .unwrap_or_else(|| STARTER.to_owned());
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("book.bin");
    // What a move is worth in the new book is the probability that it is played.
    let job = ConvertJob::new(source.clone().into(), target.clone());
    let done = convert::run(&job, &mut Watch::default())?;
    println!(
        "{} positions, {} moves, {} bytes",
        done.positions, done.moves, done.bytes
    );

    let mut found = Lookup::default();
    for path in [source.as_ref(), target.as_path()] {
        let book = Book::open(path, &OpenOptions::default())?;
        book.probe(&Chess::default(), Wanted::Stored, &mut found)?;
        println!("{}: {} moves", book.format().title(), found.moves.len());
    }
    Ok(())
}
