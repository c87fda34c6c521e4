//! A line of play as people type it.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

/// A move and the position it is played in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Before the move.
    pub position: Chess,
    /// The move.
    pub mv: Move,
}

/// A text that is no line of play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: \"{word}\" {reason}")]
pub struct LineError {
    /// Where the word begins, counted from 1.
    pub column: usize,
    /// The word.
    pub word: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Reads moves in algebraic or UCI notation, with or without numbers, from a
/// position on: `1.e4 c5 2. Nf3`, `e2e4 c7c5`. Signs behind moves (`Nf3!`) are
/// passed over.
///
/// # Errors
///
/// A word is no legal move where it stands.
pub fn line(start: &Chess, text: &str) -> Result<Vec<Played>, LineError> {
    let mut position = start.clone();
    let mut played = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| !c.is_whitespace()) {
        let tail = rest.get(begin..).unwrap_or_default();
        let end = tail.find(char::is_whitespace).unwrap_or(tail.len());
        let (whole, after) = tail.split_at(end);
        let column = text.get(..text.len() - tail.len()).unwrap_or_default();
        let column = column.chars().count() + 1;
        rest = after;
        let word = without_number(whole).trim_end_matches(['!', '?']);
        if word.is_empty() || matches!(word, "*" | "1-0" | "0-1" | "1/2-1/2") {
            continue;
        }
        let mv = one_move(&position, word).map_err(|reason| LineError {
            column,
            word: whole.chars().take(40).collect(),
            reason,
        })?;
        let before = position.clone();
        position.play_unchecked(mv);
        played.push(Played {
            position: before,
            mv,
        });
    }
    Ok(played)
}

/// Takes `12.` or `12...` off the front.
fn without_number(word: &str) -> &str {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.strip_prefix('.') {
        Some(rest) => rest.trim_start_matches(['.', '…']),
        None if digits.is_empty() => "",
        None => word,
    }
}

fn one_move(position: &Chess, word: &str) -> Result<Move, &'static str> {
    if let Ok(uci) = word.parse::<UciMove>() {
        return uci
            .to_move(position)
            .map_err(|_| "is not a legal move here");
    }
    // Zeros for castling are common.
    let word = word.replace("0-0", "O-O").replace("O-0", "O-O");
    let san: SanPlus = word.parse().map_err(|_| "is no move")?;
    san.san.to_move(position).map_err(|error| match error {
        shakmaty::san::SanError::AmbiguousSan => "may be several moves here",
        shakmaty::san::SanError::IllegalSan => "is not a legal move here",
    })
}

/// Reads a FEN; empty and `startpos` are the start position.
///
/// # Errors
///
/// Says what is wrong with it.
pub fn position(fen: &str) -> Result<Chess, String> {
    match fen.trim() {
        "" | "startpos" => Ok(Chess::default()),
        fen => {
            let parsed: Fen = fen
                .parse()
                .map_err(|error| format!("the FEN \"{fen}\" cannot be read: {error}"))?;
            let mode = CastlingMode::detect(parsed.as_setup());
            parsed
                .into_position(mode)
                .or_else(shakmaty::PositionError::ignore_invalid_castling_rights)
                .or_else(shakmaty::PositionError::ignore_invalid_ep_square)
                .map_err(|error| format!("the FEN \"{fen}\" is no legal position: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ucis(text: &str) -> Vec<String> {
        let played = line(&Chess::default(), text).unwrap();
        let uci = |p: &Played| p.mv.to_uci(CastlingMode::Standard).to_string();
        played.iter().map(uci).collect()
    }

    #[test]
    fn lines_are_read_as_people_write_them() {
        let wanted = ["e2e4", "c7c5", "g1f3", "d7d6"];
        for text in [
            "1.e4 c5 2.Nf3 d6",
            "1. e4 c5 2. Nf3 d6 *",
            "e2e4 c7c5 g1f3 d7d6",
            " 1.e4! 1...c5 2.Nf3!? d6?! ",
            "e4 c5 Ng1f3 d7d6",
        ] {
            assert_eq!(ucis(text), wanted, "{text}");
        }
        assert_eq!(ucis("e4 e5 Nf3 Nc6 Bb5 a6 0-0")[6], "e1g1");
        assert!(ucis("").is_empty());
    }

    #[test]
    fn the_word_that_is_wrong_is_named() {
        for (text, column, word, reason) in [
            ("1.e4 c5 2.Nf4", 9, "2.Nf4", "legal"),
            ("1.e4 xyz", 6, "xyz", "no move"),
            ("e2e4 e2e4", 6, "e2e4", "legal"),
        ] {
            let error = line(&Chess::default(), text).unwrap_err();
            assert_eq!((error.column, error.word.as_str()), (column, word));
            assert!(error.reason.contains(reason), "{error}");
        }
    }
}
