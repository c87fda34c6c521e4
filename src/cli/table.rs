//! A position of a book of any format as a table. A column is shown if the book has such
//! values.

use std::io::{self, Write};

use shakmaty::Color;

use super::columns::{self, Cell, Table, cell};
use super::style::{
    FAINT, HEADING, PLACE, Painted, commentary_symbol, counted, of_mark, per_cent, rounded, signed,
};
use tabia_book::Mark;
use tabia_book::view::{MoveView, PositionView};

/// Heading, least width, whether a move has the value, the value as text, and what it is
/// (empty where the heading says it).
type Column = (
    &'static str,
    usize,
    fn(&MoveView) -> bool,
    fn(&MoveView) -> String,
    &'static str,
);

/// Whether the statistics are ChessBase's: neither weights nor priorities.
const fn is_rated(mv: &MoveView) -> bool {
    !has_weight(mv) && !has_priority(mv)
}

const fn has_weight(mv: &MoveView) -> bool {
    mv.stored_weight.is_some()
}

const fn has_games(mv: &MoveView) -> bool {
    !has_weight(mv)
}

const fn has_priority(mv: &MoveView) -> bool {
    mv.priority.is_some()
}

const fn has_evaluation(mv: &MoveView) -> bool {
    mv.evaluation.is_some()
}

/// Whether the games are those that reach the position after the move, however they do.
const fn only_reach(mv: &MoveView) -> bool {
    mv.by_order.reached.is_some() && mv.by_order.played.is_none()
}

const COLUMNS: [Column; 13] = [
    ("weight", 7, has_weight, |mv| or_dash(mv.stored_weight), ""),
    (
        "games",
        7,
        |mv| has_games(mv) && !only_reach(mv),
        |mv| mv.games.to_string(),
        "",
    ),
    (
        "games",
        7,
        only_reach,
        |mv| mv.games.to_string(),
        "games that reach the position after the move, in any order",
    ),
    (
        "reach",
        7,
        |mv| mv.by_order.differ(),
        |mv| or_dash(mv.by_order.reached),
        "games that reach the position after the move, in any order",
    ),
    ("won", 7, has_priority, |mv| mv.results.wins.to_string(), ""),
    (
        "drawn",
        7,
        has_priority,
        |mv| mv.results.draws.to_string(),
        "",
    ),
    (
        "lost",
        7,
        has_priority,
        |mv| mv.results.losses.to_string(),
        "",
    ),
    (
        "%",
        6,
        has_games,
        |mv| per_cent(mv.score),
        "points of the player of the move, in per cent",
    ),
    (
        "av",
        5,
        is_rated,
        |mv| rounded(mv.average_elo),
        "mean rating of these players",
    ),
    (
        "perf",
        5,
        is_rated,
        |mv| rounded(mv.performance),
        "the rating that their results are worth",
    ),
    (
        "learn",
        5,
        is_rated,
        |mv| signed(mv.learn_value),
        "learn value, -125 to 125",
    ),
    (
        "eval",
        6,
        has_evaluation,
        |mv| pawns(mv.evaluation),
        "engine evaluation in pawns, for the player of the move",
    ),
    (
        "prio",
        5,
        has_priority,
        |mv| or_dash(mv.priority),
        "priority in an Arena book, 0 to 9",
    ),
];

fn pawns(cp: Option<i32>) -> String {
    cp.map_or_else(
        || "-".to_owned(),
        |cp| format!("{:+.2}", f64::from(cp) / 100.0),
    )
}

fn or_dash(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// Writes the position and its moves.
pub(super) fn write(view: &PositionView, turn: Color, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", Painted(PLACE, &view.fen))?;
    let weights: Option<u64> = (view.moves.iter())
        .map(|mv| mv.stored_weight.map(u64::from))
        .sum();
    let moves = counted(view.moves.len() as u64, "move");
    let commentary = match commentary_symbol(view.commentary).as_str() {
        "" => String::new(),
        symbol => format!(" ({symbol})"),
    };
    match weights {
        _ if !view.in_book => writeln!(out, "not in the book")?,
        Some(total) if !view.moves.is_empty() => {
            writeln!(out, "{moves}, weights add up to {total}")?;
        }
        _ => writeln!(
            out,
            "{}: {turn} to move won {}, drew {}, lost {}{commentary}",
            counted(view.games.into(), "game"),
            view.results.wins,
            view.results.draws,
            view.results.losses,
        )?,
    }
    if view.moves.is_empty() {
        return Ok(());
    }
    let shown: Vec<&Column> = (COLUMNS.iter())
        .filter(|column| view.moves.iter().any(column.2))
        .collect();
    let marks = view.moves.iter().any(is_rated);
    let mut columns = vec![columns::left(9)];
    columns.extend(shown.iter().map(|column| columns::right(column.1)));
    columns.extend(marks.then_some(columns::left(6)));
    columns.extend([columns::right(6), columns::note()]);
    let mut table = Table::new(0, columns);
    let names = shown.iter().map(|column| column.0);
    let names = ["move"].into_iter().chain(names);
    let names = names.chain(marks.then_some("mark")).chain(["prob"]);
    let heading = |name: &str| Painted(HEADING, name.to_owned());
    table.row(names.map(heading).collect::<Vec<Cell>>());
    for entry in &view.moves {
        let style = of_mark(entry.mark);
        let mut row = vec![Painted(style, entry.name())];
        row.extend(shown.iter().map(|column| cell(column.3(entry))));
        if marks {
            let mark = match entry.mark {
                Mark::None => "-",
                mark => mark.as_str(),
            };
            row.push(Painted(style, mark.to_owned()));
        }
        row.push(cell(format_args!("{:.1}%", 100.0 * entry.probability)));
        row.push(Painted(FAINT, note(entry)));
        table.row(row);
    }
    write!(out, "\n{table}")?;
    if view.moves.iter().any(|entry| entry.transposition) {
        writeln!(out, "\n* not stored as a move, but leads into the book")?;
    }
    Ok(())
}

/// What the columns of a position are, one a line.
pub(super) fn legend(view: &PositionView) -> String {
    let shown = |column: &&Column| !column.4.is_empty() && view.moves.iter().any(column.2);
    let columns = COLUMNS.iter().filter(shown);
    let named = columns.map(|column| (column.0, column.4));
    let last = ("prob", "how often Tabia plays the move with these options");
    let all = named.chain((!view.moves.is_empty()).then_some(last));
    all.map(|(name, text)| format!("{name:6}{text}\n"))
        .collect()
}

/// The commentary on the position after the move, and why the move is not played.
fn note(mv: &MoveView) -> String {
    let symbol = commentary_symbol(mv.commentary);
    let parts = [
        symbol.as_str(),
        mv.not_played.as_deref().unwrap_or_default(),
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Writes the position and its moves in one line.
pub(super) fn write_line(view: &PositionView, out: &mut impl Write) -> io::Result<()> {
    if view.in_book {
        write!(out, "{}", counted(view.games.into(), "game"))?;
    } else {
        write!(out, "not in the book")?;
    }
    for mv in &view.moves {
        let probability = 100.0 * mv.probability;
        write!(out, " {} {probability:.1}% ({})", mv.san, mv.games)?;
    }
    writeln!(out)
}
