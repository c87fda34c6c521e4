//! What a repertoire lacks: opponents' moves without an answer, and where played games
//! left it: `cargo run -p tabia-explorer --example missing_answers`

#![allow(clippy::print_stdout)] // Figures for users.

use serde_json::Value;
use tabia_explorer::hyper::{Request, body::Bytes};
use tabia_explorer::{Access, ExploredBook, Explorer, Options};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const HOST: &str = "127.0.0.1:9002";
const GAMES: &str =
    "[White \"Ann\"]\n[Black \"Ben\"]\n[Result \"0-1\"]\n\n1. e4 e5 2. Qh5 Nc6 0-1\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The repertoire, and a book of what opponents play.
    let open = |path: &str| ExploredBook::from_file(format!("{REPOSITORY}/{path}").as_ref());
    let books = vec![open("tests/data/small.ctg")?, open("books/tabia.ctg")?];
    let access = Access::new(HOST.parse()?, Access::random_token());
    let explorer = Explorer::new(books, access, Options::default(), true);
    let ask = |path: &str, body: &'static str| -> Result<Value, Box<dyn std::error::Error>> {
        let request = Request::post(path).header("host", HOST);
        let response = explorer.answer(&request.body(Bytes::from(body))?);
        Ok(serde_json::from_slice(response.body())?)
    };

    let coverage = ask("/coverage?book=0&opponents=1&color=black", "")?;
    for hole in coverage["holes"].as_array().into_iter().flatten().take(3) {
        println!("no answer: {} (share {})", hole["line"], hole["share"]);
    }
    let found = ask("/departures?book=0&player=Ann&color=white", GAMES)?;
    for left in found["departures"].as_array().into_iter().flatten() {
        let (line, played) = (&left["line"], &left["played"]["san"]);
        println!("after {line} the {} left the book by {played}", left["by"]);
    }
    Ok(())
}
