//! PGN as every common reader takes it.
//!
//! Many readers know one order only: a move, its signs, one comment, its variations. For
//! chess.js 1.4.0 a second comment is an error of the whole file, and for it, cm-pgn 5.0.0,
//! @mliebelt/pgn-parser 1.4.19, pgn-parser 2.2.1 and @jackstenglein/chess 2.2.21 so is a
//! sign or a comment after the last variation of a line. So a move is written together with
//! all that is said of it, and a variation together with its first move.

use std::borrow::Cow;
use std::fmt::Write as _;

use shakmaty::{Chess, Move, Position};

use crate::{after, pass, san_to};

/// The longest line, in characters: longer ones are "strongly discouraged" by
/// the standard (4.3: 80 or more).
const COLUMNS: usize = 79;

/// The name of a tag as it is written: letters, digits and underscores, as in the standard;
/// others become underscores, because kokopu 4.13.4 and pgn-extract 19.04 refuse them. `None`
/// if nothing is left of it.
#[must_use]
pub fn tag_name(name: &str) -> Option<Cow<'_, str>> {
    let is_usual = |c: char| c.is_ascii_alphanumeric();
    let name = name.trim_start_matches(|c| !is_usual(c));
    let is_clean = name.chars().all(|c| is_usual(c) || c == '_');
    let letters = name.chars().map(|c| if is_usual(c) { c } else { '_' });
    match (name.is_empty(), is_clean) {
        (true, _) => None,
        (false, true) => Some(Cow::Borrowed(name)),
        (false, false) => Some(Cow::Owned(letters.collect())),
    }
}

/// Adds a tag, with the end of its line. False if nothing is left of the [name](tag_name):
/// then nothing is added.
pub fn write_tag(name: &str, value: &str, out: &mut String) -> bool {
    let Some(name) = tag_name(name) else {
        return false;
    };
    out.push('[');
    out.push_str(&name);
    out.push_str(" \"");
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push_str("\"]\n");
    true
}

/// The moves of a game as text, in lines of at most 79 characters unless a word is longer.
pub struct MoveText<'o> {
    text: Wrapped<'o>,
    /// Whether a move of Black needs its number.
    numbered: bool,
}

/// Signs and comments of a move.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remarks<'a> {
    /// Signs by their numbers (NAGs). 0 is not written: it says nothing, and kokopu 4.13.4
    /// refuses it.
    pub nags: &'a [u8],
    /// The comment; an empty one is not written.
    pub comment: &'a str,
}

impl<'o> MoveText<'o> {
    /// Begins the text, with a comment before the first move.
    pub fn new(out: &'o mut String, comment: &str) -> MoveText<'o> {
        let mut text = Wrapped::new(out);
        write_comment(comment, &mut text);
        MoveText {
            text,
            numbered: true,
        }
    }

    /// Writes a move, `None` for a null move, and plays it. It must be legal.
    pub fn play(&mut self, position: &mut Chess, mv: Option<Move>, remarks: Remarks<'_>) {
        if self.numbered || position.turn().is_white() {
            let dots = position.turn().fold_wb(".", "...");
            self.text
                .word_of(format_args!("{}{dots}", position.fullmoves()));
        }
        match mv {
            Some(mv) => {
                let next = after(position, mv);
                self.text.word(&san_to(position, mv, &next));
                *position = next;
            }
            None => {
                if let Some(next) = pass(position) {
                    *position = next;
                }
                self.text.word("--");
            }
        }
        for nag in remarks.nags.iter().filter(|nag| **nag > 0) {
            self.text.word_of(format_args!("${nag}"));
        }
        self.numbered = write_comment(remarks.comment, &mut self.text);
    }

    /// Begins a variation: an alternative to the last move of the line, with a comment before
    /// its first move, which is played in `position`.
    pub fn begin_variation(
        &mut self,
        comment: &str,
        position: &mut Chess,
        mv: Option<Move>,
        remarks: Remarks<'_>,
    ) {
        self.text.open('(');
        write_comment(comment, &mut self.text);
        self.numbered = true;
        self.play(position, mv, remarks);
    }

    /// Ends the variation that began last.
    pub fn end_variation(&mut self) {
        self.text.close(')');
        self.numbered = true;
    }

    /// Writes the result, and the end of the line.
    pub fn finish(mut self, result: &str) {
        self.text.word(result);
        self.text.put();
        self.text.out.push('\n');
    }
}

/// Writes a comment; false if there is nothing to write.
fn write_comment(comment: &str, text: &mut Wrapped<'_>) -> bool {
    // A brace would end the comment, or begin another one; PGN has no escape for it.
    // Most comments have none of these.
    let has = |wanted: u8| {
        comment
            .bytes()
            .fold(false, |has, byte| has | (byte == wanted))
    };
    let round;
    let has_command = has(b'[');
    let comment = match has(b'{') || has(b'}') {
        true => {
            round = comment.replace('{', "(").replace('}', ")");
            &round
        }
        false => comment,
    };
    let kept;
    let comment = match has_command && comment.contains("[%") {
        true => {
            kept = with_whole_commands(comment);
            &kept
        }
        false => comment,
    };
    // By bytes: half as long as by characters.
    let gap = |byte: u8| byte == b' ' || byte.is_ascii_control();
    let mut rest = comment;
    let mut words = std::iter::from_fn(|| {
        let start = rest.bytes().position(|byte| !gap(byte))?;
        let end = rest.bytes().skip(start).position(gap);
        let end = end.map_or(rest.len(), |length| start + length);
        let word = rest.get(start..end)?;
        rest = rest.get(end..)?;
        Some(word)
    })
    .peekable();
    if words.peek().is_none() {
        return false;
    }
    text.open('{');
    let mut is_escape = false;
    for word in words {
        is_escape = word.as_bytes().last() == Some(&b'\\');
        // A line must not begin with these: `%` hides it from readers, and `[Event`
        // begins a game for some.
        let begins_badly = match word.as_bytes() {
            [b'%', ..] => true,
            [b'[', ..] => word.starts_with("[Event"),
            _ => false,
        };
        if begins_badly {
            text.same_line(word);
        } else {
            text.word(word);
        }
    }
    match is_escape {
        // For kokopu 4.13.4 `\}` is not the end: `/\` is an old sign for "with the idea".
        true => text.word("}"),
        false => text.close('}'),
    }
    true
}

/// A comment in which `[%` begins a whole command only, as `[%clk 0:01:00]`: for others
/// @mliebelt/pgn-parser 1.4.19 and @jackstenglein/chess 2.2.21 refuse the file. A blank
/// makes it text.
fn with_whole_commands(comment: &str) -> String {
    let mut parts = comment.split("[%");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let value = part.trim_start_matches(is_name);
        let is_whole = value.len() < part.len()
            && value.starts_with(|c: char| c.is_ascii_whitespace())
            && value.trim_ascii_start().find(']').is_some_and(|at| at > 0);
        text.push_str(if is_whole { "[%" } else { "[ %" });
        text.push_str(part);
    }
    text
}

/// Text with line breaks. The last word is in it, but counts only when it is complete: then it
/// may have to begin a line.
struct Wrapped<'o> {
    out: &'o mut String,
    /// Number of characters on the last line, up to the last word.
    column: usize,
    /// Where the last word begins. Opening brackets are before it, closing ones may be added.
    start: usize,
    /// Whether the last word is opening brackets alone.
    is_open: bool,
}

impl Wrapped<'_> {
    fn new(out: &mut String) -> Wrapped<'_> {
        Wrapped {
            column: 0,
            start: out.len(),
            is_open: false,
            out,
        }
    }

    /// Begins a word, unless brackets that open have begun it.
    fn begin(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            self.put();
            if self.column > 0 {
                self.out.push(' ');
            }
            self.start = self.out.len();
        }
    }

    fn word(&mut self, word: &str) {
        self.begin();
        self.out.push_str(word);
    }

    fn word_of(&mut self, word: std::fmt::Arguments<'_>) {
        self.begin();
        let _ = self.out.write_fmt(word);
    }

    /// Adds a word that must stay on the line of the previous one.
    fn same_line(&mut self, word: &str) {
        if !self.is_open && self.start < self.out.len() {
            self.out.push(' ');
        }
        self.is_open = false;
        self.out.push_str(word);
    }

    fn open(&mut self, bracket: char) {
        self.begin();
        self.out.push(bracket);
        self.is_open = true;
    }

    fn close(&mut self, bracket: char) {
        self.is_open = false;
        self.out.push(bracket);
    }

    /// Completes the last word.
    fn put(&mut self) {
        let word = self.out.get(self.start..).unwrap_or_default();
        if word.is_empty() {
            return;
        }
        let length = match word.is_ascii() {
            true => word.len(),
            false => word.chars().count(),
        };
        if self.column > 0 {
            self.column += 1;
            if self.column + length > COLUMNS {
                self.out.replace_range(self.start - 1..self.start, "\n");
                self.column = 0;
            }
        }
        self.column += length;
        self.start = self.out.len();
    }
}
