//! What an audit found, as a text and as a page.

use std::fmt::Write as _;

use super::{Audit, BAR, BARS, Exits};
use crate::html::{Bar, Page};

fn pawns(cp: i32) -> String {
    format!("{:+.2}", f64::from(cp) / 100.0)
}

fn per_cent(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => format!("{:.4} %", 100.0 * share),
        share => format!("{:.1} %", 100.0 * share),
    }
}

/// The report in Markdown; also fit for a terminal.
#[must_use]
pub fn markdown(title: &str, audit: &Audit) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_markdown(title, audit, &mut text);
    text
}

/// What is known of the book, and what is wrong with it.
fn opening(audit: &Audit) -> [String; 2] {
    [
        format!(
            "{} positions, {} of them evaluated; of those that play comes to, by likelihood, {}.",
            audit.positions,
            audit.evaluated,
            per_cent(audit.evaluated_share)
        ),
        format!(
            "{} moves lose more than {} cp, {} of them green; {} lines end worse than that for \
             the side to move; {} refutations are not pointed out.",
            audit.losing_count,
            audit.max_loss,
            audit.green_count,
            audit.bad_end_count,
            audit.refutation_count
        ),
    ]
}

/// What is said of a move or an end.
struct Finding<'a> {
    fen: &'a str,
    line: String,
    text: String,
}

/// What was found of each kind, with its heading; kinds without any left out.
fn sections(audit: &Audit) -> impl Iterator<Item = (&'static str, Vec<Finding<'_>>)> {
    let losing = audit.losing.iter().map(|mv| Finding {
        fen: &mv.fen,
        line: format!("{}{}", mv.line, mv.sign),
        text: format!(
            "loses {} cp ({} instead of {}), likelihood {}{}",
            mv.loss,
            pawns(mv.value),
            pawns(mv.best),
            per_cent(mv.likelihood),
            if mv.green { ", green" } else { "" }
        ),
    });
    let ends = audit.bad_ends.iter().map(|end| {
        let (value, likely) = (pawns(end.value), per_cent(end.likelihood));
        Finding {
            fen: &end.fen,
            line: end.line.clone(),
            text: format!("{value} for {}, likelihood {likely}", end.side),
        }
    });
    let refutations = audit.refutations.iter().map(|found| Finding {
        fen: &found.fen,
        line: found.line.clone(),
        text: format!(
            "{} for {}; other moves of the book give away {} cp or more, likelihood {}",
            pawns(found.value),
            found.side,
            found.others_lose,
            per_cent(found.likelihood)
        ),
    });
    let all = [
        ("Moves that lose", losing.collect::<Vec<_>>()),
        ("Lines that end badly", ends.collect()),
        ("Refutations that nothing points out", refutations.collect()),
    ];
    all.into_iter().filter(|(_, found)| !found.is_empty())
}

fn write_markdown(title: &str, audit: &Audit, out: &mut String) -> std::fmt::Result {
    let [evaluated, counts] = opening(audit);
    writeln!(out, "# {title}\n\n{evaluated}")?;
    if let Some(start) = audit.start {
        writeln!(
            out,
            "The start position is worth {} to White.",
            pawns(start)
        )?;
    }
    writeln!(out, "\n{counts}")?;
    for (title, found) in sections(audit) {
        writeln!(out, "\n## {title}\n")?;
        for finding in found {
            writeln!(out, "- {}: {}", finding.line, finding.text)?;
        }
    }
    writeln!(out, "\n## Where the book ends\n")?;
    for (side, exits) in sides(audit) {
        if exits.likelihood <= 0.0 {
            writeln!(out, "- {side} to move: no value is known")?;
            continue;
        }
        writeln!(
            out,
            "- {side} to move ({} of play): mean {:+.0} cp, {} below -50, {} below -100",
            per_cent(exits.likelihood),
            exits.mean,
            per_cent(exits.below_50),
            per_cent(exits.below_100)
        )?;
    }
    for (side, exits) in sides(audit) {
        if exits.likelihood > 0.0 {
            writeln!(out, "\nCentipawns for {side} where {side} is to move:\n")?;
            write_bars(exits, out)?;
        }
    }
    Ok(())
}

/// A histogram, from the first bar that is not empty to the last: what it
/// begins with, its share.
fn write_bars(exits: &Exits, out: &mut String) -> std::fmt::Result {
    let is_bar = |share: &f64| *share >= 0.0005;
    let first = exits.histogram.iter().position(is_bar).unwrap_or(0);
    let last = exits.histogram.iter().rposition(is_bar).unwrap_or(0);
    let most = exits.histogram.iter().copied().fold(0.0, f64::max);
    for (n, share) in exits.histogram.iter().enumerate().skip(first) {
        if n > last {
            break;
        }
        let bar = "#".repeat((40.0 * share / most).round() as usize);
        let line = format!("    {:+5} {:>5.1} % {bar}", begin(n), 100.0 * share);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The least value of a bar in centipawns; the first has none.
const fn begin(bar: usize) -> i32 {
    (bar as i32 - BARS as i32 / 2) * BAR
}

fn sides(audit: &Audit) -> [(&'static str, &Exits); 2] {
    [("White", &audit.white_exits), ("Black", &audit.black_exits)]
}

/// The report as a page that needs nothing else.
#[must_use]
pub fn html(title: &str, audit: &Audit) -> String {
    let mut page = Page::new(title);
    for text in opening(audit) {
        page.paragraph(&text);
    }
    for (side, exits) in sides(audit) {
        histogram(side, exits, &mut page);
    }
    for (title, found) in sections(audit) {
        page.heading(title);
        for finding in found {
            page.finding(finding.fen, &finding.line, &finding.text);
        }
    }
    page.finish()
}

fn histogram(side: &str, exits: &Exits, page: &mut Page) {
    if exits.likelihood <= 0.0 {
        return;
    }
    page.heading(&format!("Where the book ends with {side} to move"));
    page.paragraph(&format!(
        "{} of play: mean {:+.0} cp, {} below -50, {} below -100, from {side}'s view.",
        per_cent(exits.likelihood),
        exits.mean,
        per_cent(exits.below_50),
        per_cent(exits.below_100)
    ));
    let bars = exits.histogram.iter().enumerate().map(|(n, share)| {
        let from = begin(n);
        Bar {
            label: from.to_string(),
            height: *share,
            is_bad: from < -50,
            hint: format!("{from} to {} cp: {}", from + BAR, per_cent(*share)),
        }
    });
    page.bars(&bars.collect::<Vec<_>>());
}
