//! A session driven by events, without processes, files or clocks: what Tabia sends to the
//! GUI and to the engine: `cargo run -p tabia-adapter --example adapter session_events`.

use std::time::Duration;

use tabia_adapter::session::{Engines, Event, Output, Profile, Request, Session};
use tabia_choice::book_set::{BookSet, Opener};

/// Prints the lines, and opens the books that are asked for.
#[derive(Default)]
struct Printer {
    books: BookSet,
}

impl Output for Printer {
    fn gui(&mut self, line: &[u8]) {
        println!("gui< {}", String::from_utf8_lossy(line));
    }

    fn engine(&mut self, line: &[u8]) {
        println!("eng< {}", String::from_utf8_lossy(line));
    }

    fn request(&mut self, request: Request) {
        println!("ask< {request}");
        if let Request::OpenBooks(specs) = request {
            (self.books, _) = Opener::here(true).book_set(&specs, &BookSet::default());
        }
    }
}

pub(crate) fn main() {
    let mut session = Session::new(Engines::one(Profile::default()), 1);
    let mut out = Printer::default();
    session.start(&mut out);
    for event in [
        Event::EngineUp,
        Event::Gui(b"uci"),
        Event::Engine(b"id name Example"),
        Event::Engine(b"uciok"),
        Event::Gui(b"isready"),
        Event::BooksOpened(&[]),
        Event::Engine(b"readyok"),
        Event::Gui(b"position startpos moves d2d4 d7d5"),
        Event::Gui(b"go wtime 60000 btime 60000"),
        // Out of book the engine searches.
        Event::Gui(b"position startpos moves h2h4 h7h5 a2a4"),
        Event::Gui(b"go wtime 60000 btime 60000"),
        Event::Engine(b"bestmove e7e5"),
    ] {
        println!("{event:?}");
        let books = std::mem::take(&mut out.books);
        session.step(Duration::ZERO, event, &books, &mut out);
        if out.books.books.is_empty() {
            out.books = books;
        }
    }
}
