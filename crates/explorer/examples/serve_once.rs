//! Listens on a free port, answers one request and stops:
//! `cargo run -p tabia-explorer --example serve_once`

#![allow(clippy::print_stdout)] // The answer.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use tabia_explorer::{Access, ExploredBook, Explorer, Limits, Notify, Options, serve};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let books = vec![ExploredBook::from_file(BOOK.as_ref())?];
    let access = Access::new(address, Access::random_token());
    let explorer = Arc::new(Explorer::new(books, access, Options::default(), true));
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let server = std::thread::spawn(move || serve(listener, explorer, Limits::default(), stopped));

    let mut client = TcpStream::connect(address)?;
    let head = format!("GET /monitor HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    client.write_all(head.as_bytes())?;
    let mut answer = String::new();
    client.read_to_string(&mut answer)?;
    println!("{answer}");

    // It finishes the answers that it has begun.
    stop.notify_one();
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}
