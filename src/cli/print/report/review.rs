//! The review as an HTML page.

use super::page::{Bar, Page};
use super::score;
use crate::cli::print::style::counted;
use tabia_analysis::review::{Exit, ReviewReport};

/// Highest number of openings and exits on the page.
const SHOWN: usize = 40;

/// The review as a single HTML page without other files; `next` are commands for further
/// work.
pub(crate) fn html(title: &str, report: &ReviewReport, next: &[String]) -> String {
    let mut page = Page::new(title);
    let who = report.player.as_deref().unwrap_or("White");
    page.paragraph(&format!(
        "{who}: {}; {} of others.",
        score(&report.record),
        report.others
    ));
    page.heading("Plies in the book");
    page.paragraph(&format!(
        "Mean {:.1}; never in it: {}. Left by {who}'s move in {}, by the opponent's in \
         {}; the book ended in {}, the game in {}.",
        report.plies.mean,
        report.never,
        report.left_by_player,
        report.left_by_opponent,
        report.ended,
        report.to_the_end
    ));
    histogram(&report.plies.histogram, 2, "plies", |_| false, &mut page);
    if let (Some(values), Some([bad, worse])) = (&report.values, report.below) {
        page.heading("The engine's first values after the book");
        page.paragraph(&format!(
            "{}: mean {:+.0} cp, standard deviation {:.0}; {:.1} % below -50, {:.1} % below \
             -100, as {who} sees it.",
            counted(values.count as u64, "game"),
            values.mean,
            values.sd,
            100.0 * bad,
            100.0 * worse
        ));
        histogram(&values.histogram, 25, "cp", |cp| cp < -50, &mut page);
    }
    page.heading("Openings");
    page.paragraph("Won, drawn and lost games; those with most games first.");
    let rows = report.openings.iter().take(SHOWN).map(|opening| {
        let record = &opening.record;
        let shares = record.tally.results.parts().map(|games| games as f64);
        let name = format!("{} {}", opening.eco, opening.name);
        (short(&name), shares, format!("{name}: {}", score(record)))
    });
    page.shares(&rows.collect::<Vec<_>>());
    if !report.several.is_empty() {
        page.heading("Several green moves in the repertoire");
    }
    for several in report.several.iter().take(SHOWN) {
        let moves: Vec<&str> = several.book.iter().map(|mv| mv.san.as_str()).collect();
        let text = format!("{}; {} games", moves.join(" or "), several.games);
        page.finding(&several.place.fen, &several.place.line, &text, None);
    }
    exits("Exits that cost points", &report.losing, &mut page);
    exits("Where the book was left", &report.exits, &mut page);
    if !next.is_empty() {
        page.heading("What to do next");
        page.lines(&next.join("\n"));
    }
    page.finish()
}

/// Shortens a name to the space beside a bar.
fn short(name: &str) -> String {
    match name.char_indices().nth(52) {
        Some((end, _)) => format!("{}\u{2026}", name.get(..end).unwrap_or(name)),
        None => name.to_owned(),
    }
}

fn exits(title: &str, exits: &[Exit], page: &mut Page) {
    if exits.is_empty() {
        return;
    }
    page.heading(title);
    for exit in exits.iter().take(SHOWN) {
        page.finding(&exit.fen, &exit.line, &score(&exit.record), None);
    }
}

fn histogram(
    bars: &std::collections::BTreeMap<i32, u64>,
    width: i32,
    unit: &str,
    is_bad: impl Fn(i32) -> bool,
    page: &mut Page,
) {
    let (Some((&first, _)), Some((&last, _))) = (bars.first_key_value(), bars.last_key_value())
    else {
        return;
    };
    let bars = (first..=last)
        .step_by(width.unsigned_abs() as usize)
        .map(|from| {
            let count = bars.get(&from).copied().unwrap_or(0);
            Bar {
                label: from.to_string(),
                height: count as f64,
                is_bad: is_bad(from),
                hint: format!(
                    "{from} to {} {unit}: {}",
                    from + width - 1,
                    counted(count, "game")
                ),
            }
        });
    page.bars(&bars.collect::<Vec<_>>());
}
