//! Splits PGN text into tokens, without copying it.
//!
//! Every word is returned, even one without meaning: without that move, the
//! moves after it would be another game. (`pgn-reader` does not report such words.)
//! These common errors in PGN are corrected: tags over several lines, with other quotation
//! marks, none or too many of them, with text after them; empty
//! lines between the moves of a game; results that are glued to the last move.
//!
//! A game is its tags, in any order, and the movetext after them; the next tag begins
//! the next game, and so does a first move after the result. [`last_start`] finds such a place without reading all text before it.

mod results;
mod starts;
mod tag;
#[cfg(test)]
mod tests;

use memchr::{memchr, memchr2, memchr3, memmem, memrchr};
use shakmaty::Chess;
use shakmaty::san::San;

use super::tags::{blanks, odd_name, odd_value, quote, space_in_utf8, unquoted_end};
use crate::{GameResult, encodings};
use results::dash;
pub(super) use results::{final_result, result_at};
pub(super) use starts::last_start;
pub(super) use tag::is_tag;
use tag::{begins_tags, closing, is_tag_line, odd_closing, quoted_tags, value_of_tag};

/// A tokenizer: a text, and the position in it.
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    /// Offset of the last token.
    start: usize,
    /// Offset of the game.
    head: usize,
    /// Whether an empty line precedes the next tag.
    is_gap: bool,
    /// Offset of the movetext.
    movetext: usize,
    /// Up to this offset, the movetext has only comments.
    comments_end: usize,
    /// Comments between tags.
    notes: Vec<Token<'t>>,
    /// Offset of a comment without an end. The game ends there.
    unclosed: Option<usize>,
    /// No line begins with `[` between the place where this was computed and this offset.
    bracket_line: usize,
    /// Whether a comment contains what looks like the tags of a game.
    has_tags_in_comment: bool,
    /// The result at the end of the movetext, if it was skipped.
    skipped_result: Option<GameResult>,
    /// What has been read of the movetext.
    seen: Seen,
}

/// What the tokens of a movetext so far tell about its end.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Number of open variations.
    depth: usize,
    /// Whether a `)` ended none.
    has_closing: bool,
    /// Whether there was a move or another word.
    has_words: bool,
    /// Whether a result followed a move, outside variations.
    is_over: bool,
}

impl Seen {
    #[inline]
    fn note(&mut self, token: &Token<'_>) {
        match token {
            Token::Move(_) | Token::Word(_) => self.has_words = true,
            Token::Begin => self.depth += 1,
            Token::End => match self.depth.checked_sub(1) {
                Some(depth) => self.depth = depth,
                None => self.has_closing = true,
            },
            // Before any move, a result is one of the moves that follow.
            Token::Result(_) => self.is_over |= self.depth == 0 && self.has_words,
            _ => {}
        }
    }
}

/// A token of the movetext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A move in standard SAN, without check or mate sign.
    Move(San),
    /// Any other word.
    Word(&'t [u8]),
    Nag(u32),
    /// A comment in braces.
    Comment(&'t [u8]),
    /// A comment from a semicolon to the end of the line.
    LineComment(&'t [u8]),
    /// A comment without a closing brace.
    Unclosed,
    /// `(`
    Begin,
    /// `)`
    End,
    Result(GameResult),
}

/// A tag: its name, and its value as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'t> {
    pub(super) name: &'t [u8],
    pub(super) value: &'t [u8],
    /// Whether an app has put blanks of Unicode in the place of all blanks of the tag.
    pub(super) has_wide_blanks: bool,
    /// Its offset, with the comments before it.
    start: usize,
    /// Whether an empty line precedes it.
    after_gap: bool,
}

/// Greatest number of lines of a tag.
const TAG_LINES: usize = 4;

/// Greatest number of tags of a game that are compared with those after an empty line.
const COMPARED_TAGS: usize = 64;

/// After an empty line, the moves of a game may go on after this number of comments.
const COMMENTS_BETWEEN_MOVES: usize = 4;

/// So far ahead the next line that begins with `[` is searched at once.
const BRACKET_BYTES: usize = 4 << 10;

/// So much of a line is searched at first for the end of its game: the rest may be many games.
const LINE_BYTES: usize = 1 << 10;

/// Within this distance after the tags of another game, a comment must end, or it has
/// no end.
const QUOTED_GAME_BYTES: usize = 64 << 10;

impl<'t> Tokens<'t> {
    /// Reads `text` from offset `at` on.
    pub(super) fn new(text: &'t [u8], at: usize) -> Tokens<'t> {
        Tokens {
            text,
            at,
            start: at,
            head: at,
            is_gap: false,
            movetext: at,
            comments_end: at,
            notes: Vec::new(),
            unclosed: None,
            bracket_line: 0,
            has_tags_in_comment: false,
            skipped_result: None,
            seen: Seen::default(),
        }
    }

    /// Offset of the next token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Offset of the last token.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The last token as written.
    pub(super) fn last(&self) -> &'t [u8] {
        self.text.get(self.start..self.at).unwrap_or_default()
    }

    /// The text that has not been read.
    #[inline]
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Moves to the next `byte`, or to the end; returns the text before it.
    fn until(&mut self, byte: u8) -> &'t [u8] {
        let rest = self.rest();
        let length = memchr(byte, rest).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Skips whitespace, and lines that begin with `%`; returns whether there was an
    /// empty line.
    fn skip_space(&mut self, mut is_line_start: bool) -> bool {
        let mut is_gap = false;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'>' | 0x1a => {}
                b'\n' => (is_line_start, is_gap) = (true, is_line_start),
                b'%' if is_line_start => {
                    self.until(b'\n');
                }
                0x80.. => match space_in_utf8(self.rest()) {
                    Some(length) => self.at += length - 1,
                    None => break,
                },
                _ => break,
            }
            self.at += 1;
        }
        is_gap
    }

    /// Moves to the next game; false at the end of the text.
    pub(super) fn go_to_game(&mut self) -> bool {
        self.skip_space(true);
        self.unclosed = None;
        self.seen = Seen::default();
        (self.head, self.is_gap) = (self.at, false);
        self.at < self.text.len()
    }

    /// Offset of the comment that ends the game because it has no end.
    pub(super) fn unclosed(&self) -> Option<usize> {
        self.unclosed
    }

    /// Whether a variation is open.
    pub(super) fn is_in_variation(&self) -> bool {
        self.seen.depth > 0
    }

    /// Whether a `)` ended no variation.
    pub(super) fn has_closing(&self) -> bool {
        self.seen.has_closing
    }

    /// The movetext from its beginning.
    #[cold]
    pub(super) fn again(&self) -> Tokens<'t> {
        Tokens {
            at: self.movetext,
            notes: Vec::new(),
            seen: Seen::default(),
            ..*self
        }
    }

    /// Whether no more than comments follow in the movetext.
    #[cold]
    pub(super) fn is_last(&self) -> bool {
        let mut rest = Tokens {
            notes: Vec::new(),
            ..*self
        };
        loop {
            match rest.next() {
                None => return true,
                Some(Token::Comment(_) | Token::LineComment(_)) => {}
                Some(_) => return false,
            }
        }
    }

    /// Whether a comment of the game contains what looks like the tags of another one.
    pub(super) fn has_tags_in_comment(&self) -> bool {
        self.has_tags_in_comment
    }

    /// The result that ends the movetext, if [`Tokens::skip_movetext`] skipped it.
    pub(super) fn skipped_result(&self) -> Option<GameResult> {
        self.skipped_result
    }

    /// The next tag of the game; `None` at the movetext. After an empty line, tags that
    /// repeat one of this game begin the next game.
    pub(super) fn next_tag(&mut self) -> Option<Tag<'t>> {
        let notes = self.notes.len();
        let tag = self.any_tag()?;
        if tag.after_gap && self.is_of_next_game(tag.start) {
            // This game has no movetext: it ends with the line before.
            let before = self.text.get(..tag.start).unwrap_or_default();
            let line_end = memrchr(b'\n', before).filter(|at| *at > self.head);
            self.at = line_end.unwrap_or(tag.start);
            self.movetext = self.at;
            self.notes.truncate(notes);
            return None;
        }
        Some(tag)
    }

    /// Whether the tags from an offset on repeat one of this game.
    #[cold]
    fn is_of_next_game(&self, start: usize) -> bool {
        let names = |text: &'t [u8], at, one_part: bool| {
            let mut tokens = Tokens::new(text, at);
            let tags = std::iter::from_fn(move || tokens.any_tag()).enumerate();
            let tags = tags.take_while(move |(count, tag)| {
                *count == 0 || *count < COMPARED_TAGS && !(one_part && tag.after_gap)
            });
            tags.map(|(_, tag)| tag.name)
        };
        let read: Vec<&[u8]> =
            names(self.text.get(..start).unwrap_or_default(), self.head, false).collect();
        names(self.text, start, true)
            .any(|name| read.iter().any(|other| name.eq_ignore_ascii_case(other)))
    }

    /// The next tag, of this game or the next one; `None` at the movetext.
    fn any_tag(&mut self) -> Option<Tag<'t>> {
        loop {
            let start = self.at;
            if self.peek() != Some(b'[') && !self.skip_notes() {
                break;
            }
            if !is_tag(self.rest()) {
                // Not a tag, such as `[%clk 1]` or `[]`.
                let rest = self.rest();
                self.at += memchr2(b']', b'\n', rest).map_or(rest.len(), |at| at + 1);
                self.is_gap |= self.skip_space(true);
                continue;
            }
            let Some((name, value)) = self.tag() else {
                self.is_gap |= self.end_tag();
                continue;
            };
            let after_gap = self.is_gap;
            self.is_gap = self.end_tag();
            let has_wide_blanks = !value.is_ascii() && self.has_wide_blanks(start, value);
            return Some(Tag {
                name,
                value,
                has_wide_blanks,
                start,
                after_gap,
            });
        }
        self.movetext = self.at;
        None
    }

    /// Whether the tag that begins at an offset has blanks of Unicode before its value.
    #[cold]
    fn has_wide_blanks(&self, start: usize, value: &[u8]) -> bool {
        let end = (value.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(start..end).unwrap_or_default();
        let is_wide = |c: char| c.is_whitespace() && !c.is_ascii();
        encodings::text(before).contains(is_wide)
    }

    /// Takes the comments between the tags of a game.
    pub(super) fn notes(&mut self) -> Vec<Token<'t>> {
        std::mem::take(&mut self.notes)
    }

    /// Skips comments that are followed by a tag; false if there are none.
    fn skip_notes(&mut self) -> bool {
        let (start, count) = (self.at, self.notes.len());
        loop {
            let note = match self.peek() {
                Some(b'{') => self.braces(),
                Some(b';') => self.line_comment(),
                _ => break,
            };
            if note == Token::Unclosed {
                // The movetext begins with it.
                break;
            }
            self.notes.push(note);
            self.is_gap |= self.skip_space(false);
        }
        let is_closed = self.unclosed.take().is_none();
        let found = is_closed && self.at > start && is_tag(self.rest());
        if !found {
            self.at = start;
            self.notes.truncate(count);
        }
        found
    }

    /// Reads name and value of a tag at the current position; `None` if it has no value.
    fn tag(&mut self) -> Option<(&'t [u8], &'t [u8])> {
        self.at += 1;
        let line = self.rest();
        let left = memchr3(b'"', b'\n', b']', line).unwrap_or(line.len());
        let name = line.get(..left).unwrap_or_default().trim_ascii();
        match line.get(left) {
            Some(b'"') if name.iter().all(u8::is_ascii_graphic) => {
                Some(self.quoted(name, line, left + 1))
            }
            _ => self.odd_tag(),
        }
    }

    /// The value of a tag after its quotation mark, at an offset in `line`.
    #[inline]
    fn quoted(&mut self, name: &'t [u8], line: &'t [u8], from: usize) -> (&'t [u8], &'t [u8]) {
        let value = line.get(from..).unwrap_or_default();
        let closed = closing(value);
        let length = closed.unwrap_or_else(|| odd_closing(value));
        self.at += from + length;
        let inside = value.get(..length).unwrap_or_default();
        let has_mark = closed.is_some() || value.get(length) == Some(&b'"');
        let inside = match has_mark {
            true => inside,
            false => unquoted_end(inside).unwrap_or(inside),
        };
        (name, inside)
    }

    /// Reads a tag with white space in unusual places, with other quotation marks, with
    /// words before them, or without any.
    #[cold]
    fn odd_tag(&mut self) -> Option<(&'t [u8], &'t [u8])> {
        self.at += blanks(self.rest());
        let line = self.rest();
        if let Some((name, after)) = odd_name(line) {
            let at = after + blanks(line.get(after..).unwrap_or_default());
            let value = line.get(at..).unwrap_or_default();
            match quote(value) {
                Some((_, true)) => return Some(self.quoted(name, line, at + 1)),
                Some(_) => {
                    if let Some((value, length)) = odd_value(value) {
                        self.at += at + length;
                        return Some((name, value));
                    }
                }
                None => {}
            }
        }
        // No quotation marks, or words before them.
        let end = memchr(b'\n', line).unwrap_or(line.len());
        let whole = line.get(..end).unwrap_or_default();
        let end = memrchr(b']', whole).unwrap_or(end);
        self.at += end;
        let whole = line.get(..end).unwrap_or_default().trim_ascii();
        let blank = whole.iter().position(u8::is_ascii_whitespace)?;
        let (name, value) = whole.split_at_checked(blank)?;
        Some((name, value.trim_ascii()))
    }

    /// Skips the end of a tag and the text after it that is not movetext;
    /// returns whether an empty line follows.
    fn end_tag(&mut self) -> bool {
        let is_blank = |byte| matches!(byte, Some(b' ' | b'\t' | b'\r' | b'"'));
        while is_blank(self.peek()) {
            self.at += 1;
        }
        if self.peek() != Some(b']') {
            self.go_to_bracket();
        }
        if self.peek() == Some(b']') {
            self.at += 1;
        }
        while is_blank(self.peek()) {
            self.at += 1;
        }
        match self.peek() {
            None | Some(b'[' | b'\n' | b'{' | b';') => {}
            Some(first) => {
                let rest = self.rest();
                let is_move = first.is_ascii_digit()
                    || matches!(first, b'*' | b'(')
                    || San::from_ascii_prefix(rest).is_ok();
                let end = memchr(b'\n', rest).unwrap_or(rest.len());
                let next = rest.get(end..).unwrap_or_default().trim_ascii_start();
                if !is_move && is_tag(next) {
                    self.at += end;
                }
            }
        }
        self.skip_space(false)
    }

    /// Goes to the closing bracket of a tag, if only white space is before it.
    #[cold]
    fn go_to_bracket(&mut self) {
        let rest = self.rest();
        let length = blanks(rest);
        if rest.get(length) == Some(&b']') {
            self.at += length;
        }
    }

    /// Skips a line end in the movetext; returns true if the movetext ends
    /// with it.
    fn ends_with_line(&mut self) -> bool {
        self.at += 1;
        match self.peek() {
            Some(b'%') => {
                self.until(b'\n');
                false
            }
            Some(b'[') => is_tag(self.rest()),
            Some(b'\n' | b'\r' | b' ' | b'\t') => {
                let rest = self.rest();
                match is_empty_line(rest) {
                    true => self.ends_with_gap(),
                    false => is_tag_line(rest.trim_ascii_start()),
                }
            }
            // A game without tags.
            Some(b'1') if self.rest().starts_with(b"1.") => self.is_over(),
            _ => false,
        }
    }

    /// Whether the movetext so far ends with a result, and perhaps comments.
    fn is_over(&self) -> bool {
        let before = self.text.get(self.movetext..self.at);
        let mut before = before.unwrap_or_default().trim_ascii_end();
        while let Some(start) = memrchr(b'{', before).filter(|_| before.ends_with(b"}")) {
            before = before.get(..start).unwrap_or_default().trim_ascii_end();
        }
        final_result(before).is_some()
    }

    /// Whether an empty line ends the movetext. It does not between comments and
    /// moves, or, without a result, before the result, a move, a variation or a number
    /// above 1.
    fn ends_with_gap(&mut self) -> bool {
        let mut tokens = Tokens::new(self.text, self.at);
        tokens.skip_space(true);
        let next = tokens.rest();
        match next.first() {
            None => return true,
            Some(b'[') => return is_tag(next),
            Some(_) => {}
        }
        let unread = self.comments_end.max(self.movetext);
        let before = self.text.get(unread..self.at).unwrap_or_default();
        if is_only_comments(before) {
            self.comments_end = self.at;
            return false;
        }
        if self.is_over() {
            return true;
        }
        for _ in 0..COMMENTS_BETWEEN_MOVES {
            match tokens.peek() {
                Some(b'{') => drop(tokens.braces()),
                Some(b';') => drop(tokens.line_comment()),
                _ => break,
            }
            tokens.skip_space(true);
        }
        let next = tokens.rest();
        let digits = next.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = next.get(..digits).unwrap_or_default();
        let after = next.get(digits..).unwrap_or_default();
        let is_later = match number {
            b"" => matches!(next.first(), Some(b'(' | b')')),
            b"0" => false,
            b"1" => after.starts_with(b"...") || after.starts_with("…".as_bytes()),
            _ => after.starts_with(b".") || after.starts_with("…".as_bytes()),
        };
        tokens.start = tokens.at;
        let mut is_move = || {
            matches!(tokens.word(), Some(Token::Move(_))) || {
                // Before a wide space, it is a word.
                let san = San::from_ascii_prefix(next);
                let after = san.map_or(&b""[..], |(_, length)| {
                    next.get(length..).unwrap_or_default()
                });
                let check = usize::from(matches!(after.first(), Some(b'+' | b'#')));
                space_in_utf8(after.get(check..).unwrap_or_default()).is_some()
            }
        };
        !is_later && !next.starts_with(b"*") && result_at(next).is_none() && !is_move()
    }

    /// The next token of the movetext; `None` at its end.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let byte = self.peek()?;
            self.start = self.at;
            let token = match byte {
                b' ' | b'\t' | b'\r' | b'.' | b',' | b'}' | b'>' | 0x1a => {
                    self.at += 1;
                    continue;
                }
                b'\n' if self.ends_with_line() => return None,
                b'\n' => continue,
                b'1' if self.seen.is_over && self.begins_game() => return None,
                b'0'..=b'9' => self.number(),
                b'{' => Some(self.braces()),
                b';' => Some(self.line_comment()),
                b'(' => Some(self.opening()),
                b')' | b'*' => {
                    self.at += 1;
                    Some(match byte {
                        b')' => Token::End,
                        _ => Token::Result(GameResult::Unknown),
                    })
                }
                b'$' => self.numbered_nag(),
                b'!' | b'?' => Some(self.sign()),
                b'[' => match self.bracket() {
                    Bracket::NextGame => return None,
                    Bracket::Command => continue,
                    Bracket::Text => self.odd_word(),
                },
                _ => self.word(),
            };
            if let Some(token) = token {
                self.seen.note(&token);
                return Some(token);
            }
        }
    }

    /// Whether the number 1 here, after a result, is that of the first move of a game: some
    /// programs write many games without tags on one line.
    #[cold]
    fn begins_game(&self) -> bool {
        if self.seen.depth > 0 {
            return false;
        }
        let number = self.rest();
        let has_dot = number.get(1) == Some(&b'.');
        let first = number.get(1 + usize::from(has_dot)..).unwrap_or_default();
        let mut tokens = Tokens::new(first, 0);
        tokens.skip_space(false);
        let rest = tokens.rest();
        let has_blank = rest.len() < first.len();
        if !has_dot {
            // Such a number may be anything: only a legal first move makes it one of a game.
            let san = San::from_ascii_prefix(rest).ok().filter(|_| has_blank);
            return san.is_some_and(|(san, _)| san.to_move(&Chess::default()).is_ok());
        }
        match rest.first() {
            // `1...` is a move of Black.
            None | Some(b'.' | b'*' | b')' | b'}' | b'[') => false,
            // `1.0-0` is a word.
            Some(b'0' | b'5') if !has_blank => false,
            Some(b'{' | b';' | b'(') => true,
            // Not the `1. prize` or a result. A move is not tested any further: an illegal one
            // must be reported, not dropped.
            Some(_) => {
                let length = word_length(rest);
                let word = encodings::text(rest.get(..length).unwrap_or_default());
                let is_move = word.bytes().any(|byte| byte.is_ascii_digit())
                    || tabia_notation::is_null(&word);
                is_move && !word.starts_with('…') && result_at(rest).is_none()
            }
        }
    }

    /// Reads the beginning of a variation, or a sign in brackets: `(!?)`.
    fn opening(&mut self) -> Token<'t> {
        if let Some(b'!' | b'?' | b'+' | b'-' | b'N' | b'T' | 0x80..) = self.text.get(self.at + 1)
            && let Some((nag, length)) = sign_in_brackets(self.rest())
        {
            self.at += length;
            return Token::Nag(nag.into());
        }
        self.at += 1;
        Token::Begin
    }

    /// Reads a comment in braces. One without an end is cut off at the tags of the next
    /// game.
    #[inline]
    fn braces(&mut self) -> Token<'t> {
        let start = self.at;
        self.at += 1;
        let rest = self.rest();
        match memchr(b'}', rest) {
            Some(length) if self.at + length < self.bracket_line => {
                self.at += length + 1;
                Token::Comment(rest.get(..length).unwrap_or_default())
            }
            end => self.lines_in_braces(start, end),
        }
    }

    /// Reads a comment, whose text begins here, to its `}` at `end`, unless tags before
    /// that show that it has no end.
    #[cold]
    fn lines_in_braces(&mut self, start: usize, end: Option<usize>) -> Token<'t> {
        let rest = self.rest();
        let mut from = 0;
        loop {
            let window = (from + BRACKET_BYTES).min(rest.len());
            let found = memmem::find(rest.get(from..window).unwrap_or_default(), b"\n[");
            let bracket = match found {
                Some(at) => from + at + 1,
                None if window == rest.len() => window,
                // The last byte may be a line end.
                None => window - 1,
            };
            self.bracket_line = self.at + bracket;
            if let Some(end) = end.filter(|end| *end < bracket) {
                self.at += end + 1;
                return Token::Comment(rest.get(..end).unwrap_or_default());
            }
            from = bracket;
            let is_end = bracket == rest.len();
            if is_end || found.is_some() && begins_tags(self.text, self.bracket_line) {
                let tags = rest.get(bracket..).unwrap_or_default();
                let Some(quoted) = quoted_tags(tags) else {
                    self.unclosed = Some(start);
                    self.at = self.bracket_line;
                    return Token::Unclosed;
                };
                self.has_tags_in_comment = true;
                from += quoted;
            }
        }
    }

    fn line_comment(&mut self) -> Token<'t> {
        self.at += 1;
        Token::LineComment(self.until(b'\n'))
    }

    /// Reads a move number with dots, a result, castling with zeros, a null move of zeros or,
    /// as a word, any other number.
    #[inline]
    fn number(&mut self) -> Option<Token<'t>> {
        let rest = self.rest();
        let mut digits = 1;
        while rest.get(digits).is_some_and(u8::is_ascii_digit) {
            digits += 1;
        }
        match rest.get(digits) {
            // Not `0.5-0.5`.
            Some(b'.') if !matches!(rest.get(digits + 1), Some(b'0' | b'5')) => {
                self.at += digits + 1;
                None
            }
            _ => self.odd_number(digits),
        }
    }

    #[cold]
    fn odd_number(&mut self, digits: usize) -> Option<Token<'t>> {
        let rest = self.rest();
        if let Some((result, length)) = result_at(rest) {
            self.at += length;
            return Some(Token::Result(result));
        }
        let after = rest.get(digits..).unwrap_or_default();
        if after.starts_with(b".") || after.starts_with("…".as_bytes()) {
            self.at += digits + usize::from(after.starts_with(b"."));
            return None;
        }
        let number = rest.get(..digits).unwrap_or_default();
        // Other marks may follow a move: `00+`, `5254!`.
        let is_move = matches!(number, b"00" | b"000") || (4..=5).contains(&digits);
        // In UTF-8, figurines begin like dashes.
        if is_move || dash(after).is_some() || after.starts_with(b"/") {
            return self.odd_word();
        }
        self.at += digits;
        Some(Token::Word(number))
    }

    /// Whether a move number is right before the last token.
    pub(super) fn follows_number(&self) -> bool {
        let before = self.text.get(self.movetext..self.start);
        let mut before = before.unwrap_or_default().trim_ascii_end();
        let has_dots = before.ends_with(b".");
        while let Some(rest) = before.strip_suffix(b".") {
            before = rest;
        }
        let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        let first = before.len() - digits;
        let is_alone = first == 0 || before.get(first - 1).is_some_and(u8::is_ascii_whitespace);
        // Four digits are the squares of a move.
        digits > 0 && (has_dots || is_alone && digits < 4)
    }

    fn numbered_nag(&mut self) -> Option<Token<'t>> {
        self.at += 1;
        let rest = self.rest();
        let mut digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        // In `$11-0`, the last digit belongs to the result.
        let last = digits.saturating_sub(1);
        let last_on = rest.get(last..).unwrap_or_default();
        if digits > 0 && !rest.get(digits).is_none_or(|byte| ends_word(*byte)) {
            digits -= usize::from(result_at(last_on).is_some());
        }
        self.at += digits;
        let digits = std::str::from_utf8(rest.get(..digits)?).ok()?;
        let nag = digits.parse().unwrap_or(u32::MAX);
        (!digits.is_empty()).then_some(Token::Nag(nag))
    }

    /// Reads a sign such as `?!`.
    fn sign(&mut self) -> Token<'t> {
        let (nag, length) = match self.rest() {
            [b'!', b'!', ..] => (3, 2),
            [b'!', b'?', ..] => (5, 2),
            [b'!', ..] => (1, 1),
            [_, b'!', ..] => (6, 2),
            [_, b'?', ..] => (4, 2),
            _ => (2, 1),
        };
        self.at += length;
        Token::Nag(nag)
    }

    #[inline]
    fn word(&mut self) -> Option<Token<'t>> {
        let rest = self.rest();
        if let Ok((san, length)) = San::from_ascii_prefix(rest) {
            let is_check = matches!(rest.get(length), Some(b'+' | b'#'));
            let length = length + usize::from(is_check);
            let ends = match rest.get(length) {
                // `e8(Q)` is a word.
                Some(b'(') => bracketed_promotion(rest.get(length..).unwrap_or_default()) == 0,
                Some(byte) => ends_word(*byte) || result_at(rest.get(length..)?).is_some(),
                None => true,
            };
            if ends {
                self.at += length;
                return Some(Token::Move(san));
            }
        }
        self.odd_word()
    }

    /// Reads a word that is not standard SAN.
    #[cold]
    fn odd_word(&mut self) -> Option<Token<'t>> {
        let rest = self.rest();
        if let Some(length) = space_in_utf8(rest) {
            self.at += length;
            return None;
        }
        // A blank of Windows-1252.
        if rest.starts_with(b"\xa0") {
            self.at += 1;
            return None;
        }
        if let Some((result, length)) = result_at(rest) {
            self.at += length;
            return Some(Token::Result(result));
        }
        let mut length = word_length(rest);
        let mut word = rest.get(..length).unwrap_or_default();
        if let Some(at) = memchr(0xa0, word).filter(|_| std::str::from_utf8(word).is_err()) {
            (word, length) = (word.get(..at).unwrap_or_default(), at);
        }
        // The result may be glued to it.
        let glued = (1..length).find(|at| result_at(word.get(*at..).unwrap_or_default()).is_some());
        let length = glued.unwrap_or(length);
        self.at += length;
        Some(Token::Word(word.get(..length).unwrap_or_default()))
    }

    /// Examines a `[` in the movetext that does not begin a line. Skips a command such
    /// as `[%clk 1]`.
    fn bracket(&mut self) -> Bracket {
        let rest = self.rest();
        if rest.starts_with(b"[%") {
            let length = memchr2(b']', b'\n', rest).unwrap_or(rest.len());
            self.at += length + usize::from(rest.get(length) == Some(&b']'));
            return Bracket::Command;
        }
        let is_next = || self.is_over() || self.follows_comment() && rest.starts_with(b"[Event");
        match value_of_tag(rest).is_some() && is_next() {
            true => Bracket::NextGame,
            false => Bracket::Text,
        }
    }

    /// Whether a comment ends here.
    fn follows_comment(&self) -> bool {
        let before = self.text.get(self.movetext..self.at).unwrap_or_default();
        before.trim_ascii_end().ends_with(b"}")
    }

    /// Skips a variation up to the `)` that closes it.
    pub(super) fn skip_variation(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return,
                b')' => depth -= 1,
                b'{' | b';' | b'\n' | b'[' => {
                    let start = self.at;
                    match self.skip_special(byte) {
                        true if byte == b'\n' => self.at = start,
                        false => continue,
                        true => {}
                    }
                    // The movetext ends here.
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips the rest of the movetext. It ends where reading would end.
    pub(super) fn skip_movetext(&mut self) {
        if self.unclosed.is_some() {
            return;
        }
        let mut reader = Tokens {
            notes: Vec::new(),
            ..*self
        };
        loop {
            let rest = self.rest();
            let mut window = LINE_BYTES;
            let (length, is_next_game) = loop {
                let part = rest.get(..window).unwrap_or(rest);
                let special = memchr3(b'\n', b'{', b';', part);
                let line = part
                    .get(..special.unwrap_or(part.len()))
                    .unwrap_or_default();
                let special = memchr(b'[', line).or(special);
                let length = special.unwrap_or(part.len());
                if let Some(next) = self.next_game(&mut reader, length) {
                    break (next, true);
                }
                if special.is_some() || part.len() == rest.len() {
                    break (length, false);
                }
                window *= 2;
            };
            let part = rest.get(..length).unwrap_or_default().trim_ascii();
            if !part.is_empty() {
                self.skipped_result = final_result(part);
            }
            self.at += length;
            if is_next_game {
                return;
            }
            let Some(byte) = self.peek() else { return };
            if self.skip_special(byte) {
                return;
            }
        }
    }

    /// Offset in the next `length` bytes of the number at which `reader` ends the movetext.
    /// The tokens before it are read only where a 1 may be such a number, each of them once.
    fn next_game(&self, reader: &mut Tokens<'t>, length: usize) -> Option<usize> {
        let rest = self.rest();
        let may_be_number = |at: usize| {
            let before = self.text.get(..self.at + at).unwrap_or_default().last();
            let after = rest.get(at + 1);
            !before.is_some_and(u8::is_ascii_alphanumeric)
                && after.is_some_and(|byte| matches!(byte, b'.' | b' ' | b'\t'..=b'\r' | 0x80..))
        };
        let ones = memchr::memchr_iter(b'1', rest.get(..length).unwrap_or_default());
        ones.filter(|&at| may_be_number(at)).find(|&at| {
            let at = self.at + at;
            let mut is_end = false;
            while reader.at <= at && !is_end {
                is_end = reader.next().is_none();
            }
            is_end && reader.at == at
        })
    }

    /// Skips a comment, a line end or a bracket, which begins with `byte`; true if the
    /// movetext ends there.
    fn skip_special(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => self.ends_with_line(),
            b'{' => self.braces() == Token::Unclosed,
            b';' => {
                self.line_comment();
                false
            }
            _ => match self.bracket() {
                Bracket::NextGame => true,
                Bracket::Command => false,
                Bracket::Text => {
                    self.at += 1;
                    false
                }
            },
        }
    }
}

/// What a `[` in the movetext is.
enum Bracket {
    /// The first tag of the next game, after the result.
    NextGame,
    /// A command such as `[%clk 1]`.
    Command,
    Text,
}

/// Whether the text begins with a numbered move.
pub(super) fn is_numbered(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && text.get(digits) == Some(&b'.')
}

fn is_empty_line(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    bytes.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) == Some(&b'\n')
}

/// Whether a text consists of comments only.
fn is_only_comments(text: &[u8]) -> bool {
    let mut tokens = Tokens::new(text, 0);
    loop {
        tokens.skip_space(true);
        match tokens.peek() {
            None => return true,
            Some(b'{') => drop(tokens.braces()),
            Some(b';') => drop(tokens.line_comment()),
            Some(_) => return false,
        }
    }
}

fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\r'
            | b'{'
            | b'}'
            | b'('
            | b')'
            | b'!'
            | b'?'
            | b'$'
            | b';'
            | b'.'
            | b'*'
            | b','
            | b'['
            | 0x1a
    )
}

/// Length of a piece in brackets, such as `(Q)`; 0 for anything else.
fn bracketed_promotion(text: &[u8]) -> usize {
    let length = text.iter().take(5).position(|byte| *byte == b')');
    let inside = length.and_then(|length| text.get(1..length));
    let inside = inside.unwrap_or_default();
    if inside.iter().any(|byte| b"{};\n".contains(byte)) {
        return 0;
    }
    let is_one = std::str::from_utf8(inside).is_ok_and(|text| text.chars().count() == 1);
    match is_one || inside.len() == 1 {
        true => inside.len() + 2,
        false => 0,
    }
}

/// Length of a word, at least one byte.
fn word_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let ends = match byte {
            // The abbreviation "e.p."
            b'.' => text
                .get(at + 1)
                .is_none_or(|&next| !next.is_ascii_alphabetic()),
            b'(' => {
                let length = bracketed_promotion(rest);
                at += length;
                length == 0
            }
            _ => ends_word(byte) || space_in_utf8(rest).is_some(),
        };
        if ends {
            break;
        }
        at += usize::from(byte != b'(');
    }
    at
}

/// The NAG of a sign in brackets at the start of a text, and its length. `(=)` is not one: on
/// score sheets it is the offer of a draw.
#[cold]
fn sign_in_brackets(text: &[u8]) -> Option<(u8, usize)> {
    let inside = text.get(1..text.len().min(12))?;
    let inside = inside.get(..memchr(b')', inside)?)?;
    let nag = tabia_notation::nag(std::str::from_utf8(inside).ok()?)?;
    Some((nag, inside.len() + 2))
}
