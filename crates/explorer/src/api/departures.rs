//! Where a player's games left a repertoire (one of the open books), and the positions
//! for which it has no answer.

use std::io::Cursor;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move};

use super::super::content::Open;
use super::super::indexes::is_of_player;
use super::super::message::translatable;
use super::super::open_books::OpenBooks;
use super::super::query::Query;
use super::super::reply::{Answer, Refusal, bad, json, nobody_waits, unreadable};
use super::super::work::Gone;
use super::books::numbered;
use super::question;
use tabia_analysis::coverage::{self, CoverageLimits, Hole};
use tabia_analysis::departures::{
    ChosenMoves, Departure, GameDeparture, LeftBy, Repertoire, SeveralMoves,
};
use tabia_book::Probe;
use tabia_book::evals::EvalKey;
use tabia_book::policy::Policy;
use tabia_choice::settings::Options;
use tabia_games::{Game, GameParts, GameResult, GameSource as _, PgnSource};
use tabia_index::each_game;
use tabia_notation::Line;

/// Greatest number of listed departures.
const MOST: usize = 200;

/// Greatest number of plies read from a game.
const MOST_PLIES: usize = 120;

/// The answer.
#[derive(Debug, Serialize)]
struct Departures {
    /// Number of games of the player with the colour; below, of others.
    games: u64,
    others: u64,
    /// Number of games that could not be read.
    unread: u64,
    left_by_player: u64,
    left_by_opponent: u64,
    /// The book has no answer.
    unanswered: u64,
    departures: Vec<Departure>,
    /// Where the repertoire has several green moves.
    several: Vec<SeveralMoves>,
}

/// A position without an answer in a repertoire.
#[derive(Debug, Serialize)]
struct Coverage {
    /// The share of games that reach one of these positions, 0 to 1.
    share: f64,
    holes: Vec<Hole>,
}

/// Chosen moves, with the FENs of their positions.
type MoveChoices = Vec<(String, String)>;

/// The PGN games and chosen moves in a request body: JSON with both, or games only. These
/// may begin with a comment, which is not JSON.
pub(super) fn parse_body(body: &[u8]) -> Result<(Vec<u8>, MoveChoices), Refusal> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Sent {
        pgn: String,
        moves: MoveChoices,
    }
    match serde_json::from_slice(body) {
        Ok(Sent { pgn, moves }) => Ok((pgn.into_bytes(), moves)),
        Err(error) if is_json(body) => Err(bad(translatable!(
            "the body is neither games in PGN nor JSON of the form {0}: {1}",
            r#"{"pgn": "1. e4 e5", "moves": [["FEN", "e2e4"]]}"#,
            error.to_string()
        ))),
        Err(_) => Ok((body.to_vec(), MoveChoices::new())),
    }
}

/// Whether a text is JSON, or an object of JSON with a mistake.
fn is_json(text: &[u8]) -> bool {
    let is_object = || {
        let inside = text.trim_ascii_start().strip_prefix(b"{")?;
        let mut name = inside
            .trim_ascii_start()
            .strip_prefix(b"\"")?
            .split(|byte| *byte == b'"');
        let after = name.nth(1)?.trim_ascii_start();
        Some(after.starts_with(b":"))
    };
    serde_json::from_slice::<IgnoredAny>(text).is_ok() || is_object() == Some(true)
}

/// A repertoire that a request names.
pub(super) struct RepertoireRequest {
    pub(super) book: Open,
    pub(super) colour: Color,
    pub(super) policy: Policy,
    pub(super) chosen: ChosenMoves,
}

impl RepertoireRequest {
    pub(super) fn repertoire(&self) -> Repertoire<'_> {
        Repertoire::new(&*self.book, self.colour, &self.policy, &self.chosen)
    }
}

/// The positions without an answer in a book, for a colour; `opponents` is the number
/// of the book or index with the opponents' moves.
pub(super) fn coverage(open: &OpenBooks, settings: &Options, query: &Query, body: &[u8]) -> Answer {
    let colour = question::required_color(query).map_err(bad)?;
    let request = read_request(open, settings, query, colour, parse_body(body)?.1)?;
    let opponents = query.optional_number("opponents").map_err(bad)?;
    let opponents = opponents.map(|number| numbered(open, number)).transpose()?;
    let opponents = opponents.as_deref().map(|book| book as &dyn Probe);
    let limits = CoverageLimits::default();
    let mut holes = coverage::holes(request.repertoire(), &Line::default(), opponents, limits)
        .map_err(unreadable)?;
    // The sum of no numbers would be -0.
    let share = holes.iter().filter_map(|hole| hole.share);
    let share = share.fold(0.0, |sum, share| sum + share);
    holes.truncate(MOST);
    Ok(json(&Coverage { share, holes }))
}

fn read_request(
    open: &OpenBooks,
    settings: &Options,
    query: &Query,
    colour: Color,
    moves: MoveChoices,
) -> Result<RepertoireRequest, Refusal> {
    Ok(RepertoireRequest {
        book: numbered(open, query.number("book", 0).map_err(bad)?)?,
        colour,
        policy: query.settings(settings).map_err(bad)?.policy,
        chosen: ChosenMoves::new(moves),
    })
}

/// The games of a player with a colour, compared with a repertoire.
#[derive(Default)]
pub(super) struct ComparedGames {
    /// How each left it, with the half points of the player.
    pub(super) games: Vec<(Option<GameDeparture>, Option<u8>)>,
    /// Games of others, and those that could not be read.
    pub(super) others: u64,
    pub(super) unread: u64,
    /// The moves to positions in which the repertoire has several answers.
    undecided: Vec<Vec<Move>>,
}

impl ComparedGames {
    /// The games that come to a position, and leave the repertoire there or later.
    pub(super) fn read(
        open: &OpenBooks,
        repertoire: Repertoire<'_>,
        name: &str,
        pgn: Vec<u8>,
        from: &Chess,
        gone: &Gone,
    ) -> Result<ComparedGames, Refusal> {
        let colour = repertoire.colour;
        let mut compared = ComparedGames::default();
        let mut failed = None;
        let from = EvalKey::from_position(from);
        let mut count = |winner: Option<Option<Color>>, positions: &[Chess], moves: &[Move]| {
            let is_from = |position| EvalKey::from_position(position) == from;
            let Some(first) = positions
                .iter()
                .position(is_from)
                .filter(|_| !gone.is_gone())
            else {
                return;
            };
            let half_points =
                winner.map(|winner| winner.map_or(1, |side| 2 * u8::from(side == colour)));
            let left = repertoire.left_by_game((positions, moves));
            match left.and_then(|left| Ok((left, repertoire.undecided(positions)?))) {
                Ok((departure, plies)) => {
                    let departure = departure.filter(|left| left.moves.len() >= first);
                    compared.games.push((departure, half_points));
                    let lines = plies.iter().filter_map(|ply| moves.get(..*ply));
                    compared.undecided.extend(lines.map(<[Move]>::to_vec));
                }
                Err(error) => failed = Some(error),
            }
        };
        let (mut others, mut unread) = (0, 0);
        if pgn.is_empty() {
            for known in open.games.indexes() {
                let index = known.current();
                let names = known.names_of_player(&index, name).map_err(unreadable)?;
                each_game(
                    &index,
                    &names,
                    colour,
                    MOST_PLIES,
                    |_, facts, positions, moves| {
                        count(Some(facts.winner), positions, moves);
                    },
                )
                .map_err(unreadable)?;
            }
        } else {
            let text = Box::new(Cursor::new(pgn));
            let mut source = PgnSource::new("", text, Arc::default());
            let wanted = GameParts::default().up_to(MOST_PLIES);
            let mut game = Game::default();
            while let Some(mut batch) = source
                .next_batch()
                .map_err(|error| bad(error.to_string()))?
            {
                loop {
                    if gone.is_gone() {
                        return Err(nobody_waits());
                    }
                    match batch.next_game(wanted, &mut game) {
                        Ok(false) => break,
                        Err(_) => unread += 1,
                        Ok(true) if !is_of_player(game.names.get(colour), name) => others += 1,
                        Ok(true) => {
                            let winner = match game.result {
                                // A forfeit says nothing about the moves.
                                _ if game.conditions.forfeited => None,
                                GameResult::Won(winner) => Some(Some(winner)),
                                GameResult::Draw => Some(None),
                                GameResult::Unknown => None,
                            };
                            count(winner, &game.positions, &game.moves);
                        }
                    }
                }
            }
        }
        if gone.is_gone() {
            return Err(nobody_waits());
        }
        match failed {
            Some(error) => Err(unreadable(error)),
            None => Ok(ComparedGames {
                others,
                unread,
                ..compared
            }),
        }
    }
}

/// Departures in the games of a PGN text; if it is empty, of the indexes.
pub(super) fn departures(
    open: &OpenBooks,
    settings: &Options,
    query: &Query,
    body: &[u8],
    gone: &Gone,
) -> Answer {
    let (name, colour) = question::player(query).map_err(bad)?;
    let (pgn, moves) = parse_body(body)?;
    let request = read_request(open, settings, query, colour, moves)?;
    let repertoire = request.repertoire();
    let start = Chess::default();
    let ComparedGames {
        games,
        others,
        unread,
        undecided,
    } = ComparedGames::read(open, repertoire, name, pgn, &start, gone)?;
    if games.is_empty() {
        return Err(bad(translatable!(
            "no game of {0} with this colour was found",
            name
        )));
    }
    let by = |by| {
        let is_by = |(left, _): &&(Option<GameDeparture>, _)| {
            left.as_ref().is_some_and(|left| left.by == by)
        };
        games.iter().filter(is_by).count() as u64
    };
    Ok(json(&Departures {
        games: games.len() as u64,
        others,
        unread,
        left_by_player: by(LeftBy::Player),
        left_by_opponent: by(LeftBy::Opponent),
        unanswered: by(LeftBy::Book),
        departures: {
            let left = games.into_iter();
            let left = left.filter_map(|(left, points)| Some((left?, points)));
            repertoire.sum(left, MOST).map_err(unreadable)?
        },
        several: {
            let lines = undecided.iter().map(Vec::as_slice);
            repertoire.sum_undecided(lines, MOST).map_err(unreadable)?
        },
    }))
}
