//! Answers a request without a socket: what the page shows of a position.
//! `cargo run -p tabia-explorer --example answer_request`

#![allow(clippy::print_stdout)] // Moves for users.

use serde_json::Value;
use tabia_explorer::hyper::{Request, body::Bytes};
use tabia_explorer::{Access, ExploredBook, Explorer, Options};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
const HOST: &str = "127.0.0.1:9002";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let books = vec![ExploredBook::from_file(BOOK.as_ref())?];
    let access = Access::new(HOST.parse()?, Access::random_token());
    let explorer = Explorer::new(books, access, Options::default(), true);

    // Any page of any site can send requests here: those with another host are refused.
    let request = Request::get("/api/position?play=e2e4,c7c5").header("host", HOST);
    let response = explorer.answer(&request.body(Bytes::new())?);
    let view: Value = serde_json::from_slice(response.body())?;
    println!("{}: {}", response.status(), view["opening"]["name"]);
    for mv in view["books"][0]["moves"].as_array().into_iter().flatten() {
        println!("{} {}", mv["san"], mv["probability"]);
    }
    Ok(())
}
