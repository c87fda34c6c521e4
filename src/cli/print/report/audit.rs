//! The report of an audit, as text and as an HTML page.

use std::fmt::Write as _;

use super::page::{Bar, Page};
use crate::cli::print::style::counted_as;
use tabia_analysis::audit::{Audit, BAR, Exits, LosingMove, SearchedValue};
use tabia_analysis::repertoire::one_in;

fn pawns(cp: i32) -> String {
    format!("{:+.2}", f64::from(cp) / 100.0)
}

fn per_cent(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => format!("{:.4} %", 100.0 * share),
        share => format!("{:.1} %", 100.0 * share),
    }
}

/// How often something happens that has this likelihood in a game.
fn in_games(likelihood: f64) -> String {
    match likelihood {
        likely if likely >= 0.1 => format!("{} of games", per_cent(likely)),
        0.0 => "in no game".to_owned(),
        rare => format!("{} games", one_in(rare)),
    }
}

/// The report in Markdown; also for a terminal.
pub(crate) fn markdown(title: &str, audit: &Audit) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_markdown(title, audit, &mut text);
    text
}

/// A sentence about how reliable the findings are.
fn trust(audit: &Audit) -> String {
    match (audit.confirmation_nodes, audit.confirmed_count) {
        (Some(nodes), Some(confirmed)) => format!(
            "Position, move and better move of {} were searched again, for {nodes} nodes each and \
             a second time for {}: these are \"confirmed\". The others rest on single searches.{}",
            counted_as(confirmed, "losing move", "losing moves"),
            2 * nodes,
            match audit.unanswered_searches.unwrap_or(0) {
                0 => String::new(),
                none => format!(" {} got no answer.", counted_as(none, "search", "searches")),
            }
        ),
        _ => "All of this rests on single searches, and a list that is sorted by loss shows their \
              largest errors first: let an engine confirm what it names."
            .to_owned(),
    }
}

/// The first paragraphs: the book, and the numbers of findings.
fn opening(audit: &Audit) -> [String; 3] {
    [
        format!(
            "{}, {} of them evaluated; of those that play comes to, by likelihood, {}.",
            counted_as(audit.positions, "position", "positions"),
            audit.evaluated,
            per_cent(audit.evaluated_share)
        ),
        format!(
            "{} more than {} cp, {} green; {} worse than that for the side to move; {} not \
             pointed out.",
            counted_as(audit.losing_count, "move loses", "moves lose"),
            audit.max_loss,
            audit.green_count,
            counted_as(audit.bad_end_count, "line ends", "lines end"),
            counted_as(audit.refutation_count, "refutation is", "refutations are")
        ),
        trust(audit),
    ]
}

/// A move or an end in the report.
struct Finding<'a> {
    fen: &'a str,
    line: String,
    text: String,
    /// The move shown on the diagram, in UCI notation.
    arrow: Option<&'a str>,
}

const fn confirmed(is_confirmed: bool) -> &'static str {
    if is_confirmed {
        "confirmed"
    } else {
        "single search"
    }
}

/// In the form `-0.35 (500000 nodes, depth 22, Stockfish 15.1)`.
fn search(search: &SearchedValue) -> String {
    let nodes = search.nodes.map(|nodes| format!("{nodes} nodes"));
    let depth = search.depth.map(|depth| format!("depth {depth}"));
    let parts = [nodes, depth, search.engine.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => pawns(search.value),
        false => format!("{} ({})", pawns(search.value), parts.join(", ")),
    }
}

/// The searches on which the judgement of a losing move is based.
fn searches(mv: &LosingMove) -> String {
    let of = |name: &str, found: &Option<SearchedValue>| {
        found
            .as_ref()
            .map(|found| format!("{name} {}", search(found)))
    };
    let better = mv.better.as_deref().map_or("better move", |better| better);
    let parts = [
        of("position", &mv.position_search),
        of(better, &mv.better_search),
        of(&mv.played.san, &mv.move_search),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("; {}", parts.join(", ")),
    }
}

/// Findings of one kind.
struct Section<'a> {
    title: &'static str,
    findings: Vec<Finding<'a>>,
    /// The number of findings of this kind.
    count: usize,
}

impl Section<'_> {
    /// A sentence about findings that are left out.
    fn more(&self) -> Option<String> {
        let left = self.count.saturating_sub(self.findings.len());
        (left > 0).then(|| format!("and {left} more, which a report as .json has"))
    }
}

/// One section for each kind of findings; empty ones are left out.
fn sections(audit: &Audit) -> impl Iterator<Item = Section<'_>> {
    let losing = audit.losing.iter().map(|mv| Finding {
        fen: &mv.played.fen,
        line: format!("{}{}", mv.played.line, mv.sign),
        text: format!(
            "loses {} cp ({} instead of {}{}), likelihood {}{}; {}{}",
            mv.loss,
            pawns(mv.value),
            pawns(mv.best),
            mv.better
                .as_ref()
                .map_or_else(String::new, |better| format!(" with {better}")),
            in_games(mv.likelihood),
            if mv.green { ", green" } else { "" },
            confirmed(mv.confirmed),
            searches(mv)
        ),
        arrow: mv.better_uci.as_deref(),
    });
    let ends = audit.bad_ends.iter().map(|end| {
        let (value, likely) = (pawns(end.value), in_games(end.likelihood));
        Finding {
            fen: &end.fen,
            line: end.line.clone(),
            text: format!(
                "{value} for {}, likelihood {likely}; {}",
                end.side,
                confirmed(end.confirmed)
            ),
            arrow: None,
        }
    });
    let refutations = audit.refutations.iter().map(|found| Finding {
        fen: &found.played.fen,
        line: found.played.line.clone(),
        text: format!(
            "{} for {}; other moves of the book give away {} cp or more, likelihood {}; {}",
            pawns(found.value),
            found.played.side,
            found.others_lose,
            in_games(found.likelihood),
            confirmed(found.confirmed)
        ),
        arrow: Some(&found.played.uci),
    });
    let all = [
        Section {
            title: "Moves that lose",
            findings: losing.collect(),
            count: audit.losing_count,
        },
        Section {
            title: "Lines that end badly",
            findings: ends.collect(),
            count: audit.bad_end_count,
        },
        Section {
            title: "Refutations that nothing points out",
            findings: refutations.collect(),
            count: audit.refutation_count,
        },
    ];
    all.into_iter().filter(|section| section.count > 0)
}

fn write_markdown(title: &str, audit: &Audit, out: &mut String) -> std::fmt::Result {
    let [evaluated, counts, trust] = opening(audit);
    writeln!(out, "# {title}\n\n{evaluated}")?;
    if let Some(start) = audit.start {
        writeln!(
            out,
            "The start position is worth {} to White.",
            pawns(start)
        )?;
    }
    writeln!(out, "\n{counts}\n\n{trust}")?;
    for section in sections(audit) {
        writeln!(out, "\n## {}\n", section.title)?;
        for finding in &section.findings {
            writeln!(out, "- {}: {}", finding.line, finding.text)?;
        }
        if let Some(more) = section.more() {
            writeln!(out, "- {more}")?;
        }
    }
    writeln!(out, "\n## Where the book ends\n")?;
    for (side, exits) in sides(audit) {
        let Some(exits) = exits else {
            writeln!(out, "- {side} to move: no value is known")?;
            continue;
        };
        writeln!(
            out,
            "- {side} to move ({} of play): {}",
            per_cent(exits.likelihood),
            values(exits)
        )?;
    }
    for (side, exits) in sides(audit) {
        if let Some(exits) = exits {
            writeln!(out, "\nCentipawns for {side} where {side} is to move:\n")?;
            write_bars(exits, out)?;
        }
    }
    Ok(())
}

/// Writes a histogram from the first bar that is not empty to the last one: lower end and
/// share.
fn write_bars(exits: &Exits, out: &mut String) -> std::fmt::Result {
    let is_bar = |share: &f64| *share >= 0.0005;
    let first = exits.histogram.iter().position(is_bar).unwrap_or(0);
    let last = exits.histogram.iter().rposition(is_bar).unwrap_or(0);
    let most = exits.histogram.iter().copied().fold(0.0, f64::max);
    for (begin, share) in exits.bars().take(last + 1).skip(first) {
        let bar = "#".repeat((40.0 * share / most).round() as usize);
        let line = format!("    {:+5} {:>5.1} % {bar}", begin, 100.0 * share);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn values(exits: &Exits) -> String {
    format!(
        "mean {:+.0} cp, {} below -50, {} below -100",
        exits.mean,
        per_cent(exits.below_50),
        per_cent(exits.below_100)
    )
}

/// The ends of the book for each side.
fn sides(audit: &Audit) -> [(&'static str, Option<&Exits>); 2] {
    [
        ("White", audit.white_exits.as_ref()),
        ("Black", audit.black_exits.as_ref()),
    ]
}

/// The report as a single HTML page without other files.
pub(crate) fn html(title: &str, audit: &Audit) -> String {
    let mut page = Page::new(title);
    for text in opening(audit) {
        page.paragraph(&text);
    }
    for (side, exits) in sides(audit) {
        if let Some(exits) = exits {
            histogram(side, exits, &mut page);
        }
    }
    for section in sections(audit) {
        page.heading(section.title);
        for finding in &section.findings {
            page.finding(finding.fen, &finding.line, &finding.text, finding.arrow);
        }
        if let Some(more) = section.more() {
            page.paragraph(&more);
        }
    }
    page.finish()
}

fn histogram(side: &str, exits: &Exits, page: &mut Page) {
    page.heading(&format!("Where the book ends with {side} to move"));
    page.paragraph(&format!(
        "{} of play: {}, from {side}'s view.",
        per_cent(exits.likelihood),
        values(exits)
    ));
    let bars = exits.bars().map(|(from, share)| Bar {
        label: from.to_string(),
        height: share,
        is_bad: from < -50,
        hint: format!("{from} to {} cp: {}", from + BAR, per_cent(share)),
    });
    page.bars(&bars.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_is_counted_in_games() {
        let texts = [1.0, 0.125, 0.04, 0.000_31, 0.0].map(in_games);
        assert_eq!(
            texts,
            [
                "100.0 % of games",
                "12.5 % of games",
                "1 in 25 games",
                "1 in 3226 games",
                "in no game"
            ]
        );
    }
}
