//! `tabia diff`: what two books disagree about.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use shakmaty::{Chess, Color, Move, Position as _};

use super::diff_json::{self, line_text};
use super::progress;
use super::style::{
    FAINT, GREEN, HEADING, PLACE, Painted, RED, commentary_symbol, counted, paint, push_number,
    signed, thousands, wrapped,
};
use crate::book::{Annotation, PositionRecord, Preference, Stats};
use crate::compare::{
    Aspect, Aspects, Compared, Difference, MoveDifference, Plan, Side, Way, compare,
};
use crate::notation::{self, Line};
use crate::plain::escape_control;

/// Examples of `diff`.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    tabia diff old.ctg new.ctg\n  \
    tabia diff old.ctg new.ctg --only marks --only factors\n  \
    tabia diff mine.ctg theirs.ctg --moves \"1. e4 c5\" --depth 6 --limit 20\n  \
    tabia diff main.ctg main.bin --json\n\n\
    What is nearest to the start position comes first. Positions that no stored moves lead \
    to come last, as the book has them: White to move. Between books of different formats \
    only positions and moves are compared.\n\n\
    Exit codes: 0 the books agree; 1 they differ, or some of one is damaged and was left out; \
    2 a book cannot be read, or with --strict some of it.";

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// The first book
    a: PathBuf,
    /// The second book
    b: PathBuf,
    /// Compares only below this position [default: the start position and
    /// whatever else is in the books]
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Compares only below these moves, as in "e2e4 e7e5" or "1. e4 e5"
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,
    /// Plies to go from there [default: all]
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Compares only this; may be given several times, or with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    only: Vec<Aspect>,
    /// Differing positions that are shown; the others are only counted
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Prints one JSON object for each differing position, then a summary
    #[arg(long)]
    json: bool,
    /// What cannot be read of the books is an error
    #[arg(long)]
    strict: bool,
    /// Reads the books by system calls instead of mapping them into memory
    #[arg(long)]
    no_mmap: bool,
}

impl ValueEnum for Aspect {
    fn value_variants<'a>() -> &'a [Aspect] {
        &Aspect::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Aspect::Positions => "Positions that one book does not have",
            Aspect::Moves => "Moves that one book does not store",
            Aspect::Stats => "Games, results, ratings, weights",
            Aspect::Marks => "Main moves and moves to avoid",
            Aspect::Annotations => "! ? and the like",
            Aspect::Factors => "Learn values",
            Aspect::Commentaries => "Commentaries on positions",
        };
        Some(PossibleValue::new(self.as_str()).help(help))
    }
}

pub(super) fn run(args: &DiffArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let a = super::open_book(&args.a, args.no_mmap)?;
    let b = super::open_book(&args.b, args.no_mmap)?;
    let fen = args.fen.as_deref().unwrap_or_default();
    let moves = args.moves.as_deref().unwrap_or_default();
    let reached = Line::read(fen, moves)?;
    let plan = Plan {
        from: reached.last().clone(),
        plies: args.depth,
        unreached: args.fen.is_none() && args.moves.is_none() && args.depth.is_none(),
        aspects: Aspects::of(&args.only),
    };
    if !args.json {
        let name = |path: &std::path::Path| escape_control(&path.display().to_string());
        writeln!(out, "A  {}\nB  {}", name(a.path()), name(b.path()))?;
    }
    let shown = args.limit.unwrap_or(u64::MAX);
    let mut left = shown;
    // What is beyond the limit need not be made.
    let enough = AtomicBool::new(shown == 0);
    let heading = Heading::new(&reached);
    let make = |difference: &Difference, way: Option<Way<'_>>| -> serde_json::Result<String> {
        if enough.load(Relaxed) {
            return Ok(String::new());
        }
        if args.json {
            let line = way.map(|way| line_to(&reached, way.moves()));
            let object = diff_json::difference(difference, line);
            return Ok(serde_json::to_string(&object)? + "\n");
        }
        let line = match way {
            Some(way) => heading.line(&way),
            None => "not reached by stored moves".to_owned(),
        };
        Ok(text_of(&line, difference))
    };
    let found = |text: serde_json::Result<String>| -> anyhow::Result<()> {
        if left > 0 {
            left -= 1;
            enough.store(left == 0, Relaxed);
            out.write_all(text?.as_bytes())?;
        }
        Ok(())
    };
    let (compared, salvage) =
        progress::watched(|watch| compare(&a, &b, &plan, watch, make, found))??;
    if args.json {
        serde_json::to_writer(&mut *out, &diff_json::summary(&compared))?;
        writeln!(out)?;
    }
    out.flush()?;
    if args.strict && salvage.is_loss() {
        anyhow::bail!("{} (--strict)", salvage.told());
    }
    let mut extra = super::compact::lost(&salvage);
    if compared.unread > 0 {
        let unread = thousands(compared.unread);
        extra.push_str(&format!("; {unread} positions not compared for that"));
    }
    say!("{}{extra}", summary(&compared));
    Ok(u8::from(compared.different > 0 || salvage.is_loss()))
}

fn summary(compared: &Compared) -> String {
    let positions = thousands(compared.positions);
    if compared.different == 0 {
        return format!("{positions} positions compared; no difference");
    }
    let mut parts = vec![
        format!("{} only in A", thousands(compared.only_in_a)),
        format!("{} only in B", thousands(compared.only_in_b)),
    ];
    for (aspect, count) in Aspect::ALL.iter().zip(compared.by_aspect).skip(1) {
        if count > 0 {
            parts.push(format!("{} in {}", thousands(count), aspect.as_str()));
        }
    }
    format!(
        "{positions} positions compared; {} differ{}: {}",
        thousands(compared.different),
        if compared.different == 1 { "s" } else { "" },
        parts.join(", ")
    )
}

/// The line to a difference, behind the moves given before it.
fn line_to(reached: &Line, moves: Vec<Move>) -> Line {
    let mut line = reached.clone();
    moves.into_iter().for_each(|mv| line.push(mv));
    line
}

/// Writes lines as [`line_text`] does, without a position for each move.
struct Heading {
    /// Where nothing was played behind it.
    alone: String,
    given: String,
    /// Twice the number of the next move, and one more with Black to move.
    next: u32,
}

impl Heading {
    fn new(reached: &Line) -> Heading {
        let last = reached.last();
        Heading {
            alone: line_text(reached),
            given: reached.to_string(),
            next: 2 * last.fullmoves().get() + u32::from(last.turn().is_black()),
        }
    }

    fn line(&self, way: &Way<'_>) -> String {
        let sans: Vec<&str> = way.sans_back().collect();
        if sans.is_empty() {
            return self.alone.clone();
        }
        // A blank, six characters of a move, and half a number.
        let mut line = String::with_capacity(self.given.len() + 10 * sans.len());
        line.push_str(&self.given);
        for (san, half) in sans.iter().rev().zip(self.next..) {
            let first = line.is_empty();
            if !first {
                line.push(' ');
            }
            if first || half % 2 == 0 {
                push_number(half / 2, &mut line);
                line.push_str(if half % 2 == 0 { "." } else { "..." });
            }
            line.push_str(san);
        }
        line
    }
}

/// The line, and what stands below it.
fn text_of(line: &str, difference: &Difference) -> String {
    let position = &difference.position;
    let mut out = String::with_capacity(line.len() + 200);
    out.push('\n');
    for (index, row) in wrapped(line, 78).into_iter().enumerate() {
        match index {
            0 => paint(HEADING, row, &mut out),
            _ => paint(HEADING, &format!("  {row}"), &mut out),
        }
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
    let mut rows = Vec::new();
    let mut row = |what: &'static str, a: String, b: String| rows.push((what, a, b));
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
        row("mark", mark(a, b), mark(b, a));
    }
    if let Some((a, b)) = difference.factor {
        let seen = |factor: i8| signed(factor.saturating_neg());
        row("learn value", seen(a), seen(b));
    }
    if let Some((a, b)) = difference.commentary {
        let seen = |commentary: u8| {
            let record = PositionRecord {
                commentary,
                ..PositionRecord::default()
            };
            match commentary_symbol(record.commentary_for(position.turn())) {
                symbol if symbol.is_empty() => "none".to_owned(),
                symbol => symbol,
            }
        };
        row("commentary", seen(a), seen(b));
    }
    for mv in &difference.moves {
        let san = notation::san(position, mv.mv);
        move_rows(&san, mv, position.turn(), &mut row);
    }
    write_rows(&rows, out)?;
    for (side, style) in [(Side::A, RED), (Side::B, GREEN)] {
        let moves = difference
            .moves
            .iter()
            .filter(|mv| mv.only_in == Some(side));
        let names: Vec<String> = moves.map(|mv| notation::san(position, mv.mv)).collect();
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

/// What A has beside what B has.
fn write_rows(rows: &[(&str, String, String)], out: &mut String) -> fmt::Result {
    let width = rows.iter().map(|(_, a, _)| a.chars().count()).max();
    let width = width.unwrap_or(0);
    for (what, a, b) in rows {
        writeln!(
            out,
            "  {what:<12}{}  {}  {}",
            Painted(RED, format!("{a:<width$}")),
            Painted(FAINT, "|"),
            Painted(GREEN, b)
        )?;
    }
    Ok(())
}

fn move_rows(
    san: &str,
    mv: &MoveDifference,
    turn: Color,
    row: &mut impl FnMut(&'static str, String, String),
) {
    if let Some((a, b)) = mv.annotation {
        row(
            "move",
            format!("{san}{}", symbol(a, b)),
            format!("{san}{}", symbol(b, a)),
        );
    }
    if let Some((a, b)) = mv.preference {
        let text = |preference: Preference| match preference {
            Preference::Weight(weight) => format!("{san} weight {weight}"),
            Preference::Priority(priority) => format!("{san} priority {priority}"),
            Preference::Statistics => san.to_owned(),
        };
        row("move", text(a), text(b));
    }
    if let Some((a, b)) = &mv.stats {
        let text = |stats: &Stats| format!("{san} {}", results(stats, turn));
        row("move", text(a), text(b));
    }
}

/// Games and results from White's view: "12 (+5 =3 -4)".
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

/// The mark in words; the byte where the words are the same.
fn mark(byte: u8, other: u8) -> String {
    let name = |byte: u8| {
        let record = PositionRecord {
            recommendation: byte,
            ..PositionRecord::default()
        };
        record.mark().as_str()
    };
    match name(byte) == name(other) {
        true => format!("{} (byte {byte:02x})", name(byte)),
        false => name(byte).to_owned(),
    }
}

fn symbol(annotation: Annotation, other: Annotation) -> String {
    match annotation.symbol() == other.symbol() {
        true => format!("{} (byte {:02x})", annotation.symbol(), annotation.0),
        false => annotation.symbol().to_owned(),
    }
}
