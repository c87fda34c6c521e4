//! What `tabia review` prints.

use std::io::{self, Write};

use crate::cli::print::report::{results, score};
use crate::cli::print::style::counted;
use tabia_analysis::departures::{Departure, LeftBy, NamedMove, SeveralMoves};
use tabia_analysis::review::{Exit, ReviewReport};

/// With fewer pairs no statement about strength is printed.
const FEW_PAIRS: u64 = 10;

/// Greatest number of shown openings and exits.
const SHOWN: usize = 10;

pub(super) fn print(report: &ReviewReport, out: &mut impl Write) -> io::Result<()> {
    let who = report.player.as_deref().unwrap_or("White");
    games(report, who, out)?;
    plies(report, who, out)?;
    writeln!(out, "\nopenings:")?;
    for opening in report.openings.iter().take(SHOWN) {
        let score = score(&opening.record);
        writeln!(out, "  {} {}: {score}", opening.eco, opening.name)?;
    }
    for (by, title) in [
        (LeftBy::Player, "left by the player"),
        (LeftBy::Opponent, "left by the opponent"),
        (LeftBy::Book, "no answer in the book"),
    ] {
        let departures = report.departures.iter().filter(|one| one.by == by);
        list(title, departures.map(shown), out)?;
    }
    let several = report.several.iter().map(undecided);
    list("several green moves in the repertoire", several, out)?;
    for (title, exits) in [
        ("exits from the book", &report.exits),
        ("lines that lose", &report.losing),
    ] {
        writeln!(out, "\n{title}:")?;
        for exit in exits.iter().take(SHOWN) {
            writeln!(out, "  {}", score_of(exit))?;
        }
    }
    Ok(())
}

/// Prints at most [`SHOWN`] lines under a title; nothing if there are none.
fn list(title: &str, lines: impl Iterator<Item = String>, out: &mut impl Write) -> io::Result<()> {
    for (n, line) in lines.take(SHOWN).enumerate() {
        if n == 0 {
            writeln!(out, "\n{title}:")?;
        }
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// Prints which games count, and how they ended.
fn games(report: &ReviewReport, who: &str, out: &mut impl Write) -> io::Result<()> {
    for skipped in report.skipped.iter().take(SHOWN) {
        writeln!(out, "{skipped}")?;
    }
    let score = score(&report.record);
    writeln!(out, "{who}: {score}; {} of others", report.others)?;
    if report.elsewhere > 0 {
        let elsewhere = counted(report.elsewhere, "game");
        writeln!(
            out,
            "{elsewhere} left out: not through the position of --line or --fen"
        )?;
    }
    if report.forfeited > 0 {
        writeln!(
            out,
            "{} ended by time forfeit, disconnect or illegal move: no results of the book (--forfeits counts them)",
            counted(report.forfeited, "game")
        )?;
    }
    if let Some(paired) = &report.pairs {
        let [a, b, c, d, e] = paired.pairs.pentanomial;
        write!(
            out,
            "pairs by points (0, 0.5, 1, 1.5, 2): {a} {b} {c} {d} {e}"
        )?;
        match &paired.strength {
            Some(strength) if paired.pairs.count() >= FEW_PAIRS => writeln!(
                out,
                "; Elo {:+.1} +-{:.1}, LOS {:.1} %",
                strength.elo[0],
                strength.elo[1],
                100.0 * strength.los
            )?,
            _ => writeln!(out, "; too few games for a result")?,
        }
    }
    Ok(())
}

/// Prints how long the games were in the book, and what the engine saw after it.
fn plies(report: &ReviewReport, who: &str, out: &mut impl Write) -> io::Result<()> {
    let [few, _, half, _, many] = report.plies.percentiles;
    writeln!(
        out,
        "plies in book: mean {:.1} (5 % {few}, half {half}, 95 % {many}); {} never in it",
        report.plies.mean,
        counted(report.never, "game")
    )?;
    writeln!(
        out,
        "left by {who}'s move in {}, by the opponent's in {}; the book ended in {}, the game in {}",
        report.left_by_player, report.left_by_opponent, report.ended, report.to_the_end
    )?;
    if let (Some(values), Some([bad, worse])) = (&report.values, report.below) {
        let [a, b, c, d, e] = values.percentiles;
        writeln!(
            out,
            "first values of {}: mean {:+.0} cp, sd {:.0} (5 % {a}, 25 % {b}, 50 % {c}, 75 % {d}, \
             95 % {e}); {:.1} % below -50, {:.1} % below -100",
            counted(values.count as u64, "game"),
            values.mean,
            values.sd,
            100.0 * bad,
            100.0 * worse
        )?;
    }
    Ok(())
}

/// Formats a line after which the book ended, with the score of its games.
fn score_of(exit: &Exit) -> String {
    let line = if exit.line.is_empty() {
        "(at once)"
    } else {
        &exit.line
    };
    format!("{line}: {}", score(&exit.record))
}

/// Formats `1. e4 e5 2. Nf3 Nc6: Bb5 or Bc4; 12 games`.
fn undecided(several: &SeveralMoves) -> String {
    let line = &several.place.line;
    let line = if line.is_empty() { "at once" } else { line };
    let moves: Vec<&str> = several.book.iter().map(|mv| mv.san.as_str()).collect();
    let games = counted(several.games, "game");
    format!("{line}: {}; {games}", moves.join(" or "))
}

/// Formats `1. e4 c5: 2. Bc4 instead of Nf3 (80 %, +0.35) or Nc3: 12 games, ...`.
fn shown(departure: &Departure) -> String {
    let of = |mv: &NamedMove| {
        let share = mv.share.map(|share| format!("{:.0} %", 100.0 * share));
        let value = mv.value.map(|cp| format!("{:+.2}", f64::from(cp) / 100.0));
        let known: Vec<String> = share.into_iter().chain(value).collect();
        match known.is_empty() {
            true => mv.san.clone(),
            false => format!("{} ({})", mv.san, known.join(", ")),
        }
    };
    let book: Vec<String> = departure.book.iter().map(of).collect();
    let instead = match book.is_empty() {
        true => String::new(),
        false => format!(", not {}", book.join(" or ")),
    };
    let reply = departure.reply.as_ref();
    let reply = reply.map_or_else(String::new, |reply| format!(", then {}", of(reply)));
    let Departure { place, tally, .. } = departure;
    let line = &place.line;
    let line = if line.is_empty() { "at once" } else { line };
    format!(
        "{line}: {}{instead}{reply}: {}",
        of(&departure.played),
        results(tally)
    )
}
