//! The answer with everything that the page shows about one position.

use serde::Serialize;
use shakmaty::{Chess, Color, Move, Position};

use std::sync::Arc;

use super::api::GamesFilter;
use super::books::{Content, ExploredBook, look_up};
use super::edit::{EditHistory, Undoable};
use super::message::{Message, message};
use super::openings::{self, Opening};
use super::plot;
use tabia_adapter::settings::DECIDING;
use tabia_adapter::settings::Settings;
use tabia_book::Preference;
use tabia_book::policy::{Choice, Rejection};
use tabia_book::view::MoveView;
use tabia_notation::{self as notation, Line, Results};

/// The answer about a position.
#[derive(Serialize)]
pub(super) struct PositionView {
    /// What is invalid in the request, in one sentence.
    problem: Option<Message>,
    fen: String,
    /// The first position of the line, if not the standard one.
    start: Option<String>,
    /// Number of moves of the line that have been played.
    at: usize,
    turn: &'static str,
    fullmove: u32,
    check: bool,
    /// `checkmate`, `stalemate` or nothing.
    end: Option<&'static str>,
    opening: Option<Opening>,
    line: Vec<Named>,
    legal: Vec<LegalMove>,
    /// The likeliest moves of the first book, one after another.
    ahead: Vec<Named>,
    options: Vec<OptionView>,
    books: Vec<BookView>,
    /// Number of open books.
    open: usize,
    /// The number of book changes when the answer was made.
    changes: u64,
}

/// A move in both notations.
#[derive(Serialize)]
pub(super) struct Named {
    uci: String,
    san: String,
}

/// A legal move.
#[derive(Serialize)]
struct LegalMove {
    #[serde(flatten)]
    named: Named,
    /// The square of the castling rook, where the king may be dropped, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    rook: Option<String>,
}

#[derive(Serialize)]
struct OptionView {
    name: &'static str,
    value: String,
}

/// The values of one book.
#[derive(Serialize)]
pub(super) struct BookView {
    book: usize,
    name: String,
    /// The error, if the book cannot be read.
    error: Option<String>,
    /// Whether game filters apply to it, and a message about its games.
    has_games: bool,
    notice: Option<Message>,
    in_book: bool,
    games: u32,
    white: Option<u64>,
    draws: Option<u64>,
    black: Option<u64>,
    commentary: u8,
    moves: Vec<ColouredMove>,
    /// Whether it can be changed, and why not.
    editable: bool,
    locked: Option<Message>,
    /// The greatest weight, if only the weights of moves can be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_weight: Option<u16>,
    /// How many changes can be undone, and the last one.
    #[serde(flatten)]
    undoable: Undoable,
}

/// A move: the fields of `tabia probe --json`, and results by colour.
#[derive(Serialize)]
struct ColouredMove {
    /// `None` if the book has no results.
    white: Option<u64>,
    black: Option<u64>,
    /// The name of the position after it, if that has its own name.
    opening: Option<Opening>,
    /// Why it is not played, as a message for the page.
    reason: Option<Message>,
    #[serde(flatten)]
    mv: MoveView,
}

/// The parameters of a view.
pub(super) struct Question<'a> {
    pub(super) line: &'a Line,
    /// Number of moves of the line that have been played.
    pub(super) at: usize,
    pub(super) settings: &'a Settings,
    /// The page that sends the request.
    pub(super) client: &'a str,
    pub(super) writable: bool,
    /// Number of likeliest next moves to return.
    pub(super) ahead: usize,
    pub(super) problem: Option<Message>,
    /// Filter for the games of indexes.
    pub(super) filter: &'a GamesFilter,
    pub(super) open: usize,
    /// See [`PositionView::changes`].
    pub(super) changes: u64,
}

/// Looks up the position of a line in some books.
pub(super) fn view(books: &[(usize, Arc<ExploredBook>)], asked: Question<'_>) -> PositionView {
    let line = asked.line;
    let walked = line.up_to(asked.at);
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
        legal: legal.iter().map(|&mv| legal_move(position, mv)).collect(),
        ahead: books
            .first()
            .and_then(|(_, book)| book.under(asked.filter).ok())
            .map(|book| ahead(&book, &walked, &asked))
            .unwrap_or_default(),
        options: DECIDING
            .map(|id| OptionView {
                name: id.spec().name,
                value: asked.settings.display(id),
            })
            .into(),
        books: books
            .iter()
            .map(|(number, book)| book_view(*number, book, &walked, &asked))
            .collect(),
        problem: asked.problem,
        open: asked.open,
        changes: asked.changes,
    }
}

/// The likeliest next moves, so that a page can show them before the next answer.
fn ahead(book: &Content, walked: &Line, asked: &Question<'_>) -> Vec<Named> {
    let Ok(points) = plot::ahead(book, walked, asked.settings, asked.ahead) else {
        return Vec::new();
    };
    points
        .steps()
        .skip(walked.plies())
        .map(|(at, mv)| named(at, mv))
        .collect()
}

/// The names of successive moves.
pub(super) fn named_from(position: &Chess, moves: &[Move]) -> Vec<Named> {
    let mut line = Line::from_start(position.clone());
    moves.iter().for_each(|&mv| line.push(mv));
    line.steps().map(|(at, mv)| named(at, mv)).collect()
}

fn named(position: &Chess, mv: Option<Move>) -> Named {
    Named {
        uci: mv.map_or_else(|| notation::uci_or_null(None), |mv| uci(position, mv)),
        san: notation::san_or_null(position, mv),
    }
}

/// In Chess960 positions castling is written as the king taking the rook, because the
/// usual castling move of the king may be an ordinary move.
pub(super) fn uci(position: &Chess, mv: Move) -> String {
    mv.to_uci(position.castles().mode()).to_string()
}

fn legal_move(position: &Chess, mv: Move) -> LegalMove {
    LegalMove {
        named: named(position, Some(mv)),
        rook: mv.is_castle().then(|| mv.to().to_string()),
    }
}

const fn name_of(colour: Color) -> &'static str {
    match colour {
        Color::White => "white",
        Color::Black => "black",
    }
}

fn book_view(number: usize, book: &ExploredBook, walked: &Line, asked: &Question<'_>) -> BookView {
    let position = walked.last();
    let open = book.under(asked.filter);
    let notice = open.as_ref().ok().and_then(|open| open.1.notice.clone());
    let found = open.and_then(|open| {
        let found = look_up(&open, walked, asked.settings);
        found.map_err(|error| error.to_string())
    });
    let (found, error) = match found {
        Ok(found) => (found, None),
        Err(error) => (Choice::default(), Some(error)),
    };
    let seen = tabia_book::view::PositionView::new(position, &found);
    let known = knows_results(&found);
    let turn = position.turn();
    let by_colour = |results: Results| known.then(|| results.of_white(turn).parts());
    let results = by_colour(seen.results);
    let history = book.history();
    let undoable = history.map(|history| history.undoable(asked.client));
    let read_only = message!("the explorer was started read-only");
    let history = match asked.writable {
        true => history,
        false => Err(&read_only),
    };
    let rows = found.rows().map(|(mv, verdict)| (mv.mv, verdict.rejection));
    let rows: Vec<(Move, Option<Rejection>)> = rows.collect();
    BookView {
        book: number,
        name: book.name().to_owned(),
        error,
        has_games: book.has_games(),
        notice,
        in_book: seen.in_book,
        games: seen.games,
        white: results.map(|[white, ..]| white),
        draws: results.map(|[_, draws, _]| draws),
        black: results.map(|[.., black]| black),
        commentary: seen.commentary,
        moves: seen
            .moves
            .into_iter()
            .zip(rows)
            .map(|(mut view, (mv, rejection))| {
                let results = by_colour(view.results);
                if !known {
                    view.score = None;
                }
                view.uci = uci(position, mv);
                ColouredMove {
                    white: results.map(|[white, ..]| white),
                    black: results.map(|[.., black]| black),
                    opening: openings::of(&notation::after(position, mv)),
                    reason: rejection.map(Message::from),
                    mv: view,
                }
            })
            .collect(),
        editable: history.is_ok(),
        locked: history.err().cloned(),
        most_weight: history.ok().and_then(EditHistory::most_weight),
        undoable: undoable.unwrap_or_default(),
    }
}

/// Whether the numbers of a position are results. Arena books made without results have
/// games but no wins or losses: these are not draws.
fn knows_results(found: &Choice) -> bool {
    found.lookup.moves.iter().any(|mv| match mv.preference {
        Preference::Statistics => true,
        Preference::Weight(_) => false,
        Preference::Priority(_) => mv.stats().wins + mv.stats().losses > 0,
    }) || found.lookup.moves.is_empty()
}
