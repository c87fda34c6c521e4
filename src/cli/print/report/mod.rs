//! Reports for files and terminals: texts and HTML pages of what the libraries found.

pub(crate) mod audit;
pub(crate) mod managers;
mod page;
pub(crate) mod review;

use tabia_analysis::Tally;
use tabia_analysis::review::Score;

/// With fewer results no interval is given.
const FEW: u64 = 5;

/// Results in the form `12 games, +3 =6 -3 50.0 % (31 to 69 %)`.
pub(crate) fn results(tally: &Tally) -> String {
    let games = crate::cli::print::style::counted(tally.games, "game");
    let text = format!("{games}, {}", tally.results);
    let (Some(share), Some([low, high])) = (tally.results.score(), tally.interval()) else {
        return text;
    };
    let share = 100.0 * share;
    match tally.results.games() {
        ..FEW => format!("{text} {share:.1} % (too few games to tell)"),
        _ => format!(
            "{text} {share:.1} % ({:.0} to {:.0} %)",
            100.0 * low,
            100.0 * high
        ),
    }
}

/// Results in the form `12 games, +3 =6 -3 50.0 % (31 to 69 %), first value +0.12`.
pub(crate) fn score(score: &Score) -> String {
    let results = results(&score.tally);
    match score.mean_value {
        Some(cp) => format!("{results}, first value {:+.2}", cp / 100.0),
        None => results,
    }
}
