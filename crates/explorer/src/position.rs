//! The answer with everything that the page shows about one position.

use serde::Serialize;
use shakmaty::{Chess, Move, Position};

use super::books::ExploredBook;
use super::content::look_up;
use super::edit::{EditHistory, Undoable};
use super::filter::GamesFilter;
use super::line;
use super::message::{Message, translatable};
use super::move_names::{MoveNames, uci};
use super::open_books::OpenBooks;
use super::openings::{self, Opening};
use super::options::{self, OptionView};
use super::plot;
use super::query::Query;
use super::reply::{Answer, Refusal, bad, json};
use tabia_book::Preference;
use tabia_book::policy::{Rejection, WeighedMoves};
use tabia_book::view::{MoveView, PositionView};
use tabia_choice::settings::Options;
use tabia_notation::{self as notation, Line, Results};

/// Greatest number of likeliest moves that a page may request at once.
pub(super) const MOST_AHEAD: usize = 16;

/// The answer about a position.
#[derive(Serialize)]
struct PagePosition {
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
    line: Vec<MoveNames>,
    legal: Vec<LegalMove>,
    /// The likeliest moves of the first book, one after another.
    ahead: Vec<MoveNames>,
    options: Vec<OptionView>,
    books: Vec<BookView>,
    /// Number of open books.
    open: usize,
    /// The number of book changes when the answer was made.
    changes: u64,
}

/// A legal move.
#[derive(Serialize)]
struct LegalMove {
    #[serde(flatten)]
    names: MoveNames,
    /// The square of the castling rook, where the king may be dropped, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    rook: Option<String>,
}

/// The values of one book.
#[derive(Serialize)]
struct BookView {
    book: usize,
    name: String,
    /// By this, a page names its training.
    deck: String,
    /// The error, if the book cannot be read.
    error: Option<String>,
    /// Whether game filters apply to it, and a message about its games.
    has_games: bool,
    /// Number of plies of each game of an index.
    depth: Option<u16>,
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

/// Options of an answer, for the views of all its books.
struct ViewOptions<'a> {
    settings: Options,
    /// Filter for the games of indexes.
    filter: GamesFilter,
    /// The page that sends the request.
    client: &'a str,
    read_only: bool,
}

/// Whether invalid parameters are replaced, and the first of them.
struct Leniency {
    is_lenient: bool,
    problem: Option<Message>,
}

impl Leniency {
    /// The value of a parameter; if it is invalid, the usual one or an error.
    fn accept<T>(
        &mut self,
        value: Result<T, Message>,
        usual: impl FnOnce() -> T,
    ) -> Result<T, Refusal> {
        match value {
            Err(error) if self.is_lenient => {
                self.problem.get_or_insert(translatable!(
                    "Part of the address was ignored: {0}.",
                    error
                ));
                Ok(usual())
            }
            value => value.map_err(bad),
        }
    }
}

/// Answers with everything about a position. With `lenient`, the valid part of a
/// broken address is shown.
pub(super) fn answer(open: &OpenBooks, general: &Options, query: &Query) -> Answer {
    // Read before the books: later changes cause a notification.
    let changes = open.changes_now();
    let is_lenient = query.get("lenient").is_some();
    let (fen, play) = (query.get("fen"), query.get("play"));
    let (line, problem) = match is_lenient {
        true => line::read_prefix(fen, play),
        false => (line::read(fen, play).map_err(bad)?, None),
    };
    let at = query.number("at", line.plies()).map_err(bad)?;
    let most_ahead = query.number("ahead", 0).map_err(bad)?.min(MOST_AHEAD);
    let mut leniency = Leniency {
        is_lenient,
        problem,
    };
    let settings = query.settings(general);
    let settings = leniency.accept(settings, || general.clone())?;
    let first_book = || {
        open.books()
            .into_iter()
            .take(1)
            .map(|book| (0, book))
            .collect()
    };
    let books = open.shown(query).map_err(|(_, error)| error);
    let books = leniency.accept(books, first_book)?;
    let filter = leniency.accept(GamesFilter::read(query), GamesFilter::default)?;
    let options = ViewOptions {
        settings,
        filter,
        client: query.get("client").unwrap_or_default(),
        read_only: open.read_only,
    };
    let played = line.up_to(at);
    let position = played.last();
    let start = Some(line.start()).filter(|&start| *start != Chess::default());
    let first = books.first();
    let ahead = first.and_then(|(_, book)| {
        let book = book.under(&options.filter).ok()?;
        plot::ahead(&book, &played, &options.settings, most_ahead).ok()
    });
    let ahead = ahead.as_ref().map(Line::steps).into_iter().flatten();
    Ok(json(&PagePosition {
        fen: notation::fen(position),
        start: start.map(notation::fen),
        at: played.plies(),
        turn: position.turn().fold_wb("white", "black"),
        fullmove: position.fullmoves().get(),
        check: position.is_check(),
        end: match (position.legal_moves().is_empty(), position.is_check()) {
            (true, true) => Some("checkmate"),
            (true, false) => Some("stalemate"),
            _ => None,
        },
        opening: openings::find_in_line(played.positions()),
        line: line.steps().map(MoveNames::new).collect(),
        legal: position
            .legal_moves()
            .iter()
            .map(|&mv| LegalMove {
                names: MoveNames::new((position, Some(mv))),
                rook: mv.is_castle().then(|| mv.to().to_string()),
            })
            .collect(),
        ahead: ahead.skip(played.plies()).map(MoveNames::new).collect(),
        options: options::views(&options.settings),
        books: books
            .iter()
            .map(|(number, book)| BookView::new(*number, book, &played, &options))
            .collect(),
        problem: leniency.problem,
        open: open.books().len(),
        changes,
    }))
}

impl BookView {
    fn new(number: usize, book: &ExploredBook, line: &Line, options: &ViewOptions<'_>) -> BookView {
        let position = line.last();
        let open = book.under(&options.filter);
        let notice = open.as_ref().ok().and_then(|open| open.1.notice.clone());
        let seen = open.and_then(|open| {
            let found = look_up(&open, line, &options.settings)?;
            let view = PositionView::new(position, &found);
            Ok((view.with_games_of(&*open.0, position, &found)?, found))
        });
        let ((seen, found), error) = match seen {
            Ok(seen) => (seen, None),
            Err(error) => (Default::default(), Some(error.to_string())),
        };
        let known = knows_results(&found);
        let turn = position.turn();
        let by_colour = |results: Results| known.then(|| results.for_white(turn).parts());
        let results = by_colour(seen.results);
        let history = book.history();
        let undoable = history.map(|history| history.undoable(options.client));
        let read_only = translatable!("the explorer was started read-only");
        let history = match options.read_only {
            true => Err(&read_only),
            false => history,
        };
        let rows = found
            .rows()
            .map(|(entry, verdict)| (entry.mv, verdict.rejection));
        let rows: Vec<(Move, Option<Rejection>)> = rows.collect();
        BookView {
            book: number,
            name: book.name().to_owned(),
            deck: book.deck().id,
            error,
            has_games: book.has_games(),
            depth: book.depth(),
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
                        opening: openings::find(&notation::after(position, mv)),
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
}

/// Whether the numbers of a position are results. Arena books made without results have
/// games but no wins or losses: these are not draws.
fn knows_results(found: &WeighedMoves) -> bool {
    found
        .lookup
        .moves
        .iter()
        .any(|entry| match entry.preference {
            Preference::Statistics => true,
            Preference::Weight(_) => false,
            Preference::Priority(_) => entry.stats().wins + entry.stats().losses > 0,
        })
        || found.lookup.moves.is_empty()
}
