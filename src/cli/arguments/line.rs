//! Positions and lines as they are typed.

use tabia_notation::{Line, LineError};

/// The line that the arguments describe; moves in the place of a position are moves.
pub(crate) fn line_of(fen: &[String], moves: Option<&str>) -> anyhow::Result<Line> {
    let fen = fen.join(" ");
    let error = match line_from(&fen, moves.unwrap_or_default()) {
        Ok(line) => return Ok(line),
        Err(error) => error.downcast::<LineError>()?,
    };
    // `tabia probe BOOK "e4 e5"`: moves in the place of a position, unless there are both.
    let all = [moves.unwrap_or_default(), &fen].join(" ");
    let all = all.trim();
    let is_first_move = || {
        fen.split_whitespace()
            .next()
            .is_some_and(tabia_notation::is_move)
    };
    if matches!(error, LineError::Position(_)) && is_first_move() {
        let line = Line::read("", all)?;
        anyhow::ensure!(
            moves.is_none(),
            "\"{fen}\" is a list of moves, not a position: write --moves \"{all}\""
        );
        return Ok(line);
    }
    Err(error.into())
}

/// Reads a position and moves from there, and reports how an incomplete position was
/// completed.
pub(crate) fn line_from(fen: &str, moves: &str) -> anyhow::Result<Line> {
    let line = Line::read(fen, moves)?;
    // `--moves 20` is a number of plies elsewhere.
    anyhow::ensure!(
        moves.trim().is_empty() || line.plies() > 0,
        "\"{moves}\": expected moves, as \"1.e4 c5\"; a number of plies is --max-ply"
    );
    if let Some(whole) = completed(fen, &line) {
        message!("tabia: {whole}");
    }
    Ok(line)
}

/// How an incomplete position was completed.
pub(crate) fn completed(fen: &str, line: &Line) -> Option<String> {
    let fen = fen.split(" moves").next().unwrap_or(fen);
    tabia_notation::is_incomplete(fen).then(|| {
        let whole = tabia_notation::fen(line.start());
        format!("this FEN lacks fields, and is taken as {whole}")
    })
}
