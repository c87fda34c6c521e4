//! Reads the positions in the report of an audit.

use serde::Deserialize;
use shakmaty::{Chess, uci::UciMove};

use tabia_notation::{self as notation, FenError};

/// The part of a finding that identifies its positions.
#[derive(Deserialize)]
struct Finding {
    fen: String,
    uci: Option<String>,
    better_uci: Option<String>,
}

#[derive(Deserialize)]
struct Report {
    losing: Vec<Finding>,
    bad_ends: Vec<Finding>,
    refutations: Vec<Finding>,
}

/// Why the positions in the report of an audit cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The text is not the report of an audit.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A finding has no legal position.
    #[error("\"{fen}\": {reason}")]
    Position {
        /// The text in the report.
        fen: String,
        /// What is wrong with it.
        reason: FenError,
    },
    /// A finding names a move that is not legal.
    #[error("no legal move \"{mv}\" in {fen}")]
    Move {
        /// The text of the move.
        mv: String,
        /// The position before it.
        fen: String,
    },
}

/// The positions in a report (`audit --report FILE.json`), and those after the moves in
/// it, in its order; a position may come twice.
///
/// # Errors
///
/// The text is not such a report, or a position or move in it is illegal.
pub fn positions_in(report: &str) -> Result<Vec<Chess>, ReportError> {
    let report: Report = serde_json::from_str(report)?;
    let all = [report.losing, report.bad_ends, report.refutations];
    let mut positions = Vec::new();
    for finding in all.iter().flatten() {
        let fen = || finding.fen.clone();
        let position = notation::position(&finding.fen)
            .map_err(|reason| ReportError::Position { fen: fen(), reason })?;
        for text in [&finding.uci, &finding.better_uci].into_iter().flatten() {
            let mv = text.parse::<UciMove>().ok();
            let mv = mv.and_then(|mv| mv.to_move(&position).ok());
            let illegal = || ReportError::Move {
                mv: text.clone(),
                fen: fen(),
            };
            positions.push(notation::after(&position, mv.ok_or_else(illegal)?));
        }
        positions.push(position);
    }
    Ok(positions)
}

#[cfg(test)]
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
        let fens: Vec<String> = positions_in(&report("g2g4"))
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
        let fault = positions_in(&report("g2g5")).unwrap_err();
        assert_eq!(
            fault.to_string(),
            format!("no legal move \"g2g5\" in {start}")
        );
        assert!(
            positions_in("{}")
                .unwrap_err()
                .to_string()
                .contains("losing")
        );
    }
}
