//! Everything the page shows about one position.

use serde::Serialize;
use shakmaty::{Chess, Color, Position};

use super::books::{ExploredBook, Open};
use super::openings::{self, Opening};
use crate::book::{Error, Stats};
use crate::consult::{Consulted, DECIDING, consult};
use crate::notation::{self, Line};
use crate::settings::Settings;
use crate::view::MoveView;

/// The answer about a position.
#[derive(Serialize)]
pub(super) struct PositionView {
    fen: String,
    /// Where the line begins, if not in the usual position.
    start: Option<String>,
    /// How many moves of the line have been played.
    at: usize,
    turn: &'static str,
    fullmove: u32,
    check: bool,
    /// `checkmate`, `stalemate` or nothing.
    end: Option<&'static str>,
    opening: Option<Opening>,
    line: Vec<Named>,
    legal: Vec<Named>,
    options: Vec<OptionView>,
    books: Vec<BookView>,
}

/// A move by both its names.
#[derive(Serialize)]
struct Named {
    uci: String,
    san: String,
}

#[derive(Serialize)]
struct OptionView {
    name: &'static str,
    value: String,
}

/// What one book says.
#[derive(Serialize)]
pub(super) struct BookView {
    book: usize,
    name: String,
    /// Why there is nothing, when the book cannot be read.
    error: Option<String>,
    in_book: bool,
    games: u32,
    white: u32,
    draws: u32,
    black: u32,
    commentary: u8,
    moves: Vec<ColouredMove>,
    /// Whether it can be changed.
    editable: bool,
    /// How many changes can be taken back, and the last one.
    undo: usize,
    last_change: Option<String>,
}

/// A move: the fields of `tabia probe --json`, and results by colour.
#[derive(Serialize)]
struct ColouredMove {
    white: u32,
    black: u32,
    #[serde(flatten)]
    mv: MoveView,
}

/// Looks a line's position after `at` plies up in some books.
pub(super) fn view(
    books: &[(usize, &ExploredBook)],
    line: &Line,
    at: usize,
    settings: &Settings,
    writable: bool,
) -> PositionView {
    let walked = line.up_to(at);
    let position = walked.last();
    let legal = position.legal_moves();
    let start = Some(line.start()).filter(|&start| *start != Chess::default());
    PositionView {
        fen: notation::fen(position),
        start: start.map(notation::fen),
        at: walked.plies(),
        turn: name_of(position.turn()),
        fullmove: position.fullmoves().get(),
        check: position.is_check(),
        end: match (legal.is_empty(), position.is_check()) {
            (true, true) => Some("checkmate"),
            (true, false) => Some("stalemate"),
            _ => None,
        },
        opening: openings::of_line(walked.positions()),
        line: line.steps().map(|(at, mv)| named(at, mv)).collect(),
        legal: legal.iter().map(|&mv| named(position, Some(mv))).collect(),
        options: DECIDING
            .map(|id| OptionView {
                name: id.spec().name,
                value: settings.display(id),
            })
            .into(),
        books: books
            .iter()
            .map(|&(number, book)| book_view(number, book, &walked, settings, writable))
            .collect(),
    }
}

fn named(position: &Chess, mv: Option<shakmaty::Move>) -> Named {
    Named {
        uci: notation::uci_or_null(mv),
        san: notation::san_or_null(position, mv),
    }
}

const fn name_of(colour: Color) -> &'static str {
    match colour {
        Color::White => "white",
        Color::Black => "black",
    }
}

fn book_view(
    number: usize,
    book: &ExploredBook,
    walked: &Line,
    settings: &Settings,
    writable: bool,
) -> BookView {
    let open = book.current();
    let position = walked.last();
    let (found, error) = match look_up(&open, walked, settings) {
        Ok(found) => (found, None),
        Err(error) => (Consulted::default(), Some(error.to_string())),
    };
    let seen = found.view(position);
    let turn = position.turn();
    let (white, black) = coloured(turn, seen.wins, seen.losses);
    let (undo, last_change) = book.desk().map(|desk| desk.last()).unwrap_or_default();
    BookView {
        book: number,
        name: book.name().to_owned(),
        error,
        in_book: seen.in_book,
        games: seen.games,
        white,
        draws: seen.draws,
        black,
        commentary: seen.commentary,
        moves: seen
            .moves
            .into_iter()
            .map(|mv| {
                let (white, black) = coloured(turn, mv.wins, mv.losses);
                ColouredMove { white, black, mv }
            })
            .collect(),
        editable: writable && book.desk().is_some(),
        undo,
        last_change,
    }
}

/// Wins of White and of Black, from those of the side `own`.
pub(super) const fn by_colour(stats: &Stats, own: Color) -> (u32, u32) {
    coloured(own, stats.wins, stats.losses)
}

const fn coloured(own: Color, wins: u32, losses: u32) -> (u32, u32) {
    match own {
        Color::White => (wins, losses),
        Color::Black => (losses, wins),
    }
}

/// Asks a book about the last position of a line, as the adapter would in a
/// game of this line.
pub(super) fn look_up(book: &Open, walked: &Line, settings: &Settings) -> Result<Consulted, Error> {
    consult(book.as_ref(), walked.last(), walked.before(), settings)
}
