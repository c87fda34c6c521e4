//! Asks several books as the adapter does, the first that has the position first, and
//! prints the moves of the one that answers:
//! `cargo run -p tabia-choice --example ask_books [BOOK...]`.

#![allow(clippy::print_stdout)]

use shakmaty::Chess;
use tabia_book::policy::choose;
use tabia_choice::book_set::{BookSet, BookSpec, Opener};
use tabia_choice::settings::{Options, STARTER};

fn main() -> Result<(), tabia_book::Error> {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    paths.push(STARTER.to_owned());
    let specs: Vec<BookSpec> = paths.into_iter().map(BookSpec::new).collect();

    let (books, messages) = Opener::here(true).book_set(&specs, &BookSet::default());
    for message in messages {
        println!("{message}");
    }
    for book in &books.books {
        // A book may have options of its own.
        let rules = book.spec.options(&Options::default()).rules();
        let found = choose(&*book.book, &Chess::default(), &[], &rules)?;
        if found.best().is_some() {
            println!("{}:", book.name);
            for (entry, verdict) in found.rows() {
                println!("{} {:.1} %", entry.mv, 100.0 * verdict.probability);
            }
            break;
        }
    }
    Ok(())
}
