//! Scripts and the program's code in pieces, as far as texts are looked for.

/// A piece of a script or of the program: what is read needs no more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A string, without its escapes; of a template, `{}` for what varies.
    Text(String),
    Word(String),
    Sign(char),
}

struct Reader<'a> {
    rest: &'a str,
    is_script: bool,
    tokens: Vec<(Token, &'a str)>,
}

/// Tokens, each with the text from its beginning on.
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

    /// Whether a division is not possible here, so that "/" begins a pattern.
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
                // A character, or what a reference lives for.
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

    /// An escape sequence: a backslash and what follows it.
    fn escaped(&mut self, text: &mut String) {
        self.skip(1);
        let Some(next) = self.rest.chars().next() else {
            return;
        };
        self.skip(next.len_utf8());
        match next {
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            // The rest of the line, and what is set in.
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

    /// A character of a text, or an escape sequence for one.
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
        // Before the tokens in its places.
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
            // An apostrophe is one itself.
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
