//! The output of `tabia diff` for users.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::json::line_text;
use crate::cli::print::columns::{Table, cell, left};
use crate::cli::print::style::{
    FAINT, GREEN, HEADING, PLACE, Painted, RED, counted, paint, push_number, signed, wrapped,
};
use shakmaty::{Chess, Color, Position as _};
use tabia_book::compare::{Difference, MoveDifference, Side, Way};
use tabia_book::mark::words;
use tabia_book::{Annotation, PositionRecord, Preference, Stats};
use tabia_notation::{self as notation, Line};

/// Writes lines as [`line_text`] does, without a position for each move.
pub(crate) struct Heading {
    /// The text if no moves were played after the given line.
    alone: String,
    given: String,
    /// The number that begins a line after a given move of White, as `12...`.
    number: String,
}

impl Heading {
    pub(crate) fn new(reached: &Line) -> Heading {
        Heading {
            alone: line_text(reached),
            given: reached.to_string(),
            number: notation::number(reached.last()),
        }
    }

    pub(crate) fn line<'l>(&'l self, way: &'l Way<'_>) -> Cow<'l, str> {
        match (self.given.as_str(), way.text()) {
            (_, "") => self.alone.as_str().into(),
            ("", text) => text.into(),
            (given, text) => {
                let number = Some(self.number.as_str()).filter(|number| number.ends_with("..."));
                let text = number
                    .and_then(|number| text.strip_prefix(number))
                    .unwrap_or(text);
                format!("{given} {text}").into()
            }
        }
    }
}

/// The line, and the text after it.
pub(crate) fn text_of(line: &str, difference: &Difference) -> String {
    let position = &difference.position;
    let mut out = String::with_capacity(line.len() + 200);
    out.push('\n');
    let mut indented = String::from("  ");
    for (index, row) in wrapped(line, 78).into_iter().enumerate() {
        indented.truncate(2);
        indented.push_str(row);
        paint(HEADING, if index == 0 { row } else { &indented }, &mut out);
        out.push('\n');
    }
    paint(PLACE, &notation::fen(position), &mut out);
    out.push('\n');
    // Writing to a string does not fail.
    let _ = write_difference(difference, position, &mut out);
    out
}

fn write_difference(difference: &Difference, position: &Chess, out: &mut String) -> fmt::Result {
    if let Some(side) = difference.only_in {
        let style = match side {
            Side::A => RED,
            Side::B => GREEN,
        };
        let mut text = String::with_capacity(64);
        text.push_str("only in ");
        text.push_str(side.as_str());
        text.push_str(": ");
        if difference.record.stats.games > 0 {
            push_results(&difference.record.stats, position.turn(), &mut text);
            text.push_str(", ");
        }
        text.push_str(&counted(difference.stored_moves as u64, "move"));
        out.push_str("  ");
        paint(style, &text, out);
        out.push('\n');
        return Ok(());
    }
    let columns = [left(11), left(0), left(3), left(0)];
    let mut table = Table::new(2, columns);
    let mut row = |what: &'static str, a: String, b: String| {
        let bar = Painted(FAINT, " |".to_owned());
        table.row([cell(what), Painted(RED, a), bar, Painted(GREEN, b)]);
    };
    if let Some((a, b)) = &difference.stats {
        let turn = position.turn();
        let games = |stats: &Stats| results(stats, turn);
        if results(a, turn) != results(b, turn) {
            row("games", games(a), games(b));
        }
        if ratings(a, turn) != ratings(b, turn) {
            row("ratings", ratings(a, turn), ratings(b, turn));
        }
    }
    if let Some((a, b)) = difference.points {
        row("points", tenths(a), tenths(b));
    }
    if let Some((a, b)) = difference.recommendation {
        row("mark", words::mark_name(a), words::mark_name(b));
    }
    if let Some((a, b)) = difference.learn_value {
        let seen = |learn_value: i8| signed(learn_value.saturating_neg());
        row("learn value", seen(a), seen(b));
    }
    if let Some((a, b)) = difference.commentary {
        let seen = |commentary: u8| {
            words::commentary_name(PositionRecord::commentary_seen(commentary, position.turn()))
        };
        row("commentary", seen(a), seen(b));
    }
    for entry in &difference.moves {
        let san = notation::san(position, entry.mv);
        move_rows(&san, entry, position.turn(), &mut row);
    }
    write!(out, "{table}")?;
    for (side, style) in [(Side::A, RED), (Side::B, GREEN)] {
        let moves = difference
            .moves
            .iter()
            .filter(|mv| mv.only_in == Some(side));
        let names: Vec<String> = moves
            .map(|entry| notation::san(position, entry.mv))
            .collect();
        if names.is_empty() {
            continue;
        }
        let plural = if names.len() == 1 { "" } else { "s" };
        let text = format!(
            "move{plural} only in {}: {}",
            side.as_str(),
            names.join(" ")
        );
        for (index, row) in wrapped(&text, 74).iter().enumerate() {
            let indent = if index > 0 { "    " } else { "  " };
            writeln!(out, "{indent}{}", Painted(style, row))?;
        }
    }
    Ok(())
}

fn move_rows(
    san: &str,
    entry: &MoveDifference,
    turn: Color,
    row: &mut impl FnMut(&'static str, String, String),
) {
    if let Some((a, b)) = entry.annotation {
        row(
            "move",
            format!("{san}{}", symbol(a, b)),
            format!("{san}{}", symbol(b, a)),
        );
    }
    if let Some((a, b)) = entry.preference {
        let text = |preference: Preference| match preference {
            Preference::Weight(weight) => format!("{san} weight {weight}"),
            Preference::Priority(priority) => format!("{san} priority {priority}"),
            Preference::Statistics => san.to_owned(),
        };
        row("move", text(a), text(b));
    }
    if let Some((a, b)) = &entry.stats {
        let text = |stats: &Stats| format!("{san} {}", results(stats, turn));
        row("move", text(a), text(b));
    }
}

/// Games and results for White: "12 (+5 =3 -4)".
fn results(stats: &Stats, turn: Color) -> String {
    let mut text = String::new();
    push_results(stats, turn, &mut text);
    text
}

fn push_results(stats: &Stats, turn: Color, out: &mut String) {
    let stats = of_white(stats, turn);
    push_number(stats.games, out);
    for (sign, number) in [
        (" (+", stats.wins),
        (" =", stats.draws),
        (" -", stats.losses),
    ] {
        out.push_str(sign);
        push_number(number, out);
    }
    out.push(')');
}

/// Rating means of White and Black with the number of ratings.
fn ratings(stats: &Stats, turn: Color) -> String {
    let stats = of_white(stats, turn);
    let mean = |elo: Option<f64>, count: u32| match elo {
        Some(elo) => format!("{elo:.1} ({count})"),
        None => "-".to_owned(),
    };
    format!(
        "{} / {}",
        mean(stats.average_elo(), stats.own_rated),
        mean(stats.opponents_elo(), stats.other_rated)
    )
}

fn of_white(stats: &Stats, turn: Color) -> Stats {
    match turn {
        Color::White => *stats,
        Color::Black => stats.reversed(),
    }
}

fn tenths(points: u32) -> String {
    format!("{}.{}", points / 10, points % 10)
}

fn symbol(annotation: Annotation, other: Annotation) -> String {
    match annotation.symbol() == other.symbol() {
        true => format!("{} (byte {:02x})", annotation.symbol(), annotation.0),
        false => annotation.symbol().to_owned(),
    }
}
