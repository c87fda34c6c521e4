//! Requests that change a book.

use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move, Position as _};

use super::books::ExploredBook;
use super::edit::{Change, EditHistory, EditKind, RecordedChange, Undoable, failed, parse_edit};
use super::line;
use super::message::{Message, translatable};
use super::open_books::OpenBooks;
use super::reply::{Answer, Refusal, bad, json};
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
    change: EditKind,
    value: String,
    /// The values that the page showed when the change was made.
    #[serde(default)]
    seen: Option<String>,
    #[serde(default)]
    client: String,
    /// Changes of one gesture, as of a slider that is moved by keys, are undone together.
    #[serde(default)]
    gesture: Option<String>,
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

/// The answer to a change: what the page can undo and redo now.
#[derive(Serialize)]
struct Edited {
    #[serde(flatten)]
    undoable: Undoable,
    /// The change that was undone.
    taken_back: Option<Message>,
    /// Whether a change was made that undo takes back alone.
    is_step: bool,
}

/// Marks moves.
pub(super) fn edit(open: &OpenBooks, request: &EditRequest) -> Answer {
    let book = open.editable(request.book)?;
    let history = history_of(&book)?;
    let line = line::read(request.fen.as_deref(), Some(&request.play)).map_err(bad)?;
    let most = history.most_weight().unwrap_or(u16::MAX);
    let edit = parse_edit(request.change, &request.value, most).map_err(bad)?;
    let (moves, name) = match request.along {
        Some(side) => (moves_of(&line, side), line.to_string()),
        None => move_after(&line, &request.uci).map_err(bad)?,
    };
    if moves.is_empty() {
        return Err(bad(translatable!("no move was given")));
    }
    let seen = request.seen.as_ref();
    let seen = seen.map(|seen| parse_edit(request.change, seen, u16::MAX));
    let mut seen = seen.transpose().map_err(bad)?;
    if let Some(seen) = &mut seen
        && book.learns()
    {
        // The page shows a learn value that differs from the one in the file.
        seen.learn_value = None;
    }
    let description = request.change.description(name, &request.value);
    let step = RecordedChange {
        client: request.client.clone(),
        change: Change::Mark { moves, edit, seen },
        description,
        gesture: request.gesture.clone(),
    };
    make(open, &book, step)
}

/// Adds lines.
pub(super) fn add(open: &OpenBooks, request: &AddRequest) -> Answer {
    let book = open.editable(request.book)?;
    if request.lines.len() > MOST_LINES {
        return Err(bad(translatable!(
            "at most {0} lines are added at once",
            MOST_LINES
        )));
    }
    let mut lines = Vec::new();
    for added in &request.lines {
        let line = line::read(request.fen.as_deref(), Some(&added.play)).map_err(bad)?;
        if line.plies() == 0 || line.moves().count() != line.plies() {
            return Err(bad(translatable!("expected moves, and no null moves")));
        }
        let mut annotations = added.signs.clone();
        annotations.retain(|&(index, _)| index < line.plies());
        lines.push((line, annotations));
    }
    let description = match lines.as_slice() {
        [] => return Err(bad(translatable!("no line was given"))),
        [(line, _)] => translatable!("added {0}", line.to_string()),
        lines => translatable!("added {0} lines", lines.len()),
    };
    let step = RecordedChange {
        client: request.client.clone(),
        change: Change::Add(lines),
        description,
        gesture: None,
    };
    make(open, &book, step)
}

/// Deletes a move, or what follows it.
pub(super) fn remove(open: &OpenBooks, request: &RemoveRequest) -> Answer {
    let book = open.editable(request.book)?;
    let (lines, description) = lines_to_remove(&book, request)?;
    let step = RecordedChange {
        client: request.client.clone(),
        change: Change::Remove(lines),
        description,
        gesture: None,
    };
    make(open, &book, step)
}

/// Returns the number of positions that a deletion would remove.
pub(super) fn count_removed(open: &OpenBooks, request: &RemoveRequest) -> Answer {
    #[derive(Serialize)]
    struct Counted {
        positions: u64,
    }
    let book = open.editable(request.book)?;
    let history = history_of(&book)?;
    let (lines, _) = lines_to_remove(&book, request)?;
    let positions = history.count_removed(&request.client, &lines);
    let positions = positions.map_err(conflict)?;
    Ok(json(&Counted { positions }))
}

fn make(open: &OpenBooks, book: &ExploredBook, step: RecordedChange) -> Answer {
    let client = step.client.clone();
    let is_step = history_of(book)?.change(step).map_err(conflict)?;
    reload_edited(open, book, &client, None, is_step)
}

/// Undoes a page's last change.
pub(super) fn undo(open: &OpenBooks, request: &UndoRequest) -> Answer {
    let book = open.editable(request.book)?;
    let undone = history_of(&book)?.undo(&request.client).map_err(conflict)?;
    reload_edited(open, &book, &request.client, undone, false)
}

/// Makes the change again that the page has undone last.
pub(super) fn redo(open: &OpenBooks, request: &UndoRequest) -> Answer {
    let book = open.editable(request.book)?;
    let redone = history_of(&book)?.redo(&request.client).map_err(conflict)?;
    reload_edited(open, &book, &request.client, None, redone)
}

/// Reopens a changed book, notifies pages, and answers.
fn reload_edited(
    open: &OpenBooks,
    book: &ExploredBook,
    client: &str,
    taken_back: Option<Message>,
    is_step: bool,
) -> Answer {
    book.reopen()
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string().into()))?;
    open.announce();
    let undoable = history_of(book)?.undoable(client);
    Ok(json(&Edited {
        undoable,
        taken_back,
        is_step,
    }))
}

fn history_of(book: &ExploredBook) -> Result<&EditHistory, Refusal> {
    let history = book.history();
    history.map_err(|reason| (StatusCode::FORBIDDEN, reason.clone()))
}

/// The lines whose last moves are deleted, and the description of the change.
fn lines_to_remove(
    book: &ExploredBook,
    request: &RemoveRequest,
) -> Result<(Vec<Line>, Message), Refusal> {
    let line = line::read(None, Some(&request.play)).map_err(bad)?;
    let (lines, description) = if request.below {
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
        (
            longer,
            translatable!("deleted all after {0}", line.to_string()),
        )
    } else {
        let description = translatable!("deleted {0}", line.to_string());
        (vec![line], description)
    };
    if lines.iter().all(|line| line.plies() == 0) {
        return Err(bad(translatable!("there is nothing to delete")));
    }
    Ok((lines, description))
}

/// A move after a line, in its position, and its name.
fn move_after(line: &Line, uci: &str) -> Result<(Vec<(Chess, Move)>, String), Message> {
    let position = line.last();
    let mut played = Line::from_start(position.clone());
    played.extend(uci)?;
    let mv = played.moves().next().map(|(_, mv)| mv);
    let mv = mv.ok_or_else(|| translatable!("no move was given"))?;
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

fn conflict(error: Message) -> Refusal {
    (StatusCode::CONFLICT, error)
}
