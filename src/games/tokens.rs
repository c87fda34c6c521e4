//! The tokens of PGN text, read where they lie.
//!
//! What is no token is passed over as most programs do: move numbers, dots,
//! words that are no move, tags without a value, lines that begin with `%`.
//! Movetext ends with an empty line or with a line that begins with `[`.

use memchr::{memchr, memchr3};
use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::{CastlingSide, Color, File, Role, Square};

use super::GameResult;

/// A text, and how far it has been read.
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

/// What movetext is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    San(SanPlus),
    Nag(u8),
    /// What stands in braces.
    Comment(&'t [u8]),
    /// What stands between a semicolon and the end of the line.
    LineComment(&'t [u8]),
    /// `(`
    Begin,
    /// `)`
    End,
    Result(GameResult),
}

/// A tag: its name, and its value as it stands there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'t> {
    pub(super) name: &'t [u8],
    pub(super) value: &'t [u8],
}

/// A text that ends where it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unclosed {
    #[error("unterminated tag")]
    Tag,
    #[error("unterminated comment")]
    Comment,
}

impl<'t> Tokens<'t> {
    /// Reads `text` from byte `at` on.
    pub(super) fn new(text: &'t [u8], at: usize) -> Tokens<'t> {
        Tokens { text, at }
    }

    /// How far it has been read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn eat(&mut self, bytes: &[u8]) -> bool {
        let there = self.rest().starts_with(bytes);
        self.at += if there { bytes.len() } else { 0 };
        there
    }

    fn eat_dash(&mut self) -> bool {
        self.eat(b"-") || self.eat("–".as_bytes()) || self.eat("—".as_bytes())
    }

    #[inline]
    fn eat_while(&mut self, is_wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_wanted) {
            self.at += 1;
        }
    }

    /// Goes to the next such byte, or to the end; gives what lies before it.
    fn until(&mut self, byte: u8) -> &'t [u8] {
        let rest = self.rest();
        let length = memchr(byte, rest).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_space(&mut self, mut is_line_start: bool) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => {}
                b'\n' => is_line_start = true,
                b'%' if is_line_start => {
                    self.until(b'\n');
                }
                _ => return,
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
    }

    /// Goes to the next game; false if there is none.
    pub(super) fn has_more(&mut self) -> bool {
        self.eat(b"\xef\xbb\xbf");
        self.skip_space(true);
        self.at < self.text.len()
    }

    /// The next tag; `None` where the movetext begins.
    pub(super) fn next_tag(&mut self) -> Result<Option<Tag<'t>>, Unclosed> {
        while self.peek() == Some(b'[') {
            self.at += 1;
            let line = self.rest();
            let Some(left) = memchr3(b'"', b'\n', b']', line) else {
                self.at = self.text.len();
                return Err(Unclosed::Tag);
            };
            if line.get(left) != Some(&b'"') {
                self.at += left + 1;
                self.skip_bracket();
                continue;
            }
            let mut right = left + 1;
            loop {
                let Some(more) = memchr3(b'\\', b'"', b'\n', line.get(right..).unwrap_or_default())
                else {
                    self.at = self.text.len();
                    return Err(Unclosed::Tag);
                };
                right += more;
                match line.get(right) {
                    Some(b'\\') => right = line.len().min(right + 2),
                    _ => break,
                }
            }
            let closed = usize::from(line.get(right) == Some(&b'"'));
            self.at += right + closed;
            self.skip_bracket();
            let name = line.get(..left).unwrap_or_default();
            let name = name.strip_suffix(b" ").unwrap_or(name);
            let value = line.get(left + 1..right).unwrap_or_default();
            return Ok(Some(Tag { name, value }));
        }
        Ok(None)
    }

    fn skip_bracket(&mut self) {
        self.eat_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        if let Some(byte @ (b']' | b'\n')) = self.peek() {
            self.at += 1;
            self.skip_space(byte == b'\n');
        }
    }

    /// Passes over a line end in movetext, which stands here; false if the
    /// movetext ends with it.
    fn goes_on(&mut self) -> bool {
        self.at += 1;
        match self.peek() {
            Some(b'%') => {
                self.until(b'\n');
                true
            }
            Some(b'[' | b'\n') => false,
            Some(b'\r') => {
                self.at += 1;
                self.peek() != Some(b'\n')
            }
            _ => true,
        }
    }

    /// The next token of the movetext; `None` at its end.
    pub(super) fn next(&mut self) -> Result<Option<Token<'t>>, Unclosed> {
        while let Some(byte) = self.peek() {
            let token = match byte {
                b' ' | b'\t' | b'\r' | b'.' => {
                    self.at += 1;
                    continue;
                }
                b'\n' if self.goes_on() => continue,
                b'\n' => return Ok(None),
                b'0'..=b'9' => self.number(byte),
                b'{' => {
                    self.at += 1;
                    let text = self.until(b'}');
                    if self.at == self.text.len() {
                        return Err(Unclosed::Comment);
                    }
                    self.at += 1;
                    Some(Token::Comment(text))
                }
                b';' => {
                    self.at += 1;
                    Some(Token::LineComment(self.until(b'\n')))
                }
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
                // ½-½
                0xc2 => {
                    self.at += 1;
                    let half = "½".as_bytes();
                    let is_draw = self.eat(b"\xbd") && self.eat_dash() && self.eat(half);
                    is_draw.then_some(Token::Result(GameResult::Draw))
                }
                _ => self.word(),
            };
            if token.is_some() {
                return Ok(token);
            }
        }
        Ok(None)
    }

    /// A move number, a result, or castling with zeros.
    fn number(&mut self, first: u8) -> Option<Token<'t>> {
        self.at += 1;
        match first {
            // A number, as most are.
            _ if matches!(self.peek(), Some(b'.' | b'0'..=b'9')) && first != b'0' => {}
            b'0' if !self.eat_dash() => return None,
            b'0' if self.eat(b"1") => return Some(Token::Result(GameResult::Won(Color::Black))),
            b'0' if self.eat(b"0") => {
                let long = self.eat_dash() && self.eat(b"0");
                let suffix = match self.peek() {
                    Some(b'+') => Some(Suffix::Check),
                    Some(b'#') => Some(Suffix::Checkmate),
                    _ => None,
                };
                self.at += usize::from(suffix.is_some());
                let side = match long {
                    true => CastlingSide::QueenSide,
                    false => CastlingSide::KingSide,
                };
                let san = San::Castle(side);
                return Some(Token::San(SanPlus { san, suffix }));
            }
            b'0' => return None,
            b'1' if self.eat_dash() => {
                let won = self.eat(b"0");
                return won.then_some(Token::Result(GameResult::Won(Color::White)));
            }
            b'1' if self.eat(b"/2") && self.eat_dash() && self.eat(b"1/2") => {
                return Some(Token::Result(GameResult::Draw));
            }
            _ => {}
        }
        self.eat_while(|byte| byte.is_ascii_digit());
        self.eat_while(|byte| matches!(byte, b'.' | b' '));
        None
    }

    fn numbered_nag(&mut self) -> Option<Token<'t>> {
        self.at += 1;
        let start = self.at;
        self.skip_word();
        let digits = self.text.get(start..self.at)?;
        // What a damaged text ends with is no number.
        self.peek()?;
        let digits = std::str::from_utf8(digits).ok()?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_number)?;
        Some(Token::Nag(number))
    }

    /// `!`, `?!` and the like.
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

    /// A move, if it is one.
    fn word(&mut self) -> Option<Token<'t>> {
        let rest = self.rest();
        let found = match common_san(rest) {
            Some((san, length)) => {
                let suffix = match rest.get(length) {
                    Some(b'+') => Some(Suffix::Check),
                    Some(b'#') => Some(Suffix::Checkmate),
                    _ => None,
                };
                let length = length + usize::from(suffix.is_some());
                Ok((SanPlus { san, suffix }, length))
            }
            None => SanPlus::from_ascii_prefix(rest),
        };
        match found {
            Ok((san, length)) => {
                self.at += length;
                self.peek().is_none_or(ends_word).then_some(Token::San(san))
            }
            Err(_) => {
                self.at += 1;
                self.skip_word();
                None
            }
        }
    }

    fn skip_word(&mut self) {
        self.eat_while(|byte| !ends_word(byte));
    }

    /// Passes over a variation to the `)` that closes it.
    pub(super) fn skip_variation(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return,
                b')' => depth -= 1,
                b'{' => {
                    self.until(b'}');
                    self.at = self.text.len().min(self.at + 1);
                    continue;
                }
                b';' => {
                    self.until(b'\n');
                    continue;
                }
                b'\n' => match self.rest() {
                    [_, b'%', ..] => {
                        self.at += 1;
                        self.until(b'\n');
                        continue;
                    }
                    // The line ends stay: with them the movetext ends.
                    [_, b'[' | b'\n', ..] | [_, b'\r', b'\n', ..] => return,
                    _ => {}
                },
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Passes over movetext.
    pub(super) fn skip_movetext(&mut self) {
        // Nearly always nothing stands behind it; then braces do not matter.
        let rest = self.rest().trim_ascii_end();
        let can_end = |at: usize| matches!(rest.get(at + 1), Some(b'\n' | b'[' | b'\r'));
        if !memchr::memchr_iter(b'\n', rest).any(can_end) {
            self.at = self.text.len();
            return;
        }
        loop {
            let rest = self.rest();
            let Some(more) = memchr3(b'\n', b'{', b';', rest) else {
                self.at = self.text.len();
                return;
            };
            self.at += more;
            match rest.get(more) {
                Some(b'\n') if self.goes_on() => {}
                Some(b'\n') => return,
                Some(b';') => {
                    self.until(b'\n');
                }
                _ => {
                    self.until(b'}');
                    self.at = self.text.len().min(self.at + 1);
                }
            }
        }
    }
}

/// The shapes that nearly all moves have (`e4`, `exd5`, `Nf3`, `Nxe5`), with
/// something behind them that no move goes on with.
fn common_san(text: &[u8]) -> Option<(San, usize)> {
    let &[first, second, third, fourth, fifth, ..] = text else {
        return None;
    };
    let square = |file: u8, rank: u8| {
        let (file, rank) = (file.wrapping_sub(b'a'), rank.wrapping_sub(b'1'));
        (file < 8 && rank < 8).then(|| Square::new(u32::from(8 * rank + file)))
    };
    let ends = |byte: u8| matches!(byte, b' ' | b'+' | b'#' | b'\n' | b'\r' | b'!' | b'?');
    let normal = |role, file, capture, to| San::Normal {
        role,
        file,
        rank: None,
        capture,
        to,
        promotion: None,
    };
    let role = match first {
        b'a'..=b'h' => {
            if second == b'x' {
                let to = square(third, fourth).filter(|_| ends(fifth))?;
                let file = Some(File::new(u32::from(first - b'a')));
                return Some((normal(Role::Pawn, file, true, to), 4));
            }
            let to = square(first, second).filter(|_| ends(third))?;
            return Some((normal(Role::Pawn, None, false, to), 2));
        }
        b'N' => Role::Knight,
        b'B' => Role::Bishop,
        b'R' => Role::Rook,
        b'Q' => Role::Queen,
        b'K' => Role::King,
        _ => return None,
    };
    if second == b'x' {
        let to = square(third, fourth).filter(|_| ends(fifth))?;
        return Some((normal(role, None, true, to), 4));
    }
    let to = square(second, third).filter(|_| ends(fourth))?;
    Some((normal(role, None, false, to), 3))
}

/// Whether a move or another word ends before such a byte.
#[inline]
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
    )
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::{self, Continue};

    use pgn_reader::{Nag, RawComment, RawTag, Reader, Skip, Visitor};
    use proptest::prelude::*;
    use shakmaty::Outcome;

    use super::*;

    /// What a reader made of a text.
    #[derive(Debug, PartialEq, Eq)]
    enum Said {
        Game(Vec<String>),
        Fault(String),
    }

    /// The same with the library that we once read with.
    struct Library {
        skips_variations: bool,
        said: Vec<String>,
        comment: Vec<u8>,
    }

    fn tag_said(name: &[u8], value: &[u8]) -> String {
        format!("tag {:?} {:?}", name.escape_ascii(), value.escape_ascii())
    }

    impl Visitor for Library {
        type Tags = ();
        type Movetext = ();
        type Output = ();

        fn begin_tags(&mut self) -> ControlFlow<()> {
            Continue(())
        }

        fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
            self.said.push(tag_said(name, value.as_bytes()));
            Continue(())
        }

        fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
            Continue(())
        }

        fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
            self.said.push(format!("{san:?}"));
            Continue(())
        }

        fn nag(&mut self, (): &mut (), nag: Nag) -> ControlFlow<()> {
            self.said.push(format!("${}", nag.0));
            Continue(())
        }

        fn partial_comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
            self.comment.extend(comment.as_bytes());
            Continue(())
        }

        fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
            self.comment.extend(comment.as_bytes());
            let comment = std::mem::take(&mut self.comment);
            self.said.push(format!("{{{:?}}}", comment.escape_ascii()));
            Continue(())
        }

        fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
            if !self.skips_variations {
                self.said.push("(".to_owned());
            }
            Continue(Skip(self.skips_variations))
        }

        fn end_variation(&mut self, (): &mut ()) -> ControlFlow<()> {
            self.said.push(")".to_owned());
            Continue(())
        }

        fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<()> {
            let result = GameResult::from_pgn(outcome.to_string().as_bytes());
            self.said.push(format!("{result:?}"));
            Continue(())
        }

        fn end_game(&mut self, (): ()) {}
    }

    fn by_library(text: &[u8], skips_variations: bool) -> Vec<Said> {
        let mut reader = Reader::new(text);
        let mut all = Vec::new();
        loop {
            let mut visitor = Library {
                skips_variations,
                said: Vec::new(),
                comment: Vec::new(),
            };
            match reader.read_game(&mut visitor) {
                Ok(None) => return all,
                Ok(Some(())) => all.push(Said::Game(visitor.said)),
                Err(fault) => all.push(Said::Fault(fault.to_string())),
            }
        }
    }

    fn game(tokens: &mut Tokens<'_>, skips_variations: bool) -> Result<Vec<String>, Unclosed> {
        let mut said = Vec::new();
        while let Some(Tag { name, value }) = tokens.next_tag()? {
            said.push(tag_said(name, value));
        }
        while let Some(token) = tokens.next()? {
            said.push(match token {
                Token::San(san) => format!("{san:?}"),
                Token::Nag(nag) => format!("${nag}"),
                Token::Comment(text) => format!("{{{:?}}}", text.escape_ascii()),
                Token::LineComment(_) => continue,
                Token::Begin if skips_variations => {
                    tokens.skip_variation();
                    continue;
                }
                Token::Begin => "(".to_owned(),
                Token::End => ")".to_owned(),
                Token::Result(result) => format!("{result:?}"),
            });
        }
        Ok(said)
    }

    fn by_tokens(text: &[u8], skips_variations: bool) -> Vec<Said> {
        let mut tokens = Tokens::new(text, 0);
        let mut all = Vec::new();
        while tokens.has_more() {
            all.push(match game(&mut tokens, skips_variations) {
                Ok(said) => Said::Game(said),
                Err(fault) => Said::Fault(fault.to_string()),
            });
        }
        all
    }

    /// Where the games begin, if only their tags are read.
    fn starts(text: &[u8]) -> Vec<usize> {
        let mut tokens = Tokens::new(text, 0);
        let mut starts = Vec::new();
        while tokens.has_more() {
            starts.push(tokens.at());
            // As the library does: a byte order mark behind empty lines.
            tokens.has_more();
            while let Ok(Some(_)) = tokens.next_tag() {}
            tokens.skip_movetext();
        }
        starts
    }

    fn starts_by_library(text: &[u8]) -> Option<Vec<usize>> {
        use std::io::Seek as _;
        let mut reader = Reader::new(std::io::Cursor::new(text));
        let mut starts = Vec::new();
        while reader.has_more().ok()? {
            starts.push(reader.stream_position().ok()? as usize);
            reader.skip_game().ok()?;
        }
        Some(starts)
    }

    /// Text as it stands in collections, and as damage makes it.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        const PIECES: &[&str] = &[
            "1.",
            "2...",
            "e4",
            "Nf3",
            "exd5",
            "O-O",
            "O-O-O+",
            "0-0",
            "0-0-0#",
            "1-0",
            "0-1",
            "1/2-1/2",
            "½-½",
            "1–0",
            "*",
            "--",
            "Z0",
            "e8=Q",
            "e8Q",
            "N1d2",
            "Qh4xe1#",
            "{",
            "}",
            "{ [%clk 0:03:00] }",
            "(",
            ")",
            ";",
            "%",
            "\n",
            "\n\n",
            "\r\n",
            "\r\n\r\n",
            " ",
            "  ",
            "\t",
            "$1",
            "$140",
            "$256",
            "$",
            "$x",
            "!",
            "?",
            "!!",
            "??",
            "!?",
            "?!",
            ".",
            "[",
            "]",
            "\"",
            "\\",
            "[Event \"a\"]\n",
            "[White \"a\\\"b\\\\\"]",
            "[White b]\n",
            "[White \"\n",
            "[Result \"1-0\"] ",
            "\n[Event \"",
            "é",
            "\u{feff}",
            "0",
            "1",
            "1/2",
            "½",
            "-",
            "e",
            "N@e4",
            "abc",
            "e4e5",
            "Nf3!",
        ];
        let piece = prop_oneof![
            9 => prop::sample::select(PIECES).prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_text_is_read_as_the_library_reads_it(text in texts(), skips in any::<bool>()) {
            prop_assert_eq!(by_tokens(&text, skips), by_library(&text, skips));
        }

        #[test]
        fn games_are_passed_over_as_the_library_does(text in texts()) {
            if let Some(expected) = starts_by_library(&text) {
                prop_assert_eq!(starts(&text), expected);
            }
        }
    }
}
