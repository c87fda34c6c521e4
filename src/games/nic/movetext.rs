//! The movetext.

use super::matching;
use crate::games::{GameResult, Recorder, SkipReason};
use crate::notation;

/// Reads moves, variations in round or square brackets, signs, and words,
/// which are comments. Gives the result, if it stands there.
pub(super) fn read(text: &str, recorder: &mut Recorder<'_>) -> Option<GameResult> {
    let mut comment = String::new();
    let mut result = None;
    for word in words(text) {
        let said = self::result(word);
        let begins_or_ends = matches!(word, "(" | "[" | ")" | "]");
        let (body, sign) = split_sign(without_number(word));
        let is_move = !begins_or_ends && said.is_none() && matching::is_move(body);
        if !is_move && !begins_or_ends && said.is_none() {
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
            _ if said.is_some() => {
                if recorder.is_main_line() {
                    result = said;
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
    match matching::find(word, position) {
        Some(m) => recorder.play(m),
        None => {
            let number = recorder.move_number();
            let text = format!("move {number} is impossible or could be several: {word}");
            recorder.give_up_line(SkipReason::Text(text));
        }
    }
    if let Some(nag @ 1..=6) = notation::nag(sign.trim_matches(['+', '#'])) {
        recorder.nag(nag);
    }
}

/// Words; brackets are words of their own.
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

/// A word without the move's number before it.
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
