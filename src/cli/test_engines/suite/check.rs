//! `tabia suite check` and `tabia suite match`: reports on suites.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::print::output;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use tabia_analysis::suite::{self, SuiteCheck, SuiteFault, SuiteNote, SuiteSummary};

/// The figures of a suite, one line each.
pub(crate) fn figures(summary: &SuiteSummary) -> Vec<String> {
    let SuiteSummary {
        positions,
        white_to_move,
        black_to_move,
        ..
    } = summary;
    let share = |part: u64| 100.0 * part as f64 / (*positions).max(1) as f64;
    let plies = match (summary.min_ply, summary.max_ply) {
        (Some(least), Some(most)) if least == most => format!(", ply {least}"),
        (Some(least), Some(most)) => format!(", plies {least} to {most}"),
        _ => String::new(),
    };
    let mut lines = vec![
        format!(
            "{positions} positions, White to move in {white_to_move}, Black in {black_to_move}{plies}"
        ),
        format!(
            "both queens {:.1} %, kings on different wings {:.1} %, men {:.1} on average",
            share(summary.both_queens),
            share(summary.opposite_castling),
            summary.mean_men
        ),
    ];
    if let Some(values) = &summary.evaluation {
        let [low, middle, high] = values.percentiles;
        lines.push(format!(
            "values of {}: mean {:.0} cp of the better side (sd {:.1}; 1 % {low}, half {middle}, \
             99 % {high}), {:+.0} for White; White is better in {}, Black in {}; {} decided",
            values.known,
            values.mean,
            values.sd,
            values.mean_for_white,
            values.white_better,
            values.black_better,
            values.decided
        ));
        lines.push(format!(
            "expected of strong equal engines: {:.0} % draws; strength shows {:.2} times as well \
             as from equal positions: {:.2} of the games",
            100.0 * values.draw_rate,
            values.sensitivity,
            values.games_needed
        ));
    }
    if let Some(diversity) = &summary.diversity {
        let of = match diversity.positions < summary.positions {
            true => format!("; {} positions have one", diversity.positions),
            false => String::new(),
        };
        lines.push(format!(
            "{} different openings by name (games: by their first four plies{of}), {:.1} bits; \
             the commonest has {:.1} %",
            diversity.openings,
            diversity.entropy,
            100.0 * diversity.greatest_share
        ));
    }
    lines
}

/// What is wrong, and what match managers do about it.
const fn fault_text(fault: SuiteFault) -> &'static str {
    match fault {
        SuiteFault::ByteOrderMark => "a byte order mark: fastchess ends the match",
        SuiteFault::LineEnds => "lines end in CR LF: the official suites have LF alone",
        SuiteFault::NoPosition => {
            "not a position: fastchess ends the match, cutechess-cli plays the start position"
        }
        SuiteFault::Illegal => "an illegal position",
        SuiteFault::OppositeCheck => "the side that is not to move is in check",
        SuiteFault::Over => "the game is over on the board",
        SuiteFault::LostCounters => {
            "operations after FEN counters: both managers ignore the counters (they read hmvc and \
             fmvn)"
        }
        SuiteFault::Duplicate => "a position that occurred before",
        SuiteFault::Mirror => "a position that occurred before, with colours exchanged",
        SuiteFault::IllegalMove => "an illegal move, where fastchess cuts the game",
        SuiteFault::Short => "a game that is shorter than the others",
    }
}

fn note_text(note: SuiteNote) -> String {
    match note {
        SuiteNote::ManyLengths => {
            "the games have many lengths: no manager may cut them, and none is called short"
                .to_owned()
        }
        SuiteNote::SuperfluousEnPassant(count) => format!(
            "{} where no pawn can be taken: managers drop them",
            counted(count, "en passant square")
        ),
        SuiteNote::DroppedCounters(count) => format!(
            "{} with FEN counters: cutechess-cli starts from 0 1 anyway (it reads hmvc and \
             fmvn)",
            counted(count, "line")
        ),
    }
}

/// `suite check`: returns 1 if there is a fault.
pub(crate) fn check(
    suites: &[PathBuf],
    plies: Option<u32>,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let reports = progress::watched(|watch| {
        let one = |path: &PathBuf| suite::check(path, plies, watch);
        suites.iter().map(one).collect::<Result<Vec<_>, _>>()
    })??;
    let mut any = false;
    for (path, report) in suites.iter().zip(&reports) {
        any |= !report.counts.is_empty();
        match json {
            true => writeln!(out, "{}", report_json(path, report))?,
            false => print(path, report, out)?,
        }
    }
    Ok(u8::from(any))
}

fn report_json(path: &Path, report: &SuiteCheck) -> serde_json::Value {
    let counts = report.counts.iter().filter_map(|(fault, count)| {
        let name = serde_json::to_value(fault).ok()?.as_str()?.to_owned();
        Some((name, serde_json::Value::from(*count)))
    });
    let counts: serde_json::Map<String, serde_json::Value> = counts.collect();
    let notes: Vec<String> = report.notes.iter().map(|note| note_text(*note)).collect();
    serde_json::json!({
        "file": path.display().to_string(),
        "faults": report.faults,
        "counts": counts,
        "notes": notes,
        "exits": report.exits,
        "wing_mirrors": report.wing_mirrors,
        "figures": report.figures,
        "metadata": report.metadata,
    })
}

/// Greatest number of listed faults.
const NAMED: usize = 20;

fn print(path: &Path, report: &SuiteCheck, out: &mut impl Write) -> anyhow::Result<()> {
    let shown = path.display();
    for found in report.faults.iter().take(NAMED) {
        let (text, line) = (&found.text, found.line);
        let suffix = if text.is_empty() {
            String::new()
        } else {
            format!(": {text}")
        };
        writeln!(out, "{shown}: {line}: {}{suffix}", fault_text(found.fault))?;
    }
    for (fault, count) in &report.counts {
        writeln!(out, "{count:>8} x {}", fault_text(*fault))?;
    }
    if report.counts.is_empty() {
        writeln!(out, "{shown}: no fault")?;
    }
    for note in &report.notes {
        writeln!(out, "note: {}", note_text(*note))?;
    }
    writeln!(
        out,
        "{} different positions, {} of them repeat one with the wings exchanged",
        report.exits, report.wing_mirrors
    )?;
    for line in figures(&report.figures) {
        writeln!(out, "{line}")?;
    }
    let row = serde_json::to_string(&report.metadata)?;
    writeln!(out, "books.json: {row}")?;
    Ok(())
}

/// `suite match`: reports on a match.
pub(crate) fn played(
    games: &Path,
    suite: &Path,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let report = progress::watched(|watch| suite::match_report(games, suite, watch))??;
    if json {
        output::print_json(&report, out)?;
        return Ok(0);
    }
    for skipped in report.skipped.iter().take(NAMED) {
        writeln!(out, "{skipped}")?;
    }
    let percent = |part: u64| 100.0 * part as f64 / report.games.max(1) as f64;
    writeln!(
        out,
        "{}: {:.1} % drawn, {:.1} % won by White, {:.1} % by Black; {} without a result",
        counted(report.games, "game"),
        percent(report.draws),
        percent(report.white_wins),
        percent(report.black_wins),
        report.unfinished
    )?;
    let paired = report
        .players
        .iter()
        .filter(|pairing| pairing.pairs.count() > 0);
    for pairing in paired.take(NAMED) {
        let [a, b, c, d, e] = pairing.pairs.pentanomial;
        writeln!(
            out,
            "{} against {}: {}, {a}/{b}/{c}/{d}/{e}",
            pairing.first,
            pairing.second,
            counted(pairing.pairs.count(), "pair")
        )?;
        if let Some(strength) = &pairing.strength {
            let ([elo, elo_error], [nelo, nelo_error]) = (strength.elo, strength.nelo);
            writeln!(
                out,
                "  Elo {elo:+.1} +- {elo_error:.1}, nElo {nelo:+.1} +- {nelo_error:.1}, LOS {:.1} %, \
                 bias of the openings {:.0} Elo (RMS)",
                100.0 * strength.los,
                strength.rms_bias
            )?;
        }
    }
    let [positions, used] = report.suite;
    writeln!(
        out,
        "{used} of {positions} openings played, {} in more than one pair of the same players ({} pairs too many)",
        report.repeated, report.repeated_pairs
    )?;
    writeln!(
        out,
        "{} without the other colour",
        counted(report.unpaired, "game")
    )?;
    let dead: Vec<_> = report
        .openings
        .iter()
        .filter(|opening| opening.dead)
        .collect();
    writeln!(
        out,
        "{} (ten pairs or more, all with the same two results)",
        counted(dead.len() as u64, "dead opening")
    )?;
    for opening in dead.iter().take(NAMED) {
        writeln!(out, "  {}", opening.fen)?;
    }
    writeln!(out, "{} from elsewhere", counted(report.elsewhere, "game"))?;
    for named in report.elsewhere_named.iter().take(NAMED) {
        writeln!(out, "  {named}")?;
    }
    Ok(0)
}
