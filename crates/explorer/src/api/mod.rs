//! The lichess opening explorer: its requests, answered from games indexes or
//! from books.
//!
//! The shape is that of the published description of its API
//! (`OpeningExplorer*.yaml` of lichess-org/api); castling is written as the king
//! taking the rook, as that service does. What is not known is said as that
//! service says "nothing": no games, no rating (0). docs/explorer-server.md says
//! what clients have to change.
//!
//! Reading only: nothing here changes a book.

mod answer;
mod books;
mod games;
mod performance;
mod question;

use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};

pub use games::Games;

use super::books::{ExploredBook, Open};
use super::query::Query;
use super::reply::{Refusal, bad, json, reply, unreadable};
use answer::Explored;
use question::{Question, Shape};
use tabia_adapter::settings::Settings;

/// What takes many positions at once.
const BATCH: &str = "/lichess/batch";

/// Paths before the name of a game.
const PGN: [&str; 2] = ["/masters/pgn/", "/master/pgn/"];

/// Says that a book knows no results: its weights stand as draws.
const WEIGHTS: HeaderName = HeaderName::from_static("x-tabia-results");

const LINES: &str = "application/x-ndjson";

/// Positions of one batch.
const MOST_POSITIONS: usize = 5000;

/// Whether a path is one of the opening explorer's.
pub(super) fn is_here(path: &str) -> bool {
    shape(path).is_some() || path == BATCH || pgn_name(path).is_some() || path == "/monitor"
}

/// Whether a path takes POST.
pub(super) fn takes_post(path: &str) -> bool {
    path == BATCH
}

fn shape(path: &str) -> Option<Shape> {
    Some(match path {
        "/masters" | "/master" => Shape::Masters,
        "/lichess" => Shape::Lichess,
        "/lichess/history" => Shape::History,
        "/player" | "/personal" => Shape::Player,
        _ => return None,
    })
}

/// The name of the game that a path asks for.
fn pgn_name(path: &str) -> Option<&str> {
    PGN.iter().find_map(|start| path.strip_prefix(start))
}

/// What answers.
pub(super) struct Api<'e> {
    pub(super) books: &'e [ExploredBook],
    pub(super) games: &'e Games,
    pub(super) settings: &'e Settings,
}

impl Api<'_> {
    /// Answers a GET of one of its paths.
    pub(super) fn read(&self, path: &str, query: &Query) -> Result<Response<Bytes>, Refusal> {
        if let Some(name) = pgn_name(path) {
            return self.pgn(name);
        }
        match shape(path) {
            Some(Shape::Player) => self.player(query),
            Some(shape) => {
                let question = Question::read(query, shape, None).map_err(bad)?;
                let (explored, weights) = self.answer(&question)?;
                let mut response = json(&explored);
                declare(weights, &mut response);
                Ok(response)
            }
            None if path == BATCH => {
                Err((StatusCode::METHOD_NOT_ALLOWED, "this takes POST".to_owned()))
            }
            // In the form of InfluxDB, as there.
            None => Ok(reply(
                StatusCode::OK,
                "text/plain; charset=utf-8",
                format!("opening_explorer books={}u\n", self.books.len()).into(),
            )),
        }
    }

    /// Whether an answer may be given again as it was: those of games, of which
    /// the openings cost much and are asked for again and again.
    pub(super) fn is_kept(&self, path: &str, query: &Query) -> bool {
        let is_json = shape(path).is_some_and(|shape| shape != Shape::Player);
        is_json && !self.games.is_empty() && query.get("book").is_none()
    }

    /// The books that are asked, as they are now.
    fn books(&self, number: Option<usize>) -> Result<Vec<Open>, Refusal> {
        match number {
            None => Ok(self.books.iter().map(ExploredBook::current).collect()),
            Some(number) => match self.books.get(number) {
                Some(book) => Ok(vec![book.current()]),
                None => Err(bad(format!("book: there are {}, from 0", self.books.len()))),
            },
        }
    }

    /// The answer, and whether weights stand for results in it.
    fn answer(&self, question: &Question) -> Result<(Explored, bool), Refusal> {
        if question.book.is_none() && !self.games.is_empty() {
            let explored = self.games.explore(question, self.settings);
            return Ok((explored.map_err(unreadable)?, false));
        }
        let books = self.books(question.book)?;
        let found = books::explore(&books, question, self.settings).map_err(unreadable)?;
        Ok((found.explored, found.weights))
    }

    fn player(&self, query: &Query) -> Result<Response<Bytes>, Refusal> {
        let question = Question::read(query, Shape::Player, None).map_err(bad)?;
        let (name, color) = question::player(query).map_err(bad)?;
        let (explored, weights) = match question.book.is_none() && !self.games.is_empty() {
            true => {
                let found = self.games.player(&question, name, color, self.settings);
                (found.map_err(unreadable)?, false)
            }
            // Taken for a book of that player.
            false => self.answer(&question)?,
        };
        // One line is a whole stream: also for those who read it as one text.
        let mut response = reply(StatusCode::OK, LINES, line(&explored).into());
        declare(weights, &mut response);
        Ok(response)
    }

    fn pgn(&self, name: &str) -> Result<Response<Bytes>, Refusal> {
        let text = self.games.pgn(name).map_err(unreadable)?;
        let text =
            text.ok_or_else(|| (StatusCode::NOT_FOUND, "there is no such game".to_owned()))?;
        Ok(reply(
            StatusCode::OK,
            "application/x-chess-pgn",
            text.into(),
        ))
    }

    /// Answers many positions: a line for each.
    pub(super) fn write(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Refusal> {
        let query = Query::read(request.uri().query().unwrap_or_default());
        let positions = batch(request.body()).map_err(bad)?;
        let mut lines = Vec::new();
        let mut any_weights = false;
        for fen in &positions {
            let asked = Question::read(&query, Shape::Lichess, Some(fen)).map_err(bad);
            match asked.and_then(|question| self.answer(&question)) {
                Ok((explored, weights)) => {
                    any_weights |= weights;
                    lines.extend(line(&explored));
                }
                Err((_, error)) => lines.extend(line(&serde_json::json!({ "error": error }))),
            }
        }
        let mut response = reply(StatusCode::OK, LINES, lines.into());
        declare(any_weights, &mut response);
        Ok(response)
    }
}

/// The positions of a batch: a JSON list of FENs, an object with one under
/// `fens`, or a FEN a line.
fn batch(body: &[u8]) -> Result<Vec<String>, String> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Positions {
        List(Vec<String>),
        Named { fens: Vec<String> },
    }
    let text = std::str::from_utf8(body).map_err(|_| "the body is no UTF-8".to_owned())?;
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
        0 => Err("the body names no position".to_owned()),
        MOST_POSITIONS.. => Err(format!("at most {MOST_POSITIONS} positions at once")),
        _ => Ok(positions),
    }
}

/// A line of JSON.
fn line(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Says what the numbers mean where they are no results.
fn declare(weights: bool, response: &mut Response<Bytes>) {
    if weights {
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
