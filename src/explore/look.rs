//! Everything the page shows about one position.

use serde::Serialize;
use shakmaty::{Chess, Color, Position};

use super::books::{ExploredBook, Open};
use super::line::{self, Line};
use super::openings::{self, Opening};
use super::query::DECIDING;
use crate::book::{BookMove, Error, Lookup, Preference, Stats, Wanted};
use crate::choose::{self, Circumstances, Dropped, Weighed};
use crate::settings::{OptionId, Settings};

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
    moves: Vec<MoveView>,
    /// Whether it can be changed.
    editable: bool,
    /// How many changes can be taken back, and the last one.
    undo: usize,
    last_change: Option<String>,
}

/// A move: the fields of `tabia probe --json`, and results by colour.
#[derive(Serialize)]
struct MoveView {
    uci: String,
    san: String,
    games: u32,
    white: u32,
    draws: u32,
    black: u32,
    wins: u32,
    losses: u32,
    score: Option<f64>,
    average_elo: Option<f64>,
    performance: Option<f64>,
    recommendation: u8,
    mark: &'static str,
    annotation: &'static str,
    commentary: u8,
    /// As it stands in the child: see `factor_for_mover`.
    factor: i8,
    factor_for_mover: i8,
    transposition: bool,
    probability: f64,
    weight: f64,
    /// What a Polyglot book stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_weight: Option<u32>,
    /// What an Arena book stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
    not_played: Option<&'static str>,
}

/// Looks a line's position after `at` half moves up in some books.
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
    let start = line.positions.first().filter(|&p| *p != Chess::default());
    PositionView {
        fen: line::fen(position),
        start: start.map(line::fen),
        at: walked.moves.len(),
        turn: name_of(position.turn()),
        fullmove: position.fullmoves().get(),
        check: position.is_check(),
        end: match (legal.is_empty(), position.is_check()) {
            (true, true) => Some("checkmate"),
            (true, false) => Some("stalemate"),
            _ => None,
        },
        opening: openings::of_line(&walked.positions),
        line: line.steps().map(|(at, mv)| named(at, mv)).collect(),
        legal: legal.iter().map(|&mv| named(position, mv)).collect(),
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

fn named(position: &Chess, mv: shakmaty::Move) -> Named {
    Named {
        uci: line::uci(mv),
        san: line::san(position, mv),
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
        Err(error) => (LookedUp::default(), Some(error.to_string())),
    };
    let here = found.lookup.here.unwrap_or_default();
    let (white, black) = by_colour(&here.stats, position.turn());
    let (undo, last_change) = book.desk().map(|desk| desk.last()).unwrap_or_default();
    BookView {
        book: number,
        name: book.name().to_owned(),
        error,
        in_book: found.lookup.here.is_some(),
        games: here.stats.games,
        white,
        draws: here.stats.draws,
        black,
        commentary: here.commentary_for(position.turn()),
        moves: found
            .rows()
            .map(|(mv, verdict)| move_view(position, mv, verdict))
            .collect(),
        editable: writable && book.desk().is_some(),
        undo,
        last_change,
    }
}

fn move_view(position: &Chess, mv: &BookMove, verdict: &Weighed) -> MoveView {
    let stats = mv.stats();
    let child = mv.child.unwrap_or_default();
    let (white, black) = by_colour(&stats, position.turn());
    MoveView {
        uci: line::uci(mv.mv),
        san: line::san(position, mv.mv),
        games: stats.games,
        white,
        draws: stats.draws,
        black,
        wins: stats.wins,
        losses: stats.losses,
        score: stats.score(),
        average_elo: stats.average_elo(),
        performance: stats.performance(),
        recommendation: child.recommendation,
        mark: mv.mark().as_str(),
        annotation: mv.annotation.symbol(),
        commentary: child.commentary_for(position.turn().other()),
        factor: child.factor,
        factor_for_mover: mv.factor(),
        transposition: mv.transposition,
        probability: verdict.probability,
        weight: verdict.weight,
        stored_weight: match mv.preference {
            Preference::Weight(weight) => Some(weight),
            Preference::Priority(_) | Preference::Statistics => None,
        },
        priority: match mv.preference {
            Preference::Priority(priority) => Some(priority),
            Preference::Weight(_) | Preference::Statistics => None,
        },
        not_played: verdict.dropped.map(Dropped::as_str),
    }
}

/// Wins of White and of Black, from those of the side `own`.
pub(super) const fn by_colour(stats: &Stats, own: Color) -> (u32, u32) {
    match own {
        Color::White => (stats.wins, stats.losses),
        Color::Black => (stats.losses, stats.wins),
    }
}

/// What a book knows, weighed.
#[derive(Default)]
pub(super) struct LookedUp {
    pub(super) lookup: Lookup,
    pub(super) verdicts: Vec<Weighed>,
    /// Indices into the moves, heaviest first.
    order: Vec<usize>,
}

impl LookedUp {
    /// The moves with their verdicts, heaviest first, as `tabia probe` shows
    /// them.
    fn rows(&self) -> impl Iterator<Item = (&BookMove, &Weighed)> {
        self.order
            .iter()
            .filter_map(|index| Some((self.lookup.moves.get(*index)?, self.verdicts.get(*index)?)))
    }
}

/// Looks the last position of a line up and weighs its moves as the adapter
/// would in a game of this line.
pub(super) fn look_up(book: &Open, walked: &Line, settings: &Settings) -> Result<LookedUp, Error> {
    let position = walked.last();
    let mut lookup = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut lookup)?;
    let before = walked
        .positions
        .split_last()
        .map(|(_, before)| before)
        .unwrap_or_default();
    let repeats = |next: &Chess| before.contains(next);
    let circumstances = Circumstances {
        position,
        book: book.as_ref(),
        asked: None,
        repeats: settings
            .check(OptionId::AvoidRepetition)
            .then_some(&repeats),
        line_plies: 2 * settings.number(OptionId::LeaveEarly),
    };
    let past_depth = position.fullmoves().get() > settings.number(OptionId::Depth);
    let mut verdicts = Vec::new();
    choose::weigh(
        &lookup.moves,
        &settings.policy(),
        |candidate| {
            if past_depth {
                return Some(Dropped::PastDepth);
            }
            circumstances.against(candidate)
        },
        &mut verdicts,
    );
    let mut order: Vec<usize> = (0..lookup.moves.len()).collect();
    let rank = |index: &usize| {
        let games = lookup.moves.get(*index).map_or(0, |mv| mv.stats().games);
        let verdict = verdicts.get(*index).copied().unwrap_or_default();
        (verdict.weight, f64::from(games))
    };
    order.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    Ok(LookedUp {
        lookup,
        verdicts,
        order,
    })
}
