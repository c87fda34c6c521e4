//! Answers a client of lichess's opening explorer from an index of games, and shows one
//! of the games: `cargo run -p tabia-explorer --example opening_explorer`

#![allow(clippy::print_stdout)] // The answer.

use serde_json::Value;
use tabia_explorer::hyper::{Request, body::Bytes};
use tabia_explorer::{Access, Explorer, Games, Options};
use tabia_index::{GamesIndex, IndexJob, Watch};

const GAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/chessbase/Capa.cbh"
);
const HOST: &str = "127.0.0.1:9002";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("games.tgx");
    IndexJob::new([GAMES], &path).run(&mut Watch::default())?;
    let games = Games::new(vec![GamesIndex::open(&path, true)?], true);
    let access = Access::new(HOST.parse()?, Access::random_token());
    let explorer = Explorer::new(Vec::new(), access, Options::default(), true).with_games(games);

    let ask = |path: &str| -> Result<Bytes, Box<dyn std::error::Error>> {
        let request = Request::get(path).header("host", HOST).body(Bytes::new())?;
        Ok(explorer.answer(&request).into_body())
    };
    let answer: Value = serde_json::from_slice(&ask("/masters?play=d2d4,d7d5")?)?;
    for mv in answer["moves"].as_array().into_iter().flatten().take(3) {
        println!(
            "{}: {} {} {}",
            mv["san"], mv["white"], mv["draws"], mv["black"]
        );
    }
    let first = answer["topGames"][0]["id"]
        .as_str()
        .ok_or("no game is listed")?;
    let pgn = ask(&format!("/masters/pgn/{first}"))?;
    println!("{}", String::from_utf8_lossy(&pgn));
    Ok(())
}
