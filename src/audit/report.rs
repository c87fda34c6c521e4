//! What an audit found, as a text and as a page.

use std::fmt::Write as _;

use shakmaty::{Board, File, Position as _, Rank, Square};

use super::{Audit, BAR, BARS, Exits};
use crate::notation;

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

fn write_markdown(title: &str, audit: &Audit, out: &mut String) -> std::fmt::Result {
    writeln!(out, "# {title}\n")?;
    writeln!(
        out,
        "{} positions, {} of them evaluated; of those that play comes to, by likelihood, {}.",
        audit.positions,
        audit.evaluated,
        per_cent(audit.evaluated_share)
    )?;
    if let Some(start) = audit.start {
        writeln!(
            out,
            "The start position is worth {} to White.",
            pawns(start)
        )?;
    }
    writeln!(
        out,
        "\n{} moves lose more than {} cp, {} of them green; {} lines end worse than that for the \
         side to move; {} refutations are not pointed out.",
        audit.losing_count,
        audit.max_loss,
        audit.green_count,
        audit.bad_end_count,
        audit.refutation_count
    )?;
    if !audit.losing.is_empty() {
        writeln!(out, "\n## Moves that lose\n")?;
    }
    for mv in &audit.losing {
        let green = if mv.green { ", green" } else { "" };
        writeln!(
            out,
            "- {}{}: loses {} cp ({} instead of {}), likelihood {}{green}",
            mv.line,
            mv.sign,
            mv.loss,
            pawns(mv.value),
            pawns(mv.best),
            per_cent(mv.likelihood)
        )?;
    }
    if !audit.bad_ends.is_empty() {
        writeln!(out, "\n## Lines that end badly\n")?;
    }
    for end in &audit.bad_ends {
        let (value, likely) = (pawns(end.value), per_cent(end.likelihood));
        writeln!(
            out,
            "- {}: {value} for {}, likelihood {likely}",
            end.line, end.side
        )?;
    }
    if !audit.refutations.is_empty() {
        writeln!(out, "\n## Refutations that nothing points out\n")?;
    }
    for found in &audit.refutations {
        writeln!(
            out,
            "- {}: {} for {}; other moves of the book give away {} cp or more, likelihood {}",
            found.line,
            pawns(found.value),
            found.side,
            found.others_lose,
            per_cent(found.likelihood)
        )?;
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
    Ok(())
}

fn sides(audit: &Audit) -> [(&'static str, &Exits); 2] {
    [("White", &audit.white_exits), ("Black", &audit.black_exits)]
}

/// The report as a page that needs nothing else.
#[must_use]
pub fn html(title: &str, audit: &Audit) -> String {
    let mut out = String::new();
    let _ = write_html(title, audit, &mut out);
    out
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;\
    padding:0 1em;color:#222;background:#fff}table.board{border-collapse:collapse;\
    font-size:22px;line-height:1;flex:none}table.board td{width:26px;height:26px;\
    text-align:center;padding:0}td.d{background:#b9c4a4}td.l{background:#eef0e2}\
    .f{display:flex;gap:1em;margin:1em 0;border-top:1px solid #ddd;padding-top:1em}\
    .n{color:#666}rect.bad{fill:#c0504d}rect{fill:#6b8f5e}svg{max-width:100%}";

fn write_html(title: &str, audit: &Audit, out: &mut String) -> std::fmt::Result {
    let title = escaped(title);
    writeln!(
        out,
        "<!doctype html><html lang=en><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style><h1>{title}</h1>"
    )?;
    writeln!(
        out,
        "<p>{} positions, {} of them evaluated; of those that play comes to, by likelihood, {}.\
         <p>{} moves lose more than {} cp, {} of them green; {} lines end worse than that for \
         the side to move; {} refutations are not pointed out.",
        audit.positions,
        audit.evaluated,
        per_cent(audit.evaluated_share),
        audit.losing_count,
        audit.max_loss,
        audit.green_count,
        audit.bad_end_count,
        audit.refutation_count
    )?;
    for (side, exits) in sides(audit) {
        histogram(side, exits, out)?;
    }
    if !audit.losing.is_empty() {
        writeln!(out, "<h2>Moves that lose</h2>")?;
    }
    for mv in &audit.losing {
        let green = if mv.green { ", <b>green</b>" } else { "" };
        let text = format!(
            "loses {} cp: {} instead of {} for {}{green}, likelihood {}",
            mv.loss,
            pawns(mv.value),
            pawns(mv.best),
            mv.side,
            per_cent(mv.likelihood)
        );
        finding(&mv.fen, &format!("{}{}", mv.line, mv.sign), &text, out)?;
    }
    if !audit.bad_ends.is_empty() {
        writeln!(out, "<h2>Lines that end badly</h2>")?;
    }
    for end in &audit.bad_ends {
        let (value, likely) = (pawns(end.value), per_cent(end.likelihood));
        let text = format!("{value} for {}, likelihood {likely}", end.side);
        finding(&end.fen, &end.line, &text, out)?;
    }
    if !audit.refutations.is_empty() {
        writeln!(out, "<h2>Refutations that nothing points out</h2>")?;
    }
    for found in &audit.refutations {
        let text = format!(
            "{} for {}; other moves of the book give away {} cp or more",
            pawns(found.value),
            found.side,
            found.others_lose
        );
        finding(&found.fen, &found.line, &text, out)?;
    }
    writeln!(out, "</html>")
}

fn finding(fen: &str, line: &str, text: &str, out: &mut String) -> std::fmt::Result {
    write!(out, "<div class=f>")?;
    if let Ok(position) = notation::position(fen) {
        board(position.board(), out)?;
    }
    writeln!(
        out,
        "<div><b>{}</b><br>{text}<br><span class=n>{}</span></div></div>",
        escaped(line),
        escaped(fen)
    )
}

fn board(board: &Board, out: &mut String) -> std::fmt::Result {
    write!(out, "<table class=board>")?;
    for rank in Rank::ALL.into_iter().rev() {
        write!(out, "<tr>")?;
        for file in File::ALL {
            let square = Square::from_coords(file, rank);
            let class = if square.is_dark() { "d" } else { "l" };
            let man = board.piece_at(square).map_or(' ', |piece| {
                let white = [
                    '\u{2659}', '\u{2658}', '\u{2657}', '\u{2656}', '\u{2655}', '\u{2654}',
                ];
                let black = [
                    '\u{265f}', '\u{265e}', '\u{265d}', '\u{265c}', '\u{265b}', '\u{265a}',
                ];
                let men = piece.color.fold_wb(white, black);
                men[piece.role as usize - 1]
            });
            write!(out, "<td class={class}>{man}")?;
        }
    }
    write!(out, "</table>")
}

fn histogram(side: &str, exits: &Exits, out: &mut String) -> std::fmt::Result {
    if exits.likelihood <= 0.0 {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Where the book ends with {side} to move</h2><p>{} of play: mean {:+.0} cp, {} below \
         -50, {} below -100, from {side}'s view.",
        per_cent(exits.likelihood),
        exits.mean,
        per_cent(exits.below_50),
        per_cent(exits.below_100)
    )?;
    let most = exits.histogram.iter().copied().fold(0.0, f64::max);
    writeln!(
        out,
        "<p><svg viewBox=\"0 0 720 150\" width=720 height=150 role=img>"
    )?;
    for (n, share) in exits.histogram.iter().enumerate() {
        let from = (n as i32 - BARS as i32 / 2) * BAR;
        let class = if from < -50 { "bad" } else { "good" };
        let height = 120.0 * share / most;
        let (x, y) = (n * 30, 125.0 - height);
        writeln!(
            out,
            "<rect class={class} x={x} y={y:.1} width=28 height={height:.1}><title>{from} to {} \
             cp: {}</title></rect><text x={x} y=140 font-size=9>{from}</text>",
            from + BAR,
            per_cent(*share)
        )?;
    }
    writeln!(out, "</svg>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
