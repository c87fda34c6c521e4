//! Places in a text where a game certainly begins.

use memchr::{memchr, memchr2, memmem, memrchr, memrchr2};

use super::QUOTED_GAME_BYTES;
use super::results::final_result;
use super::tag::{begins_tags, closing, is_after_gap, is_tag, value_of_tag};

/// The last place, up to an offset, where a line of `text` certainly begins a game. The
/// text must begin between games.
pub(in crate::pgn) fn last_start(text: &[u8], to: usize) -> Option<usize> {
    let mut end = to.min(text.len());
    loop {
        let start = memrchr(b'\n', text.get(..end)?)? + 1;
        if is_start(text, start) {
            return Some(start);
        }
        end = start - 1;
    }
}

/// Whether the line at an offset certainly begins a game: a tag after movetext, or text
/// after a result and an empty line.
fn is_start(text: &[u8], at: usize) -> bool {
    let line = text.get(at..).unwrap_or_default();
    let is_tag = is_tag(line);
    let is_text = || {
        let first = line.first().filter(|first| first.is_ascii_alphanumeric());
        first.is_some() && is_after_gap(text, at)
    };
    if !is_tag && !is_text() {
        return false;
    }
    let head = text.get(..at).unwrap_or_default();
    let mut before = head;
    // Comments at the end of the game. After an empty line, they belong to the next one.
    loop {
        let end = before.len();
        before = before.trim_ascii_end();
        let space = head.get(before.len()..end).unwrap_or_default();
        if end < head.len() && memchr::memchr_iter(b'\n', space).count() > 1 {
            return false;
        }
        if !before.ends_with(b"}") {
            break;
        }
        let start = memrchr(b'{', before).unwrap_or(0);
        before = before.get(..start).unwrap_or_default();
        if memrchr2(b'{', b'}', before).is_some_and(|at| before.get(at) == Some(&b'{')) {
            return false;
        }
    }
    let line = memrchr(b'\n', before).map_or(0, |end| end + 1);
    let line = before.get(line..).unwrap_or_default();
    let has_tags = line.starts_with(b"[") || memmem::find(line, b"\"]").is_some();
    let words = match has_tags {
        true => after_tags(line),
        false => {
            let end = memrchr2(b'}', b']', line).map_or(0, |end| end + 1);
            line.get(end..).unwrap_or_default().trim_ascii()
        }
    };
    let is_move = match words.first() {
        // After a tag, other words are a note.
        Some(b'0'..=b'9' | b'*') => true,
        Some(first) => first.is_ascii_alphabetic() && memchr(b']', line).is_none(),
        None => false,
    };
    // The last condition may look at all of the text.
    is_move
        && (is_tag || final_result(words).is_some())
        && memchr2(b'"', b'[', words).is_none()
        && !line.starts_with(b"%")
        && !may_have_line_comment(line)
        && is_outside_comments(head)
}

/// The text after the correct tags at the start of a line.
fn after_tags(line: &[u8]) -> &[u8] {
    let mut rest = line;
    while let Some(value) = value_of_tag(rest) {
        let after = closing(value).and_then(|end| value.get(end + 2..));
        let Some(after) = after else { break };
        rest = after.trim_ascii_start();
    }
    rest
}

/// Whether a line may have a comment to its end: a semicolon that is not in braces which
/// open on the same line.
fn may_have_line_comment(line: &[u8]) -> bool {
    let mut in_braces = false;
    memchr::memchr3_iter(b'{', b'}', b';', line).any(|at| {
        let byte = line.get(at);
        in_braces = byte == Some(&b'{') || byte == Some(&b';') && in_braces;
        byte == Some(&b';') && !in_braces
    })
}

/// Whether no comment in braces is open at the end of a text that begins between games.
fn is_outside_comments(text: &[u8]) -> bool {
    let last = memrchr2(b'{', b'}', text);
    let Some(open) = last.filter(|at| text.get(*at) == Some(&b'{')) else {
        return true;
    };
    // It is open, unless it has been cut off at the tags of a game.
    let certain = text.len().saturating_sub(QUOTED_GAME_BYTES);
    let inside = text.get(open..certain).unwrap_or_default();
    let mut lines = memchr::memchr_iter(b'\n', inside).map(|at| open + at + 1);
    lines.any(|at| text.get(at) == Some(&b'[') && begins_tags(text, at))
}
