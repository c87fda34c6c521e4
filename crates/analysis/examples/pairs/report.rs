//! The results of the games.

use std::collections::HashSet;
use std::fmt;

use tabia_analysis::suite::matches::Pairs;

use super::game::{Exit, Game};

/// Plies by which games are first compared.
const EARLY: usize = 40;

#[derive(Default)]
pub(crate) struct Report {
    pub(crate) pairs: Pairs,
    distinct: HashSet<String>,
    /// Different games by their first `EARLY` plies.
    distinct_early: HashSet<String>,
    /// Games that the first and the second player lost on time.
    late: [u64; 2],
    plies: usize,
    /// Exits of the first and of the second player, with White and with Black.
    exits: [[Vec<Exit>; 2]; 2],
}

impl Report {
    pub(crate) fn add(&mut self, games: [Game; 2]) {
        let points = games.each_ref().map(Game::points);
        self.pairs.add(points);
        for game in &games {
            self.plies += game.at.moves.len();
            for (side, exit) in game.exits.iter().enumerate() {
                self.exits[(game.white + side) % 2][side].push(*exit);
            }
            self.distinct.insert(game.text(usize::MAX));
            self.distinct_early.insert(game.text(EARLY));
            if let Some(late) = game.late {
                self.late[(game.white + late.fold_wb(0, 1)) % 2] += 1;
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(strength) = self.pairs.strength() else {
            return writeln!(f, "no pair was played");
        };
        let [won, drawn, lost] = self.pairs.games;
        let games = won + drawn + lost;
        writeln!(f, "pairs: {}", self.pairs.count())?;
        writeln!(f, "games: {games}, +{won} ={drawn} -{lost}")?;
        let distinct = self.distinct.len() as u64;
        let again = 100.0 * (games - distinct) as f64 / games as f64;
        writeln!(f, "distinct games: {distinct} ({again:.1} % again)")?;
        let early = self.distinct_early.len();
        writeln!(f, "distinct within {EARLY} plies: {early}")?;
        let [first, second] = self.late;
        writeln!(f, "lost on time: first {first}, second {second}")?;
        let length = self.plies as f64 / games as f64;
        writeln!(f, "plies a game: {length:.1}")?;
        writeln!(f, "pentanomial: {:?}", self.pairs.pentanomial)?;
        let [elo, error] = strength.elo;
        writeln!(f, "Elo: {elo:+.1} +-{error:.1}")?;
        let [nelo, error] = strength.nelo;
        writeln!(f, "nElo: {nelo:+.1} +-{error:.1}")?;
        writeln!(f, "LOS: {:.1} %", 100.0 * strength.los)?;
        for (player, exits) in ["first", "second"].iter().zip(&self.exits) {
            let both = [&exits[0][..], &exits[1][..]].concat();
            if both.iter().all(|exit| exit.book_moves == 0) {
                continue;
            }
            for (colour, exits) in ["White", "Black", "both"]
                .iter()
                .zip([&exits[0], &exits[1], &both])
            {
                writeln!(f, "{player}, {colour}: {}", Exits(exits))?;
            }
        }
        Ok(())
    }
}

/// Summary of the exits of a player's book.
struct Exits<'a>(&'a [Exit]);

impl fmt::Display for Exits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len().max(1) as f64;
        let moves: usize = self.0.iter().map(|exit| exit.book_moves).sum();
        let mut values: Vec<i32> = self.0.iter().filter_map(|exit| exit.value).collect();
        values.sort_unstable();
        let Some(last) = values.len().checked_sub(1) else {
            return write!(f, "never thought");
        };
        let n = values.len() as f64;
        // Limited to ten pawns, also for mates.
        let limited = || {
            values
                .iter()
                .map(|value| f64::from(*value).clamp(-1e3, 1e3))
        };
        let mean = limited().sum::<f64>() / n;
        let spread = (limited().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        let at = |share: usize| values[last * share / 100];
        let below = |cp: i32| {
            let count = values.iter().filter(|value| **value < cp).count();
            100.0 * count as f64 / n
        };
        write!(
            f,
            "{:.1} book moves, exit {mean:+.1} +-{:.1} cp (sd {spread:.0}; 5/25/50/75/95 %: \
             {} {} {} {} {}), below -50: {:.1} %, below -100: {:.1} %",
            moves as f64 / count,
            1.96 * spread / n.sqrt(),
            at(5),
            at(25),
            at(50),
            at(75),
            at(95),
            below(-50),
            below(-100)
        )
    }
}
