//! Marks a move of a book as the page does, and takes it back:
//! `cargo run -p tabia-explorer --example change_book`

#![allow(clippy::print_stdout)] // The answers.

use serde_json::{Value, json};
use tabia_explorer::hyper::{Request, body::Bytes};
use tabia_explorer::{Access, ExploredBook, Explorer, Options};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
const HOST: &str = "127.0.0.1:9002";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy.ctg");
    std::fs::copy(BOOK, &copy)?;
    for beside in ["cto", "ctb"] {
        let original = BOOK.replace(".ctg", &format!(".{beside}"));
        std::fs::copy(original, copy.with_extension(beside))?;
    }
    // Only who knows the token may change anything: the page has it.
    let token = Access::random_token();
    let access = Access::new(HOST.parse()?, token.clone());
    let books = vec![ExploredBook::from_file(&copy)?];
    let explorer = Explorer::new(books, access, Options::default(), false);
    let post = |path: &str, body: &Value| -> Result<Value, Box<dyn std::error::Error>> {
        let request = Request::post(path)
            .header("host", HOST)
            .header("content-type", "application/json")
            .header("x-tabia-token", &token)
            .body(Bytes::from(body.to_string()))?;
        Ok(serde_json::from_slice(explorer.answer(&request).body())?)
    };

    let change = json!({
        "book": 0, "client": "example", "uci": "d2d4", "change": "mark", "value": "main",
    });
    println!("{}", post("/api/edit", &change)?);
    let client = json!({ "book": 0, "client": "example" });
    println!("{}", post("/api/undo", &client)?);
    Ok(())
}
