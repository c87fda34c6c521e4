//! A proxy with a policy of your own: it plays the move with the most games. Without
//! arguments it answers one position; `cargo run -p tabia-adapter --example adapter own_policy --
//! uci STOCKFISH` is an engine for a chess program.

use std::fs::File;

use shakmaty::Chess;
use tabia_adapter::relay::{self, Environment};
use tabia_adapter::session::{Engines, Profile, Session};
use tabia_book::BookMove;
use tabia_book::policy::{ChooseMove, Weighed};
use tabia_choice::book_set::Opener;
use tabia_engine::EngineCommand;

struct MostPlayed;

impl ChooseMove for MostPlayed {
    fn choose(&self, _: &Chess, moves: &[BookMove], verdicts: &mut [Weighed]) {
        let most = moves.iter().map(|entry| entry.stats().games).max();
        for (entry, verdict) in moves.iter().zip(verdicts) {
            let is_most = Some(entry.stats().games) == most;
            verdict.probability = if is_most { 1.0 } else { 0.0 };
        }
    }
}

pub(crate) fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let (mut input, output) = relay::standard_streams()?;
    let commands = arguments.get(1).map(EngineCommand::new);
    let script = tempfile::NamedTempFile::new()?;
    if arguments.is_empty() {
        std::fs::write(&script, "uci\nposition startpos moves e2e4\ngo\nquit\n")?;
        input = File::open(&script)?;
    }

    // The books of `Book File`: the starter book, unless the GUI sets another.
    let session = Session::new(Engines::one(Profile::default()), 1).with_policy(MostPlayed);
    let files = Opener::here(true);
    let environment = Environment::new((input, output), commands.into_iter().collect(), files);
    relay::run(session, environment).map(drop)
}
