//! Splits PGN text into tokens, without copying it.
//!
//! Every word is returned, even one without meaning: without that move, the
//! moves after it would be another game. (`pgn-reader` does not report such words.)
//! These common errors in PGN are corrected: tags over two lines, without
//! quotation marks or with too many of them, with text after them; empty
//! lines between the moves of a game.

use memchr::{memchr, memchr2, memchr3, memrchr};
use shakmaty::Color;
use shakmaty::san::San;

use super::GameResult;

/// A tokenizer: a text, and the position in it.
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    /// Offset of the last token.
    start: usize,
    /// Offset of the movetext.
    movetext: usize,
    /// Comments between tags.
    notes: Vec<Token<'t>>,
}

/// A token of the movetext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A move in standard SAN, without check or mate sign.
    Move(San),
    /// Any other word.
    Word(&'t [u8]),
    Nag(u8),
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
}

/// Greatest number of lines of a tag.
const TAG_LINES: usize = 4;

impl<'t> Tokens<'t> {
    /// Reads `text` from offset `at` on.
    pub(super) fn new(text: &'t [u8], at: usize) -> Tokens<'t> {
        Tokens {
            text,
            at,
            start: at,
            movetext: at,
            notes: Vec::new(),
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
                    continue;
                }
                0xef if self.rest().starts_with(b"\xef\xbb\xbf") => self.at += 2,
                _ => break,
            }
            self.at += 1;
        }
        is_gap
    }

    /// Moves to the next game; false at the end of the text.
    pub(super) fn go_to_game(&mut self) -> bool {
        self.skip_space(true);
        self.at < self.text.len()
    }

    /// The next tag; `None` at the movetext. After an empty line, a tag named `first`
    /// begins the next game. `is_gap`: whether an empty line comes before the tag; it is
    /// updated for the next one.
    pub(super) fn next_tag(&mut self, first: Option<&[u8]>, is_gap: &mut bool) -> Option<Tag<'t>> {
        loop {
            let start = self.at;
            if self.peek() != Some(b'[') && !self.skip_notes() {
                break;
            }
            if !is_tag(self.rest()) {
                // Not a tag, such as `[%clk 1]` or `[]`.
                let rest = self.rest();
                self.at += memchr2(b']', b'\n', rest).map_or(rest.len(), |at| at + 1);
                *is_gap |= self.skip_space(true);
                continue;
            }
            let Some(tag) = self.tag() else {
                *is_gap |= self.end_tag();
                continue;
            };
            if *is_gap && first == Some(tag.name) {
                // The next game begins, so this one has no movetext.
                let before = self.text.get(..start).unwrap_or_default();
                self.at = memrchr(b'\n', before).unwrap_or(start);
                break;
            }
            *is_gap = self.end_tag();
            return Some(tag);
        }
        self.movetext = self.at;
        None
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
            self.notes.push(note);
            self.skip_space(true);
        }
        let is_there = self.at > start && is_tag(self.rest());
        if !is_there {
            self.at = start;
            self.notes.truncate(count);
        }
        is_there
    }

    /// Reads a tag at the current position; `None` if it has no value.
    fn tag(&mut self) -> Option<Tag<'t>> {
        self.at += 1;
        let line = self.rest();
        let left = memchr3(b'"', b'\n', b']', line).unwrap_or(line.len());
        let name = line.get(..left).unwrap_or_default().trim_ascii();
        if line.get(left) == Some(&b'"') && !name.iter().any(u8::is_ascii_whitespace) {
            let start = left + 1;
            let value = line.get(start..).unwrap_or_default();
            let length = closing(value).unwrap_or_else(|| odd_closing(value));
            self.at += start + length;
            let value = value.get(..length).unwrap_or_default();
            return Some(Tag { name, value });
        }
        // The value may be on the next line.
        let next = line.get(left..).unwrap_or_default().trim_ascii_start();
        if line.get(left) == Some(&b'\n') && next.starts_with(b"\"") && !name.is_empty() {
            self.at += line.len() - next.len() + 1;
            let value = next.get(1..).unwrap_or_default();
            let length = closing(value).unwrap_or_else(|| odd_closing(value));
            self.at += length;
            let value = value.get(..length).unwrap_or_default();
            return Some(Tag { name, value });
        }
        // No quotation marks, or words before them.
        let end = memchr(b'\n', line).unwrap_or(line.len());
        let whole = line.get(..end).unwrap_or_default();
        let end = memrchr(b']', whole).unwrap_or(end);
        self.at += end;
        let whole = line.get(..end).unwrap_or_default().trim_ascii();
        let blank = whole.iter().position(u8::is_ascii_whitespace)?;
        let (name, value) = whole.split_at_checked(blank)?;
        let value = value.trim_ascii();
        Some(Tag { name, value })
    }

    /// Skips the end of a tag and the text after it that is not movetext;
    /// returns whether an empty line follows.
    fn end_tag(&mut self) -> bool {
        let is_blank = |byte| matches!(byte, Some(b' ' | b'\t' | b'\r' | b'"'));
        while is_blank(self.peek()) {
            self.at += 1;
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
            Some(b'\n' | b'\r') if is_empty_line(self.rest()) => self.ends_with_gap(),
            _ => false,
        }
    }

    /// Whether an empty line ends the movetext. It does not between comments and
    /// moves, or before a number above 1 without a result.
    fn ends_with_gap(&self) -> bool {
        let next = self.rest().trim_ascii_start();
        match next.first() {
            None => return true,
            Some(b'[') => return is_tag(next),
            Some(_) => {}
        }
        let before = self.text.get(self.movetext..self.at).unwrap_or_default();
        if is_only_comments(before) {
            return false;
        }
        let before = before.trim_ascii_end();
        let results: [&[u8]; 6] = [b"*", b"1-0", b"0-1", b"1/2", b"1:0", b"0:1"];
        let is_over = results.iter().any(|result| before.ends_with(result))
            || before.ends_with("½".as_bytes());
        let digits = next.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = next.get(..digits).unwrap_or_default();
        let is_later = !matches!(number, b"" | b"0" | b"1") && next.get(digits) == Some(&b'.');
        is_over || !is_later
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
                b'0'..=b'9' => self.number(),
                b'{' => Some(self.braces()),
                b';' => Some(self.line_comment()),
                b'(' | b')' | b'*' => {
                    self.at += 1;
                    Some(match byte {
                        b'(' => Token::Begin,
                        b')' => Token::End,
                        _ => Token::Result(GameResult::Unknown),
                    })
                }
                b'$' => self.numbered_nag(),
                b'!' | b'?' => Some(self.sign()),
                _ => self.word(),
            };
            if token.is_some() {
                return token;
            }
        }
    }

    fn braces(&mut self) -> Token<'t> {
        self.at += 1;
        let text = self.until(b'}');
        if self.at >= self.text.len() {
            return Token::Unclosed;
        }
        self.at += 1;
        Token::Comment(text)
    }

    fn line_comment(&mut self) -> Token<'t> {
        self.at += 1;
        Token::LineComment(self.until(b'\n'))
    }

    /// Reads a move number, a result, castling with zeros or a null move of zeros.
    #[inline]
    fn number(&mut self) -> Option<Token<'t>> {
        let rest = self.rest();
        let mut digits = 1;
        while rest.get(digits).is_some_and(u8::is_ascii_digit) {
            digits += 1;
        }
        match rest.get(digits) {
            Some(b'.') => {
                self.at += digits + 1;
                None
            }
            Some(b'-' | b'/' | b':' | 0xe2) => self.zeros_or_result(digits),
            _ if rest.starts_with(b"0000") => self.odd_word(),
            _ => {
                self.at += digits;
                None
            }
        }
    }

    #[cold]
    fn zeros_or_result(&mut self, digits: usize) -> Option<Token<'t>> {
        let rest = self.rest();
        let after = rest.get(digits..).unwrap_or_default();
        // In UTF-8, figurines and the dots of "1…" begin like dashes.
        let is_dash = matches!(
            after,
            [b'-' | b'/' | b':', ..] | [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..]
        );
        if !is_dash {
            self.at += digits;
            return None;
        }
        self.odd_word()
    }

    fn numbered_nag(&mut self) -> Option<Token<'t>> {
        self.at += 1;
        let rest = self.rest();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        let digits = std::str::from_utf8(rest.get(..digits)?).ok()?;
        digits.parse().ok().map(Token::Nag)
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
                Some(byte) => ends_word(*byte),
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
        // A command such as `[%clk 1]` outside a comment.
        if rest.starts_with(b"[%") {
            let length = memchr2(b']', b'\n', rest).unwrap_or(rest.len());
            self.at += length + usize::from(rest.get(length) == Some(&b']'));
            return None;
        }
        let length = word_length(rest);
        self.at += length;
        let word = rest.get(..length).unwrap_or_default();
        Some(result(word).map_or(Token::Word(word), Token::Result))
    }

    /// Skips a variation up to the `)` that closes it.
    pub(super) fn skip_variation(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return,
                b')' => depth -= 1,
                b'{' => {
                    self.braces();
                    continue;
                }
                b';' => {
                    self.line_comment();
                    continue;
                }
                b'\n' => {
                    let start = self.at;
                    if self.ends_with_line() {
                        // The movetext ends here.
                        self.at = start;
                        return;
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips the rest of the movetext.
    pub(super) fn skip_movetext(&mut self) {
        loop {
            let rest = self.rest();
            let Some(more) = memchr3(b'\n', b'{', b';', rest) else {
                self.at = self.text.len();
                return;
            };
            self.at += more;
            match rest.get(more) {
                Some(b'\n') if self.ends_with_line() => return,
                Some(b'{') => drop(self.braces()),
                Some(b';') => drop(self.line_comment()),
                _ => {}
            }
        }
    }
}

/// Whether the text begins with a numbered move.
pub(super) fn is_numbered(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && text.get(digits) == Some(&b'.')
}

/// Whether the text begins with a tag, such as `[Event`.
pub(super) fn is_tag(text: &[u8]) -> bool {
    let name = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    name.is_some_and(|name| name.first().is_some_and(u8::is_ascii_alphabetic))
}

fn is_empty_line(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    bytes.find(|byte| **byte != b'\r') == Some(&b'\n')
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

/// Where a correct tag value ends: before `"]`.
#[inline]
fn closing(value: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr3(b'\\', b'"', b'\n', value.get(at..)?)?;
        match (value.get(at)?, value.get(at + 1)) {
            (b'\\', _) => at += 2,
            (b'"', Some(b']')) => return Some(at),
            (b'"', _) => at += 1,
            _ => return None,
        }
    }
}

/// Where an incorrect tag value ends: before the last quotation mark of its line or,
/// if the value continues there, of one of the next lines; without any, at the last
/// bracket or the end of the line.
#[cold]
fn odd_closing(value: &[u8]) -> usize {
    let mut start = 0;
    for count in 0..TAG_LINES {
        let rest = value.get(start..).unwrap_or_default();
        let begins = rest.trim_ascii_start();
        if count > 0 && (is_empty_line(rest) || begins.is_empty() || is_tag(begins)) {
            break;
        }
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default();
        if let Some(bracket) = memrchr(b']', line) {
            let before = line.get(..bracket).unwrap_or_default().trim_ascii_end();
            if before.ends_with(b"\"") {
                return start + before.len() - 1;
            }
        }
        start += length + 1;
    }
    let length = memchr(b'\n', value).unwrap_or(value.len());
    let line = value.get(..length).unwrap_or_default();
    let end = memrchr(b'"', line).or_else(|| memrchr(b']', line));
    end.unwrap_or(line.trim_ascii_end().len())
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

/// Length of a Unicode space, an ellipsis or a byte order mark; `None` for
/// other text.
fn space_in_utf8(text: &[u8]) -> Option<usize> {
    let spaces = [
        "\u{a0}", "…", "\u{feff}", "\u{2009}", "\u{202f}", "\u{200b}",
    ];
    let space = spaces
        .iter()
        .find(|space| text.starts_with(space.as_bytes()));
    space.map(|space| space.len())
}

/// The result that a word means; all kinds of dashes are accepted.
fn result(word: &[u8]) -> Option<GameResult> {
    // In Latin-1, ½ is one byte.
    let word = match word {
        b"\xbd-\xbd" | b"\xbd" => "1/2-1/2",
        word => std::str::from_utf8(word).ok()?,
    };
    match word.replace(['–', '—', '−', '‐', '‑', ':'], "-").as_str() {
        "1-0" => Some(GameResult::Won(Color::White)),
        "0-1" => Some(GameResult::Won(Color::Black)),
        "1/2-1/2" | "1/2" | "½-½" | "½" => Some(GameResult::Draw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each game, its tags as `name=value`, then the tokens of the movetext.
    fn parsed(text: &str) -> Vec<String> {
        let mut tokens = Tokens::new(text.as_bytes(), 0);
        let mut games = Vec::new();
        while tokens.go_to_game() {
            let mut parsed = Vec::new();
            let (mut first, mut is_gap) = (None, false);
            while let Some(tag) = tokens.next_tag(first, &mut is_gap) {
                first.get_or_insert(tag.name);
                let [name, value] =
                    [tag.name, tag.value].map(|text| String::from_utf8_lossy(text).into_owned());
                parsed.push(format!("{name}={value}"));
            }
            parsed.extend(tokens.notes().iter().map(|note| format!("{note:?}")));
            while let Some(token) = tokens.next() {
                parsed.push(match token {
                    Token::Move(san) => san.to_string(),
                    Token::Word(word) => format!("<{}>", String::from_utf8_lossy(word)),
                    Token::Nag(nag) => format!("${nag}"),
                    Token::Result(result) => result.to_pgn().to_owned(),
                    Token::Begin => "(".to_owned(),
                    Token::End => ")".to_owned(),
                    Token::Comment(text) | Token::LineComment(text) => {
                        format!("{{{}}}", String::from_utf8_lossy(text))
                    }
                    Token::Unclosed => "...".to_owned(),
                });
            }
            games.push(parsed.join(" "));
        }
        games
    }

    #[track_caller]
    fn assert_parsed(text: &str, games: &[&str]) {
        assert_eq!(parsed(text), games, "{text}");
    }

    #[test]
    fn every_word_is_parsed() {
        assert_parsed(
            "1.f3! e5$71 2.g4 ?? (-- {}) O-O O-O-O#!?0-1",
            &["f3 $1 e5 $71 g4 $4 ( -- {} ) O-O O-O-O $5 0-1"],
        );
        assert_parsed(
            "1-0 0-1 1/2-1/2 1–0 0–1 ½–½ 1:0 1/2 *",
            &["1-0 0-1 1/2-1/2 1-0 0-1 1/2-1/2 1-0 1/2-1/2 *"],
        );
        assert_parsed(
            "1. Ng1f3 Nb8-c6 2. e2-e4 Nf6-+ 3. Sf3 Nf3+- 4.bxa8Q b8=(Q) b8(Q) b8/Q",
            &["Ng1f3 <Nb8-c6> <e2-e4> <Nf6-+> <Sf3> <Nf3+-> <bxa8Q> <b8=(Q)> <b8(Q)> <b8/Q>"],
        );
        assert_parsed(
            "1… e4, e5 0-0 0–0-0 0000 exd6 e.p. Nf3± ♘f3 e8(♕) [%clk 1:00] Bb5 ch x }",
            &["e4 e5 <0-0> <0–0-0> <0000> exd6 <e.p> <Nf3±> <♘f3> <e8(♕)> Bb5 <ch> <x>"],
        );
        assert_parsed("1.\u{a0}e4\u{a0}e5 (=) {half", &["<e4> e5 ( <=> ) ..."]);
        assert_parsed(
            "e4 ; to the end\ne5\n% no\nNf3",
            &["e4 { to the end} e5 Nf3"],
        );
    }

    #[test]
    fn tags_are_read_as_they_were_meant() {
        let names = ["A=1 B=x"];
        for text in [
            "[A \"1\"]\n[B \"x\"]\n",
            "[A \"1\"] [B \"x\"]",
            "[A \"1\"] \u{201c}note\n[B \"x\"]\n",
            "[A \"1\"]]\n\n[B \"x\"]",
            "[A \"1\"\n[B \"x]\n",
            "[A 1]\n[ B  x ]\n",
            "[A\n\"1\"]\n[B \"x\"\n",
            "[A\n \"1\" ]\n%[C \"\"]\n[%x]\n[B \"x\"  ]\n",
        ] {
            assert_parsed(text, &names);
        }
        assert_parsed(
            "[White \"A \"the\" B\"]\n[C \"a\nb\"]\n[D \"C:\\\"]\n[E \"\\\"e\"]\n1. e4",
            &["White=A \"the\" B C=a\nb D=C:\\ E=\\\"e e4"],
        );
        assert_parsed("[White Anand, V]\n\n1. e4", &["White=Anand, V e4"]);
        assert_parsed(
            "[A \"1\"] ;one\n[B \"2\"]",
            &["A=1 B=2 LineComment([111, 110, 101])"],
        );
        assert_parsed(
            "[A \"1\"] {one}\n[B \"2\"]\n\n{two}\n\n1. e4 *",
            &["A=1 B=2 Comment([111, 110, 101]) {two} e4 *"],
        );
        assert_parsed(
            "[A \"1\"]1. e4 *\n[A \"2\"]d4 *\n",
            &["A=1 e4 *", "A=2 d4 *"],
        );
        assert_parsed("[A \"1\"]\n\n[A \"2\"]\n\ne4", &["A=1", "A=2 e4"]);
    }

    #[test]
    fn a_game_goes_on_after_an_empty_line() {
        assert_parsed("1. e4 e5\n\n2. Nf3 *\n\n3. x\n", &["e4 e5 Nf3 *", "<x>"]);
        assert_parsed(
            "{a}\r\n\r\n1. e4\n\n1. d4\n\nprose",
            &["{a} e4", "d4", "<prose>"],
        );
        assert_parsed("1. e4 (1. d4\n\n2. c4) e5", &["e4 ( d4 c4 ) e5"]);
    }
}
