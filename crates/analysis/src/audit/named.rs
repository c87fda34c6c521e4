//! Reads the positions in the report of an audit.

use serde::Deserialize;
use shakmaty::{Chess, uci::UciMove};

use tabia_notation as notation;

/// The part of a finding that identifies its positions.
#[derive(Deserialize)]
struct Named {
    fen: String,
    uci: Option<String>,
    better_uci: Option<String>,
}

#[derive(Deserialize)]
struct Report {
    losing: Vec<Named>,
    bad_ends: Vec<Named>,
    refutations: Vec<Named>,
}

/// The positions in a report (`audit --report FILE.json`), and those after the moves in
/// it, in its order; a position may come twice.
///
/// # Errors
///
/// The text is no such report, or a position or move in it is illegal: part of a sentence
/// that names it.
pub fn positions_of(report: &str) -> Result<Vec<Chess>, String> {
    let report: Report = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let all = [report.losing, report.bad_ends, report.refutations];
    let mut positions = Vec::new();
    for finding in all.iter().flatten() {
        let position = notation::position(&finding.fen)
            .map_err(|error| format!("\"{}\": {error}", finding.fen))?;
        for text in [&finding.uci, &finding.better_uci].into_iter().flatten() {
            let mv = text.parse::<UciMove>().ok();
            let mv = mv.and_then(|mv| mv.to_move(&position).ok());
            let mv = mv.ok_or_else(|| format!("no legal move \"{text}\" in {}", finding.fen))?;
            positions.push(notation::after(&position, mv));
        }
        positions.push(position);
    }
    Ok(positions)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn positions_before_and_after_the_moves() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let report = |uci: &str| {
            format!(
                r#"{{"losing":[{{"fen":"{start}","uci":"{uci}","better_uci":"e2e4","loss":60}}],
                    "bad_ends":[{{"fen":"{start}"}}],"refutations":[]}}"#
            )
        };
        let fens: Vec<String> = positions_of(&report("g2g4"))
            .unwrap()
            .iter()
            .map(notation::fen)
            .collect();
        assert_eq!(
            fens,
            [
                "rnbqkbnr/pppppppp/8/8/6P1/8/PPPPPP1P/RNBQKBNR b KQkq - 0 1",
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
                start,
                start
            ]
        );
        let fault = positions_of(&report("g2g5")).unwrap_err();
        assert_eq!(fault, format!("no legal move \"g2g5\" in {start}"));
        assert!(positions_of("{}").unwrap_err().contains("losing"));
    }
}
