//! What games that were played say about a book: how far it went, where it
//! was left and by whom, how the engine found the position there, and which
//! lines lose.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use shakmaty::{Chess, Color, Move, Position as _};

use super::Error;
use crate::book::{Book, Lookup, Probe as _, Wanted as Of};
use crate::eval::Value;
use crate::games::{
    self, Batches, Filter, Game, GameResult, Intake, Item, Sources, Starts, Wanted,
};
use crate::notation;
use crate::openings;
use crate::watch::Watch;

/// Wins, draws and losses, and the engine's first values behind the book.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Games.
    pub games: u64,
    /// Won.
    pub wins: u64,
    /// Drawn.
    pub draws: u64,
    /// Lost.
    pub losses: u64,
    /// Games with a value of the engine behind the book.
    pub valued: u64,
    /// Their sum in centipawns, each at most ten pawns.
    #[serde(skip)]
    sum: i64,
    /// Mean of these values.
    pub mean_value: Option<f64>,
}

impl Score {
    fn add(&mut self, played: &Played) {
        self.games += 1;
        match played.points {
            Some(2) => self.wins += 1,
            Some(1) => self.draws += 1,
            Some(_) => self.losses += 1,
            None => {}
        }
        if let Some(cp) = played.value {
            self.valued += 1;
            self.sum += i64::from(cp);
            self.mean_value = Some(self.sum as f64 / self.valued as f64);
        }
    }

    /// Points a game of those with a result.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let decided = self.wins + self.draws + self.losses;
        (decided > 0).then(|| (self.wins as f64 + self.draws as f64 / 2.0) / decided as f64)
    }

    /// Points lost against half of all.
    #[must_use]
    pub fn deficit(&self) -> f64 {
        (self.losses as f64 - self.wins as f64) / 2.0
    }
}

/// Where the book was left.
#[derive(Clone, Debug, Serialize)]
pub struct Exit {
    /// The first position that is not in the book, or where it has no move.
    pub fen: String,
    /// The moves to it.
    pub line: String,
    /// Results.
    #[serde(flatten)]
    pub record: Score,
}

/// An opening.
#[derive(Clone, Debug, Serialize)]
pub struct Opening {
    /// Its code.
    pub eco: String,
    /// Its name.
    pub name: String,
    /// Results.
    #[serde(flatten)]
    pub record: Score,
}

/// A number in five percentiles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Spread {
    /// How many numbers.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// At 5, 25, 50, 75 and 95 %.
    pub percentiles: [i32; 5],
}

impl Spread {
    fn of(mut numbers: Vec<i32>) -> Spread {
        numbers.sort_unstable();
        let n = numbers.len() as f64;
        let at = |share: f64| {
            let index = (share * (n - 1.0)).round() as usize;
            numbers.get(index).copied().unwrap_or(0)
        };
        let percentiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(at);
        let sum: f64 = numbers.iter().map(|number| f64::from(*number)).sum();
        let mean = if numbers.is_empty() { 0.0 } else { sum / n };
        let square = |number: &i32| (f64::from(*number) - mean).powi(2);
        let variance = numbers.iter().map(square).sum::<f64>() / n.max(1.0);
        Spread {
            count: numbers.len(),
            mean,
            sd: variance.sqrt(),
            percentiles,
        }
    }
}

/// The review. Values and results are the player's; without a player White's.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whose results these are.
    pub player: Option<String>,
    /// Results of all games.
    #[serde(flatten)]
    pub record: Score,
    /// Games of others.
    pub others: u64,
    /// Games that never were in the book.
    pub never: u64,
    /// Plies in book.
    pub plies: Spread,
    /// Left by a move of the player that is not in the book.
    pub left_by_player: u64,
    /// Left by a move of the opponent that is not in the book.
    pub left_by_opponent: u64,
    /// The book had no move any more.
    pub ended: u64,
    /// Games that ended in the book.
    pub to_the_end: u64,
    /// The engine's first values behind the book, centipawns.
    pub values: Spread,
    /// Shares of them below -50 and below -100.
    pub below: [f64; 2],
    /// By opening, most games first.
    pub openings: Vec<Opening>,
    /// Where the book was left, most games first.
    pub exits: Vec<Exit>,
    /// Exits that cost the most points, those of the greatest loss first.
    pub losing: Vec<Exit>,
    /// Games that could not be read.
    pub skipped: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    ByPlayer,
    ByOpponent,
    Ended,
    InBook,
}

/// A game, as it went through the book.
struct Played {
    plies: usize,
    left: Left,
    fen: String,
    line: String,
    eco: String,
    name: String,
    /// Of the player, doubled.
    points: Option<u8>,
    value: Option<i32>,
}

/// What games say about a book.
///
/// # Errors
///
/// A file cannot be read, or has no game of the player.
pub fn report(
    games: &Path,
    book: &Book,
    player: Option<&str>,
    watch: &mut Watch<'_>,
) -> Result<Report, Error> {
    let named: PathBuf = games.to_owned();
    let sources = Sources::list([&named]).map_err(games::ReadError::from)?;
    let filter = Filter::default();
    let intake = Intake {
        filter: &filter,
        wanted: Wanted::EVERYTHING,
        starts: Starts::SetUp,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let worker = |batches: &Batches<'_, Vec<Option<Played>>, Error>| {
        let mut game = Game::default();
        batches.each(|batch| {
            let mut played = Vec::new();
            while batch.next(&mut game) {
                played.push(match side_of(&game, player) {
                    Some(side) => Some(follow(&game, book, side)?),
                    None => None,
                });
            }
            Ok(played)
        })
    };
    let mut all = Vec::new();
    let mut others = 0;
    let take = |played: Vec<Option<Played>>| {
        others += played.iter().filter(|played| played.is_none()).count() as u64;
        all.extend(played.into_iter().flatten());
        Ok::<(), Error>(())
    };
    let tally = intake.read(&sources, worker, take, watch)?;
    if all.is_empty() {
        let who = player.map_or_else(String::new, |name| format!(" of {name}"));
        return Err(Error::Text(format!("{}: no game{who}", games.display())));
    }
    let mut report = sum(all);
    report.player = player.map(str::to_owned);
    report.others = others;
    report.skipped = tally.named.iter().map(ToString::to_string).collect();
    Ok(report)
}

/// Whose side is looked at.
fn side_of(game: &Game, player: Option<&str>) -> Option<Color> {
    let Some(player) = player else {
        return Some(Color::White);
    };
    let is_his = |side: &Color| games::has_name(game.names.get(*side), player);
    [Color::White, Color::Black].into_iter().find(is_his)
}

fn follow(game: &Game, book: &Book, side: Color) -> Result<Played, Error> {
    let mut found = Lookup::default();
    let mut plies = 0;
    let mut left = Left::InBook;
    for (position, mv) in game.positions.iter().zip(&game.moves) {
        book.probe(position, Of::Transpositions, &mut found)?;
        if found.moves.is_empty() {
            left = Left::Ended;
            break;
        }
        if !found.moves.iter().any(|known| known.mv == *mv) {
            left = match position.turn() == side {
                true => Left::ByPlayer,
                false => Left::ByOpponent,
            };
            break;
        }
        plies += 1;
    }
    let reached = game.positions.get(..=plies).unwrap_or(&game.positions);
    let opening = openings::of_line(reached).or_else(|| openings::of_line(&game.positions));
    let points = match game.result {
        GameResult::Won(winner) => Some(if winner == side { 2 } else { 0 }),
        GameResult::Draw => Some(1),
        GameResult::Unknown => None,
    };
    // Only the player's own engine is asked; without one, whoever moves first.
    let last = reached.last();
    Ok(Played {
        plies,
        left,
        fen: last.map_or_else(String::new, notation::fen),
        line: line_text(reached, game.moves.get(..plies).unwrap_or_default()),
        eco: opening.map_or("", |opening| opening.eco).to_owned(),
        name: opening.map_or("", |opening| opening.name).to_owned(),
        points,
        value: first_value(game, plies, side),
    })
}

fn line_text(positions: &[Chess], moves: &[Move]) -> String {
    let words = positions
        .iter()
        .zip(moves)
        .enumerate()
        .map(|(at, (position, mv))| {
            let san = notation::san(position, *mv);
            match at == 0 || position.turn().is_white() {
                true => format!("{} {san}", notation::number(position)),
                false => san,
            }
        });
    words.collect::<Vec<_>>().join(" ")
}

/// The first value behind the book that the player's moves tell in their
/// comments, as he sees it.
fn first_value(game: &Game, plies: usize, side: Color) -> Option<i32> {
    let mut depth = 0;
    let mut ply = 0;
    for item in &game.movetext {
        match item {
            Item::Begin => depth += 1,
            Item::End => depth -= 1,
            Item::Move(_) | Item::Null if depth == 0 => ply += 1,
            Item::Comment(text) if depth == 0 && ply > plies => {
                let mover = game.positions.get(ply - 1)?.turn();
                if mover == side
                    && let Some(value) = value_of(text, mover)
                {
                    return Some(value.clamped(side));
                }
            }
            _ => {}
        }
    }
    None
}

/// The value in a comment of cutechess or fastchess: `+0.35/21 3.2s`,
/// `-M12/30 0.1s`, of the mover; or lichess's `[%eval 0.35]`, of White. Book
/// moves (`book`) have none.
fn value_of(comment: &str, mover: Color) -> Option<Value> {
    if let Some((_, rest)) = comment.split_once("[%eval ") {
        let (text, _) = rest.split_once(']')?;
        return Some(Value::from_pgn(!mover, text.trim())?.0);
    }
    let (text, depth) = comment.trim().split(' ').next()?.split_once('/')?;
    let depth = depth.trim_end_matches(',');
    depth.parse::<u16>().ok()?;
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(plies) = number.strip_prefix('M') {
        // In plies, from the mover.
        let plies: i32 = plies.parse().ok()?;
        return Some(Value::mate_of_mover(mover, sign * (plies + 1) / 2));
    }
    let pawns: f64 = number
        .parse()
        .ok()
        .filter(|pawns: &f64| pawns.is_finite())?;
    let cp = (100.0 * pawns).round().clamp(-1e6, 1e6) as i32;
    Some(Value::cp_of_mover(mover, sign * cp))
}

fn sum(all: Vec<Played>) -> Report {
    let mut record = Score::default();
    let mut openings: BTreeMap<(String, String), Score> = BTreeMap::new();
    let mut exits: BTreeMap<String, Exit> = BTreeMap::new();
    let (mut plies, mut values) = (Vec::new(), Vec::new());
    let count = |left| all.iter().filter(|played| played.left == left).count() as u64;
    let [left_by_player, left_by_opponent, ended, to_the_end] =
        [Left::ByPlayer, Left::ByOpponent, Left::Ended, Left::InBook].map(count);
    let never = all.iter().filter(|played| played.plies == 0).count() as u64;
    for played in &all {
        record.add(played);
        plies.push(played.plies as i32);
        values.extend(played.value);
        let opening = (played.eco.clone(), played.name.clone());
        openings.entry(opening).or_default().add(played);
        let exit = exits.entry(played.fen.clone()).or_insert_with(|| Exit {
            fen: played.fen.clone(),
            line: played.line.clone(),
            record: Score::default(),
        });
        exit.record.add(played);
    }
    let below = |cp: i32| {
        let count = values.iter().filter(|value| **value < cp).count();
        count as f64 / values.len().max(1) as f64
    };
    let below = [below(-50), below(-100)];
    let openings = openings
        .into_iter()
        .map(|((eco, name), record)| Opening { eco, name, record });
    let mut openings: Vec<Opening> = openings.collect();
    openings.sort_by_key(|opening| std::cmp::Reverse(opening.record.games));
    let mut exits: Vec<Exit> = exits.into_values().collect();
    exits.sort_by_key(|exit| std::cmp::Reverse(exit.record.games));
    let lost = |exit: &&Exit| exit.record.deficit() > 0.0;
    let mut losing: Vec<Exit> = exits.iter().filter(lost).cloned().collect();
    losing.sort_by(|a, b| b.record.deficit().total_cmp(&a.record.deficit()));
    losing.truncate(50);
    Report {
        player: None,
        record,
        others: 0,
        never,
        plies: Spread::of(plies),
        left_by_player,
        left_by_opponent,
        ended,
        to_the_end,
        values: Spread::of(values),
        below,
        openings,
        exits,
        losing,
        skipped: Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_of_managers_are_the_movers() {
        let of =
            |text: &str, mover| value_of(text, mover).map(|value| value.for_side(Color::White));
        assert_eq!(of("+0.35/21 3.2s", Color::White), Some(35));
        assert_eq!(of("+0.35/21 3.2s", Color::Black), Some(-35));
        assert_eq!(of("-1.20/18 0.301s, n=1000", Color::Black), Some(120));
        assert_eq!(of("0.00/5 0s", Color::White), Some(0));
        assert_eq!(of("[%eval 0.50] [%clk 0:01:00]", Color::Black), Some(50));
        assert!(of("-M12/30 0.1s", Color::White).unwrap() < -10_000);
        assert!(of("+M5/30 0.1s", Color::Black).unwrap() < -10_000);
        for none in ["book", "", "a/b", "1/2-1/2", "good/bad move"] {
            assert_eq!(of(none, Color::White), None, "{none}");
        }
    }
}
