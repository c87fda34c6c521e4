//! Reads an `engines.toml` and prints the engines and books that it names, or the line with
//! an error: `cargo run -p tabia-adapter --example adapter configuration [FILE]`.

use std::path::{Path, PathBuf};

use tabia_adapter::config::Config;

const EXAMPLE: &str = r#"
default = ["stockfish", "builtin"]
[engine.stockfish]
command = "stockfish"
[engine.stockfish.options]
Hash = 256
[[books]]
file = "main.ctg"
colour = "white"
depth = 12
"#;

pub(crate) fn main() -> Result<(), tabia_adapter::config::Error> {
    let config = match std::env::args().nth(2).map(PathBuf::from) {
        Some(path) => Config::read(&path)?,
        None => Config::parse(EXAMPLE, Path::new("engines.toml"))?,
    };
    println!("tried in this order: {}", config.default.join(", "));
    for engine in &config.engines {
        println!("{}: {:?} {:?}", engine.name, engine.command, engine.options);
    }
    for book in &config.books {
        println!("{}: {:?} {:?}", book.path, book.colour, book.overrides);
    }
    let wrong = Config::parse("[book]\nvarieties = 3\n", Path::new("wrong.toml"));
    if let Err(error) = wrong {
        println!("{error}");
    }
    Ok(())
}
