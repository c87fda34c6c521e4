//! Requests that change a book.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move, Position as _};

use super::books::ExploredBook;
use super::edit::{Change, ChangeKind, Edits, History, MarkerError, failed, read_change};
use super::explorer::Explorer;
use super::line;
use super::message::{Message, message};
use super::reply::{Refusal, bad, json};
use tabia_book::{Lookup, Wanted};
use tabia_notation::{self as notation, Line};

/// Greatest number of lines that a request may add.
const MOST_LINES: usize = 500;

/// A request to mark a move, or all moves of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditRequest {
    book: usize,
    #[serde(default)]
    fen: Option<String>,
    #[serde(default)]
    play: String,
    #[serde(default)]
    uci: String,
    /// The moves of the line to mark, instead of the move `uci` after the line.
    #[serde(default)]
    along: Option<Along>,
    change: String,
    value: String,
    /// The values that the page showed when the change was made.
    #[serde(default)]
    seen: Option<String>,
    #[serde(default)]
    client: String,
}

/// The side whose moves of a line are marked.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Along {
    White,
    Black,
    Both,
}

/// A request to add lines to a book.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddRequest {
    book: usize,
    #[serde(default)]
    fen: Option<String>,
    lines: Vec<AddedLine>,
    #[serde(default)]
    client: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddedLine {
    play: String,
    /// Annotations: the index of the move, from 0, and the NAG number.
    #[serde(default)]
    signs: Vec<(usize, u8)>,
}

/// A request to delete a move, or only the positions after it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveRequest {
    book: usize,
    /// The moves from the standard start position, up to the one to delete.
    play: String,
    /// Keep the move, and delete only what follows it.
    #[serde(default)]
    below: bool,
    #[serde(default)]
    client: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoRequest {
    book: usize,
    #[serde(default)]
    client: String,
}

#[derive(Serialize)]
struct Edited {
    #[serde(flatten)]
    history: History,
    taken_back: Option<Message>,
}

impl Explorer {
    /// The book with this number, if it may be changed.
    fn editable(&self, number: usize) -> Result<Arc<ExploredBook>, Refusal> {
        if self.read_only {
            let reason = message!("the explorer was started read-only");
            return Err((StatusCode::FORBIDDEN, reason));
        }
        self.book(number)
    }

    pub(super) fn edit(&self, asked: &EditRequest) -> Result<Response<Bytes>, Refusal> {
        let book = &*self.editable(asked.book)?;
        let edits = edits_of(book)?;
        let line = line::read(asked.fen.as_deref(), Some(&asked.play)).map_err(bad)?;
        let most = edits.most_weight().unwrap_or(u16::MAX);
        let edit = read_change(&asked.change, &asked.value, most).map_err(bad)?;
        let (moves, name) = match asked.along {
            Some(side) => (moves_of(&line, side), line.to_string()),
            None => one_move(&line, &asked.uci).map_err(bad)?,
        };
        if moves.is_empty() {
            return Err(bad(message!("no move is named")));
        }
        let mut seen = match &asked.seen {
            Some(seen) => Some(read_change(&asked.change, seen, u16::MAX).map_err(bad)?),
            None => None,
        };
        if let Some(seen) = &mut seen
            && book.learns()
        {
            // The page shows a learn value that differs from the one in the file.
            seen.learn_value = None;
        }
        let what = named(&name, &asked.change, &asked.value);
        let kind = ChangeKind::Mark { moves, edit, seen };
        self.change(book, edits, &asked.client, kind, what)
    }

    pub(super) fn add(&self, asked: &AddRequest) -> Result<Response<Bytes>, Refusal> {
        let book = &*self.editable(asked.book)?;
        let edits = edits_of(book)?;
        if asked.lines.len() > MOST_LINES {
            return Err(bad(message!(
                "at most {0} lines are added at once",
                MOST_LINES
            )));
        }
        let mut lines = Vec::new();
        for added in &asked.lines {
            let line = line::read(asked.fen.as_deref(), Some(&added.play)).map_err(bad)?;
            if line.plies() == 0 || line.moves().count() != line.plies() {
                return Err(bad(message!("expected moves, and no null moves")));
            }
            let mut signs = added.signs.clone();
            signs.retain(|&(place, _)| place < line.plies());
            lines.push((line, signs));
        }
        let what = match lines.as_slice() {
            [] => return Err(bad(message!("no line is named"))),
            [(line, _)] => message!("added {0}", line.to_string()),
            lines => message!("added {0} lines", lines.len()),
        };
        self.change(book, edits, &asked.client, ChangeKind::Add(lines), what)
    }

    pub(super) fn remove(&self, asked: &RemoveRequest) -> Result<Response<Bytes>, Refusal> {
        let book = &*self.editable(asked.book)?;
        let edits = edits_of(book)?;
        let (lines, what) = removed(book, asked)?;
        self.change(book, edits, &asked.client, ChangeKind::Remove(lines), what)
    }

    /// Returns the number of positions that a deletion would remove.
    pub(super) fn count_removed(&self, asked: &RemoveRequest) -> Result<Response<Bytes>, Refusal> {
        #[derive(Serialize)]
        struct Counted {
            positions: u64,
        }
        let book = &*self.editable(asked.book)?;
        let edits = edits_of(book)?;
        let (lines, _) = removed(book, asked)?;
        let positions = edits
            .count_removed(&asked.client, &lines)
            .map_err(conflict)?;
        Ok(json(&Counted { positions }))
    }

    fn change(
        &self,
        book: &ExploredBook,
        edits: &Edits,
        client: &str,
        kind: ChangeKind,
        what: Message,
    ) -> Result<Response<Bytes>, Refusal> {
        let made = Change {
            client: client.to_owned(),
            kind,
            what,
        };
        edits.change(made).map_err(conflict)?;
        self.renewed(book, edits, client, None)
    }

    pub(super) fn take_back(&self, asked: &UndoRequest) -> Result<Response<Bytes>, Refusal> {
        let book = &*self.editable(asked.book)?;
        let edits = edits_of(book)?;
        let taken_back = edits.undo(&asked.client).map_err(conflict)?;
        self.renewed(book, edits, &asked.client, taken_back)
    }

    pub(super) fn do_again(&self, asked: &UndoRequest) -> Result<Response<Bytes>, Refusal> {
        let book = &*self.editable(asked.book)?;
        let edits = edits_of(book)?;
        edits.redo(&asked.client).map_err(conflict)?;
        self.renewed(book, edits, &asked.client, None)
    }

    fn renewed(
        &self,
        book: &ExploredBook,
        edits: &Edits,
        client: &str,
        taken_back: Option<Message>,
    ) -> Result<Response<Bytes>, Refusal> {
        book.renew()
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.into()))?;
        self.announce();
        let history = edits.history(client);
        Ok(json(&Edited {
            history,
            taken_back,
        }))
    }
}

/// The lines whose last moves are deleted, and the text that describes the change.
fn edits_of(book: &ExploredBook) -> Result<&Edits, Refusal> {
    let edits = book.edits();
    edits.ok_or_else(|| (StatusCode::FORBIDDEN, book.locked()))
}

fn removed(book: &ExploredBook, asked: &RemoveRequest) -> Result<(Vec<Line>, Message), Refusal> {
    let line = line::read(None, Some(&asked.play)).map_err(bad)?;
    let (lines, what) = if asked.below {
        let mut found = Lookup::default();
        book.current()
            .probe(line.last(), Wanted::Stored, &mut found)
            .map_err(|error| conflict(failed(error)))?;
        let longer = found.moves.iter().map(|known| {
            let mut longer = line.clone();
            longer.push(known.mv);
            longer
        });
        let longer: Vec<Line> = longer.collect();
        (longer, message!("deleted all after {0}", line.to_string()))
    } else {
        let what = message!("deleted {0}", line.to_string());
        (vec![line], what)
    };
    if lines.iter().all(|line| line.plies() == 0) {
        return Err(bad(message!("there is nothing to delete")));
    }
    Ok((lines, what))
}

/// The description of a change.
fn named(name: &str, change: &str, value: &str) -> Message {
    let value = Message::from(value);
    match change {
        "mark" => message!("{0}: mark {1}", name, value),
        "annotation" => message!("{0}: annotation {1}", name, value),
        "factor" => message!("{0}: factor {1}", name, value),
        "weight" => message!("{0}: weight {1}", name, value),
        _ => message!("{0}: commentary {1}", name, value),
    }
}

/// The move of a request, and its name.
fn one_move(line: &Line, uci: &str) -> Result<(Vec<(Chess, Move)>, String), Message> {
    let position = line.last();
    let mut played = Line::from_start(position.clone());
    played.extend(uci)?;
    let mv = played.moves().next().map(|(_, mv)| mv);
    let mv = mv.ok_or_else(|| message!("no move is named"))?;
    let name = notation::san(position, mv);
    Ok((vec![(position.clone(), mv)], name))
}

fn moves_of(line: &Line, side: Along) -> Vec<(Chess, Move)> {
    let is_meant = |turn: Color| match side {
        Along::Both => true,
        Along::White => turn.is_white(),
        Along::Black => turn.is_black(),
    };
    line.moves()
        .filter(|(position, _)| is_meant(position.turn()))
        .map(|(position, mv)| (position.clone(), mv))
        .collect()
}

fn conflict(error: MarkerError) -> Refusal {
    (StatusCode::CONFLICT, error.0)
}
