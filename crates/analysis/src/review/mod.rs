//! Reviews played games with respect to a book: how far the book lasted, where it was
//! left and by whom, the engine's value of the position there, and which lines lose.

mod sums;
mod value;

use std::path::Path;

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};
pub use sums::{Exit, ReviewOpening, Score, Spread};

use crate::Error;
use crate::departures::{self, ChosenMoves, Departure, GameDeparture, Repertoire, SeveralMoves};
use crate::each_game::{each_game, points};
use crate::pairs::{Pairs, Strength};
use tabia_book::eval::Evaluation;
use tabia_book::policy::Policy;
use tabia_book::{Lookup, Probe, Wanted};
use tabia_games::{self as games, Game, GameFilter, GameParts, Starts};
use tabia_io::progress::Watch;
use tabia_notation as notation;
use tabia_notation::openings;

/// The review. Values and results are from the player's view; without a player from
/// White's.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReviewReport {
    /// The player reviewed.
    pub player: Option<String>,
    /// Results of all games.
    #[serde(flatten)]
    pub record: Score,
    /// Games without the player.
    pub others: u64,
    /// Games that do not reach the position that was asked for.
    pub elsewhere: u64,
    /// Games whose result is not due to their moves (time forfeit, disconnect, illegal
    /// move): they count as games without a result.
    pub forfeited: u64,
    /// Results in pairs of rounds, colours exchanged, if there are any.
    pub pairs: Option<PairedResults>,
    /// Games that were never in the book.
    pub never: u64,
    /// Plies in the book.
    pub plies: Spread,
    /// Games in which the player left the book by another move.
    pub left_by_player: u64,
    /// Games in which the opponent left the book by another move.
    pub left_by_opponent: u64,
    /// Games in which the book had no more move.
    pub ended: u64,
    /// Games that ended in the book.
    pub to_the_end: u64,
    /// The engine's first values after the book, centipawns, if there are any.
    pub values: Option<Spread>,
    /// Shares of these values below -50 and below -100 centipawns.
    pub below: Option<[f64; 2]>,
    /// Openings, those with the most games first.
    pub openings: Vec<ReviewOpening>,
    /// Positions in which the book was left, those with the most games first.
    pub exits: Vec<Exit>,
    /// Exits that cost the most points, the greatest loss first.
    pub losing: Vec<Exit>,
    /// Games that could not be read.
    pub skipped: Vec<String>,
    /// The positions after the book with the first value of the player's engine, in the
    /// order of the games.
    #[serde(skip)]
    pub found: Vec<(Chess, Evaluation)>,
    /// Where games of one colour left the book, most games first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<Departure>,
    /// Where the repertoire has several green moves, most games first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub several: Vec<SeveralMoves>,
    /// Every game that was read, in order.
    #[serde(skip)]
    pub games: Vec<ReviewedGame>,
}

/// Results in pairs.
#[derive(Clone, Debug, Serialize)]
pub struct PairedResults {
    #[serde(flatten)]
    pub pairs: Pairs,
    /// The strength computed from them.
    pub strength: Option<Strength>,
}

/// A game, for finding it again.
#[derive(Clone, Debug)]
pub struct ReviewedGame {
    /// Points of White, doubled; `None` without a result that counts.
    pub points: Option<u8>,
    /// Its moves in UCI notation, separated by spaces.
    pub moves: String,
    /// The colour of the player that is reviewed; `None` if this is a game of others.
    pub side: Option<Color>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    ByPlayer,
    ByOpponent,
    Ended,
    InBook,
}

/// A game and its way through the book.
struct GameInBook {
    plies: usize,
    left: Left,
    fen: String,
    line: String,
    eco: String,
    name: String,
    /// Points of the player, doubled.
    points: Option<u8>,
    forfeited: bool,
    side: Color,
    /// The opponent's name, the event and the round.
    against: [String; 3],
    /// The year, 0 if unknown.
    year: u16,
    value: Option<(Chess, Evaluation)>,
    departure: Option<GameDeparture>,
    /// The moves of the game, and the plies at which the repertoire has several answers.
    undecided: (Vec<Move>, Vec<usize>),
}

/// Which games to review.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Reviewed<'a> {
    /// The player; without one the games are reviewed for White.
    pub player: Option<&'a str>,
    /// Only games with this colour, for which the book is a repertoire.
    pub colour: Option<Color>,
    /// The player's move in positions where the repertoire has several.
    pub chosen: Option<&'a ChosenMoves>,
    /// Whether games that did not end by their moves count with their result.
    pub forfeits: bool,
    /// Only games that reach this position, in any order of moves.
    pub reaches: Option<&'a Chess>,
}

/// Reviews games with respect to a book.
///
/// # Errors
///
/// A file cannot be read, or has no game of the player.
pub fn report(
    games: &Path,
    book: &(dyn Probe + Sync),
    whose: Reviewed<'_>,
    watch: &mut Watch<'_>,
) -> Result<ReviewReport, Error> {
    let Reviewed {
        player,
        colour,
        chosen,
        forfeits,
        reaches,
    } = whose;
    let policy = Policy::default();
    let none = ChosenMoves::default();
    let chosen = chosen.unwrap_or(&none);
    let repertoire = colour.map(|colour| Repertoire::new(book, colour, &policy, chosen));
    let played = |game: &Game| {
        let counts = forfeits || !game.conditions.forfeited;
        let side = side_of(game, whose);
        let known = ReviewedGame {
            points: points(game.result, Color::White).filter(|_| counts),
            moves: uci_text(&game.moves),
            side,
        };
        let left = |repertoire: &Repertoire<'_>| {
            repertoire.left_by_game((&game.positions[..], &game.moves[..]))
        };
        let played = match side {
            Some(side) => Some(GameInBook {
                forfeited: !counts,
                departure: repertoire.as_ref().map(left).transpose()?.flatten(),
                undecided: match &repertoire {
                    Some(repertoire) => {
                        (game.moves.clone(), repertoire.undecided(&game.positions)?)
                    }
                    None => Default::default(),
                },
                ..follow(game, book, side)?
            }),
            None => None,
        };
        Ok((known, played))
    };
    let mut filter = GameFilter::default();
    filter.reaches = reaches.cloned();
    let parts = GameParts::EVERYTHING;
    let (read, tally) = each_game(games, &filter, parts, Starts::SetUp, watch, played)?;
    let (known, read): (Vec<ReviewedGame>, Vec<Option<GameInBook>>) = read.into_iter().unzip();
    let others = read.iter().filter(|played| played.is_none()).count() as u64;
    let mut all: Vec<GameInBook> = read.into_iter().flatten().collect();
    for played in all.iter_mut().filter(|played| played.forfeited) {
        played.points = None;
    }
    if all.is_empty() {
        let who = player.map_or_else(String::new, |name| format!(" of {name}"));
        let there = reaches.map_or("", |_| " reaches the position of --line or --fen");
        return Err(Error::Text(format!(
            "{}: no game{who}{there}",
            games.display()
        )));
    }
    let left = all.iter_mut().filter_map(|played| {
        let departure = played.departure.take()?;
        Some((departure, played.points))
    });
    let departures = match &repertoire {
        Some(repertoire) => repertoire.sum(left, MOST_DEPARTURES)?,
        None => Vec::new(),
    };
    let undecided = all.iter().flat_map(|played| {
        let (moves, plies) = &played.undecided;
        plies.iter().filter_map(|ply| moves.get(..*ply))
    });
    let several = match &repertoire {
        Some(repertoire) => repertoire.sum_undecided(undecided, MOST_DEPARTURES)?,
        None => Vec::new(),
    };
    let mut report = sums::sum(all);
    report.departures = departures;
    report.several = several;
    report.elsewhere = tally.filtered;
    report.player = player.map(str::to_owned);
    report.others = others;
    report.games = known;
    report.skipped = tally.named.iter().map(ToString::to_string).collect();
    Ok(report)
}

/// Highest number of departures in the list.
const MOST_DEPARTURES: usize = 1000;

/// The side to review in a game.
fn side_of(game: &Game, whose: Reviewed<'_>) -> Option<Color> {
    let Some(player) = whose.player else {
        return Some(whose.colour.unwrap_or(Color::White));
    };
    let is_his = |side: &Color| {
        whose.colour.is_none_or(|colour| colour == *side)
            && games::has_name(game.names.get(*side), player)
    };
    [Color::White, Color::Black].into_iter().find(is_his)
}

fn follow(game: &Game, book: &dyn Probe, side: Color) -> Result<GameInBook, Error> {
    let mut found = Lookup::default();
    let mut plies = 0;
    let mut left = Left::InBook;
    for (position, mv) in game.positions.iter().zip(&game.moves) {
        book.probe(position, Wanted::Transpositions, &mut found)?;
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
    let opening =
        openings::find_in_line(reached).or_else(|| openings::find_in_line(&game.positions));
    let last = reached.last();
    Ok(GameInBook {
        plies,
        left,
        fen: last.map_or_else(String::new, notation::fen),
        line: departures::text_of(reached.iter().zip(game.moves.iter().copied()).take(plies)),
        eco: opening.map_or("", |opening| opening.eco).to_owned(),
        name: opening.map_or("", |opening| opening.name).to_owned(),
        points: points(game.result, side),
        forfeited: false,
        side,
        against: [
            game.names.get(!side).clone(),
            game.tags.get("Event").unwrap_or_default().to_owned(),
            game.tags.get("Round").unwrap_or_default().to_owned(),
        ],
        year: game.year,
        // Only values of this side's own engine are used.
        value: value::first(game, plies, side),
        departure: None,
        undecided: Default::default(),
    })
}

fn uci_text(moves: &[Move]) -> String {
    let words = moves
        .iter()
        .map(|mv| mv.to_uci(CastlingMode::Standard).to_string());
    words.collect::<Vec<_>>().join(" ")
}
