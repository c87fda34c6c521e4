//! Answers from books.

use shakmaty::{ByColor, Color, Position};

use super::super::content::Open;
use super::super::open_books::OpenBooks;
use super::super::reply::{Refusal, bad};
use super::answer::{CountedMove, Explored};
use super::question::Question;
use tabia_book::policy::choose;
use tabia_book::{BookMove, Error, Preference, Stats};
use tabia_choice::settings::Options;
use tabia_index::Counts;

/// The book with this number, as it is now.
pub(super) fn numbered(open: &OpenBooks, number: usize) -> Result<Open, Refusal> {
    let books = open.books();
    let book = books.get(number).map(|book| book.current());
    book.ok_or_else(|| bad(format!("book: there are {}, from 0", books.len())))
}

/// The answer of the first book that has the position.
pub(super) fn explore(
    books: &[Open],
    question: &Question,
    settings: &Options,
) -> Result<Explored, Error> {
    let Some((position, before)) = question.positions.as_deref().and_then(<[_]>::split_last) else {
        return Ok(Explored::nothing(question));
    };
    for book in books {
        let found = choose(&**book, position, before, &settings.rules())?;
        let Some(here) = found.lookup.here else {
            continue;
        };
        let turn = position.turn();
        let stored = found.rows().filter(|(entry, _)| !entry.transposition);
        let wanted = stored.filter(|(_, verdict)| !question.playable || verdict.probability > 0.0);
        let mut moves: Vec<CountedMove> = wanted
            .map(|(entry, _)| CountedMove {
                mv: entry.mv,
                counts: counts_of(entry, turn),
                game: None,
            })
            .collect();
        moves.sort_by_key(|mv| std::cmp::Reverse(mv.counts.games()));
        let has_weights = found.lookup.moves.iter().any(has_weight_only);
        let mut counts = counts(&here.stats, turn);
        if has_weights || question.playable {
            counts = Counts::default();
            moves.iter().for_each(|mv| counts.add(&mv.counts));
        }
        let mut explored = Explored::new(question, &counts, moves);
        explored.has_weights = has_weights;
        return Ok(explored);
    }
    Ok(Explored::nothing(question))
}

/// Whether a book has no results for a move.
fn has_weight_only(entry: &BookMove) -> bool {
    entry.preference != Preference::Statistics && entry.stats().games == 0
}

/// The results of a move; a weight counts as this number of draws.
fn counts_of(entry: &BookMove, turn: Color) -> Counts {
    let mut counts = counts(&entry.stats(), turn);
    if has_weight_only(entry) {
        counts.draws = match entry.preference {
            Preference::Weight(weight) => weight.into(),
            Preference::Priority(priority) => priority.into(),
            Preference::Statistics => 0,
        };
    }
    counts
}

/// The counts of a book for a position with `own` to move.
fn counts(stats: &Stats, own: Color) -> Counts {
    let by_colour =
        |value: u64, other| ByColor::new_with(|color| if color == own { value } else { other });
    Counts {
        won: by_colour(stats.wins.into(), stats.losses.into()),
        draws: stats.draws.into(),
        rated: by_colour(stats.own_rated.into(), stats.other_rated.into()),
        sum: by_colour(stats.own_rating_sum, stats.other_rating_sum),
    }
}
