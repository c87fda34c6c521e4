//! A position of a book as a table, whatever the book's format: a column
//! stands where the book knows such a thing.

use std::io::{self, Write};

use shakmaty::Color;

use super::style::{
    FAINT, HEADING, PLACE, Painted, commentary_symbol, counted, of_mark, per_cent, rounded, signed,
    wrapped,
};
use crate::book::Mark;
use crate::view::{MoveView, PositionView};

/// Columns that a row has room for; a reason that is longer is wrapped.
const ROW: usize = 80;

struct Column {
    head: &'static str,
    width: usize,
    value: fn(&MoveView) -> String,
    is_known: fn(&MoveView) -> bool,
}

/// Statistics as ChessBase keeps them: neither weights nor priorities.
const fn is_rated(mv: &MoveView) -> bool {
    mv.stored_weight.is_none() && mv.priority.is_none()
}

const COLUMNS: [Column; 11] = [
    Column {
        head: "weight",
        width: 8,
        value: |mv| or_dash(mv.stored_weight),
        is_known: |mv| mv.stored_weight.is_some(),
    },
    Column {
        head: "games",
        width: 8,
        value: |mv| mv.games.to_string(),
        is_known: |mv| mv.stored_weight.is_none(),
    },
    Column {
        head: "won",
        width: 8,
        value: |mv| mv.wins.to_string(),
        is_known: |mv| mv.priority.is_some(),
    },
    Column {
        head: "drawn",
        width: 8,
        value: |mv| mv.draws.to_string(),
        is_known: |mv| mv.priority.is_some(),
    },
    Column {
        head: "lost",
        width: 8,
        value: |mv| mv.losses.to_string(),
        is_known: |mv| mv.priority.is_some(),
    },
    Column {
        head: "%",
        width: 7,
        value: |mv| per_cent(mv.score),
        is_known: |mv| mv.stored_weight.is_none(),
    },
    Column {
        head: "av",
        width: 6,
        value: |mv| rounded(mv.average_elo),
        is_known: is_rated,
    },
    Column {
        head: "perf",
        width: 6,
        value: |mv| rounded(mv.performance),
        is_known: is_rated,
    },
    Column {
        head: "fact",
        width: 6,
        value: |mv| signed(mv.factor),
        is_known: is_rated,
    },
    Column {
        head: "eval",
        width: 7,
        value: |mv| pawns(mv.evaluation),
        is_known: |mv| mv.evaluation.is_some(),
    },
    Column {
        head: "prio",
        width: 6,
        value: |mv| or_dash(mv.priority),
        is_known: |mv| mv.priority.is_some(),
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

/// The position and its moves.
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
            view.wins,
            view.draws,
            view.losses,
        )?,
    }
    if view.moves.is_empty() {
        return Ok(());
    }
    let columns = || COLUMNS.iter().filter(|c| view.moves.iter().any(c.is_known));
    let marks = view.moves.iter().any(is_rated);
    let mut head = format!("{:<9}", "move");
    for column in columns() {
        head += &format!("{:>1$}", column.head, column.width);
    }
    head += if marks { " mark  " } else { " " };
    head += &format!("{:>7}", "prob");
    writeln!(out, "\n{}", Painted(HEADING, &head))?;
    for mv in &view.moves {
        let style = of_mark(mv.mark);
        let mut row = String::new();
        for column in columns() {
            row += &format!("{:>1$}", (column.value)(mv), column.width);
        }
        let name = format!("{:<9}", mv.name());
        write!(out, "{}{row}", Painted(style, name))?;
        if marks {
            let mark = match mv.mark {
                Mark::None => "-",
                mark => mark.as_str(),
            };
            write!(out, " {}", Painted(style, format!("{mark:<6}")))?;
        } else {
            write!(out, " ")?;
        }
        write!(out, "{:>6.1}%", 100.0 * mv.probability)?;
        write_note(mv, head.chars().count(), out)?;
    }
    if view.moves.iter().any(|mv| mv.transposition) {
        writeln!(out, "\n* not stored as a move, but leads into the book")?;
    }
    Ok(())
}

/// What the commentary says of the position after the move, and why the move
/// is not played.
fn write_note(mv: &MoveView, width: usize, out: &mut impl Write) -> io::Result<()> {
    let symbol = commentary_symbol(mv.commentary);
    let parts = [Some(symbol.as_str()), mv.not_played.as_deref()];
    let parts: Vec<&str> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        return writeln!(out);
    }
    let room = ROW.saturating_sub(width + 2).max(20);
    let mut rows = wrapped(&parts.join(", "), room).into_iter();
    writeln!(out, "  {}", Painted(FAINT, rows.next().unwrap_or_default()))?;
    for row in rows {
        writeln!(out, "{:1$}{2}", "", width + 2, Painted(FAINT, row))?;
    }
    Ok(())
}

/// All of it in one line.
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
