//! `tabia review`: what played games say about a book.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::progress;
use super::style::counted;
use crate::suite::review::{self, Exit, Report, Score};

/// What `tabia review --help` says below the arguments.
pub(super) const AFTER_HELP: &str = "Examples:\n  \
    tabia review games.pgn --book main.ctg\n  \
    tabia review match.pgn --book main.ctg --player \"Book\"\n  \
    tabia review match.pgn --book main.ctg --player Book --json\n\n\
    Results and values are those of the player; without --player of White. The engine's \
    values come from the comments of cutechess and fastchess (+0.35/21 3.2s, seen by the \
    mover) or lichess ([%eval 0.35], seen by White).";

/// Arguments of `review`.
#[derive(Args, Debug)]
pub(super) struct ReviewArgs {
    /// Games that were played
    #[arg(value_name = "GAMES")]
    games: PathBuf,
    /// The book
    #[arg(long, value_name = "BOOK")]
    book: PathBuf,
    /// Only games of this player, seen by him; every word must be in the name
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The review as one JSON object
    #[arg(long)]
    json: bool,
}

/// So many openings and exits are shown.
const SHOWN: usize = 10;

pub(super) fn run(args: &ReviewArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let book = super::open_book(&args.book, false)?;
    let player = args.player.as_deref();
    let report = progress::watched(|watch| review::report(&args.games, &book, player, watch))??;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&report)?)?,
        false => print(&report, out)?,
    }
    out.flush()?;
    Ok(0)
}

/// `12 games, +3 =6 -3 50.0 %, first value +0.12`.
fn told(record: &Score) -> String {
    let Score {
        games,
        wins,
        draws,
        losses,
        ..
    } = record;
    let score = record.score();
    let score = score.map_or_else(String::new, |score| format!(" {:.1} %", 100.0 * score));
    let value = record.mean_value;
    let value = value.map_or_else(String::new, |cp| {
        format!(", first value {:+.2}", cp / 100.0)
    });
    format!(
        "{}, +{wins} ={draws} -{losses}{score}{value}",
        counted(*games, "game")
    )
}

fn print(report: &Report, out: &mut impl Write) -> anyhow::Result<()> {
    for skipped in report.skipped.iter().take(SHOWN) {
        writeln!(out, "{skipped}")?;
    }
    let who = report.player.as_deref().unwrap_or("White");
    writeln!(
        out,
        "{who}: {}; {} of others",
        told(&report.record),
        report.others
    )?;
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
    if report.values.count > 0 {
        let [a, b, c, d, e] = report.values.percentiles;
        let [bad, worse] = report.below;
        writeln!(
            out,
            "first values of {}: mean {:+.0} cp, sd {:.0} (5 % {a}, 25 % {b}, 50 % {c}, 75 % {d}, \
             95 % {e}); {:.1} % below -50, {:.1} % below -100",
            counted(report.values.count as u64, "game"),
            report.values.mean,
            report.values.sd,
            100.0 * bad,
            100.0 * worse
        )?;
    }
    writeln!(out, "\nopenings:")?;
    for opening in report.openings.iter().take(SHOWN) {
        writeln!(
            out,
            "  {} {}: {}",
            opening.eco,
            opening.name,
            told(&opening.record)
        )?;
    }
    let exits = |title: &str, exits: &[Exit], out: &mut dyn Write| -> std::io::Result<()> {
        writeln!(out, "\n{title}:")?;
        for exit in exits.iter().take(SHOWN) {
            let line = if exit.line.is_empty() {
                "(at once)"
            } else {
                &exit.line
            };
            writeln!(out, "  {line}: {}", told(&exit.record))?;
        }
        Ok(())
    };
    exits("exits from the book", &report.exits, out)?;
    exits("lines that lose", &report.losing, out)?;
    Ok(())
}
