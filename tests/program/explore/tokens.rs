//! Splits scripts and Rust code into tokens, in order to find texts.

/// A token; only the kinds that are needed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A string without escapes; in a template, `{}` for each expression.
    Text(String),
    Word(String),
    Sign(char),
}

struct Reader<'a> {
    rest: &'a str,
    is_script: bool,
    tokens: Vec<(Token, &'a str)>,
}

/// The tokens, each with the text that starts there.
pub(crate) fn tokens(text: &str, is_script: bool) -> Vec<(Token, &str)> {
    let mut reader = Reader {
        rest: text,
        is_script,
        tokens: Vec::new(),
    };
    reader.read_until(None);
    reader.tokens
}

impl<'a> Reader<'a> {
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        skipped
    }

    fn skip_past(&mut self, end: &str) {
        let found = self.rest.find(end);
        self.skip(found.map_or(self.rest.len(), |at| at + end.len()));
    }

    /// Whether a division is impossible here, so that "/" begins a regular expression.
    fn begins(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some((Token::Sign(sign), _)) => !")]}".contains(*sign),
            Some((Token::Word(word), _)) => word == "return",
            Some(_) => false,
        }
    }

    fn read_until(&mut self, end: Option<char>) {
        let mut depth = 0;
        while let Some(first) = self.rest.chars().next() {
            let start = self.rest;
            match first {
                _ if start.starts_with("//") => self.skip_past("\n"),
                _ if start.starts_with("/*") => self.skip_past("*/"),
                '"' => self.quoted('"'),
                '\'' if self.is_script => self.quoted('\''),
                // A character or a lifetime.
                '\'' => self.character(),
                '`' => self.template(),
                'r' if !self.is_script && (start.starts_with("r\"") || start.starts_with("r#")) => {
                    self.raw();
                }
                '/' if self.is_script && self.begins() => self.pattern(),
                _ if first.is_alphanumeric() || "_$".contains(first) => {
                    let is_part = |c: char| c.is_alphanumeric() || "_$".contains(c);
                    let bytes = start.find(|c| !is_part(c)).unwrap_or(start.len());
                    let word = self.skip(bytes).to_owned();
                    self.tokens.push((Token::Word(word), start));
                }
                _ => {
                    if first == '{' {
                        depth += 1;
                    } else if Some(first) == end && depth == 0 {
                        return;
                    } else if first == '}' {
                        depth -= 1;
                    }
                    self.skip(first.len_utf8());
                    if !first.is_whitespace() {
                        self.tokens.push((Token::Sign(first), start));
                    }
                }
            }
        }
    }

    /// Reads an escape sequence after its backslash.
    fn escaped(&mut self, text: &mut String) {
        self.skip(1);
        let Some(next) = self.rest.chars().next() else {
            return;
        };
        self.skip(next.len_utf8());
        match next {
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            // Skips the line end and the next line's indentation.
            '\n' => self.rest = self.rest.trim_start(),
            'u' => {
                let length = match self.is_script {
                    true => 4,
                    false => self.rest.find('}').unwrap() + 1,
                };
                let code = self.skip(length).trim_matches(['{', '}']);
                text.extend(char::from_u32(u32::from_str_radix(code, 16).unwrap()));
            }
            other => text.push(other),
        }
    }

    /// A character of a text, or its escape sequence.
    fn letter(&mut self, next: char, text: &mut String) {
        if next == '\\' {
            self.escaped(text);
        } else {
            text.push(next);
            self.skip(next.len_utf8());
        }
    }

    fn quoted(&mut self, mark: char) {
        let start = self.rest;
        self.skip(1);
        let mut text = String::new();
        while let Some(next) = self.rest.chars().next() {
            if next == mark {
                break;
            }
            self.letter(next, &mut text);
        }
        self.skip(1);
        self.tokens.push((Token::Text(text), start));
    }

    fn template(&mut self) {
        let start = self.rest;
        let place = self.tokens.len();
        self.skip(1);
        let mut text = String::new();
        while let Some(next) = self.rest.chars().next() {
            if next == '`' {
                break;
            } else if self.rest.starts_with("${") {
                text.push_str("{}");
                self.skip(2);
                self.read_until(Some('}'));
                self.skip(1);
            } else {
                self.letter(next, &mut text);
            }
        }
        self.skip(1);
        // Before the tokens of its placeholders.
        self.tokens.insert(place, (Token::Text(text), start));
    }

    fn pattern(&mut self) {
        self.skip(1);
        let mut is_class = false;
        while let Some(next) = self.rest.chars().next() {
            let length = next.len_utf8();
            match next {
                '\\' => {
                    self.skip(1);
                    let escaped = self.rest.chars().next().map_or(0, char::len_utf8);
                    self.skip(escaped);
                    continue;
                }
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => {
                    let start = self.rest;
                    self.skip(1);
                    self.tokens.push((Token::Text(String::new()), start));
                    return;
                }
                _ => {}
            }
            self.skip(length);
        }
    }

    fn character(&mut self) {
        let inner = &self.rest[1..];
        let mut inner = inner.chars();
        let is_escaped = inner.next() == Some('\\');
        if is_escaped {
            self.skip(3);
            self.skip_past("'");
        } else if inner.next() == Some('\'') {
            self.skip(1);
            self.skip_past("'");
            // A single apostrophe.
        } else {
            self.skip(1);
        }
    }

    fn raw(&mut self) {
        let start = self.rest;
        let fence: String = start[1..].chars().take_while(|c| *c == '#').collect();
        if !start[1 + fence.len()..].starts_with('"') {
            self.skip(1);
            return;
        }
        self.skip(2 + fence.len());
        let end = format!("\"{fence}");
        let length = self.rest.find(&end).unwrap();
        let text = self.skip(length).to_owned();
        self.skip(end.len());
        self.tokens.push((Token::Text(text), start));
    }
}
