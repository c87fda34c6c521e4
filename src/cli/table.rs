//! A position of a book of any format as a table. A column is shown if the book has such
//! values.

use std::io::{self, Write};

use shakmaty::Color;

use super::style::{
    FAINT, HEADING, PLACE, Painted, commentary_symbol, counted, of_mark, per_cent, rounded, signed,
    wrapped,
};
use tabia_book::Mark;
use tabia_book::view::{MoveView, PositionView};

/// Greatest width of a row in columns; a longer reason is wrapped.
const ROW: usize = 80;

/// Heading, width, whether a move has the value, and the value as text.
type Column = (
    &'static str,
    usize,
    fn(&MoveView) -> bool,
    fn(&MoveView) -> String,
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

const fn has_evaluation(entry: &MoveView) -> bool {
    entry.evaluation.is_some()
}

const COLUMNS: [Column; 11] = [
    ("weight", 8, has_weight, |mv| or_dash(mv.stored_weight)),
    ("games", 8, has_games, |mv| mv.games.to_string()),
    ("won", 8, has_priority, |mv| mv.results.wins.to_string()),
    ("drawn", 8, has_priority, |mv| mv.results.draws.to_string()),
    ("lost", 8, has_priority, |mv| mv.results.losses.to_string()),
    ("%", 7, has_games, |mv| per_cent(mv.score)),
    ("av", 6, is_rated, |mv| rounded(mv.average_elo)),
    ("perf", 6, is_rated, |mv| rounded(mv.performance)),
    ("fact", 6, is_rated, |entry| signed(entry.learn_value)),
    ("eval", 7, has_evaluation, |entry| pawns(entry.evaluation)),
    ("prio", 6, has_priority, |mv| or_dash(mv.priority)),
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
    let columns = || COLUMNS.iter().filter(|c| view.moves.iter().any(c.2));
    let marks = view.moves.iter().any(is_rated);
    let mut head = format!("{:<9}", "move");
    for (name, width, ..) in columns() {
        head += &format!("{name:>width$}");
    }
    head += if marks { " mark  " } else { " " };
    head += &format!("{:>7}", "prob");
    writeln!(out, "\n{}", Painted(HEADING, &head))?;
    for entry in &view.moves {
        let style = of_mark(entry.mark);
        let mut row = String::new();
        for (_, width, _, text) in columns() {
            row += &format!("{:>width$}", text(entry));
        }
        let name = format!("{:<9}", entry.name());
        write!(out, "{}{row}", Painted(style, name))?;
        if marks {
            let mark = match entry.mark {
                Mark::None => "-",
                mark => mark.as_str(),
            };
            write!(out, " {}", Painted(style, format!("{mark:<6}")))?;
        } else {
            write!(out, " ")?;
        }
        write!(out, "{:>6.1}%", 100.0 * entry.probability)?;
        write_note(entry, head.chars().count(), out)?;
    }
    if view.moves.iter().any(|entry| entry.transposition) {
        writeln!(out, "\n* not stored as a move, but leads into the book")?;
    }
    Ok(())
}

/// Writes the commentary on the position after the move, and why the move is not played.
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
    let parts = parts.join(", ");
    let mut rows = wrapped(&parts, room).into_iter();
    writeln!(out, "  {}", Painted(FAINT, rows.next().unwrap_or_default()))?;
    for row in rows {
        writeln!(out, "{:1$}{2}", "", width + 2, Painted(FAINT, row))?;
    }
    Ok(())
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
