//! The lichess opening explorer API, answered from games indexes or from books.
//!
//! Answers have the form of the published API description (`OpeningExplorer*.yaml` of
//! lichess-org/api). As in that service, castling is written as the king taking the rook,
//! and unknown values as no games or rating 0. docs/explorer-server.md describes what
//! clients have to change.
//!
//! Read-only: nothing here changes a book.

mod answer;
mod books;
mod departures;
mod games;
pub(super) mod lists;
mod question;
pub(super) mod worklist;

use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::filter::Shape;
use super::open_books::OpenBooks;
use super::query::Query;
use super::reply::{Answer, PGN, Refusal, bad, json, nobody_waits, reply, unreadable};
use super::work::Gone;
use answer::Explored;
use question::Question;
use tabia_choice::settings::Options;

/// The header of an answer from a book without results, whose weights are given
/// as draws.
const WEIGHTS: HeaderName = HeaderName::from_static("x-tabia-results");

const LINES: &str = "application/x-ndjson";

/// Greatest number of positions in a batch.
const MOST_POSITIONS: usize = 5000;

/// The meaning of a path of the opening explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint<'p> {
    /// The moves of a position and games with it, in the form of a database.
    Explore(Shape),
    /// The game with this identifier.
    Pgn(&'p str),
    /// Many positions at once.
    Batch,
    /// Where a player's games left a book.
    Departures,
    /// Positions without an answer in a book.
    Coverage,
    Monitor,
}

impl<'p> Endpoint<'p> {
    pub(super) fn from_path(path: &'p str) -> Option<Endpoint<'p>> {
        Some(match path {
            "/masters" | "/master" => Endpoint::Explore(Shape::Masters),
            "/lichess" => Endpoint::Explore(Shape::Lichess),
            "/lichess/history" => Endpoint::Explore(Shape::History),
            "/lichess/batch" => Endpoint::Batch,
            "/player" | "/personal" => Endpoint::Explore(Shape::Player),
            "/departures" => Endpoint::Departures,
            "/coverage" => Endpoint::Coverage,
            "/monitor" => Endpoint::Monitor,
            _ => {
                let masters = path.strip_prefix("/masters/pgn/");
                Endpoint::Pgn(masters.or_else(|| path.strip_prefix("/master/pgn/"))?)
            }
        })
    }
}

/// The data for the answers.
pub(super) struct Api<'e> {
    pub(super) open: &'e OpenBooks,
    pub(super) settings: &'e Options,
    pub(super) gone: Gone,
}

impl Api<'_> {
    /// Answers a request; `body` has the positions of a batch, or games.
    pub(super) fn answer(&self, endpoint: Endpoint<'_>, query: &Query, body: &[u8]) -> Answer {
        match endpoint {
            Endpoint::Explore(Shape::Player) => self.player(query),
            Endpoint::Explore(shape) => self.position(query, shape),
            Endpoint::Pgn(name) => self.pgn(name),
            Endpoint::Batch => self.batch(query, body),
            Endpoint::Coverage => departures::coverage(self.open, self.settings, query, body),
            Endpoint::Departures => {
                departures::departures(self.open, self.settings, query, body, &self.gone)
            }
            // In the format of InfluxDB, as in the lichess service.
            Endpoint::Monitor => Ok(reply(
                StatusCode::OK,
                "text/plain; charset=utf-8",
                format!("opening_explorer books={}u\n", self.open.books().len()).into(),
            )),
        }
    }

    fn position(&self, query: &Query, shape: Shape) -> Answer {
        let question = Question::read(query, shape, None).map_err(bad)?;
        let explored = self.explore(&question)?;
        let mut response = json(&explored);
        set_headers(&mut response, explored.has_weights);
        Ok(response)
    }

    /// Whether an answer may be cached: those from games, because openings are expensive
    /// and requested again and again.
    pub(super) fn is_cacheable(&self, endpoint: Endpoint<'_>, query: &Query) -> bool {
        matches!(endpoint, Endpoint::Explore(shape) if shape != Shape::Player)
            && !self.open.games.is_empty()
            && query.get("book").is_none()
    }

    fn explore(&self, question: &Question) -> Result<Explored, Refusal> {
        if question.book.is_none() && !self.open.games.is_empty() {
            let explored = games::explore(&self.open.games, question, self.settings);
            return explored.map_err(unreadable);
        }
        let books = match question.book {
            None => self
                .open
                .books()
                .iter()
                .map(|book| book.current())
                .collect(),
            Some(number) => vec![books::numbered(self.open, number)?],
        };
        books::explore(&books, question, self.settings).map_err(unreadable)
    }

    fn player(&self, query: &Query) -> Answer {
        let question = Question::read(query, Shape::Player, None).map_err(bad)?;
        let (name, color) = question::player(query).map_err(bad)?;
        let explored = match question.book.is_none() && !self.open.games.is_empty() {
            true => {
                let found = games::player(&self.open.games, &question, name, color, self.settings);
                found.map_err(unreadable)?
            }
            // Treated as a book of that player.
            false => self.explore(&question)?,
        };
        // One line is a complete stream, also for clients that read it as one text.
        let mut response = reply(StatusCode::OK, LINES, json_line(&explored).into());
        set_headers(&mut response, explored.has_weights);
        Ok(response)
    }

    fn pgn(&self, name: &str) -> Answer {
        let text = self.open.games.pgn(name).map_err(unreadable)?;
        let text = text.ok_or_else(|| (StatusCode::NOT_FOUND, "game not found".into()))?;
        Ok(reply(StatusCode::OK, PGN, text.into()))
    }

    /// Answers many positions, one line for each.
    fn batch(&self, query: &Query, body: &[u8]) -> Answer {
        let positions = parse_batch(body).map_err(bad)?;
        let mut lines = Vec::new();
        let mut any_weights = false;
        for fen in &positions {
            if self.gone.is_gone() {
                return Err(nobody_waits());
            }
            let question = Question::read(query, Shape::Lichess, Some(fen)).map_err(bad);
            match question.and_then(|question| self.explore(&question)) {
                Ok(explored) => {
                    any_weights |= explored.has_weights;
                    lines.extend(json_line(&explored));
                }
                Err((_, error)) => lines.extend(json_line(
                    &serde_json::json!({ "error": error.to_string() }),
                )),
            }
        }
        let mut response = reply(StatusCode::OK, LINES, lines.into());
        set_headers(&mut response, any_weights);
        Ok(response)
    }
}

/// The positions of a batch: a JSON list of FENs, an object with one as `fens`, or one
/// FEN on each line.
fn parse_batch(body: &[u8]) -> Result<Vec<String>, String> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Positions {
        List(Vec<String>),
        Named { fens: Vec<String> },
    }
    let text = std::str::from_utf8(body).map_err(|_| "the body is not UTF-8".to_owned())?;
    let positions = match text.trim_start().starts_with(['[', '{']) {
        true => match serde_json::from_str(text) {
            Ok(Positions::List(fens) | Positions::Named { fens }) => fens,
            Err(_) => return Err("the body: expected a list of FENs".to_owned()),
        },
        false => {
            let lines = text.lines().map(str::trim);
            lines
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect()
        }
    };
    match positions.len() {
        0 => Err("the body contains no position".to_owned()),
        more if more > MOST_POSITIONS => Err(format!("at most {MOST_POSITIONS} positions at once")),
        _ => Ok(positions),
    }
}

/// A line of JSON.
fn json_line(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Adds the header for weights in place of results, and for streams one that prevents
/// buffering in proxies.
fn set_headers(response: &mut Response<Bytes>, has_weights: bool) {
    if has_weights {
        let words = HeaderValue::from_static("weights-as-draws");
        response.headers_mut().insert(WEIGHTS, words);
    }
    let accel = HeaderName::from_static("x-accel-buffering");
    if response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == LINES)
    {
        response
            .headers_mut()
            .insert(accel, HeaderValue::from_static("no"));
    }
}
