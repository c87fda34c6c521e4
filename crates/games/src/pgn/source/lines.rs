//! Line ends of old systems, and quote marks of e-mail.

use memchr::{memchr, memmem, memrchr};

use crate::pgn::tokens::is_tag;

/// Converts the lines of a text from byte `from` on to PGN lines; returns the offset
/// reached. An unfinished line is converted only at the end of the text.
pub(super) fn clean_lines(
    text: &mut Vec<u8>,
    from: usize,
    at_end: bool,
    quoted: &mut bool,
) -> usize {
    let mut at = from;
    while let Some(more) = memchr(b'\r', text.get(at..).unwrap_or_default()) {
        let start = at + more;
        let returns = text.iter().skip(start).take_while(|byte| **byte == b'\r');
        let end = start + returns.count();
        at = end;
        match text.get(end) {
            Some(b'\n') => {}
            // The rest of the line may still come.
            None if !at_end => break,
            _ => text.get_mut(start..end).unwrap_or_default().fill(b'\n'),
        }
    }
    let end = match memrchr(b'\n', text) {
        Some(last) if !at_end => last + 1,
        // The end of a long line is not waited for, but what its last returns mean is; `\r\r\n`
        // is the longest end of a line.
        None if !at_end => {
            let last = text.iter().rev().take(8);
            text.len() - last.take_while(|byte| **byte == b'\r').count()
        }
        _ => text.len(),
    };
    // A line begins after the end of the previous one.
    let before = from.saturating_sub(1);
    let fresh = text.get(before..end).unwrap_or_default();
    if !(from == 0 && fresh.starts_with(b">")) && memmem::find(fresh, b"\n>").is_none() {
        return end.max(from);
    }
    let rest = text.split_off(end.max(from));
    let lines = text.split_off(from);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let is_mark = |byte: &u8| matches!(byte, b'>' | b' ' | b'\t');
        let marks = line.iter().take_while(|byte| is_mark(byte)).count();
        let (marks, bare) = line.split_at_checked(marks).unwrap_or((line, b""));
        let is_quote = marks.first() == Some(&b'>');
        *quoted |= is_quote && is_tag(bare);
        text.extend_from_slice(if is_quote && *quoted { bare } else { line });
    }
    let end = text.len();
    text.extend(rest);
    end
}
