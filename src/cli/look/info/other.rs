//! The output of `tabia info` for books of other formats than ChessBase's.

use std::io::Write;

use serde::Serialize;

use crate::cli::print::columns::Table;
use crate::cli::print::{output, progress};
use shakmaty::{Chess, Color};
use tabia_book::walk::Order;
use tabia_book::{Book, Probe as _};
use tabia_io::sanitize::escape_control;

/// The object of `--json`. Values that a format does not have are null.
#[derive(Default, Serialize)]
struct Numbers {
    format: &'static str,
    games: Option<u64>,
    positions: u64,
    moves: u64,
    pages: Option<u64>,
    bytes: u64,
    largest_page_bytes: Option<u64>,
    lower_bound: Option<u64>,
    upper_bound: Option<u64>,
    slots: Option<u64>,
    /// Number of positions that can be reached from the start position.
    reached_positions: u64,
    /// Number of moves with weight or priority 0 in them.
    never_played: u64,
    header_entries: Option<u64>,
    /// The side that the book has moves for, if it is only one.
    only: Option<&'static str>,
    problems: Vec<String>,
}

pub(crate) fn run(book: &Book, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let numbers = count(book)?;
    if json {
        return output::print_json(&numbers, out);
    }
    let name = escape_control(&book.path().display().to_string());
    writeln!(out, "{name}: {}", book.format().title())?;
    let mut list = Table::list(2, 13);
    if let Some(games) = numbers.games {
        list.add("games", games);
    }
    let positions = match numbers.reached_positions {
        reached if reached == numbers.positions => reached.to_string(),
        reached => format!(
            "{}, {reached} of them reached from the start position",
            numbers.positions
        ),
    };
    list.add("positions", positions);
    let moves = match numbers.never_played {
        0 => numbers.moves.to_string(),
        never => format!("{}, {never} of them never to be played", numbers.moves),
    };
    list.add("moves", moves);
    if let Some(side) = numbers.only {
        list.add("plays for", format_args!("{side} only"));
    }
    list.add("size", format_args!("{} bytes", numbers.bytes));
    if let Some(header @ 1..) = numbers.header_entries {
        list.add("header", format_args!("{header} entries of key 0"));
    }
    let is_sound = numbers.problems.is_empty();
    list.add("problems", if is_sound { "none seen" } else { "" });
    write!(out, "{list}")?;
    for problem in &numbers.problems {
        writeln!(out, "    {problem}")?;
    }
    Ok(())
}

fn count(book: &Book) -> anyhow::Result<Numbers> {
    let mut numbers = Numbers {
        format: book.format().as_str(),
        problems: book.notices().to_vec(),
        ..Numbers::default()
    };
    match book {
        Book::Bin(book) => {
            numbers.moves = book.len();
            numbers.bytes = book.bytes();
            numbers.header_entries = Some(book.header_entries());
            let mut last = None;
            book.for_each(|key, _| {
                numbers.positions += u64::from(last.replace(key) != Some(key));
            })?;
        }
        Book::Loaded(book) => {
            numbers.moves = book.len();
            numbers.positions = book.positions() + book.unreached();
            numbers.bytes = book.bytes();
        }
        Book::Ctg(_) => {}
    }
    if book.has_results() {
        // A book for Black only has no moves in the start position.
        let plies = usize::from(!book.contains(&Chess::default())?);
        let mut games = 0;
        for here in book.walk(Order::Breadth) {
            let here = here?;
            if here.line.len() > plies {
                break;
            }
            let here = here.lookup.here.unwrap_or_default();
            games += u64::from(here.stats.games);
        }
        numbers.games = Some(games);
    }
    let reached = progress::watched(|watch| book.count_reached(watch))??;
    numbers.reached_positions = reached.positions;
    numbers.never_played = reached.never_played;
    let only = |color: Color| *reached.with_moves.get(!color) == 0;
    let only = Color::ALL.into_iter().find(|color| only(*color));
    numbers.only = only.filter(|_| reached.moves > 0).map(side);
    Ok(numbers)
}

pub(crate) fn side(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}
