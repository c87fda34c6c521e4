//! A position of a book of any format as a table. A column is shown if the book has such
//! values.

use std::io::{self, Write};

use super::columns::{self, Cell, Table, cell};
use super::style::{
    FAINT, HEADING, PLACE, Painted, commentary_symbol, counted, of_mark, per_cent, rounded, signed,
};
use shakmaty::Color;
use tabia_book::Mark;
use tabia_book::view::{MoveView, PositionView};

/// A column of the table.
struct Column {
    heading: &'static str,
    /// What it is; empty where the heading says it.
    meaning: &'static str,
    least_width: usize,
    /// Whether a move has the value.
    has: fn(&MoveView) -> bool,
    text: fn(&MoveView) -> String,
}

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

/// Whether the games of a move are all games that reach the position after it, by any move.
const fn only_reach(mv: &MoveView) -> bool {
    mv.by_order.reached.is_some() && mv.by_order.played.is_none()
}

const COLUMNS: [Column; 13] = [
    Column {
        heading: "weight",
        meaning: "",
        least_width: 7,
        has: has_weight,
        text: |mv| or_dash(mv.stored_weight),
    },
    Column {
        heading: "games",
        meaning: "",
        least_width: 7,
        has: |mv| has_games(mv) && !only_reach(mv),
        text: |mv| mv.games.to_string(),
    },
    Column {
        heading: "games",
        meaning: "games that reach the position after the move, in any order",
        least_width: 7,
        has: only_reach,
        text: |mv| mv.games.to_string(),
    },
    Column {
        heading: "reach",
        meaning: "games that reach the position after the move, in any order",
        least_width: 7,
        has: |mv| mv.by_order.differ(),
        text: |mv| or_dash(mv.by_order.reached),
    },
    Column {
        heading: "won",
        meaning: "",
        least_width: 7,
        has: has_priority,
        text: |mv| mv.results.wins.to_string(),
    },
    Column {
        heading: "drawn",
        meaning: "",
        least_width: 7,
        has: has_priority,
        text: |mv| mv.results.draws.to_string(),
    },
    Column {
        heading: "lost",
        meaning: "",
        least_width: 7,
        has: has_priority,
        text: |mv| mv.results.losses.to_string(),
    },
    Column {
        heading: "%",
        meaning: "points of the player of the move, in per cent",
        least_width: 6,
        has: has_games,
        text: |mv| per_cent(mv.score),
    },
    Column {
        heading: "av",
        meaning: "mean rating of these players",
        least_width: 5,
        has: is_rated,
        text: |mv| rounded(mv.average_elo),
    },
    Column {
        heading: "perf",
        meaning: "the rating that their results are worth",
        least_width: 5,
        has: is_rated,
        text: |mv| rounded(mv.performance),
    },
    Column {
        heading: "learn",
        meaning: "learn value, -125 to 125",
        least_width: 5,
        has: is_rated,
        text: |mv| signed(mv.learn_value),
    },
    Column {
        heading: "eval",
        meaning: "engine evaluation in pawns, for the player of the move",
        least_width: 6,
        has: has_evaluation,
        text: |mv| pawns(mv.evaluation),
    },
    Column {
        heading: "prio",
        meaning: "priority in an Arena book, 0 to 9",
        least_width: 5,
        has: has_priority,
        text: |mv| or_dash(mv.priority),
    },
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
pub(crate) fn write(view: &PositionView, turn: Color, out: &mut impl Write) -> io::Result<()> {
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
        .filter(|column| view.moves.iter().any(column.has))
        .collect();
    let marks = view.moves.iter().any(is_rated);
    let mut columns = vec![columns::left(9)];
    columns.extend(
        shown
            .iter()
            .map(|column| columns::right(column.least_width)),
    );
    columns.extend(marks.then_some(columns::left(6)));
    columns.extend([columns::right(6), columns::note()]);
    let mut table = Table::new(0, columns);
    let names = shown.iter().map(|column| column.heading);
    let names = ["move"].into_iter().chain(names);
    let names = names.chain(marks.then_some("mark")).chain(["prob"]);
    let heading = |name: &str| Painted(HEADING, name.to_owned());
    table.row(names.map(heading).collect::<Vec<Cell>>());
    for entry in &view.moves {
        let style = of_mark(entry.mark);
        let mut row = vec![Painted(style, entry.name())];
        row.extend(shown.iter().map(|column| cell((column.text)(entry))));
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
pub(crate) fn legend(view: &PositionView) -> String {
    let shown = |column: &&Column| !column.meaning.is_empty() && view.moves.iter().any(column.has);
    let columns = COLUMNS.iter().filter(shown);
    let named = columns.map(|column| (column.heading, column.meaning));
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
pub(crate) fn write_line(view: &PositionView, out: &mut impl Write) -> io::Result<()> {
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
