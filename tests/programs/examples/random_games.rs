//! Writes random games as PGN to standard output, for measurements of scale:
//!
//! ```text
//! cargo build --release --example random_games
//! target/release/examples/random_games 10000000 24 | \
//!     tabia build -o random.ctg --max-ply 24 --memory 64M -
//! ```
//!
//! A third argument, `lichess`, gives them the form of lichess's monthly files:
//! long headers, and after every move the clock and often an evaluation.
//!
//! The same arguments give the same games. Each has 8 plies or more and at most the
//! given number (24). The first moves come from a few popular ones, as in real
//! games; the others are drawn from all legal ones.

use std::error::Error;
use std::io::{BufWriter, Write};

use shakmaty::san::San;
use shakmaty::{Chess, Position};
use test_programs::Random;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let games: u64 = args
        .next()
        .ok_or("usage: random_games GAMES [PLIES [lichess]]")?
        .parse()?;
    let most: u64 = args.next().map_or(Ok(24), |text| text.parse())?;
    let is_lichess = args.next().is_some_and(|form| form == "lichess");
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for game in 0..games {
        let plies = 8 + random.below(most.saturating_sub(7));
        let elo = 1800 + random.below(1000);
        let result = ["1-0", "0-1", "1/2-1/2", "*"][random.below(4) as usize];
        if is_lichess {
            header(&mut out, game, elo, result)?;
        } else {
            write!(
                out,
                "[Event \"?\"]\n[Result \"{result}\"]\n[WhiteElo \"{elo}\"]\n\n"
            )?;
        }
        let mut position = Chess::default();
        for ply in 0..plies {
            let moves = position.legal_moves();
            // Popular moves: every position has a few, and in the opening
            // most games play one of them.
            let choices = match ply {
                0..6 if random.below(8) > 0 => 3.min(moves.len() as u64),
                _ => moves.len() as u64,
            };
            if choices == 0 {
                break;
            }
            let m = moves[random.below(choices) as usize];
            if ply % 2 == 0 {
                write!(out, "{}.", ply / 2 + 1)?;
            }
            write!(out, "{} ", San::from_move(&position, m))?;
            if is_lichess {
                let clock = 180 - ply.min(170);
                let (minutes, seconds) = (clock / 60, clock % 60);
                write!(out, "{{ ")?;
                // Some games of lichess have been analysed, most have not.
                if game % 8 == 0 {
                    write!(out, "[%eval 0.{}] ", 10 + (game + ply) % 90)?;
                }
                write!(out, "[%clk 0:{minutes:02}:{seconds:02}] }} ")?;
            }
            position.play_unchecked(m);
        }
        write!(out, "{result}\n\n")?;
    }
    out.flush()?;
    Ok(())
}

/// The tags of a lichess game; the other rating is 200 less.
fn header(out: &mut impl Write, game: u64, elo: u64, result: &str) -> std::io::Result<()> {
    let other = elo - 200;
    write!(
        out,
        "[Event \"Rated Blitz game\"]\n[Site \"https://lichess.org/{game:08x}\"]\n\
         [Date \"2024.01.31\"]\n[Round \"-\"]\n[White \"player{}\"]\n\
         [Black \"player{}\"]\n[Result \"{result}\"]\n[UTCDate \"2024.01.31\"]\n\
         [UTCTime \"23:59:{:02}\"]\n[WhiteElo \"{elo}\"]\n[BlackElo \"{other}\"]\n\
         [WhiteRatingDiff \"+5\"]\n[BlackRatingDiff \"-5\"]\n[ECO \"B20\"]\n\
         [Opening \"Sicilian Defense\"]\n[TimeControl \"180+0\"]\n\
         [Termination \"Normal\"]\n\n",
        game % 9973,
        game % 8191,
        game % 60,
    )
}
