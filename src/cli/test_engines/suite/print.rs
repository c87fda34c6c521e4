//! What `suite make` reports.

use std::time::Duration;

use super::check;
use crate::cli::arguments::collection;
use crate::cli::print::{made, report as reports};
use tabia_analysis::suite::{Confirmed, Form, FunnelRow, FunnelStep, MadeSuite, SuiteJob};

/// An error that names the option instead of the step.
pub(super) fn named(error: tabia_analysis::Error) -> anyhow::Error {
    match error {
        tabia_analysis::Error::NoPositionLeft { seen, step, lost } => anyhow::anyhow!(
            "no position is left of {seen}: {} rejected most of them ({lost})",
            words(step).0
        ),
        error => error.into(),
    }
}

/// The option or another name of a step, and what is left out there.
pub(super) const fn words(step: FunnelStep) -> (&'static str, &'static str) {
    match step {
        FunnelStep::Short => ("--plies", "end before that ply"),
        FunnelStep::Elsewhere => ("--line, --fen", "not below that position"),
        FunnelStep::Side => ("--colour", "the other side to move"),
        FunnelStep::Queens => ("--queens", "other queens"),
        FunnelStep::Men => ("--men", "other number of men"),
        FunnelStep::Castled => ("--castled", "other kings"),
        FunnelStep::Check => ("--in-check", "in check"),
        FunnelStep::Over => ("games that are over", "over"),
        FunnelStep::Loud => ("--quiet", "not quiet"),
        FunnelStep::Duplicate => ("--unique", "again"),
        FunnelStep::Mirror => ("--unique mirror", "mirrors"),
        FunnelStep::Games => ("--min-games", "too few games"),
        FunnelStep::Share => ("--min-share", "too rare"),
        FunnelStep::Line => ("--max-per-line", "more of a line"),
        FunnelStep::Unknown => (
            "--eval, --win or --better without a value",
            "without a value",
        ),
        FunnelStep::Decided => ("--drop-mates", "decided"),
        FunnelStep::Better => ("--better", "the other side better"),
        FunnelStep::Cp => ("--eval", "outside --eval"),
        FunnelStep::Wins => ("--win", "outside --win"),
        FunnelStep::Unconfirmed => ("--confirm-nodes", "outside when searched again"),
        FunnelStep::Count => ("--count", "more than --count"),
    }
}

/// In the form `12 left: 3 more of a line (--max-per-line)`.
fn row_text(row: &FunnelRow) -> String {
    let (option, what) = words(row.step);
    let what = match row.step {
        FunnelStep::Duplicate => "duplicates removed",
        _ => what,
    };
    let text = format!("{:>12} left: {} {what}", row.left, row.lost);
    match option.starts_with("--") && !what.contains(option) {
        true => format!("{text} ({option})"),
        false => text,
    }
}

/// Prints the result on standard error.
pub(super) fn report(job: &SuiteJob, made: &MadeSuite, time: Duration) {
    collection::report(&made.tally);
    summary!("{:>12} positions examined", made.funnel.seen);
    for row in made.funnel.rows() {
        summary!("{}", row_text(&row));
    }
    let (files, engines) = made.values;
    if files + engines > 0 {
        summary!("values: {files} from files, {engines} from the engine");
    }
    if let Some(nodes) = job.confirm {
        summary!(
            "{}",
            confirmation(nodes, job.confirm_margin, &made.confirmed)
        );
    }
    let found = made.figures.positions;
    if let Some(wanted) = job.count.filter(|wanted| found < *wanted) {
        message!("only {found} of the {wanted} positions of --count: no others are left");
    }
    for line in check::figures(&made.figures) {
        summary!("{line}");
    }
    let tally = &made.tally;
    let extra = collection::counts([
        (tally.filtered, "games filtered out"),
        (tally.skipped, "games or lines skipped"),
        (tally.cut, "games cut short"),
    ]);
    let lost = made::all_lost(&made.unread);
    summary!(
        "{}: {} positions in {:.1} s{extra}{lost}",
        job.target.display(),
        made.figures.positions,
        time.as_secs_f64()
    );
    for file in &made.files {
        summary!("{}: written", file.display());
    }
    // What the archive is for is worth a line to who asks for it.
    let is_asked = |manager| match manager {
        "fishtest" => job.zip || job.metadata.is_some(),
        "OpenBench" => job.openbench.is_some(),
        _ => true,
    };
    for (manager, line) in lines(job, made).into_iter().filter(|line| is_asked(line.0)) {
        summary!("{manager}: {line}");
    }
}

/// Formats `searched again for 100000 nodes, margin 20 %: 60 of 143 stayed (42.0 %)`.
fn confirmation(nodes: u64, margin: f64, confirmed: &Confirmed) -> String {
    let Confirmed {
        screened, stayed, ..
    } = *confirmed;
    let share = confirmed.share();
    let share = share.map_or_else(String::new, |share| format!(" ({:.1} %)", 100.0 * share));
    let known = collection::counts([(confirmed.known, "had such a value before")]);
    let margin = 100.0 * margin;
    format!(
        "searched again for {nodes} nodes, margin {margin:.0} %: {stayed} of {screened} \
         stayed{share}{known}"
    )
}

fn lines(job: &SuiteJob, made: &MadeSuite) -> Vec<(&'static str, String)> {
    let plies = made.row.max_depth.unwrap_or(0);
    reports::managers::lines(&job.target, job.form == Form::Pgn, plies, job.seed)
}

pub(super) fn json(job: &SuiteJob, made: &MadeSuite) -> serde_json::Value {
    let steps: serde_json::Map<String, serde_json::Value> = made
        .funnel
        .rows()
        .map(|row| (words(row.step).1.to_owned(), row.lost.into()))
        .collect();
    let managers: serde_json::Map<String, serde_json::Value> = lines(job, made)
        .into_iter()
        .map(|(manager, line)| (manager.to_owned(), line.into()))
        .collect();
    serde_json::json!({
        "output": job.target.display().to_string(),
        "looked_at": made.funnel.seen,
        "left_out": steps,
        "values": { "files": made.values.0, "engine": made.values.1 },
        "wanted": job.count,
        "confirmation": job.confirm.map(|nodes| {
            let Confirmed { screened, stayed, known } = made.confirmed;
            let share = made.confirmed.share();
            serde_json::json!({
                "nodes": nodes,
                "margin": job.confirm_margin,
                "screened": screened,
                "stayed": stayed,
                "share": share,
                "known": known,
            })
        }),
        "games": {
            "read": made.tally.read,
            "filtered": made.tally.filtered,
            "skipped": made.tally.skipped,
            "cut": made.tally.cut,
        },
        "figures": made.figures,
        "metadata": made.row,
        "managers": managers,
    })
}
