//! Makes two books in one pass over the games, each of its own games:
//! `cargo run -p tabia-build --example several_books`

#![allow(clippy::print_stdout)] // Figures for users.

use tabia_build::{BuildJob, Source, run_all};
use tabia_io::progress::Watch;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let games = folder.path().join("games.pgn");
    let text = "[White \"Smith\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2450\"]\n\n1. e4 e5 1-0\n\n\
                [White \"Jones\"]\n\n1. d4 d5 1/2-1/2\n";
    std::fs::write(&games, text)?;
    let source = Source::new(games);
    let job = |name: &str| BuildJob::new(vec![source.clone()], folder.path().join(name));
    let (mut strong, mut player) = (job("strong.ctg"), job("jones.ctg"));
    strong.filter.both_elo = Some(2400);
    player.filter.player = Some("Jones".to_owned());
    for summary in run_all(&[strong, player], &mut Watch::default())? {
        println!("{} games", summary.games);
    }
    Ok(())
}
