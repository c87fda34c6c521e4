//! The line walked: what a request or a pasted text means.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::games::{Game, GameSource, PgnSource, Wanted};
use crate::notation::{Line, MOST_PLIES};

/// From the parameters of a request: a first position and moves.
///
/// # Errors
///
/// One sentence about the part that cannot be read.
pub(super) fn read(fen: Option<&str>, play: Option<&str>) -> Result<Line, String> {
    Line::read(fen.unwrap_or_default(), play.unwrap_or_default()).map_err(|error| error.to_string())
}

/// What people paste: a position, moves, or the first game of a PGN text.
///
/// # Errors
///
/// One sentence that says what is wrong.
pub(super) fn from_text(text: &str) -> Result<Line, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("there is nothing to read".to_owned());
    }
    let is_game = text.starts_with('[') || text.starts_with("1.");
    if text.lines().count() == 1 && text.matches('/').count() >= 7 && !is_game {
        return read(Some(text), None);
    }
    if !text.starts_with('[')
        && let Ok(line) = Line::read("", text)
    {
        return Ok(line);
    }
    from_pgn(text)
}

fn from_pgn(text: &str) -> Result<Line, String> {
    let counter = Arc::new(AtomicU64::new(0));
    let bytes = Cursor::new(text.as_bytes().to_vec());
    let mut source = PgnSource::new("the text", Box::new(bytes), counter);
    let batch = source.next_batch().map_err(|error| error.to_string())?;
    let mut game = Game::default();
    let found = match batch {
        Some(mut batch) => batch
            .next_game(Wanted::default(), &mut game)
            .map_err(|skipped| skipped.reason.to_string())?,
        None => false,
    };
    if !found || (game.moves.is_empty() && !game.set_up) {
        return Err("this is neither a FEN nor a game in PGN".to_owned());
    }
    let start = game.positions.first().cloned().unwrap_or_default();
    let mut line = Line::from_start(start);
    for mv in game.moves.into_iter().take(MOST_PLIES) {
        line.push(mv);
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_paste() {
        let of = |text: &str| from_text(text).map(|line| line.uci_words().join(" "));
        let pgn = "[Event \"x\"]\n[Result \"*\"]\n\n1. e4 {best} c5 (1... e5) 2. Nf3 *\n";
        assert_eq!(of(pgn).unwrap(), "e2e4 c7c5 g1f3");
        assert_eq!(of("1.e4 c5 2.Nf3").unwrap(), "e2e4 c7c5 g1f3");
        assert_eq!(of("1.e4 c5 2.Sf3").unwrap(), "e2e4 c7c5 g1f3");
        assert_eq!(of("position startpos moves e2e4").unwrap(), "e2e4");
        let fen = "fen 8/8/8/8/8/8/8/Kk6 w - - 0 1";
        assert!(of(fen).unwrap_err().contains("no legal position"));
        assert_eq!(of("4k3/8/8/8/8/8/8/4K3 w - -").unwrap(), "");
        let typed = "4k2r/8/8/8/8/8/8/4K3 b k - 3 1 moves 1...0-0 2.Ré";
        assert!(of(typed).unwrap_err().contains("move 2 (2.Ré) is no move"));
        let typed = "4k2r/8/8/8/8/8/8/4K3 b k - 3 1 moves 1...0-0";
        assert_eq!(of(typed).unwrap(), "e8g8");
        let set_up =
            "[Event \"x\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *";
        assert_eq!(of(set_up).unwrap(), "e2e4");
        for nonsense in ["", "hello", "1. e5 e5", "🦀"] {
            assert!(of(nonsense).is_err(), "{nonsense}");
        }
    }
}
