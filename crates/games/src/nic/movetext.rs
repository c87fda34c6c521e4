//! The movetext.

use crate::{GameResult, Recorder, SkipReason};
use tabia_notation as notation;

/// Reads moves, variations in round or square brackets, annotation signs, and other
/// words as comments. Returns the result, if there is one.
pub(super) fn read(text: &str, recorder: &mut Recorder<'_>) -> Option<GameResult> {
    let mut comment = String::new();
    let mut result = None;
    for word in words(text) {
        let result_of_word = self::result(word);
        let begins_or_ends = matches!(word, "(" | "[" | ")" | "]");
        let (body, sign) = split_sign(without_number(word));
        let is_move = !begins_or_ends && result_of_word.is_none() && is_move(body);
        if !is_move && !begins_or_ends && result_of_word.is_none() {
            if !body.is_empty() || !sign.is_empty() {
                if !comment.is_empty() {
                    comment.push(' ');
                }
                comment.push_str(word);
            }
            continue;
        }
        if !comment.is_empty() {
            recorder.comment(std::mem::take(&mut comment));
        }
        match word {
            "(" | "[" => recorder.begin_variation(),
            ")" | "]" => recorder.end_variation(),
            _ if result_of_word.is_some() => {
                if recorder.is_main_line() {
                    result = result_of_word;
                }
            }
            _ => play(body, sign, recorder),
        }
    }
    if !comment.is_empty() {
        recorder.comment(comment);
    }
    result
}

fn play(word: &str, sign: &str, recorder: &mut Recorder<'_>) {
    let Some(position) = recorder.position() else {
        recorder.drop_line();
        return;
    };
    match notation::read_move(position, word) {
        Ok(m) => recorder.play(m),
        Err(_) => {
            let number = recorder.move_number();
            let text = format!("move {number} is impossible or could be several: {word}");
            recorder.give_up_line(SkipReason::Text(text));
        }
    }
    if let Some(nag @ 1..=6) = notation::nag(sign.trim_matches(['+', '#'])) {
        recorder.nag(nag);
    }
}

/// Whether a word looks like a move. Two files, such as `cd`, are a pawn capture,
/// but only in small letters: "He" is a word.
fn is_move(word: &str) -> bool {
    notation::is_move(word) && (word.len() > 2 || !word.starts_with(char::is_uppercase))
}

/// Splits a text into words and brackets.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for mut word in text.split_whitespace() {
        while let Some(at) = word.find(['(', ')', '[', ']']) {
            let (before, rest) = word.split_at(at);
            let (bracket, after) = rest.split_at(1);
            words.extend(
                [before, bracket]
                    .into_iter()
                    .filter(|word| !word.is_empty()),
            );
            word = after;
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// Removes the move number before a word.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < word.len() && rest.starts_with('.') {
        return rest.trim_start_matches('.');
    }
    word
}

fn split_sign(word: &str) -> (&str, &str) {
    let body = word.trim_end_matches(['!', '?', '+', '#']);
    (body, word.get(body.len()..).unwrap_or_default())
}

fn result(word: &str) -> Option<GameResult> {
    match word {
        "1-0" | "0-1" | "1/2" | "1/2-1/2" | "*" => Some(GameResult::from_pgn(word.as_bytes())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_move;
    use tabia_notation::{position, read_move, uci};

    fn found(fen: &str, word: &str) -> Option<String> {
        assert!(is_move(word), "{word}");
        read_move(&position(fen).unwrap(), word).ok().map(uci)
    }

    #[test]
    fn short_moves_are_found_where_one_is_meant() {
        let fen = "r3k2r/1P1p4/4p3/3PN3/8/2N5/8/R3K2R w KQkq - 0 1";
        for (word, uci) in [
            ("de6", "d5e6"),
            ("de", "d5e6"),
            ("d6", "d5d6"),
            ("0-0", "e1g1"),
            ("O-O-O", "e1c1"),
            ("Nd7", "e5d7"),
            ("Se4", "c3e4"),
            ("ba8", "b7a8q"),
            ("ba8N", "b7a8n"),
            ("b8=D", "b7b8q"),
            ("Th8", "h1h8"),
        ] {
            assert_eq!(found(fen, word).as_deref(), Some(uci), "{word}");
        }
        for illegal in ["Nc5", "e4", "Qd1"] {
            assert_eq!(found(fen, illegal), None, "{illegal}");
        }
        let two = "4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1";
        assert_eq!(found(two, "Ne4"), None);
        assert_eq!(found(two, "Nce4").as_deref(), Some("c3e4"));
        for word in ["better", "1/2", "Ng9", "He", "Nb5b5b5"] {
            assert!(!is_move(word), "{word}");
        }
    }
}
